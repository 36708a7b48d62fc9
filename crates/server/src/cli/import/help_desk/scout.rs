//! Help Scout (Mailbox API 2.0) and FreeScout (API & Webhooks module), whose conversations and threads
//! have the same form but for some names.

use inbox::base::states::Status;
use serde_json::Value;

use super::api::{ApiFault, DeskApi};
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, DeskPage, DeskPerson, ENTRIES, EntryKind,
    FileEncoding, addresses, id, list, media_type, own_id, text, texts, time,
};

/// Conversations of one page of FreeScout; Help Scout's have their own size.
const PAGE: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ScoutKind {
    FreeScout,
    HelpScout,
}

pub struct Scout {
    pub api: DeskApi,
    pub kind: ScoutKind,
    /// The mailbox whose conversations are wanted, by its id.
    only: Option<String>,
}

impl Scout {
    pub fn new(api: DeskApi, kind: ScoutKind, only: Option<String>) -> Scout {
        Scout { api, kind, only }
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            ScoutKind::FreeScout => "freescout",
            ScoutKind::HelpScout => "helpscout",
        }
    }

    pub async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        let order = "sortField=createdAt&sortOrder=asc";
        let (path, mailbox) = match self.kind {
            ScoutKind::FreeScout => {
                (format!("api/conversations?{order}&pageSize={PAGE}&page={number}"), "mailboxId")
            }
            ScoutKind::HelpScout => {
                (format!("v2/conversations?status=all&{order}&page={number}"), "mailbox")
            }
        };
        let only = self.only.as_ref().map_or(String::new(), |id| format!("&{mailbox}={id}"));
        let listed = self.api.json(&format!("{path}{only}")).await?;
        let conversations = list(&listed["_embedded"], "conversations").to_vec();
        let pages = listed["page"]["totalPages"].as_u64().unwrap_or(0);
        let is_last = conversations.is_empty() || number as u64 >= pages;
        Ok(DeskPage { conversations, is_last })
    }

    pub async fn read(&self, conversation: &Value) -> Result<Option<DeskConversation>, String> {
        let conversation_id = own_id(conversation)?;
        let status = status(conversation)?;
        let (whole, threads) = match self.kind {
            ScoutKind::FreeScout => {
                let path = format!("api/conversations/{conversation_id}?embed=threads,tags");
                let whole = self.get(&path).await?;
                let threads = list(&whole["_embedded"], "threads").to_vec();
                (whole, threads)
            }
            ScoutKind::HelpScout => (conversation.clone(), self.threads(&conversation_id).await?),
        };
        let primary = &whole["primaryCustomer"];
        let customer = if primary.is_object() { primary } else { &whole["customer"] };
        let customer_id = id(customer, "id").unwrap_or_else(|| conversation_id.clone());
        let entries = threads.iter().take(ENTRIES).filter_map(|thread| entry(thread).transpose());
        Ok(Some(DeskConversation {
            subject: text(&whole, "subject").unwrap_or_default(),
            status,
            tags: tags(&whole),
            assignee: text(&whole["assignee"], "email"),
            customer: person(customer).address(self.name(), &customer_id),
            entries: entries.collect::<Result<Vec<_>, String>>()?,
            id: conversation_id,
        }))
    }

    /// All threads of a conversation of Help Scout, page by page.
    async fn threads(&self, conversation: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        for number in 1u64.. {
            let path = format!("v2/conversations/{conversation}/threads?page={number}");
            let answer = self.get(&path).await?;
            let found = list(&answer["_embedded"], "threads");
            all.extend_from_slice(found);
            let pages = answer["page"]["totalPages"].as_u64().unwrap_or(0);
            if found.is_empty() || number >= pages || all.len() >= ENTRIES {
                break;
            }
        }
        Ok(all)
    }

    async fn get(&self, path: &str) -> Result<Value, String> {
        self.api.json(path).await.map_err(|fault| fault.reason)
    }
}

fn status(conversation: &Value) -> Result<Status, String> {
    match text(conversation, "state").as_deref() {
        Some("deleted") => return Err("it was deleted there".into()),
        Some("draft") => return Err("it is a draft there".into()),
        _ => {}
    }
    match text(conversation, "status").as_deref() {
        Some("spam") => Err("it is spam there".into()),
        Some("closed") => Ok(Status::Closed),
        Some("pending") => Ok(Status::Waiting),
        _ => Ok(Status::Open),
    }
}

/// Help Scout calls a tag's name `tag`, FreeScout `name`.
fn tags(conversation: &Value) -> Vec<String> {
    let embedded = list(&conversation["_embedded"], "tags");
    let all = list(conversation, "tags").iter().chain(embedded);
    all.filter_map(|tag| text(tag, "tag").or_else(|| text(tag, "name"))).collect()
}

/// Names are `first` and `last`, or `firstName` and `lastName`.
fn person(object: &Value) -> DeskPerson {
    let named = |short: &str, long: &str| text(object, short).or_else(|| text(object, long));
    let names = [named("first", "firstName"), named("last", "lastName")];
    DeskPerson::new(&names, text(object, "email"))
}

/// `None` for what is no message: line items, drafts and what is hidden.
fn entry(thread: &Value) -> Result<Option<DeskEntry>, String> {
    let kind = match (text(thread, "state").as_deref(), kind(thread)) {
        (None | Some("published"), Some(kind)) => kind,
        _ => return Ok(None),
    };
    let author = match kind {
        EntryKind::Received if thread["customer"].is_object() => &thread["customer"],
        _ => &thread["createdBy"],
    };
    let people = |name: &str| {
        let fields = texts(thread, name);
        fields.iter().flat_map(|field| addresses(field)).collect()
    };
    let body = text(thread, "body").or_else(|| text(thread, "text"));
    let files = list(&thread["_embedded"], "attachments").iter().filter_map(file);
    Ok(Some(DeskEntry {
        id: own_id(thread)?,
        kind,
        at: time(thread, "createdAt")?,
        author: person(author),
        to: people("to"),
        cc: people("cc"),
        message_id: None,
        body: DeskBody::Html(body.unwrap_or_default()),
        files: files.collect(),
    }))
}

fn kind(thread: &Value) -> Option<EntryKind> {
    let by_customer = text(&thread["createdBy"], "type").is_some_and(|by| by == "customer");
    match text(thread, "type").as_deref() {
        Some("customer") => Some(EntryKind::Received),
        Some("message") => Some(EntryKind::Sent),
        Some("chat" | "beaconchat") if by_customer => Some(EntryKind::Received),
        Some("chat" | "beaconchat") => Some(EntryKind::Sent),
        Some("note" | "phone" | "forwardparent" | "forwardchild") => Some(EntryKind::Note),
        _ => None,
    }
}

/// Help Scout answers a file as JSON, FreeScout as it is.
fn file(attachment: &Value) -> Option<DeskFile> {
    let name = text(attachment, "filename").or_else(|| text(attachment, "fileName"));
    let (address, encoding) = match text(&attachment["_links"]["data"], "href") {
        Some(address) => (address, FileEncoding::Base64Json),
        None => (text(attachment, "fileUrl")?, FileEncoding::Plain),
    };
    Some(DeskFile {
        name: name.unwrap_or_else(|| "file".to_owned()),
        content_type: media_type(text(attachment, "mimeType")),
        address,
        encoding,
    })
}
