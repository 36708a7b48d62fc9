//! The developer site: every page, every link, every example, and the console.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use api::operations::OPERATIONS;
use axum::body::Body;
use axum::http::Request;
use base::rate_limit::RateStatus;
use base::security::scopes::Scope;
use model::fields::{FieldKind, FieldOwner};
use model::webhooks::events::EVENTS;
use model::webhooks::webhook_signing::{Signed, is_genuine};
use serde_json::Value;

use crate::api::ALL;
use crate::support::{Answer, SECOND, TestApp, TestKey, file, letter, on_both, request, text_of};

on_both!(
    every_page_is_small_and_plain_and_every_link_leads_somewhere,
    every_example_runs_and_answers_as_shown,
    typed_clients_give_out_pages_and_follow_events,
    the_console_runs_in_the_sandbox_and_the_catcher_signs_what_it_shows,
    a_program_catches_signed_events_with_a_test_key
);

const PAGE_BYTES: usize = 60 * 1024;

fn links(html: &str) -> Vec<String> {
    let values = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let own = values.filter(|link| link.starts_with('/') && !link.starts_with("//"));
    own.map(|link| link.split('#').next().unwrap().replace("&amp;", "&")).collect()
}

async fn every_page_is_small_and_plain_and_every_link_leads_somewhere(app: TestApp) {
    let browser = app.browser();
    let (mut waiting, mut seen) = (vec!["/developers".to_owned()], BTreeSet::new());
    while let Some(path) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = browser.get(&path).await;
        assert!(page.status < 400, "{path}: {}", page.status);
        let is_page = path.starts_with("/developers")
            && page.answer.header("content-type").starts_with("text/html");
        if !is_page {
            continue;
        }
        let text = &page.text;
        assert!(text.len() < PAGE_BYTES, "{path} has {} bytes", text.len());
        assert_eq!(text.matches("<script").count(), 1, "{path}: copying alone needs a script");
        assert!(text.contains("<script type=\"module\" src=\"/assets/developers."), "{path}");
        for forbidden in [" style=", " onclick", "{address}", "{events}", "{rate}"] {
            assert!(!text.contains(forbidden), "{path} has {forbidden}");
        }
        assert_eq!(text.matches("<h1>").count(), 1, "{path}");
        waiting.extend(links(text));
        if path.starts_with("/developers/search") || path.contains('?') {
            continue;
        }
        let twin = browser.get(&format!("{path}.md")).await.is(200);
        assert!(twin.answer.header("content-type").starts_with("text/markdown"), "{path}");
        assert!(twin.text.starts_with("# "), "{path}");
        if !["/developers/console", "/developers/catcher"].contains(&path.as_str()) {
            let asked = Request::get(&path).header("accept", "text/markdown");
            let asked = browser.send(asked, Body::empty()).await.is(200);
            assert_eq!(asked.text, twin.text, "{path}");
        }
    }
    for operation in OPERATIONS {
        assert!(seen.contains(&format!("/developers/reference/{}", operation.name)));
        if let Some(tool) = &operation.tool {
            assert!(seen.contains(&format!("/developers/tools/{}", tool.name)), "{}", tool.name);
        }
    }
    for event in EVENTS {
        assert!(seen.contains(&format!("/developers/events/{}", event.name)), "{}", event.name);
    }
    programs_find_every_page(&app, &seen).await;
}

