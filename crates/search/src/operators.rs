//! The operators of a search query: `from:`, `is:`, `before:` and the others.

use base::limits::DAY_MS;
use base::states::{Urgency, View};
use base::time::NamedTime;
use calendar::TypedTimeReader;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// An operator's name, and in plain words what stands behind it.
pub struct OperatorHelp {
    pub name: &'static str,
    pub about: &'static str,
    /// The values that are fixed.
    pub values: &'static [&'static str],
}

/// Every operator, as the help lists them.
pub const OPERATORS: &[OperatorHelp] = &[
    help("from", "who wrote: a name, an address or a domain", &[]),
    help("to", "who got it, copies included", &[]),
    help("subject", "a word of the subject", &[]),
    help("in", "the name of an inbox", &[]),
    help("tag", "the name of a tag", &[]),
    help("assigned", "a teammate or an agent", &["me", "nobody"]),
    help("is", "how it stands", STATES),
    help("has", "what it contains", CONTENTS),
    help("before", "the latest mail came before this day, or longer ago than 3d, 2w, 1m, 1y", &[]),
    help("after", "the latest mail came on this day or later, or within 3d, 2w, 1m, 1y", &[]),
    help("topic", "the name of a topic", &[]),
    help("urgency", "how urgent it is", Urgency::NAMES),
    help(
        FIELD_OPERATOR,
        "the value of a field; numbers, sums and days also with >, >=, < and <=",
        &[],
    ),
];

/// The operator of fields, as the help lists it: the key of the field stands in the place of `KEY`.
pub const FIELD_OPERATOR: &str = "field.KEY";

const STATES: &[&str] = &[
    "open",
    "waiting",
    "snoozed",
    "closed",
    "unread",
    "unassigned",
    "held",
    "secure",
    "pinned",
    "followed",
    "spam",
    "trash",
];
const CONTENTS: &[&str] = &["attachment", "note", "draft"];

const fn help(
    name: &'static str,
    about: &'static str,
    values: &'static [&'static str],
) -> OperatorHelp {
    OperatorHelp { name, about, values }
}

/// A condition of a query that rows answer, not words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    pub condition: Condition,
    /// True after a `-`.
    pub negated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The start of an inbox's name.
    Mailbox(String),
    Tag(String),
    /// A name, `me` or `nobody`.
    Assignee(String),
    Topic(String),
    Urgency(Urgency),
    Field(FieldQuery),
    View(View),
    Unread,
    Unassigned,
    Held,
    Secure,
    Draft,
    Pinned,
    Followed,
    /// The latest mail came before this.
    Before(i64),
    /// The latest mail came then or later.
    After(i64),
}

/// A value that a field of the conversation or of its contact has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldQuery {
    pub key: String,
    pub sign: FieldSign,
    pub value: String,
}

/// How a value is compared with the one that was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldSign {
    Is,
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl FieldSign {
    /// Each as it is typed behind a key; the longer ones come first.
    pub const TYPED: &'static [(&'static str, FieldSign)] = &[
        (">=", FieldSign::AtLeast),
        ("<=", FieldSign::AtMost),
        (">", FieldSign::Above),
        ("<", FieldSign::Below),
        (":", FieldSign::Is),
    ];
}

/// The part of a message that a word is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    From,
    To,
    Subject,
    /// Markers of what a message contains.
    Has,
}

impl Field {
    /// What leads the words of a field in the index; no word of a text contains it.
    pub fn marker(self) -> char {
        match self {
            Field::From => '\u{e000}',
            Field::To => '\u{e001}',
            Field::Subject => '\u{e002}',
            Field::Has => '\u{e003}',
        }
    }
}

/// The marker of a message or document with a file, and of a note.
pub const HAS_FILE: &str = "attachment";
pub const HAS_NOTE: &str = "note";

/// What an operator asks for.
#[derive(PartialEq, Eq)]
pub enum OperatorMeaning {
    Row(Condition),
    Words(Field, String),
}

