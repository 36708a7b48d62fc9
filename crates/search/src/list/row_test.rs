//! What operators of a query ask of a conversation's row.

use base::ids::{MailboxId, MemberId, TopicId};
use base::states::Urgency;

use super::field_test::FieldTest;
use super::sql::Sql;
use super::tagged_with::TaggedWith;

/// A condition, or with `negated` that it does not hold.
#[derive(Clone)]
pub struct RowTest {
    pub condition: RowCondition,
    pub negated: bool,
}

#[derive(Clone)]
pub enum RowCondition {
    /// In one of these inboxes.
    Mailboxes(Vec<MailboxId>),
    /// Assigned to one of these, empty for nobody.
    Assignees(Vec<String>),
    Tagged(TaggedWith),
    Topic(TopicId),
    Urgency(Urgency),
    Field(FieldTest),
    /// Open, and not read by this person since the latest mail.
    UnreadBy(MemberId),
    Held,
    Secure,
    HasDraft,
    PinnedBy(MemberId),
    FollowedBy(MemberId),
}

impl RowTest {
    /// The condition in SQL. Concatenation keeps the planner from using the index of a column.
    pub(super) fn sql(&self, sql: &mut Sql, ws: i64) -> String {
        let condition = self.condition.sql(sql, ws);
        match self.negated {
            true => format!("NOT ({condition})"),
            false => condition,
        }
    }
}

impl RowCondition {
    fn sql(&self, sql: &mut Sql, ws: i64) -> String {
        match self {
            RowCondition::Mailboxes(ids) => {
                one_of("c.mailbox || ''", ids.iter().map(|id| id.as_str()), sql)
            }
            RowCondition::Assignees(ids) => {
                one_of("c.assignee || ''", ids.iter().map(String::as_str), sql)
            }
            RowCondition::Tagged(tag) => tag.sql(sql, ws),
            RowCondition::Topic(id) => {
                format!("coalesce(c.topic, '') = {}", sql.text(id.as_str()))
            }
            RowCondition::Urgency(urgency) => {
                format!("coalesce(c.urgency, '') = {}", sql.text(urgency.as_str()))
            }
            RowCondition::Field(test) => test.sql(sql, ws),
            RowCondition::UnreadBy(person) => format!(
                "c.status || '' = 'open' AND NOT EXISTS (
                     SELECT 1 FROM read_marks r
                     WHERE r.ws = {} AND r.person = {} AND r.conversation = c.id
                       AND r.read_at >= c.last_message_at
                 )",
                sql.int(ws),
                sql.text(person.as_str())
            ),
            RowCondition::Held => "c.held = TRUE".to_owned(),
            RowCondition::Secure => "c.has_secure = TRUE".to_owned(),
            RowCondition::HasDraft => "c.has_draft = TRUE".to_owned(),
            RowCondition::PinnedBy(person) => kept_by("pins", person, sql, ws),
            RowCondition::FollowedBy(person) => kept_by("followers", person, sql, ws),
        }
    }
}

/// A person has a row of a table for the conversation.
fn kept_by(table: &str, person: &MemberId, sql: &mut Sql, ws: i64) -> String {
    format!(
        "c.id IN (SELECT p.conversation FROM {table} p WHERE p.ws = {} AND p.person = {})",
        sql.int(ws),
        sql.text(person.as_str())
    )
}

/// Nothing is one of none.
fn one_of<'v>(column: &str, values: impl Iterator<Item = &'v str>, sql: &mut Sql) -> String {
    let values: Vec<String> = values.map(|value| sql.text(value)).collect();
    match values.is_empty() {
        true => "1 = 0".to_owned(),
        false => format!("{column} IN ({})", values.join(", ")),
    }
}
