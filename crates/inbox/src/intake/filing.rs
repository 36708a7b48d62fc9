use db::Tx;
use mail::{Dmarc, MailKind, Token, Understood};

use super::Taken;
use super::reports;
use crate::app::Cx;
use crate::error::Result;
use crate::ids::ConversationId;
use crate::mailboxes::Mailbox;
use crate::receive::{self, Incoming, receive};
use crate::secrets::{self, MailSecret};

/// Addresses of a mail that are looked at for a token of ours.
const ADDRESSES_LOOKED_AT: usize = 100;

/// What a mail carries of ours, beside what every mail says.
pub(super) struct Signs {
    /// Every address it went to that may hold a token, the envelope's first.
    addresses: Vec<String>,
    message_id: Option<String>,
    loop_mark: Option<String>,
    pub kind: MailKind,
    /// A bounce says that the mail will not arrive, not only that it is late.
    pub gave_up: bool,
    /// The Message-ID of the mail that a report is about.
    pub about: Option<String>,
}

impl Signs {
    pub fn of(mail: &Understood, addresses: &[String]) -> Signs {
        let listed = mail.to.iter().chain(&mail.cc).map(|address| &address.email);
        let all = addresses.iter().chain(&mail.delivered_to).chain(listed);
        Signs {
            addresses: all
                .filter(|to| to.contains('+'))
                .take(ADDRESSES_LOOKED_AT)
                .cloned()
                .collect(),
            message_id: mail.message_id.clone(),
            loop_mark: mail.loop_mark.clone(),
            kind: mail.kind,
            gave_up: mail.bounces.iter().any(|bounce| bounce.hard || bounce.gave_up),
            about: mail.about.clone(),
        }
    }

    /// The tokens of ours that it was sent to. One that somebody made up is none.
    pub fn tokens(&self, secret: &MailSecret) -> impl Iterator<Item = Token> {
        self.addresses.iter().filter_map(|to| mail::token_of_address(secret.as_bytes(), to))
    }

    fn is_our_own(&self, secret: &MailSecret) -> bool {
        let secret = secret.as_bytes();
        let marked = self.loop_mark.as_deref().is_some_and(|mark| mail::is_loop_mark(secret, mark));
        let named = self.message_id.as_deref().and_then(|id| mail::message_of_id(secret, id));
        marked || named.is_some()
    }
}

/// Files a mail in one inbox, unless it is there already or is our own come back.
pub(super) fn file(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    mailbox: &Mailbox,
    incoming: &mut Incoming,
    signs: &Signs,
) -> Result<Taken> {
    let secret = secrets::mail_secret(tx, cx)?;
    if signs.is_our_own(&secret) {
        return Ok(Taken::OurOwn);
    }
    if let Some(known) = receive::seen(tx, cx, mailbox, incoming)? {
        return Ok(Taken::Known(known));
    }
    let report = reports::verified(tx, cx, &secret, signs)?;
    incoming.joins = match &report {
        Some(report) => Some(report.conversation.id.clone()),
        None => answered(&secret, incoming, signs),
    };
    let received = receive(tx, cx, mailbox, incoming)?;
    if let Some(report) = report {
        reports::apply(tx, cx, report)?;
    }
    Ok(Taken::Filed(received))
}

/// The conversation whose reply address it was sent to. Only someone who got our mail has that
/// address; still, a mail that fails its domain's DMARC joins nothing.
fn answered(secret: &MailSecret, incoming: &Incoming, signs: &Signs) -> Option<ConversationId> {
    if incoming.mail.dmarc == Dmarc::Fail {
        return None;
    }
    signs.tokens(secret).find_map(|token| match token {
        Token::Conversation(id) => ConversationId::parse(&id),
        Token::Bounce(_) => None,
    })
}
