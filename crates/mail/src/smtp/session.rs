//! A server session with a mail client, as a state machine without I/O: bytes in, next step out.
//!
//! It uses no sockets, clock or database, so that tests can feed it input split at any byte.

use super::command::{Command, Greeting, MailFrom};
use super::content::{ContentProgress, MailContent, Refused};
use super::limits::SessionLimits;
use super::refusal::*;
use super::refused_envelope::RefusedEnvelope;

/// Refusals between two calls of [`SmtpServerSession::take_refusals`] that name their envelope.
const ENVELOPES_KEPT: usize = 16;

/// SMTP for public mail, or LMTP for a server of ours, with a reply per recipient (RFC 2033).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Smtp,
    Lmtp,
}

/// The next step for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmtpStep {
    /// Write the output, then wait for more input.
    Read,
    /// Find out whether this is an inbox, and say so with [`SmtpServerSession::know_recipient`].
    FindInbox(String),
    /// Ingest the mail and pass the outcomes to [`SmtpServerSession::know_mail`].
    TakeIn(SmtpTransaction),
    /// Write the output, encrypt the connection, and say so with [`SmtpServerSession::secure`].
    StartTls,
    /// Write the output and end.
    Close,
}

/// The outcome of a mail for one recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientReply {
    /// It is durable: the client may delete it.
    Taken,
    /// It has been passed on too often.
    MailLoop,
    /// The recipient is no inbox any more.
    NoInbox,
    /// The recipient takes no mail at present.
    Deferred,
    /// Something failed on our side.
    Trouble,
}

/// A mail with its envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpTransaction {
    pub sender: String,
    pub recipients: Vec<String>,
    pub bytes: Vec<u8>,
}

pub struct SmtpServerSession {
    protocol: Protocol,
    limits: SessionLimits,
    /// This server's host name.
    name: String,
    input: Vec<u8>,
    output: Vec<u8>,
    phase: Phase,
    tls: Tls,
    helo: Option<String>,
    mail: Option<Mail>,
    commands: usize,
    errors: usize,
    /// The line that is being read is too long already.
    overlong: bool,
    refusals: Vec<(SmtpRefusal, RefusedEnvelope)>,
    /// The envelope of the mail that is being filed; recipients in the order of their outcomes.
    filing_from: Option<String>,
    filing_for: Vec<String>,
}

enum Phase {
    Commands,
    Data(MailContent),
    /// Remaining bytes of a BDAT chunk.
    Chunk {
        left: usize,
        last: bool,
    },
    /// Whether this is an inbox is being found out.
    Finding(String),
    /// A step waits for its result.
    Waiting,
    Closed,
}

