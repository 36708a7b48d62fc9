//! Booking types: what can be booked, by which rules, and who is there.

use std::fmt;

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::error::{Error, Result, ValidationError, ValidationErrors};
use base::ids::{BookingTypeId, MailboxId, UserId};
use base::limits::{
    BOOKING_BUFFER_MINUTES, BOOKING_CANCEL_HOURS, BOOKING_DESCRIPTION_CHARS, BOOKING_HORIZON_DAYS,
    BOOKING_MINUTES, BOOKING_MINUTES_MIN, BOOKING_NOTICE_MINUTES, BOOKING_PLACE_CHARS,
    BOOKING_QUESTION_CHARS, BOOKING_QUESTIONS, BOOKING_SLUG_CHARS, BOOKING_TYPE_NAME_CHARS,
    BOOKING_TYPES, BOOKINGS_PER_DAY, HOST_WEIGHT,
};
use base::string_enum::string_enum;
use calendar::{HostMode, RoundRobinState, SlotRules};
use db::{Json, Tx};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The share of a host for whom none was said.
const WEIGHT: i64 = 1;

string_enum! {
    /// Who is there: one of the hosts, by turns, or all of them.
    HostChoice { Any = "any", Together = "together" }
}

/// A question that guests are asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookingQuestion {
    pub text: String,
    pub required: bool,
}

/// As people write it.
impl fmt::Display for BookingQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, if self.required { "*" } else { "" })
    }
}

impl BookingQuestion {
    /// A question as people write it: one that must be answered ends with `*`.
    pub fn from_line(line: &str) -> BookingQuestion {
        let line = line.trim();
        BookingQuestion {
            text: line.trim_end_matches('*').trim().to_owned(),
            required: line.ends_with('*'),
        }
    }
}

db::row! {
    #[derive(Clone, Debug)]
    pub struct BookingType from "t" {
        pub id: BookingTypeId,
        pub circle: Circle,
        pub slug: String,
        pub name: String,
        pub description: String,
        pub place: String,
        pub minutes: i64,
        pub step: i64,
        pub before_minutes: i64,
        pub after_minutes: i64,
        pub notice: i64,
        pub horizon_days: i64,
        pub per_day: Option<i64>,
        /// Hours before the start until which guests move or cancel; 0: until the start.
        pub cancel_hours: i64,
        pub mode: HostChoice,
        pub questions: Json<Vec<BookingQuestion>>,
        pub mailbox: MailboxId,
        pub listed: bool,
        pub active: bool,
        /// The workspace's part of its address.
        workspace: String = "(SELECT w.slug FROM workspaces w WHERE w.ws = t.ws)",
    }
}

db::row! {
    /// A person who can be booked for a type.
    #[derive(Clone, Debug)]
    pub struct BookingHost from "h" {
        pub person: UserId,
        pub name: String = "coalesce(u.name, s.name, '')",
        pub zone: Option<String> = "s.zone",
        pub weekly: Option<String> = "s.weekly",
        pub holidays: Option<String> = "s.holidays",
        /// How many turns they get, compared with the others.
        pub weight: i64,
        given: i64,
        last_given_at: Option<i64>,
    }
}

/// What somebody writes about a type.
#[derive(Clone, Debug)]
pub struct BookingTypeInput {
    pub name: String,
    pub slug: String,
    pub description: String,
    pub place: String,
    pub minutes: i64,
    /// From one start to the next; the length where it is not given.
    pub step: Option<i64>,
    pub before: i64,
    pub after: i64,
    pub notice: i64,
    pub horizon_days: i64,
    pub per_day: Option<i64>,
    /// Hours before the start until which guests move or cancel; 0: until the start.
    pub cancel_hours: i64,
    pub mode: HostChoice,
    pub questions: Vec<BookingQuestion>,
    pub hosts: Vec<UserId>,
    /// The shares of hosts where they are not to stay: how many turns each gets, compared with the
    /// others.
    pub weights: Vec<(UserId, i64)>,
    /// The inbox that writes to guests; the team's first where it is not given.
    pub mailbox: Option<MailboxId>,
    pub listed: bool,
    pub active: bool,
}

