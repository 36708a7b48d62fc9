//! What a row of a list says on request: longer snippets, and whether the contact is known.

use serde_json::{Value, json};
use testing::{TestApp, held_warning, letter, on_both};

on_both!(
    a_snippet_has_as_many_characters_as_are_asked_for,
    a_note_that_a_search_found_is_the_snippet,
    a_contact_is_known_whom_the_team_wrote_to_in_another_conversation_that_is_neither_held_nor_spam
);

async fn a_snippet_has_as_many_characters_as_are_asked_for(app: TestApp) {
    let key = app.key("read").await;
    let text = "word  ".repeat(100);
    app.mail("a@x.example", "Long", &text).await;
    app.mail("b@x.example", "Short", "Just this.").await;
    let folded = "word ".repeat(100);
    for (asked, chars) in [("", 140), ("snippet=20", 20), ("snippet=300", 300)] {
        let list = app.list(&key, asked).await;
        let long = list.iter().find(|row| row["subject"] == "Long").unwrap();
        assert_eq!(long["snippet"], folded[..chars], "{asked}");
        let short = list.iter().find(|row| row["subject"] == "Short").unwrap();
        assert_eq!(short["snippet"], "Just this.", "{asked}");
    }
    for wrong in ["snippet=0", "snippet=301", "snippet=x"] {
        app.get(&key, &format!("/conversations?{wrong}")).await.is(400);
    }
}

async fn a_note_that_a_search_found_is_the_snippet(app: TestApp) {
    let key = app.key("read write").await;
    let id = app.mail("a@x.example", "Lamp", "Where is it?").await.conversation;
    let note = json!({ "body": "Her shade is the amber one, says Jonas." });
    app.on(&key, &id, "notes", note).await.is(201);
    let snippet = async |query: &str| app.list(&key, query).await[0]["snippet"].clone();
    let found = snippet("q=amber").await;
    assert_eq!(found, "Note by Robo: Her shade is the amber one, says Jonas.");
    assert_eq!(snippet("q=where").await, "Where is it?");
    assert_eq!(snippet("").await, "Where is it?");
}

async fn a_contact_is_known_whom_the_team_wrote_to_in_another_conversation_that_is_neither_held_nor_spam(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let mut scam = letter("a@x.example", "Held", "Pay");
    scam.warning = held_warning();
    app.deliver(&app.support, scam).await;
    let first = app.mail("a@x.example", "First", "1").await;
    let known = async |subject: &str| -> Value {
        let list = app.list(&key, "view=all").await;
        let row = list.iter().find(|row| row["subject"] == subject).unwrap();
        row["contact"]["known"].clone()
    };
    app.send_reply(&key, &first.conversation, "Hello").await;
    assert_eq!(known("First").await, false);
    assert_eq!(app.read(&key, &first.conversation).await["contact"]["known"], false);
    let second = app.mail("a@x.example", "Second", "2").await;
    assert_eq!((known("First").await, known("Second").await), (json!(true), json!(true)));
    assert_eq!(app.read(&key, &second.conversation).await["contact"]["known"], true);
    // Somebody else's private mail makes nobody known to the team.
    let ann = app.person("Ann").await;
    let inbox = app.private_inbox(&ann).await;
    app.deliver(&inbox, letter("b@x.example", "Private", "3")).await;
    app.mail("b@x.example", "To the team", "4").await;
    assert_eq!(known("To the team").await, false);
}