/// What `/llms.txt` lists is there, and it lists every page.
async fn programs_find_every_page(app: &TestApp, seen: &BTreeSet<String>) {
    let browser = app.browser();
    let list = browser.get("/llms.txt").await.is(200).text;
    let whole = browser.get("/llms-full.txt").await.is(200).text;
    let listed: BTreeSet<String> = list
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(".md)").next())
        .map(|url| url.strip_prefix(crate::support::PUBLIC_URL).expect("our address").to_owned())
        .collect();
    let pages = seen.iter().filter(|path| {
        path.starts_with("/developers")
            && !path.ends_with(".md")
            && !path.contains('?')
            && !path.starts_with("/developers/clients/")
    });
    for page in pages {
        assert!(listed.contains(page), "{page} is not in llms.txt");
        if !page.starts_with("/developers/changelog") {
            assert!(whole.contains(&format!("Source: {}{page}\n", crate::support::PUBLIC_URL)));
        }
    }
    let found = browser.get("/developers/search?q=idempotency+reply").await.is(200);
    assert!(found.text.contains("/developers/reference/reply"));
    let none = browser.get("/developers/search?q=xyzzy").await.is(200);
    assert!(none.text.contains("Nothing here has all of these words"));
    let sentences = browser.get("/developers/errors.md").await.is(200).text;
    let rate = RateStatus { limit: 120, remaining: 0, resets_in: 1, over: true };
    for error in [
        base::error::Error::Unauthorized,
        base::error::Error::KeyReused,
        base::error::Error::NotFound("conversation"),
        base::error::Error::Lacks { scope: Scope::Send, entirely: true },
        base::error::Error::TooMany(rate),
        base::error::Error::Files(std::io::Error::other("")),
        base::error::Error::LostFile,
    ] {
        assert!(sentences.contains(&error.to_string()), "{error}");
        assert!(sentences.contains(&format!("| {} |", error.status())), "{error}");
    }
    let refusals = written_refusals();
    assert!(refusals.len() > 6, "{refusals:?}");
    for sentence in refusals {
        assert!(sentences.contains(&format!("| {sentence} |")), "{sentence}");
    }
    for operation in OPERATIONS {
        for field in operation.fields {
            let schema = api::fields::field_schema(field).to_string();
            let is_time = schema.contains("T[0-9]{2}:[0-9]{2}");
            let says_how = ["such as 20", "find_slots"].iter().any(|how| schema.contains(how));
            assert!(!is_time || says_how, "{} {} lacks its form", operation.name, field.name);
        }
    }
}

/// The refusals that operations write word for word. Only what no request by key can meet is left out.
fn written_refusals() -> Vec<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<std::path::PathBuf> = Vec::new();
    let mut folders = vec![root.join("api/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.push(root.join("bookings/src/booking.rs"));
    files.push(root.join("outbound/src/taking_back.rs"));
    let unmet =
        ["Only a key has an agent.", "The time is not free any more. Please pick another one."];
    let guests = ["Please try again", "Please pick it again"];
    let mut refusals = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let pieces =
            ["Error::Forbidden(", "Error::Conflict("].map(|start| text.split(start).skip(1));
        for piece in pieces.into_iter().flatten() {
            let Some(rest) = piece.trim_start().strip_prefix('"') else { continue };
            let sentence = rest.split('"').next().unwrap().to_owned();
            let is_met = !unmet.contains(&sentence.as_str())
                && !guests.iter().any(|words| sentence.contains(words));
            refusals.extend(is_met.then_some(sentence));
        }
    }
    refusals
}

/// The blocks of code of a page: what stands after the fence, and the code.
fn blocks(markdown: &str) -> Vec<(&str, &str)> {
    let blocks = markdown.split("```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("a block has a first line")).collect()
}

/// Somebody who copies the code of a page into one terminal, call after call.
struct Reader<'a> {
    app: &'a TestApp,
    key: TestKey,
    page: String,
    /// The variables that were set.
    kept: BTreeMap<String, String>,
    calls: usize,
}

