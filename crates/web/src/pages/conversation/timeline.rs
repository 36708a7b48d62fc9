//! A conversation's timeline as the page shows it.

use actions::conversations::open_conversation::OpenConversation;
use actions::conversations::timeline::{
    FileLocation, MessageEntry, NoteEntry, TimelineEntry, TimelineFile,
};
use base::limits::{READ_TEXT_CHARS, UNDO_LIVE_MS};
use base::states::{Direction, MessageStatus};
use model::conversations::Conversation;
use model::conversations::mentions::split_mentions;
use model::messages::helper_drafts::DraftSource;
use outbound::scheduling::WriterKind;
use translation::{sentence, t};

use crate::layout::file_kinds::kind_and_size;
use crate::layout::wording::{Avatar, DisplayTime, TimeFormat, first_name, paragraphs, size};
use crate::pages::conversation::booking_cards::OfferView;
use crate::pages::conversation::encrypted_mail::{is_encrypted, without_ciphertext};
use crate::pages::conversation::event_rows::EventView;
use crate::pages::conversation::message_cards::{self, MessageCard};
use crate::pages::conversation::message_details::MessageDetails;
use crate::pages::mail_files::document_requests::RequestView;
use crate::pages::mail_files::files::is_picture;
use crate::pages::mail_files::mail_frame::is_mail;
use crate::pages::writing::rich_text::{formatted_secure, shows_file, to_html_with_originals};
use crate::pages::writing::secure_text::SecureTextView;
use crate::queue_words::failure_words;

/// The last messages are shown in full.
const OPEN_MESSAGES: usize = 2;
/// So many events in a row are folded into one line.
const FOLD_EVENTS: usize = 4;
/// Unread messages that are shown in full, beside the last ones.
const OPEN_UNREAD: usize = 6;
/// On a page of more messages than this, so many folded ones have their details, files and cards; those
/// before them have their text alone.
const USUAL_MESSAGES: usize = 20;
const FOLDED_WHOLE: usize = 2;
/// Files of one message, and of one page, that are listed; the message's own page has all of them.
const FILES_PER_MESSAGE: usize = 8;
const FILES_PER_PAGE: usize = 16;
/// Characters of a folded message, and of all that are shown in full, the one at which the page opens
/// first of all; a message's own page has all of them.
const FOLDED_CHARS: usize = 200;
const OPEN_CHARS: usize = 9_000;

pub enum TimelineRow {
    Message(Box<MessageView>),
    Note(NoteView),
    Event(EventView),
    Fold { summary: String, events: Vec<EventView> },
    Since,
    Risk { opens_here: bool },
}

pub struct MessageView {
    pub id: String,
    pub avatar: Avatar,
    pub name: String,
    pub is_agent: bool,
    /// A key, a rule or the helper wrote it.
    pub is_by_software: bool,
    /// True while it is a draft of the drafting helper.
    pub is_helper: bool,
    /// The answers that it rests on: where each is, and its title.
    pub sources: Vec<(String, String)>,
    pub class: &'static str,
    pub label: String,
    /// The sender's address; empty for messages of ours.
    pub address: String,
    pub details: MessageDetails,
    /// Whether the sender's remote pictures are always shown; `None` where there can be none.
    pub shows_pictures: Option<bool>,
    pub time: DisplayTime,
    pub paragraphs: Vec<Vec<String>>,
    /// True for a mail of which something is not shown because it is encrypted.
    pub is_encrypted: bool,
    /// The text as HTML, if it was written with formatting.
    pub formatted: Option<String>,
    /// True when it passes another message on.
    pub is_forward: bool,
    pub gist: String,
    pub brief: bool,
    pub is_unread: bool,
    /// Folded, and its details are on its own page.
    pub is_light: bool,
    /// True for the message at which the conversation opens.
    pub opens_here: bool,
    pub cut: bool,
    /// Where the mail's own parts are: `original`, `headers` and `html`.
    pub href: String,
    pub has_original: bool,
    /// True when it can become a conversation of its own.
    pub can_split: bool,
    pub has_html: bool,
    /// True when its text is shown although it has HTML.
    pub as_text: bool,
    /// Where the other of both is shown: the text, or the HTML.
    pub switch_href: String,
    pub files: Vec<FileView>,
    /// Files that are not listed.
    pub more_files: usize,
    pub cards: Vec<MessageCard>,
    pub asks: Option<RequestView>,
    /// The times that it offers.
    pub offer: Option<OfferView>,
    pub summary: Option<String>,
    /// Set for a secure message.
    pub protected: Option<SecureTextView>,
    pub revision: i64,
    pub state: MessageProgress,
    /// Why a message that left did not reach everybody.
    pub refusal: Option<String>,
}

