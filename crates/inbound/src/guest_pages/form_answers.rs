//! What the answers on a contact form become of the conversation: its reference, topic, tags and fields.

use base::app::Cx;
use base::error::Result;
use base::ids::ConversationId;
use base::limits::REFERENCE_TAG_CHARS;
use base::reference::is_reference;
use contact_forms::posts::{FormAnswer, FormAnswerValue};
use contact_forms::{ContactForm, FormAnswerUse, FormField, FormFieldKind};
use db::Tx;
use model::conversations::tags;
use model::conversations::{self, Conversation, sorting, topics};
use model::fields::typed_value::FieldValue;
use model::fields::{self, FieldOwner, stored_values};
use serde_json::{Map, Value};

/// Fills a conversation from the answers. What nobody has proven is set on the conversation alone, never
/// on the contact whose address was typed.
pub(crate) fn take(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    form: &ContactForm,
    id: &ConversationId,
    answers: &[FormAnswer],
) -> Result<()> {
    let mut conversation = conversations::load(tx, cx.actor, id.as_str())?;
    let mut names: Vec<String> = Vec::new();
    if !form.tag.is_empty() {
        names.push(form.tag.clone());
    }
    let mut values = Map::new();
    for field in form.fields.iter() {
        let Some(answer) = answers.iter().find(|answer| answer.key == field.key) else { continue };
        match (&field.becomes, &answer.value) {
            (Some(FormAnswerUse::Topic), FormAnswerValue::Text(name)) => {
                let topic = topics::find_by_name(tx, cx.actor.ws, name)?;
                if topic.is_some() {
                    sorting::set_by_rule(tx, cx, &mut conversation, topic.as_ref(), None)?;
                }
            }
            (Some(FormAnswerUse::Tag), FormAnswerValue::Text(name)) => names.push(name.clone()),
            (Some(FormAnswerUse::Field(key)), value) => {
                if let Some(value) = value_of(tx, cx, key, value)? {
                    values.insert(key.clone(), value);
                }
            }
            _ => {}
        }
        give_reference(tx, cx, &mut conversation, field, &answer.value)?;
    }
    if !names.is_empty() {
        tags::change(tx, cx, &mut conversation, &tags::sort_names(&names), &[])?;
    }
    if values.is_empty() {
        return Ok(());
    }
    stored_values::set_of_conversation(tx, cx, &conversation, &values)
}

/// The value of a field of conversations, if the answer fits it.
fn value_of(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    key: &str,
    answer: &FormAnswerValue,
) -> Result<Option<Value>> {
    let found = fields::find(tx, cx.actor.ws, key)?;
    let Some(field) = found.filter(|field| field.owner == FieldOwner::Conversation) else {
        return Ok(None);
    };
    let text = match answer {
        FormAnswerValue::Consent(ticked) => ticked.to_string(),
        FormAnswerValue::Text(text) => text.clone(),
    };
    Ok(FieldValue::of_text(&field, &text).ok().map(|value| value.json(field.kind)))
}

/// The first reference that was typed becomes the conversation's.
fn give_reference(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    field: &FormField,
    answer: &FormAnswerValue,
) -> Result<()> {
    let FormAnswerValue::Text(text) = answer else { return Ok(()) };
    let fits = field.kind == FormFieldKind::Reference
        && conversation.reference.is_none()
        && text.chars().count() <= REFERENCE_TAG_CHARS
        && is_reference(text);
    if !fits {
        return Ok(());
    }
    tx.exec_soon(
        "UPDATE conversations SET reference = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id, text],
    )?;
    conversation.reference = Some(text.clone());
    Ok(())
}
