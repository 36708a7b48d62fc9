//! Values come back as they were written.

use db::{Store, StoreError};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::harness::{Database, hold};

on_both! {
    the_extremes_of_every_type_come_back_as_they_went_in,
    any_value_comes_back_as_it_went_in,
    null_comes_back_as_none_and_not_as_a_value,
    a_column_read_as_another_type_is_an_error_that_names_both,
    text_is_ordered_by_its_bytes,
    a_statement_with_too_few_arguments_is_refused,
    a_row_that_must_exist_and_does_not_is_an_error,
    the_count_of_touched_rows_is_told,
}

type Sample = (Option<i64>, Option<bool>, Option<f64>, Option<String>, Option<Vec<u8>>);

async fn the_extremes_of_every_type_come_back_as_they_went_in(db: &Database) {
    let store = db.open();
    let samples: [Sample; 5] = [
        (Some(i64::MIN), Some(false), Some(f64::MIN), Some(String::new()), Some(vec![])),
        (Some(i64::MAX), Some(true), Some(f64::MAX), Some("a\r\n\u{1}".into()), Some(vec![0])),
        (Some(0), Some(true), Some(f64::MIN_POSITIVE), Some("\u{10ffff}".into()), Some(vec![255])),
        (Some(-1), Some(false), Some(f64::INFINITY), Some("ß 漢 👋🏽".into()), Some(every_byte())),
        (Some(1), Some(false), Some(-0.5), Some("'; --?1 $1".into()), Some(vec![7; 1 << 20])),
    ];
    for sample in samples {
        assert_eq!(there_and_back(&store, &sample).await, sample);
    }
}

async fn any_value_comes_back_as_it_went_in(db: &Database) {
    let store = db.open();
    let reals = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
    // NUL never enters text: PostgreSQL cannot hold it.
    let words = any::<String>().prop_map(|text| text.replace('\0', ""));
    let bytes = prop::collection::vec(any::<u8>(), 0..300);
    let sample = (
        any::<Option<i64>>(),
        any::<Option<bool>>(),
        prop::option::of(reals),
        prop::option::of(words),
        prop::option::of(bytes),
    );
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let here = Handle::current();
    block_in_place(|| {
        TestRunner::new(config)
            .run(&sample, |sample| {
                let back = here.block_on(there_and_back(&store, &sample));
                prop_assert_eq!(back, sample);
                Ok(())
            })
            .unwrap();
    });
}

async fn null_comes_back_as_none_and_not_as_a_value(db: &Database) {
    let store = db.open();
    let nothing: Sample = (None, None, None, None, None);
    assert_eq!(there_and_back(&store, &nothing).await, nothing);

    let wrong = store.read(|tx| tx.one::<(i64,)>("SELECT whole FROM samples", &[])).await;
    let wrong = wrong.unwrap_err();
    assert!(matches!(wrong, StoreError::Column { index: 0, found: "null", .. }), "{wrong}");
}

async fn a_column_read_as_another_type_is_an_error_that_names_both(db: &Database) {
    let store = db.open();
    there_and_back(&store, &(Some(1), None, None, Some("x".into()), None)).await;
    let wrong =
        store.read(|tx| tx.one::<(i64, i64)>("SELECT whole, words FROM samples", &[])).await;
    let wrong = wrong.unwrap_err();
    assert_eq!(wrong.to_string(), "column 1: expected a whole number, found text");
}

async fn text_is_ordered_by_its_bytes(db: &Database) {
    let store = db.open();
    let order: Vec<(String,)> = store
        .write(|tx| {
            for name in ["é", "b", "Z", "a", "_", "10", "9"] {
                tx.exec("INSERT INTO counters (name, n) VALUES (?1, 0)", &[&name])?;
            }
            tx.all("SELECT name FROM counters ORDER BY name", &[])
        })
        .await
        .map_err(|error: StoreError| error)
        .unwrap();
    let order: Vec<&str> = order.iter().map(|(name,)| name.as_str()).collect();
    assert_eq!(order, ["10", "9", "Z", "_", "a", "b", "é"]);
}

#[test]
fn text_is_ordered_by_its_bytes_in_a_database_made_for_english() {
    let english = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'";
    hold(Database::postgres_with(english), text_is_ordered_by_its_bytes);
}

async fn a_statement_with_too_few_arguments_is_refused(db: &Database) {
    let store = db.open();
    let refused: Result<u64, StoreError> = store
        .write(|tx| tx.exec("INSERT INTO samples (id, whole) VALUES (?1, ?2)", &[&1_i64]))
        .await;
    assert!(refused.is_err(), "{refused:?}");
}

async fn a_row_that_must_exist_and_does_not_is_an_error(db: &Database) {
    let store = db.open();
    let none = store.read(|tx| tx.opt::<(i64,)>("SELECT n FROM numbers", &[])).await;
    assert_eq!(none.unwrap(), None);
    let error = store.read(|tx| tx.one::<(i64,)>("SELECT n FROM numbers", &[])).await;
    assert!(matches!(error, Err(StoreError::NoRow)), "{error:?}");
}

async fn the_count_of_touched_rows_is_told(db: &Database) {
    let store = db.open();
    let counts: Result<_, StoreError> = store
        .write(|tx| {
            let insert = "INSERT INTO numbers (n) VALUES (1), (2), (3)";
            let delete = "DELETE FROM numbers WHERE n > ?1";
            Ok((tx.exec(insert, &[])?, tx.exec(delete, &[&1_i64])?, tx.exec(delete, &[&1_i64])?))
        })
        .await;
    assert_eq!(counts.unwrap(), (3, 2, 0));
}

async fn there_and_back(store: &Store, sample: &Sample) -> Sample {
    let going = sample.clone();
    let written: Result<(), StoreError> = store
        .write(move |tx| {
            let (whole, yes, real, words, bytes) = &going;
            tx.exec("DELETE FROM samples", &[])?;
            tx.exec(
                "INSERT INTO samples (id, whole, yes, real, words, bytes)
                 VALUES (1, ?1, ?2, ?3, ?4, ?5)",
                &[whole, yes, real, words, bytes],
            )?;
            Ok(())
        })
        .await;
    written.unwrap();
    let back = store.read(|tx| tx.one("SELECT whole, yes, real, words, bytes FROM samples", &[]));
    back.await.map_err(|error: StoreError| error).unwrap()
}

fn every_byte() -> Vec<u8> {
    (0..=255).collect()
}
