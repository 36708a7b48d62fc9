//! Search, with the grammar of the API.

use std::sync::Arc;

use actions::conversations::saved_views;
use actions::conversations::search_hits::{self, HitKind, SearchHit, SearchNames};
use actions::writing::completion;
use api::fields::check_query;
use api::operations::list_conversations;
use api::operations::{
    CountEffort, LIST_CONVERSATIONS, ListConversationsInput, ListCount, ListPage,
    count_conversations,
};
use askama::Template;
use axum::extract::State;
use base::app::Cx;
use base::error::{Error, ValidationError};
use db::Tx;
use model::mailboxes;
use model::messages::recipients::Party;
use search::list::ConversationSummary;
use search::{Excerpt, FIELD_OPERATOR, OperatorHelp};
use translation::{sentence, t};

use crate::Web;
use crate::forms::form::{Asked, FormFields, PostedForm, form};
use crate::layout::filters;
use crate::layout::flash::Flash;
use crate::layout::hrefs::contact_href;
use crate::layout::page_layout::{PageLayout, PageLocation, search_href};
use crate::layout::responses::{FormOutcome, PageResult};
use crate::layout::wording::{Avatar, StatusLabel, TimeFormat, status_label};
use crate::pages::lists::conversation_list::{RowView, row};
use crate::pages::lists::list_filters::FilterChoice;
use crate::pages::lists::palette::{Place, find_places};
use crate::pages::lists::search_parts::{SearchPart, count_words, search_contents, search_parts};
use crate::visitor::Visitor;

/// Conversations on one page of results.
const FOUND: i64 = 20;

#[derive(Template)]
#[template(path = "search.html", whitespace = "minimize")]
struct SearchPage {
    frame: PageLayout,
    q: String,
    view: String,
    mailbox: String,
    assigned: String,
    problem: String,
    inboxes: Vec<(String, String)>,
    searched: bool,
    parts: Vec<SearchPart>,
    contents: Vec<FilterChoice>,
    /// Lists, pages and settings that are called so, on the first page.
    places: Vec<Place>,
    people: Vec<PersonFound>,
    /// How many were found, on the first page.
    count: Option<String>,
    hits: Vec<Hit>,
    next: Option<String>,
    /// The words, and the filters as operators: what a view of this search asks for.
    view_q: String,
    /// The view that this search is saved as.
    saved: Option<String>,
    operators: &'static [OperatorHelp],
    completions: Vec<Completion>,
}

/// A contact whose name or address begins so.
struct PersonFound {
    href: String,
    name: String,
    email: String,
    avatar: Avatar,
}

impl PersonFound {
    fn new(party: Party) -> PersonFound {
        let name = party.name.clone().unwrap_or_else(|| party.email.clone());
        PersonFound {
            href: contact_href(&party.email),
            avatar: Avatar::customer(&name),
            email: party.email,
            name,
        }
    }
}

struct Hit {
    row: RowView,
    contact_href: String,
    /// The newest thing in it that was found.
    inside: Option<Inside>,
    avatar: Avatar,
    status: StatusLabel,
    inbox: String,
    tags: Vec<String>,
}

/// A message, note or document with the found words.
struct Inside {
    href: String,
    what: String,
    is_note: bool,
    excerpt: Vec<Excerpt>,
}

/// What an operator can be completed to, in plain words.
struct Completion {
    word: String,
    about: String,
}

