//! The manual as a static site: the texts of `docs/` as HTML, an index and a list of all headings. It has no
//! script and needs no server.

mod article;
pub(crate) mod pages;

use std::collections::BTreeSet;

use askama::Template;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use rust_embed::RustEmbed;

use crate::html::escape;
use article::{ManualPart, write_article};

#[derive(RustEmbed)]
#[folder = "../../docs"]
struct Docs;

/// Its table names the texts in the order of the index, with what each is about.
const README: &str = include_str!("../../../../README.md");
const STYLE: &str = include_str!("manual.css");
/// A longer text has a page for each of its sections, so that every page is read at once.
const LONG_BYTES: usize = 30_000;
/// A page with fewer headings than this needs no table of contents.
const CONTENTS_FROM: usize = 2;

/// One file of the site, with its path in the folder.
pub struct ManualFile {
    pub path: String,
    pub bytes: Vec<u8>,
}

struct Manual {
    texts: Vec<ManualText>,
    /// Its pages are shown in the app, where they can be searched.
    is_in_app: bool,
}

/// One file of `docs/`.
struct ManualText {
    /// `operating` for `operating.md`.
    name: String,
    /// What the index says of it.
    about: &'static str,
    markdown: String,
    headings: Vec<ManualHeading>,
}

struct ManualHeading {
    level: usize,
    words: String,
    anchor: String,
}

#[derive(Template)]
#[template(path = "developers_manual.html", whitespace = "minimize")]
struct ManualPage {
    title: String,
    /// Where each entry of the table of contents leads, and its words.
    contents: Vec<(String, String)>,
    /// The page of the whole text, where this is one of its sections.
    above: Option<(String, String)>,
    article: String,
    version: &'static str,
    is_in_app: bool,
}

/// The whole site. A link that leads nowhere is an error, which names it.
pub fn manual_files() -> Result<Vec<ManualFile>, String> {
    files_of(&Manual::read())
}

/// The same for the app.
fn app_files() -> Result<Vec<ManualFile>, String> {
    files_of(&Manual { is_in_app: true, ..Manual::read() })
}

fn files_of(manual: &Manual) -> Result<Vec<ManualFile>, String> {
    let mut files = vec![ManualFile { path: "style.css".into(), bytes: STYLE.into() }];
    files.push(file_of(manual, "index", manual.index_page())?);
    files.push(file_of(manual, "search", manual.headings_page())?);
    let mut pictures = BTreeSet::new();
    for text in &manual.texts {
        let article = write_article(manual, text)?;
        pictures.extend(article.pictures);
        for part in article.parts {
            files.push(file_of(manual, &text.file_name(part.section), text.page(part))?);
        }
    }
    for path in pictures {
        let picture = Docs::get(&path).ok_or_else(|| format!("There is no docs/{path}."))?;
        files.push(ManualFile { path, bytes: picture.data.into_owned() });
    }
    Ok(files)
}

fn file_of(manual: &Manual, name: &str, page: ManualPage) -> Result<ManualFile, String> {
    let page = ManualPage { is_in_app: manual.is_in_app, ..page };
    let text = page.render().map_err(|error| format!("{name}: {error}"))?;
    Ok(ManualFile { path: format!("{name}.html"), bytes: text.into_bytes() })
}

fn plain_page(title: &str, article: String) -> ManualPage {
    ManualPage {
        title: title.to_owned(),
        contents: Vec::new(),
        above: None,
        article,
        version: env!("CARGO_PKG_VERSION"),
        is_in_app: false,
    }
}

impl Manual {
    fn read() -> Manual {
        let descriptions = descriptions();
        let mut texts: Vec<ManualText> = Docs::iter()
            .filter_map(|file| {
                let name = file.strip_suffix(".md")?.to_owned();
                let markdown = String::from_utf8(Docs::get(&file)?.data.into_owned()).ok()?;
                let known = descriptions.iter().find(|(known, _)| *known == name);
                let about = known.map_or("", |(_, about)| *about);
                let headings = headings(&markdown);
                Some(ManualText { name, about, markdown, headings })
            })
            .collect();
        let place = |text: &ManualText| {
            let known = descriptions.iter().position(|(name, _)| *name == text.name);
            known.unwrap_or(descriptions.len())
        };
        texts.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.name.cmp(&b.name)));
        Manual { texts, is_in_app: false }
    }

    /// Where a link of a text leads in the site; `None` for a file that is not in it.
    fn resolve(&self, from: &ManualText, link: &str) -> Result<Option<String>, String> {
        if link.contains("://") || link.starts_with("mailto:") {
            return Ok(Some(link.to_owned()));
        }
        if link.starts_with("../") {
            return Ok(None);
        }
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (link, None),
        };
        let name =
            if path.is_empty() { Some(from.name.as_str()) } else { path.strip_suffix(".md") };
        let text = name.and_then(|name| self.texts.iter().find(|text| text.name == name));
        let address = text.and_then(|text| text.address(anchor));
        let broken = || format!("docs/{}.md: the link {link} leads nowhere", from.name);
        address.map(Some).ok_or_else(broken)
    }

    fn index_page(&self) -> ManualPage {
        let mut article = String::from("<h1>Mailroom, the manual</h1>\n<dl class=\"pages\">\n");
        for text in &self.texts {
            article.push_str(&format!(
                "<div><dt><a href=\"{}.html\">{}</a></dt><dd>{}</dd></div>\n",
                text.name,
                escape(text.title()),
                escape(text.about)
            ));
        }
        article.push_str("</dl>\n");
        plain_page("The manual", article)
    }

    /// All headings from A to Z.
    fn headings_page(&self) -> ManualPage {
        let mut lines: Vec<(String, String)> = Vec::new();
        for text in &self.texts {
            for heading in &text.headings {
                let href = text.address(Some(&heading.anchor)).unwrap_or_default();
                let title = if heading.level == 1 { "" } else { text.title() };
                let line = format!(
                    "<li><a href=\"{href}\">{}</a> <span>{}</span></li>\n",
                    escape(&heading.words),
                    escape(title)
                );
                lines.push((heading.words.to_lowercase(), line));
            }
        }
        lines.sort();
        let lines: String = lines.into_iter().map(|(_, line)| line).collect();
        let article =
            format!("<h1>Headings from A to Z</h1>\n<ul class=\"found\">\n{lines}</ul>\n");
        plain_page("Headings from A to Z", article)
    }
}

