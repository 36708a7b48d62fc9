//! A customer adds what was asked for: with and without scripts, wide and narrow, and over a
//! connection that breaks.

use std::path::PathBuf;

use actions::conversations::{open_conversation, timeline};
use api::operations::request_documents;
use api::operations::{DocumentItemInput, RequestDocumentsInput};
use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::axe::{axe, violations};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

/// A request for these documents: the conversation and the page's address.
pub(crate) async fn asked(server: &TestServer, labels: &[&str]) -> (String, String) {
    let received = server.mail("ann@shop.example Ann Shopper", "Lamps", "Hello", None).await;
    let id = received.conversation.to_string();
    let item = |label: &&str| DocumentItemInput {
        label: (*label).into(),
        description: None,
        required: None,
    };
    let input = RequestDocumentsInput {
        id: id.clone(),
        documents: labels.iter().map(item).collect(),
        message: Some("For the new account.".into()),
        due_date: None,
        send: true,
        only_if_no_draft: false,
        secure: None,
        secure_days: None,
    };
    let ask = server.app.act(&server.ines, move |tx, cx| request_documents(tx, cx, input.clone()));
    ask.await.unwrap();
    let (_, text) = server.latest(&id).await;
    let link = text.split_whitespace().find(|word| word.contains("/u/")).unwrap();
    (id, link.to_owned())
}

/// Files on the disk, as somebody has them.
pub(crate) struct Papers(tempfile::TempDir);

impl Papers {
    pub(crate) fn new() -> Papers {
        Papers(tempfile::tempdir().unwrap())
    }

    pub(crate) fn pdf(&self, name: &str) -> String {
        self.put(name, &model::documents::pdf::sheet("PAPER", &[name]))
    }

