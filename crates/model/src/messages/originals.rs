//! The whole text of messages, as they came or were written.

use std::collections::HashMap;

use base::app::Cx;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use base::limits::{ORIGINAL_CHARS, ORIGINALS, ORIGINALS_CHARS, ORIGINALS_RAW_BYTES};
use db::Tx;

/// The whole texts of a conversation's messages, from the newest on, until the limits of one read
/// are reached. A message of our own is whole as it is kept; of one that came in, the mail is read.
pub fn of_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &ConversationId,
) -> Result<HashMap<MessageId, String>> {
    let newest: Vec<(MessageId, Option<String>, i64)> = tx.all(
        "SELECT m.id, m.raw_hash, coalesce(b.size, 0)
         FROM messages m LEFT JOIN blobs b ON b.ws = m.ws AND b.hash = m.raw_hash
         WHERE m.ws = ?1 AND m.conversation = ?2 AND m.discarded_at IS NULL
         ORDER BY m.at DESC, m.id DESC LIMIT ?3",
        &[&cx.actor.ws, conversation, &ORIGINALS],
    )?;
    let (mut originals, mut chars, mut bytes) = (HashMap::new(), 0, 0);
    for (id, raw, size) in newest {
        bytes += size;
        if bytes > ORIGINALS_RAW_BYTES {
            break;
        }
        let text = cut(whole_text(tx, cx, &id, raw.as_deref())?, ORIGINAL_CHARS);
        chars += text.chars().count();
        if chars > ORIGINALS_CHARS {
            break;
        }
        originals.insert(id, text);
    }
    Ok(originals)
}

/// The whole text of a message: of the mail as it came, or as we wrote it.
pub fn whole_text(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    message: &MessageId,
    raw: Option<&str>,
) -> Result<String> {
    let raw = match raw {
        Some(hash) => cx.blobs.get(tx, cx.actor.ws, hash)?,
        None => None,
    };
    if let Some(raw) = raw {
        return Ok(mail::whole_text(&raw));
    }
    let (text,): (String,) =
        tx.one("SELECT text FROM messages WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, message])?;
    Ok(text)
}

/// The start of a text, in characters.
pub fn cut(mut text: String, chars: usize) -> String {
    if text.len() > chars
        && let Some((end, _)) = text.char_indices().nth(chars)
    {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_after_so_many_characters() {
        assert_eq!(cut("é".repeat(8_001), 8_000).chars().count(), 8_000);
        assert_eq!(cut("é".repeat(8_000), 8_000).chars().count(), 8_000);
        assert_eq!(cut("a".repeat(3), 8_000), "aaa");
    }
}
