//! A mail that somebody sends to themselves, to see whether mail of an inbox leaves.

use std::time::Duration;

use base::actor::{Actor, Principal};
use base::app::App;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::MailboxId;
use model::mailboxes;

use crate::notices::send_notices::service_mail;
use crate::outgoing::outgoing_mail::{self, ReturnMarkers, UnsignedMail};
use crate::ports::relay::deliver;
use crate::{Relay, RelayOutcome};

const ID_CHARS: usize = 24;
/// A server that has not answered by then is told as one that does not.
const PATIENCE: Duration = Duration::from_secs(60);

/// What became of a test mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestMail {
    /// Whom it was for.
    pub to: String,
    pub outcome: RelayOutcome,
}

/// Sends a mail from an inbox to the person who asks, at once and once; it is not kept.
pub async fn send_test_mail(
    app: &App,
    relay: &dyn Relay,
    actor: &Actor,
    mailbox: &MailboxId,
) -> Result<TestMail> {
    let mailbox = mailbox.clone();
    let (to, unsigned) = app
        .act(actor, move |tx, cx| {
            cx.actor.must_administer()?;
            let Principal::Person { id, .. } = &cx.actor.who else {
                return Err(Error::Forbidden("Only a person can send a test mail.".into()));
            };
            let inbox =
                mailboxes::seen_by(tx, cx.actor, &mailbox)?.ok_or(Error::NotFound("inbox"))?;
            let (to,): (EmailAddress,) =
                tx.one("SELECT email FROM users WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
            let id = cx.ids.token(ID_CHARS);
            let text = format!(
                "This is a test mail from the inbox {}. You asked for it in Mailroom, and here it \
                 is: mail of this inbox leaves.\n\nService: {}\n",
                inbox.address, cx.public_url
            );
            let mail = service_mail(&id, &inbox.address, &to, "Test mail", text, cx.now);
            let message = format!("msg_{id}");
            let markers = ReturnMarkers { message: &message, conversation: None };
            let unsigned = UnsignedMail::new(tx, cx, mail, &markers, vec![to.to_string()])?;
            Ok((to.to_string(), unsigned))
        })
        .await?;
    let outgoing = outgoing_mail::sign_whole(&unsigned).await?;
    let outcome = match tokio::time::timeout(PATIENCE, deliver(relay, &outgoing)).await {
        Ok(outcomes) => outcomes.into_iter().next(),
        Err(_) => None,
    };
    let late = || RelayOutcome::Unavailable("the server did not answer in time".into());
    Ok(TestMail { to, outcome: outcome.unwrap_or_else(late) })
}
