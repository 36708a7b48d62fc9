//! Moves everything of an inbox from one circle to another, when it is opened to everybody or closed
//! to all but some.

use base::actor::Circle;
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ConversationId, MailboxId, TagId, TopicId};
use base::limits::thousands;
use base::sorter_models::ExampleKind;
use base::states::View;
use db::{Arg, Json, Tx, Value};

use crate::contacts::contact_addresses;
use crate::conversations::{sorter_examples, tags};
use crate::figures::counters::{self, Counter};

/// Conversations that are moved with one statement.
const MOVED_TOGETHER: i64 = 256;

/// Tags of one circle that are moved.
const TAGS_MOVED: i64 = 10_000;

/// The addresses of those who took part in the conversations of an inbox.
const OF_INBOX: &str = "SELECT c.contact_email FROM conversations c
     WHERE c.ws = ?1 AND c.mailbox = ?3
     UNION
     SELECT p.email FROM participants p
     JOIN conversations c ON c.ws = p.ws AND c.id = p.conversation
     WHERE c.ws = ?1 AND c.mailbox = ?3";

/// An inbox on its way from one circle to another.
#[derive(Clone, Copy)]
pub struct CircleMove<'a> {
    pub mailbox: &'a MailboxId,
    pub from: &'a Circle,
    pub to: &'a Circle,
}

/// The conversations of one batch, as one argument.
struct Batch(Vec<ConversationId>);

impl Arg for Batch {
    fn value(&self) -> Value<'_> {
        self.0[0].value()
    }

    fn others(&self) -> Vec<Value<'_>> {
        self.0[1..].iter().map(Arg::value).collect()
    }
}

