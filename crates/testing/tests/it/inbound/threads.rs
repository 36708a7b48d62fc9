//! Replies join their conversation.

use mail::Dmarc;
use testing::{TestApp, filed_mail, on_both, raw, raw_with};

use super::{secret, sent};

on_both!(
    an_answer_to_a_signed_reply_address_joins_whoever_writes_it,
    a_forged_reply_address_joins_nothing,
    a_mail_that_fails_dmarc_joins_nothing_by_any_way,
    a_signed_message_id_leads_a_participant_back_and_no_stranger,
    a_reply_address_of_another_inbox_does_not_lead_into_it,
    quoted_history_that_nothing_announces_is_taken_off_and_answers_between_lines_stay
);

async fn quoted_history_that_nothing_announces_is_taken_off_and_answers_between_lines_stay(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let first = app.mail("ann@x.example", "Lamp", "It is broken").await;
    app.send_reply(&key, &first.conversation, "A new one is on its way.\nWhich colour?").await;
    let quote = "> A new one is on\r\n> its way.\r\n> Which colour?\r\n\r\n";
    let whole = |text: &str| text.replace("\r\n", "\n");
    for (number, (text, expected)) in [
        (format!("{quote}Green, please."), "Green, please.".to_owned()),
        (
            "> Which colour?\r\n\r\nGreen.\r\n\r\n> A new one is on its way.\r\n\r\nThanks".into(),
            "> Which colour?\n\nGreen.\n\n> A new one is on its way.\n\nThanks".into(),
        ),
        (
            "> Something that nobody wrote here.\r\n\r\nWhat is that?".into(),
            "> Something that nobody wrote here.\n\nWhat is that?".into(),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let fields = format!("Message-ID: <quote{number}@x.example>\r\n");
        let mail = app.arrives(&raw_with(&fields, "ann@x.example", "Re: Lamp", &text)).await;
        assert_eq!(mail.conversation, first.conversation);
        let last = app.timeline(&key, &mail.conversation, "message").await.pop().unwrap();
        assert_eq!(last["text"], expected, "{}", whole(&text));
    }
}

async fn an_answer_to_a_signed_reply_address_joins_whoever_writes_it(app: TestApp) {
    let (_, conversation) = sent(&app).await;
    let secret = secret(&app).await;
    let reply = mail::reply_address(&secret, "support@acme.example", &conversation).unwrap();
    for (place, from) in ["ann@x.example", "colleague@y.example"].into_iter().enumerate() {
        let mail = raw(from, &format!("Another subject {place}"), "Thank you");
        let taken = app.ingest(&[&reply.to_uppercase()], &mail).await;
        assert_eq!(filed_mail(&taken[0]).conversation.as_str(), conversation, "{from}");
    }
    let fields = format!("Message-ID: <listed@x.example>\r\nCc: {reply}\r\n");
    let mail = raw_with(&fields, "ann@x.example", "Aliased", "By way of an alias");
    assert_eq!(app.arrives(&mail).await.conversation.as_str(), conversation);
}

async fn a_forged_reply_address_joins_nothing(app: TestApp) {
    let (_, conversation) = sent(&app).await;
    let secret = secret(&app).await;
    let reply = mail::reply_address(&secret, "support@acme.example", &conversation).unwrap();
    let others = app.other_workspace("Other").await;
    let other = app.act(&others, |tx, cx| {
        Ok(model::installation::mail_secret::mail_secret(tx, cx)?.as_bytes().to_vec())
    });
    let foreign = mail::reply_address(&other.await, "support@acme.example", &conversation).unwrap();
    let id = conversation.strip_prefix("cnv_").unwrap();
    let last = reply.replace("@acme", "0@acme");
    for (place, forged) in [
        last,
        foreign,
        format!("support+c_{id}_0000000000000000@acme.example"),
        format!("support+c_{id}@acme.example"),
    ]
    .into_iter()
    .enumerate()
    {
        let mail = raw("eve@evil.example", &format!("Let me in {place}"), "text");
        let taken = app.ingest(&[&forged], &mail).await;
        assert_ne!(filed_mail(&taken[0]).conversation.as_str(), conversation, "{forged}");
    }
}

async fn a_mail_that_fails_dmarc_joins_nothing_by_any_way(app: TestApp) {
    let (message, conversation) = sent(&app).await;
    let secret = secret(&app).await;
    let reply = mail::reply_address(&secret, "support@acme.example", &conversation).unwrap();
    let header_id = app.header_id(&message).await;
    app.outside.authenticator.says(Dmarc::Fail);
    let fields = format!("Message-ID: <forged@x.example>\r\nIn-Reply-To: <{header_id}>\r\n");
    let mail = raw_with(&fields, "ann@x.example", "Re: Lamp", "text");
    let taken = app.ingest(&[&reply], &mail).await;
    assert_ne!(filed_mail(&taken[0]).conversation.as_str(), conversation);
}

async fn a_signed_message_id_leads_a_participant_back_and_no_stranger(app: TestApp) {
    let (message, conversation) = sent(&app).await;
    let id = mail::signed_message_id(&secret(&app).await, &message, "relay.example");
    let naming = |from: &str, place: &str| {
        let fields = format!("Message-ID: <{place}@x.example>\r\nReferences: <a@b> <{id}>\r\n");
        raw_with(&fields, from, place, "text")
    };
    let joined = app.arrives(&naming("ann@x.example", "joined")).await;
    assert_eq!(joined.conversation.as_str(), conversation);
    let stranger = app.arrives(&naming("eve@evil.example", "stranger")).await;
    assert_ne!(stranger.conversation.as_str(), conversation);
}

async fn a_reply_address_of_another_inbox_does_not_lead_into_it(app: TestApp) {
    let (_, conversation) = sent(&app).await;
    let secret = secret(&app).await;
    app.team_inbox("sales@acme.example", "Sales").await;
    let reply = mail::reply_address(&secret, "sales@acme.example", &conversation).unwrap();
    let taken = app.ingest(&[&reply], &raw("ann@x.example", "Hello there", "text")).await;
    assert_ne!(filed_mail(&taken[0]).conversation.as_str(), conversation);
}
