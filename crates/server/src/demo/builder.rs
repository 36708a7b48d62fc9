//! Builds the sample workspace by running the scenarios through the same functions as everybody.

use std::collections::HashMap;
use std::io;

use actions::conversations::snooze::snooze;
use actions::writing::compose::{NewReply, send_reply};
use actions::writing::drafts::{approve_draft, discard_draft};
use api::operations::{
    AddNoteInput, AssignConversationInput, DocumentItemInput, RecordSentInput, ReplyInput,
    SetStatusInput, TagConversationInput,
};
use api::operations::{add_note, assign_conversation, set_status, tag_conversation};
use api::operations::{record_sent, reply};
use base::actor::Actor;
use base::app::{App, Cx};
use base::error::{Error, Result};
use base::files::blobs::{Blob, Blobs};
use base::ids::{ConversationId, MessageId};
use base::limits::{UNDO_LIVE_MS, UNDO_SANDBOX_MS};
use base::states::Status;
use base::time::Moment;
use db::Tx;
use inbound::incoming_mail::IncomingMail;
use inbound::receive::receive;
use mail::{
    Address, Attachment, Authentication, AuthenticationResult, AuthorKind, Dmarc, Mail, Warning,
};
use model::authentication::SenderAuthentication;
use model::guests::secure;
use model::messages::recipients::{Party, RecipientList};
use model::messages::written_text::TextFormat;
use outbound::messages::{load_outgoing, mark_sent, with_words};
use outbound::scheduling::MessageTimes;

use super::files::SampleFile;
use super::people::SamplePeople;
use super::scenario::{
    SampleDocument, SampleInbox, SampleMember, SampleRisk, Scenario, ScenarioAction, ScenarioStep,
};
use super::scenarios;

/// Characters of a sample mail's Message-ID before the `@`.
const MESSAGE_ID_CHARS: usize = 24;

/// Something that happens in one story.
pub struct Scene {
    at: i64,
    number: usize,
    story: &'static Scenario,
    act: Act,
}

enum Act {
    Step(&'static ScenarioAction),
    /// The undo window of the reply before is over.
    Leaves,
}

/// Everything that happens, oldest first, so that ids and numbers grow with time.
pub fn script(now: i64) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (number, story) in scenarios::all() {
        for ScenarioStep { at, what } in story.steps {
            let at = at.millis(now);
            scenes.push(Scene { at, number, story, act: Act::Step(what) });
            let leaves_at = at + undo_window(story.inbox);
            if matches!(
                what,
                ScenarioAction::Reply { .. }
                    | ScenarioAction::RichReply { .. }
                    | ScenarioAction::SecureReply { .. }
                    | ScenarioAction::Approve { .. }
            ) && leaves_at <= now
            {
                scenes.push(Scene { at: leaves_at, number, story, act: Act::Leaves });
            }
        }
    }
    scenes.sort_by_key(|scene| scene.at);
    scenes
}

pub fn undo_window(inbox: SampleInbox) -> i64 {
    if inbox == SampleInbox::Sandbox { UNDO_SANDBOX_MS } else { UNDO_LIVE_MS }
}

/// Files by name, taken in before the transaction that files them.
pub type SampleBlobs = HashMap<&'static str, (Vec<u8>, Blob)>;

pub fn read_files(blobs: &Blobs) -> io::Result<SampleBlobs> {
    let mut samples = SampleBlobs::new();
    for step in scenarios::all().flat_map(|(_, story)| story.steps) {
        let ScenarioAction::Mail { files, .. } = step.what else { continue };
        for file in files {
            let bytes = file.bytes();
            let blob = blobs.put(&bytes)?;
            samples.insert(file.name, (bytes, blob));
        }
    }
    Ok(samples)
}

/// Where the stories stand.
pub struct DemoBuilder<'a> {
    app: &'a App,
    now: i64,
    people: &'a SamplePeople,
    blobs: &'a SampleBlobs,
    threads: HashMap<usize, Thread>,
}

