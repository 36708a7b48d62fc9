//! Structs that are read from the columns they name.

use db::{Json, Store, StoreError};

use crate::harness::Database;

on_both! {
    a_row_is_read_from_the_columns_that_its_fields_name,
    json_that_cannot_be_read_is_an_error_that_names_the_field,
}

db::row! {
    #[derive(Debug, PartialEq)]
    struct Listed from "s" {
        words: Json<Vec<String>>,
        whole: i64,
        is_empty: bool = "s.bytes IS NULL",
        text: Option<String> = "nullif(s.words, '[]')",
    } later {
        others: Vec<i64>,
    }
}

async fn a_row_is_read_from_the_columns_that_its_fields_name(db: &Database) {
    let store = db.open();
    assert_eq!(Listed::COLUMNS, "s.words, s.whole, s.bytes IS NULL, nullif(s.words, '[]')");
    write(&store, Json(["a", "b"])).await;
    let words = Json(vec!["a".to_owned(), "b".to_owned()]);
    let text = Some(r#"["a","b"]"#.to_owned());
    let expected = Listed { words, whole: 7, is_empty: true, text, others: Vec::new() };
    assert_eq!(read(&store).await.unwrap(), expected);
}

async fn json_that_cannot_be_read_is_an_error_that_names_the_field(db: &Database) {
    let store = db.open();
    write(&store, r#"{"a":1}"#).await;
    let error = read(&store).await.unwrap_err();
    assert_eq!(error.to_string(), "Listed.words: expected JSON of its type, found text");
}

async fn write(store: &Store, words: impl db::Arg + Send + 'static) {
    let insert = "INSERT INTO samples (id, whole, words) VALUES (1, 7, ?1)";
    let written: Result<u64, StoreError> = store.write(move |tx| tx.exec(insert, &[&words])).await;
    written.unwrap();
}

async fn read(store: &Store) -> Result<Listed, StoreError> {
    let sql = format!("SELECT {} FROM samples s", Listed::COLUMNS);
    store.read(move |tx| tx.one(&sql, &[])).await
}
