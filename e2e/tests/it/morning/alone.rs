//! A morning of sixty mails, worked off by one person: by keyboard alone, by touch on a phone, without scripts, with no
//! connection in the middle, and with the session over while they write. What is undone is as it was: the same
//! conversations, with the same people, in the same places.

use actions::conversations::{open_conversation, timeline};
use base::limits::MINUTE_MS;
use model::mailboxes::Mailbox;
use serde_json::json;
use thirtyfour::prelude::*;

use super::{LISTED, MAILS, arrive, tick};
use crate::everyday::swipe_away;
use crate::offline::{go_offline, send_offline_and_again};
use crate::support::browser::{Browser, Kind};
use crate::support::test_server::TestServer;

const UNDO: &str = ".toast form[action='/undo'] button";

struct SixtyMails<'a> {
    server: &'a TestServer,
    inbox: Mailbox,
    /// The oldest first; the newest, `Letter 59`, is on top of the list.
    ids: Vec<String>,
}

impl SixtyMails<'_> {
    async fn arrive(server: &TestServer) -> SixtyMails<'_> {
        let inbox = server.add_inbox("Workshop").await;
        let ids = arrive(server, &inbox, "Lena", "Letter", MAILS).await;
        SixtyMails { server, inbox, ids }
    }

    /// Opens the list, and returns what it shows.
    async fn list(&self, browser: &Browser) -> Vec<String> {
        browser.goto(&format!("{}/inbox?mailbox={}", self.server.address, self.inbox.id)).await;
        browser.find(".rows .row").await;
        browser.is_idle().await;
        listing(browser).await
    }

    async fn is_urgent(&self, number: usize) -> bool {
        let id = self.ids[number].clone();
        let read = self.server.app.act(&self.server.ines, move |tx, cx| {
            let newest = timeline::TimelinePart::Newest;
            Ok(open_conversation::read_conversation(tx, cx, &id, &newest)?.conversation.tags.0)
        });
        read.await.unwrap().iter().any(|tag| tag == "urgent")
    }

    async fn write_to(&self, browser: &Browser, number: usize) {
        let (address, id) = (&self.server.address, &self.ids[number]);
        browser.goto(&format!("{address}/conversations/{id}?write=reply")).await;
        browser.is_idle().await;
    }
}

/// The rows of the list: the id of each conversation and what its row says, but for the time.
async fn listing(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('.rows .pick')].map((pick) => { \
                    const copy = pick.cloneNode(true); \
                    for (const time of copy.querySelectorAll('time')) time.remove(); \
                    const words = copy.textContent.replace(/\\s+/g, ' ').trim(); \
                    return `${pick.querySelector('.tick input').value} ${words}`; })";
    serde_json::from_value(browser.script(script).await).unwrap()
}

async fn lists(browser: &Browser, what: &str, wanted: &[String]) {
    browser.until(what, || async { listing(browser).await == wanted }).await;
}

/// Waits until an act is told that can be undone, and the list shows it.
async fn is_done(browser: &Browser, act: &str, before: &[String]) {
    browser.find(UNDO).await;
    // A toast with the focus stays.
    browser.script(&format!("document.querySelector(\"{UNDO}\")?.focus()")).await;
    browser.until(act, || async { listing(browser).await != before }).await;
}

/// Chooses in a menu that a key opens.
async fn choose(browser: &Browser, key: &str, begins: &str, typed: &str) {
    browser.press(key).await;
    browser.find(begins).await;
    if !typed.is_empty() {
        browser.press(typed).await;
    }
    browser.press(Key::Enter).await;
}

