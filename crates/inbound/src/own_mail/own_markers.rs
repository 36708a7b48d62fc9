//! Our markers in a mail: tokens in addresses, the loop mark, the message that a report is about.

use base::email_address::EmailAddress;
use mail::{AddressToken, MailKind, ParsedMail};
use model::installation::mail_secret::MailSecret;

use crate::FetchedMail;
use crate::mail_dates::MailDates;

/// Addresses of a mail that are looked at for a token of ours.
const ADDRESSES_LOOKED_AT: usize = 100;
/// How the Message-IDs of a workspace's messages begin.
const OWN_MESSAGE_ID: &str = "msg.";

/// Our markers in a mail, with the fields needed to interpret them.
pub(crate) struct OwnMarkers {
    /// Every address it went to that may hold a token, the envelope's first.
    addresses: Vec<String>,
    pub loop_mark: Option<String>,
    /// The whole text, where the mail may be a copy of our own.
    pub whole_text: Option<String>,
    /// The date of the `Date:` header.
    date: Option<i64>,
    pub kind: MailKind,
    /// The recipients that a bounce reports as permanently failed, not delayed, with the status.
    pub given_up: Vec<(EmailAddress, String)>,
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
            whole_text: may_be_own_copy(mail).then(|| mail.original.clone()),
            date: mail.date,
            kind: mail.kind,
            given_up: mail
                .bounces
                .iter()
                .filter(|bounce| bounce.hard || bounce.gave_up)
                .map(|bounce| (EmailAddress::new(&bounce.recipient), bounce.status.clone()))
                .collect(),
            about: mail.about.clone(),
        }
    }

    /// The valid tokens among its recipients. Forged ones are ignored.
    pub fn tokens(&self, secret: &MailSecret) -> impl Iterator<Item = AddressToken> {
        self.addresses.iter().filter_map(|to| mail::token_of_address(secret.as_bytes(), to))
    }

    pub fn dates(&self, fetched: Option<&FetchedMail>, now: i64) -> MailDates {
        match fetched {
            Some(fetched) => MailDates::of_fetched(self.date, fetched.internal_date, now),
            None => MailDates::live(self.date, now),
        }
    }
}

/// False for almost every mail, before anything is looked up.
fn may_be_own_copy(mail: &ParsedMail) -> bool {
    mail.loop_mark.is_some()
        || mail.message_id.as_ref().is_some_and(|id| id.starts_with(OWN_MESSAGE_ID))
}
