//! The developer site: pages made from the table of operations, readable by anybody, as HTML and as
//! Markdown; and for signed-in people a console and a catcher of events of the sandbox.

mod catcher;
mod clients;
mod console;
mod events;
mod examples;
mod html;
pub mod manual;
mod preparations;
mod reference;
mod schema_words;
mod site;

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use actions::integrations::keys;
use askama::Template;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Response, header};
use axum::routing::{get, post};
use axum::{Extension, Router};
use base::error::Error;
use base::security::scopes::Scope;
use transport::http::download::disposition;
use web::Web;
use web::forms::form::{Asked, PostedForm, form};
use web::layout::filters;
use web::layout::responses::{self, PageError, PageResult};
use web::visitor::{CsrfToken, Visitor};

use site::{DeveloperSite, ROOT};

/// Characters of a search.
const SEARCH_CHARS: usize = 200;
/// What stands in code for a test key.
const KEY_PLACE: &str = "rk_test_…";
/// How long the texts may be kept, in seconds.
const KEPT: &str = "public, max-age=300";

pub fn router() -> Router<Arc<Web>> {
    Router::new()
        .route("/llms.txt", get(llms))
        .route("/llms-full.txt", get(llms_full))
        .route("/developers", get(start))
        .route("/developers.md", get(start_markdown))
        .route("/developers/search", get(search))
        .route("/developers/key", post(make_key))
        .route("/developers/clients/{name}", get(client))
        .route("/developers/console", get(console::page).post(console::run))
        .route("/developers/catcher", get(catcher::page))
        .route("/developers/catcher.json", get(catcher::for_programs))
        .route("/developers/{*page}", get(page))
        .route("/manual", get(manual::pages::first))
        .route("/manual/find", get(manual::pages::search))
        .route("/manual/{*path}", get(manual::pages::page))
        .layer(Extension(MadeSite::default()))
}

/// The pages, made when the first of them is asked for.
#[derive(Clone, Default)]
struct MadeSite(Arc<OnceLock<DeveloperSite>>);

/// The site, as a handler gets it.
struct Site {
    web: Arc<Web>,
    made: MadeSite,
}

impl FromRequestParts<Arc<Web>> for Site {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Arc<Web>) -> Result<Site, Infallible> {
        let made = parts.extensions.get::<MadeSite>().cloned().unwrap_or_default();
        Ok(Site { web: Arc::clone(web), made })
    }
}

impl Site {
    fn pages(&self) -> &DeveloperSite {
        self.made.0.get_or_init(|| DeveloperSite::new(&self.web.app.public_url))
    }

