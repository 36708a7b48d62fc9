//! Mail of the past, which many mails at once are of.

use base::concurrency::queue::Queue;
use inbound::find_inbox;
use inbound::history::{ImportOutcome, ImportTarget, ImportedMail, import};
use testing::{TestApp, on_both};

on_both!(a_batch_is_filed_in_short_transactions_between_which_others_can_write);

/// More than any machine files in a tenth of a second.
const MAILS: usize = 500;

async fn a_batch_is_filed_in_short_transactions_between_which_others_can_write(app: TestApp) {
    let address = app.support.address.to_string();
    let found = app.app.store.read(move |tx| find_inbox(tx, &address)).await.unwrap();
    let target = ImportTarget { inbox: found.unwrap(), own: Default::default() };
    let mails = (0..MAILS).map(|number| {
        let raw = format!(
            "Message-ID: <{number}@x.example>\r\nFrom: p{number}@x.example\r\n\
             To: support@acme.example\r\nSubject: Lamp {number}\r\n\
             Date: Sun, 1 Nov 2020 09:00:00 +0000\r\n\r\nIs lamp {number} on its way?\r\n"
        );
        ImportedMail { raw: raw.into_bytes(), taken_at: None }
    });
    let mut wakes = app.app.store.wakes();
    let outcomes = import(&app.app, &target, mails.collect()).await.unwrap();
    let is_filed = |outcome: &ImportOutcome| matches!(outcome, ImportOutcome::Filed { .. });
    assert_eq!(outcomes.iter().filter(|outcome| is_filed(outcome)).count(), MAILS);
    assert_eq!(app.count("messages").await, MAILS as i64);
    let commits = std::iter::from_fn(|| wakes.try_recv().ok());
    let commits = commits.filter(|queue| queue == Queue::Pages.as_str()).count();
    assert!(commits > 1, "everything was filed in {commits} transaction");
}
