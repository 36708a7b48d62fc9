//! axe-core finds nothing to complain of, in light and dark, with every fold and menu open.

use serde_json::Value;

use crate::support::browser::{Browser, pages};
use crate::support::test_server::TestServer;

const VARIABLE: &str = "MAILROOM_TEST_AXE";

pub fn axe() -> String {
    let path = std::env::var(VARIABLE)
        .unwrap_or_else(|_| panic!("{VARIABLE} is not set; run the tests with scripts/test"));
    std::fs::read_to_string(path).unwrap()
}

pub async fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    violations_of(browser, axe, "{}").await
}

/// Of the only rule that colours can break: everything else is the same in light and dark.
async fn contrast_violations(browser: &Browser, axe: &str) -> Vec<String> {
    violations_of(browser, axe, "{ runOnly: ['color-contrast'] }").await
}

async fn violations_of(browser: &Browser, axe: &str, options: &str) -> Vec<String> {
    let script = format!(
        "const done = arguments[0]; {axe}; \
         axe.run(document, {{ resultTypes: ['violations'], ...{options} }}) \
         .then((found) => done(found.violations))"
    );
    let found = browser.driver.execute_async(script, Vec::new()).await.unwrap();
    let found = found.json().as_array().unwrap().clone();
    let told = |violation: &Value| {
        let targets: Vec<String> = violation["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .take(3)
            .map(|node| format!("{} {}", node["target"], node["any"][0]["message"]))
            .collect();
        format!("{}: {}", violation["id"], targets.join("; "))
    };
    found.iter().map(told).collect()
}

#[tokio::test]
async fn every_page_is_sound_for_assistive_technology_in_the_light() {
    every_page_is_sound(false).await;
}

#[tokio::test]
async fn every_page_is_sound_for_assistive_technology_in_the_dark() {
    every_page_is_sound(true).await;
}

/// Public pages of the sample.
const HELP_PAGES: [&str; 5] = [
    "/help",
    "/help/de",
    "/help/en/a-part-is-missing-or-broken",
    "/help/en/sections/lamps-and-wood",
    "/help/search?q=lamp",
];

async fn every_page_is_sound(dark: bool) {
    let server = TestServer::open().await;
    let axe = axe();
    let browser = Browser::signed_in(&server, &server.ines).await;
    let mut pages = pages(&server, &browser).await;
    pages.push("/nowhere".into());
    pages.extend(HELP_PAGES.map(str::to_owned));
    let mut wrong = Vec::new();
    browser.dark(dark).await;
    for page in &pages {
        browser.goto(&format!("{}{page}", server.address)).await;
        browser
            .script(
                "document.querySelectorAll('details:not(.menu)').forEach((one) => one.open = true)",
            )
            .await;
        let found = match dark {
            false => violations(&browser, &axe).await,
            true => contrast_violations(&browser, &axe).await,
        };
        for violation in found {
            wrong.push(format!("{page}: {violation}"));
        }
    }
    browser.driver.delete_all_cookies().await.unwrap();
    browser.goto(&format!("{}/sign-in", server.address)).await;
    wrong.extend(violations(&browser, &axe).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    browser.close().await;
}
