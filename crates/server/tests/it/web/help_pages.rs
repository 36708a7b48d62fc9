//! The public help pages: what everybody reads, what nobody learns, and how the team changes it.

use std::sync::Arc;

use actions::workspace::help_site::set_help_site;
use actions::writing::answers::{self, AnswerInput};
use actions::writing::{answer_pages, saved_replies};
use axum::body::Body;
use axum::http::Request;
use base::actor::{Actor, Role};
use base::ids::AnswerId;
use base::limits::{HELP_NEWEST, HELP_READS_A_MINUTE, MINUTE_MS};
use knowledge::help_site::HelpSiteInput;
use model::messages::answers::{AnswerAudience, HelpState};
use transport::http::Peer;

use crate::support::*;
use crate::web::browser::{Browser, Page};

on_both!(
    everybody_reads_what_is_public_in_its_language,
    an_address_that_changed_leads_on,
    what_is_not_public_leaves_no_trace,
    an_answer_that_becomes_private_is_gone,
    pages_past_their_day_and_of_other_languages_take_nobodys_place,
    a_page_says_once_a_day_whether_it_helped,
    pages_are_kept_for_a_while_and_asked_for_again,
    what_people_write_cannot_leave_its_place,
    a_network_that_searches_much_has_to_wait,
    several_workspaces_have_addresses_of_their_own,
    a_public_page_is_put_into_a_reply_as_a_link,
    the_team_writes_reviews_compares_and_goes_back,
    owners_and_admins_open_the_pages,
    a_page_is_small_and_a_search_reads_few_rows,
);

/// An answer that everybody reads.
fn public(title: &str, body: &str, language: &str, section: &str) -> AnswerInput {
    AnswerInput {
        title: title.into(),
        body: body.into(),
        language: language.into(),
        section: section.into(),
        audience: "everybody".into(),
        help_state: "public".into(),
        ..AnswerInput::default()
    }
}

async fn add(app: &TestApp, by: &Actor, input: AnswerInput) -> AnswerId {
    app.act(by, move |tx, cx| answers::add_answer(tx, cx, &input)).await
}

async fn open(app: &TestApp, by: &Actor) -> String {
    let input = HelpSiteInput { is_open: true, language: "en".into(), form: String::new() };
    app.act(by, move |tx, cx| set_help_site(tx, cx, &input)).await.root()
}

/// Two sections in English, one answer of which is translated.
async fn sample(app: &TestApp) -> AnswerId {
    let refund = "Hello {{first_name|there}},\n\nthe money comes within **five** bank days.\n\nBye\n{{my_name}}";
    let refund =
        add(app, &app.owner, public("When the money comes", refund, "en", "Returns")).await;
    let german = AnswerInput {
        original: refund.to_string(),
        ..public("Wann das Geld kommt", "Das Geld kommt in fünf Tagen.", "de", "Rückgabe")
    };
    add(app, &app.owner, german).await;
    for (title, section) in [
        ("Which bulb fits", "Lamps"),
        ("The dimmer hums", "Lamps"),
        ("Caring for oak", "Lamps"),
        ("Cleaning the glass", "Lamps"),
    ] {
        let body = format!("{title}: this is what we know about dimmers and wood.");
        add(app, &app.owner, public(title, &body, "en", section)).await;
    }
    refund
}