impl Reader<'_> {
    /// Makes the calls of a block; the answer to the last one.
    async fn run(&mut self, code: &str) -> Answer {
        let mut pieces = code.split("curl ");
        let mut before = pieces.next().unwrap_or_default();
        let mut last = None;
        for piece in pieces {
            last = Some(self.call(before.rsplit('\n').next().unwrap_or_default(), piece).await);
            before = piece;
        }
        last.expect("a call")
    }

    /// Makes a call. What stands before it says what becomes of its answer.
    async fn call(&mut self, before: &str, written: &str) -> Answer {
        let call = self.with_kept(written);
        let variable = before.strip_suffix("=$(").and_then(|text| text.rsplit(' ').next());
        if before.starts_with("until ") && variable.is_some() {
            let mut mail = letter("ann@keller.test", "Paper", "Here.");
            mail.attachments = vec![file("a.txt", b"Total 12.00 EUR")];
            self.app.deliver(&self.app.sandbox, mail).await;
        }
        let mut answer = self.ask(&call).await;
        while before.starts_with("while ") && text(&answer).contains("\"id\"") {
            assert!(self.calls < 1_000, "{}: {call}", self.page);
            self.app.advance(6 * SECOND);
            self.app.work().await;
            answer = self.ask(&call).await;
        }
        let answered = text(&answer);
        let member = call.split_once("grep -o '\"").and_then(|(_, rest)| rest.split('"').next());
        if let (Some(variable), Some(member)) = (variable, member) {
            let (_, value) = answered.split_once(&format!("\"{member}\":\"")).expect(member);
            let value = value.split('"').next().unwrap_or_default();
            self.kept.insert(variable.to_owned(), value.to_owned());
        }
        if let Some((_, id)) = answered.split_once("\"conversationId\":\"") {
            let id = id.split('"').next().unwrap_or_default().to_owned();
            self.kept.entry("CONVERSATION".into()).or_insert(id);
        }
        answer
    }

    /// The code with the values of its variables, as a shell would read it.
    fn with_kept(&self, code: &str) -> String {
        let mut names: Vec<&String> = self.kept.keys().collect();
        names.sort_by_key(|name| Reverse(name.len()));
        names.into_iter().fold(code.to_owned(), |code, name| {
            let value = &self.kept[name];
            code.replace(&format!("'${name}'"), value).replace(&format!("${name}"), value)
        })
    }

    async fn ask(&mut self, call: &str) -> Answer {
        self.calls += 1;
        let url = call.split('"').nth(1).expect("an address");
        let body = call.split_once("-d '").and_then(|(_, rest)| rest.split('\'').next());
        let method = match call.contains("-X DELETE") {
            true => "DELETE",
            false if body.is_some() => "POST",
            false => "GET",
        };
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_owned()));
        self.app.settle().await;
        let request = match url.strip_prefix(crate::support::PUBLIC_URL) {
            Some(page) => {
                let key = format!("Bearer {}", self.key.key);
                Request::get(page).header("authorization", key).body(body).unwrap()
            }
            None => {
                // What follows in the events has the address that the header named.
                let path = match url.strip_prefix("$NEXT") {
                    Some(rest) => &rest.replacen('&', "/events?", 1),
                    None => &url["$MAILROOM".len()..],
                };
                assert!(!path.contains('$'), "{}: {path}", self.page);
                request(method, path, Some(&self.key.key), body)
            }
        };
        let answer = self.app.send(request).await;
        let told = text(&answer);
        assert!(answer.status < 300, "{} {url}: {} {told}", self.page, answer.status);
        answer
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

/// `scripts/conformance/developers` runs them; this holds what their users write.
async fn typed_clients_give_out_pages_and_follow_events(app: TestApp) {
    let browser = app.browser();
    let python = browser.get("/developers/clients/mailroom.py").await.is(200).text;
    for part in [
        ") -> Page[\"EventRecord\"]:",
        ") -> Iterator[\"EventRecord\"]:",
        "    def follow_events(\n",
        "idempotency_key=idempotency_key or str(uuid.uuid4())",
    ] {
        assert!(python.contains(part), "{part}");
    }
    assert!(!python.contains("**query: Any"), "iterators have typed arguments");
    let typescript = browser.get("/developers/clients/mailroom.ts").await.is(200).text;
    for part in [
        "): Promise<Page<EventRecord>> {",
        "): AsyncGenerator<EventRecord> {",
        "followEvents(options: FeedOptions = {}): EventFeed<EventRecord> {",
        "{ idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() }",
    ] {
        assert!(typescript.contains(part), "{part}");
    }
    let lists = OPERATIONS.iter().filter(|one| one.fields.iter().any(|f| f.name == "cursor"));
    assert_eq!(
        typescript.matches("AsyncGenerator<").count(),
        lists.count() + 2,
        "one for each list"
    );
}

