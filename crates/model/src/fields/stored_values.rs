//! The values of fields: what conversations and contacts have, and setting them.
//!
//! A value of a contact has a circle as notes on them have: it is seen by those who see mail of theirs.

use base::actor::{Actor, Circle};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result, ValidationErrors};
use base::ids::{ConversationId, WorkspaceId};
use base::limits::FIELDS;
use db::Tx;
use serde_json::{Map, Value};

use crate::contacts::{contact_addresses, contact_notes};
use crate::conversations::timeline::{self, TimelineEvent};
use crate::conversations::{self, Conversation};
pub use crate::fields::field_entry::FieldEntry;
use crate::fields::field_entry::{FieldChange, StoredValue};
use crate::fields::typed_value::FieldValue;
use crate::fields::{self, FieldOwner, company_values};
use crate::people::agent_limits::changes::ConversationAct;

/// Values as JSON has them, by key.
pub fn object(entries: &[FieldEntry]) -> Map<String, Value> {
    entries.iter().map(|entry| (entry.key.clone(), entry.value.json(entry.kind))).collect()
}

/// What a conversation has, by key.
pub fn of_conversation(tx: &mut Tx<'_>, ws: i64, id: &ConversationId) -> Result<Vec<FieldEntry>> {
    let found: Vec<StoredValue> = tx.all(
        &format!(
            "SELECT {} FROM conversation_fields v JOIN fields f ON f.ws = v.ws AND f.name = v.field
             WHERE v.ws = ?1 AND v.conversation = ?2 ORDER BY v.field LIMIT ?3",
            StoredValue::COLUMNS
        ),
        &[&ws, id, &FIELDS],
    )?;
    Ok(found.into_iter().map(FieldEntry::from).collect())
}

/// What the person with these addresses and their company have, by key. What everybody knows comes before what is known from
/// a private inbox.
pub fn of_contact(
    tx: &mut Tx<'_>,
    actor: &Actor,
    addresses: &[EmailAddress],
) -> Result<Vec<FieldEntry>> {
    let (first, second) = actor.circles.pair();
    let sql = format!(
        "SELECT {} FROM contact_fields v JOIN fields f ON f.ws = v.ws AND f.name = v.field
         WHERE v.ws = ?1 AND v.email = ?2 AND v.circle IN (?3, ?4)
         ORDER BY v.field, CASE WHEN v.circle = 'team' THEN 0 ELSE 1 END LIMIT ?5",
        StoredValue::COLUMNS
    );
    let mut entries: Vec<FieldEntry> = Vec::new();
    for email in addresses {
        let found: Vec<StoredValue> =
            tx.all(&sql, &[&actor.ws, email, first, second, &(2 * FIELDS)])?;
        for entry in found.into_iter().map(FieldEntry::from) {
            if !entries.iter().any(|known| known.key == entry.key) {
                entries.push(entry);
            }
        }
    }
    if let Some(company) = company_values::company_of(addresses) {
        entries.extend(company_values::of_company(tx, actor, company)?);
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(entries)
}

/// What a conversation and its contact have, as everybody who sees the conversation knows it.
pub fn known_about(
    tx: &mut Tx<'_>,
    ws: i64,
    conversation: &Conversation,
) -> Result<Vec<FieldEntry>> {
    if fields::all(tx, ws)?.is_empty() {
        return Ok(Vec::new());
    }
    let mut entries = of_conversation(tx, ws, &conversation.id)?;
    let workspace: (WorkspaceId,) = tx.one("SELECT id FROM workspaces WHERE ws = ?1", &[&ws])?;
    let all = Actor::system(ws, workspace.0, conversation.circle.clone());
    let addresses = contact_addresses::of(tx, &all, &conversation.contact_email)?;
    entries.extend(of_contact(tx, &all, &addresses)?);
    Ok(entries)
}

/// Sets fields of a conversation; null removes one. What is as it was changes nothing.
pub fn set_of_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    values: &Map<String, Value>,
) -> Result<()> {
    let ws = cx.actor.ws;
    let wanted = check(tx, ws, FieldOwner::Conversation, values)?;
    conversations::admit_change(tx, cx, conversation, ConversationAct::Change)?;
    let changes = without_known(wanted, &of_conversation(tx, ws, &conversation.id)?);
    if changes.is_empty() {
        return Ok(());
    }
    for change in &changes {
        let (id, key) = (&conversation.id, &change.field.key);
        let Some(value) = &change.to else {
            tx.exec_soon(
                "DELETE FROM conversation_fields
                 WHERE ws = ?1 AND conversation = ?2 AND field = ?3",
                &[&ws, id, key],
            )?;
            continue;
        };
        tx.exec_soon(
            "INSERT INTO conversation_fields (ws, conversation, field, value, folded, number)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (ws, conversation, field) DO UPDATE
             SET value = excluded.value, folded = excluded.folded, number = excluded.number",
            &[&ws, id, key, &value.text, &value.fold_text(), &value.number],
        )?;
    }
    let event = TimelineEvent::FieldsChanged { fields: object_of(&changes) };
    timeline::record(tx, cx, &conversation.id, &event)
}

