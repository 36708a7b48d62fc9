//! Help pages as HTML, and the files beside them.

use askama::Template;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use knowledge::help_pages::{HelpLink, HelpPage, SectionStart};
use knowledge::help_search::HelpHit;
use knowledge::page_text::summary;
use mail::markdown_article;
use model::branding::Branding;
use search::Excerpt;
use translation::t;
use web::booking::day_of_year;
use web::layout::filters;
use web::layout::responses;

use super::load::{HelpContent, HelpView};
use super::{files, languages};

/// What stands around every page.
struct HelpFrame {
    title: String,
    firm: String,
    branding: Branding,
    description: String,
    /// Where its own home is, in its language.
    home: String,
    /// The first page, whatever the language.
    root: String,
    /// The language of what is written on it, and the direction of its lines.
    language: String,
    direction: &'static str,
    /// Its address on the web.
    canonical: String,
    /// The same in each language: codes and addresses on the web.
    alternates: Vec<(String, String)>,
    /// The address of the first page on the web, for readers of other languages.
    otherwise: String,
    /// The same in other languages: codes, names and paths.
    others: Vec<(String, String, String)>,
    /// The contact form: path and title.
    form: Option<(String, String)>,
    /// What search engines read; empty for nothing.
    structured: String,
}

impl HelpFrame {
    fn of(view: &HelpView, base: &str, title: String, path: &str) -> HelpFrame {
        let site = &view.site;
        let language = &view.language;
        let others = view.languages.iter().filter(|(code, _)| code != language);
        let alternates = view.languages.iter();
        let form = site.form.as_ref();
        HelpFrame {
            title,
            firm: site.firm.clone(),
            branding: site.branding.clone(),
            description: String::new(),
            home: format!("{}/{language}", site.root()),
            root: site.root(),
            language: language.clone(),
            direction: translation::direction(language),
            canonical: format!("{base}{path}"),
            alternates: alternates
                .map(|(code, path)| (code.clone(), format!("{base}{path}")))
                .collect(),
            otherwise: format!("{base}{}", site.root()),
            others: others
                .map(|(code, path)| (code.clone(), languages::name(code), path.clone()))
                .collect(),
            form: form.map(|form| (format!("/f/{}", form.slug), form.title.clone())),
            structured: String::new(),
        }
    }

    fn search_path(&self) -> String {
        format!("{}/search", self.root)
    }
}

/// A section on the first page.
struct SectionCard {
    name: String,
    href: String,
    pages: Vec<HelpRef>,
    /// It has others than those that are shown.
    has_more: bool,
}

struct HelpRef {
    href: String,
    title: String,
}

#[derive(Template)]
#[template(path = "help_home.html", whitespace = "minimize")]
struct HelpHome {
    frame: HelpFrame,
    sections: Vec<SectionCard>,
    changed: String,
}

#[derive(Template)]
#[template(path = "help_article.html", whitespace = "minimize")]
struct HelpArticle {
    frame: HelpFrame,
    path: String,
    heading: String,
    /// Name and path of its section.
    section: Option<(String, String)>,
    html: String,
    is_older: bool,
    related: Vec<HelpRef>,
    changed: String,
    helped: Option<bool>,
}

#[derive(Template)]
#[template(path = "help_section.html", whitespace = "minimize")]
struct HelpSection {
    frame: HelpFrame,
    name: String,
    pages: Vec<HelpRef>,
}

#[derive(Template)]
#[template(path = "help_search.html", whitespace = "minimize")]
struct HelpSearch {
    frame: HelpFrame,
    words: String,
    heading: String,
    hits: Vec<HitView>,
}

struct HitView {
    href: String,
    title: Vec<Excerpt>,
    text: Vec<Excerpt>,
}

/// The response for what was read.
pub fn respond(view: &HelpView, base: &str) -> Response<Body> {
    let site = &view.site;
    match &view.content {
        HelpContent::Home { sections, changed_at } => home(view, base, sections, *changed_at),
        HelpContent::Article { page, related, helped } => {
            article(view, base, (page, related), *helped)
        }
        HelpContent::Section { links } => section(view, base, links),
        HelpContent::Search { words, hits } => search(view, base, words, hits),
        HelpContent::Sitemap(links) => {
            file("application/xml; charset=utf-8", files::sitemap(site, links, base))
        }
        HelpContent::Feed(pages) => {
            file("application/atom+xml; charset=utf-8", files::feed(site, pages, base))
        }
        HelpContent::Guide(links) => {
            file("text/plain; charset=utf-8", files::guide(site, links, base))
        }
        HelpContent::Moved(path) => redirect_for_good(path),
    }
}

