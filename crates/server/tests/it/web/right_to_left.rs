//! Customers' pages in a language that is written from right to left.

use actions::workspace::customer_page::set_customer_page;
use bookings::types::BookingTypeInput;
use customers::CustomerPageMode;
use serde_json::json;

use super::contact_forms::contact_form;
use super::customer_languages::get_in;
use crate::support::*;

on_both!(
    an_arabic_customer_reads_pages_from_right_to_left,
    an_arabic_upload_page_isolates_what_others_wrote_and_counts_in_arabic,
    the_app_itself_stays_from_left_to_right
);

const ARABIC: &str = "ar-EG,ar;q=0.9,en;q=0.5";
const HTML: &str = "<html lang=\"ar\" dir=\"rtl\">";

/// The path of the upload page in the newest mail to a customer.
async fn upload_path(app: &TestApp, labels: &[&str]) -> String {
    let key = app.key("read send").await;
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamps", "Hello").await;
    let documents: Vec<_> = labels.iter().map(|label| json!({ "label": label })).collect();
    let asks = json!({ "documents": documents, "send": true });
    app.on(&key, &mail.conversation, "document-requests", asks).await.is(201);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    let text = text_of(messages.last().unwrap(), "text");
    let (_, token) = text.split_once("/u/").expect("a link");
    format!("/u/{}", token.split_whitespace().next().unwrap())
}

async fn an_arabic_customer_reads_pages_from_right_to_left(app: TestApp) {
    contact_form(&app).await;
    app.act(&app.owner, |tx, cx| set_customer_page(tx, cx, CustomerPageMode::On)).await;
    let person = user(&app.owner);
    app.act(&app.owner, move |tx, cx| {
        actions::bookings::set_hours(tx, cx, &person, "Europe/Berlin", "mon-fri 09:00-17:00")?;
        let input = BookingTypeInput {
            name: "Call".into(),
            slug: "call".into(),
            minutes: 30,
            step: Some(30),
            hosts: vec![person.clone()],
            ..BookingTypeInput::default()
        };
        actions::bookings::add_booking_type(tx, cx, &input)
    })
    .await;
    let upload = upload_path(&app, &["Passport"]).await;
    let stop = format!("{upload}/stop");
    let customer = app.browser();
    for (path, status, words) in [
        (upload.as_str(), 200, "مستند واحد مطلوب من"),
        (stop.as_str(), 200, "العودة إلى المستندات"),
        ("/u/nowhere", 404, "هذا الرابط لا يؤدي إلى شيء"),
        ("/f/contact", 200, "رسالتكم"),
        ("/f/contact/embed", 200, "رسالتكم"),
        ("/b/acme", 200, "ماذا تريدون أن تحجزوا؟"),
        ("/b/acme/call", 200, "30 دقيقة"),
        ("/me/acme", 200, "محادثاتكم"),
    ] {
        get_in(&customer, path, ARABIC).await.is(status).shows(HTML).shows(words);
    }
    let page = get_in(&customer, "/f/contact", ARABIC).await;
    let field = page.between("name=\"email\"", ">");
    assert!(field.contains("dir=\"ltr\""), "an address is typed from left to right: {field}");
    get_in(&customer, "/f/contact", "de").await.is(200).shows("<html lang=\"de\" dir=\"ltr\">");
}

async fn an_arabic_upload_page_isolates_what_others_wrote_and_counts_in_arabic(app: TestApp) {
    let path = upload_path(&app, &["Passport (2)", "Bill"]).await;
    let page = get_in(&app.browser(), &path, ARABIC).await.is(200);
    page.shows("<bdi>Passport (2)</bdi>").shows("المستندات المطلوبة من Acme: اثنان");
    page.shows("صفحة خاصة لـ \u{2068}Ann Shopper\u{2069}").hides("Private page");
    page.shows("\u{2068}25\u{2069} ميغابايت");
    let english = get_in(&app.browser(), &path, "en").await.is(200);
    english.shows("Private page for Ann Shopper").hides("\u{2068}");
}

async fn the_app_itself_stays_from_left_to_right(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    get_in(&browser, "/inbox", ARABIC)
        .await
        .is(200)
        .shows("<html lang=\"en\">")
        .hides("dir=\"rtl\"");
    get_in(&app.browser(), "/sign-in", ARABIC).await.is(200).shows("<html lang=\"en\">");
    browser.get("/settings/you").await.is(200).shows("Deutsch").hides("العربية");
}