async fn everybody_reads_what_is_public_in_its_language(app: TestApp) {
    sample(&app).await;
    let guest = app.browser();
    guest.get("/help").await.is(404);
    open(&app, &app.owner).await;
    let home = guest.get("/help").await.is(200);
    home.shows("<h2>Lamps</h2>").shows("Show all").shows("/help/en/when-the-money-comes");
    home.shows("hreflang=\"de\"").hides("Cleaning the glass and").hides("<script src");
    let german = Request::get("/help").header("accept-language", "de-CH");
    guest.send(german, Body::empty()).await.shows("Rückgabe");
    guest.get("/help/fr").await.is(404);
    let section = guest.get("/help/en/sections/lamps").await.is(200);
    section.shows("The dimmer hums").shows("Which bulb fits");
    let page = guest.get("/help/en/when-the-money-comes").await.is(200);
    page.shows("<strong>five</strong>").hides("first_name").hides("Bye").shows("FAQPage");
    page.shows("hreflang=\"de\" href=\"").shows("/help/de/wann-das-geld-kommt");
    guest.get("/help/de/wann-das-geld-kommt").await.is(200).shows("lang=\"de\"");
    let found = guest.get("/help/search?q=dimmer&language=en").await.is(200);
    found.shows("4 answers for").shows("<mark>").shows("The <mark>dimmer</mark> hums");
    guest.get("/help/search?q=zebra").await.is(200).shows("Nothing found");
    guest.get("/help/sitemap.xml").await.is(200).shows("<loc>").shows("wann-das-geld-kommt</loc>");
    guest.get("/help/feed.xml").await.is(200).shows("<entry xml:lang=\"en\">");
    guest.get("/help/de/feed.xml").await.is(200).hides("xml:lang=\"en\"");
    guest.get("/help/llms.txt").await.is(200).shows("- [When the money comes](");
    let arabic = public("مدة التسليم", "يصل الطرد خلال يومين.", "ar", "");
    add(&app, &app.owner, arabic).await;
    let home = guest.get("/help/ar").await.is(200);
    home.shows("<html lang=\"ar\" dir=\"rtl\">").shows("مدة التسليم").shows("كيف يمكننا مساعدتكم؟");
}

async fn an_address_that_changed_leads_on(app: TestApp) {
    let refund = sample(&app).await;
    open(&app, &app.owner).await;
    let guest = app.browser();
    let id = refund.clone();
    let rename = |slug: &'static str| {
        let id = id.clone();
        app.act(&app.owner, move |tx, cx| {
            let answer = answers::load_answer(tx, cx, &id)?.answer;
            let input = AnswerInput { slug: slug.into(), ..answer_pages::input_of(&answer) };
            answers::change_answer(tx, cx, &id, &input)
        })
    };
    rename("refunds").await;
    rename("money").await;
    for old in ["when-the-money-comes", "refunds"] {
        let moved = guest.get(&format!("/help/en/{old}")).await.is(301);
        assert_eq!(moved.answer.header("location"), "/help/en/money");
    }
    guest.get("/help/en/money").await.is(200);
    let taken = AnswerInput {
        slug: "refunds".into(),
        ..public("Other", "This is something else for all of you.", "en", "")
    };
    let refused = app.try_answer(&app.owner, taken).await.unwrap_err().to_string();
    assert!(refused.contains("has or had this address"), "{refused}");
    app.act(&app.owner, move |tx, cx| answers::retire_answer(tx, cx, &refund)).await;
    for old in ["when-the-money-comes", "refunds", "money"] {
        guest.get(&format!("/help/en/{old}")).await.is(404);
    }
}

/// Everything that a visitor can ask, with the names of what is hidden among it.
const ROUTES: [&str; 20] = [
    "/help",
    "/help/en",
    "/help/de",
    "/help/fr",
    "/help/en/when-the-money-comes",
    "/help/en/the-dimmer-hums",
    "/help/en/hidden-lamp",
    "/help/en/hidden-lamp-old",
    "/help/de/versteckt",
    "/help/en/sections/lamps",
    "/help/en/sections/hidden-things",
    "/help/en/sections/more",
    "/help/search?q=hidden",
    "/help/search?q=dimmer&language=en",
    "/help/search?q=xylophone&language=en",
    "/help/search?q=geheim&language=de",
    "/help/sitemap.xml",
    "/help/feed.xml",
    "/help/en/feed.xml",
    "/help/llms.txt",
];

/// What a visitor learns of each route: status, headers that tell of it, and every byte.
async fn told(app: &TestApp) -> Vec<(String, u16, String, String)> {
    let guest = app.browser();
    let mut told = Vec::new();
    for route in ROUTES {
        let page = guest.get(route).await;
        let headers = page.answer.header_list();
        let headers: Vec<_> = headers
            .into_iter()
            .filter(|line| !format!("{line:?}").contains("request-id"))
            .map(|line| format!("{line:?}"))
            .collect();
        told.push((route.to_owned(), page.status, headers.join("\n"), page.text));
    }
    told
}

