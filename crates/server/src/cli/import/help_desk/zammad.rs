//! Zammad: tickets and their articles, by its REST API (`/api/v1`).

use std::collections::HashMap;

use inbox::base::states::Status;
use serde_json::Value;

use super::api::{ApiFault, DeskApi};
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, DeskPage, DeskPerson, ENTRIES, EntryKind,
    FileEncoding, addresses, id, list, media_type, own_id, text, texts, time,
};

/// Tickets of one page, which is the most that Zammad gives.
const PAGE: usize = 100;
/// People that are remembered.
const PEOPLE: usize = 20_000;
/// The user whom Zammad gives tickets that nobody has.
const NOBODY: &str = "1";

pub struct Zammad {
    pub api: DeskApi,
    /// The group whose tickets are wanted, by its id.
    pub only: Option<String>,
    people: HashMap<String, DeskPerson>,
}

impl Zammad {
    pub fn new(api: DeskApi, only: Option<String>) -> Zammad {
        Zammad { api, only, people: HashMap::new() }
    }

    pub async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        let path = format!("api/v1/tickets?expand=true&page={number}&per_page={PAGE}");
        let conversations = match self.api.json(&path).await? {
            Value::Array(tickets) => tickets,
            _ => Vec::new(),
        };
        // A server may give fewer than asked for, so that only an empty page is the last.
        Ok(DeskPage { is_last: conversations.is_empty(), conversations })
    }

    /// `None` for a ticket of another group.
    pub async fn read(&mut self, ticket: &Value) -> Result<Option<DeskConversation>, String> {
        let ticket_id = own_id(ticket)?;
        if self.only.is_some() && id(ticket, "group_id") != self.only {
            return Ok(None);
        }
        let status = status(&text(ticket, "state").unwrap_or_default())?;
        let customer = match id(ticket, "customer_id") {
            Some(person) => self.person(&person).await?.address("zammad", &person),
            None => DeskPerson::default().address("zammad", &ticket_id),
        };
        let assignee = match id(ticket, "owner_id").filter(|owner| owner != NOBODY) {
            Some(owner) => self.person(&owner).await?.email,
            None => None,
        };
        let tagged = self.get(&format!("api/v1/tags?object=Ticket&o_id={ticket_id}")).await?;
        let path = format!("api/v1/ticket_articles/by_ticket/{ticket_id}?expand=true");
        let Value::Array(articles) = self.get(&path).await? else {
            return Err("its articles cannot be read".into());
        };
        let mut entries = Vec::new();
        for article in articles.iter().take(ENTRIES) {
            entries.push(self.entry(&ticket_id, article).await?);
        }
        Ok(Some(DeskConversation {
            subject: text(ticket, "title").unwrap_or_default(),
            status,
            tags: texts(&tagged, "tags"),
            assignee,
            customer,
            entries,
            id: ticket_id,
        }))
    }

    async fn entry(&mut self, ticket: &str, article: &Value) -> Result<DeskEntry, String> {
        let article_id = own_id(article)?;
        let kind = kind(article);
        let from = text(article, "from").map(|from| addresses(&from)).unwrap_or_default();
        let author = match (kind, from.into_iter().next()) {
            (EntryKind::Received, Some(from)) => {
                DeskPerson { name: from.name, email: Some(from.email) }
            }
            // An agent's mail is from the group's address; who wrote it is who made it.
            _ => match id(article, "created_by_id").filter(|by| by != NOBODY) {
                Some(by) => self.person(&by).await?,
                None => DeskPerson::default(),
            },
        };
        let body = article["body"].as_str().unwrap_or_default().to_owned();
        let is_html = text(article, "content_type").is_some_and(|kind| kind.contains("html"));
        let files = list(article, "attachments").iter().filter_map(|file| {
            let file_id = id(file, "id")?;
            let preferences = &file["preferences"];
            let kind = text(preferences, "Content-Type").or_else(|| text(preferences, "Mime-Type"));
            Some(DeskFile {
                name: text(file, "filename").unwrap_or_else(|| format!("file-{file_id}")),
                content_type: media_type(kind),
                address: format!("api/v1/ticket_attachment/{ticket}/{article_id}/{file_id}"),
                encoding: FileEncoding::Plain,
            })
        });
        let people = |name: &str| text(article, name).map(|field| addresses(&field));
        Ok(DeskEntry {
            kind,
            at: time(article, "created_at")?,
            author,
            to: people("to").unwrap_or_default(),
            cc: people("cc").unwrap_or_default(),
            message_id: text(article, "message_id"),
            body: if is_html { DeskBody::Html(body) } else { DeskBody::Text(body) },
            files: files.collect(),
            id: article_id,
        })
    }

    async fn person(&mut self, id: &str) -> Result<DeskPerson, String> {
        if let Some(known) = self.people.get(id) {
            return Ok(known.clone());
        }
        let found = match self.api.json(&format!("api/v1/users/{id}")).await {
            Ok(user) => {
                let names = [text(&user, "firstname"), text(&user, "lastname")];
                DeskPerson::new(&names, text(&user, "email"))
            }
            // Somebody who was deleted there has no name any more.
            Err(fault) if fault.is_final => DeskPerson::default(),
            Err(fault) => return Err(fault.reason),
        };
        if self.people.len() == PEOPLE {
            self.people.clear();
        }
        self.people.insert(id.to_owned(), found.clone());
        Ok(found)
    }

    async fn get(&self, path: &str) -> Result<Value, String> {
        self.api.json(path).await.map_err(|fault| fault.reason)
    }
}

/// Zammad's own states; others are named by the operator there.
fn status(state: &str) -> Result<Status, String> {
    let state = state.to_lowercase();
    if state == "merged" || state == "removed" {
        return Err(format!("it was {state} there"));
    }
    Ok(if state.starts_with("closed") {
        Status::Closed
    } else if state.starts_with("pending") {
        Status::Waiting
    } else {
        Status::Open
    })
}

fn kind(article: &Value) -> EntryKind {
    let is_internal = article["internal"].as_bool().unwrap_or(false);
    let sender = text(article, "sender").unwrap_or_default();
    let is_note = text(article, "type").is_some_and(|kind| kind == "note");
    if sender == "Customer" && !is_internal {
        EntryKind::Received
    } else if is_internal || is_note {
        EntryKind::Note
    } else {
        EntryKind::Sent
    }
}
