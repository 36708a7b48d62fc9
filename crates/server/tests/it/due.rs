//! What falls due, on the way of time (API section 3.3).

use inbox::due::Outcome;
use serde_json::json;

use crate::both;
use crate::support::*;

both! {
    async fn a_sent_reply_leaves_after_ten_minutes_and_it_is_the_customers_turn(app) {
        let key = app.key("send").await;
        let mail = app.mail("mara@customer.example Mara", "Lamp", "Where is it?").await;
        let message = app.schedule(&key, &mail.conversation, "It left on Tuesday.").await;
        app.pass(10 * MINUTE - 1).await;
        assert!(app.outside.relay.tries().is_empty());
        app.pass(1).await;
        let sent = app.outside.relay.tries();
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].recipients, ["mara@customer.example"]);
        assert_eq!(sent[0].message_id, app.header_id(&message).await);
        let read = app.read(&key, &mail.conversation).await;
        assert_eq!(read["status"], "waiting");
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        assert_eq!(messages[1]["status"], "sent");
        assert_eq!(app.event_types().await, ["turn.changed", "turn.changed", "message.sent"]);
    }

    async fn a_temporary_refusal_is_tried_again_with_the_same_message_id_for_two_days(app) {
        let key = app.key("send").await;
        let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
        app.schedule(&key, &mail.conversation, "It left.").await;
        app.outside.relay.will_say(&vec![Outcome::Later("busy".into()); 100]);
        app.pass(10 * MINUTE).await;
        assert_eq!(app.outside.relay.tries().len(), 1);
        for (wait, tries) in [(1, 2), (5, 3), (15, 4), (60, 5), (240, 6), (240, 7)] {
            app.pass(wait * MINUTE - 1).await;
            assert_eq!(app.outside.relay.tries().len(), tries - 1, "before {wait} minutes");
            app.pass(1).await;
            assert_eq!(app.outside.relay.tries().len(), tries, "after {wait} minutes");
            let messages = app.timeline(&key, &mail.conversation, "message").await;
            assert_eq!(messages[1]["status"], "sending");
        }
        app.pass(3 * DAY).await;
        let tries = app.outside.relay.tries();
        assert!((15..20).contains(&tries.len()), "{}", tries.len());
        assert!(tries.iter().all(|parcel| parcel.message_id == tries[0].message_id));
        assert!(tries.iter().all(|parcel| parcel.bytes == tries[0].bytes));
        let messages = app.timeline(&key, &mail.conversation, "message").await;
        assert_eq!(messages[1]["status"], "failed");
        assert!(!app.event_types().await.contains(&"message.sent".to_owned()));
    }

    async fn a_snooze_ends_by_the_clock(app) {
        let key = app.key("read").await;
        let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
        app.snooze(&app.owner, &mail.conversation, app.now() + HOUR).await;
        app.pass(HOUR - 1).await;
        assert_eq!(app.list(&key, "view=open").await.len(), 0);
        app.pass(1).await;
        assert_eq!(app.list(&key, "view=open").await.len(), 1);
        let happened = app.happenings(&key, &mail.conversation).await;
        assert_eq!(happened.last().unwrap(), &("woke".to_owned(), json!({ "by": "clock" })));
    }
}
