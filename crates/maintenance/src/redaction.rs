//! Takes a person out of conversations with others: what they wrote, and their address.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use base::ids::{ConversationId, MessageId};
use base::states::{Direction, Status};
use db::{Json, Tx};
use model::conversations::Conversation;
use model::conversations::sorting;
use model::figures::counted_mail::snippet;
use model::indexing::index_rebuild;
use model::messages::recipients::Party;

use super::forget_person::Forgetting;

/// What stands in a text where the address was.
const FORGOTTEN: &str = "(forgotten)";

impl Forgetting {
    /// Removes what a person wrote in a conversation with somebody else, and their address. The
    /// originals of mails go where they name the person.
    pub(super) fn redact(
        &mut self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        id: &ConversationId,
        email: &EmailAddress,
    ) -> Result<()> {
        let conversation = self.load(tx, id)?;
        let messages: Vec<RedactedMessage> = tx.all(
            &format!(
                "SELECT {} FROM messages m WHERE m.ws = ?1 AND m.conversation = ?2
                 ORDER BY coalesce(m.counted_at, m.at), m.serial",
                RedactedMessage::COLUMNS
            ),
            &[&self.ws, id],
        )?;
        let (mut left, mut is_theirs) = (WhatIsLeft::default(), false);
        for mut message in messages {
            if message.from_email == *email {
                self.message(tx, cx, &conversation, &message.id)?;
                is_theirs = true;
                continue;
            }
            left.count(&message);
            if self.original_names(tx, cx, &message, email)? {
                self.hashes.extend(message.raw_hash.take());
                tx.exec(
                    "UPDATE messages SET raw_hash = NULL, has_html = FALSE WHERE ws = ?1 AND id = ?2",
                    &[&self.ws, &message.id],
                )?;
            }
            for list in [&mut message.to_list, &mut message.cc_list, &mut message.bcc_list] {
                list.retain(|party| party.address() != *email);
            }
            tx.exec(
                "UPDATE messages SET to_list = ?3, cc_list = ?4, bcc_list = ?5, quoted = NULL
                 WHERE ws = ?1 AND id = ?2",
                &[&self.ws, &message.id, &message.to_list, &message.cc_list, &message.bcc_list],
            )?;
        }
        self.recount(tx, &conversation, &left)?;
        if is_theirs {
            self.unlearn(tx, &conversation)?;
        }
        self.timeline(tx, id, email)?;
        index_rebuild::rebuild(tx, self.ws, id)?;
        self.done.redacted += 1;
        Ok(())
    }

    /// True when the original of a mail names the person, or cannot be looked into.
    fn original_names(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        message: &RedactedMessage,
        email: &EmailAddress,
    ) -> Result<bool> {
        let Some(hash) = &message.raw_hash else { return Ok(false) };
        let Some(raw) = cx.blobs.get(tx, self.ws, hash)? else { return Ok(true) };
        if email.is_in(&String::from_utf8_lossy(&raw)) {
            return Ok(true);
        }
        let parsed = mail::parse(&raw, mail::Envelope { sender: None });
        let html = parsed.html.as_deref().unwrap_or_default();
        Ok(parsed.unread || email.is_in(&parsed.original) || email.is_in(html))
    }

    /// What helpers learned from mail that is gone.
    fn unlearn(&self, tx: &mut Tx<'_>, conversation: &Conversation) -> Result<()> {
        let Conversation { circle, id, .. } = conversation;
        // It is not written down which mail a reply answered.
        tx.exec(
            "DELETE FROM answered_mail WHERE ws = ?1 AND circle = ?2 AND conversation = ?3",
            &[&self.ws, circle, id],
        )?;
        sorting::keep_examples_true(tx, self.ws, circle, id)
    }

    /// What is said about a conversation as a whole, from the messages that are left.
    fn recount(
        &self,
        tx: &mut Tx<'_>,
        conversation: &Conversation,
        left: &WhatIsLeft,
    ) -> Result<()> {
        tx.exec(
            "UPDATE conversations SET message_count = ?3, snippet = ?4 WHERE ws = ?1 AND id = ?2",
            &[&self.ws, &conversation.id, &left.count, &snippet(&left.text)],
        )?;
        let Some((at, direction)) = left.newest else { return Ok(()) };
        let is_closed = conversation.status == Status::Closed;
        let waiting_since = left.waiting_since.filter(|_| !is_closed);
        tx.exec(
            "UPDATE conversations SET last_message_at = ?3, last_direction = ?4, waiting_since = ?5
             WHERE ws = ?1 AND id = ?2",
            &[&self.ws, &conversation.id, &at, &direction, &waiting_since],
        )?;
        Ok(())
    }

    /// The audit log keeps that a sender was blocked or addresses were merged, when and by whom, without
    /// the address.
    pub(super) fn audit_log(&self, tx: &mut Tx<'_>, email: &EmailAddress) -> Result<()> {
        let place = tx.pick("instr", "strpos");
        for column in ["thing", "detail"] {
            let sql = format!(
                "UPDATE audit_log SET {column} = ?3 WHERE ws = ?1
                   AND ({column} = ?2 OR ({place}({column}, ?2) > 0
                        AND action IN ('contacts-merged', 'contact-separated')))"
            );
            tx.exec(&sql, &[&self.ws, email, &FORGOTTEN])?;
        }
        Ok(())
    }

    /// Takes the address out of what the timeline tells.
    fn timeline(&self, tx: &mut Tx<'_>, id: &ConversationId, email: &EmailAddress) -> Result<()> {
        let told: Vec<(String, String)> = tx.all(
            "SELECT id, data FROM timeline_events WHERE ws = ?1 AND conversation = ?2",
            &[&self.ws, id],
        )?;
        for (event, data) in told.iter().filter(|(_, data)| email.is_in(data)) {
            tx.exec(
                "UPDATE timeline_events SET data = ?4
                 WHERE ws = ?1 AND conversation = ?2 AND id = ?3",
                &[&self.ws, id, event, &without(data, email)],
            )?;
        }
        Ok(())
    }
}

/// What the messages say that are left in a conversation.
#[derive(Default)]
struct WhatIsLeft {
    count: i64,
    /// The text of the newest.
    text: String,
    newest: Option<(i64, Direction)>,
    /// Since when the customer waits.
    waiting_since: Option<i64>,
}

impl WhatIsLeft {
    /// Counts a message; they come in their order.
    fn count(&mut self, message: &RedactedMessage) {
        let Some(at) = message.counted_at else { return };
        self.count += 1;
        self.text.clone_from(&message.text);
        self.newest = Some((at, message.direction));
        match message.direction {
            Direction::Inbound => self.waiting_since = self.waiting_since.or(Some(at)),
            Direction::Outbound if message.automatic => {}
            Direction::Outbound => self.waiting_since = None,
        }
    }
}

/// A text in which a word stands for the address, however it is spelled.
fn without(text: &str, email: &EmailAddress) -> String {
    let (mut rest, mut kept) = (text, String::new());
    while let Some(at) = rest.to_ascii_lowercase().find(email.as_str()) {
        kept.push_str(&rest[..at]);
        kept.push_str(FORGOTTEN);
        rest = &rest[at + email.as_str().len()..];
    }
    kept + rest
}

db::row! {
    struct RedactedMessage from "m" {
        id: MessageId,
        from_email: EmailAddress,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        bcc_list: Json<Vec<Party>>,
        raw_hash: Option<String>,
        counted_at: Option<i64>,
        direction: Direction,
        automatic: bool,
        text: String,
    }
}
