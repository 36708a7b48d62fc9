//! The composer: what it shows, and the message that is posted from it.

use actions::conversations::open_conversation::OpenConversation;
use actions::conversations::timeline::{self, FileLocation, MessageEntry, TimelineEntry};
use actions::inboxes::writing_settings;
use actions::writing::autosaves::{Autosave, AutosaveKind};
use actions::writing::saved_replies::SavedReply;
use actions::writing::seen::SeenConversation;
use base::error::Error;
use base::ids::{AttachmentId, DocumentId, MessageId, SavedReplyId};
use base::limits::{NOTE_CHARS, REPLY_CHARS};
use base::states::Direction;
use model::messages::attachments::OutgoingAttachment;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use translation::t;

use crate::forms::form::{FormFields, FormValue, form};
use crate::layout::wording::{TimeFormat, size};
use crate::pages::conversation::lock::ComposerLock;
use crate::pages::lists::list_query::ListQuery;
use crate::pages::writing::recipients::{RecipientLines, party_line};
use crate::pages::writing::rich_text::to_html;
use crate::pages::writing::schedule_options::{ScheduleChoice, ScheduleOptions};
use crate::pages::writing::ways_to_write::{ComposerTab, WaysToWrite, reply_tab};

/// Messages that a forward can choose among.
const FORWARD_CHOICES: usize = 20;

/// The composer as a page shows it.
pub struct Composer {
    pub kind: AutosaveKind,
    /// The address under which its forms are: that of the conversation, or `/new`.
    pub place: String,
    pub tabs: Vec<ComposerTab>,
    pub body: String,
    pub to: String,
    pub cc: String,
    pub bcc: String,
    /// True when the text is Markdown.
    pub is_rich: bool,
    /// The signature that goes below, as HTML.
    pub signature: String,
    /// True when the message before goes along below a reply, unless that is protected.
    pub quotes: bool,
    /// The attachments: their ids, names and sizes.
    pub files: Vec<(String, String, String)>,
    pub file_error: String,
    pub saved_replies: Vec<SavedReplyFolder>,
    pub from_address: String,
    /// The inboxes that a first mail can be sent from: id, label and whether it is chosen.
    pub inboxes: Vec<(String, String, bool)>,
    pub subject: String,
    pub subject_error: String,
    /// The message that is passed on.
    pub forward: Option<ForwardView>,
    /// The first names that a note can mention.
    pub names: Vec<String>,
    /// What the page showed of the conversation; of a first mail, when it was shown.
    pub seen: i64,
    pub body_error: String,
    pub to_error: String,
    /// Why nothing can be sent.
    pub send_error: String,
    /// Somebody who wrote meanwhile, and whether it was the customer.
    pub meanwhile: Option<(String, bool)>,
    /// True if this was saved in an earlier visit.
    pub kept: bool,
    /// The lock, where a message can be protected.
    pub lock: Option<ComposerLock>,
    /// When it can leave, and when the conversation can come back unanswered.
    pub later: ScheduleOptions,
}

pub struct SavedReplyFolder {
    pub name: String,
    pub replies: Vec<SavedReplyChoice>,
}

pub struct SavedReplyChoice {
    pub id: String,
    pub name: String,
    pub gist: String,
    pub has_files: bool,
}

/// The message that is passed on, with its files, and the others that could be.
pub struct ForwardView {
    pub message: String,
    pub what: String,
    pub files: Vec<ForwardFile>,
    /// Ids and descriptions.
    pub choices: Vec<(String, String)>,
}

pub struct ForwardFile {
    pub value: String,
    pub name: String,
    pub size: String,
    pub checked: bool,
}

/// What a visit opens, as the query says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// To all, unless it was addressed before.
    Reply,
    ReplyAll,
    ReplyToSender,
    Kind(AutosaveKind),
}

impl Composer {
    /// What a visit opens: what the query says, or what is not finished yet.
    pub fn from_query(
        asked: &FormFields,
        open: &OpenConversation,
        times: &TimeFormat,
    ) -> Option<Composer> {
        let saved = open.autosave.as_ref();
        let opening = match (asked.get("write").as_str(), saved) {
            ("reply", _) => Opening::Reply,
            ("all", _) => Opening::ReplyAll,
            ("sender", _) => Opening::ReplyToSender,
            ("forward", _) => Opening::Kind(AutosaveKind::Forward),
            ("note", _) => Opening::Kind(AutosaveKind::Note),
            (_, Some(saved)) => Opening::Kind(saved.kind),
            (_, None) if !open.attached.is_empty() => Opening::Reply,
            _ => return None,
        };
        let kind = match opening {
            Opening::Kind(kind) => kind,
            _ => AutosaveKind::Reply,
        };
        let mut composer = Composer::fresh(open, kind);
        let chosen = MessageId::parse(&asked.get("message"));
        let saved = saved.filter(|saved| saved.kind == kind);
        if let Some(saved) = saved {
            composer.fill(saved, !matches!(opening, Opening::ReplyAll | Opening::ReplyToSender));
        }
        if opening == Opening::ReplyToSender {
            composer.cc.clear();
        }
        if kind == AutosaveKind::Forward {
            let kept = saved.and_then(|saved| saved.forwards.clone());
            composer.forward = forward_view(open, times, chosen.or(kept).as_ref());
            composer.forward.as_ref()?;
        }
        composer.tabs = tabs(open, &composer, opening == Opening::ReplyToSender);
        Some(composer)
    }

