//! The composers as pages: recipients, first mails, forwarding, rich text, signatures and stopping,
//! without a script.

use base::app::App;
use mail::Address;

use crate::support::*;
use crate::web::browser::Browser;

on_both!(
    a_reply_goes_to_all_unless_the_sender_alone_is_chosen,
    recipients_that_were_chosen_stay_when_the_way_of_writing_changes,
    a_first_mail_is_written_kept_and_sent,
    a_message_is_forwarded_with_the_chosen_files,
    rich_text_is_shown_formatted_and_can_do_nothing,
    a_stopped_message_is_in_the_composer_again,
    a_form_that_is_posted_again_sends_once,
    a_rich_draft_is_approved_as_it_is_formatted,
    a_signature_is_set_and_previewed,
    the_time_to_stop_a_message_is_a_choice,
    plain_text_is_a_choice,
    saved_replies_have_folders_files_and_are_searched,
    people_are_completed_for_those_who_are_signed_in,
    pictures_for_the_text_are_pictures,
    what_cannot_be_sent_is_refused_with_what_was_typed
);

async fn mail_to_three(app: &TestApp) -> String {
    let mut mail = letter("ann@shop.example Ann Shop", "Lamps", "Where are they?");
    mail.to = vec![Address::new(None, "support@acme.example")];
    mail.cc = vec![Address::new(Some("Bo Shop"), "bo@shop.example")];
    let received = app.deliver(&app.support, mail).await;
    format!("/conversations/{}", received.conversation)
}

async fn a_reply_goes_to_all_unless_the_sender_alone_is_chosen(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    browser.get(&path).await.is(200).shows("Reply to all").shows("Forward");
    let all = browser.get(&format!("{path}?write=reply")).await.is(200);
    all.shows("Ann Shop &#60;ann@shop.example&#62;").shows("Bo Shop &#60;bo@shop.example&#62;");
    let one = browser.get(&format!("{path}?write=sender")).await.is(200);
    one.shows("Ann Shop &#60;ann@shop.example&#62;").hides("Bo Shop &#60;");
    let alone = app.mail("cy@shop.example", "Else", "Hello").await;
    let alone = format!("/conversations/{}", alone.conversation);
    browser.get(&alone).await.is(200).shows("Reply to cy@shop.example").hides("Reply to all");
    let bad = [("seen", "9"), ("to", "ann@shop.example, nonsense"), ("body", "Kept words")];
    browser
        .post(&format!("{path}/reply"), &bad)
        .await
        .is(422)
        .shows("nonsense is not an e-mail address")
        .shows("Kept words");
}

async fn recipients_that_were_chosen_stay_when_the_way_of_writing_changes(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let ann = "Ann Shop <ann@shop.example>";
    let copied = "cy@shop.example, Bo Shop <bo@shop.example>";
    // The copies, the tab that leads back to the reply, and the one that begins it anew.
    for (cc, back, anew) in [(copied, "all", "sender"), ("cy@shop.example", "sender", "all")] {
        let typed =
            [("kind", "reply"), ("body", "Half"), ("to", ann), ("cc", cc), ("bcc", "di@y.example")];
        browser.post(&format!("{path}/autosave"), &typed).await.is(204);
        for write in ["note", "ask", "reply"] {
            let page = browser.get(&format!("{path}?write={write}")).await.is(200);
            page.shows(&format!("{path}?write=reply")).hides(&format!("{path}?write={back}"));
            page.shows(&format!("{path}?write={anew}"));
        }
        let page = browser.get(&format!("{path}?write=reply")).await.is(200);
        page.shows("<span data-goes-to=\"cc\">cy@shop.example").shows("di@y.example");
    }
}

