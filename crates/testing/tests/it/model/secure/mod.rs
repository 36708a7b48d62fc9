//! Secure messages: additions to the API, section 4.

mod answer_forms;
mod codes;
mod life;
mod merging;
mod sandbox;
mod scams;
mod sealing;
mod unsent;

use base::ids::MessageId;
use inbound::guest_pages::secure_answer::{SecureAnswer, receive_answer};
use model::guests::guest_tokens::GuestTokenHash;
use model::guests::secure::{self, SecureLink};
use model::people::one_time_codes::CodeEntry;
use serde_json::{Value, json};
use testing::*;

pub const ANN: &str = "ann@shop.example";

/// A secure reply to Ann that has left.
pub struct Sent {
    pub conversation: String,
    pub message: String,
}

impl Sent {
    pub fn id(&self) -> MessageId {
        MessageId::parse(&self.message).unwrap()
    }
}

pub async fn secure_reply(app: &TestApp, key: &TestKey, words: &str) -> Sent {
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamps", "Hello").await;
    let conversation = mail.conversation.to_string();
    let message = secure_reply_in(app, key, &conversation, words).await;
    Sent { conversation, message }
}

pub async fn secure_reply_in(
    app: &TestApp,
    key: &TestKey,
    conversation: &str,
    words: &str,
) -> String {
    let body = json!({ "body": words, "secure": true, "send": true });
    let answer = app.on(key, &conversation, "replies", body).await.is(201).json();
    app.pass(UNDO).await;
    text_of(&answer, "messageId")
}

/// The texts of the mails that left, soft line breaks undone.
pub fn mails(app: &TestApp) -> Vec<String> {
    let sent = app.outside.relay.attempts();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("=\r\n", "");
    sent.iter().map(|mail| text(&mail.bytes)).collect()
}

/// The token in the newest mail with a link.
pub fn token(app: &TestApp) -> String {
    let mails = mails(app);
    let with_link = mails.iter().rev().find_map(|mail| mail.split_once("/s/"));
    with_link.expect("a link").1.chars().take(40).collect()
}

pub fn browser(name: &str) -> GuestTokenHash {
    GuestTokenHash::of(name)
}

/// The code that was mailed last.
pub fn code(app: &TestApp) -> String {
    let mails = mails(app);
    let with_code = mails.iter().rev().find_map(|mail| mail.split_once("Your code: "));
    with_code.expect("a code").1.chars().take(9).collect()
}

pub async fn link(app: &TestApp, token: &str) -> SecureLink {
    let (token, now) = (token.to_owned(), app.now());
    app.app.store.read(move |tx| secure::link_at(tx, &token, now)).await.unwrap()
}

/// Asks for a code in a browser, and waits until it has left.
pub async fn ask(app: &TestApp, token: &str, name: &str) -> Option<i64> {
    let wait = secure::request_code(&app.app, token, browser(name), "place").await.unwrap();
    app.work().await;
    wait
}

pub async fn enter(app: &TestApp, token: &str, name: &str, typed: &str) -> CodeEntry {
    let (token, name, typed) = (token.to_owned(), name.to_owned(), typed.to_owned());
    let inner = app.app.clone();
    let entered = app.app.store.write(move |tx| {
        let link = secure::link_at(tx, &token, inner.clock.now())?;
        let cx = inner.cx(&link.actor);
        secure::enter_code(tx, &cx, &link, (browser(&name), "place"), &typed)
    });
    entered.await.unwrap()
}

/// Ann answers on her page.
pub async fn answer(
    app: &TestApp,
    token: &str,
    words: &str,
    file: Option<(&str, &[u8])>,
) -> String {
    let stored = file.map(|(name, bytes)| {
        let (name, kind) = (name.to_owned(), "application/pdf".to_owned());
        secure::seal_file((&app.app.blobs, &app.app.ids), app.now(), name, kind, bytes).unwrap()
    });
    let files = stored.into_iter().collect();
    let answer = SecureAnswer { text: words.to_owned(), files, form: None };
    let (token, inner) = (token.to_owned(), app.app.clone());
    let filed = app.app.store.write(move |tx| {
        let link = secure::link_at(tx, &token, inner.clock.now())?;
        receive_answer(tx, &inner.cx(&link.actor), &link, &answer)
    });
    let id = filed.await.unwrap().to_string();
    app.work().await;
    id
}

/// What the page shows to somebody who has proven the address.
pub async fn page_texts(app: &TestApp, token: &str) -> Vec<String> {
    let (token, inner) = (token.to_owned(), app.app.clone());
    let read = app.app.store.read(move |tx| {
        let link = secure::link_at(tx, &token, inner.clock.now())?;
        secure::read(tx, &inner.cx(&link.actor), &link)
    });
    let page = read.await.unwrap();
    page.messages.into_iter().map(|message| message.content.text).collect()
}

/// A message of the timeline, as a key reads it.
pub async fn message(app: &TestApp, key: &TestKey, sent: &Sent, id: &str) -> Value {
    let all = app.timeline(key, &sent.conversation, "message").await;
    all.into_iter().find(|message| message["id"] == id).expect("the message")
}
