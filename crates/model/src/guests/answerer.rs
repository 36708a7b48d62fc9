//! Who answered a conversation that a customer rates: people alone, an agent or the helper whose drafts people
//! approved, or an agent by itself. Never a single person.

use base::error::Result;
use base::ids::{AgentId, ConversationId, MessageId};
use db::Tx;

use crate::figures::report_facts::DraftFate;
use crate::messages::helper_drafts;

/// Messages of a conversation that are looked at, from its end.
const MESSAGES: i64 = 50;
const PEOPLE: &str = "people";
const DRAFTED: &str = "drafted";
const ALONE: &str = "alone";

/// Who answered, as reports count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answerer {
    People,
    /// People approved what it drafted: an agent's id, or the helper's name.
    Drafted(String),
    /// An agent sent by itself.
    Alone(String),
}

impl Answerer {
    /// The word in the counters.
    pub fn word(&self) -> String {
        match self {
            Answerer::People => PEOPLE.to_owned(),
            Answerer::Drafted(by) => format!("{DRAFTED}:{by}"),
            Answerer::Alone(by) => format!("{ALONE}:{by}"),
        }
    }

    pub fn parse(word: &str) -> Option<Answerer> {
        match word.split_once(':') {
            None => (word == PEOPLE).then_some(Answerer::People),
            Some((DRAFTED, by)) => Some(Answerer::Drafted(by.to_owned())),
            Some((ALONE, by)) => Some(Answerer::Alone(by.to_owned())),
            Some(_) => None,
        }
    }

    /// Whoever had the least of a person in it counts: an agent by itself before one whose draft was
    /// approved, and that before people.
    pub fn of(tx: &mut Tx<'_>, ws: i64, conversation: &ConversationId) -> Result<Answerer> {
        let sent: Vec<(MessageId, Option<String>, Option<DraftFate>)> = tx.all(
            "SELECT id, author, approved FROM messages
             WHERE ws = ?1 AND conversation = ?2 AND direction = 'outbound' AND status = 'sent'
               AND automatic = FALSE
             ORDER BY at DESC, id DESC LIMIT ?3",
            &[&ws, conversation, &MESSAGES],
        )?;
        let mut drafted = None;
        for (message, author, approved) in sent {
            let author = helper_drafts::counted_author(tx, ws, &message, author.as_deref())?;
            let is_agent = |author: &String| AgentId::parse(author).is_some();
            match (author, approved) {
                (Some(author), None) if is_agent(&author) => return Ok(Answerer::Alone(author)),
                (Some(author), Some(_)) => drafted = drafted.or(Some(author)),
                _ => {}
            }
        }
        Ok(drafted.map_or(Answerer::People, Answerer::Drafted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_answered_is_read_as_it_is_written() {
        let by = || "agt_1".to_owned();
        for answerer in [Answerer::People, Answerer::Drafted(by()), Answerer::Alone(by())] {
            assert_eq!(Answerer::parse(&answerer.word()), Some(answerer));
        }
        assert_eq!(Answerer::parse("usr_1"), None);
    }
}
