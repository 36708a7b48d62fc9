//! `@FirstName` in a note: whom it names, and telling them.

use db::Tx;

use crate::app::Cx;
use crate::base::error::Result;
use crate::base::ids::{NoteId, UserId};
use crate::base::limits::{HOUR_MS, MENTIONS_MAILED_PER_HOUR};
use crate::model::conversations::Conversation;
use crate::model::notices::{Notice, notify};

/// Records a mention for each member that a note names, and sends them a notice unless they turned
/// that off. The author is skipped.
pub fn tell(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    conversation: &Conversation,
    note: &NoteId,
    body: &str,
) -> Result<()> {
    if !body.contains('@') || conversation.circle.is_sandbox() {
        return Ok(());
    }
    let people: Vec<(UserId, String, bool)> = tx.all(
        "SELECT id, name, mail_mentions FROM users
         WHERE ws = ?1 AND (?2 = 'team' OR id = ?2) ORDER BY id",
        &[&cx.actor.ws, &conversation.circle],
    )?;
    let author = cx.actor.member();
    let author = author.as_ref().map_or("", |author| author.as_str());
    for (person, name, by_mail) in people {
        if person.as_str() == author || !names(body, first_word(&name)) {
            continue;
        }
        tx.exec(
            "INSERT INTO mentions (ws, person, id, conversation, author, author_name, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            &[&cx.actor.ws, &person, note, &conversation.id, &author, &cx.actor.name(), &cx.now],
        )?;
        if by_mail && !many_lately(tx, cx, &person)? {
            mail(tx, cx, conversation, &person)?;
        }
    }
    Ok(())
}

/// The notice links to the note and does not contain its text.
fn mail(tx: &mut Tx<'_>, cx: &Cx<'_>, conversation: &Conversation, person: &UserId) -> Result<()> {
    let (by, id) = (cx.actor.name(), &conversation.id);
    let subject = format!("{by} mentioned you in a note");
    let text = format!(
        "{by} mentioned you in a note on \"{}\".\n\nRead it: {}/conversations/{id}\n\n\
         To get no more of these mails, see Settings, You.\n",
        conversation.subject, cx.public_url,
    );
    notify(tx, cx, person, &Notice { subject: &subject, text: &text })
}

/// True when a member reached the hourly limit of mention notices.
fn many_lately(tx: &mut Tx<'_>, cx: &Cx<'_>, person: &UserId) -> Result<bool> {
    let earlier: Option<(i64,)> = tx.opt(
        "SELECT at FROM mentions WHERE ws = ?1 AND person = ?2
         ORDER BY id DESC LIMIT 1 OFFSET ?3",
        &[&cx.actor.ws, person, &MENTIONS_MAILED_PER_HOUR],
    )?;
    Ok(earlier.is_some_and(|(at,)| at > cx.now - HOUR_MS))
}

fn names(body: &str, first_name: &str) -> bool {
    body.lines().any(|line| marked(line, &[first_name]).iter().any(|(named, _)| *named))
}

fn first_word(name: &str) -> &str {
    name.split_whitespace().next().unwrap_or("")
}

/// Splits a line into pieces and marks `@` mentions of these names, case-insensitively.
pub fn marked(line: &str, names: &[&str]) -> Vec<(bool, String)> {
    let mut pieces: Vec<(bool, String)> = Vec::new();
    let mut rest = line;
    let mut before = None;
    while let Some(at) = rest.find('@') {
        let after = &rest[at + 1..];
        let is_start = |name: &&&str| {
            let start = after.get(..name.len());
            start.is_some_and(|start| start.to_lowercase() == name.to_lowercase())
        };
        let named = names.iter().filter(is_start).max_by_key(|name| name.len());
        let end = named.map_or(0, |name| name.len());
        // A letter before or after makes it part of another word, such as an address.
        let before_it = rest[..at].chars().next_back().or(before);
        let whole = !after[end..].starts_with(char::is_alphanumeric)
            && !before_it.is_some_and(char::is_alphanumeric);
        if end > 0 && whole {
            pieces.push((false, rest[..at].to_owned()));
            pieces.push((true, rest[at..at + 1 + end].to_owned()));
            rest = &after[end..];
            before = None;
        } else {
            pieces.push((false, rest[..=at].to_owned()));
            rest = after;
            before = Some('@');
        }
    }
    pieces.push((false, rest.to_owned()));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_is_the_whole_first_name_of_somebody_on_the_team() {
        let shown = |line: &str| {
            let pieces = marked(line, &["Ines", "In", "Jonas", "Zoë"]);
            pieces
                .iter()
                .map(|(named, text)| if *named { format!("[{text}]") } else { text.clone() })
                .collect::<String>()
        };
        assert_eq!(shown("@Ines, see @Jonas"), "[@Ines], see [@Jonas]");
        assert_eq!(shown("(@ines) @zoë"), "([@ines]) [@zoë]");
        assert_eq!(shown("@Inessa mail@Inland a@b @"), "@Inessa mail@Inland a@b @");
        assert_eq!(shown("post@in.example @@Ines"), "post@in.example @[@Ines]");
        assert_eq!(shown("no one"), "no one");
    }
}
