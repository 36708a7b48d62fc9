//! Takes the conversations of a help desk over, page by page: what is here already is not fetched, what
//! cannot be read is passed over and told.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::IsTerminal;

use base::app::App;
use base::email_address::EmailAddress;
use base::states::Direction;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use inbound::history::{ImportOutcome, ImportTarget, ImportedMail};
use inbound::imported_conversations::{
    ConversationOutcome, ImportedConversation, ImportedNote, KnownParts, file_conversations,
    known_parts, preview_marks, read_conversations,
};
use mail::{Address, Attachment, ComposedMail, InlineFile, compose};
use serde_json::Value;

use super::HelpDesk;
use super::api::ApiFault;
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, EntryKind, FileEncoding,
};
use super::pictures::{picture_type, with_addresses};
use crate::cli::command::sentence;
use crate::cli::import::batches::BatchFiling;
use crate::cli::import::report::ImportReport;

/// Mails and notes that are read together, and their bytes; a longer conversation is filed in parts.
const BATCH_ENTRIES: usize = 200;
const BATCH_BYTES: usize = 16 * 1024 * 1024;
/// Pages of conversations of one help desk.
const PAGES: usize = 1_000_000;
/// Bytes of the files of one mail or note: with them a mail can still be read.
const FILE_BYTES: usize = 36 * 1024 * 1024;
/// Bytes of a Message-ID that is kept.
const MESSAGE_ID_BYTES: usize = 200;
/// How often progress is shown, in conversations.
const SHOWN_EVERY: usize = 100;

/// A help desk's conversations on their way into an inbox.
pub struct DeskTransfer<'a> {
    app: &'a App,
    target: &'a ImportTarget,
    desk: &'a mut HelpDesk,
    dry_run: bool,
    batch: Vec<ImportedConversation>,
    entries: usize,
    bytes: usize,
    filing: BatchFiling<Vec<ConversationOutcome>>,
    /// The Message-IDs that a dry run has counted: a mail may be in two conversations there.
    counted: HashSet<String>,
    /// Hashes of the Message-IDs of this run, each with that of what its first bearer says.
    bearers: HashMap<u64, u64>,
}

/// The bytes of an entry's files, as they go into a mail or a note.
#[derive(Default)]
struct EntryFiles {
    attachments: Vec<Attachment>,
    /// The pictures of the text, each with the address that it has in the HTML.
    pictures: Vec<(String, InlineFile)>,
}