impl Default for BookingTypeInput {
    fn default() -> BookingTypeInput {
        BookingTypeInput {
            name: String::new(),
            slug: String::new(),
            description: String::new(),
            place: String::new(),
            minutes: 30,
            step: None,
            before: 0,
            after: 0,
            notice: 60,
            horizon_days: 60,
            per_day: None,
            cancel_hours: 0,
            mode: HostChoice::Any,
            questions: Vec::new(),
            hosts: Vec::new(),
            weights: Vec::new(),
            mailbox: None,
            listed: true,
            active: true,
        }
    }
}

impl BookingTypeInput {
    /// What was written about a type, to be changed.
    pub fn of(kind: &BookingType, hosts: &[BookingHost]) -> BookingTypeInput {
        BookingTypeInput {
            name: kind.name.clone(),
            slug: kind.slug.clone(),
            description: kind.description.clone(),
            place: kind.place.clone(),
            minutes: kind.minutes,
            step: Some(kind.step),
            before: kind.before_minutes,
            after: kind.after_minutes,
            notice: kind.notice,
            horizon_days: kind.horizon_days,
            per_day: kind.per_day,
            cancel_hours: kind.cancel_hours,
            mode: kind.mode,
            questions: kind.questions.0.clone(),
            hosts: hosts.iter().map(|host| host.person.clone()).collect(),
            weights: hosts.iter().map(|host| (host.person.clone(), host.weight)).collect(),
            mailbox: Some(kind.mailbox.clone()),
            listed: kind.listed,
            active: kind.active,
        }
    }
}

impl BookingType {
    /// The page on which it is booked.
    pub fn url(&self, public_url: &str) -> String {
        format!("{public_url}/b/{}/{}", self.workspace, self.slug)
    }

    pub fn rules(&self) -> SlotRules {
        let minutes = |number: i64| u32::try_from(number).unwrap_or(0);
        SlotRules {
            length: minutes(self.minutes),
            step: minutes(self.step),
            before: minutes(self.before_minutes),
            after: minutes(self.after_minutes),
            notice: minutes(self.notice),
            horizon_days: Some(minutes(self.horizon_days)),
            per_day: self.per_day.map(minutes),
        }
    }

    pub fn host_mode(&self) -> HostMode {
        match self.mode {
            HostChoice::Any => HostMode::Any,
            HostChoice::Together => HostMode::Together,
        }
    }
}

impl BookingHost {
    pub fn turns(&self) -> RoundRobinState {
        RoundRobinState {
            weight: u32::try_from(self.weight).unwrap_or(0),
            given: u64::try_from(self.given).unwrap_or(0),
            last_given: self.last_given_at.and_then(|at| Timestamp::from_millisecond(at).ok()),
        }
    }
}

/// The types that the actor may see, by name.
pub fn list(tx: &mut Tx<'_>, actor: &Actor) -> Result<Vec<BookingType>> {
    let (first, second) = actor.circles.pair();
    Ok(tx.all(
        &format!(
            "SELECT {} FROM booking_types t WHERE t.ws = ?1 AND t.circle IN (?2, ?3)
             ORDER BY t.name, t.id LIMIT ?4",
            BookingType::COLUMNS
        ),
        &[&actor.ws, first, second, &(2 * BOOKING_TYPES)],
    )?)
}

/// A type that the actor may see.
pub fn load(tx: &mut Tx<'_>, actor: &Actor, id: &str) -> Result<BookingType> {
    let not_found = || Error::NotFound("booking type");
    let id = BookingTypeId::parse(id).ok_or_else(not_found)?;
    let (first, second) = actor.circles.pair();
    let found: Option<BookingType> = tx.opt(
        &format!(
            "SELECT {} FROM booking_types t
             WHERE t.ws = ?1 AND t.id = ?2 AND t.circle IN (?3, ?4)",
            BookingType::COLUMNS
        ),
        &[&actor.ws, &id, first, second],
    )?;
    found.ok_or_else(not_found)
}

