//! What visitors read: the pages of one workspace, by language, section and address. Every query reads the
//! tables of what is public, and leaves out what is past its last day.

use base::error::Result;
use base::ids::AnswerId;
use base::limits::{
    ANSWERS, HELP_LANGUAGES, HELP_NEWEST, HELP_RELATED, HELP_SECTION_PAGES, HELP_SECTION_SHOWN,
    HELP_SECTIONS_SHOWN,
};
use db::Tx;

use crate::help_search;
use crate::help_site::{self, HelpSite};

/// Public pages that the composer offers to put into a reply.
const PAGES_OFFERED: i64 = 60;
/// What every query asks of a page.
pub(crate) const PUBLIC: &str = "p.ws = ?1 AND (p.valid_until IS NULL OR p.valid_until >= ?2)";

db::row! {
    /// A page as it is public.
    #[derive(Clone, Debug)]
    pub struct HelpPage from "p" {
        pub answer: AnswerId,
        /// Shared with its translations.
        pub original: String,
        pub language: String,
        pub slug: String,
        /// Empty for none.
        pub section: String,
        pub section_slug: String,
        pub title: String,
        /// Markdown.
        pub body: String,
        pub plain: String,
        /// It is a translation of something that changed since.
        pub is_older: bool,
        pub published_at: i64,
        pub changed_at: i64,
    }
}

db::row! {
    /// A page as lists name it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HelpLink from "p" {
        pub language: String,
        pub slug: String,
        pub section: String,
        pub section_slug: String,
        pub title: String,
        pub original: String,
        pub changed_at: i64,
    }
}

/// What is at an address.
pub enum HelpAddress {
    Page(Box<HelpPage>),
    /// The page moved to this address.
    Moved(String),
}

/// The languages that have pages, in the order of their letters.
pub fn languages(tx: &mut Tx<'_>, site: &HelpSite, now: i64) -> Result<Vec<String>> {
    let mut languages: Vec<String> = Vec::new();
    for _ in 0..HELP_LANGUAGES {
        let last = languages.last().cloned().unwrap_or_default();
        let next: Option<(String,)> = tx.opt(
            &format!(
                "SELECT p.language FROM help_pages p WHERE {PUBLIC} AND p.language > ?3
                 ORDER BY p.language LIMIT 1"
            ),
            &[&site.ws, &now, &last],
        )?;
        let Some((next,)) = next else { break };
        languages.push(next);
    }
    Ok(languages)
}

/// The pages of a language, by section and title.
pub fn list(tx: &mut Tx<'_>, site: &HelpSite, language: &str, now: i64) -> Result<Vec<HelpLink>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM help_pages p WHERE {PUBLIC} AND p.language = ?3
             ORDER BY p.section_slug, p.title, p.answer LIMIT ?4",
            HelpLink::COLUMNS
        ),
        &[&site.ws, &now, &language, &ANSWERS],
    )?)
}

/// A section as the first page shows it.
#[derive(Clone, Debug)]
pub struct SectionStart {
    /// Its first pages, by title.
    pub pages: Vec<HelpLink>,
    /// It has others.
    pub has_more: bool,
}

/// The beginning of each section of a language. What it costs depends on how many sections there are, not on how
/// many pages.
pub fn sections(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    language: &str,
    now: i64,
) -> Result<Vec<SectionStart>> {
    let mut sections: Vec<SectionStart> = Vec::new();
    let mut last = String::new();
    for _ in 0..HELP_SECTIONS_SHOWN {
        let mut pages: Vec<HelpLink> = tx.all(
            &format!(
                "SELECT {} FROM help_pages p
                 WHERE {PUBLIC} AND p.language = ?3 AND p.section_slug > ?4
                 ORDER BY p.section_slug, p.title, p.answer LIMIT ?5",
                HelpLink::COLUMNS
            ),
            &[&site.ws, &now, &language, &last, &(HELP_SECTION_SHOWN as i64 + 1)],
        )?;
        let Some(first) = pages.first() else { break };
        last.clone_from(&first.section_slug);
        pages.retain(|page| page.section_slug == last);
        let has_more = pages.len() > HELP_SECTION_SHOWN;
        pages.truncate(HELP_SECTION_SHOWN);
        sections.push(SectionStart { pages, has_more });
    }
    Ok(sections)
}

/// The pages of a section, by title.
pub fn section(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    (language, slug): (&str, &str),
    now: i64,
) -> Result<Vec<HelpLink>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM help_pages p WHERE {PUBLIC} AND p.language = ?3 AND p.section_slug = ?4
             ORDER BY p.title, p.answer LIMIT ?5",
            HelpLink::COLUMNS
        ),
        &[&site.ws, &now, &language, &slug, &HELP_SECTION_PAGES],
    )?)
}

/// The page at an address; `None` where none is. Every address of a page is among the slugs, the present one too.
pub fn at(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    (language, slug): (&str, &str),
    now: i64,
) -> Result<Option<HelpAddress>> {
    let found: Option<HelpPage> = tx.opt(
        &format!(
            "SELECT {} FROM help_slugs s
             JOIN help_pages p ON p.ws = s.ws AND p.answer = s.answer
             WHERE {PUBLIC} AND s.ws = ?1 AND s.language = ?3 AND s.slug = ?4",
            HelpPage::COLUMNS
        ),
        &[&site.ws, &now, &language, &slug],
    )?;
    Ok(found.map(|page| match (page.language.as_str(), page.slug.as_str()) == (language, slug) {
        true => HelpAddress::Page(Box::new(page)),
        false => HelpAddress::Moved(site.page_path(&page.language, &page.slug)),
    }))
}

