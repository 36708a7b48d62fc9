//! A conversation's timeline as the page shows it.

use inbox::actions::TimelineEntry;
use inbox::actions::{EventEntry, FilePlace, FiledAs, MessageEntry, NoteEntry, OpenConversation};
use inbox::base::states::{ConversationRisk, Direction, MessageStatus, Status};
use inbox::model::mentions::marked;
use inbox::{Conversation, StoredTimelineEvent, TimelineEvent, WokenBy};

use crate::web::layout::wording::{Avatar, DisplayTime, TimeFormat, first_name, paragraphs, size};
use crate::web::pages::document_requests::RequestView;
use crate::web::pages::rich_text::formatted;

/// The last messages are shown in full.
const OPEN_MESSAGES: usize = 2;
/// So many events in a row are folded into one line.
const FOLD_EVENTS: usize = 4;
/// The largest picture that is shown beside its message, in bytes.
const PREVIEW_BYTES: i64 = 5 * 1024 * 1024;

pub enum TimelineRow {
    Message(Box<MessageView>),
    Note(NoteView),
    Event(EventView),
    Fold { summary: String, events: Vec<EventView> },
    Since,
    Risk,
}

pub struct MessageView {
    pub id: String,
    pub avatar: Avatar,
    pub name: String,
    pub is_agent: bool,
    pub class: &'static str,
    pub label: String,
    pub address: String,
    pub time: DisplayTime,
    pub paragraphs: Vec<Vec<String>>,
    /// The text as HTML, if it was written with formatting.
    pub formatted: Option<String>,
    /// True when it passes another message on.
    pub is_forward: bool,
    pub gist: String,
    pub brief: bool,
    pub cut: bool,
    /// Where the mail's own parts are: `original` and `html`.
    pub href: String,
    pub has_original: bool,
    /// True when it is shown as it was sent.
    pub has_html: bool,
    pub files: Vec<FileView>,
    pub asks: Option<RequestView>,
    pub summary: Option<String>,
    pub revision: i64,
    pub state: MessageProgress,
}

/// How far a message is.
pub enum MessageProgress {
    Theirs,
    Draft,
    Scheduled { clock: String, seconds: i64, iso: String },
    Sending,
    Sent,
    Failed,
}

pub struct FileView {
    pub href: String,
    pub name: String,
    pub kind: String,
    pub is_picture: bool,
}

pub struct NoteView {
    pub avatar: Avatar,
    pub is_agent: bool,
    pub name: String,
    pub time: DisplayTime,
    /// Paragraphs of lines of pieces; the flag marks a name that is mentioned.
    pub body: Vec<Vec<Vec<(bool, String)>>>,
}

pub struct EventView {
    pub avatar: Avatar,
    pub actor: String,
    pub text: String,
    pub time: DisplayTime,
}

pub fn items(open: &OpenConversation, times: &TimeFormat) -> Vec<TimelineRow> {
    let names: Vec<&str> = open
        .team
        .people
        .iter()
        .chain(&open.team.agents)
        .map(|member| first_name(&member.name))
        .collect();
    let agents: Vec<&str> = open.team.agents.iter().map(|member| member.name.as_str()).collect();
    let messages =
        open.entries.iter().filter(|entry| matches!(entry, TimelineEntry::Message(_))).count();
    let warned = warned_message(open);
    let mut items = Vec::new();
    let (mut met, mut marked) = (0, open.read_at.is_none());
    for (place, entry) in open.entries.iter().enumerate() {
        if !marked && place > 0 && open.read_at.is_some_and(|read_at| entry.at() > read_at) {
            items.push(TimelineRow::Since);
            marked = true;
        }
        marked |= open.read_at.is_some_and(|read_at| entry.at() > read_at);
        match entry {
            TimelineEntry::Message(message) => {
                met += 1;
                if warned == Some(message.id.as_str()) {
                    items.push(TimelineRow::Risk);
                }
                let mut view = view(message, &open.conversation, times);
                view.brief = met + OPEN_MESSAGES <= messages
                    && matches!(view.state, MessageProgress::Theirs | MessageProgress::Sent);
                items.push(TimelineRow::Message(Box::new(view)));
            }
            TimelineEntry::Note(note) => {
                items.push(TimelineRow::Note(note_view(note, &names, times)))
            }
            TimelineEntry::Event(event) => {
                items.push(TimelineRow::Event(event_view(event, &agents, times)))
            }
        }
    }
    folded(items)
}

/// The message with the warning above it: the customer's latest.
fn warned_message(open: &OpenConversation) -> Option<&str> {
    open.conversation.risk?;
    open.entries.iter().rev().find_map(|entry| match entry {
        TimelineEntry::Message(message) if message.direction == Direction::Inbound => {
            Some(message.id.as_str())
        }
        _ => None,
    })
}

