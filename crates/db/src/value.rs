//! Values into and out of statements, and rows.

use std::borrow::Cow;
use std::error::Error as StdError;

use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};

use crate::StoreError;

/// An argument of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Real(f64),
    Text(&'a str),
    /// Text that was made for the statement.
    Made(String),
    Bytes(&'a [u8]),
    /// Bytes that outlive what they were read from.
    Kept(Vec<u8>),
}

impl Value<'_> {
    /// The same, for as long as it is needed.
    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(n) => Value::Int(n),
            Value::Bool(b) => Value::Bool(b),
            Value::Real(x) => Value::Real(x),
            Value::Text(text) => Value::Made(text.to_owned()),
            Value::Made(text) => Value::Made(text),
            Value::Bytes(bytes) => Value::Kept(bytes.to_owned()),
            Value::Kept(bytes) => Value::Kept(bytes),
        }
    }
}

/// A value that can be bound to a `?n` of a statement.
pub trait Arg {
    fn value(&self) -> Value<'_>;

    /// The other values of an argument that is a list: `IN (?1)` then means any of them.
    fn others(&self) -> Vec<Value<'_>> {
        Vec::new()
    }
}

impl Arg for Value<'_> {
    fn value(&self) -> Value<'_> {
        self.clone()
    }
}

impl Arg for i64 {
    fn value(&self) -> Value<'_> {
        Value::Int(*self)
    }
}

impl Arg for bool {
    fn value(&self) -> Value<'_> {
        Value::Bool(*self)
    }
}

impl Arg for f64 {
    fn value(&self) -> Value<'_> {
        Value::Real(*self)
    }
}

impl Arg for str {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Arg for String {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Arg for Cow<'_, str> {
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Arg for [u8] {
    fn value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl Arg for Vec<u8> {
    fn value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl<T: Arg> Arg for Option<T> {
    fn value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, Arg::value)
    }
}

impl<T: Arg + ?Sized> Arg for &T {
    fn value(&self) -> Value<'_> {
        (**self).value()
    }

    fn others(&self) -> Vec<Value<'_>> {
        (**self).others()
    }
}

/// A column value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Column<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Column::Null => "null",
            Column::Int(_) => "a whole number",
            Column::Bool(_) => "a boolean",
            Column::Real(_) => "a number",
            Column::Text(_) => "text",
            Column::Bytes(_) => "bytes",
        }
    }
}

/// A type that one column can be read as.
pub trait FromColumn: Sized {
    const WANTED: &'static str;
    /// `None` when the column holds something else.
    fn from_column(column: Column<'_>) -> Option<Self>;
}

impl FromColumn for i64 {
    const WANTED: &'static str = "a whole number";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Int(n) => Some(n),
            _ => None,
        }
    }
}

impl FromColumn for u16 {
    const WANTED: &'static str = "a whole number from 0 to 65535";
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).and_then(|number| number.try_into().ok())
    }
}

impl FromColumn for bool {
    const WANTED: &'static str = "a boolean";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Bool(b) => Some(b),
            Column::Int(n) => Some(n != 0),
            _ => None,
        }
    }
}

impl FromColumn for f64 {
    const WANTED: &'static str = "a number";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Real(x) => Some(x),
            _ => None,
        }
    }
}

impl FromColumn for String {
    const WANTED: &'static str = "text";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(s) => Some(s.to_owned()),
            _ => None,
        }
    }
}

impl FromColumn for Vec<u8> {
    const WANTED: &'static str = "bytes";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Bytes(b) => Some(b.to_owned()),
            _ => None,
        }
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    const WANTED: &'static str = T::WANTED;
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Null => Some(None),
            column => T::from_column(column).map(Some),
        }
    }
}

/// One row, read from its first column to its last.
pub struct Row<'a> {
    inner: Inner<'a>,
    index: usize,
}

