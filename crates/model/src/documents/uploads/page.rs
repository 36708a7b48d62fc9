//! The upload page's view of a document request.

use base::error::Result;
use base::ids::MailboxId;
use base::limits::UPLOAD_PAGE_MS;
use db::Tx;

use crate::branding::{self, Branding};
use crate::documents::uploads::{Ask, Upload, UploadState};
use crate::times::local_times::LocalTimes;

db::row! {
    /// Everything that the upload page shows; of the conversation nothing else.
    pub struct AskPage from "r" {
        pub workspace: String = "w.name",
        pub contact_name: Option<String> = "c.contact_name",
        /// The author of the requesting message.
        pub asker: Option<String> = "m.from_name",
        /// The text above the checklist, for requests sent as a message of their own.
        pub note: Option<String>,
        pub due_date: Option<String>,
        pub completed_at: Option<i64>,
        pub closed: bool = "r.closed_at IS NOT NULL",
        pub submitted_at: Option<i64>,
        pub reminders_stopped: bool = "r.stopped_at IS NOT NULL",
        /// Reminders are still to come.
        pub reminds: bool = "r.remind_at IS NOT NULL",
        mailbox: MailboxId = "c.mailbox",
    } later {
        pub items: Vec<PageItem>,
        /// The clock of the inbox.
        pub times: LocalTimes,
        pub branding: Branding,
    }
}

pub struct PageItem {
    pub place: i64,
    pub label: String,
    pub description: Option<String>,
    pub required: bool,
    pub files: Vec<PageFile>,
}

pub type PageFile = Upload;

impl PageItem {
    /// True when a file for it was handed over.
    pub fn is_in(&self) -> bool {
        self.files.iter().any(|file| file.state == UploadState::Filed)
    }

    /// True when a file for it is there, handed over or not.
    pub fn has_file(&self) -> bool {
        self.files.iter().any(|file| {
            matches!(file.state, UploadState::Filed | UploadState::Kept | UploadState::Checking)
        })
    }
}

impl AskPage {
    pub fn open_until(&self) -> Option<i64> {
        self.completed_at.map(|at| at + UPLOAD_PAGE_MS)
    }

    /// Files that wait for the button.
    pub fn waiting(&self) -> usize {
        let files = self.items.iter().flat_map(|item| &item.files);
        files.filter(|file| file.state == UploadState::Kept).count()
    }
}

/// The content of a request's upload page.
pub fn look(tx: &mut Tx<'_>, ask: &Ask) -> Result<AskPage> {
    let ws = ask.actor.ws;
    let mut page: AskPage = tx.one(
        &format!(
            "SELECT {} FROM document_requests r
             JOIN conversations c ON c.ws = r.ws AND c.id = r.conversation
             JOIN messages m ON m.ws = r.ws AND m.id = r.message
             JOIN workspaces w ON w.ws = r.ws
             WHERE r.ws = ?1 AND r.id = ?2",
            AskPage::COLUMNS
        ),
        &[&ws, &ask.request],
    )?;
    let items: Vec<(i64, String, Option<String>, bool)> = tx.all(
        "SELECT place, label, description, required FROM requested_documents
         WHERE ws = ?1 AND request = ?2 ORDER BY place",
        &[&ws, &ask.request],
    )?;
    let mut files: Vec<Upload> = tx.all(
        &format!(
            "SELECT {} FROM uploads
             WHERE ws = ?1 AND request = ?2 AND state <> 'removed' ORDER BY id",
            Upload::COLUMNS
        ),
        &[&ws, &ask.request],
    )?;
    for (place, label, description, required) in items {
        let (own, others) = files.into_iter().partition(|file| file.item == place);
        files = others;
        let description = description.filter(|text| !text.trim().is_empty());
        page.items.push(PageItem { place, label, description, required, files: own });
    }
    page.times = LocalTimes::of(tx, ws, &page.mailbox)?;
    page.branding = branding::load(tx, ws)?;
    Ok(page)
}
