//! What an import left in the database, as lines that a person can compare with what the help desk had.

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Row;

/// The files of the fixtures, by which their hashes are told.
const CONTENTS: [&str; 3] = ["A lamp", "A plan", "GIF89a of a lamp"];

pub(super) const CONVERSATIONS: &str = "SELECT c.id, CAST(c.created_at AS TEXT),
        c.subject || '~~' || c.view || '~~' || coalesce(c.contact_name, '') || '~~' ||
        c.contact_email || '~~' || coalesce(u.email, '') || '~~' || c.tags || '~~' ||
        CAST(c.last_message_at AS TEXT) || '~~' || coalesce(CAST(c.waiting_since AS TEXT), '') || '~~' ||
        coalesce(CAST(c.snoozed_until AS TEXT), '')
    FROM conversations c LEFT JOIN users u ON u.ws = c.ws AND u.id = c.assignee";

pub(super) const MESSAGES: &str = "SELECT m.conversation, CAST(m.at AS TEXT),
        m.direction || '~~' || coalesce(m.from_name, '') || '~~' || m.from_email || '~~' ||
        m.to_list || '~~' || m.cc_list || '~~' || m.text || '~~' || m.attachments || '~~' || m.header_id
    FROM messages m";

pub(super) const NOTES: &str = "SELECT n.conversation, CAST(n.at AS TEXT),
        n.author_name || '~~' || coalesce(u.email, '') || '~~' || n.body
    FROM notes n LEFT JOIN users u ON u.ws = n.ws AND u.id = n.author";

pub(super) const FILES: &str =
    "SELECT d.conversation, d.filename, d.content_type || '~~' || d.hash FROM documents d";

/// The rows of the four queries, as lines: each conversation with what is in it, by date.
pub(super) fn told([conversations, messages, notes, files]: [Vec<Row>; 4]) -> String {
    let mut conversations = conversations;
    conversations.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
    let mut said = String::new();
    for (id, _, row) in conversations {
        said.push_str(&conversation(&row));
        let mut lines: Vec<(String, String)> = Vec::new();
        let of = |rows: &[Row], line: fn(&str) -> String| -> Vec<(String, String)> {
            let own = rows.iter().filter(|(conversation, _, _)| *conversation == id);
            own.map(|(_, at, row)| (at.clone(), line(row))).collect()
        };
        lines.extend(of(&messages, message));
        lines.extend(of(&notes, note));
        lines.sort();
        for (at, line) in lines {
            said.push_str(&format!("  {} {line}\n", time(&at)));
        }
        let mut own = of(&files, file);
        own.sort();
        for (name, line) in own {
            said.push_str(&format!("  file {name} {line}\n"));
        }
    }
    said
}

fn conversation(row: &str) -> String {
    let [subject, view, name, email, assignee, tags, last, waits, until] = parts(row);
    let until = if until.is_empty() { String::new() } else { format!(" until {}", time(until)) };
    let tags: Vec<String> = serde_json::from_str(tags).unwrap();
    let waits = if waits.is_empty() { "-".to_owned() } else { format!("waits {}", time(waits)) };
    let or_none = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    format!(
        "{subject} | {view}{until} | {} | {} | {} | last {} | {waits}\n",
        person(name, email),
        or_none(assignee),
        or_none(&tags.join(", ")),
        time(last),
    )
}

fn message(row: &str) -> String {
    let [direction, name, email, to, cc, text, attachments, id] = parts(row);
    let way = if direction == "inbound" { "in" } else { "out" };
    let cc = people(cc);
    let cc = if cc.is_empty() { cc } else { format!(" cc {cc}") };
    let files: Vec<Value> = serde_json::from_str(attachments).unwrap();
    let files: Vec<&str> = files.iter().map(|file| file["filename"].as_str().unwrap()).collect();
    let files = if files.is_empty() { String::new() } else { format!(" [{}]", files.join(", ")) };
    format!(
        "{way} {} to {}{cc}: {}{files} ({id})",
        person(name, email),
        people(to),
        text.replace('\n', "/")
    )
}

fn note(row: &str) -> String {
    let [author, email, body] = parts(row);
    let email = if email.is_empty() { "nobody here" } else { email };
    format!("note {author} <{email}>: {}", body.replace('\n', "/"))
}

fn file(row: &str) -> String {
    let [kind, hash] = parts(row);
    let is_it = |content: &&&str| {
        let of_it: String =
            Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        of_it == hash
    };
    let content = CONTENTS.iter().find(is_it).copied().unwrap_or(hash);
    format!("{kind} = {content}")
}

fn parts<const N: usize>(row: &str) -> [&str; N] {
    let parts: Vec<&str> = row.split("~~").collect();
    parts.try_into().unwrap_or_else(|_| panic!("{row}"))
}

fn people(list: &str) -> String {
    let list: Vec<Value> = serde_json::from_str(list).unwrap();
    let shown = list.iter().map(|one| {
        person(one["name"].as_str().unwrap_or_default(), one["email"].as_str().unwrap())
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn person(name: &str, email: &str) -> String {
    if name.is_empty() { email.to_owned() } else { format!("{name} <{email}>") }
}

fn time(millis: &str) -> String {
    Timestamp::from_millisecond(millis.parse().unwrap()).unwrap().to_string()
}