/// A type that the actor may see and that can be booked.
pub fn load_active(tx: &mut Tx<'_>, actor: &Actor, id: &str) -> Result<BookingType> {
    let found = load(tx, actor, id)?;
    if found.active { Ok(found) } else { Err(Error::NotFound("booking type")) }
}

/// The type of a booking, whether it can still be booked or not.
pub fn of_booking(tx: &mut Tx<'_>, ws: i64, id: &BookingTypeId) -> Result<BookingType> {
    let found: Option<BookingType> = tx.opt(
        &format!(
            "SELECT {} FROM booking_types t WHERE t.ws = ?1 AND t.id = ?2",
            BookingType::COLUMNS
        ),
        &[&ws, id],
    )?;
    found.ok_or(Error::NotFound("booking type"))
}

/// The team's type at an address, while it can be booked.
pub fn with_slug(tx: &mut Tx<'_>, ws: i64, slug: &str) -> Result<Option<BookingType>> {
    // No type has it, and PostgreSQL takes no text with it.
    if slug.contains('\0') {
        return Ok(None);
    }
    Ok(tx.opt(
        &format!(
            "SELECT {} FROM booking_types t
             WHERE t.ws = ?1 AND t.circle = 'team' AND t.slug = ?2 AND t.active = TRUE",
            BookingType::COLUMNS
        ),
        &[&ws, &slug],
    )?)
}

/// The hosts of a type, in the order in which they were named.
pub fn hosts(tx: &mut Tx<'_>, ws: i64, id: &BookingTypeId) -> Result<Vec<BookingHost>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM booking_hosts h
             LEFT JOIN users u ON u.ws = h.ws AND u.id = h.person
             LEFT JOIN hosts s ON s.ws = h.ws AND s.person = h.person
             WHERE h.ws = ?1 AND h.type = ?2 ORDER BY h.place, h.person",
            BookingHost::COLUMNS
        ),
        &[&ws, id],
    )?)
}

/// Adds a type of the team.
pub fn add(tx: &mut Tx<'_>, cx: &Cx<'_>, input: &BookingTypeInput) -> Result<BookingType> {
    let ws = cx.actor.ws;
    check(tx, ws, input, None)?;
    let (count,): (i64,) =
        tx.one("SELECT CAST(count(*) AS BIGINT) FROM booking_types WHERE ws = ?1", &[&ws])?;
    // The sandbox has one of its own.
    if count > BOOKING_TYPES {
        let sentence = format!("A workspace has at most {BOOKING_TYPES} booking types.");
        return Err(Error::invalid("name", sentence));
    }
    let id = BookingTypeId::new(cx.ids, cx.now);
    tx.exec(
        "INSERT INTO booking_types (
            ws, id, circle, slug, name, description, place, minutes, step, before_minutes,
            after_minutes, notice, horizon_days, per_day, mode, questions, mailbox, listed, active,
            created_at
         ) VALUES (
            ?1, ?2, 'team', '', '', '', '', 0, 0, 0, 0, 0, 0, NULL, 'any', '[]', '', FALSE, FALSE, ?3
         )",
        &[&ws, &id, &cx.now],
    )?;
    write(tx, cx, &id, input)?;
    of_booking(tx, ws, &id)
}

/// Changes a type; bookings that there are stay as they are.
pub fn change(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &BookingTypeId,
    input: &BookingTypeInput,
) -> Result<BookingType> {
    check(tx, cx.actor.ws, input, Some(id))?;
    write(tx, cx, id, input)?;
    of_booking(tx, cx.actor.ws, id)
}