pub async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let q = asked.get("q").trim().to_owned();
    let view = asked.opt("view").unwrap_or_else(|| "all".into());
    let (mailbox, assigned) = (asked.get("mailbox"), asked.get("assigned"));
    let (input, problem) = match check(&asked, &q, &view).or_problems()? {
        Ok(input) => (input, None),
        Err(problems) => (None, problems.0.into_iter().next()),
    };
    let searched = input.is_some();
    let is_first = input.as_ref().is_some_and(|input| input.cursor.is_none());
    let (frame, (found, inboxes, names, views)) = web
        .page(&visitor, PageLocation::at(t!("Search"), &search_href(&q)), move |tx, cx, _| {
            let found = input.as_ref().map(|input| find(tx, cx, input)).transpose()?;
            let (inboxes, names) =
                (mailboxes::all_seen_by(tx, cx.actor)?, search_hits::search_names(tx, cx)?);
            Ok((found, inboxes, names, saved_views::list_views(tx, cx)?))
        })
        .await?;
    let SearchResults { items, next: cursor, hits: inside, people, count } =
        found.unwrap_or_default();
    let count = count.and_then(|count| count_words(count, items.len()));
    let hits = items.iter().zip(inside).map(|(summary, inside)| {
        let mut row = row(summary, &frame.times, "");
        let inside = inside.map(|hit| inside_view(&row.href, hit, &frame.times));
        if let Some(inside) = &inside {
            row.href = inside.href.clone();
        }
        Hit {
            contact_href: contact_href(&summary.contact_email),
            inside,
            avatar: Avatar::customer(&row.who),
            status: status_label(summary.status, false),
            inbox: summary.mailbox.clone(),
            tags: summary.tags.0.clone(),
            row,
        }
    });
    let hits = hits.collect();
    let next = cursor.map(|cursor| {
        let kept = asked.pairs().iter().filter(|(name, _)| name != "cursor");
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(kept)
            .append_pair("cursor", &cursor)
            .finish();
        format!("/search?{query}")
    });
    let inboxes: Vec<(String, String)> =
        inboxes.into_iter().map(|inbox| (inbox.id.to_string(), inbox.name)).collect();
    let inbox_name = inboxes.iter().find(|(id, _)| *id == mailbox).map(|(_, name)| name.as_str());
    let view_q = with_filters(&q, &view, inbox_name, &assigned);
    let saved = views.into_iter().find(|view| view.q == view_q).map(|view| view.id.to_string());
    let (parts, contents) = if searched {
        (search_parts(&asked, &q), search_contents(&asked, &q))
    } else {
        (Vec::new(), Vec::new())
    };
    let page = SearchPage {
        view_q,
        saved,
        view,
        mailbox,
        assigned,
        problem: problem.map(problem_words).unwrap_or_default(),
        inboxes,
        searched,
        parts,
        contents,
        places: if is_first { find_places(&frame, &q) } else { Vec::new() },
        count,
        people: people.into_iter().map(PersonFound::new).collect(),
        hits,
        next,
        operators: search::OPERATORS,
        completions: completions(&names),
        frame,
        q,
    };
    web.show(&visitor, &page)
}

/// What one page of a search shows.
#[derive(Default)]
struct SearchResults {
    items: Vec<ConversationSummary>,
    next: Option<String>,
    /// What was found in each of them.
    hits: Vec<Option<SearchHit>>,
    people: Vec<Party>,
    count: Option<ListCount>,
}

/// People and the count stand on the first page alone.
fn find(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    input: &ListConversationsInput,
) -> base::error::Result<SearchResults> {
    let ListPage { items, next } = list_conversations(tx, cx, input.clone())?;
    let q = input.q.as_deref().unwrap_or_default();
    let hits = search_hits::search_hits(tx, cx, q, &items)?;
    if input.cursor.is_some() {
        return Ok(SearchResults { items, next, hits, ..SearchResults::default() });
    }
    let count = match next {
        None => ListCount { n: items.len(), is_exact: true },
        Some(_) => count_conversations(tx, cx, input, CountEffort::Quick)?,
    };
    let people = completion::find_people(tx, cx, q)?;
    Ok(SearchResults { items, next, hits, people, count: Some(count) })
}

form! {
    pub struct ViewForm {
        name: String,
        q: String,
        /// For the whole team.
        team: bool,
    }

    pub struct RemovalForm {
        view: String,
        q: String,
    }
}

/// A query that asks for the same as words and filters beside them.
fn with_filters(q: &str, view: &str, inbox: Option<&str>, assigned: &str) -> String {
    let mut asked = vec![q.to_owned()];
    if view != "all" {
        asked.push(format!("is:{view}"));
    }
    asked.extend(inbox.map(|name| format!("in:\"{}\"", name.replace('"', " "))));
    match assigned {
        "me" => asked.push("assigned:me".into()),
        "unassigned" => asked.push("is:unassigned".into()),
        _ => {}
    }
    asked.join(" ").trim().to_owned()
}

