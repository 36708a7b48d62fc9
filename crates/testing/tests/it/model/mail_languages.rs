//! The lines that Mailroom adds to mail: in the language of whoever gets it, as far as it is known.

use inbound::incoming_mail::FiledMail;
use mail::{Envelope, ParsedMail};
use serde_json::{Value, json};
use testing::*;

use super::bookings::{MONDAY, body, bookable};
use super::secure::{ask as ask_for_code, token};

on_both!(
    a_document_request_and_its_reminder_are_in_the_customers_language,
    a_french_customer_is_asked_for_documents_in_french,
    an_arabic_customer_is_asked_in_arabic_and_the_mail_runs_from_right_to_left,
    a_mail_in_a_language_without_a_catalogue_runs_as_it_is_written,
    the_link_to_a_protected_message_comes_in_the_customers_language,
    the_code_of_a_protected_page_comes_in_the_customers_language_subject_and_all,
    what_a_reply_quotes_is_announced_in_the_customers_language_and_folded_when_it_is_read,
    offered_times_stand_under_a_reply_in_the_customers_language,
    a_booking_is_confirmed_to_guest_and_host_in_their_own_languages,
    a_first_mail_follows_what_the_customer_wrote_before,
    where_the_language_is_not_known_or_not_spoken_it_is_english
);

const GERMAN: &str = "Guten Tag, ich habe die Lampe am Montag bestellt und sie ist noch nicht bei uns \
    angekommen. Können Sie mir bitte sagen, wann sie geliefert wird? Vielen Dank und freundliche Grüße";
const FRENCH: &str = "Bonjour, je n'ai pas encore reçu la lampe que j'ai commandée lundi dernier. \
    Pouvez-vous me dire quand elle sera livrée ? Merci beaucoup et bonne journée";
const ARABIC: &str = "مرحبًا، طلبت المصباح يوم الاثنين الماضي ولم يصل إلينا حتى الآن. هل يمكنكم إخباري متى سيتم \
    تسليمه من فضلكم؟ شكرًا جزيلًا لكم مع أطيب التحيات";
const PERSIAN: &str = "سلام، من هنوز چراغی را که دوشنبه گذشته سفارش داده بودم دریافت نکرده‌ام. لطفاً می‌توانید به من بگویید چه \
    زمانی تحویل داده می‌شود؟ از کمک شما بسیار سپاسگزارم";
const FINNISH: &str = "Hei, en ole vielä saanut lamppua, jonka tilasin viime maanantaina. Voitteko kertoa, milloin \
    se toimitetaan? Paljon kiitoksia ja hyvää päivänjatkoa";

/// A mail of Ann's whose language has been found.
async fn written(app: &TestApp, key: &TestKey, text: &str, language: &str) -> FiledMail {
    let mail = app.mail("ann@shop.example Ann Shopper", "Lamp", text).await;
    app.pass(5 * SECOND).await;
    assert_eq!(app.read(key, &mail.conversation).await["language"], language);
    mail
}

/// The mails to an address that left, soft line breaks undone.
fn mails_to(app: &TestApp, email: &str) -> Vec<String> {
    let sent = app.outside.relay.attempts();
    let own = sent.iter().filter(|mail| mail.recipients == [email]);
    own.map(|mail| String::from_utf8_lossy(&mail.bytes).replace("=\r\n", "")).collect()
}

async fn ask(app: &TestApp, key: &TestKey, mail: &FiledMail) -> String {
    let asks = json!({
        "documents": [{ "label": "Ausweis" }, { "label": "Vertrag", "required": false }],
        "dueDate": "2026-11-30",
        "send": true,
    });
    let asked = app.on(key, &mail.conversation, "document-requests", asks).await.is(201).json();
    let messages = app.timeline(key, &mail.conversation, "message").await;
    let is_asked = |message: &&Value| message["id"] == asked["messageId"];
    text_of(messages.iter().find(is_asked).unwrap(), "text")
}

async fn a_document_request_and_its_reminder_are_in_the_customers_language(app: TestApp) {
    let key = app.key("read send").await;
    let mail = written(&app, &key, GERMAN, "de").await;
    let text = ask(&app, &key, &mail).await;
    let mut rest = text.as_str();
    for part in [
        "Guten Tag Ann Shopper,\n\num weiterzumachen",
        "Das brauchen wir von Ihnen:\n- Ausweis\n- Vertrag (wenn vorhanden)\n",
        "Bitte senden Sie es bis 30. November 2026.",
        "Laden Sie es auf dieser privaten Seite hoch: https://mail.acme.example/u/",
    ] {
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part} in {text}")).1;
    }
    app.pass(UNDO).await;
    app.pass(2 * DAY).await;
    let sent = mails_to(&app, "ann@shop.example");
    let reminder = sent.last().unwrap();
    for part in ["uns fehlt noch von Ihnen:", "- Ausweis", "Keine weiteren Erinnerungen: https"] {
        assert!(reminder.contains(part), "{part} in {reminder}");
    }
}

