//! Builds the sample workspace by running the scenarios through the same functions as everybody.

use std::collections::HashMap;
use std::io;

use actions::conversations::snooze::snooze;
use actions::writing::compose::{NewReply, send_reply};
use actions::writing::drafts::{DraftApproval, approve_draft, discard_draft};
use actions::writing::seen::{SeenConversation, SeenDraft};
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
use outbound::messages::{load_outgoing, mark_sent};
use outbound::scheduling::MessageTimes;

use super::files::SampleFile;
use super::people::SamplePeople;
use super::scenario::{
    SampleDocument, SampleInbox, SampleMember, SampleRisk, Scenario, ScenarioAction, ScenarioStep,
};
use super::scenarios::SampleData;

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
pub fn script(data: &'static SampleData, now: i64) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (number, story) in data.stories.iter().enumerate() {
        for ScenarioStep { at, what } in &story.steps {
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
pub type SampleBlobs = HashMap<&'static str, (Attachment, Blob)>;

pub fn read_files(data: &'static SampleData, blobs: &Blobs) -> io::Result<SampleBlobs> {
    let mut samples = SampleBlobs::new();
    for file in data.attached_names().filter_map(|name| data.file(name)) {
        let bytes = file.bytes();
        let blob = blobs.put(&bytes)?;
        samples.insert(file.name.as_str(), (attachment(file, bytes), blob));
    }
    Ok(samples)
}

/// Where the stories stand.
pub struct DemoBuilder<'a> {
    app: &'a App,
    now: i64,
    people: &'a SamplePeople,
    data: &'static SampleData,
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
    fn conversation(&self) -> Result<&ConversationId> {
        self.conversation.as_ref().ok_or(Error::NotFound("conversation"))
    }

    fn id(&self) -> Result<String> {
        Ok(self.conversation()?.to_string())
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
        data: &'static SampleData,
        blobs: &'a SampleBlobs,
    ) -> DemoBuilder<'a> {
        DemoBuilder { app, now, people, data, blobs, threads: HashMap::new() }
    }

    /// The conversation with this subject, once it has begun.
    pub fn conversation(&self, subject: &str) -> Option<&ConversationId> {
        let number = self.data.stories.iter().position(|story| story.subject == subject)?;
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
        match what {
            ScenarioAction::AppMail { reference, subject, text } => {
                thread.answers = Some(record(tx, cx, story, reference, subject, text)?);
            }
            ScenarioAction::Mail { .. } => self.deliver(tx, cx, story, what, thread)?,
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
                let (name, email) = story.from.clone();
                let contact = Party { name: Some(name), email };
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
                let seen = SeenConversation::now(tx, cx, thread.conversation()?)?;
                let sent = send_reply(tx, cx, &thread.id()?, &message, seen)?;
                thread.outgoing = Some(sent.into_result()?.message_id);
            }
            ScenarioAction::SecureReply { text, .. } => {
                let input = ReplyInput { secure: Some(true), ..reply_input(thread.id()?, text) };
                thread.outgoing = Some(reply(tx, cx, input)?.message_id);
            }
            ScenarioAction::Opened => {
                let link = secure::link_of(tx, cx, thread.outgoing()?, &story.from.1)?;
                secure::mark_opened(tx, cx, &link)?;
            }
            ScenarioAction::Draft { summary, text, documents } => {
                let summary = Some(summary.to_owned());
                let documents = documents.iter().map(item).collect();
                let written = reply_input(thread.id()?, text);
                let draft = ReplyInput { send: false, summary, documents, ..written };
                thread.outgoing = Some(reply(tx, cx, draft)?.message_id);
            }
            ScenarioAction::Approve { edited, .. } => {
                let (draft, _) = load_outgoing(tx, cx.actor, thread.outgoing()?)?;
                let conversation = SeenConversation::now(tx, cx, &draft.conversation)?;
                let seen = SeenDraft { revision: draft.revision, conversation };
                let approval =
                    DraftApproval { text: edited.as_deref(), ..DraftApproval::default() };
                approve_draft(tx, cx, &draft.id, seen, &approval)?.into_result()?;
            }
            ScenarioAction::Discard { reason, .. } => {
                let (draft, _) = load_outgoing(tx, cx.actor, thread.outgoing()?)?;
                discard_draft(tx, cx, &draft.id, draft.revision, reason)?;
            }
            ScenarioAction::Note { text, .. } => {
                add_note(tx, cx, AddNoteInput { id: thread.id()?, body: text.into() })?;
            }
            ScenarioAction::Tag { names, .. } => {
                let add = names.clone();
                let id = thread.id()?;
                tag_conversation(tx, cx, TagConversationInput { id, add, remove: Vec::new() })?;
            }
            ScenarioAction::Assign { to, .. } => {
                let to = address_of(self.people.member(*to));
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
        what: &ScenarioAction,
        thread: &mut Thread,
    ) -> Result<()> {
        let ScenarioAction::Mail { text, html, automatic, files, risk } = what else {
            return Ok(());
        };
        let risk = risk.as_ref();
        let mailbox = self.people.inbox(story.inbox);
        let (name, email) = &story.from;
        let begins = thread.conversation.is_none();
        let delivered_to = match &story.reference {
            Some(tag) if begins => mailbox.address.with_tag(tag),
            _ => mailbox.address.clone(),
        };
        let stored = || files.iter().filter_map(|name| self.blobs.get(name.as_str()));
        let message_id = message_id(cx, email);
        let mail = Mail {
            message_id: Some(message_id.clone()),
            answers: thread.answers.take().into_iter().collect(),
            from: Address::new(Some(name.as_str()), email),
            to: vec![Address::new(Some(&mailbox.name), &delivered_to)],
            cc: Vec::new(),
            delivered_to: delivered_to.into(),
            subject: if begins { story.subject.clone() } else { format!("Re: {}", story.subject) },
            text: text.clone(),
            quoted: String::new(),
            kind: if *automatic { AuthorKind::AutoReply } else { AuthorKind::Person },
            no_automatic_reply: *automatic,
            dmarc: risk.map_or(Dmarc::Pass, |risk| risk.dmarc),
            warning: risk.map(warning),
            attachments: stored().map(|(attachment, _)| attachment.clone()).collect(),
            has_html: html.is_some(),
        };
        let attachments = stored().map(|(_, blob)| blob.clone()).collect();
        let raw = match html {
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
    let (_, email) = &story.from;
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
        label: paper.label.clone(),
        description: Some(paper.description.clone()),
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
    Warning { risk: risk.risk, reasons: risk.reasons.clone(), hold: risk.hold }
}

fn attachment(file: &SampleFile, bytes: Vec<u8>) -> Attachment {
    Attachment { filename: file.name.clone(), content_type: file.content_type().into(), bytes }
}
