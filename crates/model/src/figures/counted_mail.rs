//! What a received or sent mail changes in the row of its conversation.

use base::app::Cx;
use base::concurrency::queue::Queue;
use base::error::Result;
use base::limits::SNIPPET_CHARS;
use base::states::Direction;
use db::Tx;
use search::list::ConversationSummary;

use crate::conversations::Conversation;
use crate::conversations::trash;

/// A received or sent mail, as its conversation counts it.
pub struct CountedMail<'a> {
    pub at: i64,
    pub direction: Direction,
    /// True for mail of the service itself, which answers nobody.
    pub automatic: bool,
    /// Whether the customer wrote it on a secure page; `None` for what no customer wrote.
    pub secure_answer: Option<bool>,
    pub text: &'a str,
    /// True when the sorting helper is to look at it.
    pub sorts: bool,
}

/// Counts a mail. The newest one determines a conversation's position in lists, its snippet and
/// whether the customer waits; fetched mail may be older than the newest.
pub fn count_mail(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &mut Conversation,
    mail: &CountedMail<'_>,
) -> Result<()> {
    if !mail.automatic && mail.at >= conversation.last_message_at {
        trash::leave(tx, cx, conversation)?;
    }
    let waiting_since = match mail.direction {
        Direction::Inbound => "coalesce(waiting_since, ?3)",
        Direction::Outbound if mail.automatic => "waiting_since",
        Direction::Outbound => "NULL",
    };
    let secure_answer = match mail.secure_answer {
        None => "secure_answer",
        Some(true) => "TRUE",
        Some(false) => "FALSE",
    };
    tx.exec_soon(
        &format!(
            "UPDATE conversations
             SET message_count = message_count + 1,
                 snippet = CASE WHEN last_message_at > ?3 THEN snippet ELSE ?4 END,
                 last_direction = CASE WHEN last_message_at > ?3 THEN last_direction ELSE ?5 END,
                 secure_answer =
                     CASE WHEN last_message_at > ?3 THEN secure_answer ELSE {secure_answer} END,
                 waiting_since =
                     CASE WHEN last_message_at > ?3 THEN waiting_since ELSE {waiting_since} END,
                 last_message_at = CASE WHEN last_message_at > ?3 THEN last_message_at ELSE ?3 END,
                 sorts_at = coalesce(?6, sorts_at)
             WHERE ws = ?1 AND id = ?2"
        ),
        &[
            &cx.actor.ws,
            &conversation.id,
            &mail.at,
            &snippet(mail.text),
            &mail.direction,
            &mail.sorts.then_some(cx.now),
        ],
    )?;
    if mail.sorts {
        tx.wake(Queue::Sorting);
    }
    conversation.last_message_at = conversation.last_message_at.max(mail.at);
    Ok(())
}

/// The first characters of a text, white space folded.
pub fn snippet(text: &str) -> String {
    snippet_of(text, SNIPPET_CHARS)
}

/// The first characters of a text, up to a number, white space folded.
pub fn snippet_of(text: &str, most: usize) -> String {
    let mut snippet = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        for c in (chars > 0).then_some(' ').into_iter().chain(word.chars()) {
            if chars == most {
                return snippet;
            }
            snippet.push(c);
            chars += 1;
        }
    }
    snippet
}

/// The start of a conversation's latest message. A short one stands in its row.
pub fn latest_snippet(
    tx: &mut Tx<'_>,
    ws: i64,
    summary: &ConversationSummary,
    most: usize,
) -> Result<String> {
    // A row whose text ends before its limit has it all.
    if most <= SNIPPET_CHARS || summary.snippet.chars().count() < SNIPPET_CHARS {
        return Ok(snippet_of(&summary.snippet, most));
    }
    let newest: Option<(String,)> = tx.opt(
        "SELECT text FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND counted_at IS NOT NULL
         ORDER BY counted_at DESC, serial DESC LIMIT 1",
        &[&ws, &summary.id],
    )?;
    Ok(newest.map_or_else(|| summary.snippet.clone(), |(text,)| snippet_of(&text, most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_folds_white_space_and_ends_after_140_characters() {
        assert_eq!(snippet("  Hello\n\n  there,\tyou "), "Hello there, you");
        assert_eq!(snippet(&"é".repeat(200)).chars().count(), 140);
        assert_eq!(snippet(&"ab ".repeat(100)).chars().count(), 140);
        assert_eq!(snippet(""), "");
        assert_eq!(snippet_of("one  two three", 7), "one two");
    }
}
