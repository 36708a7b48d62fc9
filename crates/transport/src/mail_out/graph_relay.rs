//! The relay of an inbox that sends by Microsoft Graph.
//!
//! Graph sends a mail to everybody whom its header names, so the header is made to name the recipients of
//! the attempt. An attempt whose outcome is not known may have been delivered: every attempt first looks
//! into the folder of sent mail for whom the mail went to, and sends to the others alone.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use jobs::{BoxFuture, OutgoingMail, Relay, RelayOutcome, RelayReason};
use mail::Address;
use model::mailboxes::mailbox_grants::GrantKey;
use model::mailboxes::outgoing_servers::{SubmissionLogin, SubmissionServer};
use tokio::sync::Semaphore;

use super::connect_config::ServerConnectConfig;
use super::divided_mail::DividedMail;
use super::envelope;
use crate::graph::{GraphClient, GraphFault, GraphFile};
use crate::mail_oauth::{AccessTokens, with_fresh_token};

/// Mails at once of one mailbox, for which Graph takes four requests at a time.
const AT_ONCE: usize = 2;
/// The largest mail that is sent in one request, in bytes: Graph takes 4 MB, and base64 adds a third. Of a
/// larger one the files are attached one by one.
const MAIL_BYTES: usize = 3_000_000;
/// The largest file that Graph takes, in bytes.
const FILE_BYTES: usize = 150_000_000;
/// Drafts of earlier attempts that are removed before another is made.
const OLD_DRAFTS: usize = 10;
/// Why a server that an inbox is connected to cannot be used.
const NO_GRAPH: &str = "signing in at Microsoft is not set up on this server";

/// Hands every mail of an inbox to Microsoft Graph.
pub struct GraphRelay {
    client: GraphClient,
    mailbox: String,
    key: GrantKey,
    tokens: Arc<dyn AccessTokens>,
    places: Semaphore,
}

impl GraphRelay {
    /// The error is a sentence without its subject.
    pub fn for_inbox(
        server: &SubmissionServer,
        dialling: &ServerConnectConfig,
    ) -> Result<GraphRelay, String> {
        let Some(SubmissionLogin::Grant { username, key }) = &server.login else {
            return Err(NO_GRAPH.into());
        };
        let address = dialling.tokens.graph().ok_or(NO_GRAPH)?;
        Ok(GraphRelay {
            client: GraphClient::new(address.clone())?,
            mailbox: username.clone(),
            key: key.clone(),
            tokens: Arc::clone(&dialling.tokens),
            places: Semaphore::new(AT_ONCE),
        })
    }

    async fn hand_over(&self, mail: &OutgoingMail, recipients: &[String]) -> Vec<RelayOutcome> {
        let _place = self.places.acquire().await;
        let has_it: BTreeSet<String> = match self.find_sent(&mail.message_id).await {
            Ok(sent_to) => sent_to
                .into_iter()
                .map(|to| envelope::deliverable(&to).unwrap_or(to).to_ascii_lowercase())
                .collect(),
            // The search was refused, and not the mail.
            Err(GraphFault::Refused(_) | GraphFault::TooLarge) => {
                return vec![outcome_of(&GraphFault::Unclear); recipients.len()];
            }
            Err(fault) => return vec![outcome_of(&fault); recipients.len()],
        };
        let left: Vec<&str> = recipients
            .iter()
            .map(String::as_str)
            .filter(|to| !has_it.contains(&to.to_ascii_lowercase()))
            .collect();
        let outcome = match left.is_empty() {
            true => RelayOutcome::Delivered,
            false => match self.send_to(mail, &left).await {
                Ok(()) => RelayOutcome::Delivered,
                Err(fault) => outcome_of(&fault),
            },
        };
        let of_each = |to: &String| match left.contains(&to.as_str()) {
            true => outcome.clone(),
            false => RelayOutcome::Delivered,
        };
        recipients.iter().map(of_each).collect()
    }

    async fn find_sent(&self, message_id: &str) -> Result<BTreeSet<String>, GraphFault> {
        self.ask(|token: String| async move {
            self.client.sent_to(&token, &self.mailbox, message_id).await
        })
        .await
    }

    async fn send_to(&self, mail: &OutgoingMail, recipients: &[&str]) -> Result<(), GraphFault> {
        let bytes = addressed_to(&mail.bytes, recipients);
        let (words, files) = match bytes.len() > MAIL_BYTES {
            true => {
                let divided = DividedMail::of(&bytes).ok_or(GraphFault::TooLarge)?;
                (divided.words, divided.files)
            }
            false => (bytes, Vec::new()),
        };
        if words.len() > MAIL_BYTES || files.iter().any(|file| file.bytes.len() > FILE_BYTES) {
            return Err(GraphFault::TooLarge);
        }
        let words = words.as_slice();
        match files.is_empty() {
            true => {
                self.ask(|token: String| async move {
                    self.client.send(&token, &self.mailbox, words).await
                })
                .await
            }
            false => self.send_with_files(&mail.message_id, words, &files).await,
        }
    }

