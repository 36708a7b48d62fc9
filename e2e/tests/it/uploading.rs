//! A customer adds what was asked for: with and without scripts, wide and narrow, and over a
//! connection that breaks.

use std::path::PathBuf;

use inbox::RequestedDocument;
use inbox::actions;
use inbox::api::operations::{RequestDocumentsInput, request_documents};
use serde_json::json;
use thirtyfour::prelude::*;

use crate::axe::{axe, violations};
use crate::house::House;
use crate::window::{Kind, Window};

/// A request for these documents: the conversation and the page's address.
async fn asked(house: &House, labels: &[&str]) -> (String, String) {
    let received = house.mail("ann@shop.example Ann Shopper", "Lamps", "Hello", None).await;
    let id = received.conversation.to_string();
    let item = |label: &&str| RequestedDocument {
        label: (*label).into(),
        description: None,
        required: true,
    };
    let input = RequestDocumentsInput {
        id: id.clone(),
        documents: labels.iter().map(item).collect(),
        message: Some("For the new account.".into()),
        due_date: None,
        send: true,
    };
    let ask = house.app.act(&house.ines, move |tx, cx| request_documents(tx, cx, input.clone()));
    ask.await.unwrap();
    let (_, text) = house.latest(&id).await;
    let link = text.split_whitespace().find(|word| word.contains("/u/")).unwrap();
    (id, link.to_owned())
}

/// Files on the disk, as somebody has them.
struct Papers(tempfile::TempDir);

impl Papers {
    fn new() -> Papers {
        Papers(tempfile::tempdir().unwrap())
    }