/// Answers of every kind that nobody outside may learn of.
async fn hide(app: &TestApp) {
    let words = "The hidden dimmer is a xylophone that nobody knows of, geheim.";
    let hidden = |title: &str, audience: &str, state: &str| AnswerInput {
        audience: audience.into(),
        help_state: state.into(),
        ..public(title, words, "en", "Hidden things")
    };
    for (title, audience, state) in [
        ("Hidden lamp", "team", "public"),
        ("Hidden lamp two", "helpers", "public"),
        ("Hidden lamp three", "everybody", "draft"),
        ("Hidden lamp four", "everybody", "review"),
    ] {
        add(app, &app.owner, hidden(title, audience, state)).await;
    }
    let german =
        AnswerInput { help_state: "draft".into(), ..public("Versteckt", words, "de", "Geheim") };
    add(app, &app.owner, german).await;
    // One that was public once, under two addresses.
    let once =
        AnswerInput { slug: "hidden-lamp-old".into(), ..hidden("Once", "everybody", "public") };
    let once = add(app, &app.owner, once).await;
    let id = once.clone();
    app.act(&app.owner, move |tx, cx| {
        answer_pages::set_audience(tx, cx, &id, (AnswerAudience::Team, HelpState::Public))
    })
    .await;
    let retired = add(app, &app.owner, hidden("Retired lamp", "everybody", "public")).await;
    app.act(&app.owner, move |tx, cx| answers::retire_answer(tx, cx, &retired)).await;
    let past = AnswerInput {
        valid_until: "2026-01-31".into(),
        ..hidden("Past lamp", "everybody", "public")
    };
    add(app, &app.owner, past).await;
    let cy = app.person("Cy").await;
    let inbox = app.private_inbox(&cy).await;
    let private = AnswerInput {
        inboxes: vec![inbox.id.to_string()],
        help_state: "draft".into(),
        ..hidden("Private lamp", "everybody", "draft")
    };
    add(app, &cy, private.clone()).await;
    let refused = AnswerInput { title: "Another".into(), help_state: "public".into(), ..private };
    let refused = app.try_answer(&cy, refused).await.unwrap_err().to_string();
    assert!(refused.contains("cannot be public"), "{refused}");
    let saved = saved_replies::SavedReplyInput {
        name: "Hidden lamp".into(),
        folder: "Lamps".into(),
        body: words.into(),
    };
    app.act(&app.owner, move |tx, cx| saved_replies::save_reply(tx, cx, &saved, &[])).await;
}

async fn what_is_not_public_leaves_no_trace(app: TestApp) {
    sample(&app).await;
    open(&app, &app.owner).await;
    let before = told(&app).await;
    hide(&app).await;
    let after = told(&app).await;
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one, other);
    }
    for (route, status, _, text) in &after {
        assert!(!text.contains("xylophone that"), "{route}");
        assert!(*status == 200 || !route.contains("search"), "{route}: {status}");
    }
    // Keys of the team find some of them, and no public page: nothing of the private inbox, and nothing that
    // only people see.
    let key = app.key("read").await;
    let found = app.get(&key, "/answers?q=hidden%20lamp&limit=100").await.is(200).json();
    let found = found.as_array().unwrap();
    let titles = texts(found, "title");
    assert!(titles.contains(&"Hidden lamp two".to_owned()), "{titles:?}");
    for hidden in ["Private lamp", "Once", "Retired lamp", "Past lamp"] {
        assert!(!titles.contains(&hidden.to_owned()), "{titles:?}");
    }
    let named = found.iter().filter(|one| one["title"].as_str().unwrap().starts_with("Hidden"));
    assert!(named.clone().count() >= 3, "{titles:?}");
    assert!(named.clone().all(|one| one["public"] == false && one["url"].is_null()));
    let of_people = named.filter(|one| one["title"] == "Hidden lamp" && one["kind"] == "answer");
    assert_eq!(of_people.count(), 0);
    let sandbox = app.get(&app.test_key("read").await, "/answers?q=hidden").await.is(200).json();
    assert_eq!(sandbox, serde_json::json!([]));
    let money = app.get(&app.key("read").await, "/answers?q=money%20comes").await.is(200).json();
    assert_eq!(money[0]["public"], true);
    assert_eq!(money[0]["section"], "Returns");
    assert_eq!(money[0]["url"], format!("{PUBLIC_URL}/help/en/when-the-money-comes"));
}