    /// Sends a mail whose files are attached one by one. A draft that was surely not sent is removed again.
    async fn send_with_files(
        &self,
        message_id: &str,
        words: &[u8],
        files: &[GraphFile],
    ) -> Result<(), GraphFault> {
        self.remove_old_drafts(message_id).await;
        let id = self
            .ask(|token: String| async move {
                self.client.create_draft(&token, &self.mailbox, words).await
            })
            .await?;
        let id = id.as_str();
        for file in files {
            let attached = self.ask(|token: String| async move {
                self.client.attach(&token, &self.mailbox, id, file).await
            });
            if let Err(fault) = attached.await {
                self.remove_draft(id).await;
                return Err(of_draft(fault));
            }
        }
        let sent = self.ask(|token: String| async move {
            self.client.send_draft(&token, &self.mailbox, id).await
        });
        let sent = sent.await.map_err(of_draft);
        if sent.as_ref().is_err_and(|fault| !fault.may_be_done()) {
            self.remove_draft(id).await;
        }
        sent
    }

    /// Removes what attempts left behind whose outcome was not known. The mail was not sent, as the
    /// folder of sent mail showed.
    async fn remove_old_drafts(&self, message_id: &str) {
        let found = self.ask(|token: String| async move {
            self.client.find_drafts(&token, &self.mailbox, message_id).await
        });
        match found.await {
            Ok(ids) => {
                for id in ids.iter().take(OLD_DRAFTS) {
                    self.remove_draft(id).await;
                }
            }
            Err(fault) => tracing::warn!(?fault, "drafts of earlier attempts could not be found"),
        }
    }

    /// What is not removed stays in the folder of drafts, where people see it.
    async fn remove_draft(&self, id: &str) {
        let removed = self.ask(|token: String| async move {
            self.client.remove_draft(&token, &self.mailbox, id).await
        });
        if let Err(fault) = removed.await {
            tracing::warn!(?fault, "a draft of a mail that was not sent could not be removed");
        }
    }

    /// Asks Graph with an access token, and once more with a new one if it refuses the first.
    async fn ask<T, F>(&self, work: impl Fn(String) -> F) -> Result<T, GraphFault>
    where
        F: Future<Output = Result<T, GraphFault>>,
    {
        with_fresh_token(&*self.tokens, &self.key, GraphFault::is_token_refusal, work).await
    }
}

impl Relay for GraphRelay {
    fn send<'a>(&'a self, mail: &'a OutgoingMail) -> BoxFuture<'a, Vec<RelayOutcome>> {
        Box::pin(envelope::to_deliverable(mail, async move |mail, recipients: Vec<String>| {
            self.hand_over(&mail, &recipients).await
        }))
    }
}

/// What follows from a fault for the mail. One that may have been sent is tried again, after a look into
/// the folder of sent mail.
fn outcome_of(fault: &GraphFault) -> RelayOutcome {
    let broken = || {
        let sentence = "the connection broke before the server had taken the mail";
        RelayOutcome::Later(RelayReason::new("connection-broken", sentence))
    };
    let status = |status: &str| {
        let sentence = format!("the server answered {status} to the mail");
        RelayOutcome::Later(RelayReason::new(status, sentence))
    };
    match fault {
        GraphFault::Unreachable => unavailable("no-connection", "no connection: nobody answers"),
        GraphFault::NoToken(failure) => unavailable("no-access-token", &failure.sentence()),
        GraphFault::TokenRefused(words)
        | GraphFault::NoAccess(words)
        | GraphFault::NotFound(words) => {
            let sentence = "the server does not let this user send by this sign-in";
            let reason = RelayReason::new("sign-in-refused", sentence).with_reply(words.clone());
            RelayOutcome::Unavailable(reason)
        }
        GraphFault::Refused(words) => {
            let sentence = "the server refused the mail";
            let reason = RelayReason::new("refused", sentence).with_reply(words.clone());
            RelayOutcome::Never(reason)
        }
        GraphFault::TooLarge => {
            let sentence = "the mail is larger than the server takes";
            RelayOutcome::Never(RelayReason::new("too-large", sentence))
        }
        GraphFault::Throttled => status("429"),
        GraphFault::Failed(code)
        | GraphFault::Busy(code)
        | GraphFault::RetryAfter { status: code, .. } => status(&code.to_string()),
        GraphFault::BrokeOff
        | GraphFault::Slow
        | GraphFault::ItemGone
        | GraphFault::LinkOver
        | GraphFault::ForeignLink
        | GraphFault::Unclear => broken(),
    }
}

fn unavailable(code: &str, sentence: &str) -> RelayOutcome {
    RelayOutcome::Unavailable(RelayReason::new(code, sentence))
}

/// A draft that is gone was sent or removed by somebody else, which the next attempt sees.
fn of_draft(fault: GraphFault) -> GraphFault {
    match fault {
        GraphFault::ItemGone | GraphFault::NotFound(_) => GraphFault::Unclear,
        fault => fault,
    }
}

