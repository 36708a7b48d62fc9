//! Saved answers of a help desk, as the manual says that they are to be saved.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The path of a request, with `*` for what differs, and the file that its answer is saved as: `$1` is
/// what the first `*` stands for, `$hash` the SHA-256 of the whole address.
pub(super) type SavedLayout = &'static [(&'static str, &'static str)];

pub(super) const ZAMMAD: SavedLayout = &[
    ("/api/v1/tickets?expand=true&page=*&per_page=100", "tickets/$1.json"),
    ("/api/v1/ticket_articles/by_ticket/*?expand=true", "articles/$1.json"),
    ("/api/v1/tags?object=Ticket&o_id=*", "tags/$1.json"),
    ("/api/v1/users/*", "users/$1.json"),
    ("/api/v1/ticket_states?expand=true", "states.json"),
    ("/api/v1/ticket_attachment/*/*/*", "files/$3"),
];

pub(super) const CHATWOOT: SavedLayout = &[
    (
        "/api/v1/accounts/2/conversations?status=all&assignee_type=all&sort_by=created_at_asc&page=*",
        "conversations/$1.json",
    ),
    ("/api/v1/accounts/2/conversations/*/messages", "messages/$1.json"),
    ("/api/v1/accounts/2/conversations/*/messages?before=*", "messages/$1-before-$2.json"),
    ("/api/v1/accounts/2/agents", "agents.json"),
    // The ids of the attachments that lead there.
    ("/rails/active_storage/disk/eyJf/lamp.txt", "files/9"),
    ("/rails/active_storage/disk/eyJq/plan.txt", "files/10"),
    ("/rails/active_storage/blobs/redirect/eyJp/scene.gif", "files/$hash"),
];

pub(super) const FREESCOUT: SavedLayout = &[
    (
        "/api/conversations?status=active,pending,closed,spam&sortField=createdAt&sortOrder=asc\
         &pageSize=100&page=*",
        "conversations/$1.json",
    ),
    ("/api/conversations/*?embed=threads,tags", "threads/$1.json"),
    ("/storage/attachment/*/*/*?id=*&token=abc", "files/$4"),
];

pub(super) const HELPSCOUT: SavedLayout = &[
    (
        "/v2/conversations?status=all&sortField=createdAt&sortOrder=asc&page=*",
        "conversations/$1.json",
    ),
    ("/v2/conversations/*/threads?page=*", "threads/$1-$2.json"),
    ("/v2/conversations/*/attachments/*/data", "files/$2.json"),
];

/// Saves all that a help desk at this address answers with.
pub(super) fn save(pages: &Map<String, Value>, layout: SavedLayout, address: &str, folder: &Path) {
    for (path, page) in pages.iter().filter(|(_, page)| page["$redirect"].is_null()) {
        let name = layout.iter().find_map(|(pattern, name)| {
            let found = captured(pattern, path)?;
            let hash = Sha256::digest(format!("http://{address}{path}"));
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let numbered = found.iter().enumerate();
            Some(numbered.fold(name.replace("$hash", &hash), |name, (number, value)| {
                name.replace(&format!("${}", number + 1), value)
            }))
        });
        let file = folder.join(name.unwrap_or_else(|| panic!("{path} is not in the layout")));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        match page["$bytes"].as_str() {
            Some(bytes) => fs::write(file, bytes).unwrap(),
            None => fs::write(file, page.to_string()).unwrap(),
        }
    }
}

/// What each `*` of a pattern stands for in a path; `None` where it does not fit.
fn captured<'a>(pattern: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let mut literals = pattern.split('*');
    let mut rest = path.strip_prefix(literals.next()?)?;
    let mut found = Vec::new();
    for literal in literals {
        let end = if literal.is_empty() { rest.len() } else { rest.find(literal)? };
        let (value, after) = rest.split_at(end);
        if value.is_empty() || value.contains(['/', '&', '?']) {
            return None;
        }
        found.push(value);
        rest = &after[literal.len()..];
    }
    rest.is_empty().then_some(found)
}