impl<'a> DeskTransfer<'a> {
    pub fn new(
        app: &'a App,
        target: &'a ImportTarget,
        desk: &'a mut HelpDesk,
        dry_run: bool,
    ) -> DeskTransfer<'a> {
        DeskTransfer {
            app,
            target,
            desk,
            dry_run,
            batch: Vec::new(),
            entries: 0,
            bytes: 0,
            filing: BatchFiling::default(),
            counted: HashSet::new(),
            bearers: HashMap::new(),
        }
    }

    /// All its conversations. The error is of the help desk as a whole.
    pub async fn run(mut self, report: &mut ImportReport) -> Result<(), String> {
        let mut seen = 0;
        for number in 1..=PAGES {
            let page = match self.desk.page(number).await {
                Ok(page) => page,
                Err(fault) => {
                    self.finish(report).await?;
                    return Err(broken_off(&fault));
                }
            };
            for listed in &page.conversations {
                let place = self.desk.label(listed);
                match self.desk.read(listed).await {
                    Ok(Some(conversation)) => self.take(conversation, place, report).await?,
                    Ok(None) => {}
                    Err(reason) => report.pass_over(place, reason),
                }
                seen += 1;
                if seen % SHOWN_EVERY == 0 && std::io::stderr().is_terminal() {
                    eprint!("\r{seen} conversations");
                }
            }
            if page.is_last {
                break;
            }
        }
        if std::io::stderr().is_terminal() {
            eprintln!();
        }
        self.finish(report).await
    }

    async fn take(
        &mut self,
        mut conversation: DeskConversation,
        place: String,
        report: &mut ImportReport,
    ) -> Result<(), String> {
        // Some list the newest first; of the same moment, the lower number is the earlier.
        conversation.entries.sort_by_key(|entry| (entry.at, entry.id.parse::<u64>().ok()));
        let entries = std::mem::take(&mut conversation.entries);
        let (notes, mails): (Vec<DeskEntry>, Vec<DeskEntry>) =
            entries.into_iter().partition(|entry| entry.kind == EntryKind::Note);
        let ids = self.message_ids(&conversation, &mails);
        if ids.is_empty() {
            report.pass_over(place, "it has no message from or to the customer".into());
            return Ok(());
        }
        let dated =
            notes.iter().map(|note| (self.known_by(&conversation, note), note.at)).collect();
        let known = known_parts(self.app, self.target, ids.clone(), dated);
        let known = known.await.map_err(sentence)?;
        report.found += mails.len();
        if self.dry_run {
            let found = mails.iter().zip(ids).collect();
            return self.preview(&conversation, found, &notes, &known, &place, report).await;
        }
        let is_complete = |place_in: usize| {
            let here = known.files.get(&ids[place_in]);
            here.is_some_and(|files| self.saved_files(&mails[place_in]) <= *files)
        };
        let complete: Vec<bool> = (0..mails.len()).map(is_complete).collect();
        report.known += complete.iter().filter(|complete| **complete).count();
        // What is here of it already says which conversation it belongs to.
        let first = ids.iter().find(|id| known.mails.contains(*id)).unwrap_or(&ids[0]).clone();
        let mut part = part_of(&conversation, &first);
        for (place_in, mail) in mails.iter().enumerate() {
            if complete[place_in] {
                continue;
            }
            let files = match self.files(mail, &place, report).await {
                Ok(files) => files,
                Err(fault) => return self.stop_at(part, place, &fault, report).await,
            };
            let earlier = place_in.checked_sub(1).map(|earlier| ids[earlier].clone());
            let names = (ids[place_in].clone(), earlier);
            let (direction, raw) = self.compose_mail(&conversation, mail, names, files);
            self.count(raw.len());
            part.mails.push((direction, ImportedMail { raw, taken_at: Some(mail.at) }));
            if self.is_full() {
                self.batch.push(std::mem::replace(&mut part, part_of(&conversation, &first)));
                self.flush(report).await?;
            }
        }
        for note in &notes {
            let known_by = self.known_by(&conversation, note);
            if known.notes.contains(&known_by) {
                continue;
            }
            let files = match self.files(note, &place, report).await {
                Ok(files) => files,
                Err(fault) => return self.stop_at(part, place, &fault, report).await,
            };
            let pictures = files.pictures.into_iter().map(|(_, picture)| picture.file);
            let files: Vec<Attachment> = files.attachments.into_iter().chain(pictures).collect();
            let bytes = files.iter().map(|file| file.bytes.len()).sum::<usize>();
            part.notes.push(imported_note(note, known_by, files));
            self.count(bytes);
            if self.is_full() {
                self.batch.push(std::mem::replace(&mut part, part_of(&conversation, &first)));
                self.flush(report).await?;
            }
        }
        if !part.mails.is_empty() || !part.notes.is_empty() {
            self.batch.push(part);
        }
        Ok(())
    }

    /// The rest of a conversation cannot be had now: what came before it is kept, and a repeated import
    /// goes on from there.
    async fn stop_at(
        &mut self,
        part: ImportedConversation,
        place: String,
        fault: &ApiFault,
        report: &mut ImportReport,
    ) -> Result<(), String> {
        if !part.mails.is_empty() || !part.notes.is_empty() {
            self.batch.push(part);
        }
        report.pass_over(place, format!("not all of it could be read: {}", fault.reason));
        self.flush(report).await
    }

    fn count(&mut self, bytes: usize) {
        self.entries += 1;
        self.bytes += bytes;
    }

    fn is_full(&self) -> bool {
        self.entries >= BATCH_ENTRIES || self.bytes >= BATCH_BYTES
    }

    async fn flush(&mut self, report: &mut ImportReport) -> Result<(), String> {
        (self.entries, self.bytes) = (0, 0);
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let read = read_conversations(self.app, self.target, batch).await.map_err(sentence)?;
        let (app, target) = (self.app.clone(), self.target.clone());
        let filing = async move { file_conversations(&app, &target, read).await };
        let before = self.filing.begin(filing).await?;
        before.into_iter().flatten().for_each(|outcome| report.count_conversation(outcome));
        Ok(())
    }

    /// Files what is left, and waits until all is filed.
    async fn finish(&mut self, report: &mut ImportReport) -> Result<(), String> {
        self.flush(report).await?;
        let last = self.filing.finish().await?;
        last.into_iter().flatten().for_each(|outcome| report.count_conversation(outcome));
        Ok(())
    }

    /// Counts what would be filed.
    async fn preview(
        &mut self,
        conversation: &DeskConversation,
        mails: Vec<(&DeskEntry, String)>,
        notes: &[DeskEntry],
        known: &KnownParts,
        place: &str,
        report: &mut ImportReport,
    ) -> Result<(), String> {
        let mut outcome = ConversationOutcome::default();
        let is_here = |id: &String| known.mails.contains(id) || self.counted.contains(id);
        // A mail that another conversation has leads all of them there.
        let mut begins = !mails.iter().any(|(_, id)| is_here(id));
        for (mail, id) in mails {
            let is_here = known.mails.contains(&id) || self.counted.contains(&id);
            let files_here = known.files.get(&id).copied();
            let lacking = files_here.map_or(0, |here| self.saved_files(mail).saturating_sub(here));
            outcome.mails.push(if lacking > 0 {
                ImportOutcome::Completed { attachments: lacking }
            } else if is_here {
                ImportOutcome::Known
            } else {
                let (direction, attachments) =
                    (direction(mail.kind), self.count_files(mail, place, report));
                ImportOutcome::Filed { direction, begins: std::mem::take(&mut begins), attachments }
            });
            self.counted.insert(id);
        }
        for note in notes {
            if !known.notes.contains(&self.known_by(conversation, note)) {
                outcome.notes += 1;
                outcome.note_files += self.count_files(note, place, report);
            }
        }
        let is_filed = |mail: &ImportOutcome| matches!(mail, ImportOutcome::Filed { .. });
        if outcome.mails.iter().any(is_filed) {
            let (tags, assignee) = (conversation.tags.clone(), conversation.assignee.clone());
            let marks = preview_marks(self.app, self.target, known, tags, assignee);
            let marks = marks.await.map_err(sentence)?;
            let ConversationOutcome { mails, notes, note_files, .. } = outcome;
            outcome = ConversationOutcome { mails, notes, note_files, ..marks };
        }
        report.count_conversation(outcome);
        Ok(())
    }

    /// How many files of a mail are saved; 0 where they would have to be fetched.
    fn saved_files(&self, mail: &DeskEntry) -> usize {
        let source = self.desk.source();
        let is_there = |file: &&DeskFile| source.saved_bytes(file, FILE_BYTES).is_ok();
        if source.is_saved() { mail.all_files().filter(is_there).count() } else { 0 }
    }

    /// How many files an entry has. Of saved ones it is known which are missing.
    fn count_files(&self, entry: &DeskEntry, place: &str, report: &mut ImportReport) -> usize {
        let (mut found, mut left) = (0, FILE_BYTES);
        for file in entry.all_files() {
            match self.desk.source().saved_bytes(file, file.most_answered(left)) {
                Ok(bytes) => {
                    left = left.saturating_sub(bytes);
                    found += 1;
                }
                Err(fault) => report.pass_over(file_label(place, file), fault.reason),
            }
        }
        found
    }

    /// The Message-IDs of mails, the same each time. Of several with one Message-ID and other words, the
    /// first has it.
    fn message_ids(&mut self, conversation: &DeskConversation, mails: &[DeskEntry]) -> Vec<String> {
        let mut ids = Vec::with_capacity(mails.len());
        for mail in mails {
            let id = self.message_id(conversation, mail);
            let says = hash_of(&mail.body);
            let is_first = *self.bearers.entry(hash_of(&id)).or_insert(says) == says;
            ids.push(if is_first { id } else { self.own_id(conversation, mail) });
        }
        ids
    }

    /// The Message-ID that a mail has there, or one made of its ids.
    fn message_id(&self, conversation: &DeskConversation, mail: &DeskEntry) -> String {
        let given = mail.message_id.as_deref().map(mail::bare_message_id);
        let is_sound = |id: &&str| {
            let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | ',');
            id.contains('@') && id.len() <= MESSAGE_ID_BYTES && id.chars().all(is_plain)
        };
        match given.filter(is_sound) {
            Some(id) => id.to_owned(),
            None => self.own_id(conversation, mail),
        }
    }

    fn own_id(&self, conversation: &DeskConversation, mail: &DeskEntry) -> String {
        let (desk, host) = (self.desk.name(), self.desk.source().host());
        format!("{desk}-{}-{}@{host}", conversation.id, mail.id)
    }

    fn known_by(&self, conversation: &DeskConversation, note: &DeskEntry) -> String {
        let (desk, host) = (self.desk.name(), self.desk.source().host());
        format!("{desk} {host} {} {}", conversation.id, note.id)
    }

    /// The files of an entry. Those that are not there any more, or are too large, are left out and told.
    async fn files(
        &self,
        entry: &DeskEntry,
        place: &str,
        report: &mut ImportReport,
    ) -> Result<EntryFiles, ApiFault> {
        let (mut files, mut left) = (EntryFiles::default(), FILE_BYTES);
        for file in &entry.files {
            let Some(bytes) = self.bytes(file, &mut left, place, report).await? else { continue };
            let (kind, number) = (file.content_type.clone(), files.attachments.len() + 1);
            let filename = mail::safe_filename(Some(&file.name), &kind, number);
            files.attachments.push(Attachment { filename, content_type: kind, bytes });
        }
        for picture in &entry.pictures {
            let bytes = self.bytes(&picture.file, &mut left, place, report).await?;
            let Some(bytes) = bytes else { continue };
            let (kind, number) = (picture_type(&bytes).to_owned(), files.pictures.len() + 1);
            let filename = mail::safe_filename(None, &kind, number);
            let content_id = format!("picture-{number}@help-desk.invalid");
            let file = Attachment { filename, content_type: kind, bytes };
            files.pictures.push((picture.written.clone(), InlineFile { content_id, file }));
        }
        Ok(files)
    }

    /// The bytes of a file, of which `left` may be; `None` where it cannot be had, which is told.
    async fn bytes(
        &self,
        file: &DeskFile,
        left: &mut usize,
        place: &str,
        report: &mut ImportReport,
    ) -> Result<Option<Vec<u8>>, ApiFault> {
        match self.fetch(file, *left).await {
            Ok(bytes) => {
                *left = left.saturating_sub(bytes.len());
                Ok(Some(bytes))
            }
            Err(fault) if fault.is_final => {
                report.pass_over(file_label(place, file), fault.reason);
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    async fn fetch(&self, file: &DeskFile, most_bytes: usize) -> Result<Vec<u8>, ApiFault> {
        let answer = self.desk.source().file(file, file.most_answered(most_bytes)).await?;
        if file.encoding == FileEncoding::Plain {
            return Ok(answer);
        }
        let unreadable =
            || ApiFault { reason: "The file cannot be read.".to_owned(), is_final: true };
        let answer: Value = serde_json::from_slice(&answer).map_err(|_| unreadable())?;
        let data = answer["data"].as_str().ok_or_else(unreadable)?;
        STANDARD.decode(data.trim()).map_err(|_| unreadable())
    }

    /// A mail as it might have come, with the people and dates that the help desk has. What we sent is
    /// from this inbox, under the name of who wrote it.
    fn compose_mail(
        &self,
        conversation: &DeskConversation,
        entry: &DeskEntry,
        (message_id, earlier): (String, Option<String>),
        files: EntryFiles,
    ) -> (Direction, Vec<u8>) {
        let ours = self.target.inbox.mailbox.address.as_str();
        let customer = &conversation.customer;
        let direction = direction(entry.kind);
        let (from, mut to) = match direction {
            Direction::Outbound => (Address::new(entry.author.name.as_deref(), ours), Vec::new()),
            Direction::Inbound => {
                let author = entry.author.email.as_deref().filter(|email| mail::is_address(email));
                let from = match author {
                    Some(email) => Address::new(entry.author.name.as_deref(), email),
                    None => customer.clone(),
                };
                (from, vec![Address::new(None, ours)])
            }
        };
        to.extend(self.others(&entry.to));
        if to.is_empty() {
            to.push(customer.clone());
        }
        let (text, html) = match &entry.body {
            DeskBody::Text(text) => (text.clone(), None),
            DeskBody::Html(html) => {
                let html = with_addresses(html, |written| files.content_id(written));
                (mail::text_of_html(&html), Some(html))
            }
        };
        let content = ComposedMail {
            message_id,
            answers: earlier.into_iter().collect(),
            from,
            reply_to: None,
            to,
            cc: self.others(&entry.cc),
            subject: conversation.subject.clone(),
            text,
            html,
            inline: files.pictures.into_iter().map(|(_, picture)| picture).collect(),
            attachments: files.attachments,
            calendar: None,
            at: entry.at,
            submission: mail::AutoSubmission::No,
            loop_mark: None,
            unsubscribe: None,
        };
        (direction, compose(&content))
    }

    /// The people of a list who are not ourselves.
    fn others(&self, people: &[Address]) -> Vec<Address> {
        let is_ours = |one: &&Address| {
            let email = EmailAddress::new(&one.email);
            self.target.own.contains(&email) || self.target.own.contains(&email.without_tag())
        };
        people.iter().filter(|one| !is_ours(one)).cloned().collect()
    }
}

impl EntryFiles {
    /// The address within the mail of a picture that has this one in the HTML.
    fn content_id(&self, written: &str) -> Option<String> {
        let (_, picture) = self.pictures.iter().find(|(known, _)| known == written)?;
        Some(format!("cid:{}", picture.content_id))
    }
}

/// What the report calls a file.
fn file_label(place: &str, file: &DeskFile) -> String {
    format!("{place}, file {}", file.name)
}

fn direction(kind: EntryKind) -> Direction {
    match kind {
        EntryKind::Received => Direction::Inbound,
        EntryKind::Sent | EntryKind::Note => Direction::Outbound,
    }
}

/// A part of a conversation, with nothing in it yet.
fn hash_of(thing: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

fn part_of(conversation: &DeskConversation, first: &str) -> ImportedConversation {
    ImportedConversation {
        first: first.to_owned(),
        status: conversation.status,
        snoozed_until: conversation.snoozed_until,
        tags: conversation.tags.clone(),
        assignee: conversation.assignee.clone(),
        mails: Vec::new(),
        notes: Vec::new(),
    }
}

fn imported_note(note: &DeskEntry, known_by: String, files: Vec<Attachment>) -> ImportedNote {
    let author = note.author.name.clone().or_else(|| note.author.email.clone());
    let mut text = note.body.text();
    if !files.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| file.filename.as_str()).collect();
        text.push_str(&format!("\n\nFiles: {}", names.join(", ")));
    }
    ImportedNote {
        known_by,
        at: note.at,
        author: author.unwrap_or_else(|| "Unknown".to_owned()),
        author_email: note.author.email.clone(),
        text: text.trim().to_owned(),
        files,
    }
}

fn broken_off(fault: &ApiFault) -> String {
    format!("{} What was imported so far stays; repeat the command for the rest.", fault.reason)
}
