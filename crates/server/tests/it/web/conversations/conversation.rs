//! The conversation page.

use base::limits::UNDO_PEOPLE_SECONDS;
use base::time::Moment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::support::*;

on_both!(
    a_reply_leaves_after_the_undo_window_unless_someone_stops_it,
    a_message_is_sent_now_by_whoever_may_stop_it,
    the_stack_shows_three_at_most_and_what_was_stopped_goes,
    the_timeline_tells_what_ended_a_snooze,
    sending_and_closing_is_one_step,
    what_is_wrong_stands_beside_what_was_typed,
    a_letter_is_not_sent_past_one_that_was_not_seen,
    what_is_not_finished_is_kept_for_its_writer_alone,
    status_assignee_tags_snooze_and_notes,
    a_snooze_is_until_the_readers_own_clock_says_so,
    attachments_are_downloaded_and_run_nothing,
    the_contacts_other_conversations_are_those_one_may_see,
    own_notes_and_acts_are_not_new_since_the_reader_was_here,
    a_tag_of_the_list_counts_instead_of_what_was_typed_to_find_it,
    an_encrypted_mail_says_that_it_is,
    what_is_encrypted_within_a_text_is_not_shown_as_words,
    a_signed_mail_says_that_its_signature_was_not_checked,
    the_files_of_winmail_dat_are_files_of_the_mail,
    a_conversation_is_printed_whole_with_its_notes_or_without
);

/// For so long and a moment more pages show a message that was just sent.
const TOAST: i64 = 9_000;