#[derive(Clone, Copy)]
enum Inner<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Row<'a> {
    pub(crate) fn sqlite(row: &'a rusqlite::Row<'a>) -> Self {
        Row { inner: Inner::Sqlite(row), index: 0 }
    }

    pub(crate) fn postgres(row: &'a tokio_postgres::Row) -> Self {
        Row { inner: Inner::Postgres(row), index: 0 }
    }

    /// The same row, read from its first column again.
    pub fn rewound(&self) -> Row<'a> {
        Row { inner: self.inner, index: 0 }
    }

    /// The next column's text or bytes as they lie in the row, neither copied nor checked.
    pub fn take_bytes(&mut self) -> Result<&'a [u8], StoreError> {
        let index = self.index;
        self.index += 1;
        let column = match &self.inner {
            Inner::Sqlite(row) => match row.get_ref(index)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => return Ok(bytes),
                _ => Column::Null,
            },
            Inner::Postgres(row) => row.try_get(index)?,
        };
        match column {
            Column::Text(text) => Ok(text.as_bytes()),
            Column::Bytes(bytes) => Ok(bytes),
            other => {
                Err(StoreError::Column { index, wanted: "text or bytes", found: other.kind() })
            }
        }
    }

    /// The next column, whatever it holds.
    pub fn take_column(&mut self) -> Result<Column<'a>, StoreError> {
        let index = self.index;
        self.index += 1;
        Ok(match &self.inner {
            Inner::Sqlite(row) => match row.get_ref(index)? {
                ValueRef::Null => Column::Null,
                ValueRef::Integer(n) => Column::Int(n),
                ValueRef::Real(x) => Column::Real(x),
                ValueRef::Text(text) => Column::Text(std::str::from_utf8(text).map_err(|_| {
                    StoreError::Column { index, wanted: "UTF-8 text", found: "other bytes" }
                })?),
                ValueRef::Blob(bytes) => Column::Bytes(bytes),
            },
            Inner::Postgres(row) => row.try_get(index)?,
        })
    }

    /// The next column, in the order the statement names them.
    pub fn take<T: FromColumn>(&mut self) -> Result<T, StoreError> {
        let index = self.index;
        let column = self.take_column()?;
        let found = column.kind();
        T::from_column(column).ok_or(StoreError::Column { index, wanted: T::WANTED, found })
    }

    /// The next column, for a field of a struct that errors name.
    pub fn take_field<T: FromColumn>(&mut self, field: &'static str) -> Result<T, StoreError> {
        self.take().map_err(|error| error.of_field(field))
    }
}

/// A type that a whole row can be read as.
pub trait FromRow: Sized {
    fn from_row(row: &mut Row<'_>) -> Result<Self, StoreError>;
}

macro_rules! tuple_rows {
    ($($name:ident)+) => {
        impl<$($name: FromColumn),+> FromRow for ($($name,)+) {
            fn from_row(row: &mut Row<'_>) -> Result<Self, StoreError> {
                Ok(($(row.take::<$name>()?,)+))
            }
        }
    };
}

tuple_rows!(A);
tuple_rows!(A B);
tuple_rows!(A B C);
tuple_rows!(A B C D);
tuple_rows!(A B C D E);
tuple_rows!(A B C D E F);
tuple_rows!(A B C D E F G);
tuple_rows!(A B C D E F G H);

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(n) => ValueRef::Integer(*n),
            Value::Bool(b) => ValueRef::Integer(i64::from(*b)),
            Value::Real(x) => ValueRef::Real(*x),
            Value::Text(s) => ValueRef::Text(s.as_bytes()),
            Value::Made(s) => ValueRef::Text(s.as_bytes()),
            Value::Bytes(b) => ValueRef::Blob(b),
            Value::Kept(b) => ValueRef::Blob(b),
        }))
    }
}

type AnyError = Box<dyn StdError + Sync + Send>;

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, AnyError> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(n) if *ty == Type::INT4 => i32::try_from(*n)?.to_sql(ty, out),
            Value::Int(n) => n.to_sql(ty, out),
            Value::Bool(b) => b.to_sql(ty, out),
            Value::Real(x) => x.to_sql(ty, out),
            Value::Text(s) => s.to_sql(ty, out),
            Value::Made(s) => s.to_sql(ty, out),
            Value::Bytes(b) => b.to_sql(ty, out),
            Value::Kept(b) => b.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, AnyError> {
        let fits = match self {
            Value::Null => true,
            Value::Int(_) => matches!(*ty, Type::INT8 | Type::INT4),
            Value::Bool(_) => *ty == Type::BOOL,
            Value::Real(_) => *ty == Type::FLOAT8,
            Value::Text(_) | Value::Made(_) => <&str as ToSql>::accepts(ty),
            Value::Bytes(_) | Value::Kept(_) => *ty == Type::BYTEA,
        };
        match fits {
            true => self.to_sql(ty, out),
            false => Err(format!("a parameter does not fit the type {ty}").into()),
        }
    }
}

impl<'a> FromSql<'a> for Column<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, AnyError> {
        Ok(match *ty {
            Type::INT8 => Column::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Column::Int(i32::from_sql(ty, raw)?.into()),
            Type::BOOL => Column::Bool(bool::from_sql(ty, raw)?),
            Type::FLOAT8 => Column::Real(f64::from_sql(ty, raw)?),
            Type::BYTEA => Column::Bytes(raw),
            _ => Column::Text(<&str>::from_sql(ty, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, AnyError> {
        Ok(Column::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(*ty, Type::INT8 | Type::INT4 | Type::BOOL | Type::FLOAT8 | Type::BYTEA)
            || <&str as FromSql>::accepts(ty)
    }
}