/// How far a message is.
pub enum MessageProgress {
    Theirs,
    Draft,
    Scheduled {
        leaves: String,
        seconds: i64,
        /// The seconds that it could be stopped in when it was sent.
        of: i64,
        iso: String,
        /// The reader may let it leave at once.
        may_send_now: bool,
    },
    /// Somebody holds it in the queue.
    Held {
        by: String,
    },
    Sending,
    Sent,
    Failed {
        why: String,
    },
}

pub struct FileView {
    pub href: String,
    /// Where it opens in a window of its own, if the browser shows it.
    pub shown_href: Option<String>,
    /// The page of a mail that is attached.
    pub mail_href: Option<String>,
    pub preview: Option<String>,
    pub name: String,
    pub kind: String,
}

pub struct NoteView {
    pub id: String,
    pub avatar: Avatar,
    pub is_agent: bool,
    pub name: String,
    pub time: DisplayTime,
    /// Paragraphs of lines of pieces; the flag marks a name that is mentioned.
    pub body: Vec<Vec<Vec<(bool, String)>>>,
}

/// What a reader asked of a timeline.
#[derive(Clone, Copy)]
pub struct TimelineChoice<'a> {
    /// The message whose text is shown although it has HTML; empty for none.
    pub as_text: &'a str,
    /// True for a part that is not the newest.
    pub is_older: bool,
    /// True while somebody chooses the message that is split off.
    pub is_splitting: bool,
    /// The query of the list behind the conversation.
    pub from: &'a str,
}

pub fn items(
    open: &OpenConversation,
    times: &TimeFormat,
    choice: TimelineChoice<'_>,
) -> Vec<TimelineRow> {
    let names = mentioned_names(open);
    let agents: Vec<&str> = open.team.agents.iter().map(|member| member.name.as_str()).collect();
    let warned = warned_message(open);
    let can_split = choice.is_splitting && open.can_split();
    let mut items = Vec::new();
    let mut marked = open.read_at.is_none();
    for (place, entry) in open.entries.iter().enumerate() {
        let is_unread =
            open.read_at.is_some_and(|read_at| entry.at() > read_at) && !open.is_own(entry);
        if !marked && place > 0 && is_unread {
            items.push(TimelineRow::Since);
        }
        marked |= is_unread;
        match entry {
            TimelineEntry::Message(message) => {
                if warned == Some(message.id.as_str()) {
                    items.push(TimelineRow::Risk { opens_here: false });
                }
                let mut view = apply_choice(view(message, &open.conversation, times), choice);
                let is_trusted = open.picture_senders.contains(&message.from_email);
                view.shows_pictures = view.shows_pictures.map(|_| is_trusted);
                view.can_split = can_split && message.is_mail();
                items.push(TimelineRow::Message(Box::new(MessageView { is_unread, ..view })));
            }
            TimelineEntry::Note(note) => {
                items.push(TimelineRow::Note(note_view(note, &names, times)))
            }
            TimelineEntry::Event(event) => {
                items.push(TimelineRow::Event(EventView::of(event, open, &agents, times)))
            }
        }
    }
    fold_messages(&mut items, open, choice);
    open_at_warning(&mut items);
    fold_events(items)
}

