//! A file that fails fails alone.

use super::*;

on_both!(files_that_cannot_be_handed_over_or_swept_hold_up_no_other);

async fn files_that_cannot_be_handed_over_or_swept_hold_up_no_other(app: TestApp) {
    let key = app.key("read send").await;
    let mut uploads = Vec::new();
    for from in ["mara@customer.example", "nils@customer.example"] {
        let mail = app.mail(from, "Papers", "Hello").await;
        let documents = json!([{ "label": "Passport" }]);
        let customer = app.ask_in(&key, mail.conversation.as_str(), documents).await;
        app.pass(UNDO).await;
        let kept =
            customer.add(0, "passport.pdf", &model::documents::pdf::sheet("P", &["x"])).await;
        let left = customer.begin(0, "left.pdf", 1_000).await.is(201).json();
        uploads.push([text_of(&kept, "id"), text_of(&left, "id")]);
    }
    // A folder where a file should be can neither be read nor removed as one.
    let arriving = app.blob_folder().join("arriving");
    for id in &uploads[0] {
        let place = arriving.join(id);
        let _ = std::fs::remove_file(&place);
        std::fs::create_dir(&place).unwrap();
    }
    app.advance(HOUR);
    app.work().await;
    assert_eq!(app.get(&key, "/documents").await.json().as_array().unwrap().len(), 1);
    app.is_put_off_and_given_up("handing over").await;
    app.pass(2 * DAY).await;
    assert_eq!(app.failure("uploads").await.attempts, 6);
    assert_eq!(app.count("uploads WHERE due_at IS NOT NULL").await, 0);
}