/// With a new test key in a new workspace, exactly as the pages show it.
async fn every_example_runs_and_answers_as_shown(app: TestApp) {
    let key = app.test_key(ALL).await;
    // The fields that owners of the sample have added.
    app.field("order", FieldOwner::Conversation, FieldKind::Reference, &[]).await;
    app.field("prices", FieldOwner::Contact, FieldKind::Choice, &["Retail", "Trade"]).await;
    let browser = app.browser();
    let list = browser.get("/llms.txt").await.is(200).text;
    let pages = list.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut run = 0;
    // They need the scope admin, which is for keys that somebody makes for it.
    let for_admins = ["/undo_agent.md", "/resume_agent.md", "_webhook.md", "_webhooks.md"];
    for page in pages.filter(|page| !for_admins.iter().any(|end| page.ends_with(end))) {
        let path = page.strip_prefix(crate::support::PUBLIC_URL).unwrap();
        let markdown = browser.get(path).await.is(200).text;
        // A key that paused itself does nothing else any more.
        let key = match path.contains("pause_agent") {
            true => app.test_key(ALL).await,
            false => key.clone(),
        };
        let (kept, page) = (BTreeMap::new(), path.to_owned());
        let mut reader = Reader { app: &app, key, page, kept, calls: 0 };
        let mut last = None;
        for (info, code) in blocks(&markdown) {
            if info.starts_with("sh ") {
                last = Some(reader.run(code).await);
                run += 1;
            } else if info.starts_with("json Answer") {
                let shown = serde_json::from_str(code).expect("JSON");
                let answer = last.as_ref().expect("a request before its answer");
                same_shape(&shown, &answer.json(), path);
            }
        }
        for name in ["MAILROOM", "MAILROOM_KEY"] {
            let ends = ['/', '"', ' '].map(|end| format!("${name}{end}"));
            let uses = ends.iter().any(|used| markdown.contains(used));
            let says = markdown.contains(&format!("export {name}="));
            assert!(!uses || says, "{path} does not say what {name} is");
        }
        app.advance(60_000);
    }
    assert!(run > OPERATIONS.len(), "{run}");
}

