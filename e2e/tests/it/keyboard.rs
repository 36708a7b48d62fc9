//! The app by keyboard alone.

use thirtyfour::prelude::*;

use crate::house::House;
use crate::window::Window;

#[tokio::test]
async fn a_letter_is_found_answered_and_stopped_with_keys_alone() {
    let house = House::open().await;
    let window = Window::signed_in(&house, &house.ines).await;
    house.mail("ann@shop.example Ann Shop", "First letter", "One", None).await;
    house.advance(1_000);
    let received = house.mail("bo@shop.example Bo Shop", "Second letter", "Two", None).await;
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    window.find(".row").await;
    window.press("jj").await;
    let chosen = window.driver.active_element().await.unwrap().text().await.unwrap();
    assert!(chosen.contains("First letter"), "{chosen}");
    window.press("k").await;
    window.press(Key::Enter).await;
    window
        .until("it is open", || async { window.path().await.starts_with("/conversations/") })
        .await;
    assert!(window.path().await.contains(received.conversation.as_str()));
    window.press("r").await;
    window.find("#body").await;
    window.press("Typed with care").await;
    window.press(Key::Control + Key::Enter).await;
    window.says("Your message to Bo Shop leaves at").await;
    assert_eq!(house.latest(received.conversation.as_str()).await.0, "scheduled");
    window.press("z").await;
    window.says("Stopped. It is a draft again").await;
    assert_eq!(house.latest(received.conversation.as_str()).await.0, "draft");

    window.press("m").await;
    window.says("gave this to Ines Marti").await;
    window.press("t").await;
    window.press("urgent").await;
    window.press(Key::Enter).await;
    window.says("added the tag urgent").await;
    window.press("e").await;
    window.says("Closed.").await;
    window.press("?").await;
    window.says("Next, previous conversation").await;
    window.press("/").await;
    window.until("search is open", || async { window.path().await == "/search" }).await;
    window.press("ga").await;
    assert_eq!(window.path().await, "/search", "keys are letters while somebody types");
    window.press(Key::Escape).await;
    window.press("ga").await;
    window.until("to approve", || async { window.path().await == "/approvals" }).await;
    window.close().await;
}
