//! Which conversations are listed: the lists that indexes hold in order, and what is tested on each row.

use base::actor::Circle;
use base::email_address::EmailAddress;
use base::ids::{MailboxId, TopicId};
use base::states::{Urgency, View};

use super::order::ListOrder;
use super::row_test::RowTest;
use super::sql::Sql;
use super::tagged_with::TaggedWith;

/// Which conversations are listed, and in which order.
#[derive(Default)]
pub struct Filter {
    pub views: Vec<View>,
    /// An inbox that the actor may see.
    pub mailbox: Option<MailboxId>,
    /// A member's id, or empty for nobody.
    pub assignee: Option<String>,
    /// Lower-cased.
    pub reference: Option<String>,
    /// The addresses of one contact; empty for everybody.
    pub contacts: Vec<EmailAddress>,
    pub tag: Option<TaggedWith>,
    pub topic: Option<TopicId>,
    pub urgency: Option<Urgency>,
    /// The latest mail came at or after this.
    pub since: Option<i64>,
    /// The latest mail came at or before this.
    pub until: Option<i64>,
    /// What else is tested on each conversation.
    pub tests: Vec<RowTest>,
    pub order: ListOrder,
}

/// One list that an index holds in order: columns and the values they must have.
pub(super) type List = Vec<(&'static str, String)>;

impl Filter {
    /// The lists whose union is the filter's result for an actor who sees `circles`.
    pub(super) fn lists(&self, circles: &[&Circle]) -> Vec<List> {
        // An inbox has one circle, which was checked when the inbox was looked up.
        let is_one = self.mailbox.is_some() || self.tests_circles();
        let circles = if is_one { &circles[..1] } else { circles };
        let mut lists = Vec::new();
        for circle in circles {
            for view in &self.views {
                let of_contacts =
                    self.contacts.iter().map(|one| self.list(circle, *view, Some(one)));
                lists.extend(of_contacts);
                if self.contacts.is_empty() {
                    lists.push(self.list(circle, *view, None));
                }
            }
        }
        lists
    }

    /// The first column leads the index that is meant; concatenation keeps the planner from
    /// choosing one that the other columns lead.
    fn list(&self, circle: &Circle, view: View, contact: Option<&EmailAddress>) -> List {
        let (circle, view) = (circle.to_string(), view.as_str().to_owned());
        let mut narrow = self.narrow(contact);
        let leading = (!narrow.is_empty()).then(|| narrow.remove(0));
        let place = match (&leading, &self.mailbox) {
            (Some(_), Some(mailbox)) => Some(("c.mailbox || ''", mailbox.to_string())),
            (Some(_), None) => None,
            (None, Some(mailbox)) => Some(("c.mailbox", mailbox.to_string())),
            (None, None) => Some(("c.circle", circle)),
        };
        let is_led = leading.is_some();
        let has_view = leading.as_ref().is_none_or(|leading| leading.has_view);
        let mut list: List = leading.into_iter().map(|leading| leading.leads).collect();
        list.extend(place);
        list.push((if has_view { "c.view" } else { "c.view || ''" }, view));
        list.extend(narrow.into_iter().map(|narrow| (narrow.tested, narrow.leads.1)));
        if let Some(assignee) = &self.assignee {
            let column = match is_led || self.order == ListOrder::LongestWaiting {
                true => "c.assignee || ''",
                false => "c.assignee",
            };
            list.push((column, assignee.clone()));
        }
        list.extend(self.row_tests());
        list
    }

    /// True when an index leads the list that has conversations of all circles: they are one list, in
    /// which the circle is tested. One list for each circle would read the conversations of the others.
    pub(super) fn tests_circles(&self) -> bool {
        let is_led = !self.contacts.is_empty() || !self.narrow(None).is_empty();
        is_led && self.mailbox.is_none()
    }

    /// What narrows the list by an index of its own, the narrowest first.
    fn narrow(&self, contact: Option<&EmailAddress>) -> Vec<NarrowColumn> {
        let column = |leads: &'static str, tested, has_view, value: Option<String>| {
            value.map(|value| NarrowColumn { leads: (leads, value), tested, has_view })
        };
        let (reference, contact) = (self.reference.clone(), contact.map(ToString::to_string));
        let mut narrow: Vec<NarrowColumn> = Vec::new();
        narrow.extend(column("c.reference", "c.reference || ''", false, reference));
        narrow.extend(column("c.contact_email", "c.contact_email || ''", false, contact));
        // Those who wait are read in the order of waiting, which these indexes do not have.
        if self.order != ListOrder::LongestWaiting {
            let topic = self.topic.as_ref().map(ToString::to_string);
            let urgency = self.urgency.filter(|urgency| *urgency != Urgency::Normal);
            let urgency = urgency.map(|urgency| urgency.as_str().to_owned());
            narrow.extend(column("c.topic", "c.topic || ''", true, topic));
            narrow.extend(column(UNUSUAL_URGENCY, "c.urgency || ''", true, urgency));
        }
        narrow
    }

    /// What is tested on each conversation, because no index narrows the list by it.
    fn row_tests(&self) -> List {
        let mut tested = List::new();
        let waiting = self.order == ListOrder::LongestWaiting;
        if let Some(topic) = self.topic.as_ref().filter(|_| waiting) {
            tested.push(("c.topic || ''", topic.to_string()));
        }
        let is_tested = |urgency: &Urgency| waiting || *urgency == Urgency::Normal;
        if let Some(urgency) = self.urgency.filter(is_tested) {
            tested.push(("c.urgency || ''", urgency.as_str().to_owned()));
        }
        tested
    }
}

