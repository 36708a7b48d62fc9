//! A mail comes in, through whatever door: its bytes are kept, its sender is proven or not, it is
//! understood, judged, and filed in every inbox it came to.
//!
//! The doors (SMTP, LMTP, IMAP) call [`take_in`] and promise nothing before it answers. Whom a
//! mail is for is asked with [`find_recipient`].

mod authenticator;
mod filing;
mod judge;
mod own_copies;
mod reading;
mod reports;
mod routes;

use std::sync::Arc;
use std::time::Instant;

use mail::Authentication;
use metrics::{counter, histogram};

use crate::actor::Actor;
use crate::app::App;
use crate::error::Result;
use crate::fetching::Account;
use crate::ids::MessageId;
use crate::receive::Received;

pub use authenticator::{Authenticator, Checking, Credentials, Source};
pub use judge::judge;
pub use routes::{Inbox, find_inbox, find_recipient};

use filing::Signs;
use reading::Read;

/// A mail at the door.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Where the sending system wants bounces: empty for nowhere, `None` when it is not known.
    pub sender: Option<String>,
    /// Whom it is for, as the sending system wrote it, plus tags included.
    pub recipients: Vec<String>,
    pub source: Source,
    /// The mail as it came.
    pub raw: Vec<u8>,
}

/// Where a mail was fetched from, and when the mailbox there took it.
#[derive(Clone, Debug)]
pub struct FetchedMail {
    pub account: Account,
    /// In milliseconds; `None` where the server does not tell.
    pub internal_date: Option<i64>,
}

/// What became of a mail for one recipient. Everything here is durable and final: whoever brought
/// the mail may forget it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Filed(Received),
    /// The inbox had it already.
    Known(Received),
    /// It is our own mail come back, and dropped.
    OurOwn,
    /// It has been passed on so often that it goes in circles; nothing is kept.
    InCircles,
    /// The recipient is no inbox of ours (any more), or is not fetched (any more) by who brings it.
    NoInbox,
}

impl Taken {
    fn word(&self) -> &'static str {
        match self {
            Taken::Filed(_) => "filed",
            Taken::Known(_) => "known",
            Taken::OurOwn => "our-own",
            Taken::InCircles => "in-circles",
            Taken::NoInbox => "no-inbox",
        }
    }

    fn message(&self) -> Option<&MessageId> {
        match self {
            Taken::Filed(received) | Taken::Known(received) => Some(&received.message),
            Taken::OurOwn | Taken::InCircles | Taken::NoInbox => None,
        }
    }
}

/// Trouble of ours, which the log tells of. The mail is to be brought again; what was filed of it
/// by then is known by its Message-ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotTaken;

/// Takes a mail in that comes in live; answers for each recipient, in their order.
pub async fn take_in(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: Delivery,
) -> Vec<Result<Taken, NotTaken>> {
    take_in_from(app, authenticator, delivery, None).await
}

/// Takes a mail in that was fetched from a mailbox elsewhere, for the inbox of that mailbox alone.
pub async fn take_in_fetched(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: Delivery,
    fetched: FetchedMail,
) -> Result<Taken, NotTaken> {
    let taken = take_in_from(app, authenticator, delivery, Some(fetched)).await;
    taken.into_iter().next().unwrap_or(Err(NotTaken))
}

async fn take_in_from(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: Delivery,
    fetched: Option<FetchedMail>,
) -> Vec<Result<Taken, NotTaken>> {
    let began = Instant::now();
    let recipients = delivery.recipients.len();
    let outcomes = match take_in_once(app, authenticator, Arc::new(delivery), fetched).await {
        Ok(outcomes) => outcomes,
        Err(error) => {
            tracing::error!(cause = ?error, "a mail could not be taken in");
            vec![Err(NotTaken); recipients]
        }
    };
    for outcome in &outcomes {
        let word = outcome.as_ref().map_or("failed", Taken::word);
        counter!("mailroom_mails_total", "outcome" => word).increment(1);
    }
    histogram!("mailroom_mail_seconds").record(began.elapsed());
    outcomes
}

async fn take_in_once(
    app: &App,
    authenticator: &dyn Authenticator,
    delivery: Arc<Delivery>,
    fetched: Option<FetchedMail>,
) -> Result<Vec<Result<Taken, NotTaken>>> {
    let inboxes = routes::find_all(app, &delivery.recipients).await?;
    if inboxes.iter().all(Option::is_none) {
        return Ok(inboxes.iter().map(|_| Ok(Taken::NoInbox)).collect());
    }
    let read = Arc::new(reading::read(app, &delivery).await?);
    if read.mail.loops {
        return Ok(inboxes.iter().map(|_| Ok(Taken::InCircles)).collect());
    }
    let authentication = authenticator
        .check(Credentials {
            raw: &delivery.raw,
            from: read.mail.from.as_ref().map(|from| from.email.as_str()),
            sender: delivery.sender.as_deref(),
            source: &delivery.source,
        })
        .await;
    let mut taken: Vec<Result<Taken, NotTaken>> = Vec::with_capacity(inboxes.len());
    for (place, inbox) in inboxes.iter().enumerate() {
        let Some(inbox) = inbox else {
            taken.push(Ok(Taken::NoInbox));
            continue;
        };
        let same = |other: &Option<Inbox>| other.as_ref().is_some_and(|other| other.is(inbox));
        taken.push(match inboxes[..place].iter().position(same) {
            Some(earlier) => taken[earlier].clone(),
            None => {
                let addresses = delivery.recipients.iter().zip(&inboxes);
                let addresses = addresses.filter(|(_, inbox)| same(inbox)).map(|(to, _)| to);
                let addresses: Vec<String> = addresses.cloned().collect();
                let filed = file(app, inbox, &read, &authentication, addresses, fetched.clone());
                filed.await.map_err(|error| {
                    let mailbox = &inbox.mailbox.id;
                    tracing::error!(cause = ?error, %mailbox, "a mail was not filed");
                    NotTaken
                })
            }
        });
    }
    Ok(taken)
}

/// One inbox's part, in one transaction of its own.
async fn file(
    app: &App,
    inbox: &Inbox,
    read: &Arc<Read>,
    authentication: &Authentication,
    addresses: Vec<String>,
    fetched: Option<FetchedMail>,
) -> Result<Taken> {
    let circle = inbox.mailbox.circle.clone();
    let actor = Actor::system(inbox.ws, inbox.workspace.clone(), circle);
    let (judged, authentication) = (Arc::clone(read), *authentication);
    let (asking, mailbox) = (actor.clone(), inbox.mailbox.clone());
    // Judging only reads, and takes longer than filing: it must not hold up the one writer.
    let warning = app
        .store
        .read(move |tx| judge::warning(tx, &asking, &mailbox, &judged.mail, &authentication));
    let warning = warning.await?;
    let signs = Signs::of(&read.mail, &addresses);
    let mut incoming = read.incoming(&inbox.mailbox, &addresses, authentication.dmarc, warning);
    let mailbox = inbox.mailbox.clone();
    let filed = app.act(&actor, move |tx, cx| {
        filing::file(tx, cx, &mailbox, &mut incoming, &signs, fetched.as_ref())
    });
    let taken = filed.await?;
    tracing::info!(
        mailbox = %inbox.mailbox.id,
        outcome = taken.word(),
        id = taken.message().map(|id| id.as_str()),
        bytes = read.raw.size,
        "a mail came in"
    );
    Ok(taken)
}
