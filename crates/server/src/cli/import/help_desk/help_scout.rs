//! Help Scout (Mailbox API 2.0) and FreeScout (API & Webhooks module), whose conversations and threads
//! have the same form but for some names.

use base::states::Status;
use serde_json::Value;

use super::api::ApiFault;
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, DeskPage, DeskPerson, ENTRIES, EntryKind,
    FileEncoding, addresses, customer, id, is_id, list, media_type, own_id, saved_by_address, text,
    texts, time,
};
use super::pictures::pictures;
use super::source::{DeskRequest, DeskSource};

/// Conversations of one page of FreeScout; Help Scout's have their own size.
const PAGE: usize = 100;
/// Where Help Scout keeps the pictures of mails, for everybody who knows the address.
const HELP_SCOUT_PICTURES: &str = "d33v4339jhl8k0.cloudfront.net";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HelpScoutKind {
    FreeScout,
    HelpScout,
}

pub struct HelpScout {
    pub source: DeskSource,
    pub kind: HelpScoutKind,
    /// The mailbox whose conversations are wanted, by its id.
    only: Option<String>,
}

impl HelpScout {
    pub fn new(source: DeskSource, kind: HelpScoutKind, only: Option<String>) -> HelpScout {
        HelpScout { source, kind, only }
    }

