//! A message to several recipients: who has it does not get it again.

use actions::writing::compose::NewReply;
use base::limits::UNDO_PEOPLE_SECONDS;
use model::messages::recipients::{Party, RecipientList};
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;
use serde_json::json;

use super::*;
use crate::support::*;

on_both!(
    only_those_who_were_put_off_are_tried_again,
    a_letter_is_sent_when_somebody_it_is_for_has_it_and_failed_otherwise,
    after_two_days_those_still_put_off_are_given_up,
    who_has_it_when_the_power_fails_does_not_get_it_again,
    a_letter_that_everybody_has_when_the_power_fails_is_sent
);

/// A letter to Mara, with Bo and Cy in copy, on its way out.
async fn letter_to_three(app: &TestApp) -> String {
    let party = |name: &str| Party { name: None, email: format!("{name}@customer.example") };
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    let (id, to, cc) = (mail.conversation.to_string(), party("mara"), [party("bo"), party("cy")]);
    let conversation = id.clone();
    let letter = NewReply {
        body: "It left on Tuesday.".into(),
        recipients: RecipientList { to: vec![to], cc: cc.to_vec(), bcc: Vec::new() },
        format: TextFormat::Plain,
        close: false,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    };
    app.act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &conversation, &letter)).await;
    id
}

fn later() -> RelayOutcome {
    RelayOutcome::Later("busy".into())
}

fn never() -> RelayOutcome {
    RelayOutcome::Never("no".into())
}

async fn only_those_who_were_put_off_are_tried_again(app: TestApp) {
    let key = app.key("read").await;
    let id = letter_to_three(&app).await;
    // In the order of their addresses: Bo, Cy, Mara.
    app.outside.relay.will_say_of_each(&[RelayOutcome::Delivered, later(), later()]);
    app.outside.relay.will_say_of_each(&[never(), later()]);
    app.pass(UNDO_PEOPLE_SECONDS * SECOND).await;
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sending");
    app.pass(DAY).await;
    let attempts = app.outside.relay.attempts();
    let to: Vec<Vec<String>> = attempts.iter().map(|mail| mail.recipients.clone()).collect();
    assert_eq!(
        to,
        [
            vec!["bo@customer.example", "cy@customer.example", "mara@customer.example"],
            vec!["cy@customer.example", "mara@customer.example"],
            vec!["mara@customer.example"],
        ]
    );
    assert!(attempts.iter().all(|mail| mail.bytes == attempts[0].bytes), "the same mail");
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sent");
    let happened = app.timeline_events(&key, &id).await;
    let (name, data) = happened.iter().find(|(name, _)| name == "bounced").unwrap();
    assert_eq!((name.as_str(), &data["recipients"]), ("bounced", &json!(["cy@customer.example"])));
}

async fn a_letter_is_sent_when_somebody_it_is_for_has_it_and_failed_otherwise(app: TestApp) {
    let key = app.key("read").await;
    for (said, status) in [
        ([never(), never(), RelayOutcome::Delivered], "sent"),
        ([RelayOutcome::Delivered, RelayOutcome::Delivered, never()], "failed"),
        ([never(), never(), never()], "failed"),
    ] {
        let id = letter_to_three(&app).await;
        app.outside.relay.will_say_of_each(&said);
        app.pass(UNDO).await;
        let messages = app.timeline(&key, &id, "message").await;
        assert_eq!(messages.last().unwrap()["status"], status, "{said:?}");
    }
}

async fn after_two_days_those_still_put_off_are_given_up(app: TestApp) {
    let key = app.key("read").await;
    let id = letter_to_three(&app).await;
    app.outside.relay.will_say_of_each(&[later(), later(), RelayOutcome::Delivered]);
    app.outside.relay.will_say(&vec![later(); 100]);
    app.pass(3 * DAY).await;
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sent");
    let happened = app.timeline_events(&key, &id).await;
    let (_, data) = happened.iter().find(|(name, _)| name == "bounced").unwrap();
    assert_eq!(data["recipients"], json!(["bo@customer.example", "cy@customer.example"]));
}

async fn who_has_it_when_the_power_fails_does_not_get_it_again(app: TestApp) {
    let key = app.key("read").await;
    let id = letter_cut_short(&app).await;
    app.pass(UNDO).await;
    let attempts = app.outside.relay.attempts();
    let to: Vec<Vec<String>> = attempts.into_iter().map(|mail| mail.recipients).collect();
    assert_eq!(to, [["mara@customer.example"]]);
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sent");
}

async fn a_letter_that_everybody_has_when_the_power_fails_is_sent(app: TestApp) {
    let key = app.key("read").await;
    let id = letter_cut_short(&app).await;
    app.app.store.write(|tx| {
        let sql = "INSERT INTO recipient_outcomes (ws, message, email, refusal, at)
                   SELECT ws, message, 'mara@customer.example', NULL, at FROM recipient_outcomes LIMIT 1";
        tx.exec(sql, &[])
    }).await.unwrap();
    app.pass(UNDO).await;
    assert!(app.outside.relay.attempts().is_empty());
    assert_eq!(app.timeline(&key, &id, "message").await[1]["status"], "sent");
}

/// The same letter from a process that was killed when Bo and Cy had it, and Mara not yet.
async fn letter_cut_short(app: &TestApp) -> String {
    let id = letter_to_three(app).await;
    app.advance(UNDO);
    let doomed = app.another_process();
    doomed.outside.relay.hangs_for(&["mara@customer.example"]);
    doomed.work();
    eventually(async || settled(app).await == 2).await;
    doomed.kill();
    id
}

/// Recipients of whom it is written down what became of the mail for them.
async fn settled(app: &TestApp) -> i64 {
    let (count,): (i64,) = app
        .app
        .store
        .read(|tx| tx.one("SELECT count(*) FROM recipient_outcomes", &[]))
        .await
        .unwrap();
    count
}