async fn a_french_customer_is_asked_for_documents_in_french(app: TestApp) {
    let key = app.key("read send").await;
    let mail = written(&app, &key, FRENCH, "fr").await;
    let text = ask(&app, &key, &mail).await;
    for part in [
        "Bonjour Ann Shopper,\n\npour continuer, nous avons besoin",
        "Ce qu’il nous faut de votre part\u{a0}:\n- Ausweis\n- Vertrag (souhaité)\n",
        "Veuillez l’envoyer avant le 30 novembre 2026.",
        "https://mail.acme.example/u/",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

async fn an_arabic_customer_is_asked_in_arabic_and_the_mail_runs_from_right_to_left(app: TestApp) {
    let key = app.key("read send").await;
    let mail = written(&app, &key, ARABIC, "ar").await;
    let text = ask(&app, &key, &mail).await;
    for part in [
        "مرحبًا Ann Shopper،\n\nللمتابعة نحتاج منكم",
        "ما نحتاج إليه منكم:\n- Ausweis\n- Vertrag (يُستحسن إرفاقه)\n",
        "يرجى إرسالها حتى 30 نوفمبر 2026.",
        "https://mail.acme.example/u/",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    app.pass(UNDO).await;
    let html = newest(&app).html.expect("HTML");
    assert!(html.contains("<html lang=\"ar\" dir=\"rtl\">"), "{html}");
    assert!(html.contains("<p dir=\"auto\">ما نحتاج إليه منكم:</p>"), "{html}");
}

async fn a_mail_in_a_language_without_a_catalogue_runs_as_it_is_written(app: TestApp) {
    let key = app.key("read send").await;
    let mail = written(&app, &key, PERSIAN, "fa").await;
    let text = ask(&app, &key, &mail).await;
    assert!(text.contains("What we need from you:\n- Ausweis"), "{text}");
    app.pass(UNDO).await;
    let html = newest(&app).html.expect("HTML");
    assert!(html.contains("<html lang=\"fa\" dir=\"rtl\">"), "{html}");
    assert!(html.contains("<p dir=\"auto\">What we need from you:</p>"), "{html}");
}

async fn the_link_to_a_protected_message_comes_in_the_customers_language(app: TestApp) {
    let key = app.key("read send").await;
    let mail = written(&app, &key, GERMAN, "de").await;
    let reply = json!({ "body": "Sie kommt am Freitag.", "secure": true, "send": true });
    app.on(&key, &mail.conversation, "replies", reply).await.is(201);
    app.pass(UNDO).await;
    let sent = mails_to(&app, "ann@shop.example");
    assert!(sent[0].contains("Robo von Acme hat Ihnen geschrieben."), "{}", sent[0]);
    assert!(sent[0].contains("Lesen und beantworten Sie sie hier:"), "{}", sent[0]);
}

/// The newest mail that left.
fn newest(app: &TestApp) -> ParsedMail {
    let sent = app.outside.relay.attempts().pop().expect("a mail");
    mail::parse(&sent.bytes, Envelope::default())
}

async fn the_code_of_a_protected_page_comes_in_the_customers_language_subject_and_all(
    app: TestApp,
) {
    let key = app.key("read send").await;
    let mail = written(&app, &key, GERMAN, "de").await;
    let reply = json!({ "body": "Sie kommt am Freitag.", "secure": true, "send": true });
    app.on(&key, &mail.conversation, "replies", reply).await.is(201);
    app.pass(UNDO).await;
    ask_for_code(&app, &token(&app), "a browser").await;
    let mail = newest(&app);
    assert_eq!(mail.subject, "Ihr Code für Acme");
    assert!(mail.original.starts_with("Ihr Code: "), "{}", mail.original);
}

async fn what_a_reply_quotes_is_announced_in_the_customers_language_and_folded_when_it_is_read(
    app: TestApp,
) {
    let key = app.key("read send").await;
    for (text, language, before, behind) in [
        (GERMAN, "de", "Am So, 15. Nov. 2026 um ", " UTC schrieb Ann Shopper <ann@shop.example>:"),
        (FRENCH, "fr", "Le dim. 15 nov. 2026 à ", " UTC, Ann Shopper <ann@shop.example> a écrit :"),
        (
            ARABIC,
            "ar",
            "في الأحد، 15 نوفمبر 2026 الساعة ",
            " UTC، كتب Ann Shopper <ann@shop.example>:",
        ),
        (FINNISH, "fi", "On Sun, 15 Nov 2026 at ", " UTC, Ann Shopper <ann@shop.example> wrote:"),
    ] {
        let subject = format!("Lamp {language}");
        let mail = app.mail("ann@shop.example Ann Shopper", &subject, text).await;
        app.pass(5 * SECOND).await;
        assert_eq!(app.read(&key, &mail.conversation).await["language"], language);
        app.schedule(&key, &mail.conversation, "It comes on Friday.").await;
        app.pass(UNDO).await;
        let sent = newest(&app);
        let quoted = sent.original.lines().find(|line| line.starts_with(before));
        let quoted = quoted.unwrap_or_else(|| panic!("{before} in {}", sent.original));
        assert!(quoted.ends_with(behind), "{quoted}");
        assert_eq!(sent.text, "It comes on Friday.", "the quotation is folded");
    }
}

async fn offered_times_stand_under_a_reply_in_the_customers_language(app: TestApp) {
    let key = app.key("read send").await;
    let kind = bookable(&app, "call", 30, &[&app.owner]).await;
    let mail = written(&app, &key, GERMAN, "de").await;
    let reply = json!({
        "body": "Gerne.", "send": true, "booking": { "typeId": kind, "times": [MONDAY] },
    });
    app.on(&key, &mail.conversation, "replies", reply).await.is(201);
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    let text = text_of(messages.last().unwrap(), "text");
    assert!(text.contains("- Montag, 16. November 2026, 10:00: https://"), "{text}");
    assert!(text.contains("\nOder eine andere: https://"), "{text}");
}

async fn a_booking_is_confirmed_to_guest_and_host_in_their_own_languages(app: TestApp) {
    let key = app.key("read send").await;
    let bo = app.person("Bo").await;
    app.exec(&format!("UPDATE users SET language = 'de' WHERE id = '{}'", user(&bo))).await;
    let mail = written(&app, &key, GERMAN, "de").await;
    for (slug, host, email, subject) in [
        ("call", &app.owner, "owner@acme.example", "Subject: Booked: First talk, Mon 16 Nov"),
        ("visit", &bo, "bo@acme.example", "Subject: Gebucht: First talk, Mo, 16. Nov"),
    ] {
        let kind = bookable(&app, slug, 30, &[host]).await;
        let before = mails_to(&app, "ann@shop.example").len();
        let mut asked = body(&kind, MONDAY, "ann@shop.example");
        asked["conversationId"] = json!(mail.conversation);
        app.post(&key, "/bookings", asked).await.is(201);
        app.work().await;
        let to_guest = mails_to(&app, "ann@shop.example");
        assert_eq!(to_guest.len(), before + 1);
        let confirmed = to_guest.last().unwrap();
        for part in ["Subject: Gebucht: First talk", "Ihr Termin ist gebucht.", "10:00 bis 10:30"] {
            assert!(confirmed.contains(part), "{part} in {confirmed}");
        }
        let to_host = mails_to(&app, email);
        let told = to_host.last().unwrap_or_else(|| panic!("nothing to {email}"));
        assert!(told.contains(subject), "{subject} in {told}");
    }
}

async fn a_first_mail_follows_what_the_customer_wrote_before(app: TestApp) {
    let key = app.key("read send").await;
    written(&app, &key, GERMAN, "de").await;
    let first = json!({
        "mailbox": app.support.id.to_string(),
        "to": ["ann@shop.example"],
        "subject": "Ihr Vertrag",
        "body": "Bitte senden Sie uns noch etwas.",
        "send": true,
    });
    let started = app.post(&key, "/conversations", first).await.is(201).json();
    let asks = json!({ "documents": [{ "label": "Ausweis" }], "send": true });
    let id = text_of(&started, "conversationId");
    app.on(&key, &id, "document-requests", asks).await.is(201);
    let messages = app.timeline(&key, &id, "message").await;
    let text = text_of(messages.last().unwrap(), "text");
    assert!(text.contains("Das brauchen wir von Ihnen:"), "{text}");
}

async fn where_the_language_is_not_known_or_not_spoken_it_is_english(app: TestApp) {
    let key = app.key("read send").await;
    let unknown = app.mail("bo@shop.example Bo", "Chair", "x").await;
    for mail in [unknown, written(&app, &key, FINNISH, "fi").await] {
        let text = ask(&app, &key, &mail).await;
        assert!(text.starts_with("Hello "), "{text}");
        assert!(
            text.contains("What we need from you:\n- Ausweis\n- Vertrag (nice to have)"),
            "{text}"
        );
        assert!(text.contains("Please send it by 30 November 2026."), "{text}");
    }
}
