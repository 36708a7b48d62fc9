//! A morning of two people at once: sixty mails, from the first key to the report.

mod alone;

use std::ops::Range;

use base::limits::UNDO_LIVE_MS;
use model::mailboxes::Mailbox;
use thirtyfour::prelude::*;

use crate::rules::{add_act, choose};
use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

const INES: &str = "Ines Marti";
const JONAS: &str = "Jonas Feld";

pub const MAILS: usize = 60;
const ADVERTS: usize = 12;
/// Two mails of one customer that belong together.
const SHELF: usize = 2;
const QUESTIONS: usize = 10;
/// What comes after there is a rule for it.
const LADDERS: usize = 3;
/// All the others.
const LETTERS: usize = AT_FIRST - ADVERTS - SHELF - QUESTIONS;

/// How many are open: at first, after the answers have left, after the merge, and without the adverts.
const AT_FIRST: usize = MAILS - LADDERS;
const AFTER_ANSWERS: usize = AT_FIRST - QUESTIONS;
const AFTER_MERGE: usize = AFTER_ANSWERS - 1;
const AFTER_CLOSE: usize = AFTER_MERGE - ADVERTS;

/// Rows on a page of the list.
pub const LISTED: usize = 30;

#[tokio::test]
async fn two_people_work_through_sixty_mails() {
    let server = TestServer::open().await;
    let working = server.keep_working();
    let morning = Morning::begins(&server).await;
    let ines = Browser::signed_in(&server, &server.ines).await;
    let jonas = Browser::signed_in(&server, &server.person("Jonas").await).await;
    triage_by_keyboard(&morning, &ines, &jonas).await;
    ten_answers(&morning, &ines, &jonas).await;
    a_merge(&morning, &ines, &jonas).await;
    a_bulk_close_with_undo(&morning, &ines, &jonas).await;
    a_search_by_operators(&ines).await;
    a_rule_that_assigns(&morning, &ines, &jonas).await;
    a_report_that_shows_it(&morning, &ines).await;
    ines.close().await;
    jonas.close().await;
    drop(working);
}

/// An inbox that has only the mail of this morning, and the ids of its conversations.
struct Morning<'a> {
    server: &'a TestServer,
    inbox: Mailbox,
    adverts: Vec<String>,
    broken: String,
    photos: String,
    questions: Vec<String>,
}

impl Morning<'_> {
    /// The newest mail is on top of the list: the questions, the shelf, the adverts, the letters.
    async fn begins(server: &TestServer) -> Morning<'_> {
        let inbox = server.add_inbox("Workshop").await;
        arrive(server, &inbox, "Lena", "Letter", LETTERS).await;
        let adverts = arrive(server, &inbox, "Vera", "Advert", ADVERTS).await;
        let mut shelf = Vec::new();
        for (subject, text) in
            [("A shelf", "It came in two parts."), ("Photos", "This is how it looks.")]
        {
            server.advance(1_000);
            let mail = server.mail_to(&inbox, "ann@shelf.example Ann Shop", subject, text).await;
            shelf.push(mail.conversation.to_string());
        }
        let questions = arrive(server, &inbox, "Quinn", "Question", QUESTIONS).await;
        let [broken, photos] = <[String; SHELF]>::try_from(shelf).unwrap();
        Morning { server, inbox, adverts, broken, photos, questions }
    }

    /// The address of the list.
    fn list(&self) -> String {
        format!("{}/inbox?mailbox={}", self.server.address, self.inbox.id)
    }

    /// The address of a conversation beside the list.
    fn conversation(&self, id: &str) -> String {
        format!("{}/conversations/{id}?mailbox={}", self.server.address, self.inbox.id)
    }

    /// Everybody looks at the list, which says how many are open.
    async fn open_list(&self, people: &[&Browser], open: usize) {
        for browser in people {
            browser.goto(&self.list()).await;
            counts(browser, open).await;
            stay(browser).await;
        }
    }
}