async fn a_reply_leaves_after_the_undo_window_unless_someone_stops_it(app: TestApp) {
    let received = app.mail("ann@shop.example Ann Shop", "Lamps", "Where are they?").await;
    let key = app.key("read").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    page.shows("Ann Shop &#60;ann@shop.example&#62;");
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [
        ("seen", seen.as_str()),
        ("to", "Ann Shop <ann@shop.example>"),
        ("cc", "boss@shop.example"),
        ("body", "They left\r\non Tuesday."),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let messages = app.timeline(&key, &received.conversation, "message").await;
    assert_eq!(messages[1]["status"], "scheduled");
    assert_eq!(messages[1]["text"], "They left\non Tuesday.");

    let leaves = Moment(app.now() + UNDO_PEOPLE_SECONDS * 1_000).clock_time();
    let anywhere = browser.get("/settings/tags").await.is(200);
    anywhere.shows(">To Ann Shop</a>").shows(&format!("leaves at {leaves}"));
    let stop = anywhere.between("action=\"/messages/", "\"").to_owned();
    app.advance(TOAST);
    browser.get("/settings/tags").await.is(200).hides(">To Ann Shop</a>");
    let page = browser.get(&path).await.is(200);
    page.shows("copy to boss@shop.example").shows(&format!("Leaves at {leaves}"));
    let bo = app.person("Bo").await;
    let other = app.signed_in(&bo).await;
    other.get("/leaving").await.is(200).shows("They left");
    other.post(&format!("/messages/{stop}"), &[]).await.goes_to(&path);
    other.get(&path).await.shows("Stopped. It is a draft again, nothing was sent.");
    let messages = app.timeline(&key, &received.conversation, "message").await;
    assert_eq!(messages[1]["status"], "draft");
    other.post(&format!("/messages/{stop}"), &[]).await.goes_to(&path);
    other.get(&path).await.shows("It was stopped already. Nothing was sent.");
}

async fn a_message_is_sent_now_by_whoever_may_stop_it(app: TestApp) {
    let received = app.mail("ann@shop.example Ann Shop", "Lamps", "Where are they?").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let fields = [("seen", "9"), ("to", "ann@shop.example"), ("body", "By sea.")];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let page = browser.get("/leaving").await.is(200);
    page.shows("Send now");
    let now = page.between("formaction=\"", "\"").to_owned();
    let bo = app.person("Bo").await;
    let other = app.signed_in(&bo).await;
    other.get(&path).await.is(200).shows(&format!("formaction=\"{now}\"")).shows("Leaving soon");
    other.post(&now, &[]).await.goes_to(&path);
    other.get(&path).await.shows("It leaves now.");
    browser.post(&now, &[]).await.goes_to(&path);
    app.pass(0).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    browser.post(&now, &[]).await.goes_to(&path);
    app.pass(UNDO).await;
    assert_eq!(app.outside.relay.attempts().len(), 1);
    browser.get(&path).await.shows("let the message leave at once").hides("Send now");
}

async fn the_stack_shows_three_at_most_and_what_was_stopped_goes(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    for name in ["Ann", "Bea", "Cid", "Dora"] {
        let from = format!("{}@shop.example {name}", name.to_lowercase());
        let received = app.mail(&from, "Lamps", "Where are they?").await;
        let path = format!("/conversations/{}", received.conversation);
        let to = format!("{}@shop.example", name.to_lowercase());
        let fields = [("seen", "9"), ("to", to.as_str()), ("body", "By sea.")];
        browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    }
    let page = browser.get("/settings/tags").await.is(200);
    page.hides(">To Ann</a>").shows(">To Bea</a>").shows(">To Cid</a>").shows(">To Dora</a>");
    // Z stops the newest, and only it says so.
    assert_eq!(page.text.matches("data-key=\"z\"").count(), 1);
    let newest = page.text.rsplit_once("/stop\"").unwrap().0.rsplit_once('"').unwrap().1.to_owned();
    browser.post(&format!("{newest}/stop"), &[]).await.is(303);
    let page = browser.get("/settings/tags").await.is(200);
    page.shows("Stopped, nothing was sent.").hides(">To Dora</a>").shows(">To Cid</a>");
}

async fn the_timeline_tells_what_ended_a_snooze(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Where are they?").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    app.snooze(&app.owner, &received.conversation, app.now() + DAY).await;
    app.mail("ann@shop.example", "Lamps", "Hello?").await;
    browser.get(&path).await.is(200).shows("brought this back, the customer answered");
}

async fn sending_and_closing_is_one_step(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Thanks!").await;
    let key = app.key("read").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let fields = [
        ("seen", "9"),
        ("to", "ann@shop.example"),
        ("body", "Welcome."),
        ("close", ""),
        ("from", "view=mine"),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to("/inbox?view=mine");
    let read = app.read(&key, &received.conversation).await;
    assert_eq!(read["status"], "closed");
    assert_eq!(read["timeline"][1]["status"], "scheduled");
}

async fn what_is_wrong_stands_beside_what_was_typed(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let reply = format!("{path}/reply");
    let bad = [("seen", "9"), ("to", "ann@shop.example, nonsense"), ("body", "My words")];
    browser
        .post(&reply, &bad)
        .await
        .is(422)
        .shows("nonsense is not an e-mail address")
        .shows("My words");
    let bad = [("seen", "9"), ("to", ""), ("body", "My words")];
    browser.post(&reply, &bad).await.is(422).shows("Say who it goes to").shows("My words");
    let bad = [("seen", "9"), ("to", "ann@shop.example"), ("body", " \n")];
    browser.post(&reply, &bad).await.is(422).shows("Write something first");
    let long = "x".repeat(50_001);
    let bad = [("seen", "9"), ("to", "ann@shop.example"), ("body", &long)];
    browser.post(&reply, &bad).await.is(422).shows("at most 50,000 characters");
    let long = "x".repeat(10_001);
    browser
        .post(&format!("{path}/note"), &[("body", &long)])
        .await
        .is(422)
        .shows("at most 10,000 characters");
    let key = app.key("read").await;
    assert_eq!(app.timeline(&key, &received.conversation, "message").await.len(), 1);
    assert!(app.timeline(&key, &received.conversation, "note").await.is_empty());
}

async fn a_letter_is_not_sent_past_one_that_was_not_seen(app: TestApp) {
    let received = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let key = app.key("read").await;
    let (ann, bo) = (app.person("Ann").await, app.person("Bo").await);
    let (first, second) = (app.signed_in(&ann).await, app.signed_in(&bo).await);
    let page = first.get(&format!("{path}?write=reply")).await;
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [("seen", seen.as_str()), ("to", "ann@shop.example"), ("body", "One answer")];
    second.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let fields = [("seen", seen.as_str()), ("to", "ann@shop.example"), ("body", "Two answers")];
    let again = first.post(&format!("{path}/reply"), &fields).await.is(422);
    again.shows("Bo Teammate answered while you were writing").shows("Two answers");
    assert_eq!(app.timeline(&key, &received.conversation, "message").await.len(), 2);
    let seen = again.between("name=\"seen\" value=\"", "\"").to_owned();

    app.advance(SECOND);
    app.mail("ann@shop.example Ann", "Re: Lamps", "Never mind").await;
    let fields = [("seen", seen.as_str()), ("to", "ann@shop.example"), ("body", "Two answers")];
    let again = first.post(&format!("{path}/reply"), &fields).await.is(422);
    again.shows("Ann wrote again while you were writing");
    let seen = again.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [("seen", seen.as_str()), ("to", "ann@shop.example"), ("body", "Two answers")];
    first.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
}

async fn what_is_not_finished_is_kept_for_its_writer_alone(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let fields = [("kind", "reply"), ("body", "Half a sen"), ("to", "bo@shop.example"), ("cc", "")];
    browser.post(&format!("{path}/autosave"), &fields).await.is(204);
    let page = browser.get(&path).await.is(200);
    page.shows("Half a sen").shows("bo@shop.example").shows("Kept from your last visit");
    let bo = app.person("Bo").await;
    app.signed_in(&bo).await.get(&path).await.is(200).hides("Half a sen");
    browser.post(&format!("{path}/reply"), &[("discard", "")]).await.goes_to(&path);
    browser.get(&path).await.hides("Half a sen");
    let fields = [("kind", "poem"), ("body", "Half a sen")];
    browser.post(&format!("{path}/autosave"), &fields).await.is(400);
}

async fn status_assignee_tags_snooze_and_notes(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", received.conversation);
    let key = app.key("read").await;
    let browser = app.signed_in(&app.owner).await;
    let id = &received.conversation;
    let from = ("from", "view=open");
    let back = format!("{path}?view=open");

    browser.post(&format!("{path}/assign"), &[("to", "me"), from]).await.goes_to(&back);
    assert_eq!(app.read(&key, id).await["assignee"]["name"], "Olive Owner");
    browser.post(&format!("{path}/assign"), &[("to", "user:usr_0"), from]).await.is(400);
    browser.post(&format!("{path}/tags"), &[("add", "shipping, late"), from]).await.goes_to(&back);
    browser.post(&format!("{path}/tags"), &[("remove", "late"), from]).await.goes_to(&back);
    assert_eq!(app.read(&key, id).await["tags"], json!(["shipping"]));
    browser.post(&format!("{path}/tags"), &[("add", &"x".repeat(41)), from]).await.is(400);

    let until = (app.now() + HOUR).to_string();
    browser
        .post(&format!("{path}/snooze"), &[("until", &until), from])
        .await
        .goes_to("/inbox?view=open");
    assert_ne!(app.read(&key, id).await["snoozedUntil"], json!(null));
    browser.post(&format!("{path}/status"), &[("status", "open"), from]).await.goes_to(&back);
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    browser.post(&format!("{path}/snooze"), &[("at", "2026-12-01T08:00"), from]).await.is(303);
    browser.post(&format!("{path}/snooze"), &[("at", "2020-12-01T08:00"), from]).await.is(400);
    browser.post(&format!("{path}/snooze"), &[("at", "nonsense"), from]).await.is(400);

    browser.post(&format!("{path}/note"), &[("body", "Ask @Olive"), from]).await.goes_to(&back);
    browser.get(&path).await.shows("<span class=\"mention\">@Olive</span>").shows("Noted.");
    browser
        .post(&format!("{path}/status"), &[("status", "closed"), from])
        .await
        .goes_to("/inbox?view=open");
    browser.post(&format!("{path}/status"), &[("status", "gone"), from]).await.is(400);
    let page = browser.get(&path).await;
    page.shows("closed this").shows("added the tag").shows("gave this to Olive Owner");
}

async fn a_snooze_is_until_the_readers_own_clock_says_so(app: TestApp) {
    let received = app.mail("ann@shop.example", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    browser.set_cookie("mailroom_zone", "Europe%2FBerlin");
    let path = format!("/conversations/{}/snooze", received.conversation);
    browser.post(&path, &[("at", "2026-12-01T08:00")]).await.is(303);
    let key = app.key("read").await;
    let read = app.read(&key, &received.conversation).await;
    assert_eq!(read["snoozedUntil"], "2026-12-01T07:00:00.000Z");
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await;
    page.shows("Snoozed until Tue 1 Dec, 08:00");
}

async fn attachments_are_downloaded_and_run_nothing(app: TestApp) {
    let mut mail = letter("ann@shop.example", "Papers", "Here");
    mail.attachments = vec![
        mail::Attachment {
            filename: "evil\".html".into(),
            content_type: "text/html".into(),
            bytes: b"<script>".to_vec(),
        },
        mail::Attachment {
            filename: "p.png".into(),
            content_type: "image/png".into(),
            bytes: vec![1, 2, 3],
        },
    ];
    let received = app.deliver(&app.support, mail).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/conversations/{}", received.conversation)).await.is(200);
    let evil = format!("/documents/{}", page.between("href=\"/documents/", "\""));
    let picture = page.between("src=\"/documents/", "/preview\"");
    let picture = format!("/documents/{picture}?shown");
    for path in [evil.clone(), format!("{evil}?shown")] {
        let file = browser.get(&path).await.is(200);
        assert_eq!(file.answer.header("content-type"), "application/octet-stream");
        assert_eq!(
            file.answer.header("content-disposition"),
            "attachment; filename*=UTF-8''evil%22.html"
        );
        assert!(file.answer.header("content-security-policy").contains("sandbox"));
        assert_eq!(file.text, "<script>");
    }
    let file = browser.get(&picture).await.is(200);
    assert_eq!(file.answer.header("content-type"), "image/png");
}

async fn the_contacts_other_conversations_are_those_one_may_see(app: TestApp) {
    let bo = app.person("Bo").await;
    let private = app.private_inbox(&bo).await;
    let first = app.mail("ann@shop.example", "Lamps", "Hello").await;
    app.mail("ann@shop.example", "Chairs", "Hello").await;
    app.deliver(&private, letter("ann@shop.example", "Secrets", "Hello")).await;
    let path = format!("/conversations/{}", first.conversation);
    let page = app.signed_in(&app.owner).await.get(&path).await.is(200);
    page.shows("1 other from").shows("Chairs").hides("Secrets");
    app.signed_in(&bo).await.get(&path).await.is(200).shows("2 others from").shows("Secrets");
}

async fn own_notes_and_acts_are_not_new_since_the_reader_was_here(app: TestApp) {
    let mail = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let path = format!("/conversations/{}", mail.conversation);
    let bo = app.person("Bo").await;
    let (owner, other) = (app.signed_in(&app.owner).await, app.signed_in(&bo).await);
    owner.get(&path).await.is(200);
    app.app.background.finish().await;
    app.advance(60_000);
    owner.post(&format!("{path}/note"), &[("body", "She is in a hurry.")]).await.is(303);
    owner.post(&format!("{path}/tags"), &[("add", "lamps")]).await.is(303);
    owner.get(&path).await.is(200).shows("in a hurry").hides("New since you were here");
    app.app.background.finish().await;
    app.advance(60_000);
    other.post(&format!("{path}/note"), &[("body", "I call her.")]).await.is(303);
    owner.get(&path).await.is(200).shows("I call her.").shows("New since you were here");
}

async fn a_tag_of_the_list_counts_instead_of_what_was_typed_to_find_it(app: TestApp) {
    let key = app.key("write").await;
    let first = app.mail("ann@shop.example Ann", "Lamps", "Hello").await;
    let second = app.mail("bo@shop.example Bo", "Chairs", "Hello").await;
    let path = format!("/conversations/{}", second.conversation);
    app.on(&key, &first.conversation, "tags", json!({ "add": ["shipping"] })).await.is(200);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&path).await.is(200);
    page.shows("<button name=\"choose\" value=\"shipping\">");
    let fields = [("add", "ship"), ("choose", "shipping")];
    owner.post(&format!("{path}/tags"), &fields).await.is(303);
    let read = app.read(&key, &second.conversation).await;
    assert_eq!(read["tags"], json!(["shipping"]));
    let list = owner.get("/inbox?view=open").await.is(200);
    list.shows("<button name=\"choose\" value=\"shipping\">");
    let third = app.mail("cy@shop.example Cy", "Tables", "Hello").await.conversation;
    let fields = [("c", third.as_str()), ("tag", "ship"), ("choose", "shipping")];
    owner.post("/triage", &fields).await.is(303);
    assert_eq!(app.read(&key, &third).await["tags"], json!(["shipping"]));
}

async fn an_encrypted_mail_says_that_it_is(app: TestApp) {
    let raw = "From: Ann <ann@x.example>\r\nTo: support@acme.example\r\nSubject: ...\r\n\
        Message-ID: <pgp@x.example>\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/encrypted; protocol=\"application/pgp-encrypted\"; boundary=b\r\n\r\n\
        --b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n\
        --b\r\nContent-Type: application/octet-stream; name=encrypted.asc\r\n\r\n\
        -----BEGIN PGP MESSAGE-----\r\n\r\nhQEMA\r\n-----END PGP MESSAGE-----\r\n--b--\r\n";
    let mail = app.arrives(raw).await;
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&format!("/conversations/{}", mail.conversation)).await.is(200);
    page.shows("This mail is encrypted (PGP or S/MIME)");
    let plain = app.mail("bo@x.example", "Lamp", "Hello").await;
    let page = owner.get(&format!("/conversations/{}", plain.conversation)).await.is(200);
    page.hides("This mail is encrypted");
}

async fn what_is_encrypted_within_a_text_is_not_shown_as_words(app: TestApp) {
    let armour = format!(
        "-----BEGIN PGP MESSAGE-----\n\n{}LastLetters\n-----END PGP MESSAGE-----",
        "hQEMAwordsOfNobody\n".repeat(40)
    );
    let mail = app.mail("ann@x.example", "Lamp", &format!("{armour}\nBest, Ann")).await;
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&format!("/conversations/{}", mail.conversation)).await.is(200);
    page.shows("This mail is encrypted (PGP or S/MIME)").shows("Best, Ann").hides("LastLetters");
}

