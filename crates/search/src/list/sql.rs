//! Builds the SQL of a list's conditions with its arguments.

use base::error::Result;
use db::{Arg, FromRow, Tx, Value};

/// The arguments of a statement whose conditions depend on the filter.
#[derive(Default)]
pub(super) struct Sql(Vec<Bound>);

enum Bound {
    Int(i64),
    Text(String),
}

impl Arg for Bound {
    fn value(&self) -> Value<'_> {
        match self {
            Bound::Int(number) => Value::Int(*number),
            Bound::Text(text) => Value::Text(text),
        }
    }
}

impl Sql {
    pub(super) fn int(&mut self, number: i64) -> String {
        self.bind(Bound::Int(number))
    }

    pub(super) fn text(&mut self, text: &str) -> String {
        self.bind(Bound::Text(text.to_owned()))
    }

    /// As many arguments as `width` for any number of values up to it, so that lists of every
    /// length share one statement.
    pub(super) fn ints(&mut self, numbers: &[i64], width: usize) -> String {
        let filled = numbers.iter().chain(numbers.last().into_iter().cycle()).take(width);
        filled.map(|number| self.int(*number)).collect::<Vec<_>>().join(", ")
    }

    fn bind(&mut self, bound: Bound) -> String {
        self.0.push(bound);
        format!("?{}", self.0.len())
    }

    pub(super) fn all<T: FromRow>(&self, tx: &mut Tx<'_>, text: &str) -> Result<Vec<T>> {
        let args: Vec<&dyn Arg> = self.0.iter().map(|bound| bound as &dyn Arg).collect();
        Ok(tx.all(text, &args)?)
    }
}