fn write(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &BookingTypeId, input: &BookingTypeInput) -> Result<()> {
    let mailbox = match &input.mailbox {
        Some(mailbox) => mailbox.clone(),
        None => {
            let found: Option<(MailboxId,)> = tx.opt(
                "SELECT id FROM mailboxes WHERE ws = ?1 AND circle = 'team'
                 ORDER BY created_at, id LIMIT 1",
                &[&cx.actor.ws],
            )?;
            let sentence = "Choose the inbox that writes to guests.";
            found.ok_or_else(|| Error::invalid("mailbox", sentence))?.0
        }
    };
    tx.exec(
        "UPDATE booking_types
         SET slug = ?3, name = ?4, description = ?5, place = ?6, minutes = ?7, step = ?8,
             before_minutes = ?9, after_minutes = ?10, notice = ?11, horizon_days = ?12,
             per_day = ?13, mode = ?14, questions = ?15, mailbox = ?16, listed = ?17, active = ?18,
             cancel_hours = ?19
         WHERE ws = ?1 AND id = ?2",
        &[
            &cx.actor.ws,
            id,
            &input.slug,
            &input.name.trim(),
            &input.description.trim(),
            &input.place.trim(),
            &input.minutes,
            &input.step.unwrap_or(input.minutes),
            &input.before,
            &input.after,
            &input.notice,
            &input.horizon_days,
            &input.per_day,
            &input.mode,
            &Json(&input.questions),
            &mailbox,
            &input.listed,
            &input.active,
            &input.cancel_hours,
        ],
    )?;
    write_hosts(tx, cx.actor.ws, id, input)
}

/// Who stays keeps their turns; who is new begins with the others' average.
fn write_hosts(
    tx: &mut Tx<'_>,
    ws: i64,
    id: &BookingTypeId,
    input: &BookingTypeInput,
) -> Result<()> {
    let people = &input.hosts;
    let before = hosts(tx, ws, id)?;
    for gone in before.iter().filter(|host| !people.contains(&host.person)) {
        tx.exec(
            "DELETE FROM booking_hosts WHERE ws = ?1 AND type = ?2 AND person = ?3",
            &[&ws, id, &gone.person],
        )?;
    }
    let turns: Vec<RoundRobinState> = before.iter().map(BookingHost::turns).collect();
    for (place, person) in people.iter().enumerate() {
        let kept = before.iter().find(|host| host.person == *person).map(|host| host.weight);
        let said = input.weights.iter().find(|(who, _)| who == person).map(|(_, weight)| *weight);
        let weight = said.or(kept).unwrap_or(WEIGHT);
        // Somebody whose share changes begins with the others' average too, so that they get neither
        // everything nor nothing until the turns are even again.
        let others: Vec<RoundRobinState> = before
            .iter()
            .zip(&turns)
            .filter(|(host, _)| host.person != *person)
            .map(|(_, turns)| *turns)
            .collect();
        let given = calendar::turns_of_new_host(&others, u32::try_from(weight).unwrap_or(1));
        let given = i64::try_from(given).unwrap_or(i64::MAX);
        tx.exec(
            "INSERT INTO booking_hosts (ws, type, person, place, weight, given)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (ws, type, person) DO UPDATE
             SET place = excluded.place, weight = excluded.weight,
                 given = CASE WHEN booking_hosts.weight = excluded.weight
                         THEN booking_hosts.given ELSE excluded.given END",
            &[&ws, id, person, &(place as i64), &weight, &given],
        )?;
        super::hours::ensure(tx, ws, person)?;
    }
    Ok(())
}

