//! `@FirstName` in a note: whom it names, and telling them.

use base::app::Cx;
use base::error::Result;
use base::ids::{NoteId, UserId};
use db::Tx;

use crate::conversations::Conversation;
use crate::conversations::followers;
use crate::people::members::PERSON_SEES;
use crate::people::notifications::facts::{self, NoticeKind};

/// Names after an `@` that nobody has, which an answer lists.
const UNKNOWN_LISTED: usize = 20;

/// Whom a note mentions.
#[derive(Debug, Default)]
pub struct Mentions {
    /// The names of the people it mentions.
    pub people: Vec<String>,
    /// Words after an `@` that are nobody's first name.
    pub unknown: Vec<String>,
}

/// Records a mention for each member that a note names, and tells them as they want it. The author is
/// named but not told. In the sandbox there are no people to mention.
pub fn tell(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    note: &NoteId,
    body: &str,
) -> Result<Mentions> {
    let mut unknown = mentioned_words(body);
    if unknown.is_empty() {
        return Ok(Mentions::default());
    }
    let people: Vec<(UserId, String, bool)> = match conversation.circle.is_sandbox() {
        true => Vec::new(),
        false => tx.all(
            &format!(
                "SELECT u.id, u.name, u.follows_mentions FROM users u
                 WHERE u.ws = ?1 AND {PERSON_SEES} ORDER BY u.id"
            ),
            &[&cx.actor.ws, &conversation.circle],
        )?,
    };
    let author = cx.actor.member();
    let author = author.as_ref().map_or("", |author| author.as_str());
    let mut mentioned = Vec::new();
    for (person, name, follows) in people {
        let first_name = [first_name(&name)];
        if !mention_starts(body).any(|after| mention_length(after, &first_name).is_some()) {
            continue;
        }
        unknown.retain(|word| mention_length(word, &first_name).is_none());
        mentioned.push(name);
        if person.as_str() == author {
            continue;
        }
        tx.exec_soon(
            "INSERT INTO mentions (ws, person, id, conversation, author, author_name, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[&cx.actor.ws, &person, note, &conversation.id, &author, &cx.actor.name(), &cx.now],
        )?;
        if follows {
            followers::follow(tx, cx, &conversation.id, &person)?;
        }
        facts::note(tx, cx, conversation.notice_place(), NoticeKind::Mentioned, &person)?;
    }
    unknown.truncate(UNKNOWN_LISTED);
    Ok(Mentions { people: mentioned, unknown: unknown.into_iter().map(str::to_owned).collect() })
}

/// The words after an `@`, each once.
fn mentioned_words(body: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for after in mention_starts(body) {
        let word = name_run(after).trim_end_matches(['-', '\'']);
        if word.starts_with(char::is_alphabetic) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// What follows each `@` that no letter or digit stands before, as in an address.
fn mention_starts(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('@').filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        (!before.is_some_and(char::is_alphanumeric)).then(|| &text[at + 1..])
    })
}

/// How many bytes of a text, which follows an `@`, are one of these first names. Case and accents
/// do not matter; `@Anne-Marie's` is Anne-Marie.
fn mention_length(after: &str, names: &[&str]) -> Option<usize> {
    let mut word = name_run(after);
    while !word.is_empty() {
        let folded = search::fold_name(word);
        if names.iter().any(|name| search::fold_name(name) == folded) {
            return Some(word.len());
        }
        word = &word[..word.rfind(['-', '\'', '’'])?];
    }
    None
}

/// The letters and digits at the start, with what joins parts of a name.
fn name_run(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\'' | '’'));
    &text[..end.unwrap_or(text.len())]
}

fn first_name(name: &str) -> &str {
    name_run(name.split_whitespace().next().unwrap_or(""))
}

/// Splits a line into pieces and marks `@` mentions of these first names.
pub fn split_mentions(line: &str, names: &[&str]) -> Vec<(bool, String)> {
    let names: Vec<&str> = names.iter().map(|name| first_name(name)).collect();
    let mut pieces: Vec<(bool, String)> = Vec::new();
    let mut end = 0;
    for after in mention_starts(line) {
        let start = line.len() - after.len();
        let Some(length) = mention_length(after, &names) else { continue };
        pieces.push((false, line[end..start - 1].to_owned()));
        pieces.push((true, line[start - 1..start + length].to_owned()));
        end = start + length;
    }
    pieces.push((false, line[end..].to_owned()));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_is_the_whole_first_name_of_somebody_on_the_team() {
        let shown = |line: &str| {
            let pieces = split_mentions(line, &["Ines", "In", "Jonas", "Zoë"]);
            pieces
                .iter()
                .map(|(named, text)| if *named { format!("[{text}]") } else { text.clone() })
                .collect::<String>()
        };
        assert_eq!(shown("@Ines, see @Jonas"), "[@Ines], see [@Jonas]");
        assert_eq!(shown("(@ines) @zoë @ZOE"), "([@ines]) [@zoë] [@ZOE]");
        assert_eq!(shown("@Inessa mail@Inland a@b @"), "@Inessa mail@Inland a@b @");
        assert_eq!(shown("post@in.example @@Ines"), "post@in.example @[@Ines]");
        assert_eq!(shown("@Ines's, @Jonas-"), "[@Ines]'s, [@Jonas]-");
        assert_eq!(shown("no one"), "no one");
    }
    #[test]
    fn words_after_an_at_sign_are_names_and_addresses_are_not() {
        assert_eq!(
            mentioned_words("@Ines @Anne-Marie's, a@b.example @2 @ @Ines"),
            ["Ines", "Anne-Marie's"]
        );
    }

    #[test]
    fn a_double_name_is_found_with_what_follows_it() {
        assert_eq!(mention_length("Anne-Marie's turn", &["Anne-Marie"]), Some(10));
        assert_eq!(mention_length("Anne-Marie", &["Anne"]), Some(4));
        assert_eq!(mention_length("Annette", &["Anne"]), None);
    }
}
