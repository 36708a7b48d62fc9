//! A conversation as any help desk has it, without the bytes of its files.

use base::states::Status;
use jiff::Timestamp;
use mail::Address;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Entries of one conversation.
pub const ENTRIES: usize = 10_000;

pub struct DeskConversation {
    /// Its id there.
    pub id: String,
    pub subject: String,
    pub status: Status,
    /// In milliseconds, whether it is still to come or not.
    pub snoozed_until: Option<i64>,
    pub tags: Vec<String>,
    pub assignee: Option<String>,
    pub customer: Address,
    pub entries: Vec<DeskEntry>,
}

/// One mail or note of it.
pub struct DeskEntry {
    pub id: String,
    pub kind: EntryKind,
    /// In milliseconds.
    pub at: i64,
    pub author: DeskPerson,
    /// Empty where the help desk does not say.
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    /// The one that the mail was sent with, where the help desk tells it.
    pub message_id: Option<String>,
    pub body: DeskBody,
    pub files: Vec<DeskFile>,
    /// Those of its HTML that lie with the help desk.
    pub pictures: Vec<DeskPicture>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Received,
    Sent,
    Note,
}

#[derive(Hash)]
pub enum DeskBody {
    Html(String),
    Text(String),
}

#[derive(Clone, Default)]
pub struct DeskPerson {
    pub name: Option<String>,
    pub email: Option<String>,
}

pub struct DeskFile {
    pub name: String,
    pub content_type: String,
    /// Where it can be read, absolute or below the address of the help desk.
    pub address: String,
    /// Where it is in a folder of saved answers.
    pub saved_as: String,
    pub encoding: FileEncoding,
}

/// A picture within the text of a mail.
pub struct DeskPicture {
    /// Its address as it stands in the HTML.
    pub written: String,
    pub file: DeskFile,
}

/// How the bytes of a file are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FileEncoding {
    Plain,
    /// As `data` of a JSON object, in base64.
    Base64Json,
}

/// A page of conversations, as the help desk lists them.
pub struct DeskPage {
    pub conversations: Vec<Value>,
    pub is_last: bool,
}

impl DeskEntry {
    /// Files and pictures.
    pub fn all_files(&self) -> impl Iterator<Item = &DeskFile> {
        self.files.iter().chain(self.pictures.iter().map(|picture| &picture.file))
    }
}

impl DeskFile {
    /// The bytes of an answer that has a file of so many.
    pub fn most_answered(&self, most_bytes: usize) -> usize {
        match self.encoding {
            FileEncoding::Plain => most_bytes,
            FileEncoding::Base64Json => most_bytes / 3 * 4 + 1024,
        }
    }
}

impl DeskBody {
    pub fn text(&self) -> String {
        match self {
            DeskBody::Html(html) => mail::text_of_html(html),
            DeskBody::Text(text) => text.clone(),
        }
    }
}

impl DeskPerson {
    /// From a first and a last name.
    pub fn new(names: &[Option<String>], email: Option<String>) -> DeskPerson {
        let name = names.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        DeskPerson { name: Some(name).filter(|name| !name.is_empty()), email }
    }

    /// As somebody to write to. Who has no address gets one that no mail reaches (RFC 2606).
    pub fn address(&self, desk: &str, id: &str) -> Address {
        let made_up = || format!("customer-{id}@{desk}.invalid");
        let email = self.email.clone().filter(|email| mail::is_address(email));
        Address::new(self.name.as_deref(), &email.unwrap_or_else(made_up))
    }
}

/// The customer of a conversation: whom the help desk names, or else the first who wrote and has an
/// address.
pub fn customer(named: &DeskPerson, entries: &[DeskEntry], desk: &str, id: &str) -> Address {
    let has_address = |person: &&DeskPerson| person.email.as_deref().is_some_and(mail::is_address);
    let received = entries.iter().filter(|entry| entry.kind == EntryKind::Received);
    let mut people = std::iter::once(named).chain(received.map(|entry| &entry.author));
    people.find(has_address).unwrap_or(named).address(desk, id)
}

/// A text of an object that is there and not empty.
pub fn text(object: &Value, name: &str) -> Option<String> {
    let text = object[name].as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// An id, whether it is a number or a text.
pub fn id(object: &Value, name: &str) -> Option<String> {
    match &object[name] {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => is_id(text).then(|| text.clone()),
        _ => None,
    }
}

/// True for a text that may be an id: it leads nowhere else when it stands in an address or a file name.
pub fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !text.is_empty() && text.chars().all(is_plain)
}

/// The file of a folder of saved answers that has what lies at an address, where no id tells it.
pub fn saved_by_address(address: &str) -> String {
    let hash = Sha256::digest(address);
    let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("files/{name}")
}

pub fn own_id(object: &Value) -> Result<String, String> {
    id(object, "id").ok_or_else(|| "it has no id".to_owned())
}

/// A time in ISO 8601, in milliseconds.
pub fn time(object: &Value, name: &str) -> Result<i64, String> {
    let read = object[name].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    read.map(Timestamp::as_millisecond).ok_or_else(|| format!("its {name} is no date"))
}

/// The elements of a list; nothing where there is none.
pub fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a list, or a single one.
pub fn texts(object: &Value, name: &str) -> Vec<String> {
    match &object[name] {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => {
            many.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// The addresses of a header field, names and all.
pub fn addresses(field: &str) -> Vec<Address> {
    let line = field.split_whitespace().collect::<Vec<_>>().join(" ");
    let header = format!("To: {line}\r\n\r\n");
    let mut found = mail::parse(header.as_bytes(), mail::Envelope { sender: None }).to;
    found.retain(|address| mail::is_address(&address.email));
    found
}

/// A media type without its parameters.
pub fn media_type(given: Option<String>) -> String {
    let given = given.unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim().to_lowercase();
    if kind.contains('/') { kind } else { "application/octet-stream".to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_addresses_of_a_field_are_found() {
        let found = addresses("\"Kim, the one\" <kim@x.example>,\r\n bo@y.example, nobody");
        let found: Vec<(Option<&str>, &str)> =
            found.iter().map(|one| (one.name.as_deref(), one.email.as_str())).collect();
        assert_eq!(found, [(Some("Kim, the one"), "kim@x.example"), (None, "bo@y.example")]);
        assert!(addresses("").is_empty());
    }

    #[test]
    fn ids_and_times_are_read_or_refused() {
        let object = json!({ "id": 7, "at": "2024-01-02T10:00:00.250Z", "odd": "../x", "n": null });
        assert_eq!(own_id(&object).unwrap(), "7");
        assert_eq!(id(&object, "odd"), None);
        assert_eq!(time(&object, "at").unwrap(), 1_704_189_600_250);
        assert!(time(&object, "n").is_err());
        assert!(list(&object, "n").is_empty());
    }

    #[test]
    fn who_has_no_address_gets_one_that_no_mail_reaches() {
        let person = DeskPerson::new(&[Some("Kim".into()), None], None);
        let address = person.address("chatwoot", "12");
        assert_eq!(address, Address::new(Some("Kim"), "customer-12@chatwoot.invalid"));
    }
}