impl ManualText {
    fn title(&self) -> &str {
        self.headings.first().map_or(self.name.as_str(), |heading| heading.words.as_str())
    }

    fn is_long(&self) -> bool {
        self.markdown.len() > LONG_BYTES
    }

    /// The section of a long text that a heading is in.
    fn section(&self, heading: usize) -> Option<usize> {
        let before = (0..=heading).rev().find(|place| self.headings[*place].level == 2);
        before.filter(|_| self.is_long())
    }

    /// The name of the file with the whole text, or with one of its sections.
    fn file_name(&self, section: Option<usize>) -> String {
        match section {
            Some(section) => format!("{}.{}", self.name, self.headings[section].anchor),
            None => self.name.clone(),
        }
    }

    /// Where the text, or a heading in it, is in the site.
    fn address(&self, anchor: Option<&str>) -> Option<String> {
        let Some(anchor) = anchor else { return Some(format!("{}.html", self.name)) };
        let heading = self.headings.iter().position(|heading| heading.anchor == anchor)?;
        Some(format!("{}.html#{anchor}", self.file_name(self.section(heading))))
    }

    fn page(&self, part: ManualPart) -> ManualPage {
        let entry = |heading: &ManualHeading| {
            let href = self.address(Some(&heading.anchor)).unwrap_or_default();
            (href, heading.words.clone())
        };
        let contents: Vec<(String, String)> = match part.section {
            None if self.is_long() => {
                self.headings.iter().filter(|heading| heading.level == 2).map(entry).collect()
            }
            _ => part.headings.iter().skip(1).map(|place| entry(&self.headings[*place])).collect(),
        };
        let above = part.section.map(|_| (format!("{}.html", self.name), self.title().to_owned()));
        let title = part.section.map_or(self.title(), |at| self.headings[at].words.as_str());
        ManualPage {
            contents: if contents.len() < CONTENTS_FROM { Vec::new() } else { contents },
            above,
            ..plain_page(title, part.html)
        }
    }
}

/// The texts that the table of README.md names, with what it says of them.
fn descriptions() -> Vec<(&'static str, &'static str)> {
    let row = |line: &'static str| {
        let (_, rest) = line.strip_prefix("| [")?.split_once("](docs/")?;
        let (name, about) = rest.split_once(".md) | ")?;
        Some((name, about.trim_end_matches('|').trim_end()))
    };
    README.lines().filter_map(row).collect()
}

fn headings(markdown: &str) -> Vec<ManualHeading> {
    let mut headings: Vec<ManualHeading> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                open = Some((level as usize, String::new()))
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, words)) = &mut open {
                    words.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, words)) = open.take() {
                    let anchor = free_anchor(&headings, &words);
                    headings.push(ManualHeading { level, words, anchor });
                }
            }
            _ => {}
        }
    }
    headings
}

/// `pictures/inbox-dark.png` for `pictures/inbox.png`, where there is such a file.
fn dark_picture(path: &str) -> Option<String> {
    let dark = format!("{}-dark.png", path.strip_suffix(".png")?);
    Docs::get(&dark).map(|_| dark)
}

/// The end of an address that GitHub makes of a heading.
fn free_anchor(before: &[ManualHeading], words: &str) -> String {
    let plain = words.to_lowercase().replace(' ', "-");
    let base: String =
        plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect();
    let is_free = |anchor: &String| before.iter().all(|heading| heading.anchor != *anchor);
    let numbered = (1..).map(|number| format!("{base}-{number}"));
    std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
}

#[cfg(test)]
mod tests;