async fn a_first_mail_is_written_kept_and_sent(app: TestApp) {
    let browser = app.signed_in(&app.owner).await;
    browser.get("/inbox?view=open").await.is(200).shows("href=\"/new\"");
    browser.get("/new").await.is(200).shows("New conversation").shows("support@acme.example");
    let mailbox = app.support.id.to_string();
    let kept = [
        ("kind", "new"),
        ("mailbox", mailbox.as_str()),
        ("to", "ann@shop.example"),
        ("subject", "Your lamp"),
        ("body", "It is he"),
    ];
    browser.post("/new/autosave", &kept).await.is(204);
    browser.get("/new").await.is(200).shows("It is he").shows("Your lamp").shows("Kept from");
    let other = app.signed_in(&app.person("Bo").await).await;
    other.get("/new").await.is(200).hides("It is he");
    let wrong = [("mailbox", mailbox.as_str()), ("to", "nobody"), ("body", "It is here.")];
    browser.post("/new", &wrong).await.is(422).shows("nobody is not an e-mail address");
    let wrong = [("mailbox", mailbox.as_str()), ("to", "ann@shop.example"), ("body", "Here.")];
    browser.post("/new", &wrong).await.is(422).shows("Give it a subject").shows("Here.");
    let fields = [
        ("mailbox", mailbox.as_str()),
        ("to", "Ann Shop <ann@shop.example>"),
        ("subject", "Your lamp"),
        ("body", "It is **here**."),
        ("format", "markdown"),
    ];
    let answer = browser.post("/new", &fields).await.is(303);
    let path = answer.answer.header("location").to_owned();
    assert!(path.starts_with("/conversations/cnv_"), "{path}");
    browser.get(&path).await.is(200).shows("It is <strong>here</strong>.").shows("Leaves at");
    browser.get("/new").await.is(200).hides("Your lamp");
    app.pass(11 * MINUTE).await;
    browser.get("/inbox?view=waiting").await.is(200).shows("Your lamp");
    let private = app.private_inbox(&app.person("Cy").await).await.id.to_string();
    let foreign =
        [("mailbox", private.as_str()), ("to", "a@b.example"), ("subject", "x"), ("body", "x")];
    browser.post("/new", &foreign).await.is(422);
}

async fn a_message_is_forwarded_with_the_chosen_files(app: TestApp) {
    let mut mail = letter("ann@shop.example Ann Shop", "Lamps", "Here they are.");
    mail.attachments = vec![file("one.pdf", b"%PDF one"), file("two.pdf", b"%PDF two")];
    let received = app.deliver(&app.support, mail).await;
    let path = format!("/conversations/{}", received.conversation);
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("{path}?write=forward")).await.is(200);
    page.shows("Goes along: the message of Ann Shop").shows("one.pdf").shows("two.pdf");
    let include = page.between("name=\"include\" value=\"", "\"").to_owned();
    let message = received.message.to_string();
    let fields = [
        ("seen", "9"),
        ("to", "pelz@bank.example"),
        ("body", ""),
        ("forwards", message.as_str()),
        ("include", include.as_str()),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("Forwarded").shows("to pelz@bank.example");
    app.pass(11 * MINUTE).await;
    let bytes = app.outside.relay.attempts().pop().unwrap().bytes;
    let read = mail::parse(&bytes, mail::Envelope::default());
    assert_eq!(read.attachments.len(), 1);
    assert_eq!(read.attachments[0].filename, "one.pdf");
}

async fn rich_text_is_shown_formatted_and_can_do_nothing(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let body = "**Bold**\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) \
                ![p](https://evil.example/p.png)";
    let fields =
        [("seen", "9"), ("to", "ann@shop.example"), ("body", body), ("format", "markdown")];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let page = browser.get(&path).await.is(200);
    page.shows("<strong>Bold</strong>").shows("&lt;img src=x onerror=alert(1)&gt;");
    page.hides("<img src=x").hides("href=\"javascript").hides("evil.example/p.png");
}

