//! The app without script.

use crate::house::House;
use crate::window::{Kind, Window};

#[tokio::test]
async fn without_scripts_one_reads_answers_stops_and_approves() {
    let house = House::open().await;
    let window = Window::open(Kind::WithoutScripts).await;
    window.sign_in(&house, &house.ines).await;
    let received =
        house.mail("ann@shop.example Ann Shop", "Two lamps", "Where are they?", None).await;
    let id = received.conversation.to_string();
    window.goto(&format!("{}/inbox?view=open", house.address)).await;
    window.click(".rows li:first-child .row").await;
    window.says("Where are they?").await;
    window.click(".answer .btn.primary").await;
    window.write("#body", "They left on Tuesday.").await;
    window.click("[data-send]").await;
    window.says("Your message to Ann Shop leaves at").await;
    window.click(".undo .btn").await;
    window.says("Stopped. It is a draft again, nothing was sent.").await;
    assert_eq!(house.latest(&id).await.0, "draft");
    window.click(".letter.draft .acts a").await;
    window.write("#draft", "They left on Wednesday.").await;
    window.click("[data-send]").await;
    window.says("Your message to Ann Shop leaves at").await;
    assert_eq!(house.latest(&id).await, ("scheduled".into(), "They left on Wednesday.".into()));
    window.goto(&format!("{}/conversations/{id}", house.address)).await;
    window.click(".convo-facts details:nth-of-type(2) summary").await;
    window.click("button[value=me]").await;
    window.says("gave this to Ines Marti").await;
    window.close().await;
}