/// What `name:value` asks for; `None` when it is no operator, so that it is a word.
pub fn meaning(name: &str, value: &str, now: i64) -> Option<OperatorMeaning> {
    let value = value.trim();
    if !value.chars().any(char::is_alphanumeric) {
        return None;
    }
    if let Some((key, sign)) = field_of(name) {
        let value = value.to_owned();
        return Some(OperatorMeaning::Row(Condition::Field(FieldQuery { key, sign, value })));
    }
    let words = |field| Some(OperatorMeaning::Words(field, value.to_owned()));
    let lower = value.to_lowercase();
    let condition = match name.to_ascii_lowercase().as_str() {
        "from" => return words(Field::From),
        "to" => return words(Field::To),
        "subject" => return words(Field::Subject),
        "has" => match lower.as_str() {
            "draft" => Condition::Draft,
            "attachment" | "file" | "document" => return has(HAS_FILE),
            "note" => return has(HAS_NOTE),
            _ => return None,
        },
        "in" => Condition::Mailbox(value.to_owned()),
        "tag" => Condition::Tag(value.to_owned()),
        "assigned" => Condition::Assignee(value.to_owned()),
        "topic" => Condition::Topic(value.to_owned()),
        "urgency" => Condition::Urgency(Urgency::parse(&lower)?),
        "is" => state(&lower)?,
        "before" => Condition::Before(time(&lower, now)?),
        "after" => Condition::After(time(&lower, now)?),
        _ => return None,
    };
    Some(OperatorMeaning::Row(condition))
}

/// True for what begins with `field.`, behind which `<`, `>`, `<=` and `>=` stand for the colon.
pub fn begins_as_field(text: &str) -> bool {
    text.split_once('.').is_some_and(|(before, _)| before.eq_ignore_ascii_case("field"))
}

/// The key behind `field.`, and the sign behind the key; a colon stands in no name.
fn field_of(name: &str) -> Option<(String, FieldSign)> {
    let (_, rest) = name.split_once('.').filter(|_| begins_as_field(name))?;
    let signed = |(typed, sign): &(&str, FieldSign)| Some((rest.strip_suffix(typed)?, *sign));
    let (key, sign) = FieldSign::TYPED.iter().find_map(signed).unwrap_or((rest, FieldSign::Is));
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!key.is_empty() && key.chars().all(is_key)).then(|| (key.to_ascii_lowercase(), sign))
}

fn has(what: &str) -> Option<OperatorMeaning> {
    Some(OperatorMeaning::Words(Field::Has, what.to_owned()))
}

fn state(value: &str) -> Option<Condition> {
    Some(match value {
        "unread" => Condition::Unread,
        "unassigned" => Condition::Unassigned,
        "held" => Condition::Held,
        "secure" | "protected" => Condition::Secure,
        "pinned" => Condition::Pinned,
        "followed" => Condition::Followed,
        view => Condition::View(View::parse(view).filter(|view| View::SHOWN.contains(view))?),
    })
}

/// The beginning of a day (UTC), a moment, `today`, `yesterday`, or so long ago.
fn time(value: &str, now: i64) -> Option<i64> {
    match value {
        "today" => return Some(now - now.rem_euclid(DAY_MS)),
        "yesterday" => return Some(now - now.rem_euclid(DAY_MS) - DAY_MS),
        _ => {}
    }
    if let Some(named) = NamedTime::parse(value).or_else(|| NamedTime::parse(&value.to_uppercase()))
    {
        return Some(named.begins);
    }
    let (count, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    let days = match unit {
        "d" => 1,
        "w" => 7,
        "m" => 30,
        "y" => 365,
        _ => return typed_day(value, now),
    };
    let Ok(count) = count.parse::<i64>() else { return typed_day(value, now) };
    (0..=9_999).contains(&count).then_some(now - count * days * DAY_MS)
}

/// The beginning of a day as the reader types it, without a space: `21.11.2026`.
fn typed_day(value: &str, now: i64) -> Option<i64> {
    let now = Timestamp::from_millisecond(now).ok()?.to_zoned(TimeZone::UTC);
    let reader = TypedTimeReader::new(translation::current().code(), now);
    let begins = reader.past_day(value)?.to_zoned(TimeZone::UTC).ok()?;
    Some(begins.timestamp().as_millisecond())
}