async fn an_answer_that_becomes_private_is_gone(app: TestApp) {
    open(&app, &app.owner).await;
    let inbox = app.team_inbox("sales@acme.example", "Sales").await;
    let input = AnswerInput {
        inboxes: vec![inbox.id.to_string()],
        ..public("Prices from ten lamps", "Ten lamps and more cost less for you.", "en", "Sales")
    };
    add(&app, &app.owner, input).await;
    let guest = app.browser();
    guest.get("/help/en/prices-from-ten-lamps").await.is(200);
    let browser = app.signed_in(&app.owner).await;
    let owner = user(&app.owner).to_string();
    let access = format!("/settings/inboxes/{}/access", inbox.id);
    browser
        .post(&access, &[("everybody", "no"), ("sees", &owner), ("sends", &owner)])
        .await
        .is(303);
    app.work().await;
    guest.get("/help/en/prices-from-ten-lamps").await.is(404);
    guest.get("/help/search?q=prices").await.is(200).shows("Nothing found");
}

async fn pages_past_their_day_and_of_other_languages_take_nobodys_place(app: TestApp) {
    open(&app, &app.owner).await;
    let oak = public("Oak", "Oak and a dimmer have nothing in common for you.", "en", "");
    add(&app, &app.owner, oak).await;
    app.advance(1_000);
    for number in 0..=HELP_NEWEST {
        let past = public(&format!("Dimmer {number}"), "The dimmer is old.", "en", "");
        add(&app, &app.owner, AnswerInput { valid_until: "2026-01-31".into(), ..past }).await;
        let german = public(&format!("Lampe {number}"), "Die Lampe ist neu.", "de", "");
        add(&app, &app.owner, german).await;
    }
    let found = app.browser().get("/help/search?q=dimmer&language=en").await.is(200);
    found.shows("1 answer for").shows("/help/en/oak").hides("is old");
    app.browser().get("/help/en/feed.xml").await.is(200).shows("/help/en/oak").hides("Lampe");
}

async fn a_page_says_once_a_day_whether_it_helped(app: TestApp) {
    let refund = sample(&app).await;
    open(&app, &app.owner).await;
    let guest = app.browser();
    let path = "/help/en/when-the-money-comes";
    for said in ["yes", "no", "yes"] {
        let page = guest.post_bare(path, &[("helped", said)]).await;
        page.goes_to(&format!("{path}?helped={said}"));
    }
    guest.get(&format!("{path}?helped=yes")).await.is(200).shows("Thank you");
    guest.post_bare(path, &[("helped", "<b>")]).await.goes_to(path);
    guest.post_bare("/help/en/nothing", &[("helped", "yes")]).await.is(404);
    let foreign = Request::post(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("sec-fetch-site", "cross-site");
    guest.send(foreign, Body::from("helped=no")).await.is(403);
    let id = refund.clone();
    let tally = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        Ok::<_, base::error::Error>(answer_pages::answer_background(tx, cx, &id)?.tally)
    };
    let counted = app.app.read(&app.owner, tally.clone()).await.unwrap();
    assert_eq!((counted.yes, counted.no), (1, 0));
    app.pass(DAY).await;
    guest.post_bare(path, &[("helped", "no")]).await;
    let counted = app.app.read(&app.owner, tally).await.unwrap();
    assert_eq!((counted.yes, counted.no), (1, 1));
}

async fn pages_are_kept_for_a_while_and_asked_for_again(app: TestApp) {
    let refund = sample(&app).await;
    open(&app, &app.owner).await;
    let guest = app.browser();
    let path = "/help/en/when-the-money-comes";
    let page = guest.get(path).await.is(200);
    assert_eq!(page.answer.header("cache-control"), "public, max-age=300");
    let tag = page.answer.header("etag").to_owned();
    let asked = || Request::get(path).header("if-none-match", tag.as_str());
    let again = guest.send(asked(), Body::empty()).await.is(304);
    assert!(again.text.is_empty());
    app.advance(1_000);
    app.act(&app.owner, move |tx, cx| {
        let answer = answers::load_answer(tx, cx, &refund)?.answer;
        let input = AnswerInput {
            body: "The money comes in six days.".into(),
            ..answer_pages::input_of(&answer)
        };
        answers::change_answer(tx, cx, &refund, &input)
    })
    .await;
    guest.send(asked(), Body::empty()).await.is(200).shows("six days");
    // The translation was not looked at since.
    guest.get("/help/de/wann-das-geld-kommt").await.shows("älter als der");
}

