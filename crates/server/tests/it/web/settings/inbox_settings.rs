//! The settings of one inbox: how its mail comes in and goes out, for those who look after that.

use actions::inboxes::imap_accounts::{self, FetchFrom, MailHistory};
use inbound::imap::{
    self, FetchFailure, FetchFailureKind, FetchProtocol, PostFetchAction, Security,
};

use crate::mail_out::names::Zone;
use crate::support::*;

on_both!(
    a_fetched_inbox_says_where_from_and_that_it_works,
    an_inbox_that_cannot_be_fetched_warns_on_the_list_and_on_its_page,
    an_inbox_that_is_not_fetched_says_where_mail_is_to_go,
    the_records_to_publish_are_shown_and_the_first_key_is_made_by_a_button,
    a_check_says_of_every_record_how_it_stands,
    a_check_finds_everything_and_lets_a_new_key_sign,
    a_dns_that_cannot_be_asked_is_said_to_be_unknown,
    a_member_sees_nothing_of_how_mail_is_fetched_or_vouched_for
);

const SEALED: &str = "sealed-and-nobodys-business";
const REASON: &str = "imap.acme.example does not accept the user or the password.";

fn page_of(app: &TestApp) -> String {
    format!("/settings/inboxes/{}", app.support.id)
}

async fn fetch(app: &TestApp) {
    let from = FetchFrom {
        protocol: FetchProtocol::Imap,
        host: "imap.acme.example".into(),
        port: 993,
        security: Security::Tls,
        username: "desk@acme.example".into(),
        auth: model::mailboxes::mailbox_grants::MailAuth::Password,
        sealed_password: SEALED.into(),
        folder: "INBOX".into(),
        after: PostFetchAction::Nothing,
        trusts: None,
        history: MailHistory::Everything,
        by_operator: true,
    };
    let begin = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        imap_accounts::fetch_mail_from(tx, cx, "support@acme.example", &from)
    };
    app.act(&app.owner, begin).await;
}

/// A round of fetching that went well, or had this trouble.
async fn round(app: &TestApp, trouble: Option<FetchFailure>) {
    let service = app.service(&app.support);
    let fetch = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        let account = imap::claim_due(tx, cx.ids, cx.now, 1)?.remove(0);
        match &trouble {
            Some(trouble) => imap::note_failure(tx, cx, &account, trouble),
            None => imap::note_round(tx, cx, &account).map(|_| ()),
        }
    };
    app.act(&service, fetch).await;
}

async fn a_fetched_inbox_says_where_from_and_that_it_works(app: TestApp) {
    fetch(&app).await;
    let owner = app.signed_in(&app.owner).await;
    owner.get(&page_of(&app)).await.is(200).shows("Not fetched yet");
    round(&app, None).await;
    let page = owner.get(&page_of(&app)).await.is(200);
    page.shows("<code>imap.acme.example</code>, port 993, by IMAP").shows("desk@acme.example");
    page.shows("Working").shows("09:00</time>, 0 mails so far");
    page.hides(SEALED).hides("cannot be fetched").hides("--password-file");
    let list = owner.get("/settings/inboxes").await.is(200);
    list.shows("Fetched").shows("Working").hides("Failing");
}

async fn an_inbox_that_cannot_be_fetched_warns_on_the_list_and_on_its_page(app: TestApp) {
    fetch(&app).await;
    round(&app, Some(FetchFailure { sentence: REASON.into(), kind: FetchFailureKind::Refused }))
        .await;
    let admin = app.person_with("Ada", base::actor::Role::Admin).await;
    let browser = app.signed_in(&admin).await;
    let page = browser.get(&page_of(&app)).await.is(200);
    page.shows("banner danger").shows("Mail cannot be fetched since").shows(REASON);
    page.shows("It is tried again at").shows("Change server, user or password");
    page.hides(SEALED);
    browser.get("/settings/inboxes").await.is(200).shows("Failing");

    app.advance(DAY);
    let page = browser.get(&page_of(&app)).await.is(200);
    page.shows("Nobody fetches this inbox since").shows("Stopped").hides(REASON);
    browser.get("/settings/inboxes").await.is(200).shows("Stopped");
}

async fn an_inbox_that_is_not_fetched_says_where_mail_is_to_go(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let page = owner.get(&page_of(&app)).await.is(200);
    page.shows("<code>mail.acme.example, port 25</code>").shows("Taken by SMTP");
    page.shows(&format!("/settings/inboxes/connect?inbox={}", app.support.id));
    page.hides("Fetched from");
    owner.get("/settings/inboxes").await.is(200).shows("Taken by SMTP").hides("Fetched <");
}