/// The first names of the team, which a note can mention.
pub fn mentioned_names(open: &OpenConversation) -> Vec<&str> {
    let team = open.team.people.iter().chain(&open.team.agents);
    team.map(|member| first_name(&member.name)).collect()
}

/// Where the page would open at the message below the warning, it opens at the warning: above the
/// edge of the window nobody sees it.
fn open_at_warning(items: &mut [TimelineRow]) {
    for place in 0..items.len() {
        if let [TimelineRow::Risk { opens_here }, TimelineRow::Message(message), ..] =
            &mut items[place..]
        {
            std::mem::swap(opens_here, &mut message.opens_here);
        }
    }
}

/// Links that stay in the conversation, and the text of a message whose text was asked for.
fn apply_choice(mut view: MessageView, choice: TimelineChoice<'_>) -> MessageView {
    let conversation = view.href.rsplit_once("/messages/").map_or("", |(before, _)| before);
    let here = format!("{conversation}?{}", choice.from);
    view.as_text = view.has_html && view.id == choice.as_text;
    view.switch_href = if view.as_text {
        format!("{here}#{}", view.id)
    } else {
        format!("{here}&text={0}#{0}", view.id)
    };
    view
}

/// Folds messages that were read, but for the last, and marks the one at which the page opens. What
/// is folded is shortened, and further files are left to the message's own page.
fn fold_messages(items: &mut [TimelineRow], open: &OpenConversation, choice: TimelineChoice<'_>) {
    let opening = opening_message(open, choice);
    let count = items.iter().filter(|item| matches!(item, TimelineRow::Message(_))).count();
    let messages = items.iter_mut().filter_map(|item| match item {
        TimelineRow::Message(message) => Some(message),
        _ => None,
    });
    let (mut files, mut unread) = (FILES_PER_PAGE, OPEN_UNREAD);
    let mut chars = OPEN_CHARS - READ_TEXT_CHARS;
    let mut whole = if count > USUAL_MESSAGES { FOLDED_WHOLE } else { count };
    for (place, message) in messages.rev().enumerate() {
        message.opens_here = opening == Some(message.id.as_str());
        let is_settled = matches!(message.state, MessageProgress::Theirs | MessageProgress::Sent);
        let is_unread = message.is_unread && unread > 0;
        unread -= usize::from(is_unread);
        message.brief = is_settled && place >= OPEN_MESSAGES && !message.opens_here && !is_unread;
        let is_whole = matches!(message.state, MessageProgress::Draft) || message.opens_here;
        if message.brief {
            message.shorten(FOLDED_CHARS);
            message.is_light = whole == 0;
            whole = whole.saturating_sub(1);
        } else if !is_whole {
            chars = chars.saturating_sub(message.shorten(chars.max(FOLDED_CHARS)));
        }
        message.keep_files(files);
        files -= message.files.len();
    }
}