/// Sets fields of the person with these addresses, for those who see mail of theirs; null removes one.
pub fn set_of_contact(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    addresses: &[EmailAddress],
    values: &Map<String, Value>,
) -> Result<()> {
    let ws = cx.actor.ws;
    let (email, circle) = contact_notes::place(tx, cx.actor, addresses)?;
    let wanted = check(tx, ws, FieldOwner::Contact, values)?;
    admit_contact_change(tx, cx, addresses)?;
    let changes = without_known(wanted, &of_contact(tx, cx.actor, addresses)?);
    let (first, second) = cx.actor.circles.pair();
    let company = company_values::company_of(addresses);
    let is_of_company = |change: &FieldChange| change.field.owner == FieldOwner::Company;
    if let (None, Some(change)) = (company, changes.iter().find(|change| is_of_company(change))) {
        let sentence = "belongs to a company, and this address is of none";
        return Err(Error::invalid(format!("fields.{}", change.field.key), sentence));
    }
    for change in &changes {
        let key = &change.field.key;
        if let Some(company) = company.filter(|_| is_of_company(change)) {
            company_values::set(tx, cx.actor, company, &circle, change)?;
            continue;
        }
        for address in addresses {
            tx.exec_soon(
                "DELETE FROM contact_fields
                 WHERE ws = ?1 AND email = ?2 AND field = ?3 AND circle IN (?4, ?5)",
                &[&ws, address, key, first, second],
            )?;
        }
        if let Some(value) = &change.to {
            tx.exec_soon(
                "INSERT INTO contact_fields (ws, email, field, circle, value, folded, number)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (ws, email, field, circle) DO UPDATE
                 SET value = excluded.value, folded = excluded.folded, number = excluded.number",
                &[&ws, email, key, &circle, &value.text, &value.fold_text(), &value.number],
            )?;
        }
    }
    Ok(())
}

/// An agent that changes a contact changes the latest conversation with them, as far as its limits go.
fn admit_contact_change(tx: &mut Tx<'_>, cx: &Cx<'_>, addresses: &[EmailAddress]) -> Result<()> {
    let (first, second) = cx.actor.circles.pair();
    let mut latest: Option<(i64, ConversationId)> = None;
    for email in addresses {
        let found: Option<(i64, ConversationId)> = tx.opt(
            "SELECT last_message_at, id FROM conversations
             WHERE ws = ?1 AND contact_email = ?2 AND circle IN (?3, ?4) AND merged_into IS NULL
             ORDER BY last_message_at DESC, id DESC LIMIT 1",
            &[&cx.actor.ws, email, first, second],
        )?;
        latest = latest.max(found);
    }
    let Some((_, id)) = latest else { return Ok(()) };
    let conversation = conversations::load_itself(tx, cx.actor, id.as_str())?;
    conversations::admit_change(tx, cx, &conversation, ConversationAct::Change)
}