pub fn view(
    message: &MessageEntry,
    conversation: &Conversation,
    times: &TimeFormat,
) -> MessageView {
    let contact = conversation.contact_name.as_deref().unwrap_or(&conversation.contact_email);
    let inbound = message.direction == Direction::Inbound;
    let name = message.from_name.clone().unwrap_or_else(|| message.from_email.clone());
    let avatar = if inbound {
        Avatar::customer(&name)
    } else {
        Avatar::of(message.author.as_deref(), &name)
    };
    let state = state(message, times);
    let (class, what) = match &state {
        MessageProgress::Theirs => ("", "Message from"),
        MessageProgress::Draft => ("draft", "Draft by"),
        MessageProgress::Scheduled { .. } => ("out", "Message leaving soon, from"),
        MessageProgress::Sending => ("out", "Message being sent, from"),
        MessageProgress::Sent => ("out", "Message from"),
        MessageProgress::Failed => ("failed", "Message that was not delivered, from"),
    };
    MessageView {
        id: message.id.to_string(),
        is_agent: avatar.is_agent(),
        avatar,
        label: format!("{what} {name}"),
        name,
        class,
        address: address_line(message, inbound, contact),
        time: times.long(message.at),
        paragraphs: paragraphs(&message.text),
        formatted: message.markdown.as_deref().filter(|_| !message.cut).map(formatted),
        is_forward: message.forwards.is_some(),
        gist: message.text.split_whitespace().take(24).collect::<Vec<_>>().join(" "),
        brief: false,
        cut: message.cut,
        href: format!("/conversations/{}/messages/{}", conversation.id, message.id),
        has_original: message.has_original,
        has_html: message.has_html,
        files: message
            .files
            .iter()
            .filter(|file| !is_in_text(message, file))
            .map(file_view)
            .collect(),
        asks: message.asks.as_ref().map(|card| RequestView::of(card, times)),
        summary: message.summary.clone(),
        revision: message.revision,
        state,
    }
}

fn state(message: &MessageEntry, times: &TimeFormat) -> MessageProgress {
    match message.status {
        None => MessageProgress::Theirs,
        Some(MessageStatus::Draft) => MessageProgress::Draft,
        Some(MessageStatus::Scheduled) => {
            let at = message.sends_at.unwrap_or(times.now);
            MessageProgress::Scheduled {
                clock: times.clock(at),
                seconds: ((at - times.now) / 1_000).max(0),
                iso: inbox::base::time::Moment(at).iso(),
            }
        }
        Some(MessageStatus::Sending) => MessageProgress::Sending,
        Some(MessageStatus::Sent) => MessageProgress::Sent,
        Some(MessageStatus::Failed) => MessageProgress::Failed,
    }
}

/// The sender's address, or the recipients.
fn address_line(message: &MessageEntry, inbound: bool, contact: &str) -> String {
    let shown = |party: &inbox::Party| {
        party.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| party.email.clone())
    };
    let cc: Vec<String> = message.cc.iter().map(shown).collect();
    let cc = if cc.is_empty() { String::new() } else { format!(", copy to {}", cc.join(", ")) };
    if inbound {
        return format!("{}{cc}", message.from_email);
    }
    let to: Vec<String> = message.to.iter().map(shown).collect();
    let to = if to.is_empty() { contact.to_owned() } else { to.join(", ") };
    let bcc: Vec<String> = message.bcc.iter().map(shown).collect();
    let bcc =
        if bcc.is_empty() { String::new() } else { format!(", hidden copy to {}", bcc.join(", ")) };
    format!("to {to}{cc}{bcc}")
}

/// True for a picture that the text shows already.
fn is_in_text(message: &MessageEntry, file: &FiledAs) -> bool {
    match (&message.markdown, &file.place) {
        (Some(markdown), FilePlace::Attachment(id)) => markdown.contains(&format!("](cid:{id})")),
        _ => false,
    }
}

pub fn file_view(file: &FiledAs) -> FileView {
    let short = file.content_type.rsplit('/').next().unwrap_or("").to_uppercase();
    FileView {
        href: match &file.place {
            FilePlace::Document(id) => format!("/documents/{id}"),
            FilePlace::Attachment(id) => format!("/attachments/{id}"),
        },
        name: file.filename.clone(),
        kind: format!("{short}, {}", size(file.size)),
        is_picture: crate::web::pages::files::is_picture(&file.content_type)
            && file.size <= PREVIEW_BYTES,
    }
}

fn note_view(note: &NoteEntry, names: &[&str], times: &TimeFormat) -> NoteView {
    let avatar = Avatar::of(Some(&note.author), &note.author_name);
    let lines = |lines: Vec<String>| lines.iter().map(|line| marked(line, names)).collect();
    NoteView {
        is_agent: avatar.is_agent(),
        avatar,
        name: note.author_name.clone(),
        time: times.long(note.at),
        body: paragraphs(&note.body).into_iter().map(lines).collect(),
    }
}