/// Saves a search as a view in the sidebar.
pub async fn save(State(web): State<Arc<Web>>, posted: PostedForm<ViewForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let href = search_href(form.q.trim());
    web.act(&visitor, move |tx, cx, _| {
        if form.team {
            saved_views::save_team_view(tx, cx, &form.name, &form.q)
        } else {
            saved_views::save_own_view(tx, cx, &form.name, &form.q)
        }
    })
    .await?;
    web.redirect(&href, Flash::ViewSaved)
}

pub async fn remove(State(web): State<Arc<Web>>, posted: PostedForm<RemovalForm>) -> PageResult {
    let PostedForm { visitor, form } = posted;
    let href = search_href(form.q.trim());
    web.act(&visitor, move |tx, cx, _| saved_views::remove_view(tx, cx, &form.view)).await?;
    web.redirect(&href, Flash::ViewRemoved)
}

/// What is wrong with a query, and with which of its filters.
fn problem_words(problem: ValidationError) -> String {
    let words = sentence(&problem.sentence);
    if problem.field == "q" { capitalize(&words) } else { format!("{}: {words}", problem.field) }
}

fn capitalize(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Opens the conversation at what was found.
fn inside_view(conversation: &str, hit: SearchHit, times: &TimeFormat) -> Inside {
    let part = hit.part.map(|part| format!("?before={part}")).unwrap_or_default();
    let anchor = if hit.anchor.is_empty() { String::new() } else { format!("#{}", hit.anchor) };
    let kind = match hit.kind {
        HitKind::Message => t!("Message"),
        HitKind::Draft => t!("Unsent message"),
        HitKind::Note => t!("Note"),
        HitKind::Document => t!("File"),
    };
    Inside {
        href: format!("{conversation}{part}{anchor}"),
        what: format!("{kind}, {}, {}", hit.name, times.short(hit.at).text),
        is_note: hit.kind == HitKind::Note,
        excerpt: hit.excerpt,
    }
}

/// Every operator, then those with a value that is known.
fn completions(names: &SearchNames) -> Vec<Completion> {
    let mut all: Vec<Completion> = Vec::new();
    for OperatorHelp { name, about, values } in search::OPERATORS {
        let about = sentence(about).into_owned();
        if *name == FIELD_OPERATOR {
            let of_field =
                |key: &String| Completion { word: format!("field.{key}:"), about: about.clone() };
            all.extend(names.fields.iter().map(of_field));
            continue;
        }
        all.push(Completion { word: format!("{name}:"), about: about.clone() });
        let known = match *name {
            "in" => &names.inboxes,
            "tag" => &names.tags,
            "topic" => &names.topics,
            "assigned" => &names.members,
            _ => &names.none,
        };
        let values = values.iter().map(|value| (*value).to_owned()).chain(known.iter().cloned());
        all.extend(values.map(|value| Completion {
            word: if value.contains(char::is_whitespace) {
                format!("{name}:\"{value}\"")
            } else {
                format!("{name}:{value}")
            },
            about: about.clone(),
        }));
    }
    all
}

/// The input after the API's own checks; `None` when there is nothing to look for.
fn check(
    asked: &FormFields,
    q: &str,
    view: &str,
) -> base::error::Result<Option<ListConversationsInput>> {
    if q.is_empty() {
        return Ok(None);
    }
    let mut pairs = vec![("q".to_owned(), q.to_owned()), ("view".to_owned(), view.to_owned())];
    for name in ["mailbox", "assigned", "cursor"] {
        pairs.extend(asked.opt(name).map(|value| (name.to_owned(), value)));
    }
    check_query(LIST_CONVERSATIONS.fields, &pairs).map_err(Error::Invalid)?;
    Ok(Some(ListConversationsInput {
        view: Some(view.to_owned()),
        mailbox: asked.opt("mailbox"),
        q: Some(q.to_owned()),
        assigned: asked.opt("assigned"),
        limit: Some(FOUND),
        cursor: asked.opt("cursor"),
        ..ListConversationsInput::default()
    }))
}
