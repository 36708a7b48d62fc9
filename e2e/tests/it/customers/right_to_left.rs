//! A customer on a phone whose language is written from right to left uploads, writes and books, with and without
//! scripts.

use serde_json::json;

use super::uploading::{Papers, asked, choose};
use crate::support::axe::{axe, violations};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

const PHONE: (u32, u32) = (390, 844);
const HOST_ZONE: &str = "Europe/Berlin";

/// A customer's browser that asks for Arabic, and what is wrong with the pages it was shown.
struct Customer {
    browser: Browser,
    axe: Option<String>,
    wrong: Vec<String>,
}

impl Customer {
    /// One with scripts looks at every page with axe.
    async fn open(kind: Kind) -> Customer {
        let browser = Browser::open(kind).await;
        browser.devtools("Network.enable", json!({})).await;
        let asks = json!({ "headers": { "Accept-Language": "ar" } });
        browser.devtools("Network.setExtraHTTPHeaders", asks).await;
        // The zone of the host, so that the page of times is not loaded again in another.
        browser.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": HOST_ZONE })).await;
        browser.resize(PHONE.0, PHONE.1).await;
        Customer { browser, axe: (kind == Kind::Usual).then(axe), wrong: Vec::new() }
    }

    /// The page is Arabic, its lines run from right to left, nothing is wider than the phone, and it is sound in light
    /// and dark.
    async fn looks_at(&mut self, page: &str) {
        let language = "return document.documentElement.lang";
        let direction = "return getComputedStyle(document.querySelector('main')).direction";
        let heading = "return getComputedStyle(document.querySelector('h1')).direction";
        let fits = "return document.documentElement.scrollWidth <= innerWidth";
        for (script, expected) in [
            (language, json!("ar")),
            (direction, json!("rtl")),
            (heading, json!("rtl")),
            (fits, json!(true)),
        ] {
            let found = self.browser.script(script).await;
            if found != expected {
                self.wrong.push(format!("{page}: {found} of {script}"));
            }
        }
        let Some(axe) = &self.axe else { return };
        for dark in [true, false] {
            self.browser.dark(dark).await;
            let found = violations(&self.browser, axe).await;
            self.wrong.extend(found.into_iter().map(|one| format!("{page}: {one}")));
        }
    }

    /// Which way a field is typed.
    async fn direction_of(&self, css: &str) -> serde_json::Value {
        let script = format!("return getComputedStyle(document.querySelector('{css}')).direction");
        self.browser.script(&script).await
    }

    async fn close(self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        self.browser.close().await;
    }
}

async fn uploads_writes_and_books(kind: Kind) {
    let (server, papers) = (TestServer::open().await, Papers::new());
    let mut customer = Customer::open(kind).await;

    let (_, link) = asked(&server, &["Passport", "Bill (2)"]).await;
    customer.browser.goto(&link).await;
    customer.browser.says("المستندات المطلوبة من").await;
    customer.looks_at("upload").await;
    for item in [0, 1] {
        choose(&customer.browser, item, &papers.pdf(&format!("2026-11-1{item}.pdf"))).await;
        if kind == Kind::WithoutScripts {
            customer.browser.click(&format!("#item-{item} [data-plain]")).await;
        }
        let files = format!("#item-{item} [data-files] .got .name");
        customer.browser.find(&files).await;
    }
    customer.browser.says("تسليم الملفين").await;
    customer.looks_at("uploaded").await;
    let name = "#item-0 .got .name bdi";
    assert_eq!(customer.direction_of(name).await, json!("ltr"), "the name of a file");
    customer.browser.click("#part-done .btn.primary").await;
    customer.browser.says("وصل كل شيء").await;
    customer.looks_at("handed over").await;
    customer.browser.goto(&format!("{link}/stop")).await;
    customer.looks_at("reminders").await;

    customer.browser.goto(&format!("{}/f/contact", server.address)).await;
    customer.browser.says("رسالتكم").await;
    customer.looks_at("contact form").await;
    customer.browser.write("#name", "ليلى حداد").await;
    customer.browser.write("#email", "leila@shop.example").await;
    customer.browser.write("#message", "أين المصباح الذي طلبته؟").await;
    assert_eq!(customer.direction_of("#name").await, json!("rtl"));
    assert_eq!(customer.direction_of("#email").await, json!("ltr"));
    assert_eq!(customer.direction_of("#message").await, json!("rtl"));
    customer.browser.click("#f-about option:last-child").await;
    customer.browser.click("#f-keep").await;
    customer.browser.click(".btn.primary").await;
    customer.browser.says("وصلت رسالتكم").await;
    customer.looks_at("written").await;

    customer.browser.goto(&server.booking_type().await.url(&server.address)).await;
    customer.browser.says("المواعيد بتوقيت").await;
    customer.looks_at("times").await;
    customer.browser.click(".g-days section:has(li) ~ section:has(li) .g-slot").await;
    customer.browser.says("من سيحضر؟").await;
    customer.looks_at("who is coming").await;
    customer.browser.write("#name", "ليلى حداد").await;
    customer.browser.write("#email", "leila@shop.example").await;
    customer.browser.write("#q0", "المطبخ").await;
    customer.browser.click(".g-sheet-form .btn.primary").await;
    customer.browser.says("أدخلوا الرمز الذي أرسلناه إليكم").await;
    assert_eq!(customer.direction_of("#code").await, json!("ltr"));
    customer.looks_at("code").await;

    customer.browser.goto(&format!("{}/me/nobody", server.address)).await;
    customer.looks_at("nothing").await;
    customer.close().await;
}

#[tokio::test]
async fn an_arabic_customer_on_a_phone_uploads_writes_and_books() {
    uploads_writes_and_books(Kind::Usual).await;
}

#[tokio::test]
async fn without_scripts_an_arabic_customer_does_the_same() {
    uploads_writes_and_books(Kind::WithoutScripts).await;
}