/// Mails of so many people, a second apart: `Question 00` of `Quinn 00`, and so on.
pub async fn arrive(
    server: &TestServer,
    inbox: &Mailbox,
    name: &str,
    subject: &str,
    number: usize,
) -> Vec<String> {
    let mut ids = Vec::new();
    for n in 0..number {
        server.advance(1_000);
        let from = format!("{}{n:02}@mail.example {name} {n:02}", name.to_lowercase());
        let subject = format!("{subject} {n:02}");
        let mail = server.mail_to(inbox, &from, &subject, "What do you say to this?").await;
        ids.push(mail.conversation.to_string());
    }
    ids
}

/// Ines gives half of the questions to Jonas and takes the others; Jonas watches.
async fn triage_by_keyboard(morning: &Morning<'_>, ines: &Browser, jonas: &Browser) {
    morning.open_list(&[ines, jonas], AT_FIRST).await;
    assert_eq!(rows(ines).await.len(), LISTED);
    give(ines, "Question 09", QUESTIONS / 2, "Jonas").await;
    lists(ines, &["Question", "Assigned to Jonas Feld"], QUESTIONS / 2).await;
    lists(jonas, &["Question", "Assigned to Jonas Feld"], QUESTIONS / 2).await;
    give(ines, "Question 04", QUESTIONS / 2, "Me").await;
    for browser in [ines, jonas] {
        lists(browser, &["Question", "Assigned to Ines Marti"], QUESTIONS / 2).await;
        lists(browser, &["Assigned to"], QUESTIONS).await;
    }
    assert!(stayed(jonas).await);
}

/// Both answer at once. The answers leave, and their conversations the list.
async fn ten_answers(morning: &Morning<'_>, ines: &Browser, jonas: &Browser) {
    tokio::join!(
        answer(morning, ines, INES, 0..QUESTIONS / 2),
        answer(morning, jonas, JONAS, QUESTIONS / 2..QUESTIONS),
    );
    morning.server.advance(UNDO_LIVE_MS + 1_000);
    morning.open_list(&[ines, jonas], AFTER_ANSWERS).await;
    for browser in [ines, jonas] {
        lists(browser, &["Question"], 0).await;
    }
    for id in &morning.questions {
        ines.until("it has left", || async { morning.server.latest(id).await.0 == "sent" }).await;
    }
}

async fn answer(morning: &Morning<'_>, browser: &Browser, name: &str, numbers: Range<usize>) {
    for number in numbers {
        let id = &morning.questions[number];
        browser.goto(&morning.conversation(id)).await;
        tells(browser, &format!("Ines Marti gave this to {name}")).await;
        browser.press("r").await;
        let text = format!("Yes to number {number}");
        browser.write("#body", &text).await;
        browser.press(Key::Control + Key::Enter).await;
        browser.sends_to(&format!("Quinn {number:02}")).await;
        assert_eq!(morning.server.latest(id).await, ("scheduled".into(), text));
    }
}

/// Ines merges what Jonas is reading with another one.
async fn a_merge(morning: &Morning<'_>, ines: &Browser, jonas: &Browser) {
    let merged = "Ines Marti merged the conversation “Photos” into this one";
    jonas.goto(&morning.conversation(&morning.broken)).await;
    tells(jonas, "It came in two parts.").await;
    stay(jonas).await;
    ines.goto(&morning.conversation(&morning.photos)).await;
    tells(ines, "This is how it looks.").await;
    ines.press(Key::Shift + "m").await;
    ines.says("Others with Ann Shop").await;
    ines.click(&format!("button[name=into][value='{}']", morning.broken)).await;
    ines.says("Merged. The old link leads here.").await;
    assert!(ines.path().await.contains(&morning.broken));
    for browser in [ines, jonas] {
        tells(browser, merged).await;
        tells(browser, "This is how it looks.").await;
    }
    assert!(stayed(jonas).await);
    ines.goto(&morning.conversation(&morning.photos)).await;
    assert!(ines.path().await.contains(&morning.broken), "{}", ines.path().await);
}