fn event_view(event: &EventEntry, agents: &[&str], times: &TimeFormat) -> EventView {
    let name = &event.actor_name;
    let avatar = match name.as_str() {
        "Mailroom" => Avatar::mailroom(),
        name if agents.contains(&name) => Avatar::agent(name),
        name => Avatar::person(name),
    };
    EventView {
        avatar,
        actor: name.clone(),
        text: words(&event.event(), times),
        time: times.long(event.at),
    }
}

/// What happened, in the past tense, after the actor's name. An event that a newer version wrote
/// is shown by its name.
fn words(event: &StoredTimelineEvent, times: &TimeFormat) -> String {
    match event {
        StoredTimelineEvent::Known(event) => sentence(event, times),
        StoredTimelineEvent::Unknown(name) => name.clone(),
    }
}

fn sentence(event: &TimelineEvent, times: &TimeFormat) -> String {
    match event {
        TimelineEvent::StatusChanged { to: Status::Open, .. } => "opened this again".into(),
        TimelineEvent::StatusChanged { to: Status::Waiting, .. } => {
            "set this to waiting on the customer".into()
        }
        TimelineEvent::StatusChanged { to: Status::Closed, .. } => "closed this".into(),
        TimelineEvent::Assigned { to: Some(to), .. } => format!("gave this to {}", to.name),
        TimelineEvent::Assigned { to: None, .. } => "took this off its assignee".into(),
        TimelineEvent::Tagged { added, removed } => {
            match (added.join(", ").as_str(), removed.join(", ").as_str()) {
                (added, "") => format!("added the tag {added}"),
                ("", removed) => format!("removed the tag {removed}"),
                (added, removed) => format!("added the tag {added} and removed {removed}"),
            }
        }
        TimelineEvent::Snoozed { until } => {
            format!("snoozed this until {}", times.long(until.0).text)
        }
        TimelineEvent::Woken { by: WokenBy::Clock } => {
            "brought this back, its time had come".into()
        }
        TimelineEvent::Woken { by: WokenBy::Customer } => {
            "brought this back, the customer answered".into()
        }
        TimelineEvent::Held { risk } => {
            format!("held this: {}", risk.map_or("", ConversationRisk::as_str))
        }
        TimelineEvent::Released {} => "released this to the inbox".into(),
        TimelineEvent::Approved { edited: true, .. } => "edited and approved the draft".into(),
        TimelineEvent::Approved { edited: false, .. } => "approved the draft".into(),
        TimelineEvent::Undone { .. } => "stopped the message".into(),
        TimelineEvent::Discarded { reason, .. } => match reason.as_str() {
            "" => "discarded the draft".into(),
            reason => format!("discarded the draft: {reason}"),
        },
        TimelineEvent::Requested { .. } => "asked for documents".into(),
        TimelineEvent::Uploaded { .. } => "received an upload".into(),
        TimelineEvent::Reminded { .. } => "reminded the customer of the documents".into(),
        TimelineEvent::RemindersStopped { .. } => {
            "heard that the customer wants no more reminders".into()
        }
        TimelineEvent::RequestClosed { .. } => "closed the document request".into(),
        TimelineEvent::RequestReopened { .. } => "opened the document request again".into(),
        TimelineEvent::RequestRevoked { .. } => "took the upload link back".into(),
        TimelineEvent::Completed { .. } => "has everything that was asked for".into(),
        TimelineEvent::Bounced { recipients: None, .. } => "could not deliver the message".into(),
        TimelineEvent::Bounced { recipients: Some(refused), .. } => {
            format!("could not deliver the message to {}", refused.join(", "))
        }
        TimelineEvent::SendDelayed { reason, .. } => {
            format!("could not send the message yet: {reason}. It is tried again")
        }
        TimelineEvent::SendFailed { reason, .. } => format!("could not send the message: {reason}"),
        TimelineEvent::SpamComplaint { .. } => {
            "heard that the customer reported the message as spam".into()
        }
    }
}

/// Folds long runs of events into one line.
fn folded(items: Vec<TimelineRow>) -> Vec<TimelineRow> {
    let mut out: Vec<TimelineRow> = Vec::new();
    let mut run: Vec<EventView> = Vec::new();
    for item in items {
        match item {
            TimelineRow::Event(event) => run.push(event),
            item => {
                close_run(&mut out, &mut run);
                out.push(item);
            }
        }
    }
    close_run(&mut out, &mut run);
    out
}

fn close_run(out: &mut Vec<TimelineRow>, run: &mut Vec<EventView>) {
    let events = std::mem::take(run);
    if events.len() < FOLD_EVENTS {
        out.extend(events.into_iter().map(TimelineRow::Event));
        return;
    }
    let last = events.last().map(|event| event.time.text.clone()).unwrap_or_default();
    out.push(TimelineRow::Fold {
        summary: format!("{} changes, until {last}", events.len()),
        events,
    });
}
