//! Files a mail in one inbox: known already? our own come back? a report? an answer to a signed
//! address?

use db::Tx;
use mail::{AddressToken, Dmarc, MailKind, ParsedMail};

use super::own_copies;
use super::reports;
use super::{FetchedMail, Ingested};
use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::ConversationId;
use crate::inbound::imap;
use crate::inbound::mail_dates::MailDates;
use crate::inbound::receive::{self, IncomingMail, MailLookup};
use crate::model::mail_secret::{self, MailSecret};
use crate::model::mailboxes::Mailbox;

/// Addresses of a mail that are looked at for a token of ours.
const ADDRESSES_LOOKED_AT: usize = 100;

/// What a mail carries of ours, beside what every mail says.
pub(super) struct OwnMarkers {
    /// Every address it went to that may hold a token, the envelope's first.
    addresses: Vec<String>,
    pub loop_mark: Option<String>,
    /// All of its text, where it may be a message of ours come back.
    pub whole_text: Option<String>,
    /// When the sender's clock says that it was sent.
    date: Option<i64>,
    pub kind: MailKind,
    /// Whom a bounce says the mail will not reach, not only that it is late.
    pub given_up: Vec<String>,
    /// The Message-ID of the mail that a report is about.
    pub about: Option<String>,
}

impl OwnMarkers {
    pub fn of(mail: &ParsedMail, addresses: &[String]) -> OwnMarkers {
        let listed = mail.to.iter().chain(&mail.cc).map(|address| &address.email);
        let all = addresses.iter().chain(&mail.delivered_to).chain(listed);
        OwnMarkers {
            addresses: all
                .filter(|to| to.contains('+'))
                .take(ADDRESSES_LOOKED_AT)
                .cloned()
                .collect(),
            loop_mark: mail.loop_mark.clone(),
            whole_text: own_copies::may_be_one(mail).then(|| mail.original.clone()),
            date: mail.date,
            kind: mail.kind,
            given_up: mail
                .bounces
                .iter()
                .filter(|bounce| bounce.hard || bounce.gave_up)
                .map(|bounce| mail::normal_address(&bounce.recipient))
                .collect(),
            about: mail.about.clone(),
        }
    }

    /// The tokens of ours that it was sent to. One that somebody made up is none.
    pub fn tokens(&self, secret: &MailSecret) -> impl Iterator<Item = AddressToken> {
        self.addresses.iter().filter_map(|to| mail::token_of_address(secret.as_bytes(), to))
    }

    fn dates(&self, fetched: Option<&FetchedMail>, now: i64) -> MailDates {
        match fetched {
            Some(fetched) => MailDates::fetched(self.date, fetched.internal_date, now),
            None => MailDates::live(self.date, now),
        }
    }
}

/// Files a mail in one inbox, unless it is there already or is our own come back. What was fetched
/// is filed only for as long as the inbox is fetched by whoever brings it.
pub(super) fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &mut IncomingMail,
    signs: &OwnMarkers,
    fetched: Option<&FetchedMail>,
) -> Result<Ingested> {
    if let Some(fetched) = fetched
        && !imap::is_held(tx, &fetched.account, mailbox)?
    {
        return Ok(Ingested::NoInbox);
    }
    let secret = mail_secret::mail_secret(tx, cx)?;
    if own_copies::is_one(tx, cx, &secret, incoming, signs)? {
        return Ok(Ingested::OurOwn);
    }
    own_copies::disown_message_id(&secret, incoming);
    let unknown = match receive::look_up(tx, cx, mailbox, incoming)? {
        MailLookup::Known(known) => return Ok(Ingested::Known(known)),
        MailLookup::Unknown(unknown) => unknown,
    };
    let report = reports::verified(tx, cx, &secret, signs)?;
    incoming.joins = match &report {
        Some(report) => Some(report.conversation.id.clone()),
        None => answered(&secret, incoming, signs),
    };
    let dates = signs.dates(fetched, cx.now);
    let received = receive::file(tx, cx, mailbox, incoming, &dates, unknown)?;
    if let Some(report) = report {
        reports::apply(tx, cx, report)?;
    }
    Ok(Ingested::Filed(received))
}

/// The conversation whose reply address it was sent to. Only someone who got our mail has that
/// address; still, a mail that fails its domain's DMARC joins nothing.
fn answered(
    secret: &MailSecret,
    incoming: &IncomingMail,
    signs: &OwnMarkers,
) -> Option<ConversationId> {
    if incoming.mail.dmarc == Dmarc::Fail {
        return None;
    }
    signs.tokens(secret).find_map(|token| match token {
        AddressToken::Conversation(id) => ConversationId::parse(&id),
        AddressToken::Bounce(_) => None,
    })
}