impl Phase {
    /// The recipient that is being looked for.
    fn recipient(&self) -> Option<&str> {
        match self {
            Phase::Finding(recipient) => Some(recipient),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tls {
    No,
    Offered,
    On,
}

/// A mail that is being sent.
struct Mail {
    sender: MailFrom,
    recipients: Vec<String>,
    /// The BDAT chunks received so far.
    chunks: Option<MailContent>,
}

impl SmtpServerSession {
    pub fn new(
        protocol: Protocol,
        name: &str,
        limits: SessionLimits,
        offers_tls: bool,
    ) -> SmtpServerSession {
        let mut session = SmtpServerSession {
            protocol,
            limits,
            name: name.to_owned(),
            input: Vec::new(),
            output: Vec::new(),
            phase: Phase::Commands,
            tls: if offers_tls { Tls::Offered } else { Tls::No },
            helo: None,
            mail: None,
            commands: 0,
            errors: 0,
            overlong: false,
            refusals: Vec::new(),
            filing_from: None,
            filing_for: Vec::new(),
        };
        let word = if protocol == Protocol::Smtp { "ESMTP" } else { "LMTP" };
        session.reply(&format!("220 {name} {word} Mailroom"));
        session
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The output to the client.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// The refusals since the last call, with what they concern.
    pub fn take_refusals(&mut self) -> Vec<(SmtpRefusal, RefusedEnvelope)> {
        std::mem::take(&mut self.refusals)
    }

    /// The client's HELO name.
    pub fn helo(&self) -> &str {
        self.helo.as_deref().unwrap_or_default()
    }

    /// True while a mail's content is being received.
    pub fn in_mail(&self) -> bool {
        matches!(self.phase, Phase::Data(_) | Phase::Chunk { .. })
            || self.mail.as_ref().is_some_and(|mail| mail.chunks.is_some())
    }

    /// Bytes of mail that it holds.
    pub fn held_bytes(&self) -> usize {
        let chunks = self.mail.as_ref().and_then(|mail| mail.chunks.as_ref());
        let data = match &self.phase {
            Phase::Data(content) => Some(content),
            _ => None,
        };
        chunks.or(data).map_or(0, MailContent::held_bytes)
    }

    /// Drops the content of the current mail, because the memory limit is reached.
    pub fn drop_mail(&mut self) {
        let chunks = self.mail.as_mut().and_then(|mail| mail.chunks.as_mut());
        let data = match &mut self.phase {
            Phase::Data(content) => Some(content),
            _ => None,
        };
        if let Some(content) = chunks.or(data) {
            content.refuse(Refused::NoRoom);
        }
    }

    /// Goes on as far as the input leads.
    pub fn step(&mut self) -> SmtpStep {
        loop {
            let step = match &self.phase {
                Phase::Commands => self.command_step(),
                Phase::Data(_) => self.data_step(),
                Phase::Chunk { .. } => self.chunk_step(),
                Phase::Finding(_) | Phase::Waiting => Some(SmtpStep::Read),
                Phase::Closed => Some(SmtpStep::Close),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Answers [`SmtpStep::FindInbox`]: whether it is one, or that the lookup failed.
    pub fn know_recipient(&mut self, found: Option<bool>) {
        let phase = std::mem::replace(&mut self.phase, Phase::Commands);
        match (found, phase, &mut self.mail) {
            (Some(true), Phase::Finding(recipient), Some(mail)) => {
                mail.recipients.push(recipient);
                self.reply("250 2.1.5 Go on.");
            }
            (Some(_), phase, _) => self.fault_about(NO_INBOX, phase.recipient()),
            (None, phase, _) => self.refuse_about(TROUBLE, phase.recipient()),
        }
    }

    /// Answers [`SmtpStep::FindInbox`] where the inbox takes no mail at present: the client tries again.
    pub fn defer_recipient(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Commands);
        self.refuse_about(NOT_NOW, phase.recipient());
    }

    /// Answers [`SmtpStep::TakeIn`]: the outcome for each recipient.
    pub fn know_mail(&mut self, outcomes: &[RecipientReply]) {
        self.phase = Phase::Commands;
        let answers: Vec<Result<(), SmtpRefusal>> = outcomes.iter().copied().map(answer).collect();
        let (sender, recipients) = (self.filing_from.take(), std::mem::take(&mut self.filing_for));
        let concern = |recipients: &[String]| {
            RefusedEnvelope::new(sender.as_deref(), recipients.iter().map(String::as_str))
        };
        match self.protocol {
            Protocol::Lmtp => {
                for (place, answer) in answers.into_iter().enumerate() {
                    let recipient = recipients.get(place..=place).unwrap_or_default();
                    self.conclude(answer, || concern(recipient));
                }
            }
            Protocol::Smtp => self.conclude(together(&answers), || concern(&recipients)),
        }
    }

    /// Answers [`SmtpStep::StartTls`]: the connection is encrypted. Earlier commands are forgotten,
    /// and pipelined input behind STARTTLS was discarded.
    pub fn secure(&mut self) {
        self.phase = Phase::Commands;
        self.tls = Tls::On;
        self.helo = None;
        self.mail = None;
    }

    /// Ends the session with a last word.
    pub fn end(&mut self, last_word: SmtpRefusal) {
        if !matches!(self.phase, Phase::Closed) {
            self.refuse(last_word);
            self.phase = Phase::Closed;
        }
    }

    /// Says that a mail is here, or why it is not.
    fn conclude(
        &mut self,
        answer: Result<(), SmtpRefusal>,
        concern: impl FnOnce() -> RefusedEnvelope,
    ) {
        match answer {
            Ok(()) => self.reply("250 2.0.0 The mail is here."),
            Err(refusal) => self.refuse_mail(refusal, concern),
        }
    }

    /// Refuses something of the mail that is being sent, if there is one.
    fn refuse(&mut self, refusal: SmtpRefusal) {
        self.refuse_about(refusal, None);
    }

    /// Refuses one recipient; `None` concerns those that were taken.
    fn refuse_about(&mut self, refusal: SmtpRefusal, recipient: Option<&str>) {
        let mail = self.mail.take();
        self.refuse_mail(refusal, || {
            let sender = mail.as_ref().map(|mail| mail.sender.path.as_str());
            let taken = mail.iter().flat_map(|mail| &mail.recipients).map(String::as_str);
            match recipient {
                Some(recipient) => RefusedEnvelope::new(sender, [recipient]),
                None => RefusedEnvelope::new(sender, taken),
            }
        });
        self.mail = mail;
    }

    fn refuse_mail(&mut self, refusal: SmtpRefusal, concern: impl FnOnce() -> RefusedEnvelope) {
        self.reply(refusal.line);
        let is_named = self.refusals.len() < ENVELOPES_KEPT;
        let envelope = if is_named { concern() } else { RefusedEnvelope::default() };
        self.refusals.push((refusal, envelope));
    }

    fn reply(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
        self.output.extend_from_slice(b"\r\n");
    }

    /// Replies with an error, and ends a session with too many errors.
    fn fault(&mut self, refusal: SmtpRefusal) {
        self.fault_about(refusal, None);
    }

    /// The same about one recipient.
    fn fault_about(&mut self, refusal: SmtpRefusal, recipient: Option<&str>) {
        self.errors += 1;
        if self.errors > self.limits.errors {
            return self.end(TOO_MANY_MISTAKES);
        }
        self.refuse_about(refusal, recipient);
    }

    fn command_step(&mut self) -> Option<SmtpStep> {
        let Some(end) = memchr::memchr(b'\n', &self.input) else {
            if self.input.len() > self.limits.command_bytes {
                self.input.clear();
                self.overlong = true;
            }
            return Some(SmtpStep::Read);
        };
        let line: Vec<u8> = self.input.drain(..=end).collect();
        self.commands += 1;
        if self.commands > self.limits.commands {
            self.end(TOO_MANY_COMMANDS);
            return None;
        }
        let too_long = std::mem::take(&mut self.overlong) || line.len() > self.limits.command_bytes;
        let command = match line.strip_suffix(b"\r\n") {
            _ if too_long => Err(LONG_LINE),
            None => Err(BARE_COMMAND_END),
            Some(line) => Command::parse(line),
        };
        match command {
            Ok(command) => self.obey(command),
            Err(NOT_MAIL) => {
                self.end(NOT_MAIL);
                None
            }
            Err(fault) => {
                self.fault(fault);
                None
            }
        }
    }

    fn obey(&mut self, command: Command) -> Option<SmtpStep> {
        match command {
            Command::Hello { greeting, name } => self.hello(greeting, name),
            Command::Mail(sender) => self.begin_mail(sender),
            Command::Recipient(address) => return self.add_recipient(address),
            Command::Data => self.begin_data(),
            Command::Chunk { bytes, last } => self.begin_chunk(bytes, last),
            Command::StartTls => return self.start_tls(),
            Command::Reset => {
                self.mail = None;
                self.reply("250 2.0.0 Forgotten.");
            }
            Command::Nothing => self.reply("250 2.0.0 Nothing done."),
            Command::Verify => self.reply("252 2.1.5 Send a mail and see."),
            Command::Help => self.reply("214 2.0.0 This server takes mail for its own inboxes."),
            Command::Quit => {
                self.reply("221 2.0.0 Goodbye.");
                self.phase = Phase::Closed;
            }
        }
        None
    }

    fn hello(&mut self, greeting: Greeting, name: String) {
        let fits = match greeting {
            Greeting::Helo | Greeting::Ehlo => self.protocol == Protocol::Smtp,
            Greeting::Lhlo => self.protocol == Protocol::Lmtp,
        };
        if !fits {
            return self.fault(OTHER_PROTOCOL);
        }
        self.helo = Some(name);
        self.mail = None;
        if greeting == Greeting::Helo {
            return self.reply(&format!("250 {}", self.name));
        }
        let size = format!("SIZE {}", self.limits.message_bytes);
        let mut lines = vec![self.name.as_str(), "PIPELINING", &size, "8BITMIME", "SMTPUTF8"];
        lines.extend(["ENHANCEDSTATUSCODES", "CHUNKING"]);
        if self.tls == Tls::Offered {
            lines.push("STARTTLS");
        }
        let last = lines.len() - 1;
        let lines: Vec<String> = lines
            .iter()
            .enumerate()
            .map(|(place, line)| format!("250{}{line}", if place < last { '-' } else { ' ' }))
            .collect();
        self.reply(&lines.join("\r\n"));
    }

    fn begin_mail(&mut self, sender: MailFrom) {
        if self.helo.is_none() {
            return self.fault(GREET_FIRST);
        }
        if self.mail.is_some() {
            return self.fault(MAIL_UNDER_WAY);
        }
        let fault = if !sender.path.is_ascii() && !sender.any_mail {
            Some(ANY_MAIL)
        } else if sender.bytes.is_some_and(|bytes| bytes > self.limits.message_bytes as u64) {
            Some(TOO_LARGE)
        } else {
            None
        };
        // Set before it is refused, so that the refusal names the sender.
        self.mail = Some(Mail { sender, recipients: Vec::new(), chunks: None });
        match fault {
            None => self.reply("250 2.1.0 Go on."),
            Some(fault) => {
                self.fault(fault);
                self.mail = None;
            }
        }
    }

    fn add_recipient(&mut self, address: String) -> Option<SmtpStep> {
        let fault = match &self.mail {
            None => MAIL_FIRST,
            Some(mail) if mail.chunks.is_some() => CHUNKS_BEGAN,
            Some(mail) if mail.recipients.len() >= self.limits.recipients => {
                self.refuse_about(TOO_MANY_RECIPIENTS, Some(&address));
                return None;
            }
            Some(mail) if !address.is_ascii() && !mail.sender.any_mail => ANY_MAIL,
            Some(_) => {
                self.phase = Phase::Finding(address.clone());
                return Some(SmtpStep::FindInbox(address));
            }
        };
        self.fault_about(fault, Some(&address));
        None
    }

    fn begin_data(&mut self) {
        match &self.mail {
            None => self.fault(MAIL_FIRST),
            Some(mail) if mail.chunks.is_some() => self.fault(CHUNKS_BEGAN),
            Some(mail) if mail.recipients.is_empty() => self.fault(RECIPIENT_FIRST),
            Some(_) => {
                self.reply("354 End the mail with a line that holds one dot.");
                self.phase = Phase::Data(MailContent::new(self.limits.message_bytes));
            }
        }
    }

    fn data_step(&mut self) -> Option<SmtpStep> {
        let Phase::Data(content) = &mut self.phase else { return None };
        let input = std::mem::take(&mut self.input);
        match content.take(&input) {
            ContentProgress::More => Some(SmtpStep::Read),
            ContentProgress::Endless => {
                self.end(ENDLESS);
                None
            }
            ContentProgress::Ended { taken } => {
                self.input = input[taken..].to_vec();
                let phase = std::mem::replace(&mut self.phase, Phase::Commands);
                match phase {
                    Phase::Data(content) => self.finish_mail(content),
                    _ => None,
                }
            }
        }
    }

    /// The bytes of a chunk follow its command even if it is refused, so they are always read.
    fn begin_chunk(&mut self, bytes: usize, last: bool) {
        if bytes > self.limits.message_bytes {
            return self.end(TOO_LARGE);
        }
        if let Some(mail) = self.mail.as_mut().filter(|mail| !mail.recipients.is_empty()) {
            mail.chunks.get_or_insert_with(|| MailContent::new(self.limits.message_bytes));
        }
        self.phase = Phase::Chunk { left: bytes, last };
    }

    fn chunk_step(&mut self) -> Option<SmtpStep> {
        let Phase::Chunk { left, last } = self.phase else { return None };
        let now = left.min(self.input.len());
        if let Some(content) = self.mail.as_mut().and_then(|mail| mail.chunks.as_mut()) {
            content.take_counted(&self.input[..now]);
        }
        self.input.drain(..now);
        if now < left {
            self.phase = Phase::Chunk { left: left - now, last };
            return Some(SmtpStep::Read);
        }
        self.phase = Phase::Commands;
        let chunks = self.mail.as_mut().map(|mail| mail.chunks.take());
        match (chunks, last) {
            (None, _) => self.fault(MAIL_FIRST),
            (Some(None), _) => self.fault(RECIPIENT_FIRST),
            (Some(Some(content)), true) => return self.finish_mail(content),
            (Some(content), false) => {
                if let Some(mail) = &mut self.mail {
                    mail.chunks = content;
                }
                self.reply("250 2.0.0 Go on.");
            }
        }
        None
    }

    fn finish_mail(&mut self, content: MailContent) -> Option<SmtpStep> {
        let Mail { sender, recipients, .. } = self.mail.take()?;
        match content.finish() {
            Ok(bytes) => {
                self.phase = Phase::Waiting;
                self.filing_from = Some(sender.path.clone());
                self.filing_for.clone_from(&recipients);
                Some(SmtpStep::TakeIn(SmtpTransaction { sender: sender.path, recipients, bytes }))
            }
            Err(why) => {
                let line = match why {
                    Refused::BareLineEnd => BARE_LINE_END,
                    Refused::TooLarge => TOO_LARGE,
                    Refused::NoRoom => NO_ROOM,
                };
                let concern = |recipients: &[String]| {
                    let recipients = recipients.iter().map(String::as_str);
                    RefusedEnvelope::new(Some(&sender.path), recipients)
                };
                match self.protocol {
                    Protocol::Lmtp => recipients.iter().for_each(|recipient| {
                        self.refuse_mail(line, || concern(std::slice::from_ref(recipient)));
                    }),
                    Protocol::Smtp => self.refuse_mail(line, || concern(&recipients)),
                }
                None
            }
        }
    }

    fn start_tls(&mut self) -> Option<SmtpStep> {
        if self.tls != Tls::Offered {
            self.fault(NO_ENCRYPTION);
            return None;
        }
        self.reply("220 2.0.0 Begin.");
        // Plaintext commands behind STARTTLS may be injected by an attacker on the network.
        self.input.clear();
        self.phase = Phase::Waiting;
        Some(SmtpStep::StartTls)
    }
}

fn answer(outcome: RecipientReply) -> Result<(), SmtpRefusal> {
    match outcome {
        RecipientReply::Taken => Ok(()),
        RecipientReply::MailLoop => Err(MAIL_LOOP),
        RecipientReply::NoInbox => Err(NO_INBOX),
        RecipientReply::Deferred => Err(NOT_NOW),
        RecipientReply::Trouble => Err(TROUBLE),
    }
}

/// One reply for all recipients. If their outcomes differ, the mail is deferred: on the retry,
/// filed copies are duplicates, and removed inboxes are refused at RCPT TO.
fn together(answers: &[Result<(), SmtpRefusal>]) -> Result<(), SmtpRefusal> {
    match answers.split_first() {
        Some((first, rest)) if rest.iter().all(|answer| answer == first) => *first,
        _ => Err(TROUBLE),
    }
}
