//! axe-core finds nothing to complain of, in light and dark, with every fold and menu open.

use serde_json::Value;

use crate::house::House;
use crate::window::{Window, pages};

const VARIABLE: &str = "MAILROOM_TEST_AXE";

pub fn axe() -> String {
    let path = std::env::var(VARIABLE)
        .unwrap_or_else(|_| panic!("{VARIABLE} is not set; run the tests with scripts/test"));
    std::fs::read_to_string(path).unwrap()
}

pub async fn violations(window: &Window, axe: &str) -> Vec<String> {
    let script = format!(
        "const done = arguments[0]; {axe}; \
         axe.run(document, {{ resultTypes: ['violations'] }}).then((found) => done(found.violations))"
    );
    let found = window.driver.execute_async(script, Vec::new()).await.unwrap();
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
async fn every_page_is_sound_for_assistive_technology() {
    let house = House::open().await;
    let axe = axe();
    let window = Window::signed_in(&house, &house.ines).await;
    let mut pages = pages(&house, &window).await;
    pages.push("/nowhere".into());
    let mut wrong = Vec::new();
    for dark in [false, true] {
        window.dark(dark).await;
        for page in &pages {
            window.goto(&format!("{}{page}", house.address)).await;
            window.script("document.querySelectorAll('details:not(.menu)').forEach((one) => one.open = true)").await;
            for violation in violations(&window, &axe).await {
                wrong.push(format!("{page} {}: {violation}", if dark { "dark" } else { "light" }));
            }
        }
    }
    window.driver.delete_all_cookies().await.unwrap();
    window.goto(&format!("{}/sign-in", house.address)).await;
    wrong.extend(violations(&window, &axe).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    window.close().await;
}
