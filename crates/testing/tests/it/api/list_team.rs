//! `GET /team`: who works here, and what each looks after.

use actions::people::profile;
use serde_json::{Value, json};
use testing::{TestApp, on_both, texts};

on_both!(
    people_are_listed_with_roles_and_duties_and_their_ids_can_be_assigned,
    a_test_key_sees_no_people,
    a_duty_is_one_short_line
);

async fn people_are_listed_with_roles_and_duties_and_their_ids_can_be_assigned(app: TestApp) {
    let key = app.key("write").await;
    app.person("Ann").await;
    app.act(&app.owner, |tx, cx| profile::set_duty(tx, cx, " Refunds, mornings ")).await;
    let team = app.get(&key, "/team").await.is(200).json();
    let people = team["people"].as_array().unwrap();
    assert_eq!(texts(people, "name"), ["Ann Teammate", "Olive Owner"]);
    assert_eq!(texts(people, "role"), ["member", "owner"]);
    assert_eq!(people[0]["duty"], Value::Null);
    assert_eq!(people[1]["duty"], "Refunds, mornings");
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let to = json!({ "to": people[1]["id"] });
    let answer = app.on(&key, &mail.conversation, "assign", to).await.is(200).json();
    assert_eq!(answer["assignee"]["name"], "Olive Owner");
    let to = json!({ "to": team["agents"][0]["id"] });
    app.on(&key, &mail.conversation, "assign", to).await.is(200);
}

async fn a_test_key_sees_no_people(app: TestApp) {
    let key = app.test_key("read").await;
    let team = app.get(&key, "/team").await.is(200).json();
    assert_eq!(team["people"], json!([]));
    assert_eq!(team["agents"].as_array().unwrap().len(), 1);
}

async fn a_duty_is_one_short_line(app: TestApp) {
    for bad in ["two\nlines".to_owned(), "x".repeat(121)] {
        let refused = app.app.act(&app.owner, move |tx, cx| profile::set_duty(tx, cx, &bad)).await;
        assert!(refused.unwrap_err().to_string().starts_with("duty: must be one line"));
    }
    app.act(&app.owner, |tx, cx| profile::set_duty(tx, cx, &"x".repeat(120))).await;
    app.act(&app.owner, |tx, cx| profile::set_duty(tx, cx, "")).await;
    assert_eq!(app.act(&app.owner, profile::own_duty).await, "");
}