    pub fn name(&self) -> &'static str {
        match self.kind {
            HelpScoutKind::FreeScout => "freescout",
            HelpScoutKind::HelpScout => "helpscout",
        }
    }

    pub async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        let order = "sortField=createdAt&sortOrder=asc";
        // Both give only active ones unless they are asked for the others.
        let (path, mailbox) = match self.kind {
            HelpScoutKind::FreeScout => {
                let all = "status=active,pending,closed,spam";
                let size = format!("pageSize={PAGE}&page={number}");
                (format!("api/conversations?{all}&{order}&{size}"), "mailboxId")
            }
            HelpScoutKind::HelpScout => {
                (format!("v2/conversations?status=all&{order}&page={number}"), "mailbox")
            }
        };
        let only = self.only.as_ref().map_or(String::new(), |id| format!("&{mailbox}={id}"));
        let request =
            DeskRequest::new(format!("{path}{only}"), format!("conversations/{number}.json"));
        let listed = self.source.json(&request).await?;
        let conversations = list(&listed["_embedded"], "conversations").to_vec();
        let is_last = conversations.is_empty() || is_last_page(&listed, number as u64);
        Ok(DeskPage { conversations, is_last })
    }

    /// `None` for a conversation of another mailbox.
    pub async fn read(&self, conversation: &Value) -> Result<Option<DeskConversation>, String> {
        let conversation_id = own_id(conversation)?;
        if self.only.is_some() && id(conversation, "mailboxId") != self.only {
            return Ok(None);
        }
        let status = status(conversation)?;
        let (whole, threads) = match self.kind {
            HelpScoutKind::FreeScout => {
                let path = format!("api/conversations/{conversation_id}?embed=threads,tags");
                let whole = self.get(path, format!("threads/{conversation_id}.json")).await?;
                let threads = list(&whole["_embedded"], "threads").to_vec();
                (whole, threads)
            }
            HelpScoutKind::HelpScout => {
                (conversation.clone(), self.threads(&conversation_id).await?)
            }
        };
        let primary = &whole["primaryCustomer"];
        let named = if primary.is_object() { primary } else { &whole["customer"] };
        let customer_id = id(named, "id").unwrap_or_else(|| conversation_id.clone());
        let threads = threads.iter().take(ENTRIES);
        let entries = threads.filter_map(|thread| self.entry(thread).transpose());
        let entries = entries.collect::<Result<Vec<_>, String>>()?;
        Ok(Some(DeskConversation {
            subject: text(&whole, "subject").unwrap_or_default(),
            status,
            snoozed_until: time(&whole["snooze"], "snoozedUntil").ok(),
            tags: tags(&whole),
            assignee: text(&whole["assignee"], "email"),
            customer: customer(&person(named), &entries, self.name(), &customer_id),
            entries,
            id: conversation_id,
        }))
    }

    /// All threads of a conversation of Help Scout, page by page.
    async fn threads(&self, conversation: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        for number in 1u64.. {
            let path = format!("v2/conversations/{conversation}/threads?page={number}");
            let answer = self.get(path, format!("threads/{conversation}-{number}.json")).await?;
            let found = list(&answer["_embedded"], "threads");
            all.extend_from_slice(found);
            if found.is_empty() || is_last_page(&answer, number) || all.len() >= ENTRIES {
                break;
            }
        }
        Ok(all)
    }

    async fn get(&self, path: String, saved_as: String) -> Result<Value, String> {
        let request = DeskRequest::new(path, saved_as);
        self.source.json(&request).await.map_err(|fault| fault.reason)
    }

    /// `None` for what is no message: line items, drafts and what is hidden.
    fn entry(&self, thread: &Value) -> Result<Option<DeskEntry>, String> {
        let kind = match (text(thread, "state").as_deref(), kind(thread)) {
            (None | Some("published"), Some(kind)) => kind,
            _ => return Ok(None),
        };
        let people = |name: &str| {
            let fields = texts(thread, name);
            fields.iter().flat_map(|field| addresses(field)).collect()
        };
        let body = text(thread, "body").or_else(|| text(thread, "text")).unwrap_or_default();
        let files = list(&thread["_embedded"], "attachments").iter().filter_map(file);
        Ok(Some(DeskEntry {
            id: own_id(thread)?,
            kind,
            at: time(thread, "createdAt")?,
            author: author(thread, kind),
            to: people("to"),
            cc: people("cc"),
            message_id: None,
            files: files.collect(),
            pictures: pictures(&body, |address| self.picture(address)),
            body: DeskBody::Html(body),
        }))
    }

    fn picture(&self, address: &str) -> Option<DeskFile> {
        let url = self.source.address(address)?;
        let number =
            url.query_pairs().find(|(name, _)| name == "id").map(|(_, id)| id.into_owned());
        let is_stored = match self.kind {
            HelpScoutKind::FreeScout => {
                self.source.is_own(&url) && url.path().contains("/storage/attachment/")
            }
            HelpScoutKind::HelpScout => url.host_str() == Some(HELP_SCOUT_PICTURES),
        };
        is_stored.then(|| DeskFile {
            name: format!("picture {}", url.path().rsplit('/').next().unwrap_or_default()),
            content_type: media_type(None),
            address: url.to_string(),
            saved_as: match number.filter(|number| is_id(number)) {
                Some(number) => format!("files/{number}"),
                None => saved_by_address(address),
            },
            encoding: FileEncoding::Plain,
        })
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

/// Who wrote a thread. What somebody of the team wrote down for a customer is the customer's.
fn author(thread: &Value, kind: EntryKind) -> DeskPerson {
    let by = person(&thread["createdBy"]);
    let is_theirs = text(&thread["createdBy"], "type").is_some_and(|kind| kind == "customer");
    if kind != EntryKind::Received || (is_theirs && by.email.is_some()) {
        return by;
    }
    person(&thread["customer"])
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

/// A list that does not say how many pages it has goes on until one is empty.
fn is_last_page(answer: &Value, number: u64) -> bool {
    answer["page"]["totalPages"].as_u64().is_some_and(|pages| number >= pages)
}

/// Help Scout answers a file as JSON, FreeScout as it is.
fn file(attachment: &Value) -> Option<DeskFile> {
    let name = text(attachment, "filename").or_else(|| text(attachment, "fileName"));
    let number = id(attachment, "id")?;
    let (address, encoding, saved_as) = match text(&attachment["_links"]["data"], "href") {
        Some(address) => (address, FileEncoding::Base64Json, format!("files/{number}.json")),
        None => (text(attachment, "fileUrl")?, FileEncoding::Plain, format!("files/{number}")),
    };
    Some(DeskFile {
        name: name.unwrap_or_else(|| "file".to_owned()),
        content_type: media_type(text(attachment, "mimeType")),
        address,
        saved_as,
        encoding,
    })
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn saved_as(kind: HelpScoutKind, base: &str, address: &str) -> Option<String> {
        let source =
            DeskSource::from_folder(Url::parse(base).unwrap(), &std::env::temp_dir()).unwrap();
        let found = HelpScout::new(source, kind, None).picture(address)?;
        assert_eq!(found.address, address);
        Some(found.saved_as)
    }

    #[test]
    fn a_list_without_a_count_of_pages_goes_on() {
        let page = |total: Value| serde_json::json!({ "page": { "totalPages": total } });
        assert!(is_last_page(&page(2.into()), 2));
        assert!(!is_last_page(&page(2.into()), 1));
        assert!(!is_last_page(&page(Value::Null), 1));
        assert!(!is_last_page(&serde_json::json!({}), 9));
    }

    #[test]
    fn pictures_of_the_text_are_told_from_those_of_others() {
        let free = |address: &str| {
            saved_as(HelpScoutKind::FreeScout, "https://help.acme.example/desk/", address)
        };
        let stored = "https://help.acme.example/desk/storage/attachment/1/2/a.png?id=7&token=x";
        assert_eq!(free(stored).as_deref(), Some("files/7"));
        assert_eq!(free("https://help.acme.example/logo.png?id=7"), None);
        assert_eq!(free("https://x.example/storage/attachment/1/2/a.png?id=7"), None);

        let help = |address: &str| {
            saved_as(HelpScoutKind::HelpScout, "https://api.helpscout.net/", address)
        };
        let stored = "https://d33v4339jhl8k0.cloudfront.net/inline/12/ab/a.png";
        assert_eq!(help(stored), Some(saved_by_address(stored)));
        assert_eq!(help("https://x.example/inline/12/ab/a.png"), None);
    }
}
