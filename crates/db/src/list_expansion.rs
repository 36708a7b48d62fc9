//! Arguments that are lists: `IN (?2)` of one becomes `IN (?2, ?5, ?6)`.

use crate::{Arg, Value};

/// A statement whose lists are arguments of their own.
pub(crate) struct ListExpansion<'a> {
    pub sql: String,
    values: Vec<Value<'a>>,
}

impl<'a> ListExpansion<'a> {
    /// `None` where every argument is a single value, as nearly always.
    ///
    /// A list is filled up to two, four, eight … values with its first one, so that lists of many
    /// lengths share few prepared statements.
    pub fn of(sql: &str, args: &'a [&'a dyn Arg]) -> Option<ListExpansion<'a>> {
        let mut values: Option<Vec<Value<'a>>> = None;
        let mut places: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let others = arg.others();
            if others.is_empty() {
                continue;
            }
            let all = values.get_or_insert_with(|| args.iter().map(|arg| arg.value()).collect());
            let (start, length) = (all.len(), others.len());
            all.extend(others);
            for _ in length..(length + 1).next_power_of_two() - 1 {
                all.push(arg.value());
            }
            places.push((index + 1, start + 1..all.len() + 1));
        }
        values.map(|values| ListExpansion { sql: spread(sql, &places), values })
    }

    pub fn args(&self) -> Vec<&dyn Arg> {
        self.values.iter().map(|value| value as &dyn Arg).collect()
    }
}

/// Names the further arguments of each list wherever the list is named.
fn spread(sql: &str, places: &[(usize, std::ops::Range<usize>)]) -> String {
    let mut out = String::with_capacity(sql.len() + 64);
    let mut quoted = false;
    let mut rest = sql.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(c);
        quoted ^= c == '\'';
        if c != '?' || quoted {
            continue;
        }
        let mut digits = String::new();
        while let Some(digit) = rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        out.push_str(&digits);
        let list = places.iter().find(|(place, _)| digits.parse() == Ok(*place));
        for more in list.iter().flat_map(|(_, more)| more.clone()) {
            out.push_str(&format!(", ?{more}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::ListExpansion;
    use crate::{Arg, Value};

    struct Words(Vec<&'static str>);

    impl Arg for Words {
        fn value(&self) -> Value<'_> {
            Value::Text(self.0[0])
        }

        fn others(&self) -> Vec<Value<'_>> {
            self.0[1..].iter().map(|word| Value::Text(word)).collect()
        }
    }

    #[test]
    fn single_values_leave_a_statement_as_it_is() {
        assert!(ListExpansion::of("a = ?1 AND b IN (?2)", &[&1_i64, &Words(vec!["x"])]).is_none());
    }

    #[test]
    fn a_list_is_named_value_by_value_and_filled_up() {
        let words = Words(vec!["x", "y", "z"]);
        let args: [&dyn Arg; 3] = [&7_i64, &words, &true];
        let spread = ListExpansion::of("a = ?1 AND b IN (?2) AND c = '?2' AND d = ?3", &args);
        let spread = spread.expect("a list");
        let sql = "a = ?1 AND b IN (?2, ?4, ?5, ?6) AND c = '?2' AND d = ?3";
        assert_eq!(spread.sql, sql);
        let text = |word| Value::Text(word);
        let values =
            vec![Value::Int(7), text("x"), Value::Bool(true), text("y"), text("z"), text("x")];
        assert_eq!(spread.values, values);
    }
}