fn file(kind: &'static str, text: String) -> Response<Body> {
    let mut response = responses::plain(text);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// An address that changed for good.
fn redirect_for_good(path: &str) -> Response<Body> {
    let mut response = responses::see_other(path);
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    response
}

fn home(
    view: &HelpView,
    base: &str,
    sections: &[SectionStart],
    changed_at: Option<i64>,
) -> Response<Body> {
    let path = format!("{}/{}", view.site.root(), view.language);
    let firm = &view.site.firm;
    let mut frame = HelpFrame::of(view, base, t!("Help").to_owned(), &path);
    frame.description = t!("Answers by the team of {firm}", firm);
    let changed = match changed_at {
        Some(at) => {
            t!("Answers are by the team of {firm}, last changed on {day}.", firm, day = day(at))
        }
        None => t!("Answers by the team of {firm}", firm),
    };
    let sections = sections.iter().map(|section| section_card(view, section)).collect();
    responses::html(StatusCode::OK, &HelpHome { frame, sections, changed })
}

fn section_card(view: &HelpView, section: &SectionStart) -> SectionCard {
    let (name, slug) = section.pages.first().map_or((String::new(), ""), |page| {
        (section_name(&page.section), page.section_slug.as_str())
    });
    SectionCard {
        name,
        href: view.site.section_path(&view.language, slug),
        pages: section.pages.iter().map(|page| reference(view, page)).collect(),
        has_more: section.has_more,
    }
}

fn section_name(section: &str) -> String {
    if section.is_empty() { t!("More answers").to_owned() } else { section.to_owned() }
}

fn reference(view: &HelpView, link: &HelpLink) -> HelpRef {
    let href = view.site.page_path(&link.language, &link.slug);
    HelpRef { href, title: link.title.clone() }
}

fn section(view: &HelpView, base: &str, links: &[HelpLink]) -> Response<Body> {
    let (slug, name) = links.first().map_or(("", String::new()), |link| {
        (link.section_slug.as_str(), section_name(&link.section))
    });
    let path = view.site.section_path(&view.language, slug);
    let mut frame = HelpFrame::of(view, base, name.clone(), &path);
    // Sections of other languages have names of their own: the links lead to their first pages.
    frame.alternates.clear();
    let pages = links.iter().map(|link| reference(view, link)).collect();
    responses::html(StatusCode::OK, &HelpSection { frame, name, pages })
}

fn article(
    view: &HelpView,
    base: &str,
    (page, related): (&HelpPage, &[HelpLink]),
    helped: Option<bool>,
) -> Response<Body> {
    let path = view.site.page_path(&page.language, &page.slug);
    let mut frame = HelpFrame::of(view, base, page.title.clone(), &path);
    frame.description = summary(&page.plain);
    frame.structured = files::structured_page(page, &frame.canonical);
    let section = (!page.section.is_empty()).then(|| {
        let path = view.site.section_path(&page.language, &page.section_slug);
        (page.section.clone(), path)
    });
    let article = HelpArticle {
        frame,
        path,
        heading: page.title.clone(),
        section,
        html: markdown_article(&page.body),
        is_older: page.is_older,
        related: related.iter().map(|link| reference(view, link)).collect(),
        changed: day(page.changed_at),
        helped,
    };
    responses::html(StatusCode::OK, &article)
}

fn search(view: &HelpView, base: &str, words: &str, hits: &[HelpHit]) -> Response<Body> {
    let heading = match (words.is_empty(), hits.len()) {
        (true, _) => t!("Search the help").to_owned(),
        (false, 0) => t!("Nothing found for “{words}”", words),
        (false, 1) => t!("1 answer for “{words}”", words),
        (false, count) => t!("{count} answers for “{words}”", count, words),
    };
    let path = format!("{}/search", view.site.root());
    let frame = HelpFrame::of(view, base, heading.clone(), &path);
    let hit = |hit: &HelpHit| HitView {
        href: view.site.page_path(&hit.link.language, &hit.link.slug),
        title: hit.title.clone(),
        text: hit.text.clone(),
    };
    let hits = hits.iter().map(hit).collect();
    responses::html(StatusCode::OK, &HelpSearch { frame, words: words.to_owned(), heading, hits })
}

fn day(at: i64) -> String {
    let moment = Timestamp::from_millisecond(at).unwrap_or_default();
    day_of_year(moment.to_zoned(TimeZone::UTC).date())
}
