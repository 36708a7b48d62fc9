//! The condition that conversations, or the people who write in them, have a value of a field.

use base::actor::Circle;
use base::error::Result;
use db::Tx;

use super::sql::Sql;
use crate::operators::FieldSign;

/// Conversations or people with a value, up to which they are named in the list's statement; with more of them, the
/// value is looked up for each conversation of the list.
const NAMED: usize = 200;
/// Circles in which one address may belong to a contact.
const CIRCLES: i64 = 4;

/// Whose value is asked for.
#[derive(Clone, Debug)]
pub enum FieldHolder {
    Conversation,
    /// The contact, as those of these circles know them.
    Contact(Vec<Circle>),
    /// The company whose domain the contact's address is of, likewise.
    Company(Vec<Circle>),
}

/// The value that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldMatch {
    /// Without case and accents.
    Text(String),
    Number(FieldSign, i64),
}

#[derive(Clone, Debug)]
pub struct FieldTest {
    /// The name of the field.
    field: String,
    holder: FieldHolder,
    wanted: FieldMatch,
    /// The conversations, or the addresses of the people, that have the value; `None` where they are too many.
    named: Option<Vec<String>>,
}

impl FieldTest {
    /// Finds those that have the value, unless they are many.
    pub fn new(
        tx: &mut Tx<'_>,
        ws: i64,
        field: &str,
        holder: FieldHolder,
        wanted: FieldMatch,
    ) -> Result<FieldTest> {
        let field = field.to_owned();
        let test = FieldTest { field, holder, wanted, named: None };
        let Some(holders) = test.holders(tx, ws)? else { return Ok(test) };
        let named = match &test.holder {
            FieldHolder::Conversation => Some(holders),
            FieldHolder::Contact(circles) => addresses_of(tx, ws, circles, &holders)?,
            FieldHolder::Company(circles) => people_of(tx, ws, circles, &holders)?,
        };
        Ok(FieldTest { named, ..test })
    }

    /// The conversations, addresses or companies whose rows have the value.
    fn holders(&self, tx: &mut Tx<'_>, ws: i64) -> Result<Option<Vec<String>>> {
        let mut sql = Sql::default();
        let rows = self.rows(&mut sql, ws);
        let (table, holder) = self.table();
        let text = format!("SELECT v.{holder} FROM {table} v WHERE {rows} LIMIT {}", NAMED + 1);
        few(&sql, tx, &text)
    }

    pub(super) fn sql(&self, sql: &mut Sql, ws: i64) -> String {
        let column = match self.holder {
            FieldHolder::Conversation => "c.id",
            FieldHolder::Contact(_) | FieldHolder::Company(_) => "c.contact_email",
        };
        match &self.named {
            Some(named) if named.is_empty() => "1 = 0".to_owned(),
            Some(named) => format!("{column} IN ({})", texts(named, sql)),
            None => self.each(sql, ws),
        }
    }

