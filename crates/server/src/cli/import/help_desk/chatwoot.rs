//! Chatwoot: conversations of an account and their messages, by its application API.

use std::collections::HashMap;

use base::states::Status;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::api::ApiFault;
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, DeskPage, DeskPerson, ENTRIES, EntryKind,
    FileEncoding, addresses, customer, id, list, media_type, own_id, saved_by_address, text, texts,
    time,
};
use super::pictures::pictures;
use super::source::{DeskRequest, DeskSource};

/// What the path of a stored file has in it.
const STORED: &str = "/rails/active_storage/";

pub struct Chatwoot {
    pub source: DeskSource,
    /// The number of the account.
    account: String,
    /// The inbox whose conversations are wanted, by its id.
    only: Option<String>,
    /// The addresses of the team by their ids: a message tells only the id and the name.
    agents: Option<HashMap<String, String>>,
}

impl Chatwoot {
    pub fn new(source: DeskSource, account: String, only: Option<String>) -> Chatwoot {
        Chatwoot { source, account, only, agents: None }
    }

    pub async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        let only = self.only.as_ref().map_or(String::new(), |inbox| format!("&inbox_id={inbox}"));
        let path = format!(
            "{}?status=all&assignee_type=all&sort_by=created_at_asc&page={number}{only}",
            self.conversations()
        );
        let request = DeskRequest::new(path, format!("conversations/{number}.json"));
        let listed = self.source.json(&request).await?;
        let conversations = list(&listed["data"], "payload").to_vec();
        Ok(DeskPage { is_last: conversations.is_empty(), conversations })
    }

    /// `None` for a conversation of another inbox.
    pub async fn read(&mut self, conversation: &Value) -> Result<Option<DeskConversation>, String> {
        let conversation_id = own_id(conversation)?;
        if self.only.is_some() && id(conversation, "inbox_id") != self.only {
            return Ok(None);
        }
        self.read_agents().await?;
        let sender = &conversation["meta"]["sender"];
        let sender_id = id(sender, "id").unwrap_or_else(|| conversation_id.clone());
        let messages = self.messages(&conversation_id).await?;
        let subject = text(&conversation["additional_attributes"], "mail_subject").or_else(|| {
            let email = messages.iter().map(|message| &message["content_attributes"]["email"]);
            email.filter_map(|email| text(email, "subject")).next()
        });
        let entries = messages.iter().filter_map(|message| self.entry(message).transpose());
        let entries = entries.collect::<Result<Vec<_>, String>>()?;
        Ok(Some(DeskConversation {
            subject: subject.unwrap_or_else(|| format!("Conversation {conversation_id}")),
            status: match text(conversation, "status").as_deref() {
                Some("resolved") => Status::Closed,
                Some("snoozed") => Status::Waiting,
                _ => Status::Open,
            },
            snoozed_until: time(conversation, "snoozed_until").ok(),
            tags: texts(conversation, "labels"),
            assignee: text(&conversation["meta"]["assignee"], "email"),
            customer: customer(&person(sender), &entries, "chatwoot", &sender_id),
            entries,
            id: conversation_id,
        }))
    }

    async fn read_agents(&mut self) -> Result<(), String> {
        if self.agents.is_some() {
            return Ok(());
        }
        let path = format!("api/v1/accounts/{}/agents", self.account);
        let listed = match self.source.json(&DeskRequest::new(path, "agents.json")).await {
            Ok(Value::Array(agents)) => agents,
            Ok(_) => Vec::new(),
            Err(fault) if fault.is_final => Vec::new(),
            Err(fault) => return Err(fault.reason),
        };
        let agents = listed.iter().filter_map(|one| Some((id(one, "id")?, text(one, "email")?)));
        self.agents = Some(agents.collect());
        Ok(())
    }

    fn conversations(&self) -> String {
        format!("api/v1/accounts/{}/conversations", self.account)
    }

    /// All messages: the newest come first, and each answer ends before the oldest of the last.
    async fn messages(&self, conversation: &str) -> Result<Vec<Value>, String> {
        let path = format!("{}/{conversation}/messages", self.conversations());
        let (mut all, mut before) = (Vec::new(), None::<i64>);
        while all.len() < ENTRIES {
            let request = match before {
                None => DeskRequest::new(&path, format!("messages/{conversation}.json")),
                Some(id) => DeskRequest::new(
                    format!("{path}?before={id}"),
                    format!("messages/{conversation}-before-{id}.json"),
                ),
            };
            let answer = self.source.json(&request).await.map_err(|fault| fault.reason)?;
            let found = list(&answer, "payload");
            let oldest = found.iter().filter_map(|message| message["id"].as_i64()).min();
            // A server that does not understand the question would answer the same for ever.
            let Some(oldest) = oldest.filter(|id| before.is_none_or(|before| *id < before)) else {
                break;
            };
            all.extend_from_slice(found);
            before = Some(oldest);
        }
        Ok(all)
    }

    /// `None` for what is no message: who was assigned, and what was deleted.
    fn entry(&self, message: &Value) -> Result<Option<DeskEntry>, String> {
        let attributes = &message["content_attributes"];
        let kind = match kind(message) {
            Some(kind) if attributes["deleted"].as_bool() != Some(true) => kind,
            _ => return Ok(None),
        };
        let email = &attributes["email"];
        let seconds = message["created_at"].as_i64().ok_or("its created_at is no date")?;
        let full = |part: &str| text(&email[part], "full");
        let body = match full("html_content") {
            Some(html) if kind != EntryKind::Note => DeskBody::Html(html),
            _ => {
                let text = full("text_content").or_else(|| text(message, "content"));
                DeskBody::Text(text.unwrap_or_default())
            }
        };
        let pictures = match &body {
            DeskBody::Html(html) => pictures(html, |address| self.picture(address)),
            DeskBody::Text(_) => Vec::new(),
        };
        let people = |in_mail: &str, written: &str| {
            let mut found = texts(email, in_mail);
            found.extend(texts(attributes, written));
            found.iter().flat_map(|field| addresses(field)).collect()
        };
        let source = text(message, "source_id").filter(|source| source.contains('@'));
        Ok(Some(DeskEntry {
            id: own_id(message)?,
            kind,
            at: seconds.saturating_mul(1_000),
            author: self.author(message, kind),
            to: people("to", "to_emails"),
            cc: people("cc", "cc_emails"),
            message_id: text(email, "message_id").or(source),
            body,
            files: list(message, "attachments").iter().filter_map(file).collect(),
            pictures,
        }))
    }

    /// Who wrote a message. The sender of a mail that came in is the contact of the conversation, whoever
    /// wrote it; the sender of one that went out has no address.
    fn author(&self, message: &Value, kind: EntryKind) -> DeskPerson {
        let sender = &message["sender"];
        let mut named = person(sender);
        if kind == EntryKind::Received {
            let from = texts(&message["content_attributes"]["email"], "from");
            let from = from.iter().find_map(|field| addresses(field).into_iter().next());
            let is_other = |from: &mail::Address| {
                let email = named.email.as_deref().unwrap_or_default();
                !from.email.eq_ignore_ascii_case(email)
            };
            let Some(from) = from.filter(is_other) else { return named };
            // A contact without an address may be the one who wrote.
            let name = named.name.filter(|_| named.email.is_none());
            return DeskPerson { name: from.name.or(name), email: Some(from.email) };
        }
        if named.email.is_none() && text(sender, "type").is_some_and(|kind| kind == "user") {
            let agents = self.agents.as_ref();
            named.email = agents.and_then(|agents| agents.get(&id(sender, "id")?).cloned());
        }
        named
    }

    fn picture(&self, address: &str) -> Option<DeskFile> {
        let url = self.source.address(address).filter(|url| self.source.is_own(url))?;
        url.path().contains(STORED).then(|| DeskFile {
            name: format!("picture {}", url.path().rsplit('/').next().unwrap_or_default()),
            content_type: media_type(None),
            address: url.to_string(),
            saved_as: saved_by_address(address),
            encoding: FileEncoding::Plain,
        })
    }
}