/// What is asked for, or everything that is wrong with it.
fn check(
    tx: &mut Tx<'_>,
    ws: i64,
    owner: FieldOwner,
    values: &Map<String, Value>,
) -> Result<Vec<FieldChange>> {
    let known = fields::of_owner(tx, ws, owner)?;
    let mut problems = ValidationErrors::default();
    let mut changes = Vec::new();
    for (key, value) in values {
        let path = format!("fields.{key}");
        let Some(field) = known.iter().find(|field| field.key == *key) else {
            let sentence = format!("is not a field of a {} (see GET /fields)", owner.as_str());
            problems.add(&path, sentence);
            continue;
        };
        let to = match value {
            Value::Null => Ok(None),
            value => FieldValue::of_json(field, value).map(Some),
        };
        match to {
            Ok(to) => changes.push(FieldChange { field: field.clone(), to }),
            Err(sentence) => problems.add(&path, sentence),
        }
    }
    if problems.0.is_empty() { Ok(changes) } else { Err(Error::Invalid(problems)) }
}

/// The changes that change something.
fn without_known(mut changes: Vec<FieldChange>, known: &[FieldEntry]) -> Vec<FieldChange> {
    changes.retain(|change| {
        let before = known.iter().find(|entry| entry.key == change.field.key);
        before.map(|entry| &entry.value) != change.to.as_ref()
    });
    changes
}

fn object_of(changes: &[FieldChange]) -> Map<String, Value> {
    let value = |change: &FieldChange| {
        let value = change.to.as_ref().map(|value| value.json(change.field.kind));
        (change.field.key.clone(), value.unwrap_or_default())
    };
    changes.iter().map(value).collect()
}

/// What is set of a person goes over to another address of theirs, where that one has nothing yet.
pub fn carry_over(
    tx: &mut Tx<'_>,
    ws: i64,
    circle: &Circle,
    email: &EmailAddress,
    other: &EmailAddress,
) -> Result<()> {
    tx.exec_soon(
        "UPDATE contact_fields SET email = ?4
         WHERE ws = ?1 AND circle = ?2 AND email = ?3 AND NOT EXISTS (
             SELECT 1 FROM contact_fields o
             WHERE o.ws = ?1 AND o.circle = ?2 AND o.email = ?4 AND o.field = contact_fields.field
         )",
        &[&ws, circle, email, other],
    )?;
    Ok(())
}

/// Gives a conversation the values of another one where it has none; returns the keys of their fields.
pub fn lend(
    tx: &mut Tx<'_>,
    ws: i64,
    from: &ConversationId,
    to: &ConversationId,
) -> Result<Vec<String>> {
    let lent: Vec<(String,)> = tx.all(
        "SELECT v.field FROM conversation_fields v
         WHERE v.ws = ?1 AND v.conversation = ?2 AND NOT EXISTS (
             SELECT 1 FROM conversation_fields o
             WHERE o.ws = ?1 AND o.conversation = ?3 AND o.field = v.field
         )
         ORDER BY v.field LIMIT ?4",
        &[&ws, from, to, &FIELDS],
    )?;
    for (field,) in &lent {
        tx.exec_soon(
            "INSERT INTO conversation_fields (ws, conversation, field, value, folded, number)
             SELECT ws, ?3, field, value, folded, number FROM conversation_fields
             WHERE ws = ?1 AND conversation = ?2 AND field = ?4
             ON CONFLICT (ws, conversation, field) DO NOTHING",
            &[&ws, from, to, field],
        )?;
    }
    Ok(lent.into_iter().map(|(field,)| field).collect())
}

/// Takes values back that were given to a conversation, unless they were changed since.
pub fn take_back(
    tx: &mut Tx<'_>,
    ws: i64,
    from: &ConversationId,
    to: &ConversationId,
    fields: &[String],
) -> Result<()> {
    for field in fields {
        tx.exec_soon(
            "DELETE FROM conversation_fields
             WHERE ws = ?1 AND conversation = ?3 AND field = ?4 AND value = (
                 SELECT o.value FROM conversation_fields o
                 WHERE o.ws = ?1 AND o.conversation = ?2 AND o.field = ?4
             )",
            &[&ws, from, to, field],
        )?;
    }
    Ok(())
}