/// The message at which the page opens: the one whose text was asked for; the first that is unread;
/// for somebody who was never here, the first that nobody answered; else the last.
fn opening_message<'a>(open: &'a OpenConversation, choice: TimelineChoice<'_>) -> Option<&'a str> {
    let messages = || {
        open.entries.iter().filter_map(|entry| match entry {
            TimelineEntry::Message(message) => Some(message.as_ref()),
            TimelineEntry::Note(_) | TimelineEntry::Event(_) => None,
        })
    };
    let is_inbound = |message: &&MessageEntry| message.direction == Direction::Inbound;
    let asked = messages().find(|message| message.id.as_str() == choice.as_text);
    let news = match open.read_at {
        _ if choice.is_older => None,
        Some(read_at) => messages().find(|message| is_inbound(message) && message.at > read_at),
        None => {
            let is_sent = |message: &MessageEntry| message.status == Some(MessageStatus::Sent);
            let after = messages().rfind(|message| is_sent(message)).map(|sent| sent.at);
            messages().find(|one| is_inbound(one) && after.is_none_or(|after| one.at > after))
        }
    };
    let opening = asked.or(news).or_else(|| messages().next_back());
    opening.map(|message| message.id.as_str())
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
    let inbound = message.direction == Direction::Inbound;
    let name = message.from_name.clone().unwrap_or_else(|| message.from_email.clone());
    let is_helper = message.sources.is_some() && message.status == Some(MessageStatus::Draft);
    let avatar = if inbound {
        Avatar::customer(&name)
    } else if is_helper {
        Avatar::helper()
    } else if message.sources.is_some() {
        Avatar::person(&name)
    } else {
        Avatar::of(message.author.as_deref(), &name)
    };
    let state = state(message, times);
    let text = without_ciphertext(&message.text);
    let href = format!("/conversations/{}/messages/{}", conversation.id, message.id);
    let (class, label) = match &state {
        MessageProgress::Theirs => ("", t!("Message from {name}", name)),
        MessageProgress::Draft => ("draft", t!("Draft by {name}", name)),
        MessageProgress::Scheduled { .. } => ("out", t!("Message leaving soon, from {name}", name)),
        MessageProgress::Held { .. } => ("out", t!("Message that is held, from {name}", name)),
        MessageProgress::Sending => ("out", t!("Message being sent, from {name}", name)),
        MessageProgress::Sent => ("out", t!("Message from {name}", name)),
        MessageProgress::Failed { .. } => {
            ("failed", t!("Message that was not delivered, from {name}", name))
        }
    };
    MessageView {
        id: message.id.to_string(),
        is_agent: avatar.is_agent() && !is_helper,
        is_by_software: WriterKind::of(message.author.as_deref()) == WriterKind::Software,
        is_helper,
        sources: message.sources.iter().flatten().map(source_view).collect(),
        avatar,
        label,
        name,
        class,
        address: if inbound { message.from_email.clone() } else { String::new() },
        details: MessageDetails::of(message),
        shows_pictures: (inbound && message.has_html).then_some(false),
        time: times.long(message.at),
        paragraphs: paragraphs(&text),
        is_encrypted: is_encrypted(message),
        formatted: message.markdown.as_deref().filter(|_| !message.cut).map(|markdown| {
            if message.secure {
                formatted_secure(markdown, message.id.as_str())
            } else {
                to_html_with_originals(markdown)
            }
        }),
        is_forward: message.forwards.is_some(),
        gist: text.split_whitespace().take(24).collect::<Vec<_>>().join(" "),
        brief: false,
        is_unread: false,
        is_light: false,
        opens_here: false,
        cut: message.cut,
        switch_href: format!("{href}/original?as=text"),
        href,
        has_original: message.has_original,
        can_split: false,
        has_html: message.has_html,
        as_text: false,
        files: message
            .files
            .iter()
            .filter(|file| !is_in_text(message, file))
            .map(file_view)
            .collect(),
        more_files: 0,
        cards: message_cards::cards(&message.files, times),
        asks: message.asks.as_ref().map(|card| RequestView::of(card, times)),
        offer: None,
        summary: message.summary.clone(),
        protected: SecureTextView::of(message, times),
        revision: message.revision,
        refusal: matches!(state, MessageProgress::Sent)
            .then(|| message.reason().map(|reason| failure_words(&reason)))
            .flatten(),
        state,
    }
}

fn source_view(source: &DraftSource) -> (String, String) {
    (format!("/answers/{}", source.answer), source.title.clone())
}

