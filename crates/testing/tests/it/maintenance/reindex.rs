//! The search index, written anew from the messages and documents.

use db::{StoreError, Tx};
use maintenance::{check, reindex};
use testing::{TestApp, on_both};

on_both!(
    an_index_that_is_built_at_once_finds_the_same,
    an_index_of_words_that_was_lost_is_created_again
);

async fn an_index_that_is_built_at_once_finds_the_same(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "The first has apples").await;
    app.mail("a@x.example", "Re: Lamp", "The second has pears").await;
    app.mail("b@x.example", "Shade", "The third has apples").await;
    let before =
        (app.search_subjects(&key, "apples").await, app.search_subjects(&key, "appl pea").await);
    let counts = reindex::build_index(&app.app.store, |_| {}).await.unwrap();
    assert_eq!(counts.items, 3);
    assert_eq!(
        (app.search_subjects(&key, "apples").await, app.search_subjects(&key, "appl pea").await),
        before
    );
    assert_eq!(before.0.len(), 2);
    assert_eq!(app.app.store.read(word_indexes).await.unwrap(), WORD_INDEXES);
}

async fn an_index_of_words_that_was_lost_is_created_again(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "The first has apples").await;
    let lose = |tx: &mut Tx<'_>| match tx.pick(true, false) {
        true => Ok(0),
        false => tx.exec("DROP INDEX mail_words_by_word", &[]),
    };
    app.app.store.write(lose).await.unwrap();
    let report = check::check(&app.app.store, &app.app.blobs).await.unwrap();
    let lost = report.findings.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>();
    assert_eq!(lost, if app.app.store.is_shared() { vec!["mail_words_by_word"] } else { vec![] });
    reindex::rebuild_index(&app.app.store, |_| {}).await.unwrap();
    assert_eq!(app.search_subjects(&key, "apples").await, ["Lamp"]);
    assert_eq!(app.app.store.read(word_indexes).await.unwrap(), WORD_INDEXES);
}

const WORD_INDEXES: [&str; 2] = ["document_words_by_word", "mail_words_by_word"];

/// PostgreSQL's indexes of words; SQLite's index is one itself.
fn word_indexes(tx: &mut Tx<'_>) -> Result<Vec<String>, StoreError> {
    let names: Vec<(String,)> = match tx.pick(true, false) {
        true => return Ok(WORD_INDEXES.map(str::to_owned).into()),
        false => tx.all(
            "SELECT CAST(indexname AS TEXT) FROM pg_indexes
             WHERE schemaname = current_schema() AND indexdef LIKE '%USING gin (words)%'
             ORDER BY indexname",
            &[],
        )?,
    };
    Ok(names.into_iter().map(|(name,)| name).collect())
}