    /// Puts in what was saved, with its recipients or without.
    pub fn fill(&mut self, saved: &Autosave, with_recipients: bool) {
        self.body = saved.body.clone();
        if with_recipients {
            if !saved.to.is_empty() {
                self.to = saved.to.clone();
            }
            self.cc = saved.cc.clone();
            self.bcc = saved.bcc.clone();
        }
        self.subject = saved.subject.clone();
        self.later.restore(saved.times);
        self.set_lock(saved.secure);
        self.keep_sticky_lock();
        self.kept = true;
    }

    pub fn set_lock(&mut self, is_locked: bool) {
        if let Some(lock) = &mut self.lock {
            lock.set(is_locked);
        }
    }

    /// Locks it if the customer answered on a page: the text may be older than that answer.
    pub fn keep_sticky_lock(&mut self) {
        if let Some(lock) = &mut self.lock {
            lock.is_locked |= lock.is_sticky;
        }
    }

    fn fresh(open: &OpenConversation, kind: AutosaveKind) -> Composer {
        let RecipientList { to, cc, .. } = match kind {
            AutosaveKind::Reply => open.everybody.clone(),
            _ => RecipientList::default(),
        };
        Composer {
            to: party_line(&to),
            cc: party_line(&cc),
            from_address: open.mailbox.address.to_string(),
            seen: open.seen.next_number,
            lock: (kind == AutosaveKind::Reply).then(|| ComposerLock::of(open)).flatten(),
            quotes: kind == AutosaveKind::Reply && open.has_mail() && !open.writing.always_secure,
            names: match kind {
                AutosaveKind::Note => first_names(open),
                _ => Vec::new(),
            },
            ..Composer::empty(
                kind,
                format!("/conversations/{}", open.conversation.id),
                &open.writing,
                &open.attached,
            )
        }
    }

    /// A composer without recipients and words.
    pub fn empty(
        kind: AutosaveKind,
        place: String,
        writing: &writing_settings::WritingSettings,
        attached: &[OutgoingAttachment],
    ) -> Composer {
        let is_message = kind != AutosaveKind::Note;
        Composer {
            kind,
            place,
            tabs: Vec::new(),
            body: String::new(),
            to: String::new(),
            cc: String::new(),
            bcc: String::new(),
            is_rich: is_message && writing.format == TextFormat::Markdown,
            signature: if is_message { to_html(&writing.signature) } else { String::new() },
            quotes: false,
            files: attached
                .iter()
                .map(|file| (file.id.to_string(), file.filename.clone(), size(file.size)))
                .collect(),
            file_error: String::new(),
            saved_replies: Vec::new(),
            from_address: String::new(),
            inboxes: Vec::new(),
            subject: String::new(),
            subject_error: String::new(),
            forward: None,
            names: Vec::new(),
            seen: 0,
            body_error: String::new(),
            to_error: String::new(),
            send_error: String::new(),
            meanwhile: None,
            kept: false,
            lock: (kind == AutosaveKind::New && writing.may_protect).then(ComposerLock::default),
            later: ScheduleOptions::default(),
        }
    }

    pub fn is_note(&self) -> bool {
        self.kind == AutosaveKind::Note
    }

    /// Whom a reply goes to is one line until it is opened; what must be filled in first is open.
    pub fn is_folded(&self) -> bool {
        let is_reply = !self.is_new() && !self.is_note() && self.forward.is_none();
        is_reply && self.to_error.is_empty() && !self.to.trim().is_empty()
    }

    pub fn is_new(&self) -> bool {
        self.kind == AutosaveKind::New
    }

    /// A reply can offer times to book.
    pub fn may_offer(&self) -> bool {
        self.kind == AutosaveKind::Reply
    }

    /// A conversation can come back when nobody answers. What is passed on waits for nobody.
    pub fn may_follow_up(&self) -> bool {
        matches!(self.kind, AutosaveKind::Reply | AutosaveKind::New)
    }

