//! The answers of one read's statements. Its snapshot does not change, so a statement that is repeated has
//! the same answer, and the server need not be asked again.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_postgres::Row;

use crate::{Arg, Value};

/// Statements whose answers are kept.
const KEPT: usize = 128;
/// Bytes of an answer that is kept. What returns more is hardly asked twice.
const KEPT_BYTES: usize = 32 * 1024;

#[derive(Default)]
pub(crate) struct RepeatedReads(HashMap<Vec<u8>, Arc<Vec<Row>>>);

impl RepeatedReads {
    pub(crate) fn get(&self, key: &[u8]) -> Option<Arc<Vec<Row>>> {
        self.0.get(key).cloned()
    }

    pub(crate) fn keep(&mut self, key: Vec<u8>, rows: &Arc<Vec<Row>>) {
        let bytes = || rows.iter().map(Row::raw_size_bytes).sum::<usize>();
        if self.0.len() < KEPT && bytes() <= KEPT_BYTES {
            self.0.insert(key, rows.clone());
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A statement with its arguments. Each is led by its kind and, where it varies, its length, so that
/// different ones differ.
pub(crate) fn key_of(sql: &str, args: &[&dyn Arg]) -> Vec<u8> {
    let mut key = Vec::with_capacity(sql.len() + 32 * args.len());
    add(&mut key, b's', sql.as_bytes());
    for arg in args {
        match arg.value() {
            Value::Null => add(&mut key, b'n', &[]),
            Value::Int(number) => add(&mut key, b'i', &number.to_le_bytes()),
            Value::Bool(truth) => add(&mut key, b'b', &[u8::from(truth)]),
            Value::Real(number) => add(&mut key, b'r', &number.to_le_bytes()),
            Value::Text(text) => add(&mut key, b't', text.as_bytes()),
            Value::Made(text) => add(&mut key, b't', text.as_bytes()),
            Value::Bytes(bytes) => add(&mut key, b'y', bytes),
            Value::Kept(bytes) => add(&mut key, b'y', &bytes),
        }
    }
    key
}

fn add(key: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    key.push(kind);
    key.extend_from_slice(&bytes.len().to_le_bytes());
    key.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_statements_differ() {
        let keys = [
            key_of("SELECT ?1", &[&1]),
            key_of("SELECT ?1", &[&"1"]),
            key_of("SELECT ?1", &[&None::<i64>]),
            key_of("SELECT ?1, ?2", &[&"a", &"bc"]),
            key_of("SELECT ?1, ?2", &[&"ab", &"c"]),
            key_of("SELECT 1", &[]),
        ];
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[..place].contains(key), "{place}");
        }
        assert_eq!(key_of("SELECT ?1", &[&1]), keys[0]);
    }
}
