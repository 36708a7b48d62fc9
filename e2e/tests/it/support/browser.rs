//! A Chromium window of a test's own.

use std::future::Future;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base::actor::Actor;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::support::test_server::TestServer;

/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(45);
/// The wait between two looks at the page.
const STEP: Duration = Duration::from_millis(50);

pub struct Browser {
    pub driver: WebDriver,
    program: Child,
}

/// How a browser differs from an ordinary one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Usual,
    WithoutScripts,
}

impl Browser {
    pub async fn open(kind: Kind) -> Browser {
        // The driver's client is built without a provider of its own; a second time is no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("chromedriver is missing: run the tests with scripts/test");
        let mut wishes = DesiredCapabilities::chrome();
        for arg in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1440,900"] {
            wishes.add_arg(arg).unwrap();
        }
        if kind == Kind::WithoutScripts {
            let prefs = json!({ "profile.managed_default_content_settings.javascript": 2 });
            wishes.add_experimental_option("prefs", prefs).unwrap();
        }
        let url = format!("http://127.0.0.1:{port}");
        match eventually(async || WebDriver::new(&url, wishes.clone()).await).await {
            Ok(driver) => Browser { driver, program },
            Err(error) => panic!("no browser: {error}"),
        }
    }

    /// A browser in which somebody has used a sign-in link.
    pub async fn signed_in(server: &TestServer, person: &Actor) -> Browser {
        let browser = Browser::open(Kind::Usual).await;
        browser.sign_in(server, person).await;
        browser
    }

    pub async fn sign_in(&self, server: &TestServer, person: &Actor) {
        self.goto(&server.sign_in_link(person).await).await;
        self.click(".btn.primary").await;
        self.until("somebody is signed in", || async { self.path().await.starts_with("/inbox") })
            .await;
    }

    pub async fn goto(&self, url: &str) {
        self.driver.goto(url).await.unwrap();
    }

    pub async fn path(&self) -> String {
        let url = self.driver.current_url().await.unwrap();
        match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        }
    }

    pub async fn find(&self, css: &str) -> WebElement {
        match eventually(async || self.driver.find(By::Css(css)).await).await {
            Ok(found) => found,
            Err(_) => panic!("no {css} on {}", self.path().await),
        }
    }

    pub async fn count(&self, css: &str) -> usize {
        self.driver.find_all(By::Css(css)).await.unwrap().len()
    }

    pub async fn click(&self, css: &str) {
        self.insist(css, || async { self.find(css).await.click().await }).await;
    }

    /// Puts a text in the place of what is in a field.
    pub async fn write(&self, css: &str, text: &str) {
        self.insist(css, || async {
            let field = self.find(css).await;
            field.clear().await?;
            field.send_keys(text).await
        })
        .await;
    }

    pub async fn press(&self, keys: impl Into<TypingData>) {
        let keys: String = keys.into().as_vec().into_iter().collect();
        self.insist("the keyboard", || async {
            self.driver.active_element().await?.send_keys(keys.clone()).await
        })
        .await;
    }

    /// A page that is being replaced may take its elements away between the look and the deed.
    async fn insist<F, R>(&self, what: &str, mut act: F)
    where
        F: FnMut() -> R,
        R: Future<Output = WebDriverResult<()>>,
    {
        if let Err(error) = eventually(async || act().await).await {
            panic!("{what}: {error}");
        }
    }

    pub async fn text(&self, css: &str) -> String {
        self.find(css).await.text().await.unwrap_or_default()
    }

    /// What stands in a field; nothing while the page is being replaced.
    pub async fn value(&self, css: &str) -> String {
        self.find(css).await.value().await.ok().flatten().unwrap_or_default()
    }

    /// Waits until the page says something.
    pub async fn says(&self, words: &str) {
        self.until(words, || async { self.text("body").await.contains(words) }).await;
    }

    /// Waits until the page says that a message to somebody is on its way. Before it is sent, the
    /// composer says the same of its recipients.
    pub async fn sends_to(&self, contact: &str) {
        let words = format!("To {contact}");
        self.until(&words, || async { self.text(".toasts").await.contains(&words) }).await;
    }

    pub async fn until<F, R>(&self, what: &str, mut holds: F)
    where
        F: FnMut() -> R,
        R: Future<Output = bool>,
    {
        if eventually(async || holds().await.then_some(()).ok_or(())).await.is_err() {
            panic!("{what}: not on {}: {}", self.path().await, self.text("body").await);
        }
    }

    /// True while the beginning of an element is in the part of the page that can be seen. The
    /// driver's own script runs where the page's may not.
    pub async fn is_seen(&self, css: &str) -> bool {
        let script = format!(
            "const {{ top }} = document.querySelector('{css}').getBoundingClientRect(); \
             return top > -50 && top < innerHeight - 100"
        );
        self.script(&script).await == true
    }

    pub async fn script(&self, script: &str) -> Value {
        self.driver.execute(script, Vec::new()).await.unwrap().json().clone()
    }

    /// Waits until the page has done what it does after it was loaded.
    pub async fn is_idle(&self) {
        let script = "requestIdleCallback(() => setTimeout(arguments[0]))";
        self.driver.execute_async(script, Vec::new()).await.unwrap();
    }

    pub async fn devtools(&self, command: &str, params: Value) {
        self.driver.cdp().send_raw(command, params).await.unwrap();
    }

    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    pub async fn dark(&self, on: bool) {
        let value = if on { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    pub async fn close(self) {
        let _ = self.driver.clone().quit().await;
    }
}

impl Drop for Browser {
    /// Ends chromedriver and its browser, which are a group of their own, also after a failure.
    fn drop(&mut self) {
        let group = format!("-{}", self.program.id());
        let _ = Command::new("kill").args(["-TERM", "--", &group]).status();
        let _ = self.program.wait();
    }
}

/// Tries until it succeeds; the last error when that takes too long.
async fn eventually<T, E>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> Result<T, E> {
    let begun = Instant::now();
    loop {
        match attempt().await {
            Err(_) if begun.elapsed() < PATIENCE => tokio::time::sleep(STEP).await,
            result => return result,
        }
    }
}

/// Every page of the app, for rules that hold on all of them.
pub async fn pages(server: &TestServer, browser: &Browser) -> Vec<String> {
    browser.goto(&format!("{}/inbox?view=open", server.address)).await;
    browser.find(".row").await;
    let rows = browser
        .script(
            "return [...document.querySelectorAll('.row')].map((row) => row.getAttribute('href'))",
        )
        .await;
    let rows: Vec<String> =
        rows.as_array().unwrap().iter().map(|href| href.as_str().unwrap().to_owned()).collect();
    browser.goto(&format!("{}/inbox?view=held", server.address)).await;
    let held = browser.find(".row").await.attr("href").await.unwrap().unwrap();
    let mut pages: Vec<String> = [
        "/inbox?view=open",
        "/inbox?view=mine",
        "/inbox?view=closed",
        "/approvals",
        "/leaving",
        "/documents",
        "/answers",
        "/answers/new",
        "/settings/drafting",
        "/settings/satisfaction",
        "/settings/reports",
        "/settings/customer-page",
        "/search",
        "/search?q=order",
        "/search?q=absentword",
        "/search?q=is%3Aopen+order+-%22late+fee%22",
        "/keyboard",
        "/new",
        "/settings",
        "/settings?q=undo",
        "/settings/you",
        "/settings/sign-in",
        "/settings/writing",
        "/settings/people",
        "/settings/teams",
        "/settings/forms",
        "/settings/inboxes",
        "/settings/inboxes/connect",
        "/settings/outgoing",
        "/settings/services",
        "/settings/linked-items",
        "/settings/queues",
        "/welcome",
        "/settings/tags",
        "/settings/branding",
        "/settings/help",
        "/settings/evals",
        "/settings/fields",
        "/settings/blocked",
        "/contacts/noor@haddad-interiors.example",
        "/settings/helpers",
        "/settings/rules",
        "/settings/bookings",
        "/calendar",
        "/calendar?view=day",
        "/calendar?view=list",
        "/reports",
        "/settings/keys",
        "/settings/apps",
        "/settings/webhooks",
        "/settings/data",
        "/settings/data/delete",
        "/settings/plan",
        "/settings/replies",
        "/settings/audit",
        "/mentions",
        "/developers",
        "/developers/reference/reply",
        "/developers/tools",
        "/developers/events/client.replied",
        "/developers/webhooks",
        "/developers/errors",
        "/developers/changelog",
        "/developers/console?op=reply",
        "/developers/catcher",
        "/developers/search?q=draft",
    ]
    .map(str::to_owned)
    .to_vec();
    pages.extend(server.furnish().await);
    pages.push(held);
    pages.extend(rows.iter().take(6).cloned());
    pages.push(format!("{}&write=reply", rows[0]));
    pages.push(format!("{}&write=forward", rows[0]));
    pages.push(format!("{}&write=note", rows[0]));
    pages.push(format!("{}&write=ask", rows[0]));
    let path = rows[0].split('?').next().unwrap_or_default();
    pages.push(format!("{path}/merge"));
    pages.push(format!("{path}/print"));
    pages
}