/// Holds that every name of the shown answer is in the real one, with a value of its kind.
fn same_shape(shown: &Value, real: &Value, at: &str) {
    match (shown, real) {
        // Its names are the workspace's own.
        (Value::Object(_), Value::Object(_)) if at.ends_with(".fields") => {}
        (Value::Object(shown), Value::Object(real)) => {
            for (name, value) in shown {
                let found =
                    real.get(name).unwrap_or_else(|| panic!("{at}: {name} is not in {real:?}"));
                same_shape(value, found, &format!("{at}.{name}"));
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            if let (Some(one), Some(other)) = (shown.first(), real.first()) {
                // Items of a timeline, events and the fields of documents are of several kinds.
                if one["type"] == other["type"] {
                    same_shape(one, other, at);
                }
            }
        }
        (shown, real) => {
            let kind = |value: &Value| match value {
                Value::Null => 0,
                Value::Bool(_) => 1,
                Value::Number(_) => 2,
                Value::String(_) => 3,
                Value::Array(_) => 4,
                Value::Object(_) => 5,
            };
            let fits = shown.is_null() || real.is_null() || kind(shown) == kind(real);
            assert!(fits, "{at}: {shown} is shown, {real} is answered");
        }
    }
}

async fn the_console_runs_in_the_sandbox_and_the_catcher_signs_what_it_shows(app: TestApp) {
    let stranger = app.browser();
    let told = stranger.get("/developers/console").await.is(200);
    assert!(told.text.contains("/sign-in?next=/developers/console"));
    assert!(stranger.post_bare("/developers/console", &[("op", "me")]).await.status != 200);

    let member = app.person("Mia").await;
    let browser = app.signed_in(&member).await;
    browser.get("/developers/console?op=nothing").await.is(404);
    let form =
        [("op", "sandbox_inbound"), ("f.from", "mara@customer.test"), ("f.text", "Hello <b>")];
    let page = browser.post("/developers/console", &form).await.is(200);
    assert!(page.text.contains("201") && page.text.contains("cnv_"), "{}", page.text);
    assert!(page.text.contains("as Console · Mia"), "{}", page.text);
    assert!(page.text.contains("$MAILROOM/sandbox/inbound"));
    assert!(!page.text.contains("rk_test_") && !page.text.contains("<b>\""), "no key, no markup");

    let live = app.mail("bruno@keller.example", "Lamp", "Secret lamp").await.conversation;
    let look = [("op", "get_conversation"), ("id", live.as_str())];
    let hidden = browser.post("/developers/console", &look).await.is(200);
    assert!(hidden.text.contains("404") && !hidden.text.contains("Secret lamp"));
    let prefilled = browser.get("/developers/console?op=reply").await.is(200);
    assert!(prefilled.text.contains("value=\"cnv_"), "{}", prefilled.text);
    let wrong = [("op", "reply"), ("id", "cnv_1"), ("f.send", "true"), ("more", "[")];
    let wrong = browser.post("/developers/console", &wrong).await.is(200);
    assert!(wrong.text.contains("must be a JSON object"));
    browser.post("/developers/key", &[]).await.is(403);

    let caught = browser.get("/developers/catcher").await.is(200);
    let secret = caught.between("<code>whsec_", "</code>").to_owned();
    let header = |name: &str| caught.between(&format!("{name}: "), "\n").trim().to_owned();
    let (id, stamp) = (header("webhook-id"), header("webhook-timestamp"));
    let signatures = header("webhook-signature");
    let body = caught.between("class=\"g-bytes\">", "</code>").replace("&#34;", "\"");
    let body = body.replace("&quot;", "\"").replace("&#39;", "'");
    let call =
        Signed { id: &id, timestamp: &stamp, signatures: &signatures, body: body.as_bytes() };
    assert!(is_genuine(&call, &format!("whsec_{secret}"), app.now()), "{body}");
    assert!(body.contains("\"livemode\":false"), "{body}");

    let owner = app.signed_in(&app.owner).await;
    let made = owner.post("/developers/key", &[]).await.is(200);
    let key = made.between("MAILROOM_KEY=", "<").trim().to_owned();
    let me = app.send(request("GET", "/me", Some(&key), Body::empty())).await.is(200).json();
    assert_eq!(me["livemode"], false);
    // The same from any page, whose code then has it.
    let offer = owner.get("/developers/mcp").await.is(200);
    assert!(offer.text.contains("name=\"page\" value=\"/developers/mcp\""), "{}", offer.text);
    let filled = owner.post("/developers/key", &[("page", "/developers/mcp")]).await.is(200);
    let key = filled.between("MAILROOM_KEY=", "<").trim().to_owned();
    assert!(key.starts_with("rk_test_") && filled.text.contains(&format!("Bearer {key}")));
    assert!(!filled.text.contains("Bearer rk_test_…"));
    assert!(owner.get("/developers/errors").await.is(200).text.find("developers/key").is_none());
    assert!(!owner.get("/developers/mcp").await.text.contains(&key), "it is shown once");
}

async fn a_program_catches_signed_events_with_a_test_key(app: TestApp) {
    let key = app.test_key("read").await;
    app.simulate(&app.test_key(ALL).await, "mara@customer.test").await;
    let ask = async |key: &str| {
        let request = Request::get("/developers/catcher.json").header("authorization", key);
        app.send(request.body(Body::empty()).unwrap()).await
    };
    let caught = ask(&format!("Bearer {}", key.key)).await.is(200).json();
    let secret = text_of(&caught, "secret");
    let event = &caught["events"][0];
    let header = |name: &str| event["headers"][name].as_str().unwrap().to_owned();
    let body = text_of(event, "body");
    let call = Signed {
        id: &header("webhook-id"),
        timestamp: &header("webhook-timestamp"),
        signatures: &header("webhook-signature"),
        body: body.as_bytes(),
    };
    assert!(is_genuine(&call, &secret, app.now()), "{caught}");
    assert!(body.contains("\"livemode\":false"), "{body}");

    let live = app.key("read").await;
    ask(&format!("Bearer {}", live.key)).await.is(403);
    ask("Bearer rk_test_0000").await.is(401);
    ask("").await.is(401);
}
