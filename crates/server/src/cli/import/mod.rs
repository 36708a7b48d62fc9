//! Takes mail over from elsewhere: mbox files, Maildirs, folders of .eml files and IMAP accounts; and
//! conversations of other help desks.

mod account;
mod batches;
pub mod help_desk;
mod listing;
mod mbox;
mod report;

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use base::actor::Actor;
use base::app::App;
use base::email_address::EmailAddress;
use base::limits::FETCHED_MAIL_BYTES;
use clap::Args;
use inbound::find_inbox;
use inbound::history::{
    CountedIdentities, ImportOutcome, ImportTarget, ImportedMail, file_mails, own_addresses,
    preview, read_mails,
};
use model::mailboxes;

use super::command::{CommandResult, WorkspaceArgs, open, print, sentence};
use super::small_file::first_line;
use crate::settings::Settings;
use account::ImapHistory;
use batches::BatchFiling;
use help_desk::{DeskAccess, DeskTransfer, HelpDesk, is_help_desk};
use listing::{ListedMail, MailLocation, list_local};
use report::ImportReport;

/// Mails that are parsed together, and their bytes.
const BATCH_MAILS: usize = 200;
const BATCH_BYTES: usize = 16 * 1024 * 1024;
/// How often progress is shown, in mails.
const SHOWN_EVERY: usize = 1_000;

#[derive(Args)]
pub struct Import {
    /// An mbox file, a Maildir, a folder of .eml files, imaps://USER@HOST or imap://USER@HOST, or a help
    /// desk: zammad://HOST, chatwoot://HOST/ACCOUNT, freescout://HOST, helpscout://api.helpscout.net
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// The inbox that the mail goes to [default: the only one]
    #[arg(long, value_name = "ADDRESS")]
    mailbox: Option<String>,
    /// Further addresses of ours, whose mail is filed as sent
    #[arg(long, value_name = "ADDRESS")]
    own: Vec<String>,
    /// The file that holds the password of an IMAP account
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Folders of an IMAP account [default: INBOX and that of sent mail]
    #[arg(long, value_name = "NAME")]
    folder: Vec<String>,
    /// The file that holds the token of a help desk
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A folder of saved answers of a help desk, which is read instead of its API
    #[arg(long, value_name = "FOLDER", conflicts_with = "token_file")]
    saved: Option<PathBuf>,
    /// The group, inbox or mailbox of a help desk whose conversations are imported [default: all]
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// Say what would be imported, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    workspace: WorkspaceArgs,
}

impl Import {
    pub async fn run(self, settings: &Settings) -> CommandResult {
        let app = open(settings).await?;
        let operator = self.workspace.operator(&app).await?;
        let target = self.target(&app, &operator).await?;
        let (mut accounts, mut desks) = (Vec::new(), Vec::new());
        let mut listed = Vec::new();
        let mut report = ImportReport::default();
        for source in &self.sources {
            if source.starts_with("imap://") || source.starts_with("imaps://") {
                let password = self.password()?;
                let account = ImapHistory::open(settings, source, &password, &self.folder).await?;
                let (account, mails) = account.list(accounts.len()).await?;
                accounts.push(account);
                listed.extend(mails);
            } else if is_help_desk(source) {
                desks.push(HelpDesk::open(settings, source, &self.access()?, self.only.clone())?);
            } else {
                listed.extend(list_local(source, &mut report.passed_over)?);
            }
        }
        if self.saved.is_some() && desks.len() != 1 {
            return Err("--saved: name the one help desk that the answers are of.".into());
        }
        // The oldest first: a reply then finds what it answers, whichever folder that was in.
        listed.sort_by_key(|mail| mail.at);
        report.found = listed.len();
        self.import_all(&app, &target, &mut accounts, &listed, &mut report).await?;
        for desk in &mut desks {
            DeskTransfer::new(&app, &target, desk, self.dry_run).run(&mut report).await?;
        }
        self.say(&target, &report);
        Ok(())
    }

    async fn target(&self, app: &App, operator: &Actor) -> Result<ImportTarget, String> {
        let address = match &self.mailbox {
            Some(address) => mail::normal_address(address),
            None => only_inbox(app, operator).await?,
        };
        let ws = operator.ws;
        let named = address.clone();
        let (inbox, mut own) = app
            .store
            .read(move |tx| Ok((find_inbox(tx, &named)?, own_addresses(tx, ws)?)))
            .await
            .map_err(sentence)?;
        let inbox = inbox.filter(|inbox| inbox.ws == ws).ok_or_else(|| {
            format!("mailbox: {address} is no inbox; add it first with `mailroom mailbox add`")
        })?;
        own.extend(self.own.iter().map(|address| EmailAddress::new(address)));
        Ok(ImportTarget { inbox, own: Arc::new(own.into_iter().collect::<HashSet<_>>()) })
    }