async fn a_signed_mail_says_that_its_signature_was_not_checked(app: TestApp) {
    let raw = "From: Ann <ann@x.example>\r\nTo: support@acme.example\r\nSubject: Lamp\r\n\
        Message-ID: <signed@x.example>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/signed; \
        protocol=\"application/pkcs7-signature\"; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n\
        --b\r\nContent-Type: application/pkcs7-signature; name=smime.p7s\r\n\r\nMIIB\r\n--b--\r\n";
    let mail = app.arrives(raw).await;
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&format!("/conversations/{}", mail.conversation)).await.is(200);
    page.shows("Its writer signed it with S/MIME; Mailroom has not checked that signature.");
    page.hides("This mail is encrypted").hides("smime.p7s");
    let plain = app.mail("bo@x.example", "Lamp", "Hello").await;
    let page = owner.get(&format!("/conversations/{}", plain.conversation)).await.is(200);
    page.hides("has not checked that signature");
}

async fn the_files_of_winmail_dat_are_files_of_the_mail(app: TestApp) {
    let mut package = vec![0x78, 0x9f, 0x3e, 0x22, 1, 0];
    for (id, content) in [(0x0001_8010_u32, "list.csv\0"), (0x0006_800f, "lamp,2")] {
        package.push(2);
        package.extend(id.to_le_bytes());
        package.extend((content.len() as u32).to_le_bytes());
        package.extend_from_slice(content.as_bytes());
        package.extend([0, 0]);
    }
    let raw = format!(
        "From: Ann <ann@x.example>\r\nTo: support@acme.example\r\nSubject: Lamps\r\n\
         Message-ID: <packed@x.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: application/ms-tnef; name=winmail.dat\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
        STANDARD.encode(&package)
    );
    let mail = app.arrives(&raw).await;
    let key = app.key("read").await;
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    assert_eq!(messages[0]["attachments"].as_array().unwrap().len(), 1);
    assert_eq!(messages[0]["attachments"][0]["filename"], "list.csv");
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("/conversations/{}", mail.conversation)).await.is(200);
    page.shows("list.csv").hides("winmail.dat");
    let file = format!("/documents/{}", page.between("href=\"/documents/", "\""));
    assert_eq!(browser.get(&file).await.is(200).text, "lamp,2");
}

async fn a_conversation_is_printed_whole_with_its_notes_or_without(app: TestApp) {
    let long = format!("{}The very end.", "A line about the lamps. ".repeat(60));
    let first = app.mail("ann@shop.example Ann Shop", "Lamps", &long).await;
    for n in 1..5 {
        app.advance(1_000);
        app.mail("ann@shop.example Ann Shop", "Re: Lamps", &format!("Letter {n}")).await;
    }
    let path = format!("/conversations/{}", first.conversation);
    let browser = app.signed_in(&app.owner).await;
    let note = [("body", "Between ourselves"), ("from", "view=open")];
    browser.post(&format!("{path}/note"), &note).await.is(303);
    let printed = format!("{path}/print?view=open");
    browser.get(&format!("{path}?view=open")).await.is(200).shows(&printed);
    let page = browser.get(&printed).await.is(200);
    page.shows("The very end.").shows("Letter 4").shows("Message from Ann Shop");
    page.shows("Between ourselves").shows("note, only the team sees this").hides("closed this");
    let without = browser.get(&format!("{printed}&notes=none")).await.is(200);
    without.shows("The very end.").hides("Between ourselves").shows("With notes");
    browser.get(&format!("{path}/print?before=nonsense")).await.is(404);
}
