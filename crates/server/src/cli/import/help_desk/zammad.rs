//! Zammad: tickets and their articles, by its REST API (`/api/v1`).

use std::collections::HashMap;

use base::states::Status;
use serde_json::Value;

use super::api::ApiFault;
use super::conversation::{
    DeskBody, DeskConversation, DeskEntry, DeskFile, DeskPage, DeskPerson, ENTRIES, EntryKind,
    FileEncoding, addresses, customer, id, is_id, list, media_type, own_id, text, texts, time,
};
use super::pictures::pictures;
use super::source::{DeskRequest, DeskSource};

/// Tickets of one page, which is the most that Zammad gives.
const PAGE: usize = 100;
/// People that are remembered.
const PEOPLE: usize = 20_000;
/// The user whom Zammad gives tickets that nobody has.
const NOBODY: &str = "1";
/// What the address of a file begins with.
const FILES: &str = "api/v1/ticket_attachment/";

pub struct Zammad {
    pub source: DeskSource,
    /// The group whose tickets are wanted, by its id.
    only: Option<String>,
    people: HashMap<String, DeskPerson>,
    /// The kind of each state, by the id of the state. Its name may be anything.
    states: Option<HashMap<String, String>>,
}

impl Zammad {
    pub fn new(source: DeskSource, only: Option<String>) -> Zammad {
        Zammad { source, only, people: HashMap::new(), states: None }
    }

    pub async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        let path = format!("api/v1/tickets?expand=true&page={number}&per_page={PAGE}");
        let request = DeskRequest::new(path, format!("tickets/{number}.json"));
        let conversations = match self.source.json(&request).await? {
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
        let state = self.state(ticket).await?;
        let status = status(&state)?;
        let (customer_id, named) = match id(ticket, "customer_id") {
            Some(person) => {
                let named = self.person(&person, text(ticket, "customer")).await?;
                (person, named)
            }
            None => (ticket_id.clone(), DeskPerson::default()),
        };
        let assignee = match id(ticket, "owner_id").filter(|owner| owner != NOBODY) {
            Some(owner) => self.person(&owner, text(ticket, "owner")).await?.email,
            None => None,
        };
        let path = format!("api/v1/tags?object=Ticket&o_id={ticket_id}");
        let tagged = self.get(path, format!("tags/{ticket_id}.json")).await?;
        let path = format!("api/v1/ticket_articles/by_ticket/{ticket_id}?expand=true");
        let articles = self.get(path, format!("articles/{ticket_id}.json")).await?;
        let Value::Array(articles) = articles else {
            return Err("its articles cannot be read".into());
        };
        let mut entries = Vec::new();
        for article in articles.iter().take(ENTRIES) {
            entries.push(self.entry(&ticket_id, article).await?);
        }
        let is_reminder = state.starts_with("pending reminder");
        Ok(Some(DeskConversation {
            subject: text(ticket, "title").unwrap_or_default(),
            status,
            snoozed_until: time(ticket, "pending_time").ok().filter(|_| is_reminder),
            tags: texts(&tagged, "tags"),
            assignee,
            customer: customer(&named, &entries, "zammad", &customer_id),
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
            // Somebody of the team may have written it down for the customer, as of a call.
            (EntryKind::Received, None) => DeskPerson::default(),
            // An agent's mail is from the group's address; who wrote it is who made it.
            _ => match id(article, "created_by_id").filter(|by| by != NOBODY) {
                Some(by) => self.person(&by, text(article, "created_by")).await?,
                None => DeskPerson::default(),
            },
        };
        let body = article["body"].as_str().unwrap_or_default().to_owned();
        let is_html = text(article, "content_type").is_some_and(|kind| kind.contains("html"));
        let pictures = match is_html {
            true => pictures(&body, |address| self.picture(address)),
            false => Vec::new(),
        };
        let files = list(article, "attachments").iter();
        let files = files.filter_map(|attachment| file(ticket, &article_id, attachment));
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
            pictures,
            id: article_id,
        })
    }