/// What a story has come to.
#[derive(Default)]
struct Thread {
    conversation: Option<ConversationId>,
    /// The Message-ID that the customer's next mail answers.
    answers: Option<String>,
    /// The draft that waits, or the reply that is on its way.
    outgoing: Option<MessageId>,
}

impl Thread {
    fn id(&self) -> Result<String> {
        let id = self.conversation.as_ref().ok_or(Error::NotFound("conversation"))?;
        Ok(id.to_string())
    }

    fn outgoing(&self) -> Result<&MessageId> {
        self.outgoing.as_ref().ok_or(Error::NotFound("message"))
    }
}

impl<'a> DemoBuilder<'a> {
    pub fn new(
        app: &'a App,
        now: i64,
        people: &'a SamplePeople,
        blobs: &'a SampleBlobs,
    ) -> DemoBuilder<'a> {
        DemoBuilder { app, now, people, blobs, threads: HashMap::new() }
    }

    /// The conversation with this subject, once it has begun.
    pub fn conversation(&self, subject: &str) -> Option<&ConversationId> {
        let (number, _) = scenarios::all().find(|(_, story)| story.subject == subject)?;
        self.threads.get(&number)?.conversation.as_ref()
    }

    pub fn play(&mut self, tx: &mut Tx<'_>, scene: &Scene) -> Result<()> {
        let mut thread = self.threads.remove(&scene.number).unwrap_or_default();
        let actor = self.actor(scene);
        let cx = &Cx { now: scene.at, ..self.app.cx(&actor) };
        match scene.act {
            Act::Step(what) => self.step(tx, cx, scene.story, what, &mut thread)?,
            Act::Leaves => leave(tx, cx, &thread)?,
        }
        self.threads.insert(scene.number, thread);
        Ok(())
    }

    fn actor(&self, scene: &Scene) -> Actor {
        let inbox = scene.story.inbox;
        let robo =
            if inbox == SampleInbox::Sandbox { SampleMember::RoboTest } else { SampleMember::Robo };
        let Act::Step(what) = scene.act else { return self.people.mailroom(inbox) };
        let member = match *what {
            ScenarioAction::Mail { .. } | ScenarioAction::Opened => {
                return self.people.mailroom(inbox);
            }
            ScenarioAction::AppMail { .. } | ScenarioAction::Draft { .. } => robo,
            ScenarioAction::Reply { by, .. }
            | ScenarioAction::ReplyLater { by, .. }
            | ScenarioAction::RichReply { by, .. }
            | ScenarioAction::SecureReply { by, .. }
            | ScenarioAction::Approve { by, .. }
            | ScenarioAction::Discard { by, .. }
            | ScenarioAction::Note { by, .. }
            | ScenarioAction::Tag { by, .. }
            | ScenarioAction::Assign { by, .. }
            | ScenarioAction::Close { by }
            | ScenarioAction::Snooze { by, .. } => by,
        };
        self.people.member(member).clone()
    }

    fn step(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        story: &Scenario,
        what: &ScenarioAction,
        thread: &mut Thread,
    ) -> Result<()> {
        match *what {
            ScenarioAction::AppMail { reference, subject, text } => {
                thread.answers = Some(record(tx, cx, story, reference, subject, text)?);
            }
            ScenarioAction::Mail { text, html, kind, files, ref risk } => {
                let words = Words { text, html, kind, files, risk: risk.as_ref() };
                self.deliver(tx, cx, story, &words, thread)?;
            }
            ScenarioAction::Reply { text, .. } => {
                let result = reply(tx, cx, reply_input(thread.id()?, text))?;
                thread.outgoing = Some(result.message_id);
            }
            ScenarioAction::ReplyLater { until, text, .. } => {
                let send_at = Some(Moment(until.millis(self.now)));
                let input = ReplyInput { send_at, ..reply_input(thread.id()?, text) };
                thread.outgoing = Some(reply(tx, cx, input)?.message_id);
            }
            ScenarioAction::RichReply { markdown, .. } => {
                let contact = Party { name: Some(story.from.0.into()), email: story.from.1.into() };
                let message = NewReply {
                    body: markdown.into(),
                    format: TextFormat::Markdown,
                    recipients: RecipientList { to: vec![contact], ..RecipientList::default() },
                    close: false,
                    send: true,
                    forwards: None,
                    secure: None,
                    times: MessageTimes::default(),
                };
                let result = send_reply(tx, cx, &thread.id()?, &message)?;
                thread.outgoing = Some(result.message_id);
            }
            ScenarioAction::SecureReply { text, .. } => {
                let input = ReplyInput { secure: Some(true), ..reply_input(thread.id()?, text) };
                thread.outgoing = Some(reply(tx, cx, input)?.message_id);
            }
            ScenarioAction::Opened => {
                let link = secure::link_of(tx, cx, thread.outgoing()?, story.from.1)?;
                secure::mark_opened(tx, cx, &link)?;
            }
            ScenarioAction::Draft { summary, text, papers } => {
                let summary = Some(summary.to_owned());
                let documents = papers.iter().map(item).collect();
                let written = reply_input(thread.id()?, text);
                let draft = ReplyInput { send: false, summary, documents, ..written };
                thread.outgoing = Some(reply(tx, cx, draft)?.message_id);
            }
            ScenarioAction::Approve { edited, .. } => {
                let (draft, _) = load_outgoing(tx, cx.actor, thread.outgoing()?)?;
                let draft = with_words(tx, cx, draft)?;
                let text = edited.unwrap_or(&draft.text);
                approve_draft(tx, cx, &draft.id, draft.revision, text)?;
            }
            ScenarioAction::Discard { reason, .. } => {
                let (draft, _) = load_outgoing(tx, cx.actor, thread.outgoing()?)?;
                discard_draft(tx, cx, &draft.id, draft.revision, reason)?;
            }
            ScenarioAction::Note { text, .. } => {
                add_note(tx, cx, AddNoteInput { id: thread.id()?, body: text.into() })?;
            }
            ScenarioAction::Tag { names, .. } => {
                let add = names.iter().map(|name| name.to_string()).collect();
                let id = thread.id()?;
                tag_conversation(tx, cx, TagConversationInput { id, add, remove: Vec::new() })?;
            }
            ScenarioAction::Assign { to, .. } => {
                let to = address_of(self.people.member(to));
                assign_conversation(tx, cx, AssignConversationInput { id: thread.id()?, to })?;
            }
            ScenarioAction::Close { .. } => {
                set_status(tx, cx, SetStatusInput { id: thread.id()?, status: Status::Closed })?;
            }
            ScenarioAction::Snooze { until, .. } => {
                snooze(tx, cx, &thread.id()?, until.millis(self.now))?
            }
        }
        Ok(())
    }

    /// A mail from the story's customer comes in.
    fn deliver(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        story: &Scenario,
        words: &Words<'_>,
        thread: &mut Thread,
    ) -> Result<()> {
        let mailbox = self.people.inbox(story.inbox);
        let (name, email) = story.from;
        let begins = thread.conversation.is_none();
        let delivered_to = match story.reference {
            Some(tag) if begins => mailbox.address.with_tag(tag),
            _ => mailbox.address.clone(),
        };
        let stored =
            || words.files.iter().filter_map(|file| Some((file, self.blobs.get(file.name)?)));
        let message_id = message_id(cx, email);
        let mail = Mail {
            message_id: Some(message_id.clone()),
            answers: thread.answers.take().into_iter().collect(),
            from: Address::new(Some(name), email),
            to: vec![Address::new(Some(&mailbox.name), &delivered_to)],
            cc: Vec::new(),
            delivered_to: delivered_to.into(),
            subject: if begins { story.subject.into() } else { format!("Re: {}", story.subject) },
            text: words.text.into(),
            quoted: String::new(),
            kind: words.kind,
            no_automatic_reply: words.kind == AuthorKind::AutoReply,
            dmarc: words.risk.map_or(Dmarc::Pass, |risk| risk.dmarc),
            warning: words.risk.map(warning),
            attachments: stored().map(|(file, (bytes, _))| attachment(file, bytes)).collect(),
            has_html: words.html.is_some(),
        };
        let attachments = stored().map(|(_, (_, blob))| blob.clone()).collect();
        let raw = match words.html {
            Some(html) => Some(cx.blobs.put(raw_mail(&mail, html).as_bytes())?),
            None => None,
        };
        let authentication = Some(authentication(mail.dmarc));
        let received = receive(
            tx,
            cx,
            mailbox,
            &IncomingMail {
                mail,
                raw,
                attachments,
                authentication,
                joins: None,
                content_hash: None,
            },
        )?;
        thread.conversation = Some(received.conversation);
        thread.answers = Some(message_id);
        Ok(())
    }
}

