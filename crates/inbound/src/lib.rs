//! Ingests mail of every protocol: stores its bytes, authenticates the sender, parses it, checks it
//! for scams, and files it in each recipient's inbox.
//!
//! SMTP, LMTP and IMAP call [`ingest`] and acknowledge a mail only after it returns.
//! [`find_recipient`] resolves a recipient's inbox.

mod authenticator;
mod calendar_replies;
mod completion;
mod duplicates;
mod filing;
pub mod guest_pages;
pub mod history;
pub mod imap;
mod import_turns;
pub mod imported_conversations;
pub mod incoming_mail;
mod known_quotes;
pub mod mail_dates;
mod own_mail;
mod parsing;
mod plus_tag_return;
pub mod receive;
mod reports;
mod risk;
mod routes;
pub mod sandbox;
pub mod threading;

use std::sync::Arc;
use std::time::Instant;

use base::actor::Actor;
use base::app::App;
use base::error::Result;
use base::ids::MessageId;
use calendar::CalendarReply;
use mail::Authentication;
use metrics::{counter, histogram};

use crate::imap::ImapAccount;
use crate::incoming_mail::FiledMail;
use crate::own_mail::own_markers::OwnMarkers;
use parsing::StoredMail;

pub use crate::own_mail::sent::ingest_sent;
pub use authenticator::{Authenticator, BelievedResults, Checking, Credentials, MailSource};
pub use parsing::message_id_of;
pub use quotas::takes_mail;
pub use risk::assess;
pub use routes::{RecipientInbox, find_inbox, find_recipient};

/// A mail that is being received.
#[derive(Clone, Debug)]
pub struct InboundMail {
    /// The envelope sender: empty for the null return path, `None` when unknown.
    pub sender: Option<String>,
    /// The envelope recipients as received, plus tags included.
    pub recipients: Vec<String>,
    pub source: MailSource,
    /// The mail as it came.
    pub raw: Vec<u8>,
}

/// Where a mail was fetched from, and when the mailbox there took it.
#[derive(Clone, Debug)]
pub struct FetchedMail {
    pub account: ImapAccount,
    /// In milliseconds; `None` where the server sends none.
    pub internal_date: Option<i64>,
}

/// The outcome of a mail for one recipient. It is durable and final: the caller may acknowledge the
/// mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ingested {
    Filed(FiledMail),
    /// The inbox had it already.
    Duplicate(FiledMail),
    /// A copy of our own mail, dropped.
    OwnCopy,
    /// A calendar's answer to an invitation of ours, which is dealt with and not kept.
    CalendarAnswer,
    /// A mail loop, found by the number of Received headers; nothing is kept.
    MailLoop,
    /// The recipient is not an inbox (any more), or the fetching process lost its lease.
    NoInbox,
    /// The workspace takes no mail at present. This is the one outcome that is not final: nothing is kept, and the
    /// mail has to come again.
    Deferred,
}

impl Ingested {
    fn as_str(&self) -> &'static str {
        match self {
            Ingested::Filed(_) => "filed",
            Ingested::Duplicate(_) => "duplicate",
            Ingested::OwnCopy => "own-copy",
            Ingested::CalendarAnswer => "calendar-answer",
            Ingested::MailLoop => "mail-loop",
            Ingested::NoInbox => "no-inbox",
            Ingested::Deferred => "deferred",
        }
    }

    fn message(&self) -> Option<&MessageId> {
        match self {
            Ingested::Filed(received) | Ingested::Duplicate(received) => Some(&received.message),
            Ingested::OwnCopy
            | Ingested::CalendarAnswer
            | Ingested::MailLoop
            | Ingested::NoInbox
            | Ingested::Deferred => None,
        }
    }
}

/// A temporary internal error, described in the log. The mail must be delivered again; inboxes that
/// already filed it recognize it by its Message-ID and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IngestError;

/// Ingests a mail received by SMTP or LMTP; returns an outcome for each recipient, in their order.
pub async fn ingest(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: InboundMail,
) -> Vec<Result<Ingested, IngestError>> {
    ingest_from(app, authenticator, delivery, None).await
}

/// Ingests a mail fetched by IMAP, for the inbox of that account alone.
pub async fn ingest_fetched(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: InboundMail,
    fetched: FetchedMail,
) -> Result<Ingested, IngestError> {
    let taken = ingest_from(app, authenticator, delivery, Some(fetched)).await;
    taken.into_iter().next().unwrap_or(Err(IngestError))
}