    /// A picture of an article. Zammad does not list it among the files.
    fn picture(&self, address: &str) -> Option<DeskFile> {
        let url = self.source.address(address).filter(|url| self.source.is_own(url))?;
        let (_, ids) = url.path().split_once(FILES)?;
        let ids: Vec<&str> = ids.split('/').collect();
        match ids.as_slice() {
            &[ticket, article, file] if ids.iter().all(|id| is_id(id)) => {
                Some(stored_file(&[ticket, article, file], format!("picture {file}"), None))
            }
            _ => None,
        }
    }

    /// The kind of a ticket's state, or its name where the kinds cannot be read.
    async fn state(&mut self, ticket: &Value) -> Result<String, String> {
        if self.states.is_none() {
            let request = DeskRequest::new("api/v1/ticket_states?expand=true", "states.json");
            let listed = match self.source.json(&request).await {
                Ok(Value::Array(states)) => states,
                Ok(_) => Vec::new(),
                Err(fault) if fault.is_final => Vec::new(),
                Err(fault) => return Err(fault.reason),
            };
            let kinds = listed
                .iter()
                .filter_map(|state| Some((id(state, "id")?, text(state, "state_type")?)));
            self.states = Some(kinds.collect());
        }
        let kinds = self.states.as_ref();
        let kind = kinds.and_then(|kinds| kinds.get(&id(ticket, "state_id")?));
        let state = kind.cloned().or_else(|| text(ticket, "state"));
        Ok(state.unwrap_or_default().to_lowercase())
    }

    /// Somebody by their id. What is known of somebody who was deleted is their login, at most.
    async fn person(&mut self, id: &str, login: Option<String>) -> Result<DeskPerson, String> {
        let mut found = match self.people.get(id) {
            Some(known) => known.clone(),
            None => self.look_up(id).await?,
        };
        if found.email.is_none() {
            found.email = login.filter(|login| mail::is_address(login));
        }
        Ok(found)
    }

    async fn look_up(&mut self, id: &str) -> Result<DeskPerson, String> {
        let request = DeskRequest::new(format!("api/v1/users/{id}"), format!("users/{id}.json"));
        let found = match self.source.json(&request).await {
            Ok(user) => {
                let names = [text(&user, "firstname"), text(&user, "lastname")];
                DeskPerson::new(&names, text(&user, "email"))
            }
            Err(fault) if fault.is_final => DeskPerson::default(),
            Err(fault) => return Err(fault.reason),
        };
        if self.people.len() == PEOPLE {
            self.people.clear();
        }
        self.people.insert(id.to_owned(), found.clone());
        Ok(found)
    }

    async fn get(&self, path: String, saved_as: String) -> Result<Value, String> {
        let request = DeskRequest::new(path, saved_as);
        self.source.json(&request).await.map_err(|fault| fault.reason)
    }
}

/// Zammad's kinds of states, and the names that it gives its own.
fn status(state: &str) -> Result<Status, String> {
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
    // What does not say that it is for customers is not shown to them.
    let is_internal = article["internal"].as_bool().unwrap_or(true);
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

/// `None` for the HTML of a mail, which Zammad keeps beside its text as if it were a file.
fn file(ticket: &str, article: &str, attachment: &Value) -> Option<DeskFile> {
    let preferences = &attachment["preferences"];
    if preferences["content-alternative"].as_bool() == Some(true) {
        return None;
    }
    let file = id(attachment, "id")?;
    let kind = text(preferences, "Content-Type").or_else(|| text(preferences, "Mime-Type"));
    let name = text(attachment, "filename").unwrap_or_else(|| format!("file-{file}"));
    Some(stored_file(&[ticket, article, file.as_str()], name, kind))
}

/// The file of a ticket, an article and an id.
fn stored_file(ids: &[&str; 3], name: String, content_type: Option<String>) -> DeskFile {
    DeskFile {
        name,
        content_type: media_type(content_type),
        address: format!("{FILES}{}", ids.join("/")),
        saved_as: format!("files/{}", ids[2]),
        encoding: FileEncoding::Plain,
    }
}
