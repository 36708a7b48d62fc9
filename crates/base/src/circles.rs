//! Who may see a row: its circle, and the circles that somebody belongs to.

use std::fmt;

use db::{Arg, Column, FromColumn, Tx, Value};

use crate::error::Result;
use crate::ids::{MailboxId, UserId};

/// Who may see a row: the team, one person, those an inbox is for, or the sandbox's test keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle(String);

impl Circle {
    pub fn team() -> Circle {
        Circle("team".into())
    }

    pub fn sandbox() -> Circle {
        Circle("sandbox".into())
    }

    pub fn of(person: &UserId) -> Circle {
        Circle(person.to_string())
    }

    /// Nobody: inboxes that are being deleted.
    pub fn of_deleted_inboxes() -> Circle {
        Circle("deleted".into())
    }

    /// Those whom an inbox is for.
    pub fn of_inbox(mailbox: &MailboxId) -> Circle {
        Circle(mailbox.to_string())
    }

    pub fn is_team(&self) -> bool {
        self.0 == "team"
    }

    pub fn is_sandbox(&self) -> bool {
        self.0 == "sandbox"
    }

    pub fn is_deleted(&self) -> bool {
        self.0 == "deleted"
    }

    /// The person whose private circle this is.
    pub fn person(&self) -> Option<UserId> {
        UserId::parse(&self.0)
    }

    /// The inbox that is for some, whose circle this is.
    pub fn inbox(&self) -> Option<MailboxId> {
        MailboxId::parse(&self.0)
    }

    /// True for the circles of the team's work: not private, not invented.
    pub fn is_shared(&self) -> bool {
        self.is_team() || self.inbox().is_some()
    }

    /// True for a circle that not everybody on the team belongs to.
    pub fn is_closed(&self) -> bool {
        self.person().is_some() || self.inbox().is_some()
    }
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Arg for Circle {
    fn value(&self) -> Value<'_> {
        Value::Text(&self.0)
    }
}

impl FromColumn for Circle {
    const WANTED: &'static str = "a circle";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => Some(Circle(text.to_owned())),
            _ => None,
        }
    }
}

/// The circles of inboxes for some, from a column with their ids and spaces between them, or null.
pub struct InboxCircles(Vec<Circle>);

impl FromColumn for InboxCircles {
    const WANTED: &'static str = "ids of inboxes";
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Null => Some(InboxCircles(Vec::new())),
            Column::Text(text) => {
                let inboxes = text.split(' ').map(MailboxId::parse);
                let circles = inboxes.map(|inbox| inbox.as_ref().map(Circle::of_inbox));
                circles.collect::<Option<_>>().map(InboxCircles)
            }
            _ => None,
        }
    }
}

impl InboxCircles {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The circles that an actor belongs to. Most have two: the team's and their own.
#[derive(Clone, Debug)]
pub struct Circles {
    first: Circle,
    /// Never empty: where there are no more, the first once more.
    others: CircleList,
}

/// Some circles, as one argument of a statement: `circle IN (?1)`.
#[derive(Clone, Debug)]
pub struct CircleList(Vec<Circle>);

impl Arg for CircleList {
    fn value(&self) -> Value<'_> {
        self.0[0].value()
    }

    fn others(&self) -> Vec<Value<'_>> {
        self.0[1..].iter().map(Arg::value).collect()
    }
}

impl Circles {
    pub fn only(circle: Circle) -> Circles {
        Circles { others: CircleList(vec![circle.clone()]), first: circle }
    }

    /// The team's, a person's own, and those of the inboxes for some that they see.
    pub fn of_person(tx: &mut Tx<'_>, ws: i64, person: &UserId) -> Result<Circles> {
        let inboxes: Vec<(Circle,)> = tx.all(
            "SELECT mailbox FROM mailbox_access
             WHERE ws = ?1 AND holder = ?2 AND may_see = TRUE
             UNION ALL
             SELECT a.mailbox FROM team_members t
             JOIN mailbox_access a ON a.ws = t.ws AND a.holder = t.team AND a.may_see = TRUE
             WHERE t.ws = ?1 AND t.person = ?2",
            &[&ws, person],
        )?;
        let inboxes = inboxes.into_iter().map(|(inbox,)| inbox);
        Ok(Circles::with(Circle::of(person), inboxes))
    }

    /// The same from what is read already: the inboxes that were given to the person, and to their
    /// teams.
    pub fn of_person_with(person: &UserId, own: InboxCircles, of_teams: InboxCircles) -> Circles {
        Circles::with(Circle::of(person), own.0.into_iter().chain(of_teams.0))
    }

    /// The team's, those of the inboxes for some that an agent was given, and `private`.
    pub fn of_agent(private: Circle, inboxes: InboxCircles) -> Circles {
        Circles::with(private, inboxes.0)
    }

    fn with(own: Circle, inboxes: impl IntoIterator<Item = Circle>) -> Circles {
        let mut others = vec![own];
        for inbox in inboxes {
            if !others.contains(&inbox) {
                others.push(inbox);
            }
        }
        Circles { first: Circle::team(), others: CircleList(others) }
    }

    /// As the two arguments of `circle IN (?1, ?2)`, whatever their number.
    pub fn pair(&self) -> (&Circle, &CircleList) {
        (&self.first, &self.others)
    }

    /// Each of them once.
    pub fn distinct(&self) -> impl Iterator<Item = &Circle> {
        let others = self.others.0.iter().filter(move |circle| **circle != self.first);
        std::iter::once(&self.first).chain(others)
    }

    pub fn contains(&self, circle: &Circle) -> bool {
        self.first == *circle || self.others.0.contains(circle)
    }

    pub fn is_sandbox(&self) -> bool {
        self.first.is_sandbox()
    }
}