    /// Where it is posted.
    pub fn action(&self) -> String {
        match self.kind {
            AutosaveKind::New => self.place.clone(),
            AutosaveKind::Note => format!("{}/note", self.place),
            AutosaveKind::Reply | AutosaveKind::Forward => format!("{}/reply", self.place),
        }
    }

    /// What it is, for those who cannot see it.
    pub fn label(&self) -> &'static str {
        match self.kind {
            AutosaveKind::New => t!("Your first mail"),
            AutosaveKind::Note => t!("Your note"),
            AutosaveKind::Reply => t!("Your reply"),
            AutosaveKind::Forward => t!("What you pass on"),
        }
    }

    /// The text has the focus where the recipients are known.
    pub fn autofocus(&self) -> bool {
        matches!(self.kind, AutosaveKind::Reply | AutosaveKind::Note)
    }

    pub fn most_chars(&self) -> usize {
        if self.is_note() { NOTE_CHARS } else { REPLY_CHARS }
    }

    /// The text as the editor shows it.
    pub fn editor_html(&self) -> String {
        to_html(&self.body)
    }

    pub fn with_saved(mut self, saved: &[SavedReply]) -> Composer {
        self.saved_replies = folders(saved);
        self
    }

    pub fn with_times(mut self, times: &TimeFormat) -> Composer {
        self.later.offer(times);
        self
    }

    /// The list that the conversation was opened from, in the addresses of the tabs.
    pub fn with_list(mut self, from: &str) -> Composer {
        for tab in &mut self.tabs {
            tab.href = format!("{}&{from}", tab.href);
        }
        self
    }

    /// A message as it was typed.
    pub fn from_form(open: &OpenConversation, times: &TimeFormat, form: &ReplyForm) -> Composer {
        let RecipientLines { to, cc, bcc } = form.recipients.clone();
        let kind = match form.forwards {
            Some(_) => AutosaveKind::Forward,
            None => AutosaveKind::Reply,
        };
        let mut composer =
            Composer { body: form.body.clone(), to, cc, bcc, ..Composer::fresh(open, kind) };
        if let Some(message) = &form.forwards {
            let mut forward = forward_view(open, times, Some(message));
            for file in forward.iter_mut().flat_map(|forward| &mut forward.files) {
                file.checked = form.include.0.contains(&file.value);
            }
            composer.forward = forward;
        }
        composer.set_lock(form.secure);
        composer.later.fill(&form.later, &form.follow_up);
        composer.tabs = tabs(open, &composer, false);
        composer
    }

    /// A note as it was typed.
    pub fn typed_note(open: &OpenConversation, body: &str) -> Composer {
        let fresh = Composer::fresh(open, AutosaveKind::Note);
        let mut composer = Composer { body: body.to_owned(), ..fresh };
        composer.tabs = tabs(open, &composer, false);
        composer
    }
}

fn first_names(open: &OpenConversation) -> Vec<String> {
    let members = open.team.people.iter().chain(&open.team.agents);
    let first = |name: &str| name.split_whitespace().next().unwrap_or("").to_owned();
    let mut names: Vec<String> = members.map(|member| first(&member.name)).collect();
    names.sort();
    names.dedup();
    names
}

/// The ways of writing in a conversation.
fn tabs(open: &OpenConversation, composer: &Composer, to_sender: bool) -> Vec<ComposerTab> {
    let current = match composer.kind {
        AutosaveKind::Note => "note",
        AutosaveKind::Forward => "forward",
        _ if to_sender => "sender",
        _ => reply_tab(open, &composer.cc),
    };
    WaysToWrite::of(open).tabs(&composer.place, current)
}

/// The message that is passed on: the chosen one, or the newest that came in.
fn forward_view(
    open: &OpenConversation,
    times: &TimeFormat,
    chosen: Option<&MessageId>,
) -> Option<ForwardView> {
    let mail: Vec<&MessageEntry> = open.entries.iter().rev().filter_map(counted_message).collect();
    let is_free = |message: &&&MessageEntry| !message.secure;
    let newest = mail.iter().filter(is_free).find(|one| one.direction == Direction::Inbound);
    let message = match chosen {
        Some(chosen) => mail.iter().find(|message| message.id == *chosen)?,
        None => newest.or(mail.iter().find(is_free)).or(mail.first())?,
    };
    let what = |message: &MessageEntry| {
        let name = message.from_name.as_deref().unwrap_or(&message.from_email);
        format!("{name}, {}", times.long(message.at).text)
    };
    let file = |file: &timeline::TimelineFile| ForwardFile {
        value: match &file.place {
            FileLocation::Document(id) => id.to_string(),
            FileLocation::Attachment(id) | FileLocation::Protected(_, id) => id.to_string(),
        },
        // What was added before, as by a message that was stopped, is not added again.
        checked: !open
            .attached
            .iter()
            .any(|added| added.filename == file.filename && added.size == file.size),
        name: file.filename.clone(),
        size: size(file.size),
    };
    Some(ForwardView {
        message: message.id.to_string(),
        what: what(message),
        files: message.files.iter().map(file).collect(),
        choices: mail
            .iter()
            .filter(|other| other.id != message.id && !other.secure)
            .take(FORWARD_CHOICES)
            .map(|other| (other.id.to_string(), what(other)))
            .collect(),
    })
}