fn state(message: &MessageEntry, times: &TimeFormat) -> MessageProgress {
    match message.status {
        None => MessageProgress::Theirs,
        Some(MessageStatus::Draft) => MessageProgress::Draft,
        Some(MessageStatus::Scheduled | MessageStatus::Sending) if message.held_by.is_some() => {
            let by = message.held_by.as_deref().unwrap_or_default();
            MessageProgress::Held { by: sentence(by).into_owned() }
        }
        Some(MessageStatus::Scheduled) => {
            let at = message.sends_at.unwrap_or(times.now);
            MessageProgress::Scheduled {
                leaves: times.leaving(at),
                seconds: ((at - times.now) / 1_000).max(0),
                of: message.waits.unwrap_or(UNDO_LIVE_MS) / 1_000,
                iso: base::time::Moment(at).iso(),
                may_send_now: message.may_send_now,
            }
        }
        Some(MessageStatus::Sending) => MessageProgress::Sending,
        Some(MessageStatus::Sent) => MessageProgress::Sent,
        Some(MessageStatus::Failed) => {
            let why = message.reason().map(|reason| failure_words(&reason));
            MessageProgress::Failed { why: why.unwrap_or_default() }
        }
    }
}

impl MessageView {
    /// True for a reply that an answer can be made of. What is protected stays on its page.
    pub fn can_be_answer(&self) -> bool {
        let is_sent = matches!(self.state, MessageProgress::Sent);
        is_sent && !self.is_forward && self.protected.is_none()
    }

    /// Leaves so many characters of the text; answers how many there are.
    fn shorten(&mut self, most: usize) -> usize {
        let mut left = most;
        for line in self.paragraphs.iter_mut().flatten() {
            match line.char_indices().nth(left) {
                Some((end, _)) => {
                    line.truncate(end);
                    left = 0;
                    self.cut = true;
                }
                None => left -= line.chars().count(),
            }
        }
        self.paragraphs.iter_mut().for_each(|lines| lines.retain(|line| !line.is_empty()));
        self.paragraphs.retain(|lines| !lines.is_empty());
        most - left
    }

    fn keep_files(&mut self, most: usize) {
        let kept = most.min(FILES_PER_MESSAGE).min(self.files.len());
        self.more_files = self.files.len() - kept;
        self.files.truncate(kept);
    }
}

/// True for a picture that the text shows already.
fn is_in_text(message: &MessageEntry, file: &TimelineFile) -> bool {
    match (&message.markdown, &file.place) {
        (Some(markdown), FileLocation::Attachment(id) | FileLocation::Protected(_, id)) => {
            shows_file(markdown, id.as_str())
        }
        _ => false,
    }
}

pub fn file_view(file: &TimelineFile) -> FileView {
    let (href, is_document) = match &file.place {
        FileLocation::Document(id) => (format!("/documents/{id}"), true),
        FileLocation::Attachment(id) => (format!("/attachments/{id}"), false),
        FileLocation::Protected(message, id) => (format!("/protected/{message}/{id}"), false),
    };
    let is_mail = is_document && is_mail(&file.content_type, &file.filename);
    // A preview would be kept outside of the seal.
    let is_shown = !matches!(file.place, FileLocation::Protected(..))
        && (is_picture(&file.content_type) || file.content_type == "application/pdf");
    FileView {
        shown_href: is_shown.then(|| format!("{href}?shown")),
        mail_href: is_mail.then(|| format!("{href}/mail/top")),
        preview: is_shown.then(|| format!("{href}/preview")),
        href,
        name: file.filename.clone(),
        kind: if is_mail {
            size(file.size)
        } else {
            kind_and_size(&file.filename, &file.content_type, file.size)
        },
    }
}

pub fn note_view(note: &NoteEntry, names: &[&str], times: &TimeFormat) -> NoteView {
    let avatar = Avatar::of(Some(&note.author), &note.author_name);
    let lines = |lines: Vec<String>| lines.iter().map(|line| split_mentions(line, names)).collect();
    NoteView {
        id: note.id.to_string(),
        is_agent: avatar.is_agent(),
        avatar,
        name: note.author_name.clone(),
        time: times.long(note.at),
        body: paragraphs(&note.body).into_iter().map(lines).collect(),
    }
}

/// Folds long runs of events into one line.
fn fold_events(items: Vec<TimelineRow>) -> Vec<TimelineRow> {
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
        summary: t!("{n} changes, until {last}", n = events.len(), last),
        events,
    });
}
