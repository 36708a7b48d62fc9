//! Values that a column holds as JSON.

use std::ops::{Deref, DerefMut};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Arg, Column, FromColumn, Value};

/// A value that a TEXT column holds as JSON. Text that is not JSON of this shape is an error, as is
/// a null: where a column may be empty, read an `Option`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Json<T>(pub T);

impl<T> Deref for Json<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Json<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: DeserializeOwned> FromColumn for Json<T> {
    const WANTED: &'static str = "JSON of its type";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => serde_json::from_str(text).ok().map(Json),
            _ => None,
        }
    }
}

/// A value that JSON cannot hold, such as a map with keys that are no text, is a programmer's error.
impl<T: Serialize> Arg for Json<T> {
    fn value(&self) -> Value<'_> {
        Value::Made(serde_json::to_string(&self.0).expect("the value can be JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_as_its_type_and_nothing_else_is() {
        let read = |text| Json::<Vec<String>>::from_column(Column::Text(text)).map(|json| json.0);
        assert_eq!(read(r#"["a","b"]"#), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(read("[]"), Some(Vec::new()));
        for unreadable in ["", "null", "{}", "[1]", r#"["a""#, "words"] {
            assert_eq!(read(unreadable), None, "{unreadable:?}");
        }
        assert!(Json::<Vec<String>>::from_column(Column::Null).is_none());
    }

    #[test]
    fn json_is_an_argument_as_text() {
        let words = ["a", "b"];
        assert_eq!(Json(&words[..]).value(), Value::Made(r#"["a","b"]"#.into()));
    }
}