/// A page in all its languages: the codes and addresses.
pub fn translations(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    original: &str,
    now: i64,
) -> Result<Vec<(String, String)>> {
    Ok(tx.all(
        &format!(
            "SELECT p.language, p.slug FROM help_pages p WHERE {PUBLIC} AND p.original = ?3
             ORDER BY p.original, p.language LIMIT ?4"
        ),
        &[&site.ws, &now, &original, &HELP_LANGUAGES],
    )?)
}

/// Pages about something alike, then others of its section.
pub fn related_pages(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    page: &HelpPage,
    now: i64,
) -> Result<Vec<HelpLink>> {
    let most = HELP_RELATED as usize;
    let mut links: Vec<HelpLink> = Vec::new();
    for hit in help_search::search(tx, site, (&page.language, &page.title), most + 1, now)? {
        links.push(hit.link);
    }
    let others: Vec<HelpLink> = tx.all(
        &format!(
            "SELECT {} FROM help_pages p WHERE {PUBLIC} AND p.language = ?3 AND p.section_slug = ?4
             ORDER BY p.title, p.answer LIMIT ?5",
            HelpLink::COLUMNS
        ),
        &[&site.ws, &now, &page.language, &page.section_slug, &(HELP_RELATED + 1)],
    )?;
    for other in others {
        if !links.iter().any(|link| link.slug == other.slug) {
            links.push(other);
        }
    }
    links.retain(|link| link.slug != page.slug);
    links.truncate(most);
    Ok(links)
}

/// The pages that changed last, of one language or of all, the newest first.
pub fn newest(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    language: Option<&str>,
    now: i64,
) -> Result<Vec<HelpPage>> {
    Ok(tx.all(
        &format!(
            "SELECT {} FROM help_pages p WHERE {PUBLIC} AND (?3 = '' OR p.language = ?3)
             ORDER BY p.changed_at DESC, p.answer DESC LIMIT ?4",
            HelpPage::COLUMNS
        ),
        &[&site.ws, &now, &language.unwrap_or_default(), &HELP_NEWEST],
    )?)
}

/// When a page of a workspace changed last.
pub fn last_change(tx: &mut Tx<'_>, site: &HelpSite, now: i64) -> Result<Option<i64>> {
    let found: Option<(i64,)> = tx.opt(
        &format!(
            "SELECT p.changed_at FROM help_pages p WHERE {PUBLIC}
             ORDER BY p.changed_at DESC, p.answer DESC LIMIT 1"
        ),
        &[&site.ws, &now],
    )?;
    Ok(found.map(|(at,)| at))
}

/// Every page, by language.
pub fn all(tx: &mut Tx<'_>, site: &HelpSite, now: i64) -> Result<Vec<HelpLink>> {
    let mut links = Vec::new();
    for language in languages(tx, site, now)? {
        links.extend(list(tx, site, &language, now)?);
    }
    links.truncate(ANSWERS as usize);
    Ok(links)
}

/// A public page that people put into what they write: its title and its address on the web.
#[derive(Clone, Debug)]
pub struct OfferedPage {
    pub answer: AnswerId,
    pub title: String,
    pub url: String,
}

/// The public pages that writers are offered, by section and title; none while the help pages are closed.
pub fn offered_pages(
    tx: &mut Tx<'_>,
    ws: i64,
    (public_url, now): (&str, i64),
) -> Result<Vec<OfferedPage>> {
    let rows: Vec<(AnswerId, String, String, String, String)> = tx.all(
        &format!(
            "SELECT p.answer, p.title, p.language, p.slug, s.path FROM help_sites s
             JOIN help_pages p ON p.ws = s.ws
             WHERE {PUBLIC} AND s.ws = ?1 AND s.is_open
             ORDER BY p.language, p.section_slug, p.title, p.answer LIMIT ?3"
        ),
        &[&ws, &now, &PAGES_OFFERED],
    )?;
    let page =
        |(answer, title, language, slug, part): (AnswerId, String, String, String, String)| {
            let root = help_site::root_of(&part);
            OfferedPage { answer, title, url: format!("{public_url}{root}/{language}/{slug}") }
        };
    Ok(rows.into_iter().map(page).collect())
}

/// The public addresses of these answers, for people and keys of the workspace; those without a page have none.
pub fn public_urls(
    tx: &mut Tx<'_>,
    ws: i64,
    (public_url, now): (&str, i64),
    answers: &[AnswerId],
) -> Result<Vec<(AnswerId, String)>> {
    let site = help_site::load(tx, ws)?.filter(|site| site.is_open);
    let Some(site) = site else { return Ok(Vec::new()) };
    let Some(wanted) = help_search::TextList::of(answers.iter().map(AnswerId::to_string)) else {
        return Ok(Vec::new());
    };
    let found: Vec<(AnswerId, String, String)> = tx.all(
        &format!(
            "SELECT p.answer, p.language, p.slug FROM help_pages p
             WHERE {PUBLIC} AND p.answer IN (?3) ORDER BY p.answer"
        ),
        &[&ws, &now, &wanted],
    )?;
    let url = |(answer, language, slug): (AnswerId, String, String)| {
        (answer, format!("{public_url}{}", site.page_path(&language, &slug)))
    };
    Ok(found.into_iter().map(url).collect())
}