fn person(object: &Value) -> DeskPerson {
    DeskPerson { name: text(object, "name"), email: text(object, "email") }
}

/// 0 came in, 1 went out, 3 is sent by the app itself; 2 says what happened.
fn kind(message: &Value) -> Option<EntryKind> {
    if message["private"].as_bool() == Some(true) {
        return Some(EntryKind::Note);
    }
    match message["message_type"].as_i64() {
        Some(0) => Some(EntryKind::Received),
        Some(1 | 3) => Some(EntryKind::Sent),
        _ => None,
    }
}

/// Its name is the end of its address. A place, a contact or a link is no file.
fn file(attachment: &Value) -> Option<DeskFile> {
    let kind = text(attachment, "file_type");
    if matches!(kind.as_deref(), Some("location" | "contact" | "fallback" | "embed")) {
        return None;
    }
    let address = text(attachment, "data_url")?;
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
    let content_type = text(attachment, "content_type").or_else(|| guess(&name));
    Some(DeskFile {
        content_type: media_type(content_type),
        name,
        saved_as: format!("files/{}", id(attachment, "id")?),
        address,
        encoding: FileEncoding::Plain,
    })
}

/// Chatwoot tells the kind of a picture and no other's, so that names have to do.
fn guess(name: &str) -> Option<String> {
    let (_, end) = name.rsplit_once('.')?;
    let kind = match end.to_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        "txt" => "text/plain",
        "csv" => "text/csv",
        _ => return None,
    };
    Some(kind.to_owned())
}
