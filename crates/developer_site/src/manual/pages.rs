//! The manual in the app, for everybody who is signed in: the pages of the static site, and a search that
//! needs no script.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use base::error::Error;
use web::Web;
use web::forms::form::Asked;
use web::layout::responses::{self, PageResult, see_other};
use web::visitor::Visitor;

use super::{ManualFile, ManualPage, app_files, plain_page};
use crate::html::escape;

/// Where the manual begins.
const FIRST_PAGE: &str = "/manual/index.html";
/// Characters and words of a search, and pages that it finds.
const SEARCH_CHARS: usize = 200;
const SEARCH_WORDS: usize = 10;
const FOUND_PAGES: usize = 30;
/// Characters before and after the first word that is found.
const BESIDE_CHARS: usize = 80;

/// The manual as the app shows it; a test sees to it that it can be made.
static MANUAL: LazyLock<AppManual> = LazyLock::new(AppManual::make);

struct AppManual {
    files: HashMap<String, Vec<u8>>,
    /// What is searched, in the order of the manual.
    texts: Vec<SearchedPage>,
}

struct SearchedPage {
    path: String,
    title: String,
    words: String,
    lower: String,
}

impl AppManual {
    fn make() -> AppManual {
        // Only a link of docs/ that leads nowhere is an error, which no build passes its tests with.
        let files = app_files().unwrap_or_default();
        let texts = files.iter().filter_map(read_page).collect();
        let files = files.into_iter().map(|file| (file.path, file.bytes)).collect();
        AppManual { files, texts }
    }

    /// The pages that have all the words; those with them in the title first.
    fn find(&self, typed: &str) -> Vec<(&SearchedPage, String)> {
        let lower = typed.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().take(SEARCH_WORDS).collect();
        let Some(first) = words.first() else { return Vec::new() };
        let has_all = |text: &str| words.iter().all(|word| text.contains(word));
        let mut found: Vec<&SearchedPage> =
            self.texts.iter().filter(|page| has_all(&page.lower)).collect();
        found.sort_by_key(|page| !has_all(&page.title.to_lowercase()));
        found.truncate(FOUND_PAGES);
        found.into_iter().map(|page| (page, page.excerpt(first))).collect()
    }
}

impl SearchedPage {
    /// The text around a word.
    fn excerpt(&self, word: &str) -> String {
        // Where lower case has other lengths, the beginning of the page does.
        let at = self.lower.find(word).filter(|_| self.lower.len() == self.words.len());
        let before: usize = at.map_or(0, |at| {
            let start = self.words.get(..at).unwrap_or_default().chars().count();
            start.saturating_sub(BESIDE_CHARS)
        });
        self.words.chars().skip(before).take(2 * BESIDE_CHARS).collect()
    }
}

/// The words of a page of the manual; `None` for lists and other files.
fn read_page(file: &ManualFile) -> Option<SearchedPage> {
    let is_page = file.path.ends_with(".html");
    if !is_page || ["index.html", "search.html"].contains(&file.path.as_str()) {
        return None;
    }
    let page = std::str::from_utf8(&file.bytes).ok()?;
    let title = page.split_once("<title>")?.1.split(" · ").next()?.to_owned();
    let article = page.split_once("<article>")?.1.split_once("</article>")?.0;
    let words = words_of(article);
    let lower = words.to_lowercase();
    Some(SearchedPage { path: file.path.clone(), title, words, lower })
}

/// The text between the tags, with single spaces.
fn words_of(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, words)| words));
        text.push(' ');
    }
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = plain.iter().fold(text, |text, (code, letter)| text.replace(code, letter));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub async fn first() -> PageResult {
    Ok(see_other(FIRST_PAGE))
}

pub async fn page(
    State(web): State<Arc<Web>>,
    Path(path): Path<String>,
    visitor: Visitor,
) -> PageResult {
    web.read(&visitor, |_, _, _| Ok(())).await?;
    let bytes = MANUAL.files.get(&path).ok_or(Error::NotFound("page"))?;
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let mut response = responses::plain(String::new());
    *response.body_mut() = Body::from(bytes.clone());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// Pages with the words that are asked for.
pub async fn search(
    State(web): State<Arc<Web>>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> PageResult {
    web.read(&visitor, |_, _, _| Ok(())).await?;
    let typed: String = asked.get("q").chars().take(SEARCH_CHARS).collect();
    responses::page(&found_page(&typed))
}

fn found_page(typed: &str) -> ManualPage {
    let found = MANUAL.find(typed);
    let lines: String = found
        .iter()
        .map(|(page, excerpt)| {
            format!(
                "<li><a href=\"{}\">{}</a><br><span>… {} …</span></li>\n",
                page.path,
                page.title,
                escape(excerpt)
            )
        })
        .collect();
    let none = if found.is_empty() { "<p>Nothing was found.</p>" } else { "" };
    let article =
        format!("<h1>Search: {}</h1>\n{none}<ul class=\"found\">\n{lines}</ul>\n", escape(typed));
    let mut page = plain_page("Search", article);
    page.is_in_app = true;
    page
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;

    #[test]
    fn the_manual_is_searched_without_a_script() {
        let found = MANUAL.find("undo window");
        assert!(!found.is_empty());
        let (page, excerpt) = &found[0];
        assert!(MANUAL.files.contains_key(&page.path) && excerpt.to_lowercase().contains("undo"));
        assert!(MANUAL.find("  ").is_empty() && MANUAL.find("xyzzyplugh").is_empty());
        let page = found_page("<script>").render().expect("a page");
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"), "{page}");
    }
}