/// Ines closes the adverts and takes it back; Jonas closes them for good. Each sees the other's act.
async fn a_bulk_close_with_undo(morning: &Morning<'_>, ines: &Browser, jonas: &Browser) {
    morning.open_list(&[ines, jonas], AFTER_MERGE).await;
    close_adverts(ines).await;
    for browser in [ines, jonas] {
        counts(browser, AFTER_CLOSE).await;
        lists(browser, &["Advert"], 0).await;
    }
    ines.press("z").await;
    ines.says("Undone.").await;
    for browser in [ines, jonas] {
        counts(browser, AFTER_MERGE).await;
        lists(browser, &["Advert"], ADVERTS).await;
    }
    assert!(stayed(jonas).await);
    stay(ines).await;
    close_adverts(jonas).await;
    for browser in [jonas, ines] {
        counts(browser, AFTER_CLOSE).await;
        lists(browser, &["Advert"], 0).await;
    }
    assert!(stayed(ines).await);
    jonas.goto(&morning.conversation(&morning.adverts[0])).await;
    tells(jonas, "Ines Marti closed this").await;
    tells(jonas, "Ines Marti opened this again").await;
    tells(jonas, "Jonas Feld closed this").await;
}

async fn close_adverts(browser: &Browser) {
    tick(browser, "Advert 11", ADVERTS).await;
    browser.press("e").await;
    browser.says(&format!("Closed {ADVERTS} conversations.")).await;
}

async fn a_search_by_operators(ines: &Browser) {
    let named = |word: &str, numbers: Range<usize>| {
        numbers.map(|number| format!("{word} {number:02}")).collect::<Vec<_>>()
    };
    ines.press("/").await;
    ines.until("search is open", || async { ines.path().await == "/search" }).await;
    finds(ines, "in:workshop subject:advert is:closed", named("Advert", 0..ADVERTS)).await;
    finds(ines, "in:workshop is:waiting assigned:jonas", named("Question", 5..10)).await;
    finds(ines, "in:workshop is:waiting -assigned:jonas", named("Question", 0..5)).await;
}

/// A search shows these conversations and no others.
async fn finds(browser: &Browser, query: &str, wanted: Vec<String>) {
    browser.write("[name=q]", query).await;
    browser.press(Key::Enter).await;
    let what = format!("{query} finds {wanted:?}");
    browser
        .until(&what, || async {
            let mut found = texts(browser, ".hits > li > h2 a").await;
            found.sort();
            found == wanted
        })
        .await;
}

/// Ines makes a rule, and Jonas sees what it gives him.
async fn a_rule_that_assigns(morning: &Morning<'_>, ines: &Browser, jonas: &Browser) {
    morning.open_list(&[jonas], AFTER_CLOSE).await;
    ines.goto(&format!("{}/settings/rules", morning.server.address)).await;
    ines.write("#name", "Ladders to Jonas").await;
    choose(ines, "[aria-label='Condition 1, what']", "subject").await;
    ines.write("[aria-label='Condition 1, value']", "ladder").await;
    choose(ines, "[aria-label='Act 1, what']", "assign").await;
    ines.write("[aria-label='Act 1, value']", JONAS).await;
    add_act(ines).await;
    choose(ines, "[aria-label='Act 2, what']", "tag").await;
    ines.write("[aria-label='Act 2, value']", "ladders").await;
    ines.click("#edit .btn.primary").await;
    ines.says("Tried on the last").await;
    ines.click(".rules .on form[action$='/switch'] button").await;
    ines.says("Switched on. It acts from the next mail on.").await;

    arrive(morning.server, &morning.inbox, "Lou", "Ladder", LADDERS).await;
    counts(jonas, AFTER_CLOSE + LADDERS).await;
    lists(jonas, &["Ladder", "Assigned to Jonas Feld"], LADDERS).await;
    lists(jonas, &["Assigned to"], LADDERS).await;
    assert!(stayed(jonas).await);
    jonas.press("j").await;
    jonas.press(Key::Enter).await;
    tells(jonas, "The rule “Ladders to Jonas” gave this to Jonas Feld").await;
}

