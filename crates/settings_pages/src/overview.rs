//! The overview of the settings, and the search in them.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use base::limits::QUERY_CHARS;
use web::Web;
use web::forms::form::Asked;
use web::layout::filters;
use web::layout::page_layout::{MenuEntry, MenuGroup, PageLayout};
use web::layout::responses::PageResult;
use web::layout::settings_menu::overview_location;
use web::visitor::Visitor;

use crate::current_values::current_values;

#[derive(Template)]
#[template(path = "settings_overview.html", whitespace = "minimize")]
struct OverviewPage {
    frame: PageLayout,
    /// What is looked for; empty for the whole overview.
    q: String,
    hits: Vec<SettingsHit>,
    /// What is set now, by the addresses of pages.
    values: HashMap<&'static str, String>,
}

impl OverviewPage {
    /// What stands under an entry: what is set now, or what can be set there.
    fn under(&self, entry: &MenuEntry) -> String {
        self.values.get(entry.href).cloned().unwrap_or_else(|| entry.about())
    }
}

/// A page of the settings that a search finds, or one thing that can be set there.
struct SettingsHit {
    href: &'static str,
    name: String,
    /// Where it stands: the group, and the page.
    place: String,
}

pub(crate) async fn page(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    let q: String = asked.get("q").trim().chars().take(QUERY_CHARS).collect();
    let searches = !q.is_empty();
    let (frame, values) = web
        .page(&visitor, overview_location(), move |tx, cx, me| {
            if searches { Ok(HashMap::new()) } else { current_values(tx, cx, me) }
        })
        .await?;
    let hits = find_settings(&frame.menu, &q);
    web.show(&visitor, &OverviewPage { hits, values, q, frame })
}

/// What has every word that is typed, among what the reader may open.
fn find_settings(menu: &[MenuGroup], q: &str) -> Vec<SettingsHit> {
    let typed: Vec<String> = q.split_whitespace().map(str::to_lowercase).collect();
    if typed.is_empty() {
        return Vec::new();
    }
    let entries = menu.iter().flat_map(|group| group.entries.iter().map(move |it| (group, it)));
    entries.flat_map(|(group, entry)| hits_of(group, entry, &typed)).collect()
}

/// The page where its names have every word; else what of it has them, or all of it together.
fn hits_of(group: &MenuGroup, entry: &MenuEntry, typed: &[String]) -> Vec<SettingsHit> {
    let (title, of_group) = (entry.title(), group.title());
    let hit =
        |name: &str, place: String| SettingsHit { href: entry.href, name: name.to_owned(), place };
    let names = format!("{of_group} {title} {}", entry.also());
    if has_all(typed, &names) {
        return vec![hit(title, of_group.to_owned())];
    }
    let things = entry.things().filter(|thing| has_all(typed, &format!("{title} {thing}")));
    let hits: Vec<_> = things.map(|thing| hit(thing, format!("{of_group}, {title}"))).collect();
    if hits.is_empty() && has_all(typed, &format!("{names} {}", entry.about())) {
        return vec![hit(title, of_group.to_owned())];
    }
    hits
}

fn has_all(typed: &[String], text: &str) -> bool {
    let text = text.to_lowercase();
    typed.iter().all(|word| text.contains(word.as_str()))
}
