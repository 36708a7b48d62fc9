//! The code of a secure page, as the page tells of it: new ones, and those that work no more.

use base::time::Moment;

use super::pages::csrf;
use crate::support::*;

on_both!(
    a_code_whose_tries_are_over_is_not_said_to_be_valid,
    a_new_code_is_confirmed_with_its_time_and_that_of_the_next,
    the_words_of_a_reply_come_along_to_a_new_code
);

fn clock(at: i64) -> String {
    format!("{} UTC", Moment(at).clock_time())
}

async fn a_code_whose_tries_are_over_is_not_said_to_be_valid(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    ann.press(&browser, "code", &[]).await.goes_to(&ann.path);
    let enter = async || ann.press(&browser, "open", &[("code", "1")]).await.is(401);
    for _ in 0..4 {
        enter().await.shows("valid until").shows("name=\"code\"");
    }
    let last = enter().await;
    for page in [last, browser.get(&ann.path).await, enter().await] {
        page.shows("That code works no more").shows("Ask for a new one: it goes to");
        page.shows("Send a new code").hides("valid until").hides("name=\"code\"");
    }
    // The same when its minutes are over.
    ann.press(&browser, "code", &[("new-code", "1")]).await.is(303);
    let page = browser.get(&ann.path).await.is(200);
    page.shows("valid until").hides("works no more");
    app.advance(10 * MINUTE);
    let fields = [("csrf", &*csrf(&page)), ("code", "1")];
    let late = browser.post_bare(&format!("{}/open", ann.path), &fields).await.is(401);
    late.shows("That code works no more").hides("valid until");
}

async fn a_new_code_is_confirmed_with_its_time_and_that_of_the_next(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    let begun = app.now();
    ann.press(&browser, "code", &[]).await.goes_to(&ann.path);
    browser.get(&ann.path).await.is(200).hides("A new code was sent");
    let said = format!("{}?new-code", ann.path);
    let again = async || ann.press(&browser, "code", &[("new-code", "1")]).await;
    let next = format!("You can ask for another one after {}.", clock(begun + 15 * MINUTE));
    app.advance(MINUTE);
    again().await.goes_to(&format!("{said}#new-code"));
    let page = browser.get(&said).await.is(200);
    page.shows(&format!("A new code was sent at {}", clock(app.now())));
    page.shows("you can ask for another one at once").hides(&next);
    app.advance(MINUTE);
    again().await.goes_to(&format!("{said}#new-code"));
    let page = browser.get(&said).await.is(200);
    page.shows(&format!("A new code was sent at {}", clock(app.now()))).shows(&next);
    let ask_again = format!("ask again after {}", clock(begun + 15 * MINUTE));
    again().await.is(429).shows("Use the newest").shows(&ask_again);
    for _ in 0..5 {
        ann.press(&browser, "open", &[("code", "1")]).await.is(401);
    }
    browser.get(&said).await.is(200).shows("works no more").shows(&next);
    let refused = again().await.is(429);
    refused.hides("Use the newest").shows(&ask_again.replace("ask again", "Ask again"));
}

async fn the_words_of_a_reply_come_along_to_a_new_code(app: TestApp) {
    let ann = app.protected("Hidden words").await;
    let browser = app.browser();
    let asked = ann.press(&browser, "code", &[("text", "Half a letter")]).await.is(200);
    asked.shows("Half a letter").hides("A new code was sent");
    let fields = [("new-code", "1"), ("text", "Half a letter")];
    let again = ann.press(&browser, "code", &fields).await.is(200);
    again.shows("Half a letter").shows("A new code was sent at");
}