async fn ingest_from(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: InboundMail,
    fetched: Option<FetchedMail>,
) -> Vec<Result<Ingested, IngestError>> {
    let began = Instant::now();
    let recipients = delivery.recipients.len();
    let outcomes = match ingest_once(app, authenticator, Arc::new(delivery), fetched).await {
        Ok(outcomes) => outcomes,
        Err(error) => {
            tracing::error!(cause = ?error, "mail could not be received");
            vec![Err(IngestError); recipients]
        }
    };
    for outcome in &outcomes {
        let word = outcome.as_ref().map_or("failed", Ingested::as_str);
        counter!("mailroom_mails_total", "outcome" => word).increment(1);
    }
    histogram!("mailroom_mail_seconds").record(began.elapsed());
    outcomes
}

async fn ingest_once(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: Arc<InboundMail>,
    fetched: Option<FetchedMail>,
) -> Result<Vec<Result<Ingested, IngestError>>> {
    let inboxes = routes::find_all(app, &delivery.recipients).await?;
    if inboxes.iter().all(Option::is_none) {
        return Ok(inboxes.iter().map(|_| Ok(Ingested::NoInbox)).collect());
    }
    let read = Arc::new(parsing::read(app, &delivery).await?);
    if read.mail.loops {
        return Ok(inboxes.iter().map(|_| Ok(Ingested::MailLoop)).collect());
    }
    let (authentication, replies) = match read.is_read() {
        true => {
            let authentication = authenticator.check(Credentials {
                raw: &delivery.raw,
                from: read.mail.from.as_ref().map(|from| from.email.as_str()),
                sender: delivery.sender.as_deref(),
                source: &delivery.source,
            });
            (authentication.await, calendar_replies::read(&delivery.raw))
        }
        false => (Authentication::default(), Vec::new()),
    };
    let replies = Arc::new(replies);
    let mut taken: Vec<Result<Ingested, IngestError>> = Vec::with_capacity(inboxes.len());
    for (place, inbox) in inboxes.iter().enumerate() {
        let Some(inbox) = inbox else {
            taken.push(Ok(Ingested::NoInbox));
            continue;
        };
        let same =
            |other: &Option<RecipientInbox>| other.as_ref().is_some_and(|other| other.is(inbox));
        taken.push(match inboxes[..place].iter().position(same) {
            Some(earlier) => taken[earlier].clone(),
            None => {
                let addresses = delivery.recipients.iter().zip(&inboxes);
                let addresses = addresses.filter(|(_, inbox)| same(inbox)).map(|(to, _)| to);
                let addresses: Vec<String> = addresses.cloned().collect();
                let mail = (&read, &authentication, Arc::clone(&replies));
                let filed = file(app, inbox, mail, addresses, fetched.clone());
                filed.await.map_err(|error| {
                    let (workspace, mailbox) = (inbox.ws, &inbox.mailbox.id);
                    tracing::error!(cause = ?error, workspace, %mailbox, "a mail was not filed");
                    IngestError
                })
            }
        });
    }
    Ok(taken)
}

/// A mail with what was found in it.
type ReadMail<'a> = (&'a Arc<StoredMail>, &'a Authentication, Arc<Vec<CalendarReply>>);

/// One inbox's part, in one transaction of its own.
async fn file(
    app: &App,
    inbox: &RecipientInbox,
    (read, authentication, replies): ReadMail<'_>,
    addresses: Vec<String>,
    fetched: Option<FetchedMail>,
) -> Result<Ingested> {
    let circle = inbox.mailbox.circle.clone();
    let actor = Actor::system(inbox.ws, inbox.workspace.clone(), circle);
    let (assessed, authentication) = (Arc::clone(read), *authentication);
    let (asking, mailbox) = (actor.clone(), inbox.mailbox.clone());
    // The scam check only reads, and takes longer than filing: it must not block the writer.
    let sorters = Arc::clone(&app.sorters);
    let warning = app.store.read(move |tx| {
        risk::warning(tx, &asking, &sorters, &mailbox, &assessed.mail, &authentication)
    });
    let warning = warning.await?;
    let signs = OwnMarkers::of(&read.mail, &addresses);
    let mut incoming = read.incoming(&inbox.mailbox, &addresses, &authentication, warning);
    let mailbox = inbox.mailbox.clone();
    let filed = app.act(&actor, move |tx, cx| {
        filing::file(tx, cx, &mailbox, &mut incoming, (&signs, &replies), fetched.as_ref())
    });
    let taken = filed.await?;
    tracing::info!(
        workspace = inbox.ws,
        mailbox = %inbox.mailbox.id,
        outcome = taken.as_str(),
        id = taken.message().map(|id| id.as_str()),
        bytes = read.raw.size,
        "a mail came in"
    );
    Ok(taken)
}
