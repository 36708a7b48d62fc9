//! A field with its value, and a change of one.

use crate::fields::typed_value::FieldValue;
use crate::fields::{CustomField, FieldKind};

db::row! {
    /// A value with the kind of its field.
    pub(super) struct StoredValue from "v" {
        field: String,
        kind: FieldKind = "f.kind",
        value: String,
        number: Option<i64>,
    }
}

/// A field that has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldEntry {
    pub key: String,
    pub kind: FieldKind,
    pub value: FieldValue,
}

impl From<StoredValue> for FieldEntry {
    fn from(stored: StoredValue) -> FieldEntry {
        let value = FieldValue { text: stored.value, number: stored.number };
        FieldEntry { key: stored.field, kind: stored.kind, value }
    }
}

/// What becomes of a field: another value, or none.
pub(super) struct FieldChange {
    pub(super) field: CustomField,
    pub(super) to: Option<FieldValue>,
}