#[tokio::test]
async fn by_keyboard_alone_and_each_undo_is_exact() {
    let server = TestServer::open().await;
    let morning = SixtyMails::arrive(&server).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let before = morning.list(&browser).await;
    assert_eq!(before.len(), LISTED);
    for act in ["e", "a", "s", "t", "p", "!", "#"] {
        morning.list(&browser).await;
        tick(&browser, "Letter 55", 3).await;
        match act {
            "a" => choose(&browser, act, "#bulk-find:focus", "Jonas").await,
            "s" => choose(&browser, act, ".bulk [name=until]:focus", "").await,
            "t" => choose(&browser, act, "#bulk-tag:focus", "urgent").await,
            key => browser.press(key).await,
        }
        match act {
            // Rows do not say their tags.
            "t" => browser.until(act, || async { morning.is_urgent(55).await }).await,
            _ => is_done(&browser, act, &before).await,
        }
        browser.is_idle().await;
        browser.press("z").await;
        browser.until("the undo is over", || async { browser.count(UNDO).await == 0 }).await;
        lists(&browser, &format!("{act} is undone"), &before).await;
        browser.until("the tag is gone", || async { !morning.is_urgent(55).await }).await;
    }
    // A page at a time, until nothing is left; the last page comes back.
    for first in ["Letter 59", "Letter 29"] {
        let page = morning.list(&browser).await;
        tick(&browser, first, LISTED).await;
        browser.press("e").await;
        browser.says(&format!("Closed {LISTED} conversations.")).await;
        browser.until("others follow", || async { listing(&browser).await != page }).await;
    }
    assert_eq!(browser.count(".rows .row").await, 0);
    browser.is_idle().await;
    browser.press("z").await;
    browser
        .until("the last page is back", || async {
            let rows = listing(&browser).await;
            rows.len() == LISTED && rows[0].contains("Letter 29")
        })
        .await;
    browser.close().await;
}

#[tokio::test]
async fn by_touch_on_a_phone_and_each_undo_is_exact() {
    let server = TestServer::open().await;
    let morning = SixtyMails::arrive(&server).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.resize(390, 800).await;
    browser.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await;
    let before = morning.list(&browser).await;
    for across in [-250, 250] {
        swipe_away(&browser, across).await;
        is_done(&browser, "the row is gone", &before).await;
        browser.click(UNDO).await;
        lists(&browser, "the row is back", &before).await;
        browser.is_idle().await;
    }
    for row in ["2", "4"] {
        browser.click(&format!(".rows li:nth-child({row}) .tick input")).await;
    }
    browser.click(".bulk summary[data-row-key=a]").await;
    browser.click(".bulk button[name=assign][value=me]").await;
    is_done(&browser, "two are given to Ines", &before).await;
    browser.click(UNDO).await;
    lists(&browser, "nobody has them", &before).await;
    close_all_and_undo(&browser, &before).await;

    browser.click(".rows li:first-child .row").await;
    browser.click(".answer .btn.primary").await;
    browser.write("#body", "From the bus").await;
    browser.click("[data-send]").await;
    browser.sends_to("Lena 59").await;
    browser.click(".toast.leaves .btn").await;
    browser.says("Stopped, nothing was sent.").await;
    browser.until("the text is back", || async { text_of(&browser).await == "From the bus" }).await;
    browser.close().await;
}

#[tokio::test]
async fn without_scripts_and_each_undo_is_exact() {
    let server = TestServer::open().await;
    let morning = SixtyMails::arrive(&server).await;
    let browser = Browser::open(Kind::WithoutScripts).await;
    browser.sign_in(&server, &server.ines).await;
    let before = listed_without_scripts(&morning, &browser).await;
    for act in ["close", "assign", "until"] {
        for row in ["2", "4"] {
            browser.click(&format!(".rows li:nth-child({row}) .tick input")).await;
        }
        match act {
            "assign" => {
                browser.click(".bulk summary[data-row-key=a]").await;
                browser.click(".bulk button[name=assign][value=me]").await;
            }
            "until" => {
                browser.click(".bulk summary[data-row-key=s]").await;
                browser.write("#bulk-at", "tomorrow 9:00").await;
                browser.click(".bulk [value=until]").await;
            }
            act => browser.click(&format!(".bulk-acts > [value={act}]")).await,
        }
        is_done(&browser, act, &before).await;
        browser.click(UNDO).await;
        lists(&browser, &format!("{act} is undone"), &before).await;
    }
    close_all_and_undo(&browser, &before).await;
    browser.close().await;
}