impl CircleMove<'_> {
    /// Moves the rows of an inbox. One transaction has it all, so nobody ever sees half of it.
    pub fn run(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
        let ws = cx.actor.ws;
        tx.exec_soon(
            "UPDATE mailboxes SET circle = ?3 WHERE ws = ?1 AND id = ?2",
            &[&ws, self.mailbox, self.to],
        )?;
        for view in View::ALL {
            self.move_view(tx, ws, *view)?;
        }
        self.move_counters(tx, ws)?;
        self.move_learned(tx, ws)?;
        self.move_contacts(tx, ws)?;
        self.forget_deliveries(tx, ws)?;
        // An answer that is for this inbox alone is seen by those who see the inbox, and no longer public.
        for table in ["help_words", "help_pages"] {
            tx.exec_soon(
                &format!(
                    "DELETE FROM {table} WHERE ws = ?1 AND answer IN (
                         SELECT id FROM answers WHERE ws = ?1 AND circle = ?2 AND inboxes = ?3
                     )"
                ),
                &[&ws, self.from, &Json(&[self.mailbox])],
            )?;
        }
        tx.exec_soon(
            "UPDATE answers SET circle = ?4, help_state = 'draft' WHERE ws = ?1 AND circle = ?2 AND inboxes = ?3",
            &[&ws, self.from, &Json(&[self.mailbox]), self.to],
        )?;
        self.move_reports(tx, ws)?;
        if self.from.inbox().is_some() { self.end_circle(tx, cx) } else { Ok(()) }
    }

    /// Walks the inbox's list of one view, which the move does not reorder.
    fn move_view(&self, tx: &mut Tx<'_>, ws: i64, view: View) -> Result<()> {
        let (mut at, mut id) = (i64::MIN, String::new());
        loop {
            let found: Vec<(i64, ConversationId)> = tx.all(
                "SELECT last_message_at, id FROM conversations
                 WHERE ws = ?1 AND mailbox = ?2 AND view = ?3 AND (last_message_at, id) > (?4, ?5)
                 ORDER BY last_message_at, id LIMIT ?6",
                &[&ws, self.mailbox, &view, &at, &id, &MOVED_TOGETHER],
            )?;
            let Some((last_at, last)) = found.last() else { return Ok(()) };
            (at, id) = (*last_at, last.to_string());
            let batch = Batch(found.into_iter().map(|(_, id)| id).collect());
            for sql in [
                "UPDATE conversations SET circle = ?2 WHERE ws = ?1 AND id IN (?3)",
                "UPDATE documents SET circle = ?2
                 WHERE ws = ?1 AND conversation IS NOT NULL AND conversation IN (?3)",
                "UPDATE events SET circle = ?2
                 WHERE ws = ?1 AND conversation IS NOT NULL AND conversation IN (?3)",
            ] {
                tx.exec_soon(sql, &[&ws, self.to, &batch])?;
            }
        }
    }

    fn move_counters(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        counters::move_over(tx, ws, Counter::Open(self.mailbox), self.from, self.to)?;
        let tagged: Vec<(TagId, i64)> = tx.all(
            "SELECT t.tag, CAST(count(*) AS BIGINT) FROM conversation_tags t
             JOIN conversations c ON c.ws = t.ws AND c.id = t.conversation
             WHERE t.ws = ?1 AND c.mailbox = ?2 GROUP BY t.tag",
            &[&ws, self.mailbox],
        )?;
        let topics: Vec<(TopicId, i64)> = tx.all(
            "SELECT topic, CAST(count(*) AS BIGINT) FROM conversations
             WHERE ws = ?1 AND mailbox = ?2 AND view = 'open' AND topic IS NOT NULL GROUP BY topic",
            &[&ws, self.mailbox],
        )?;
        let tagged = tagged.iter().map(|(tag, n)| (Counter::Tagged(tag), *n));
        let topics = topics.iter().map(|(topic, n)| (Counter::OpenOfTopic(topic), *n));
        for (counter, n) in tagged.chain(topics) {
            counters::add(tx, ws, self.from, counter, self.mailbox.as_str(), -n)?;
            counters::add(tx, ws, self.to, counter, self.mailbox.as_str(), n)?;
        }
        Ok(())
    }

    fn move_reports(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        tx.exec_soon(
            "UPDATE report_facts SET circle = ?4 WHERE ws = ?1 AND circle = ?2 AND mailbox = ?3",
            &[&ws, self.from, self.mailbox, self.to],
        )?;
        for (table, span) in [
            ("report_quarter_hours", "day, quarter_hour"),
            ("report_days", "day"),
            ("report_months", "month"),
        ] {
            let added = format!(
                "INSERT INTO {table} (ws, circle, measure, {span}, mailbox, name, n)
                 SELECT ws, ?4, measure, {span}, mailbox, name, n FROM {table}
                 WHERE ws = ?1 AND circle = ?2 AND mailbox = ?3
                 ON CONFLICT (ws, circle, measure, {span}, mailbox, name)
                 DO UPDATE SET n = {table}.n + excluded.n"
            );
            tx.exec_soon(&added, &[&ws, self.from, self.mailbox, self.to])?;
            let left =
                format!("DELETE FROM {table} WHERE ws = ?1 AND circle = ?2 AND mailbox = ?3");
            tx.exec_soon(&left, &[&ws, self.from, self.mailbox])?;
        }
        Ok(())
    }

    /// What was decided about the inbox's mail, and what was booked in it.
    fn move_learned(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        // What the other circle has of the same mail gives way.
        for (table, is_same) in [
            ("answered_mail", "o.message = answered_mail.message"),
            (
                "sorter_examples",
                "o.kind = sorter_examples.kind AND o.conversation = sorter_examples.conversation",
            ),
        ] {
            let sql = format!(
                "DELETE FROM {table}
                 WHERE ws = ?1 AND circle = ?4 AND EXISTS (
                     SELECT 1 FROM {table} o
                     JOIN conversations c ON c.ws = o.ws AND c.id = o.conversation
                     WHERE o.ws = ?1 AND o.circle = ?2 AND c.mailbox = ?3 AND {is_same}
                 )"
            );
            tx.exec_soon(&sql, &[&ws, self.from, self.mailbox, self.to])?;
        }
        for table in ["answered_mail", "sorter_examples", "bookings"] {
            let sql = format!(
                "UPDATE {table} SET circle = ?4
                 WHERE ws = ?1 AND circle = ?2 AND EXISTS (
                     SELECT 1 FROM conversations c
                     WHERE c.ws = {table}.ws AND c.id = {table}.conversation AND c.mailbox = ?3
                 )"
            );
            tx.exec_soon(&sql, &[&ws, self.from, self.mailbox, self.to])?;
        }
        for kind in ExampleKind::ALL {
            for circle in [self.from, self.to] {
                sorter_examples::raise(tx, ws, circle.to_string().as_str(), *kind)?;
            }
        }
        Ok(())
    }

    /// The addresses that are offered while somebody types, the domains that are known, and the
    /// blocked senders. Those that only this inbox knew are forgotten in the circle that it leaves.
    fn move_contacts(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        for sql in [
            format!(
                "INSERT INTO contacts (ws, circle, email, name, last_at, domain, standing)
                 SELECT ws, ?4, email, name, last_at, domain, standing FROM contacts
                 WHERE ws = ?1 AND circle = ?2 AND email IN ({OF_INBOX})
                 ON CONFLICT (ws, circle, email) DO NOTHING"
            ),
            format!(
                "INSERT INTO contact_words (ws, circle, word, email)
                 SELECT ws, ?4, word, email FROM contact_words
                 WHERE ws = ?1 AND circle = ?2 AND email IN ({OF_INBOX})
                 ON CONFLICT (ws, circle, word, email) DO NOTHING"
            ),
            // With one address of a person go the others, so that it stays one person there.
            format!(
                "INSERT INTO contact_addresses
                     (ws, circle, email, contact, before, merged_by, merged_at)
                 SELECT o.ws, ?4, o.email, o.contact, o.before, o.merged_by, o.merged_at
                 FROM contact_addresses o
                 WHERE o.ws = ?1 AND o.circle = ?2 AND o.contact IN (
                     SELECT a.contact FROM contact_addresses a
                     WHERE a.ws = ?1 AND a.circle = ?2 AND a.email IN ({OF_INBOX})
                 )
                 ON CONFLICT (ws, circle, email) DO NOTHING"
            ),
        ] {
            tx.exec_soon(&sql, &[&ws, self.from, self.mailbox, self.to])?;
        }
        for sql in [
            "INSERT INTO correspondents (ws, circle, domain, last_at, first_at)
             SELECT ws, ?3, domain, last_at, first_at FROM correspondents WHERE ws = ?1 AND circle = ?2
             ON CONFLICT (ws, circle, domain) DO NOTHING",
            "INSERT INTO blocked_senders (ws, circle, email, blocked_by, created_at)
             SELECT ws, ?3, email, blocked_by, created_at FROM blocked_senders
             WHERE ws = ?1 AND circle = ?2
             ON CONFLICT (ws, circle, email) DO NOTHING",
        ] {
            tx.exec_soon(sql, &[&ws, self.from, self.to])?;
        }
        for table in ["contacts", "contact_words"] {
            let sql = format!(
                "DELETE FROM {table}
                 WHERE ws = ?1 AND circle = ?2
                   AND email IN (
                       {OF_INBOX}
                       EXCEPT
                       SELECT p.email FROM participants p
                       JOIN conversations c ON c.ws = p.ws AND c.id = p.conversation
                       WHERE c.ws = ?1 AND c.circle = ?2
                   )
                   AND NOT EXISTS (
                       SELECT 1 FROM conversations c
                       WHERE c.ws = ?1 AND c.contact_email = {table}.email AND c.circle = ?2
                   )"
            );
            tx.exec_soon(&sql, &[&ws, self.from, self.mailbox])?;
        }
        self.move_notes_on_contacts(tx, ws)?;
        tx.exec_soon(
            "DELETE FROM correspondents
             WHERE ws = ?1 AND circle = ?2
               AND domain IN (
                   SELECT w.word FROM contact_words w WHERE w.ws = ?1 AND w.circle = ?3
               )
               AND NOT EXISTS (
                   SELECT 1 FROM contact_words w
                   WHERE w.ws = ?1 AND w.circle = ?2 AND w.word = correspondents.domain
               )",
            &[&ws, self.from, self.to],
        )?;
        Ok(())
    }

    /// What is known about a person of the inbox goes along where the circle that is left has no mail of
    /// theirs.
    fn move_notes_on_contacts(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        let is_unknown = |table: &str| {
            format!(
                "ws = ?1 AND circle = ?2 AND email IN ({OF_INBOX}) AND NOT EXISTS (
                     SELECT 1 FROM contacts c
                     WHERE c.ws = ?1 AND c.circle = ?2 AND c.email = {table}.email
                 ) AND NOT EXISTS (
                     SELECT 1 FROM conversations c
                     WHERE c.ws = ?1 AND c.contact_email = {table}.email AND c.circle = ?2
                 )"
            )
        };
        tx.exec_soon(
            &format!("UPDATE contact_notes SET circle = ?4 WHERE {}", is_unknown("contact_notes")),
            &[&ws, self.from, self.mailbox, self.to],
        )?;
        let fields = is_unknown("contact_fields");
        let moved: &[&dyn Arg] = &[&ws, self.from, self.mailbox, self.to];
        move_fields(tx, ("contact_fields", "email"), &fields, "?4", moved)?;
        tx.exec_soon(
            &format!("DELETE FROM contact_addresses WHERE {}", is_unknown("contact_addresses")),
            &[&ws, self.from, self.mailbox],
        )?;
        let gone: Vec<(EmailAddress,)> = tx.all(
            "SELECT a.contact FROM contact_addresses a
             WHERE a.ws = ?1 AND a.circle = ?2 AND NOT EXISTS (
                 SELECT 1 FROM contact_addresses o
                 WHERE o.ws = a.ws AND o.circle = a.circle AND o.email = a.contact
             )",
            &[&ws, self.from],
        )?;
        for (contact,) in &gone {
            contact_addresses::show_under_one_of_them(tx, ws, self.from, contact)?;
        }
        Ok(())
    }

    /// Webhooks of the circle that is left neither get nor log events of the inbox any more.
    fn forget_deliveries(&self, tx: &mut Tx<'_>, ws: i64) -> Result<()> {
        for table in ["delivery_attempts", "deliveries"] {
            let sql = format!(
                "DELETE FROM {table}
                 WHERE ws = ?1
                   AND webhook IN (SELECT h.id FROM webhooks h WHERE h.ws = ?1 AND h.circle = ?2)
                   AND EXISTS (
                       SELECT 1 FROM events e
                       WHERE e.ws = {table}.ws AND e.id = {table}.event AND e.circle = ?3
                   )"
            );
            tx.exec_soon(&sql, &[&ws, self.from, self.to])?;
        }
        Ok(())
    }

    /// The circle of an inbox ends when the inbox is for everybody.
    fn end_circle(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
        let ws = cx.actor.ws;
        let private: Vec<(TagId, String, String)> = tx.all(
            "SELECT id, name, folded FROM tags WHERE ws = ?1 AND circle = ?2 LIMIT ?3",
            &[&ws, self.from, &TAGS_MOVED],
        )?;
        for (id, name, folded) in private {
            match tags::find_by_name(tx, ws, self.to, &folded)?.filter(|tag| tag.circle == *self.to)
            {
                Some(known) => {
                    if !tags::merge(tx, cx, (&id, &name), (&known.id, &known.name))? {
                        let most = thousands(tags::RENAMED as usize);
                        let sentence = format!(
                            "The tag {name} is on more than {most} conversations, and everybody \
                             has a tag of that name. Rename theirs first."
                        );
                        return Err(Error::invalid("sees", sentence));
                    }
                }
                None => {
                    tx.exec_soon(
                        "UPDATE tags SET circle = ?3 WHERE ws = ?1 AND id = ?2",
                        &[&ws, &id, self.to],
                    )?;
                }
            }
        }
        for table in [("contact_fields", "email"), ("company_fields", "company")] {
            move_fields(tx, table, "ws = ?1 AND circle = ?2", "?3", &[&ws, self.from, self.to])?;
        }
        for table in ["answers", "audit_log", "contact_notes"] {
            let sql = format!("UPDATE {table} SET circle = ?3 WHERE ws = ?1 AND circle = ?2");
            tx.exec_soon(&sql, &[&ws, self.from, self.to])?;
        }
        for table in
            ["contacts", "contact_words", "contact_addresses", "correspondents", "blocked_senders"]
        {
            let sql = format!("DELETE FROM {table} WHERE ws = ?1 AND circle = ?2");
            tx.exec_soon(&sql, &[&ws, self.from])?;
        }
        Ok(())
    }
}

/// Gives values of contacts or companies to another circle; one that a field has there stays.
fn move_fields(
    tx: &mut Tx<'_>,
    (table, holder): (&str, &str),
    which: &str,
    to: &str,
    args: &[&dyn Arg],
) -> Result<()> {
    tx.exec_soon(
        &format!(
            "DELETE FROM {table} WHERE {which} AND EXISTS (
                 SELECT 1 FROM {table} o
                 WHERE o.ws = {table}.ws AND o.{holder} = {table}.{holder}
                   AND o.field = {table}.field AND o.circle = {to}
             )"
        ),
        args,
    )?;
    tx.exec_soon(&format!("UPDATE {table} SET circle = {to} WHERE {which}"), args)?;
    Ok(())
}