    /// The value is looked up for each conversation `c`: a value of one row, which no plan turns into a join that reads
    /// everybody who has it.
    fn each(&self, sql: &mut Sql, ws: i64) -> String {
        let rows = self.rows(sql, ws);
        let (table, _) = self.table();
        match &self.holder {
            FieldHolder::Conversation => {
                is_found(&format!("SELECT 1 FROM {table} v WHERE {rows} AND v.conversation = c.id"))
            }
            FieldHolder::Contact(circles) => {
                let own = is_found(&format!(
                    "SELECT 1 FROM {table} v WHERE {rows} AND v.email = c.contact_email"
                ));
                // What is known of a person under another address of theirs.
                let (circles, ws) = (any_of(circles, sql), sql.int(ws));
                let others = is_found(&format!(
                    "SELECT 1 FROM (
                         SELECT o.circle, o.contact FROM contact_addresses o
                         WHERE o.ws = {ws} AND o.circle IN ({circles}) AND o.email = c.contact_email
                         LIMIT {CIRCLES}
                     ) o
                     JOIN contact_addresses a
                       ON a.ws = {ws} AND a.circle = o.circle AND a.contact = o.contact
                     WHERE {}",
                    is_found(&format!(
                        "SELECT 1 FROM {table} v WHERE {rows} AND v.email = a.email"
                    ))
                ));
                format!("({own} OR {others})")
            }
            FieldHolder::Company(circles) => {
                let (circles, ws) = (any_of(circles, sql), sql.int(ws));
                is_found(&format!(
                    "SELECT 1 FROM (
                         SELECT p.domain FROM contacts p
                         WHERE p.ws = {ws} AND p.circle IN ({circles}) AND p.email = c.contact_email
                         LIMIT {CIRCLES}
                     ) p
                     WHERE {}",
                    is_found(&format!(
                        "SELECT 1 FROM {table} v WHERE {rows} AND v.company = p.domain"
                    ))
                ))
            }
        }
    }

    /// The table of the values, and the column of who has them.
    fn table(&self) -> (&'static str, &'static str) {
        match self.holder {
            FieldHolder::Conversation => ("conversation_fields", "conversation"),
            FieldHolder::Contact(_) => ("contact_fields", "email"),
            FieldHolder::Company(_) => ("company_fields", "company"),
        }
    }

    /// What the rows `v` with the value have.
    fn rows(&self, sql: &mut Sql, ws: i64) -> String {
        let mut rows = format!("v.ws = {} AND v.field = {}", sql.int(ws), sql.text(&self.field));
        rows += &match &self.wanted {
            FieldMatch::Text(folded) => format!(" AND v.folded = {}", sql.text(folded)),
            FieldMatch::Number(sign, number) => {
                format!(" AND v.number {} {}", compare(*sign), sql.int(*number))
            }
        };
        if let FieldHolder::Contact(circles) | FieldHolder::Company(circles) = &self.holder {
            rows += &format!(" AND v.circle IN ({})", any_of(circles, sql));
        }
        rows
    }
}

fn is_found(statement: &str) -> String {
    format!("coalesce(({statement} LIMIT 1), 0) = 1")
}

/// What a statement finds, unless it is too much to be named.
fn few(sql: &Sql, tx: &mut Tx<'_>, statement: &str) -> Result<Option<Vec<String>>> {
    let found: Vec<(String,)> = sql.all(tx, statement)?;
    Ok((found.len() <= NAMED).then(|| found.into_iter().map(|(text,)| text).collect()))
}

/// Every address of the people with these addresses.
fn addresses_of(
    tx: &mut Tx<'_>,
    ws: i64,
    circles: &[Circle],
    emails: &[String],
) -> Result<Option<Vec<String>>> {
    if emails.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut sql = Sql::default();
    let (number, circles, named) =
        (sql.int(ws), any_of(circles, &mut sql), texts(emails, &mut sql));
    let statement = format!(
        "SELECT DISTINCT o.email FROM contact_addresses a
         JOIN contact_addresses o ON o.ws = a.ws AND o.circle = a.circle AND o.contact = a.contact
         WHERE a.ws = {number} AND a.circle IN ({circles}) AND a.email IN ({named}) LIMIT {}",
        NAMED + 1
    );
    let others = few(&sql, tx, &statement)?;
    Ok(others.map(|mut all| {
        all.extend(emails.iter().cloned());
        all
    }))
}

/// The addresses of everybody at these companies.
fn people_of(
    tx: &mut Tx<'_>,
    ws: i64,
    circles: &[Circle],
    companies: &[String],
) -> Result<Option<Vec<String>>> {
    if companies.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut sql = Sql::default();
    let (number, circles, named) =
        (sql.int(ws), any_of(circles, &mut sql), texts(companies, &mut sql));
    let statement = format!(
        "SELECT p.email FROM contacts p
         WHERE p.ws = {number} AND p.circle IN ({circles}) AND p.domain IN ({named}) LIMIT {}",
        NAMED + 1
    );
    few(&sql, tx, &statement)
}

fn texts(all: &[String], sql: &mut Sql) -> String {
    all.iter().map(|text| sql.text(text)).collect::<Vec<_>>().join(", ")
}

fn compare(sign: FieldSign) -> &'static str {
    match sign {
        FieldSign::Is => "=",
        FieldSign::Above => ">",
        FieldSign::AtLeast => ">=",
        FieldSign::Below => "<",
        FieldSign::AtMost => "<=",
    }
}

fn any_of(circles: &[Circle], sql: &mut Sql) -> String {
    let circles = circles.iter().map(|circle| sql.text(&circle.to_string()));
    circles.collect::<Vec<_>>().join(", ")
}