async fn what_people_write_cannot_leave_its_place(app: TestApp) {
    open(&app, &app.owner).await;
    let attack = "</script><script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) \
                  ![y](https://evil.example/p.png) <!-- is a text that you all read";
    let title = "\"><script>alert(1)</script>";
    let section = "<b onmouseover=alert(1)>S</b>";
    add(&app, &app.owner, public(title, attack, "en", section)).await;
    let guest = app.browser();
    for path in [
        "/help",
        "/help/en/script-alert-1-script",
        "/help/en/sections/b-onmouseover-alert-1-s-b",
        "/help/search?q=alert",
        "/help/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/help/feed.xml",
        "/help/sitemap.xml",
    ] {
        let page = guest.get(path).await.is(200);
        page.hides("<script>")
            .hides("<img")
            .hides("<b onm")
            .hides("href=\"javascript:")
            .hides("src=\"https://evil");
        assert_eq!(
            page.text.matches("</script").count(),
            page.text.matches("<script type=").count()
        );
        assert!(page.answer.header("content-security-policy").contains("script-src 'self'"));
    }
}

async fn a_network_that_searches_much_has_to_wait(app: TestApp) {
    sample(&app).await;
    open(&app, &app.owner).await;
    let guest = app.browser();
    let search = async |address: &str| {
        let peer = Peer::new(address.parse().unwrap(), Arc::default());
        let request = Request::get("/help/search?q=money").extension(peer);
        guest.send(request, Body::empty()).await.status
    };
    for _ in 0..HELP_READS_A_MINUTE / 4 {
        assert_eq!(search("192.0.2.77").await, 200);
    }
    assert_eq!((search("192.0.2.77").await, search("192.0.2.78").await), (429, 200));
    app.pass(MINUTE_MS).await;
    assert_eq!(search("192.0.2.77").await, 200);
}

async fn several_workspaces_have_addresses_of_their_own(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    add(&app, &other, public("Other firm", "This is of the other firm and you know.", "en", ""))
        .await;
    sample(&app).await;
    let (own, others) = (open(&app, &app.owner).await, open(&app, &other).await);
    assert!(own.starts_with("/help/") && others.starts_with("/help/") && own != others);
    let guest = app.browser();
    guest.get("/help").await.is(404);
    guest.get(&others).await.is(200).shows("Other firm").hides("dimmer");
    guest.get(&own).await.is(200).hides("Other firm").shows("dimmer");
    guest.get(&format!("{own}/en/other-firm")).await.is(404);
    guest.get(&format!("{own}/search?q=firm")).await.is(200).hides("of the other");
    guest.get(&format!("{others}/en/other-firm")).await.is(200);
}

async fn the_team_writes_reviews_compares_and_goes_back(app: TestApp) {
    open(&app, &app.owner).await;
    let browser = app.signed_in(&app.owner).await;
    let fields = |body: &'static str, state: &'static str| {
        [
            ("title", "Fee taken twice"),
            ("body", body),
            ("language", "en"),
            ("audience", "everybody"),
            ("help_state", state),
            ("section", "Paying"),
        ]
    };
    let with_name = "Hello,\n\nyour {{subject}} comes back to you.\n\nBye";
    browser.post("/answers", &fields(with_name, "public")).await.is(422).shows("no placeholders");
    browser.post("/answers", &fields("It takes three days for you.", "review")).await;
    let list = browser.get("/answers?show=review").await.is(200);
    let path = format!("/answers/ans_{}", list.between("href=\"/answers/ans_", "\""));
    list.shows("To be reviewed");
    app.browser().get("/help/en/fee-taken-twice").await.is(404);
    let bo = app.person("Bo").await;
    let other = app.signed_in(&bo).await;
    other.post(&path, &fields("It takes five days for you.", "public")).await.goes_to("/answers");
    app.browser().get("/help/en/fee-taken-twice").await.is(200).shows("five days");
    let page = browser.get(&path).await.is(200);
    page.shows("Bo Teammate").shows("made it public").shows("/help/en/fee-taken-twice");
    let history = browser.get(&format!("{path}/history")).await.is(200);
    history.shows("<del>three</del>").shows("<ins>five</ins>").shows("Use these words again");
    browser.post(&format!("{path}/history/1"), &[]).await.goes_to(&path);
    app.browser().get("/help/en/fee-taken-twice").await.is(200).shows("three days");
    browser.post(&format!("{path}/history/99"), &[]).await.is(404);
    let audit = browser.get("/settings/audit").await.is(200);
    audit.shows("made the answer public");
    browser
        .get(&format!("{}?of={}", "/answers/new", &path["/answers/".len()..]))
        .await
        .is(200)
        .shows("New translation");
    browser.post(&format!("{path}/check"), &[]).await.goes_to(&path);
    browser.get(&path).await.is(200).shows("it still holds");
}

