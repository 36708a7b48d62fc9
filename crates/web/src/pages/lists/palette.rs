//! The command palette: what its script asks for, as JSON. Places come once, when it opens, and are chosen from in
//! the browser; people and conversations come for what was typed. The search page shows places without a script.

use std::sync::Arc;

use actions::conversations::palette::{PaletteMatches, palette_matches};
use axum::extract::State;
use model::messages::answers::words;
use search::list::ConversationSummary;
use serde_json::{Value, json};
use translation::{msg, t, text};

use crate::Web;
use crate::forms::form::Asked;
use crate::layout::hrefs::contact_href;
use crate::layout::page_layout::{NavEntry, PageLayout, PageLocation};
use crate::layout::responses::{self, PageResult};
use crate::layout::settings_menu::settings_menu;
use crate::layout::wording::{TimeFormat, status_label};
use crate::pages::lists::conversation_list::row;
use crate::visitor::Visitor;

/// Places that a search shows.
const PLACES_FOUND: usize = 6;

/// The pages of the app that are neither lists nor settings: address and title.
const PAGES: [(&str, &str); 8] = [
    ("/new", msg!("New conversation")),
    ("/calendar", msg!("Calendar")),
    ("/documents", msg!("Documents")),
    ("/answers", msg!("Answers")),
    ("/reports", msg!("Reports")),
    ("/settings", msg!("Settings")),
    ("/keyboard", msg!("Keyboard and help")),
    ("/manual", msg!("The manual")),
];

/// A page that one goes to: a list, a saved view, a page of the settings.
pub struct Place {
    pub title: String,
    /// What it is, or what is found there.
    pub about: String,
    /// Other words that people look for it by.
    also: String,
    pub href: String,
}

/// Without a query every place, and with one the people and conversations that fit it.
pub async fn matches(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let Some(typed) = asked.opt("q") else {
        let (frame, ()) = web.page(&visitor, PageLocation::default(), |_, _, _| Ok(())).await?;
        let places = places(&frame).into_iter().map(|place| {
            let Place { title, about, also, href } = place;
            json!({ "text": title, "about": about, "also": also, "href": href })
        });
        return Ok(responses::json(&json!(places.collect::<Vec<_>>())));
    };
    let (found, now) =
        web.read(&visitor, move |tx, cx, _| Ok((palette_matches(tx, cx, &typed)?, cx.now))).await?;
    let times = TimeFormat::new(now, visitor.zone.clone());
    Ok(responses::json(&groups(found, &times)))
}

/// What was found, under its headings.
fn groups(found: PaletteMatches, times: &TimeFormat) -> Value {
    let PaletteMatches { people, conversations } = found;
    let people = people.into_iter().map(|party| {
        let name = party.name.unwrap_or_else(|| party.email.clone());
        json!({ "text": name, "about": party.email, "href": contact_href(&party.email) })
    });
    let conversations = conversations.iter().map(|summary| conversation(summary, times));
    json!([
        { "title": t!("People"), "entries": people.collect::<Vec<_>>() },
        { "title": t!("Conversations"), "entries": conversations.collect::<Vec<_>>() },
    ])
}

fn conversation(summary: &ConversationSummary, times: &TimeFormat) -> Value {
    let row = row(summary, times, "");
    let status = status_label(summary.status, false).text;
    let about = [row.who.as_str(), status, summary.mailbox.as_str(), row.time.text.as_str()];
    json!({ "text": row.subject, "about": about.join(" · "), "href": row.href })
}

/// Every place that the reader may go to, in the order of the navigation.
fn places(frame: &PageLayout) -> Vec<Place> {
    let mut places = Vec::new();
    let lists = [
        (&frame.views, t!("View")),
        (&frame.more_views, t!("View")),
        (&frame.saved_views, t!("Saved view")),
        (&frame.inboxes, t!("Inbox")),
        (&frame.tags, t!("Tag")),
    ];
    for (entries, about) in lists {
        let place = |entry: &NavEntry| Place {
            title: entry.label.clone(),
            about: about.to_owned(),
            also: String::new(),
            href: entry.href.clone(),
        };
        places.extend(entries.iter().map(place));
    }
    places.extend(PAGES.iter().map(|(href, title)| Place {
        title: text(title).to_owned(),
        about: t!("Page").to_owned(),
        also: String::new(),
        href: (*href).to_owned(),
    }));
    let settings = settings_menu(None).into_iter().flat_map(|group| group.entries);
    let settings = settings.filter(|entry| frame.administers || !entry.for_admins);
    places.extend(settings.map(|entry| Place {
        title: entry.title().to_owned(),
        about: format!("{}: {}", t!("Settings"), entry.about()),
        also: entry.also().to_owned(),
        href: entry.href.to_owned(),
    }));
    places
}

/// The places of which every word of a query begins a word, those with the words in their names first.
pub fn find_places(frame: &PageLayout, q: &str) -> Vec<Place> {
    let wanted = words(q);
    if wanted.is_empty() {
        return Vec::new();
    }
    let begins = |text: &str| {
        let own = words(text);
        wanted.iter().all(|wanted| own.iter().any(|own| own.starts_with(wanted.as_str())))
    };
    let (mut found, others): (Vec<Place>, Vec<Place>) =
        places(frame).into_iter().partition(|place| begins(&place.title));
    let all = |place: &Place| format!("{} {} {}", place.title, place.about, place.also);
    found.extend(others.into_iter().filter(|place| begins(&all(place))));
    found.truncate(PLACES_FOUND);
    found
}
