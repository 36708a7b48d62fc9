//! What a help page shows, read in one transaction.

use axum::http::{HeaderMap, header};
use base::error::{Error, Result};
use base::limits::{HELP_HITS, HELP_QUERY_CHARS};
use db::Tx;
use knowledge::help_pages::{self, HelpAddress, HelpLink, HelpPage, SectionStart};
use knowledge::help_search::{self, HelpHit};
use knowledge::help_site::HelpSite;
use web::forms::form::FormFields;

use super::languages;
use super::path::HelpRequest;

/// What the address and the browser say beside the path.
#[derive(Clone, Debug)]
pub struct HelpQuery {
    /// What is searched.
    words: String,
    /// The language that is searched in.
    language: String,
    /// What the reader said of the page: `yes`, `no` or nothing.
    helped: String,
    /// The languages that the browser asks for.
    accepted: String,
}

impl HelpQuery {
    pub fn of(fields: &FormFields, headers: &HeaderMap) -> HelpQuery {
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        HelpQuery {
            words: fields.get("q").trim().chars().take(HELP_QUERY_CHARS).collect(),
            language: fields.get("language"),
            helped: fields.get("helped"),
            accepted: accepted.unwrap_or_default().to_owned(),
        }
    }
}

/// A page with everything that it shows.
pub struct HelpView {
    pub site: HelpSite,
    /// The language of the page.
    pub language: String,
    /// The page in other languages: codes and paths, its own among them.
    pub languages: Vec<(String, String)>,
    pub content: HelpContent,
}

pub enum HelpContent {
    Home { sections: Vec<SectionStart>, changed_at: Option<i64> },
    Article { page: Box<HelpPage>, related: Vec<HelpLink>, helped: Option<bool> },
    Section { links: Vec<HelpLink> },
    Search { words: String, hits: Vec<HelpHit> },
    Sitemap(Vec<HelpLink>),
    Feed(Vec<HelpPage>),
    Guide(Vec<HelpLink>),
    Moved(String),
}

pub fn load(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    request: &HelpRequest,
    query: &HelpQuery,
    now: i64,
) -> Result<HelpView> {
    let missing = || Error::NotFound("page");
    let view = |language: &str, languages: Vec<(String, String)>, content: HelpContent| HelpView {
        site: site.clone(),
        language: language.to_owned(),
        languages,
        content,
    };
    let homes = |there: &[String]| -> Vec<(String, String)> {
        there.iter().map(|code| (code.clone(), format!("{}/{code}", site.root()))).collect()
    };
    Ok(match request {
        HelpRequest::Home(asked) => {
            let there = help_pages::languages(tx, site, now)?;
            let language = match asked {
                Some(asked) if there.contains(asked) => asked.clone(),
                Some(_) => return Err(missing()),
                None => first_language(site, &there, &query.accepted),
            };
            let sections = help_pages::sections(tx, site, &language, now)?;
            let changed_at = help_pages::last_change(tx, site, now)?;
            view(&language, homes(&there), HelpContent::Home { sections, changed_at })
        }
        HelpRequest::Section(language, slug) => {
            let links = help_pages::section(tx, site, (language, slug), now)?;
            if links.is_empty() {
                return Err(missing());
            }
            let there = help_pages::languages(tx, site, now)?;
            view(language, homes(&there), HelpContent::Section { links })
        }
        HelpRequest::Article(language, slug) => {
            match help_pages::at(tx, site, (language, slug), now)?.ok_or_else(missing)? {
                HelpAddress::Moved(path) => view(language, Vec::new(), HelpContent::Moved(path)),
                HelpAddress::Page(page) => {
                    let related = help_pages::related_pages(tx, site, &page, now)?;
                    let languages = help_pages::translations(tx, site, &page.original, now)?;
                    let path = |(code, slug): (String, String)| {
                        let path = site.page_path(&code, &slug);
                        (code, path)
                    };
                    let helped = match query.helped.as_str() {
                        "yes" => Some(true),
                        "no" => Some(false),
                        _ => None,
                    };
                    let languages = languages.into_iter().map(path).collect();
                    view(language, languages, HelpContent::Article { page, related, helped })
                }
            }
        }
        HelpRequest::Search => {
            let there = help_pages::languages(tx, site, now)?;
            let language = match there.iter().find(|code| **code == query.language) {
                Some(language) => language.clone(),
                None => first_language(site, &there, &query.accepted),
            };
            let place = (language.as_str(), query.words.as_str());
            let hits = help_search::search(tx, site, place, HELP_HITS, now)?;
            let words = query.words.clone();
            view(&language, homes(&there), HelpContent::Search { words, hits })
        }
        HelpRequest::Sitemap => {
            let links = help_pages::all(tx, site, now)?;
            view(&site.language, Vec::new(), HelpContent::Sitemap(links))
        }
        HelpRequest::Feed(language) => {
            let pages = help_pages::newest(tx, site, language.as_deref(), now)?;
            let shown = language.clone().unwrap_or_else(|| site.language.clone());
            view(&shown, Vec::new(), HelpContent::Feed(pages))
        }
        HelpRequest::Guide => {
            let links = help_pages::all(tx, site, now)?;
            view(&site.language, Vec::new(), HelpContent::Guide(links))
        }
    })
}

/// The language that the browser asks for, or that of the workspace.
fn first_language(site: &HelpSite, there: &[String], accepted: &str) -> String {
    if let Some(wanted) = languages::choose_language(accepted, there) {
        return wanted.to_owned();
    }
    let own = there.iter().find(|code| **code == site.language);
    own.or(there.first()).cloned().unwrap_or_else(|| site.language.clone())
}