async fn owners_and_admins_open_the_pages(app: TestApp) {
    let bo = app.person_with("Bo", Role::Member).await;
    let member = app.signed_in(&bo).await;
    member.get("/settings/help").await.is(403);
    member.post("/settings/help", &[("open", "yes"), ("language", "en")]).await.is(403);
    let browser = app.signed_in(&app.owner).await;
    browser.get("/settings/help").await.is(200).shows("Off");
    let saved = browser.post("/settings/help", &[("open", "yes"), ("language", "english")]).await;
    saved.is(422).shows("two letters");
    browser
        .post("/settings/help", &[("open", "yes"), ("language", "en")])
        .await
        .goes_to("/settings/help");
    browser.get("/settings/help").await.is(200).shows("/help");
    app.browser().get("/help").await.is(200).shows("no answers here yet");
    browser.post("/settings/help", &[("language", "en")]).await.goes_to("/settings/help");
    app.browser().get("/help").await.is(404);
}

async fn a_page_is_small_and_a_search_reads_few_rows(app: TestApp) {
    open(&app, &app.owner).await;
    let long = "several long words about lamps and wood, ".repeat(240);
    let whole = format!("We say {long} and that is what you read.");
    add(&app, &app.owner, public("A long answer", &whole, "en", "Lamps")).await;
    for number in 0..60 {
        let title = format!("Question number {number}");
        let body = "This is about lamps and about the wood that you have.";
        add(&app, &app.owner, public(&title, body, "en", &format!("Section {}", number % 20)))
            .await;
    }
    let guest = app.browser();
    for path in
        ["/help", "/help/en/a-long-answer", "/help/search?q=lamps", "/help/en/sections/lamps"]
    {
        let page: Page = guest.get(path).await.is(200);
        assert!(page.text.len() <= 50 * 1024, "{path}: {} bytes", page.text.len());
    }
    let links = format!("You read {}", "www.a.example ".repeat(700));
    let large = public("Many links", &links, "en", "");
    let refused = app.try_answer(&app.owner, large).await.unwrap_err().to_string();
    assert!(refused.contains("too large"), "{refused}");
    let many: Browser<'_> = app.browser();
    let found = many.get("/help/search?q=lamps&language=en").await.is(200);
    assert!(found.text.matches("<mark>").count() >= 20);
}

async fn a_public_page_is_put_into_a_reply_as_a_link(app: TestApp) {
    let refund = sample(&app).await;
    let root = open(&app, &app.owner).await;
    let mail = app.mail("ann@x.example Ann", "Money", "When does the money come?").await;
    let browser = app.signed_in(&app.owner).await;
    let path = format!("/conversations/{}", mail.conversation);
    let page = browser.get(&format!("{path}?write=reply")).await.is(200);
    page.shows("When the money comes").shows("Help pages");
    let reply = refund.saved_reply().unwrap();
    let link = browser.post(&format!("{path}/saved/{reply}"), &[]).await.is(200);
    link.shows(&format!("{PUBLIC_URL}{root}/en/when-the-money-comes"));
    app.act(&app.owner, move |tx, cx| answers::retire_answer(tx, cx, &refund)).await;
    browser.post(&format!("{path}/saved/{reply}"), &[]).await.is(404);
}
