//! Secrets in the rows of a workspace that gets another number: each is sealed for a purpose that names the number, so
//! it is opened and sealed again.

use base::ids::Ids;
use base::security::content_key::ContentKey;
use base::security::secret_sealer::{SEALED_PREFIX, SecretSealer};
use db::Cell;

/// The table, its sealed columns, and their purpose: a word, the number, and columns of the row
/// (`model::installation::sealing`).
const SEALED: &[(&str, &[&str], &str, &[&str])] = &[
    ("attachments", &["key"], "attachment", &["id"]),
    ("autosaves", &["body"], "autosave", &["person", "conversation"]),
    ("busy_calendars", &["address", "password"], "calendar", &["id"]),
    ("customer_panels", &["old_secret", "secret"], "panel", &["livemode"]),
    ("document_requests", &["old_token"], "upload", &["id"]),
    ("mail_secrets", &["secret"], "mail", &[]),
    ("mailbox_grants", &["access_token", "refresh_token"], "grant", &["mailbox"]),
    ("outgoing_servers", &["password"], "smtp", &["mailbox"]),
    ("signing_keys", &["secret"], "dkim", &["domain", "selector"]),
    ("totp_secrets", &["secret"], "totp", &["person"]),
    ("tracker_webhooks", &["secret"], "tracker", &["kind"]),
    ("webhooks", &["old_secret", "secret"], "webhook", &["id"]),
];
/// Protected messages: the key is sealed, and the content is sealed with it for the same purpose.
const SECURE: (&str, &str, &str, &str) = ("secure_messages", "key", "content", "message");

/// Seals secrets of rows anew.
pub(crate) struct Resealer<'a> {
    pub sealer: &'a dyn SecretSealer,
    pub ids: &'a Ids,
    pub from: i64,
    pub to: i64,
    /// Secrets that do not open with the key of this installation, and stay as they are.
    pub unopened: u64,
}

impl Resealer<'_> {
    /// Changes the sealed values of a row, whose columns have these names.
    pub fn reseal(&mut self, table: &str, columns: &[String], row: &mut [Cell]) {
        let place = |name: &str| columns.iter().position(|column| column == name);
        let rest = |row: &[Cell], names: &[&str]| {
            names.iter().filter_map(|name| word_of(&row[place(name)?])).fold(
                String::new(),
                |mut all, part| {
                    all.push(' ');
                    all.push_str(&part);
                    all
                },
            )
        };
        for (_, sealed, word, names) in SEALED.iter().filter(|(of, ..)| *of == table) {
            let rest = rest(row, names);
            for column in sealed.iter().filter_map(|name| place(name)) {
                let old = format!("{word} {}{rest}", self.from);
                let new = format!("{word} {}{rest}", self.to);
                self.seal_again(&mut row[column], &old, &new);
            }
        }
        let (secure, key, content, message) = SECURE;
        if table == secure
            && let (Some(key), Some(content)) = (place(key), place(content))
        {
            let rest = rest(row, &[message]);
            let (old, new) =
                (format!("secure {}{rest}", self.from), format!("secure {}{rest}", self.to));
            if let Some(opened) = self.seal_again(&mut row[key], &old, &new)
                && let Some(opened) = ContentKey::from_text(&opened)
                && let Cell::Bytes(bytes) = &mut row[content]
                && let Some(words) = opened.open(&old, bytes)
            {
                *bytes = opened.seal(self.ids, &new, &words);
            }
        }
    }

    /// Seals one value anew; returns what it hides.
    fn seal_again(&mut self, cell: &mut Cell, old: &str, new: &str) -> Option<String> {
        let sealed = text_of(cell).filter(|text| text.starts_with(SEALED_PREFIX))?;
        let Some(secret) = self.sealer.unseal(old, &sealed) else {
            self.unopened += 1;
            return None;
        };
        let again = self.sealer.seal(self.ids, new, &secret);
        *cell = match cell {
            Cell::Bytes(_) => Cell::Bytes(again.into_bytes()),
            _ => Cell::Text(again),
        };
        Some(secret)
    }
}

/// A column as a purpose names it: numbers among them are booleans.
fn word_of(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Int(truth) => Some((*truth != 0).to_string()),
        cell => text_of(cell),
    }
}

fn text_of(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text.clone()),
        Cell::Bytes(bytes) => String::from_utf8(bytes.clone()).ok(),
        Cell::Null | Cell::Int(_) | Cell::Real(_) => None,
    }
}
