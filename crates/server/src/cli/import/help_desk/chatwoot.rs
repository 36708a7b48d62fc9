//! Chatwoot: conversations of an account and their messages, by its application API.

use inbox::base::states::Status;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::api::{ApiFault, DeskApi};
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, DeskPage, DeskPerson, ENTRIES, EntryKind,
    FileEncoding, addresses, id, list, media_type, own_id, text, texts,
};

pub struct Chatwoot {
    pub api: DeskApi,
    /// The number of the account.
    account: String,
    /// The inbox whose conversations are wanted, by its id.
    only: Option<String>,
}

impl Chatwoot {
    pub fn new(api: DeskApi, account: String, only: Option<String>) -> Chatwoot {
        Chatwoot { api, account, only }
    }

    pub async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        let only = self.only.as_ref().map_or(String::new(), |inbox| format!("&inbox_id={inbox}"));
        let path = format!(
            "{}?status=all&assignee_type=all&sort_by=created_at_asc&page={number}{only}",
            self.conversations()
        );
        let listed = self.api.json(&path).await?;
        let conversations = list(&listed["data"], "payload").to_vec();
        Ok(DeskPage { is_last: conversations.is_empty(), conversations })
    }

    pub async fn read(&self, conversation: &Value) -> Result<Option<DeskConversation>, String> {
        let conversation_id = own_id(conversation)?;
        let sender = &conversation["meta"]["sender"];
        let customer = person(sender)
            .address("chatwoot", &id(sender, "id").unwrap_or_else(|| conversation_id.clone()));
        let messages = self.messages(&conversation_id).await?;
        let subject = text(&conversation["additional_attributes"], "mail_subject").or_else(|| {
            let email = messages.iter().map(|message| &message["content_attributes"]["email"]);
            email.filter_map(|email| text(email, "subject")).next()
        });
        let entries = messages.iter().filter_map(|message| entry(message).transpose());
        Ok(Some(DeskConversation {
            subject: subject.unwrap_or_else(|| format!("Conversation {conversation_id}")),
            status: match text(conversation, "status").as_deref() {
                Some("resolved") => Status::Closed,
                Some("snoozed") => Status::Waiting,
                _ => Status::Open,
            },
            tags: texts(conversation, "labels"),
            assignee: text(&conversation["meta"]["assignee"], "email"),
            customer,
            entries: entries.collect::<Result<Vec<_>, String>>()?,
            id: conversation_id,
        }))
    }

    fn conversations(&self) -> String {
        format!("api/v1/accounts/{}/conversations", self.account)
    }

    /// All messages: the newest come first, and each answer ends before the oldest of the last.
    async fn messages(&self, conversation: &str) -> Result<Vec<Value>, String> {
        let path = format!("{}/{conversation}/messages", self.conversations());
        let (mut all, mut before) = (Vec::new(), None::<i64>);
        while all.len() < ENTRIES {
            let query = before.map_or(String::new(), |id| format!("?before={id}"));
            let answer = self.api.json(&format!("{path}{query}")).await;
            let answer = answer.map_err(|fault| fault.reason)?;
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
}

fn person(object: &Value) -> DeskPerson {
    DeskPerson { name: text(object, "name"), email: text(object, "email") }
}

/// `None` for what is no message: who was assigned, and what was deleted.
fn entry(message: &Value) -> Result<Option<DeskEntry>, String> {
    let attributes = &message["content_attributes"];
    let kind = match kind(message) {
        Some(kind) if attributes["deleted"].as_bool() != Some(true) => kind,
        _ => return Ok(None),
    };
    let email = &attributes["email"];
    let seconds = message["created_at"].as_i64().ok_or("its created_at is no date")?;
    let full = |part: &str| text(&email[part], "full");
    let body = match full("html_content") {
        Some(html) if kind == EntryKind::Received => DeskBody::Html(html),
        _ => {
            let text = full("text_content").or_else(|| text(message, "content"));
            DeskBody::Text(text.unwrap_or_default())
        }
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
        at: seconds * 1_000,
        author: person(&message["sender"]),
        to: people("to", "to_emails"),
        cc: people("cc", "cc_emails"),
        message_id: text(email, "message_id").or(source),
        body,
        files: list(message, "attachments").iter().filter_map(file).collect(),
    }))
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

/// Its name is the end of its address.
fn file(attachment: &Value) -> Option<DeskFile> {
    let address = text(attachment, "data_url")?;
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
    let content_type = text(attachment, "content_type").or_else(|| guess(&name));
    Some(DeskFile {
        content_type: media_type(content_type),
        name,
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