    /// What stands around a page of the site.
    async fn frame(&self, visitor: &Visitor, path: &str, title: &str) -> SiteFrame {
        let person = match visitor.session {
            Some(_) => self
                .web
                .read(visitor, |_, cx, me| Ok((cx.actor.name().to_owned(), me.administers())))
                .await
                .ok(),
            None => None,
        };
        let link = |page: &site::SitePage| SiteLink {
            href: page.path.clone(),
            label: page.label.clone(),
            verb: page.verb,
            current: page.path == path,
        };
        let navigation = self.pages().navigation().into_iter();
        SiteFrame {
            title: title.to_owned(),
            twin: format!("{path}.md"),
            here: path.to_owned(),
            navigation: navigation
                .map(|(group, pages)| (group, pages.into_iter().map(link).collect()))
                .collect(),
            administers: person.as_ref().is_some_and(|(_, administers)| *administers),
            person: person.map(|(name, _)| name),
            csrf: visitor.csrf.clone(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

struct SiteFrame {
    title: String,
    /// The same page as Markdown.
    twin: String,
    here: String,
    navigation: Vec<(&'static str, Vec<SiteLink>)>,
    person: Option<String>,
    administers: bool,
    csrf: CsrfToken,
    version: &'static str,
}

struct SiteLink {
    href: String,
    label: String,
    verb: &'static str,
    current: bool,
}

#[derive(Template)]
#[template(path = "developers_page.html", whitespace = "minimize")]
struct ArticlePage {
    frame: SiteFrame,
    article: String,
    /// True where the code has a place for a test key.
    takes_key: bool,
    /// The lines for a terminal with a key that was made just now.
    made: Option<String>,
    /// What a search was for.
    words: String,
}

async fn start(site: Site, visitor: Visitor, headers: HeaderMap) -> PageResult {
    show(&site, &visitor, &headers, ROOT).await
}

async fn start_markdown(site: Site) -> PageResult {
    let page = site.pages().find(ROOT).ok_or(Error::NotFound("page"))?;
    Ok(text(page.markdown.clone(), "text/markdown; charset=utf-8"))
}

async fn page(
    site: Site,
    visitor: Visitor,
    headers: HeaderMap,
    Path(page): Path<String>,
) -> PageResult {
    let path = format!("{ROOT}/{page}");
    match path.strip_suffix(".md") {
        Some(path) => {
            let found = site.pages().find(path).ok_or(Error::NotFound("page"))?;
            Ok(text(found.markdown.clone(), "text/markdown; charset=utf-8"))
        }
        None => show(&site, &visitor, &headers, &path).await,
    }
}

/// A page as the reader asked for it.
async fn show(site: &Site, visitor: &Visitor, headers: &HeaderMap, path: &str) -> PageResult {
    let found = site.pages().find(path).ok_or(Error::NotFound("page"))?;
    if wants_markdown(headers) {
        return Ok(text(found.markdown.clone(), "text/markdown; charset=utf-8"));
    }
    let frame = site.frame(visitor, &found.path, &found.title).await;
    let article = found.article.clone();
    let takes_key = with_key(&article, "").is_some();
    let page = ArticlePage { frame, article, takes_key, made: None, words: String::new() };
    let mut response = responses::page(&page)?;
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept, Cookie"));
    Ok(response)
}

/// No browser asks for it by itself.
fn wants_markdown(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/markdown"))
}

async fn search(
    site: Site,
    visitor: Visitor,
    headers: HeaderMap,
    Asked(asked): Asked,
) -> PageResult {
    let words: String = asked.get("q").chars().take(SEARCH_CHARS).collect();
    let found = site.pages().search(&words);
    if wants_markdown(&headers) {
        return Ok(text(found, "text/markdown; charset=utf-8"));
    }
    let mut frame = site.frame(&visitor, "/developers/search", "Search").await;
    frame.twin.clear();
    let article = html::article(&found);
    responses::page(&ArticlePage { frame, article, takes_key: false, made: None, words })
}

async fn llms(site: Site) -> Response<Body> {
    text(site.pages().llms(), "text/plain; charset=utf-8")
}

async fn llms_full(site: Site) -> Response<Body> {
    text(site.pages().llms_full(), "text/plain; charset=utf-8")
}

/// The typed clients.
async fn client(Path(name): Path<String>) -> PageResult {
    let (code, kind) = match name.as_str() {
        "mailroom.py" => (clients::python_client(), "text/x-python; charset=utf-8"),
        "mailroom.ts" => (clients::typescript_client(), "text/x-typescript; charset=utf-8"),
        _ => return Err(Error::NotFound("client").into()),
    };
    let mut response = text(code, kind);
    if let Ok(value) = HeaderValue::from_str(&disposition("attachment", &name)) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

fn text(text: String, kind: &'static str) -> Response<Body> {
    let mut response = responses::plain(text);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEPT));
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    response
}

form! {
    pub struct TestKeyForm {
        /// The page that it is filled in on.
        page: String,
    }
}

/// A test key in one click, shown once: with the lines for a terminal, and in the code of the page.
async fn make_key(
    site: Site,
    posted: PostedForm<TestKeyForm>,
) -> Result<Response<Body>, PageError> {
    let PostedForm { visitor, form } = posted;
    let found = site.pages().find(&form.page).or_else(|| site.pages().find(ROOT));
    let found = found.ok_or(Error::NotFound("page"))?;
    let all = [Scope::Read, Scope::Write, Scope::Draft, Scope::Send, Scope::Record];
    let made = site
        .web
        .act(&visitor, move |tx, cx, _| keys::make_key(tx, cx, "Developer site", &all, false))
        .await?;
    let address = &site.web.app.public_url;
    let lines = format!("export MAILROOM={address}/api/v1\nexport MAILROOM_KEY={}", made.key);
    let frame = site.frame(&visitor, &found.path, &found.title).await;
    let article = with_key(&found.article, &made.key).unwrap_or_else(|| found.article.clone());
    let (made, words) = (Some(lines), String::new());
    responses::page(&ArticlePage { frame, article, takes_key: true, made, words })
}

/// An article with a key in its code, in the place of the words for one. `None` where no code has them.
fn with_key(article: &str, key: &str) -> Option<String> {
    let (mut filled, mut is_filled) = (String::with_capacity(article.len()), false);
    for (place, part) in article.split("<pre").enumerate() {
        if place == 0 {
            filled.push_str(part);
            continue;
        }
        let (code, rest) = part.split_once("</pre>").unwrap_or((part, ""));
        is_filled |= code.contains(KEY_PLACE);
        filled.push_str(&format!("<pre{}</pre>{rest}", code.replace(KEY_PLACE, key)));
    }
    is_filled.then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_filled_into_code_and_nowhere_else() {
        let article = "<p>rk_test_…</p><pre class=\"code\">K=rk_test_…</pre><p>rk_test_…</p>";
        let filled = "<p>rk_test_…</p><pre class=\"code\">K=rk_test_1</pre><p>rk_test_…</p>";
        assert_eq!(with_key(article, "rk_test_1").as_deref(), Some(filled));
        assert_eq!(with_key("<p>rk_test_…</p><pre>ls</pre>", "rk_test_1"), None);
    }
}