/// What a check of the sender found.
fn authentication(dmarc: Dmarc) -> SenderAuthentication {
    let found = match dmarc {
        Dmarc::Pass => AuthenticationResult::Pass,
        Dmarc::Fail => AuthenticationResult::Fail,
        Dmarc::Absent => AuthenticationResult::None,
    };
    let whole = Authentication { spf: found, dkim: found, dmarc, ..Authentication::default() };
    SenderAuthentication::from(&whole)
}

/// The mail as it came over the wire.
fn raw_mail(mail: &Mail, html: &str) -> String {
    let address = |address: &Address| match &address.name {
        Some(name) => format!("{name} <{}>", address.email),
        None => address.email.clone(),
    };
    let to: Vec<String> = mail.to.iter().map(address).collect();
    format!(
        "Message-ID: <{}>\r\nFrom: {}\r\nTo: {}\r\nSubject: {}\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{html}\r\n",
        mail.message_id.as_deref().unwrap_or_default(),
        address(&mail.from),
        to.join(", "),
        mail.subject,
    )
}

/// What a customer's mail says.
struct Words<'a> {
    text: &'a str,
    html: Option<&'a str>,
    kind: AuthorKind,
    files: &'a [SampleFile],
    risk: Option<&'a SampleRisk>,
}

/// The reply's undo window is over and it has gone out.
fn leave(tx: &mut Tx<'_>, cx: &Cx<'_>, thread: &Thread) -> Result<()> {
    let (message, mut conversation) = load_outgoing(tx, cx.actor, thread.outgoing()?)?;
    mark_sent(tx, cx, &mut conversation, &message)
}