/// Nothing is ever idle where no script runs.
async fn listed_without_scripts(morning: &SixtyMails<'_>, browser: &Browser) -> Vec<String> {
    let address = &morning.server.address;
    browser.goto(&format!("{address}/inbox?mailbox={}", morning.inbox.id)).await;
    browser.find(".rows .row").await;
    listing(browser).await
}

/// All sixty at once, and back.
async fn close_all_and_undo(browser: &Browser, before: &[String]) {
    browser.click(".rows li:first-child .tick input").await;
    browser.click(".bulk [name=all]").await;
    browser.click(".bulk-acts > [value=close]").await;
    is_done(browser, "all are closed", before).await;
    assert_eq!(browser.count(".rows .row").await, 0);
    assert!(browser.text(".toasts").await.contains(&format!("Closed {MAILS} conversations.")));
    browser.click(UNDO).await;
    lists(browser, "all are back", before).await;
}

/// What stands in the composer, formatted or not.
async fn text_of(browser: &Browser) -> String {
    let (shown, typed) = (browser.text("#body").await, browser.value("#body").await);
    if shown.is_empty() { typed } else { shown }
}

/// The conversations of the list, without what their rows say.
fn ids(listing: &[String]) -> Vec<&str> {
    listing.iter().filter_map(|row| row.split(' ').next()).collect()
}

#[tokio::test]
async fn offline_for_two_minutes_in_the_middle_and_nothing_is_lost() {
    let server = TestServer::open().await;
    let morning = SixtyMails::arrive(&server).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    morning.list(&browser).await;
    tick(&browser, "Letter 59", 10).await;
    browser.press("e").await;
    browser.says("Closed 10 conversations.").await;
    let before = morning.list(&browser).await;

    morning.write_to(&browser, 45).await;
    browser.write("#body", "Written in a tunnel").await;
    go_offline(&browser, true).await;
    server.advance(2 * MINUTE_MS);
    let new = arrive(&server, &morning.inbox, "Tom", "Meanwhile", 2).await;
    send_offline_and_again(&browser, "[data-send]", "#body", "Written in a tunnel").await;
    browser.sends_to("Lena 45").await;
    let kept = ("scheduled".into(), "Written in a tunnel".into());
    assert_eq!(server.latest(&morning.ids[45]).await, kept);
    browser.press("z").await;
    browser.says("Stopped, nothing was sent.").await;
    browser
        .until("the text is back", || async { text_of(&browser).await == "Written in a tunnel" })
        .await;

    // The two that came stand on top, and all others where they were.
    let after = morning.list(&browser).await;
    let (after, before) = (ids(&after), ids(&before));
    assert_eq!(after[..2], [new[1].as_str(), new[0].as_str()]);
    assert_eq!(after[2..], before[..LISTED - 2]);
    browser.close().await;
}

#[tokio::test]
async fn with_the_session_over_while_one_writes_and_nothing_is_lost() {
    let server = TestServer::open().await;
    let morning = SixtyMails::arrive(&server).await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    let before = morning.list(&browser).await;
    morning.write_to(&browser, 45).await;
    browser.write("#body", "Written for long").await;
    browser.driver.delete_all_cookies().await.unwrap();
    browser.click("[data-send]").await;
    browser
        .until("it says why", || async {
            browser.text("[data-unreached]").await.contains("You are signed out.")
        })
        .await;
    assert_eq!(text_of(&browser).await, "Written for long");
    let writing = browser.driver.window().await.unwrap();
    let other = browser.driver.new_tab().await.unwrap();
    browser.driver.switch_to_window(other).await.unwrap();
    browser.sign_in(&server, &server.ines).await;
    browser.driver.switch_to_window(writing).await.unwrap();
    browser.click("[data-send]").await;
    browser.sends_to("Lena 45").await;
    browser.press("z").await;
    browser.says("Stopped, nothing was sent.").await;
    browser
        .until("the text is back", || async { text_of(&browser).await == "Written for long" })
        .await;
    let after = morning.list(&browser).await;
    assert_eq!(ids(&after), ids(&before));
    // Only the row of the text that was stopped may say more than before.
    let mut changed = after.iter().zip(&before).filter(|(now, then)| now != then);
    assert!(changed.all(|(now, _)| now.starts_with(&morning.ids[45])));
    browser.close().await;
}
