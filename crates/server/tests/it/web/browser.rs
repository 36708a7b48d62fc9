//! A browser without scripts, for tests of pages and forms.

use std::collections::BTreeMap;
use std::sync::Mutex;

use actions::sign_in::sessions;
use axum::body::Body;
use axum::http::Request;
use base::actor::{Actor, Circle};

use crate::support::{Answer, TestApp, user};

/// A browser without scripts: it keeps cookies, and sends what a form of its session carries.
pub struct Browser<'a> {
    app: &'a TestApp,
    /// Another process that serves this browser.
    node: Option<axum::Router>,
    cookies: Mutex<BTreeMap<String, String>>,
    csrf: Mutex<String>,
}

/// What a browser shows.
pub struct Page {
    pub status: u16,
    pub text: String,
    pub answer: Answer,
}

impl TestApp {
    /// A browser in which nobody is signed in.
    pub fn browser(&self) -> Browser<'_> {
        Browser { app: self, node: None, cookies: Mutex::default(), csrf: Mutex::default() }
    }

    /// A browser in which somebody has used a sign-in link.
    pub async fn signed_in(&self, person: &Actor) -> Browser<'_> {
        let browser = self.browser();
        browser.sign_in(person).await;
        browser.remember_csrf().await;
        browser
    }

    /// The path of a link that signs somebody in and opens their private inboxes.
    pub async fn sign_in_link(&self, person: &Actor) -> String {
        let id = user(person);
        let service = Actor::system(person.ws, person.workspace.clone(), Circle::team());
        let url = self.act(&service, move |tx, cx| sessions::make_recovery_link(tx, cx, &id)).await;
        url.strip_prefix(crate::support::PUBLIC_URL).expect("our own address").to_owned()
    }
}

impl Browser<'_> {
    /// The same browser, served by another process.
    pub fn at(mut self, node: axum::Router) -> Self {
        self.node = Some(node);
        self
    }

    /// Signs somebody in by a link, with the button of the link's page.
    pub async fn sign_in(&self, person: &Actor) {
        let link = self.app.sign_in_link(person).await;
        let page = self.get(&link).await.is(200);
        let csrf = page.between("name=\"csrf\" value=\"", "\"");
        self.post_bare(&link, &[("csrf", csrf)]).await.goes_to("/");
    }

    pub async fn get(&self, path: &str) -> Page {
        self.send(Request::get(path), Body::empty()).await
    }

    /// Posts a form, with the token that this session's forms carry.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let csrf = self.csrf.lock().unwrap().clone();
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend(fields);
        self.post_bare(path, &all).await
    }

    /// Posts exactly these fields.
    pub async fn post_bare(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request =
            Request::post(path).header("content-type", "application/x-www-form-urlencoded");
        self.send(request, Body::from(body)).await
    }

    pub async fn send(&self, request: axum::http::request::Builder, body: Body) -> Page {
        let jar: Vec<String> = self
            .cookies
            .lock()
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = request
            .header("cookie", jar.join("; "))
            .header("host", "mail.acme.example")
            .header("user-agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
            .body(body)
            .unwrap();
        let answer = match &self.node {
            Some(node) => TestApp::send_to(node, request).await,
            None => self.app.send(request).await,
        };
        self.keep_cookies(&answer);
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        Page { status: answer.status, text, answer }
    }

    fn keep_cookies(&self, answer: &Answer) {
        let mut jar = self.cookies.lock().unwrap();
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            match line.contains("Max-Age=0") {
                true => jar.remove(name),
                false => jar.insert(name.to_owned(), value.to_owned()),
            };
        }
    }

    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// The token that this session's forms carry, from a page.
    pub async fn remember_csrf(&self) {
        let page = self.get("/settings/you").await.is(200);
        *self.csrf.lock().unwrap() = page.between("data-csrf=\"", "\"").to_owned();
    }

    pub fn csrf(&self) -> String {
        self.csrf.lock().unwrap().clone()
    }
}

impl Page {
    pub fn is(self, status: u16) -> Page {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// A redirect to exactly this path.
    pub fn goes_to(self, path: &str) -> Page {
        let page = self.is(303);
        assert_eq!(page.answer.header("location"), path);
        page
    }

    pub fn shows(&self, words: &str) -> &Page {
        assert!(self.text.contains(words), "no {words:?} in {}", self.text);
        self
    }

    pub fn hides(&self, words: &str) -> &Page {
        assert!(!self.text.contains(words), "{words:?} in {}", self.text);
        self
    }

    /// The first text between two marks.
    pub fn between(&self, before: &str, after: &str) -> &str {
        let (_, rest) = self.text.split_once(before).unwrap_or_else(|| {
            panic!("no {before:?} in {}", self.text);
        });
        rest.split_once(after).expect("an end").0
    }
}
