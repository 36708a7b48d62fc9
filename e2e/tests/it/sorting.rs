//! The sorting helper in a browser: topics, decisions, what comes of them, and forgetting.

use api::operations::SetSortingInput;
use api::operations::set_sorting;

use crate::support::browser::Browser;
use crate::support::test_server::TestServer;

#[tokio::test]
async fn topics_are_made_decided_on_learned_and_forgotten() {
    let server = TestServer::open().await;
    let working = server.keep_working();
    let browser = Browser::signed_in(&server, &server.ines).await;
    browser.goto(&format!("{}/settings/helpers", server.address)).await;
    browser.write("#name", "Lost parts").await;
    browser.write("#words", "screw, missing part, instructions").await;
    browser.click("#edit .btn.primary").await;
    browser.says("Saved. New conversations are sorted by it.").await;

    let first = server.mail("ann@shop.example Ann Shop", "Shelf", "A screw is missing", None).await;
    let open = |id: &str| format!("{}/conversations/{id}", server.address);
    browser.goto(&open(first.conversation.as_str())).await;
    browser.says("Looks like Lost parts.").await;
    browser.press("y").await;
    browser.says("sorted this: Lost parts").await;

    let text = "Another screw is missing, and the instructions too";
    let second = server.mail("bo@shop.example Bo Shop", "Table", text, None).await;
    browser.goto(&open(second.conversation.as_str())).await;
    browser.says("Like one mail that was sorted so.").await;
    browser.press("x").await;
    browser.says("sorted this: no topic").await;

    browser.goto(&format!("{}/inbox?view=open&topic=Lost+parts", server.address)).await;
    browser.says("Shelf").await;
    assert_eq!(browser.count(".rows > li").await, 1);

    browser.goto(&format!("{}/settings/helpers", server.address)).await;
    browser.click(".fold summary").await;
    browser.click("form[action$='/forget'] button").await;
    browser.says("0 decisions about topics").await;
    browser.close().await;
    drop(working);
}

const LOST: [&str; 5] = [
    "A screw is missing from the box",
    "The instructions are missing",
    "There was no screw for the third leg",
    "I cannot find the last part in the box",
    "Please send me the missing part",
];
const COLOURS: [&str; 5] = [
    "Is there a green one as well?",
    "I would like to have it in blue",
    "The colour is not the one on the picture",
    "Which colours are there of this chair?",
    "Can it be painted in another colour?",
];
const NEITHER: [&str; 5] = [
    "Happy new year to all of you",
    "We would like to present our software",
    "I am away until Monday",
    "Do you know a good dentist in town?",
    "My application as a gardener",
];

#[tokio::test]
async fn a_sure_topic_is_set_with_its_reasons_and_can_be_corrected() {
    let server = TestServer::open().await;
    let browser = Browser::signed_in(&server, &server.ines).await;
    for name in ["Lost parts", "Colours of things"] {
        browser.goto(&format!("{}/settings/helpers", server.address)).await;
        browser.write("#name", name).await;
        browser.click("#edit .btn.primary").await;
        browser.says("Saved. New conversations are sorted by it.").await;
    }
    for round in 0..4 {
        let sets =
            [(LOST, Some("Lost parts")), (COLOURS, Some("Colours of things")), (NEITHER, None)];
        for (set, (sentences, topic)) in sets.into_iter().enumerate() {
            for (at, sentence) in sentences.iter().enumerate() {
                let from = format!("c{round}-{set}-{at}@shop.example Cy");
                let text = format!("Hello {round}, {sentence} Thanks, Ann{round}");
                let mail = server.mail(&from, "Hello", &text, None).await;
                decide(&server, mail.conversation.to_string(), topic).await;
            }
        }
    }
    let working = server.keep_working();
    let text = "Hello, please send me the missing screw, it is not in the box";
    let mail = server.mail("new@shop.example Nora New", "Hello", text, None).await;
    browser.goto(&format!("{}/conversations/{}", server.address, mail.conversation)).await;
    browser.says("Sorted as Lost parts.").await;
    browser.says("Because of “").await;
    browser.says("sorted this: Lost parts").await;
    browser.press("x").await;
    browser.says("sorted this: no topic").await;
    browser.goto(&format!("{}/settings/helpers", server.address)).await;
    browser.says(" given, 1 corrected").await;
    browser.close().await;
    drop(working);
}

async fn decide(server: &TestServer, id: String, topic: Option<&'static str>) {
    let decided = server.app.act(&server.ines, move |tx, cx| {
        let topic = Some(topic.map(str::to_owned));
        let input = SetSortingInput { id: id.clone(), topic, urgency: None };
        set_sorting(tx, cx, input).map(drop)
    });
    decided.await.unwrap();
}