/// A message that was received or has left.
fn counted_message(entry: &TimelineEntry) -> Option<&MessageEntry> {
    match entry {
        TimelineEntry::Message(message) if message.is_mail() => Some(message),
        _ => None,
    }
}

fn folders(saved: &[SavedReply]) -> Vec<SavedReplyFolder> {
    let mut folders: Vec<SavedReplyFolder> = Vec::new();
    for reply in saved {
        if folders.last().is_none_or(|folder| folder.name != reply.folder) {
            folders.push(SavedReplyFolder { name: reply.folder.clone(), replies: Vec::new() });
        }
        let choice = SavedReplyChoice {
            id: reply.id.to_string(),
            name: reply.name.clone(),
            gist: reply.body.split_whitespace().take(12).collect::<Vec<_>>().join(" "),
            has_files: !reply.files.is_empty(),
        };
        if let Some(folder) = folders.last_mut() {
            folder.replies.push(choice);
        }
    }
    folders
}

form! {
    /// A reply, or a message that is passed on.
    pub struct ReplyForm {
        body: String,
        format: TextFormat,
        recipients: RecipientLines,
        seen: SeenConversation,
        from: ListQuery,
        /// The message that is passed on, and those of its files that go along.
        forwards: Option<MessageId>,
        include: FormValues,
        /// Pictures that were taken out of the text again.
        drop: FormValues,
        secure: bool,
        has_lock: bool = "lock",
        later: ScheduleChoice,
        follow_up: ScheduleChoice,
        button: ReplyButton,
    }
}

impl ReplyForm {
    /// What the writer said; nothing where the form had no lock.
    pub fn secure_wish(&self) -> Option<bool> {
        self.has_lock.then_some(self.secure)
    }
}

/// Every value of a field that may occur several times.
#[derive(Clone, Default)]
pub struct FormValues(pub Vec<String>);

impl FormValue for FormValues {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<FormValues> {
        Ok(FormValues(fields.all(name)))
    }
}

impl FormValues {
    /// The files that the values name.
    pub fn files(&self) -> base::error::Result<Vec<FileLocation>> {
        let file = |value: &String| {
            let document = DocumentId::parse(value).map(FileLocation::Document);
            document.or_else(|| AttachmentId::parse(value).map(FileLocation::Attachment))
        };
        self.0.iter().map(|value| file(value).ok_or(Error::NotFound("file"))).collect()
    }
}

impl FormValue for TextFormat {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<TextFormat> {
        Ok(match fields.get(name).as_str() {
            "markdown" => TextFormat::Markdown,
            _ => TextFormat::Plain,
        })
    }
}

impl FormValue for Option<MessageId> {
    fn read(fields: &FormFields, name: &str) -> base::error::Result<Option<MessageId>> {
        Ok(MessageId::parse(&fields.get(name)))
    }
}

/// The button that was pressed below a reply.
#[derive(Clone, PartialEq, Eq)]
pub enum ReplyButton {
    Send,
    SendAndClose,
    /// Keeps it as a draft that a person approves.
    Keep,
    Discard,
    /// Adds the chosen files and shows the composer again.
    Attach,
    Remove(AttachmentId),
    Insert(SavedReplyId),
    /// Keeps the text and shows the form that offers times.
    OfferTimes,
}

impl FormValue for ReplyButton {
    fn read(fields: &FormFields, _: &str) -> base::error::Result<ReplyButton> {
        if fields.has("discard") {
            return Ok(ReplyButton::Discard);
        }
        if fields.has("remove") {
            let file = AttachmentId::parse(&fields.get("remove")).ok_or(Error::NotFound("file"))?;
            return Ok(ReplyButton::Remove(file));
        }
        if fields.has("insert") {
            let reply = SavedReplyId::parse(&fields.get("insert"));
            return Ok(ReplyButton::Insert(reply.ok_or(Error::NotFound("saved reply"))?));
        }
        if fields.has("times") {
            return Ok(ReplyButton::OfferTimes);
        }
        Ok(if fields.has("attach") {
            ReplyButton::Attach
        } else if fields.has("keep") {
            ReplyButton::Keep
        } else if fields.has("close") {
            ReplyButton::SendAndClose
        } else {
            ReplyButton::Send
        })
    }
}
