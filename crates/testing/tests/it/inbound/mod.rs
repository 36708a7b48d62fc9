//! A mail from outside, through the one function that every mail door calls.

mod attacks;
mod correspondents;
mod dates;
mod duplicates;
mod filing;
mod imap_leases;
mod imports;
mod learned_spam;
mod plus_tags;
mod poisoned;
mod receive;
mod reports;
mod risk;
mod threading;
mod threads;
mod trust;

use model::installation::mail_secret::mail_secret;
use testing::TestApp;

/// The secret of the test's workspace.
async fn secret(app: &TestApp) -> Vec<u8> {
    let service = app.service(&app.support);
    app.act(&service, |tx, cx| Ok(mail_secret(tx, cx)?.as_bytes().to_vec())).await
}

/// A message of ours that has gone out, and the conversation it is in.
async fn sent(app: &TestApp) -> (String, String) {
    let key = app.key("send").await;
    let first = app.mail("ann@x.example Ann", "Lamp", "It is broken").await;
    let conversation = first.conversation.to_string();
    let message = app.send_reply(&key, &conversation, "A new one is on its way").await;
    (message, conversation)
}