    fn password(&self) -> Result<String, String> {
        let path = self
            .password_file
            .as_ref()
            .ok_or("Give the password of the account with --password-file.".to_owned())?;
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn access(&self) -> Result<DeskAccess, String> {
        match &self.saved {
            Some(folder) => Ok(DeskAccess::Saved(folder.clone())),
            None => self.token().map(DeskAccess::Token),
        }
    }

    fn token(&self) -> Result<String, String> {
        let path = self.token_file.as_ref();
        let path = path.ok_or("Give the token of the help desk with --token-file.".to_owned())?;
        let token = first_line(path)?;
        if token.is_empty() {
            return Err(format!("{}: holds no token", path.display()));
        }
        Ok(token)
    }

    async fn import_all(
        &self,
        app: &App,
        target: &ImportTarget,
        accounts: &mut [ImapHistory],
        listed: &[ListedMail],
        report: &mut ImportReport,
    ) -> Result<(), String> {
        let (mut batch, mut places, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (mut filing, mut counted) = (BatchFiling::default(), CountedIdentities::default());
        for (number, mail) in listed.iter().enumerate() {
            match read(mail, accounts).await? {
                Ok(past) => {
                    bytes += past.raw.len();
                    batch.push(past);
                    places.push(mail.place.label());
                }
                Err(reason) => report.pass_over(mail.place.label(), reason),
            }
            let is_last = number + 1 == listed.len();
            if batch.len() == BATCH_MAILS || bytes >= BATCH_BYTES || is_last {
                let (mails, places) = (std::mem::take(&mut batch), std::mem::take(&mut places));
                bytes = 0;
                let outcomes: Option<PlacedOutcomes> = if self.dry_run {
                    let outcomes = preview(app, target, mails, &mut counted).await;
                    Some((places, outcomes.map_err(sentence)?))
                } else {
                    let read = read_mails(app, target, mails).await.map_err(sentence)?;
                    let (app, target) = (app.clone(), target.clone());
                    let filing_them = async move {
                        file_mails(&app, &target, read).await.map(|outcomes| (places, outcomes))
                    };
                    filing.begin(filing_them).await?
                };
                count_all(report, outcomes);
            }
            if number % SHOWN_EVERY == 0 && std::io::stderr().is_terminal() {
                eprint!("\r{number} of {} mails", listed.len());
            }
        }
        count_all(report, filing.finish().await?);
        if std::io::stderr().is_terminal() {
            eprintln!();
        }
        Ok(())
    }

    fn say(&self, target: &ImportTarget, report: &ImportReport) {
        let mailbox = target.inbox.mailbox.address.as_str();
        let answer = report.answer(mailbox, self.dry_run);
        print(self.workspace.output, &answer, &report.words(mailbox, self.dry_run));
    }
}

/// Where mails were found, and what became of each.
type PlacedOutcomes = (Vec<String>, Vec<ImportOutcome>);

fn count_all(report: &mut ImportReport, outcomes: Option<PlacedOutcomes>) {
    let (places, outcomes) = outcomes.unwrap_or_default();
    for (place, outcome) in places.into_iter().zip(outcomes) {
        report.count_mail(place, outcome);
    }
}

async fn only_inbox(app: &App, operator: &Actor) -> Result<String, String> {
    let listed = app.read(operator, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await;
    let listed = listed.map_err(sentence)?;
    let mut live = listed.iter().filter(|mailbox| !mailbox.circle.is_sandbox());
    match (live.next(), live.next()) {
        (Some(only), None) => Ok(only.address.to_string()),
        (None, _) => Err("There is no inbox yet; add one with `mailroom mailbox add`.".into()),
        (Some(_), Some(_)) => {
            let all: Vec<String> =
                listed.iter().map(|mailbox| mailbox.address.to_string()).collect();
            Err(format!("Which inbox? Say --mailbox with one of {}.", all.join(", ")))
        }
    }
}

/// A mail, or why it is passed over. The error is of the source as a whole.
async fn read(
    mail: &ListedMail,
    accounts: &mut [ImapHistory],
) -> Result<Result<ImportedMail, String>, String> {
    if mail.bytes > u64::from(FETCHED_MAIL_BYTES) {
        let most = FETCHED_MAIL_BYTES / (1024 * 1024);
        return Ok(Err(format!("it is larger than {most} MB")));
    }
    let raw = match &mail.place {
        MailLocation::File(path) => std::fs::read(path).map_err(|error| error.to_string()),
        MailLocation::Part { file, offset } => {
            mbox::read_part(file, *offset, mail.bytes).map_err(|error| error.to_string())
        }
        MailLocation::Imap { account, folder, uid } => {
            accounts[*account].read(*folder, *uid, mail.bytes).await?
        }
    };
    Ok(raw.and_then(|raw| match raw.iter().all(u8::is_ascii_whitespace) {
        true => Err("it is empty".into()),
        false => Ok(ImportedMail { raw, taken_at: mail.taken_at }),
    }))
}