async fn a_report_that_shows_it(morning: &Morning<'_>, ines: &Browser) {
    let page = format!("{}/reports?mailbox={}", morning.server.address, morning.inbox.id);
    ines.until("the report has the last mail and its tag", || async {
        ines.goto(&page).await;
        morning.server.advance(3_000);
        let tags = table(ines, "[aria-labelledby=r-tags] .as-table").await;
        tags == [["ladders", "3", "0"]] && total(ines, "Messages in").await == MAILS.to_string()
    })
    .await;
    assert_eq!(total(ines, "Conversations begun").await, MAILS.to_string());
    assert_eq!(total(ines, "Messages out").await, QUESTIONS.to_string());
    assert_eq!(total(ines, "Open now").await, (AFTER_CLOSE + LADDERS).to_string());
    let people = table(ines, "[aria-labelledby=r-people]").await;
    // Who, sent and closed. What Ines closed and took back is not counted.
    assert_eq!(people, [[INES, "5", "0"], [JONAS, "5", "12"]]);
}

/// A figure of the table of all figures.
async fn total(browser: &Browser, figure: &str) -> String {
    let rows = table(browser, "[aria-labelledby=r-totals]").await;
    let row = rows.into_iter().find(|row| row[0] == figure);
    row.and_then(|row| row.into_iter().nth(1)).unwrap_or_default()
}

async fn table(browser: &Browser, css: &str) -> Vec<Vec<String>> {
    let script = format!(
        "return [...document.querySelectorAll('{css} tbody tr')] \
           .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    );
    serde_json::from_value(browser.script(&script).await).unwrap()
}

/// What elements say, with what is folded and what only screen readers hear.
async fn texts(browser: &Browser, css: &str) -> Vec<String> {
    let script = format!(
        "return [...document.querySelectorAll('{css}')] \
           .map((one) => one.textContent.replace(/\\s+/g, ' ').trim())"
    );
    serde_json::from_value(browser.script(&script).await).unwrap()
}

/// Waits until the timeline of the conversation tells something.
async fn tells(browser: &Browser, words: &str) {
    let told = || async { texts(browser, "#live-timeline").await.concat().contains(words) };
    browser.until(words, told).await;
}

async fn rows(browser: &Browser) -> Vec<String> {
    texts(browser, ".rows .row").await
}

/// Waits until so many rows of the list say all of these words.
async fn lists(browser: &Browser, words: &[&str], number: usize) {
    let what = format!("{number} rows say {words:?}");
    browser
        .until(&what, || async {
            let rows = rows(browser).await;
            let all = rows.iter().filter(|row| words.iter().all(|word| row.contains(word)));
            all.count() == number
        })
        .await;
}

/// Waits until the list says that so many are open.
async fn counts(browser: &Browser, open: usize) {
    let what = format!("{open} are open");
    browser.until(&what, || async { browser.text("#live-count").await == open.to_string() }).await;
}

/// Marks a page, so that one that is loaded again is told from it.
async fn stay(browser: &Browser) {
    browser.script("window.stayed = true").await;
}

async fn stayed(browser: &Browser) -> bool {
    browser.script("return window.stayed === true").await == true
}

/// Ticks rows with keys alone: so many from the one with these words on.
pub async fn tick(browser: &Browser, words: &str, number: usize) {
    let at = rows(browser).await.iter().position(|row| row.contains(words)).unwrap();
    let focused = "return [...document.querySelectorAll('.rows .row')] \
                   .indexOf(document.activeElement)";
    let steps = at as i64 - browser.script(focused).await.as_i64().unwrap();
    let way = if steps < 0 { "k" } else { "j" };
    let keys = way.repeat(steps.unsigned_abs() as usize) + "x" + "jx".repeat(number - 1).as_str();
    browser.press(keys).await;
    let what = format!("{number} selected");
    browser.until(&what, || async { browser.text("[data-selected]").await == what }).await;
}

/// Gives rows to somebody with keys alone. The focus is on the rows again afterwards.
async fn give(browser: &Browser, first: &str, number: usize, typed: &str) {
    tick(browser, first, number).await;
    browser.press("a").await;
    browser.find("#bulk-find:focus").await;
    browser.press(typed).await;
    browser.press(Key::Enter).await;
    browser.find(".rows .row:focus").await;
    browser.says(&format!("Assigned {number} conversations.")).await;
}