fn check(
    tx: &mut Tx<'_>,
    ws: i64,
    input: &BookingTypeInput,
    id: Option<&BookingTypeId>,
) -> Result<()> {
    let mut problems = ValidationErrors::default();
    let mut add = |field: &str, sentence: String| {
        problems.0.push(ValidationError { field: field.into(), sentence });
    };
    for (field, text, least, most) in [
        ("name", &input.name, 1, BOOKING_TYPE_NAME_CHARS),
        ("description", &input.description, 0, BOOKING_DESCRIPTION_CHARS),
        ("place", &input.place, 0, BOOKING_PLACE_CHARS),
    ] {
        let chars = text.trim().chars().count();
        if chars < least || chars > most || text.contains('\0') {
            add(field, format!("must be {least} to {most} characters"));
        }
    }
    if !is_slug(&input.slug) {
        add("slug", format!("must be 1 to {BOOKING_SLUG_CHARS} lower-case letters, digits and -"));
    }
    for (field, number, least, most) in [
        ("minutes", input.minutes, BOOKING_MINUTES_MIN, BOOKING_MINUTES),
        ("step", input.step.unwrap_or(input.minutes), BOOKING_MINUTES_MIN, BOOKING_MINUTES),
        ("before", input.before, 0, BOOKING_BUFFER_MINUTES),
        ("after", input.after, 0, BOOKING_BUFFER_MINUTES),
        ("notice", input.notice, 0, BOOKING_NOTICE_MINUTES),
        ("horizon-days", input.horizon_days, 1, BOOKING_HORIZON_DAYS),
        ("per-day", input.per_day.unwrap_or(1), 1, BOOKINGS_PER_DAY),
        ("cancel-until", input.cancel_hours, 0, BOOKING_CANCEL_HOURS),
    ] {
        if !(least..=most).contains(&number) {
            add(field, format!("must be a whole number from {least} to {most}"));
        }
    }
    let is_question = |question: &BookingQuestion| {
        let chars = question.text.trim().chars().count();
        (1..=BOOKING_QUESTION_CHARS).contains(&chars)
    };
    if input.questions.len() > BOOKING_QUESTIONS || !input.questions.iter().all(is_question) {
        let most = BOOKING_QUESTION_CHARS;
        add("questions", format!("must be at most {BOOKING_QUESTIONS} of up to {most} characters"));
    }
    if input.weights.iter().any(|(_, weight)| !(1..=HOST_WEIGHT).contains(weight)) {
        add("weights", format!("must be whole numbers from 1 to {HOST_WEIGHT}"));
    }
    let most_hosts = calendar::limits::SLOT_HOSTS;
    if input.hosts.is_empty() || input.hosts.len() > most_hosts {
        add("hosts", format!("must be 1 to {most_hosts} people"));
    }
    if !problems.0.is_empty() {
        return Err(Error::Invalid(problems));
    }
    let taken: Option<(BookingTypeId,)> = tx.opt(
        "SELECT id FROM booking_types WHERE ws = ?1 AND circle = 'team' AND slug = ?2",
        &[&ws, &input.slug],
    )?;
    if taken.is_some_and(|(taken,)| Some(&taken) != id) {
        return Err(Error::invalid("slug", "is taken by another booking type"));
    }
    for person in &input.hosts {
        let found: Option<(UserId,)> =
            tx.opt("SELECT id FROM users WHERE ws = ?1 AND id = ?2", &[&ws, person])?;
        found.ok_or_else(|| Error::invalid("hosts", "must be people of the team"))?;
    }
    Ok(())
}

fn is_slug(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=BOOKING_SLUG_CHARS).contains(&text.len())
        && text.bytes().all(plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Makes the sandbox's type with its invented host, for a new workspace.
pub fn add_sandbox(tx: &mut Tx<'_>, cx: &Cx<'_>, mailbox: &MailboxId) -> Result<()> {
    let (ws, rest) = (cx.actor.ws, &cx.actor.workspace.as_str()[4..]);
    let (id, person) = (format!("bkt_{rest}"), format!("usr_{rest}"));
    tx.exec(
        "INSERT INTO hosts (ws, person, name, zone, weekly, revision, feed_generation)
         VALUES (?1, ?2, 'Sam Sandbox', 'UTC', 'mon-fri 09:00-17:00', 0, 1)",
        &[&ws, &person],
    )?;
    tx.exec(
        "INSERT INTO booking_types (
            ws, id, circle, slug, name, description, place, minutes, step, before_minutes,
            after_minutes, notice, horizon_days, mode, questions, mailbox, listed, active, created_at
         ) VALUES (
            ?1, ?2, 'sandbox', 'call', 'Sandbox call', 'An invented appointment.', 'Nowhere', 30, 30,
            0, 0, 0, 60, 'any', '[]', ?3, FALSE, TRUE, ?4
         )",
        &[&ws, &id, mailbox, &cx.now],
    )?;
    tx.exec(
        "INSERT INTO booking_hosts (ws, type, person, place, weight, given)
         VALUES (?1, ?2, ?3, 0, ?4, 0)",
        &[&ws, &id, &person, &WEIGHT],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_slug;

    #[test]
    fn a_slug_can_stand_in_an_address() {
        for good in ["call", "first-call-30", "7"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a b", "ü", "a/b", &"a".repeat(61)] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
