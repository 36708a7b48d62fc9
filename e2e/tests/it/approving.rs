//! Approving drafts in a browser.

use crate::house::House;
use crate::window::Window;

#[tokio::test]
async fn an_agents_draft_is_approved_with_an_edit() {
    let house = House::open().await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let draft = house.draft(&id, "They left on Monday. Kind regards, Robo").await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/approvals/{draft}", house.address)).await;
    window.says("Answers the question").await;
    window.says("Where are they?").await;
    assert!(window.text(".decide [data-send]").await.starts_with("Approve"));
    window.write("#draft", "They left on Tuesday. Kind regards, Ines").await;
    window
        .until("the change is shown", || async {
            window.text("#changes del").await == "Monday."
                && window.count("#changes ins").await == 2
        })
        .await;
    window.says("You changed 2 places against Robo's draft").await;
    assert!(window.text(".decide [data-send]").await.starts_with("Approve with changes"));
    window.click("[data-send]").await;
    window.says("Your message to Ann Shop leaves at").await;
    let sent = house.latest(&id).await;
    assert_eq!(sent, ("scheduled".into(), "They left on Tuesday. Kind regards, Ines".into()));
    window.close().await;
}

#[tokio::test]
async fn when_the_customer_writes_meanwhile_the_page_says_so_and_asks_again() {
    let house = House::open().await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    let draft = house.draft(&id, "They left on Monday.").await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/approvals/{draft}", house.address)).await;
    window.find("[data-send]").await;
    house.advance(1_000);
    house
        .mail("ann@shop.example Ann Shop", "Re: Two lamps", "Never mind, they are here.", None)
        .await;
    window.says("There is a newer message in this conversation.").await;
    window.click("[data-send]").await;
    window.says("after this draft was made").await;
    window.says("Never mind, they are here.").await;
    assert_eq!(house.latest(&id).await.0, "draft");
    assert!(window.text("[data-send]").await.starts_with("Approve anyway"));
    window.click("[data-send]").await;
    window.says("Your message to Ann Shop leaves at").await;
    assert_eq!(house.latest(&id).await.0, "scheduled");
    window.close().await;
}

#[tokio::test]
async fn a_draft_is_discarded_with_a_reason() {
    let house = House::open().await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let draft = house.draft(received.conversation.as_str(), "No idea.").await;
    let window = Window::signed_in(&house, &house.ines).await;
    window.goto(&format!("{}/approvals/{draft}", house.address)).await;
    window.click("#discarding summary").await;
    window.write("#reason", "Too curt").await;
    window.click("#discarding .btn.danger[formaction]").await;
    window.says("Discarded. The customer never saw it.").await;
    window.goto(&format!("{}/conversations/{}", house.address, received.conversation)).await;
    window.says("discarded the draft: Too curt").await;
    window.close().await;
}