async fn a_stopped_message_is_in_the_composer_again(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let fields = [
        ("seen", "9"),
        ("to", "ann@shop.example"),
        ("cc", "bo@shop.example"),
        ("body", "Not **yet**"),
        ("format", "markdown"),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let page = browser.get(&path).await.is(200);
    let stop = format!("/messages/{}/stop", page.between("action=\"/messages/", "/stop"));
    browser.post(&stop, &[]).await.goes_to(&format!("{path}#body"));
    let page = browser.get(&path).await.is(200);
    page.shows("Stopped, nothing was sent.").shows("Not **yet**").shows("bo@shop.example");
    browser.post(&stop, &[]).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("It was stopped already. Nothing was sent.");
    let now = stop.replace("/stop", "/now");
    browser.post(&now, &[]).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("It was stopped already. Nothing was sent.");
    browser.get("/approvals").await.is(200).hides("Not **yet**");
}

async fn a_form_that_is_posted_again_sends_once(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let fields = [("seen", seen.as_str()), ("to", "ann@shop.example"), ("body", "By sea.")];
    for _ in 0..2 {
        browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    }
    let page = browser.get("/new").await.is(200);
    let seen = page.between("name=\"seen\" value=\"", "\"").to_owned();
    let mailbox = app.support.id.to_string();
    let fields = [
        ("seen", seen.as_str()),
        ("mailbox", mailbox.as_str()),
        ("to", "cy@shop.example"),
        ("subject", "Your lamp"),
        ("body", "It is here."),
    ];
    let mut begun = Vec::new();
    for _ in 0..2 {
        let answer = browser.post("/new", &fields).await.is(303);
        begun.push(answer.answer.header("location").to_owned());
    }
    assert_eq!(begun[0], begun[1]);
    assert_eq!(app.count("messages WHERE direction = 'outbound'").await, 2);
}

async fn a_rich_draft_is_approved_as_it_is_formatted(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    let fields = [
        ("seen", "9"),
        ("to", "ann@shop.example"),
        ("body", "On **Tuesday**."),
        ("format", "markdown"),
        ("keep", ""),
    ];
    browser.post(&format!("{path}/reply"), &fields).await.goes_to(&path);
    let page = browser.get("/approvals").await.is(200);
    page.shows("On <strong>Tuesday</strong>.").shows("On **Tuesday**.");
    let approve =
        format!("/approvals/{}/approve", page.between("action=\"/approvals/", "/approve"));
    let fields = [("revision", "1"), ("seen", "99"), ("body", "On **Wednesday**.")];
    browser.post(&approve, &fields).await.goes_to("/approvals");
    browser.get(&path).await.is(200).shows("On <strong>Wednesday</strong>.");
    let key = app.key("read").await;
    let id = path.rsplit('/').next().unwrap().to_owned();
    let message = app.timeline(&key, &id, "message").await.pop().unwrap();
    assert_eq!(message["text"], "On Wednesday.");
}

async fn a_signature_is_set_and_previewed(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/writing").await.is(200).shows("Nothing stands below.");
    let inbox = format!("/settings/writing/{}", app.support.id);
    let fields = [("signature", "**{{my_name}}**, Acme")];
    browser.post(&inbox, &fields).await.goes_to("/settings/writing");
    let shown = "<strong>Olive Owner</strong>, Acme";
    browser.get("/settings/writing").await.is(200).shows(shown);
    browser.get(&format!("{path}?write=reply")).await.is(200).shows(shown);
    let own = [("signature", "Best, Olive")];
    browser.post("/settings/writing/signature", &own).await.goes_to("/settings/writing");
    browser.get(&format!("{path}?write=reply")).await.is(200).shows("Best, Olive").hides(shown);
    let long = "x".repeat(3_000);
    browser
        .post("/settings/writing/signature", &[("signature", long.as_str())])
        .await
        .is(422)
        .shows("A signature has at most 2,000 characters.")
        .shows(&long);
    let member = app.signed_in(&app.person("Bo").await).await;
    member.post(&inbox, &fields).await.is(403);
}

async fn the_time_to_stop_a_message_is_a_choice(app: TestApp) {
    let path = format!("{}?write=reply", mail_to_three(&app).await);
    let browser = app.signed_in(&app.owner).await;
    let settings = "/settings/writing";
    browser.get(&path).await.is(200).shows("Leaves 30 seconds after you press Send.");
    let fields = [("undo", "60"), ("assign", "on")];
    browser.post("/settings/writing/sending", &fields).await.goes_to(settings);
    browser.get(settings).await.is(200).shows("As the workspace has it: 1 minute");
    browser.get("/keyboard").await.shows("Send (leaves after 1 minute)");
    browser.post("/settings/writing/undo", &[("undo", "10")]).await.goes_to(settings);
    browser.get(&path).await.is(200).shows("Leaves 10 seconds after you press Send.");
    browser.get("/leaving").await.is(200).shows("for 10 seconds after you press Send");
    browser.post("/settings/writing/undo", &[("undo", "11")]).await.is(400);
    browser.post("/settings/writing/undo", &[("undo", "soon")]).await.is(400);
    browser.get(&path).await.is(200).shows("Leaves 10 seconds");
    browser.post("/settings/writing/undo", &[("undo", "")]).await.goes_to(settings);
    let member = app.signed_in(&app.person("Bo").await).await;
    member
        .get(settings)
        .await
        .is(200)
        .shows("As the workspace has it: 1 minute")
        .hides("Sending, for everybody");
    member.post("/settings/writing/sending", &fields).await.is(403);
    browser
        .get("/settings/audit")
        .await
        .is(200)
        .shows("changed how messages are sent:")
        .shows("60 s");
}

async fn plain_text_is_a_choice(app: TestApp) {
    let path = format!("{}?write=reply", mail_to_three(&app).await);
    let browser = app.signed_in(&app.owner).await;
    browser.get(&path).await.is(200).shows("data-rich-text").shows("value=\"markdown\"");
    browser.post("/settings/writing/format", &[("plain", "on")]).await.goes_to("/settings/writing");
    browser.get(&path).await.is(200).hides("data-rich-text").hides("value=\"markdown\"");
    browser.post("/settings/writing/format", &[]).await.goes_to("/settings/writing");
    browser.get(&path).await.is(200).shows("data-rich-text");
}

async fn saved_replies_have_folders_files_and_are_searched(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    for (name, folder, body) in
        [("Terms", "Legal", "See **below**"), ("Thanks", "", "Thank you, {{first_name}}")]
    {
        let fields = [("name", name), ("folder", folder), ("body", body)];
        browser.post("/settings/replies", &fields).await.goes_to("/settings/replies");
    }
    let found = browser.get("/settings/replies?q=legal+below").await.is(200);
    found.shows("Terms").hides("Thank you");
    browser.get("/settings/replies?q=zzz").await.is(200).shows("Nothing found");
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    page.shows("Legal").shows("Terms").shows("Thanks");
    let all = browser.get("/settings/replies?q=below").await.is(200);
    let id = all.between("href=\"/settings/replies/sav_", "#edit");
    let filled = browser.post(&format!("{path}/saved/sav_{id}"), &[]).await.is(200);
    assert_eq!(filled.text, "<p>See <strong>below</strong></p>");
    let new = browser.post(&format!("/new/saved/sav_{id}"), &[]).await.is(200);
    assert_eq!(new.text, filled.text);
}

async fn people_are_completed_for_those_who_are_signed_in(app: TestApp) {
    let mail = app.mail("giulia@wines.example Giulia Pellegrini", "Lamps", "Hello").await;
    let browser = app.signed_in(&app.owner).await;
    assert_eq!(browser.get("/people?q=pell").await.is(200).text, "[]", "nobody wrote to her yet");
    app.send_reply(&app.key("send").await, &mail.conversation, "Thank you").await;
    let found = browser.get("/people?q=pell").await.is(200);
    assert_eq!(found.text, r#"[{"name":"Giulia Pellegrini","email":"giulia@wines.example"}]"#);
    assert_eq!(found.answer.header("content-type"), "application/json");
    assert_eq!(browser.get("/people?q=zzz").await.is(200).text, "[]");
    assert_eq!(app.browser().get("/people?q=pell").await.status, 303);
}

async fn pictures_for_the_text_are_pictures(app: TestApp) {
    let path = mail_to_three(&app).await;
    let browser = app.signed_in(&app.owner).await;
    for place in [path.as_str(), "/new"] {
        let upload = format!("{place}/pictures");
        let taken = picture(&browser, &upload, "so.png", "image/png").await.is(200);
        let id = taken.between("\"id\":\"", "\"");
        let shown = browser.get(&format!("/attachments/{id}?shown")).await.is(200);
        assert_eq!(shown.answer.header("content-type"), "image/png");
        let other = app.signed_in(&app.person(place).await).await;
        other.get(&format!("/attachments/{id}?shown")).await.is(404);
        picture(&browser, &upload, "so.svg", "image/svg+xml").await.is(400);
    }
}

async fn picture(
    browser: &Browser<'_>,
    path: &str,
    name: &str,
    kind: &str,
) -> crate::web::browser::Page {
    super::compose::upload(browser, path, &[], &[(name, kind, b"\x89PNG")]).await
}

async fn what_cannot_be_sent_is_refused_with_what_was_typed(app: TestApp) {
    let path = mail_to_three(&app).await;
    let without = app.router_of(&App { has_relay: false, ..app.app.clone() });
    let browser = app.signed_in(&app.owner).await.at(without);
    let fields = [("seen", "9"), ("to", "ann@shop.example"), ("body", "Kept words")];
    browser
        .post(&format!("{path}/reply"), &fields)
        .await
        .is(422)
        .shows("Nothing can be sent yet")
        .shows("href=\"/settings/inboxes\"")
        .shows("Kept words");
    let fields = [("seen", "9"), ("label-1", "Passport")];
    let asked = browser.post(&format!("{path}/ask"), &fields).await.is(422);
    asked.shows("Nothing can be sent yet").shows("Passport");
}