/// Records a mail of the shop; answers its Message-ID.
fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    story: &Scenario,
    reference: &str,
    subject: &str,
    text: &str,
) -> Result<String> {
    let (_, email) = story.from;
    let message_id = message_id(cx, "shop@lumen-holz.example");
    let sent = RecordSentInput {
        message_id: message_id.clone(),
        reference: reference.into(),
        to: vec![email.into()],
        subject: subject.into(),
        text: Some(text.into()),
        html: None,
    };
    record_sent(tx, cx, sent)?;
    Ok(message_id)
}

fn message_id(cx: &Cx<'_>, from: &str) -> String {
    let domain = from.rsplit_once('@').map_or(from, |(_, domain)| domain);
    format!("{}@{domain}", cx.ids.token(MESSAGE_ID_CHARS))
}

fn reply_input(id: String, text: &str) -> ReplyInput {
    ReplyInput { id, body: text.into(), send: true, ..ReplyInput::default() }
}

fn item(paper: &SampleDocument) -> DocumentItemInput {
    DocumentItemInput {
        label: paper.label.into(),
        description: Some(paper.description.into()),
        required: Some(paper.required),
    }
}

/// Somebody as `assign_conversation` takes them.
fn address_of(actor: &Actor) -> String {
    use base::ids::MemberId::{Agent, User};
    match actor.member() {
        Some(User(id)) => format!("user:{id}"),
        Some(Agent(id)) => format!("agent:{id}"),
        None => "none".into(),
    }
}

fn warning(risk: &SampleRisk) -> Warning {
    let reasons = risk.reasons.iter().map(|reason| reason.to_string()).collect();
    Warning { risk: risk.risk, reasons, hold: risk.hold }
}

fn attachment(file: &SampleFile, bytes: &[u8]) -> Attachment {
    Attachment {
        filename: file.name.into(),
        content_type: file.content_type().into(),
        bytes: bytes.to_vec(),
    }
}