/// True when a list has columns that its index does not lead with.
pub(super) fn tests_rows(list: &List) -> bool {
    let of_inbox = list.iter().any(|(column, _)| *column == "c.mailbox");
    let tested = |column: &str| column.ends_with("|| ''") || of_inbox && column == "c.assignee";
    list.iter().any(|(column, _)| tested(column))
}

/// Most mail is of normal urgency, so the index has the rest, and is used only where the condition
/// says so.
const UNUSUAL_URGENCY: &str = "c.urgency <> 'normal' AND c.urgency";

/// A column that an index leads with.
struct NarrowColumn {
    leads: (&'static str, String),
    /// The column as it is tested where another leads.
    tested: &'static str,
    /// The index goes on with the view.
    has_view: bool,
}

/// What else the conversations of every list must have.
pub(super) struct Conditions {
    /// The circles of which one must be that of the conversation, where its list does not say so.
    pub(super) circles: Vec<Circle>,
    pub(super) tag: Option<TaggedWith>,
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
    pub(super) tests: Vec<RowTest>,
}

impl Conditions {
    /// The conditions in SQL, each with its AND.
    pub(super) fn sql(&self, sql: &mut Sql, ws: i64) -> String {
        let mut text = String::new();
        if !self.circles.is_empty() {
            let circles = self.circles.iter().map(|circle| sql.text(&circle.to_string()));
            let circles = circles.collect::<Vec<_>>().join(", ");
            text += &format!(" AND (c.circle || '') IN ({circles})");
        }
        if let Some(since) = self.since {
            text += &format!(" AND c.last_message_at >= {}", sql.int(since));
        }
        if let Some(until) = self.until {
            text += &format!(" AND c.last_message_at <= {}", sql.int(until));
        }
        if let Some(tag) = &self.tag {
            text += &format!(" AND {}", tag.sql(sql, ws));
        }
        for test in &self.tests {
            text += &format!(" AND {}", test.sql(sql, ws));
        }
        text
    }
}

/// Conditions in SQL.
pub(super) struct ListConditions {
    pub(super) ws: String,
    /// Each with its AND.
    pub(super) others: String,
}

pub(super) fn in_list(sql: &mut Sql, list: &List, conditions: &ListConditions) -> String {
    let ListConditions { ws, others } = conditions;
    format!("c.ws = {ws} AND {}{others}", has_values(sql, list))
}

pub(super) fn has_values(sql: &mut Sql, list: &List) -> String {
    let columns = list.iter().map(|(column, value)| format!("{column} = {}", sql.text(value)));
    columns.collect::<Vec<_>>().join(" AND ")
}