async fn the_records_to_publish_are_shown_and_the_first_key_is_made_by_a_button(app: TestApp) {
    let owner = app.signed_in(&app.owner).await;
    let path = page_of(&app);
    let page = owner.get(&path).await.is(200);
    page.shows("v=spf1 a:mail.acme.example ~all").shows("_dmarc.acme.example");
    page.shows("10 mail.acme.example").shows("No key signs this domain").shows("Check now");
    page.hides("_domainkey").hides("Found");

    let made = owner.post(&format!("{path}/signing-key"), &[]).await;
    made.goes_to(&format!("{path}#records"));
    let page = owner.get(&path).await.is(200);
    page.shows("The key is made.").shows("._domainkey.acme.example").shows("v=DKIM1; k=rsa; p=");
    page.hides("No key signs this domain");
    owner.post(&format!("{path}/signing-key"), &[]).await.is(303);
    let keys = |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        model::mailboxes::domains::list_keys(tx, cx, "acme.example")
    };
    assert_eq!(app.act(&app.owner, keys).await.len(), 1);
    let log = owner.get("/settings/audit").await.is(200);
    log.shows("made a key that signs the mail of <strong>acme.example</strong>");
}

async fn a_check_says_of_every_record_how_it_stands(app: TestApp) {
    let zone = Zone::default()
        .text("acme.example", "v=spf1 include:<b>.example -all")
        .text("_dmarc.acme.example", "v=DMARC1; p=none")
        .mx("acme.example", 10, "mx.other.example");
    let app = app.with_dns(zone.serve().await);
    let owner = app.signed_in(&app.owner).await;
    let path = page_of(&app);
    owner.post(&format!("{path}/signing-key"), &[]).await.is(303);
    let page = owner.post(&format!("{path}/records"), &[]).await.is(200);
    page.shows("1 of the 3 records that vouch for your mail are found").shows("Check again");
    page.shows("Missing")
        .shows("It is not published yet.")
        .shows("Found")
        .shows("A policy is published.");
    page.shows("Different").shows("It does not name this server as a sender.");
    page.shows("v=spf1 include:&#60;b&#62;.example -all").hides("<b>.example");
    page.shows("10 mx.other.example").shows("Mail to the domain goes elsewhere");
}

async fn a_check_finds_everything_and_lets_a_new_key_sign(app: TestApp) {
    let keep = |first: bool| {
        let key = model::mailboxes::domains::make_key(&app.app.ids).unwrap();
        app.act(&app.owner, move |tx, cx| match first {
            true => model::mailboxes::domains::keep_first_key(tx, cx, "acme.example", &key),
            false => model::mailboxes::domains::keep_next_key(tx, cx, "acme.example", &key),
        })
    };
    keep(true).await;
    app.advance(DAY);
    keep(false).await;
    let list = |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        model::mailboxes::domains::list_keys(tx, cx, "acme.example")
    };
    let keys = app.act(&app.owner, list).await;
    let mut zone = Zone::default()
        .text("acme.example", "v=spf1 a:mail.acme.example -all")
        .text("_dmarc.acme.example", "v=DMARC1; p=none")
        .mx("acme.example", 10, "mail.acme.example");
    for key in &keys {
        let name = format!("{}._domainkey.acme.example", key.selector);
        zone = zone.text(&name, &mail::dkim_record(&key.public));
    }
    let app = app.with_dns(zone.serve().await);
    let owner = app.signed_in(&app.owner).await;
    let page = owner.post(&format!("{}/records", page_of(&app)), &[]).await.is(200);
    page.shows("Every record that vouches for your mail is found");
    page.hides("Missing").hides("Different").hides("Not known");
    page.shows(&format!("with the key <code>{}</code>", keys[0].selector));
}

async fn a_dns_that_cannot_be_asked_is_said_to_be_unknown(app: TestApp) {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let silent = socket.local_addr().unwrap();
    let app = app.with_dns(silent);
    let owner = app.signed_in(&app.owner).await;
    let began = std::time::Instant::now();
    let page = owner.post(&format!("{}/records", page_of(&app)), &[]).await.is(200);
    assert!(began.elapsed() < std::time::Duration::from_secs(9), "{:?}", began.elapsed());
    page.shows("0 of the 2 records").shows("Not known").shows("The DNS did not answer");
    page.hides("Missing");
}

async fn a_member_sees_nothing_of_how_mail_is_fetched_or_vouched_for(app: TestApp) {
    fetch(&app).await;
    round(&app, Some(FetchFailure { sentence: REASON.into(), kind: FetchFailureKind::Refused }))
        .await;
    let bo = app.person("Bo").await;
    let member = app.signed_in(&bo).await;
    let path = page_of(&app);
    let page = member.get(&path).await.is(200);
    page.shows("How it works").hides("imap.acme.example").hides("desk@acme.example").hides(REASON);
    page.hides("DNS records").hides("Check now").hides("v=spf1");
    member.get("/settings/inboxes").await.is(200).hides("Failing").hides("Fetched");
    member.post(&format!("{path}/records"), &[]).await.is(403);
    member.post(&format!("{path}/signing-key"), &[]).await.is(403);
}
