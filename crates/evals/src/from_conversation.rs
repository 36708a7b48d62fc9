//! Makes a test case of a conversation, with its customer's name and address replaced.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::EVAL_MAILS;
use db::Tx;
use model::conversations::{self, Conversation};

use crate::case::{EvalCase, EvalExpectations, EvalFact, EvalMail};

const CUSTOMER: &str = "customer@case.test";
const NAME: &str = "Kim Customer";
const FIRST_NAME: &str = "Kim";
const LAST_NAME: &str = "Customer";
/// Parts of a name that are as short as this stand in other words too.
const SHORT_NAME_CHARS: usize = 2;

/// The case that a conversation makes: its customer's mails, its tags, and whether people took it over.
/// Names of others, numbers and places stay: whoever saves it looks through it.
pub fn case_of_conversation(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &str,
    name: &str,
) -> Result<EvalCase> {
    cx.actor.must_administer()?;
    let conversation = conversations::load(tx, cx.actor, id)?;
    if conversation.has_secure {
        let sentence = "A conversation with protected messages is no test case.";
        return Err(Error::Conflict(sentence.into()));
    }
    // All owners and admins read test cases.
    if conversation.circle.is_closed() {
        let sentence = "A conversation of a private inbox, or of one for some, is no test case.";
        return Err(Error::Conflict(sentence.into()));
    }
    let mails: Vec<(String, String)> = tx.all(
        "SELECT subject, text FROM messages
         WHERE ws = ?1 AND conversation = ?2 AND direction = 'inbound' ORDER BY at, id LIMIT ?3",
        &[&cx.actor.ws, &conversation.id, &(EVAL_MAILS as i64)],
    )?;
    let (is_handed_over,): (bool,) = tx.one(
        "SELECT handed_over_at IS NOT NULL FROM conversations WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &conversation.id],
    )?;
    let handed_over = is_handed_over.then_some(EvalFact::HandedOver);
    let facts = handed_over.into_iter().chain([EvalFact::OnlyToCustomer]).collect();
    Ok(EvalCase {
        name: name.to_owned(),
        about: replace_customer(&conversation, &conversation.subject),
        nothing_to_do: false,
        mails: mails.into_iter().map(|words| case_mail(&conversation, &words)).collect(),
        must: EvalExpectations {
            facts,
            tags: conversation.tags.0.clone(),
            ..EvalExpectations::default()
        },
        must_not: EvalExpectations::default(),
        steps: Vec::new(),
    })
}

fn case_mail(conversation: &Conversation, (subject, text): &(String, String)) -> EvalMail {
    EvalMail {
        from: CUSTOMER.into(),
        name: Some(NAME.into()),
        subject: Some(replace_customer(conversation, subject)),
        text: replace_customer(conversation, text),
    }
}

fn replace_customer(conversation: &Conversation, text: &str) -> String {
    let email = conversation.contact_email.as_str();
    let replaced = replace_word(text, email, CUSTOMER);
    let Some(name) = &conversation.contact_name else { return replaced };
    let parts: Vec<&str> = name.split_whitespace().collect();
    let last = parts.len().saturating_sub(1);
    parts.iter().enumerate().fold(replaced, |text, (at, part)| {
        let part = part.trim_matches(|c: char| !c.is_alphanumeric());
        if part.chars().count() <= SHORT_NAME_CHARS {
            return text;
        }
        replace_word(&text, part, if at == last && at > 0 { LAST_NAME } else { FIRST_NAME })
    })
}

/// Replaces a word wherever it stands alone, in whatever case of ASCII letters.
fn replace_word(text: &str, word: &str, with: &str) -> String {
    // ASCII letters change no length, so that places in one are places in the other.
    let (folded, wanted) = (text.to_ascii_lowercase(), word.to_ascii_lowercase());
    let (mut replaced, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in folded.match_indices(&wanted) {
        let end = at + wanted.len();
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if is_part(folded[..at].chars().next_back()) || is_part(folded[end..].chars().next()) {
            continue;
        }
        replaced.push_str(&text[done..at]);
        replaced.push_str(with);
        done = end;
    }
    replaced.push_str(&text[done..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_replaced_where_it_stands_alone() {
        let replaced = |text| replace_word(text, "Ann", "Kim");
        assert_eq!(replaced("ANN, Ann's annual plan, Joann"), "Kim, Kim's annual plan, Joann");
        assert_eq!(replaced("Änn Ann"), "Änn Kim");
        assert_eq!(replaced(""), "");
    }
}
