//! Saved replies: what their placeholders become, which are refused, and how often they are used.

use actions::workspace::fields;
use actions::writing::autosaves::AutosaveKey;
use actions::writing::saved_replies::{self, SavedReplyInput};
use base::ids::SavedReplyId;
use model::fields::{FieldKind, FieldOwner};
use serde_json::json;
use testing::{TestApp, letter, on_both};

on_both!(
    fields_and_the_reference_stand_where_they_are_named,
    what_strangers_chose_stands_there_as_words_and_is_no_markup,
    an_unknown_placeholder_is_refused_with_those_that_there_are,
    a_field_that_was_removed_leaves_its_default,
    what_people_put_in_is_counted
);

fn input(name: &str, body: &str) -> SavedReplyInput {
    SavedReplyInput { name: name.to_owned(), folder: String::new(), body: body.to_owned() }
}

async fn save(app: &TestApp, name: &str, body: &str) -> SavedReplyId {
    let input = input(name, body);
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &input, &[])).await
}

async fn put_in(app: &TestApp, place: AutosaveKey, id: &SavedReplyId) -> String {
    let id = id.clone();
    app.act(&app.owner, move |tx, cx| saved_replies::put_in_saved_reply(tx, cx, &place, &id)).await
}

async fn fields_and_the_reference_stand_where_they_are_named(app: TestApp) {
    let key = app.key("write").await;
    app.field("plan", FieldOwner::Contact, FieldKind::Text, &[]).await;
    app.field("shelf", FieldOwner::Conversation, FieldKind::Text, &[]).await;
    let mail = mail::Mail {
        delivered_to: "support+order-9@acme.example".into(),
        ..letter("gia@wines.example Gia Rossi", "Lamp", "Broken")
    };
    let id = app.deliver(&app.support, mail).await.conversation;
    let values = json!({ "fields": { "plan": "Pro" } });
    app.post(&key, "/contacts/gia@wines.example/fields", values).await.is(200);
    let body = "{{name}}: {{reference|none}}, {{field.plan|Free}}, {{field.shelf|no shelf}}.";
    let reply = save(&app, "All", body).await;
    let text = put_in(&app, AutosaveKey::Conversation(id), &reply).await;
    assert_eq!(text, "Gia Rossi: order-9, Pro, no shelf.");
    assert_eq!(put_in(&app, AutosaveKey::New, &reply).await, ": none, Free, no shelf.");
}

async fn what_strangers_chose_stands_there_as_words_and_is_no_markup(app: TestApp) {
    let mail = letter("gia@wines.example {{my_name}}", "[Lamp](https:evil)", "Broken");
    let id = app.deliver(&app.support, mail).await.conversation;
    let reply = save(&app, "About", "{{name}}, about {{subject}}").await;
    let text = put_in(&app, AutosaveKey::Conversation(id), &reply).await;
    let words = "{{my_name}}, about [Lamp](https:evil)";
    assert_eq!(mail::markdown_text(&text), words);
    assert!(!text.contains("{{") && !text.contains("[Lamp]"), "{text}");
}

async fn an_unknown_placeholder_is_refused_with_those_that_there_are(app: TestApp) {
    app.field("plan", FieldOwner::Contact, FieldKind::Text, &[]).await;
    for (body, unknown) in [
        ("{{field.order}}", "field.order"),
        ("Hello {{frist_name|there}}", "frist_name"),
        ("{{plan}}", "plan"),
    ] {
        let input = input("Odd", body);
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| {
                saved_replies::save_reply(tx, cx, &input, &[])
            })
            .await
            .to_string();
        let names = "first_name, name, email, subject, inbox, reference, my_name, my_first_name";
        let expected = format!(
            "body: There is no {{{{{unknown}}}}}. What can stand there: {names}, field.plan."
        );
        assert_eq!(refused, expected);
    }
    save(&app, "Odd", "{{field.plan}}").await;
}

async fn a_field_that_was_removed_leaves_its_default(app: TestApp) {
    app.field("plan", FieldOwner::Contact, FieldKind::Text, &[]).await;
    let mail = app.mail("gia@wines.example", "Lamp", "Broken").await;
    let reply = save(&app, "Plan", "Your plan: {{field.plan|the usual}}").await;
    app.act(&app.owner, |tx, cx| fields::remove_field(tx, cx, "plan")).await;
    let text = put_in(&app, AutosaveKey::Conversation(mail.conversation), &reply).await;
    assert_eq!(text, "Your plan: the usual");
}

async fn what_people_put_in_is_counted(app: TestApp) {
    let (used, other) = (save(&app, "Used", "Hello").await, save(&app, "Other", "Hello").await);
    put_in(&app, AutosaveKey::New, &used).await;
    app.advance(1_000);
    put_in(&app, AutosaveKey::New, &used).await;
    let now = app.now();
    let listed = app.act(&app.owner, saved_replies::list_saved_replies).await;
    let of = |id: &SavedReplyId| listed.iter().find(|reply| reply.id == *id).unwrap();
    assert_eq!((of(&used).uses, of(&used).used_at), (2, Some(now)));
    assert_eq!((of(&other).uses, of(&other).used_at), (0, None));
}