    fn pdf(&self, name: &str) -> String {
        self.put(name, &inbox::model::pdf::sheet("PAPER", &[name]))
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

async fn choose(window: &Window, item: usize, path: &str) {
    let input = window.find(&format!("#item-{item} .drop input")).await;
    input.send_keys(path).await.unwrap();
}

async fn filed(house: &House, id: &str) -> Vec<String> {
    let id = id.to_owned();
    let read = house.app.act(&house.ines, move |tx, cx| {
        let reading = actions::read_conversation(tx, cx, &id, true)?;
        let cards = reading.entries.iter().filter_map(|entry| match entry {
            actions::TimelineEntry::Message(message) => message.asks.clone(),
            _ => None,
        });
        let items = cards.flat_map(|card| card.items);
        Ok(items.flat_map(|item| item.documents).map(|(_, name)| name).collect())
    });
    read.await.unwrap()
}

async fn adds_replaces_and_hands_over(width: u32) {
    let (house, papers) = (House::open().await, Papers::new());
    let (id, link) = asked(&house, &["Passport", "Bill"]).await;
    let window = Window::open(Kind::Usual).await;
    window.resize(width, 900).await;
    window.goto(&link).await;
    window.says("For the new account.").await;
    choose(&window, 0, &papers.pdf("wrong.pdf")).await;
    window.says("1 of 2 added.").await;
    window.click("#item-0 .got .btn").await;
    window.says("0 of 2 added.").await;
    choose(&window, 0, &format!("{}\n{}", papers.pdf("one.pdf"), papers.pdf("two.pdf"))).await;
    window.says("Hand over these 2 files").await;
    choose(&window, 1, &papers.put("bill.pdf", b"MZ\x90 not a paper")).await;
    window.says("bill.pdf was not taken").await;
    window.says("This is a program or a script").await;
    choose(&window, 1, &papers.pdf("bill.pdf")).await;
    window.says("Hand over these 3 files").await;
    let wide = window.script("return document.documentElement.scrollWidth <= innerWidth").await;
    assert_eq!(wide, json!(true), "nothing is wider than the window");
    window.click("#part-done .btn.primary").await;
    window.says("Thank you, Ann. Everything is in.").await;
    assert_eq!(filed(&house, &id).await, ["one.pdf", "two.pdf", "bill.pdf"]);
    window.close().await;
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
    let (house, papers) = (House::open().await, Papers::new());
    let (id, link) = asked(&house, &["Passport"]).await;
    let window = Window::open(Kind::Usual).await;
    window.goto(&link).await;
    let slow = 4 * 1024 * 1024;
    let network = |offline: bool, upload: i64| json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": upload });
    window.devtools("Network.enable", json!({})).await;
    window.devtools("Network.emulateNetworkConditions", network(false, slow)).await;
    choose(&window, 0, &papers.large_pdf("pass.pdf", 12 * 1024 * 1024)).await;
    let percent =
        "return parseInt(document.querySelector('[data-arriving] .quiet')?.textContent) || 0";
    window
        .until("some of it is sent", || async {
            window.script(percent).await.as_i64().unwrap_or(0) >= 40
        })
        .await;
    window.devtools("Network.emulateNetworkConditions", network(true, slow)).await;
    window.says("No connection. It goes on by itself").await;
    window.devtools("Network.emulateNetworkConditions", network(false, -1)).await;
    window.says("Hand over this file").await;
    window.click("#part-done .btn.primary").await;
    window.says("Everything is in.").await;
    assert_eq!(filed(&house, &id).await, ["pass.pdf"]);
    window.close().await;
}

#[tokio::test]
async fn without_scripts_the_same_page_does_the_same() {
    let (house, papers) = (House::open().await, Papers::new());
    let (id, link) = asked(&house, &["Passport"]).await;
    let window = Window::open(Kind::WithoutScripts).await;
    for width in [390, 1440] {
        window.resize(width, 900).await;
        window.goto(&link).await;
        let path = papers.pdf(&format!("{width}.pdf"));
        choose(&window, 0, &path).await;
        window.click("#item-0 [data-plain]").await;
        window.says(&format!("{width}.pdf")).await;
    }
    choose(&window, 0, &papers.put("page.html", b"<!doctype html>")).await;
    window.click("#item-0 [data-plain]").await;
    window.says("page.html was not taken").await;
    window.click("#item-0 .banner .btn").await;
    window.says("Hand over these 2 files").await;
    window.click("#part-done .btn.primary").await;
    window.says("Thank you, Ann. Everything is in.").await;
    assert_eq!(filed(&house, &id).await, ["390.pdf", "1440.pdf"]);
    window.close().await;
}

#[tokio::test]
async fn the_customers_pages_are_sound_for_assistive_technology() {
    let (house, papers) = (House::open().await, Papers::new());
    let (_, link) = asked(&house, &["Passport", "Bill"]).await;
    let (_, done) = asked(&house, &["Passport"]).await;
    let (window, axe) = (Window::open(Kind::Usual).await, axe());
    window.goto(&link).await;
    choose(&window, 0, &papers.pdf("one.pdf")).await;
    window.says("Hand over this file").await;
    choose(&window, 1, &papers.put("bill.pdf", b"MZ\x90 not a paper")).await;
    window.says("bill.pdf was not taken").await;
    window.goto(&done).await;
    choose(&window, 0, &papers.pdf("one.pdf")).await;
    window.says("Hand over this file").await;
    window.click("#part-done .btn.primary").await;
    window.says("Everything is in.").await;
    let mut wrong = Vec::new();
    for dark in [false, true] {
        window.dark(dark).await;
        for page in [&link, &done, &format!("{link}/stop"), &format!("{link}x")] {
            window.goto(page).await;
            wrong.extend(violations(&window, &axe).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    window.close().await;
}

#[tokio::test]
async fn a_person_asks_for_documents_and_sees_what_came_of_it() {
    let (house, papers) = (House::open().await, Papers::new());
    let received = house.mail("bo@shop.example Bo Shopper", "A lease", "Hello", None).await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/conversations/{}", house.address, received.conversation)).await;
    window.press("d").await;
    window.write("#ask-message", "Two papers, please.").await;
    window.write("#label-1", "Lease").await;
    window.write("#label-2", "Meter reading").await;
    window.click("[data-send]").await;
    window.says("2 documents asked for").await;
    let (_, text) = house.latest(received.conversation.as_str()).await;
    let link = text.split_whitespace().find(|word| word.contains("/u/")).unwrap().to_owned();
    window.goto(&link).await;
    choose(&window, 0, &papers.pdf("lease.pdf")).await;
    window.says("Hand over this file").await;
    window.click("#part-done .btn.primary").await;
    window.says("Thank you, that has arrived").await;
    window.goto(&format!("{}/conversations/{}", house.address, received.conversation)).await;
    window.says("lease.pdf").await;
    window.driver.find(By::LinkText("lease.pdf")).await.unwrap().click().await.unwrap();
    window.says("uploaded by the customer").await;
    window.close().await;
}
