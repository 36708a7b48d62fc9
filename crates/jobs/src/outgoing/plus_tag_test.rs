//! A mail that an inbox sends to its own address with a plus tag, to see whether it comes back. What
//! arrives is noticed where mail is filed.

use std::time::Duration;

use base::actor::Actor;
use base::app::App;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::MailboxId;
use model::installation::mail_secret;
use model::mailboxes::plus_tags;

use crate::notices::send_notices::service_mail;
use crate::outgoing::outgoing_mail::{self, ReturnMarkers, UnsignedMail};
use crate::ports::relay::deliver;
use crate::{Relay, RelayOutcome};

const ID_CHARS: usize = 24;
/// A server that has not answered by then does not take the mail.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends the test mail of an inbox, once; it is not kept. Answers what became of it.
pub async fn send_plus_tag_test(
    app: &App,
    relay: &dyn Relay,
    actor: &Actor,
    mailbox: &MailboxId,
) -> Result<RelayOutcome> {
    let inbox = mailbox.clone();
    let (test, unsigned) = app
        .act(actor, move |tx, cx| {
            cx.actor.must_administer()?;
            // Whoever sets up an inbox may test it, private ones included.
            let found: Option<(EmailAddress,)> = tx.opt(
                "SELECT address FROM mailboxes WHERE ws = ?1 AND id = ?2 AND circle <> 'sandbox'",
                &[&cx.actor.ws, &inbox],
            )?;
            let (address,) = found.ok_or(Error::NotFound("inbox"))?;
            let test = cx.ids.token(ID_CHARS);
            plus_tags::begin_test(tx, cx, &inbox, &test)?;
            let message = format!("msg_{test}");
            let secret = mail_secret::mail_secret(tx, cx)?;
            let tagged = mail::return_path(secret.as_bytes(), &address, &message);
            let Some(tagged) = tagged else { return Ok((test, None)) };
            let text = format!(
                "Mailroom sent this from {address} to {tagged}, to see whether mail to addresses \
                 with a plus tag arrives here. It does; nothing is left to do.\n\nService: {}\n",
                cx.public_url
            );
            let mail = service_mail(&test, &address, &tagged, "Test of plus tags", text, cx.now);
            let markers = ReturnMarkers { message: &message, conversation: None };
            let unsigned = UnsignedMail::new(tx, cx, mail, &markers, vec![tagged])?;
            Ok((test, Some(unsigned)))
        })
        .await?;
    let outcome = match unsigned {
        Some(unsigned) => send(relay, &unsigned).await?,
        None => RelayOutcome::Never("the address leaves no room for a plus tag".into()),
    };
    let (inbox, result) = (mailbox.clone(), outcome.clone());
    app.act(actor, move |tx, cx| {
        match result {
            RelayOutcome::Delivered => {}
            RelayOutcome::Never(_) => {
                plus_tags::end_test(tx, cx.actor.ws, &inbox, &test, false)?;
            }
            RelayOutcome::Later(_) | RelayOutcome::Unavailable(_) => {
                plus_tags::cancel_test(tx, cx.actor.ws, &inbox, &test)?;
            }
        }
        Ok(())
    })
    .await?;
    Ok(outcome)
}

async fn send(relay: &dyn Relay, unsigned: &UnsignedMail) -> Result<RelayOutcome> {
    let outgoing = outgoing_mail::sign_whole(unsigned).await?;
    let outcome = match tokio::time::timeout(PATIENCE, deliver(relay, &outgoing)).await {
        Ok(outcomes) => outcomes.into_iter().next(),
        Err(_) => None,
    };
    let late = || RelayOutcome::Unavailable("the server did not answer in time".into());
    Ok(outcome.unwrap_or_else(late))
}
