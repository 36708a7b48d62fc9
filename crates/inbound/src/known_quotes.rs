//! Quoted history at the beginning of an answer that nothing announces. A mail alone does not tell it from
//! a question that is answered below; the conversation does, which has the words already.

use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::Result;
use db::{Json, Tx};
use mail::Mail;
use model::conversations::Conversation;
use model::messages::recipients::Party;

/// Messages of the conversation, the latest, that a quote may come from.
const MESSAGES: i64 = 20;
/// Lines of a quote that are compared.
const LINES: usize = 500;
/// Bytes of each message that are compared.
const TEXT_BYTES: usize = 64 * 1024;

db::row! {
    /// A message that somebody may have quoted.
    struct QuotableMessage from "m" {
        from_email: EmailAddress,
        to_list: Json<Vec<Party>>,
        cc_list: Json<Vec<Party>>,
        bcc_list: Json<Vec<Party>>,
        text: String,
    }
}

impl QuotableMessage {
    /// True for a message that somebody wrote or got. What became of a quote of any other would tell them whether
    /// it has these words.
    fn is_known_to(&self, writer: &EmailAddress) -> bool {
        let mut got = self.to_list.iter().chain(self.cc_list.iter()).chain(self.bcc_list.iter());
        self.from_email == *writer || got.any(|party| party.address() == *writer)
    }
}

/// The writer's own words of a mail that begins with lines that the conversation has; `None` for any other.
/// Where more is quoted below, the writer answers between the lines, and all of it stays.
pub(super) fn own_words<'t>(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    mail: &'t Mail,
) -> Result<Option<&'t str>> {
    let Some((quote, own)) = leading_quote(&mail.text) else { return Ok(None) };
    let mut messages: Vec<QuotableMessage> = tx.all(
        &format!(
            "SELECT {} FROM messages m
             WHERE m.ws = ?1 AND m.conversation = ?2 AND m.counted_at IS NOT NULL
             ORDER BY m.at DESC, m.id DESC LIMIT ?3",
            QuotableMessage::COLUMNS
        ),
        &[&cx.actor.ws, &conversation.id, &MESSAGES],
    )?;
    let writer = EmailAddress::new(&mail.from.email);
    messages.retain(|message| message.is_known_to(&writer));
    let cut = |text: &str| words(&text[..text.floor_char_boundary(TEXT_BYTES)]);
    let texts: Vec<String> = messages.iter().map(|message| cut(&message.text)).collect();
    let is_known = |line: &String| texts.iter().any(|text| text.contains(line.as_str()));
    Ok(quote.iter().all(is_known).then_some(own))
}

/// The quoted lines that a text begins with, and what stands below; `None` unless both are there and
/// nothing below is quoted.
fn leading_quote(text: &str) -> Option<(Vec<String>, &str)> {
    let is_quote = |line: &str| line.starts_with('>');
    let mut end = 0;
    let mut quote = Vec::new();
    for line in text.split_inclusive('\n') {
        match is_quote(line) {
            true => quote.push(words(line.trim_start_matches(['>', ' ']))),
            false if line.trim().is_empty() => {}
            false => break,
        }
        end += line.len();
    }
    let own = text[end..].trim();
    quote.retain(|line| line.trim() != "");
    let fits = !quote.is_empty() && quote.len() <= LINES && !own.is_empty();
    (fits && !own.lines().any(is_quote)).then_some((quote, own))
}

/// The words of a text, each with a space around it.
fn words(text: &str) -> String {
    let words = text.split_whitespace().map(str::to_lowercase);
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_counts_where_the_answer_stands_below_all_of_it() {
        let (quote, own) = leading_quote("> It is\n> broken.\n\nStill so.").unwrap();
        assert_eq!(
            (quote.as_slice(), own),
            ([" it is ", " broken. "].map(String::from).as_slice(), "Still so.")
        );
        for other in ["> a\n\nb\n\n> c\n\nd", "> a", "", "b\n> a", ">\n>\nb"] {
            assert_eq!(leading_quote(other), None, "{other}");
        }
    }
}
