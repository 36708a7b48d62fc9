//! The marks on what leaves, by which answers, bounces and loops are known.

use actions::inboxes::setup;
use base::ids::MailboxId;
use model::installation::mail_secret;

use super::*;
use crate::support::*;

on_both!(
    answers_and_bounces_find_back_by_marks_that_nobody_else_can_make,
    an_inbox_without_plus_tags_is_answered_and_bounced_to_as_it_is,
    a_long_conversation_names_its_first_mail_and_the_latest_nineteen
);

async fn secret(app: &TestApp) -> Vec<u8> {
    app.act(&app.owner, |tx, cx| Ok(mail_secret::mail_secret(tx, cx)?.as_bytes().to_vec())).await
}

fn field(mail: &OutgoingMail, name: &str) -> Option<String> {
    let text = String::from_utf8(mail.bytes.to_vec())
        .unwrap()
        .replace("\r\n\t", " ")
        .replace("\r\n ", " ");
    let head = text.split("\r\n\r\n").next().unwrap().to_owned();
    head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
}

async fn answers_and_bounces_find_back_by_marks_that_nobody_else_can_make(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let message = app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO).await;
    let sent = app.outside.relay.attempts().remove(0);
    let secret = secret(&app).await;
    assert_eq!(
        mail::token_of_address(&secret, &sent.sender),
        Some(mail::AddressToken::Bounce(message.clone()))
    );
    let reply_to = field(&sent, "Reply-To").unwrap();
    let reply_to = reply_to.trim_matches(['<', '>']);
    assert_eq!(
        mail::token_of_address(&secret, reply_to),
        Some(mail::AddressToken::Conversation(mail.conversation.to_string()))
    );
    assert_eq!(mail::message_of_id(&secret, &sent.message_id), Some(message.clone()));
    let mark = field(&sent, mail::LOOP_FIELD).unwrap();
    assert_eq!(mail::message_of_loop_mark(&secret, &mark), Some(message));
    assert_eq!(field(&sent, "Auto-Submitted"), None);
}

async fn an_inbox_without_plus_tags_is_answered_and_bounced_to_as_it_is(app: TestApp) {
    let id: MailboxId = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| setup::set_plus_tags(tx, cx, &id, false)).await;
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.pass(UNDO).await;
    let sent = app.outside.relay.attempts().remove(0);
    assert_eq!(sent.sender, "support@acme.example");
    assert_eq!(field(&sent, "Reply-To"), None);
    assert!(mail::message_of_id(&secret(&app).await, &sent.message_id).is_some());
}

async fn a_long_conversation_names_its_first_mail_and_the_latest_nineteen(app: TestApp) {
    let key = app.key("send").await;
    let mut id = None;
    for number in 0..25 {
        let mail = mail::Mail {
            message_id: Some(format!("{number}@customer.example")),
            ..letter("mara@customer.example", "Re: Lamp of mine", "Where is it?")
        };
        id = Some(app.deliver(&app.support, mail).await.conversation);
        app.advance(MINUTE);
    }
    app.schedule(&key, &id.unwrap(), "It left.").await;
    app.pass(UNDO).await;
    let sent = app.outside.relay.attempts().remove(0);
    let references = field(&sent, "References").unwrap();
    let names: Vec<&str> = references.split_whitespace().collect();
    assert_eq!(names.len(), 20);
    assert_eq!((names[0], names[1]), ("<0@customer.example>", "<6@customer.example>"));
    assert_eq!(names[19], "<24@customer.example>");
    assert_eq!(field(&sent, "In-Reply-To").unwrap(), "<24@customer.example>");
}