    fn large_pdf(&self, name: &str, bytes: usize) -> String {
        let mut file = b"%PDF-1.7\n".to_vec();
        file.resize(bytes, b'x');
        file.extend_from_slice(b"\nstartxref\n0\n%%EOF\n");
        self.put(name, &file)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

pub(crate) async fn choose(browser: &Browser, item: usize, path: &str) {
    let input = browser.find(&format!("#item-{item} .drop input")).await;
    input.send_keys(path).await.unwrap();
}

async fn filed(server: &TestServer, id: &str) -> Vec<String> {
    let id = id.to_owned();
    let read = server.app.act(&server.ines, move |tx, cx| {
        let reading =
            open_conversation::read_conversation(tx, cx, &id, &timeline::TimelinePart::Newest)?;
        let cards = reading.entries.iter().filter_map(|entry| match entry {
            timeline::TimelineEntry::Message(message) => message.asks.clone(),
            _ => None,
        });
        let items = cards.flat_map(|card| card.items);
        Ok(items.flat_map(|item| item.documents).map(|(_, name)| name).collect())
    });
    read.await.unwrap()
}

async fn adds_replaces_and_hands_over(width: u32) {
    let (server, papers) = (TestServer::open().await, Papers::new());
    let (id, link) = asked(&server, &["Passport", "Bill"]).await;
    let browser = Browser::open(Kind::Usual).await;
    browser.resize(width, 900).await;
    browser.goto(&link).await;
    browser.says("For the new account.").await;
    choose(&browser, 0, &papers.pdf("wrong.pdf")).await;
    browser.says("1 of 2 added.").await;
    browser.click("#item-0 .got .btn").await;
    browser.says("0 of 2 added.").await;
    choose(&browser, 0, &format!("{}\n{}", papers.pdf("one.pdf"), papers.pdf("two.pdf"))).await;
    browser.says("Hand over these 2 files").await;
    choose(&browser, 1, &papers.put("bill.pdf", b"MZ\x90 not a paper")).await;
    browser.says("bill.pdf was not taken").await;
    browser.says("This is a program or a script").await;
    choose(&browser, 1, &papers.pdf("bill.pdf")).await;
    browser.says("Hand over these 3 files").await;
    let wide = browser.script("return document.documentElement.scrollWidth <= innerWidth").await;
    assert_eq!(wide, json!(true), "nothing is wider than the window");
    browser.click("#part-done .btn.primary").await;
    browser.says("Thank you, Ann. Everything is in.").await;
    assert_eq!(filed(&server, &id).await, ["one.pdf", "two.pdf", "bill.pdf"]);
    browser.close().await;
}

#[tokio::test]
async fn a_customer_adds_replaces_and_hands_over_at_a_desk() {
    adds_replaces_and_hands_over(1440).await;
}

#[tokio::test]
async fn a_customer_adds_replaces_and_hands_over_on_a_phone() {
    adds_replaces_and_hands_over(390).await;
}

#[tokio::test]
async fn a_file_goes_on_after_the_connection_was_cut_in_the_middle() {
    let (server, papers) = (TestServer::open().await, Papers::new());
    let (id, link) = asked(&server, &["Passport"]).await;
    let browser = Browser::open(Kind::Usual).await;
    browser.goto(&link).await;
    let slow = 4 * 1024 * 1024;
    let network = |offline: bool, upload: i64| json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": upload });
    browser.devtools("Network.enable", json!({})).await;
    browser.devtools("Network.emulateNetworkConditions", network(false, slow)).await;
    choose(&browser, 0, &papers.large_pdf("pass.pdf", 12 * 1024 * 1024)).await;
    let percent =
        "return parseInt(document.querySelector('[data-arriving] .quiet')?.textContent) || 0";
    browser
        .until("some of it is sent", || async {
            browser.script(percent).await.as_i64().unwrap_or(0) >= 40
        })
        .await;
    browser.devtools("Network.emulateNetworkConditions", network(true, slow)).await;
    browser.says("No connection. It goes on by itself").await;
    browser.devtools("Network.emulateNetworkConditions", network(false, -1)).await;
    browser.says("Hand over this file").await;
    browser.click("#part-done .btn.primary").await;
    browser.says("Everything is in.").await;
    assert_eq!(filed(&server, &id).await, ["pass.pdf"]);
    browser.close().await;
}

#[tokio::test]
async fn without_scripts_the_same_page_does_the_same() {
    let (server, papers) = (TestServer::open().await, Papers::new());
    let (id, link) = asked(&server, &["Passport"]).await;
    let browser = Browser::open(Kind::WithoutScripts).await;
    for width in [390, 1440] {
        browser.resize(width, 900).await;
        browser.goto(&link).await;
        let path = papers.pdf(&format!("{width}.pdf"));
        choose(&browser, 0, &path).await;
        browser.click("#item-0 [data-plain]").await;
        browser.says(&format!("{width}.pdf")).await;
    }
    choose(&browser, 0, &papers.put("page.html", b"<!doctype html>")).await;
    browser.click("#item-0 [data-plain]").await;
    browser.says("page.html was not taken").await;
    browser.click("#item-0 .banner .btn").await;
    browser.says("Hand over these 2 files").await;
    browser.click("#part-done .btn.primary").await;
    browser.says("Thank you, Ann. Everything is in.").await;
    assert_eq!(filed(&server, &id).await, ["390.pdf", "1440.pdf"]);
    browser.close().await;
}

#[tokio::test]
async fn the_customers_pages_are_sound_for_assistive_technology() {
    let (server, papers) = (TestServer::open().await, Papers::new());
    let (_, link) = asked(&server, &["Passport", "Bill"]).await;
    let (_, done) = asked(&server, &["Passport"]).await;
    let (browser, axe) = (Browser::open(Kind::Usual).await, axe());
    browser.goto(&link).await;
    choose(&browser, 0, &papers.pdf("one.pdf")).await;
    browser.says("Hand over this file").await;
    choose(&browser, 1, &papers.put("bill.pdf", b"MZ\x90 not a paper")).await;
    browser.says("bill.pdf was not taken").await;
    browser.goto(&done).await;
    choose(&browser, 0, &papers.pdf("one.pdf")).await;
    browser.says("Hand over this file").await;
    browser.click("#part-done .btn.primary").await;
    browser.says("Everything is in.").await;
    let mut wrong = Vec::new();
    for dark in [false, true] {
        browser.dark(dark).await;
        for page in [&link, &done, &format!("{link}/stop"), &format!("{link}x")] {
            browser.goto(page).await;
            wrong.extend(violations(&browser, &axe).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}

#[tokio::test]
async fn a_person_asks_for_documents_and_sees_what_came_of_it() {
    let (server, papers) = (TestServer::open().await, Papers::new());
    let received = server.mail("bo@shop.example Bo Shopper", "A lease", "Hello", None).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/conversations/{}", server.address, received.conversation)).await;
    browser.press("d").await;
    browser.write("#ask-message", "Two papers, please.").await;
    browser.write("#label-1", "Lease").await;
    browser.write("#label-2", "Meter reading").await;
    browser.click("[data-send]").await;
    browser.says("2 documents asked for").await;
    let (_, text) = server.latest(received.conversation.as_str()).await;
    let link = text.split_whitespace().find(|word| word.contains("/u/")).unwrap().to_owned();
    browser.goto(&link).await;
    choose(&browser, 0, &papers.pdf("lease.pdf")).await;
    browser.says("Hand over this file").await;
    browser.click("#part-done .btn.primary").await;
    browser.says("Thank you, that has arrived").await;
    browser.goto(&format!("{}/conversations/{}", server.address, received.conversation)).await;
    browser.says("lease.pdf").await;
    browser.driver.find(By::LinkText("lease.pdf")).await.unwrap().click().await.unwrap();
    browser.says("uploaded by the customer").await;
    browser.close().await;
}