/// The mail with a header that names these recipients and nobody else. Where its To and Cc name others
/// too, who have the mail already or cannot get it, those are left out. Whoever they do not name is named
/// by Bcc, which Graph does not pass on: a hidden recipient stays hidden.
fn addressed_to(mail: &[u8], recipients: &[&str]) -> Vec<u8> {
    let named = mail::participants(mail);
    let deliverable = |all: &[Address]| -> Vec<String> {
        let one =
            |to: &Address| envelope::deliverable(&to.email).unwrap_or_else(|| to.email.clone());
        all.iter().map(one).collect()
    };
    let (to, cc) = (deliverable(&named.to), deliverable(&named.cc));
    let is_in = |all: &[String], one: &str| all.iter().any(|it| it.eq_ignore_ascii_case(one));
    let is_left = |one: &String| recipients.iter().any(|it| it.eq_ignore_ascii_case(one));
    let mut fields: [(&str, Vec<&str>); 3] =
        [("To", Vec::new()), ("Cc", Vec::new()), ("Bcc", Vec::new())];
    for recipient in recipients {
        let place = if is_in(&to, recipient) {
            0
        } else if is_in(&cc, recipient) {
            1
        } else {
            2
        };
        fields[place].1.push(recipient);
    }
    let names_others = !to.iter().chain(&cc).all(is_left);
    let written = if names_others { &fields[..] } else { &fields[2..] };
    let mut addressed = Vec::with_capacity(mail.len() + 1_000);
    for (field, listed) in written.iter().filter(|(_, listed)| !listed.is_empty()) {
        let list: Vec<String> = listed.iter().map(|to| format!("<{to}>")).collect();
        addressed.extend_from_slice(format!("{field}: {}\r\n", list.join(",\r\n ")).as_bytes());
    }
    match names_others {
        true => without_recipients(mail, &mut addressed),
        false => addressed.extend_from_slice(mail),
    }
    addressed
}

/// Appends a mail without the fields To and Cc of its header.
fn without_recipients(mail: &[u8], into: &mut Vec<u8>) {
    let (mut rest, mut skips) = (mail, false);
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = rest.split_at(end + 1);
        if line == b"\r\n" || line == b"\n" {
            break;
        }
        if !line.starts_with(b" ") && !line.starts_with(b"\t") {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            skips = name.eq_ignore_ascii_case(b"To") || name.eq_ignore_ascii_case(b"Cc");
        }
        if !skips {
            into.extend_from_slice(line);
        }
        rest = after;
    }
    into.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &[u8] =
        b"Message-ID: <a@x.example>\r\nTo: \"B, C\" <b@x.example>,\r\n <c@x.example>\r\n\
        Cc: <d@x.example>\r\nSubject: Hi\r\n\r\nTo: you\r\n";

    fn header(recipients: &[&str]) -> String {
        String::from_utf8(addressed_to(MAIL, recipients)).unwrap()
    }

    #[test]
    fn a_mail_goes_to_the_recipients_of_the_attempt_and_to_nobody_else() {
        let all = ["b@x.example", "C@x.example", "d@x.example"];
        assert_eq!(header(&all), String::from_utf8(MAIL.to_vec()).unwrap());
        let hidden = [&all[..], &["e@x.example", "f@x.example"]].concat();
        let with_hidden = header(&hidden);
        assert!(with_hidden.starts_with("Bcc: <e@x.example>,\r\n <f@x.example>\r\nMessage-ID:"));
        assert!(with_hidden.ends_with(str::from_utf8(MAIL).unwrap()));
        let rest = "Message-ID: <a@x.example>\r\nSubject: Hi\r\n\r\nTo: you\r\n";
        for (recipients, fields) in [
            (&["c@x.example"][..], "To: <c@x.example>\r\n"),
            (
                &["e@x.example", "D@x.example", "b@x.example"][..],
                "To: <b@x.example>\r\nCc: <D@x.example>\r\nBcc: <e@x.example>\r\n",
            ),
            (&["d@x.example", "e@x.example"][..], "Cc: <d@x.example>\r\nBcc: <e@x.example>\r\n"),
            (&["e@x.example", "f@x.example"][..], "Bcc: <e@x.example>,\r\n <f@x.example>\r\n"),
        ] {
            assert_eq!(header(recipients), format!("{fields}{rest}"), "a hidden one stays hidden");
        }
    }

    #[test]
    fn what_may_have_been_sent_is_no_refusal() {
        for (fault, temporary) in [
            (GraphFault::BrokeOff, true),
            (GraphFault::Slow, true),
            (GraphFault::Failed(504), true),
            (GraphFault::Throttled, true),
            (GraphFault::Busy(412), true),
            (GraphFault::ItemGone, true),
            (GraphFault::NotFound("x".into()), true),
            (GraphFault::NoAccess("x".into()), true),
            (GraphFault::Refused("ErrorInvalidRecipients".into()), false),
            (GraphFault::TooLarge, false),
        ] {
            assert_eq!(outcome_of(&fault).is_temporary(), temporary, "{fault:?}");
        }
    }
}
