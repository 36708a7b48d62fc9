//! Bounces and complaints: what other mail systems tell of mail that we sent.
//!
//! Anyone can write a mail that looks like one. It counts only when it carries a mark that nobody
//! else can make: it came to the return path of one message, or returns its Message-ID.

use db::Tx;
use mail::{MailKind, Token};

use super::filing::Signs;
use crate::app::Cx;
use crate::conversations::Conversation;
use crate::error::{Error, Result};
use crate::ids::MessageId;
use crate::messages::{self, Outgoing};
use crate::secrets::MailSecret;

/// What a report says of a message of ours, proven.
pub(super) struct Report {
    pub conversation: Conversation,
    message: Outgoing,
    says: Says,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It will not arrive.
    Bounced,
    /// Its recipient called it spam.
    Complained,
    /// It is late, was delivered, or was read.
    Otherwise,
}

/// The report that a mail is, if it is one and proves it.
pub(super) fn verified(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    secret: &MailSecret,
    signs: &Signs,
) -> Result<Option<Report>> {
    let says = match signs.kind {
        MailKind::Bounce if signs.gave_up => Says::Bounced,
        MailKind::Complaint => Says::Complained,
        MailKind::Bounce | MailKind::Receipt => Says::Otherwise,
        MailKind::Person | MailKind::AutoReply | MailKind::List => return Ok(None),
    };
    let Some(id) = message_of(secret, signs) else { return Ok(None) };
    match messages::load_outgoing(tx, cx.actor, &id) {
        Ok((message, conversation)) => Ok(Some(Report { conversation, message, says })),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn message_of(secret: &MailSecret, signs: &Signs) -> Option<MessageId> {
    let bounced = signs.tokens(secret).find_map(|token| match token {
        Token::Bounce(id) => Some(id),
        Token::Conversation(_) => None,
    });
    let named = || mail::message_of_id(secret.as_bytes(), signs.about.as_deref()?);
    MessageId::parse(&bounced.or_else(named)?)
}

/// Records what it says.
pub(super) fn apply(tx: &mut Tx<'_>, cx: &Cx<'_>, report: Report) -> Result<()> {
    let Report { mut conversation, message, says } = report;
    match says {
        Says::Bounced => messages::mark_bounced(tx, cx, &mut conversation, &message),
        Says::Complained => messages::note_complaint(tx, cx, &message),
        Says::Otherwise => Ok(()),
    }
}
