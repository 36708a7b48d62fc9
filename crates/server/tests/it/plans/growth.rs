//! A workspace that grows: a few of everything, made as they are in life, then thousands of copies.

use std::ops::RangeInclusive;

use actions::workspace::help_site::set_help_site;
use actions::writing::answers::AnswerInput;
use knowledge::help_site::HelpSiteInput;
use model::fields::{FieldKind, FieldOwner};
use postgres::Client;
use serde_json::json;

use super::work::past_the_store;
use crate::support::*;

/// Conversations, each with two mails.
const CONVERSATIONS: i64 = 2_000;
/// Rows of each queue that are planned for later, and those of them that are there from the start.
const PLANNED: i64 = 600;
const FIRST_PLANNED: i64 = 5;
/// When they are: in a year.
const LATER_MS: i64 = 365 * DAY;

pub struct Seeds {
    pub key: TestKey,
    pub conversation: String,
    /// What the mails of the first customer are called.
    pub header_id: String,
}

/// A few of everything.
pub async fn seed(app: &TestApp) -> Seeds {
    let key = app.key("read write draft send record").await;
    let mut mail = letter("ann@customer.example Ann", "Lamp", "zeppelin invoice lamp w0001");
    mail.attachments = vec![file("lamp.txt", b"a lamp")];
    mail.message_id = Some("first@customer.example".into());
    let first = app.deliver(&app.support, mail).await.conversation.to_string();
    app.webhook(&app.owner, false, true).await;
    app.mail("bo@customer.example", "Chair", "a chair").await;
    let later = app.mail("cy@customer.example", "Shelf", "a shelf").await;
    app.snooze(&app.owner, &later.conversation, app.now() + LATER_MS).await;
    app.on(&key, &first, "notes", json!({ "body": "look" })).await.is(201);
    app.on(&key, &first, "tags", json!({ "add": ["wood"] })).await.is(200);
    app.topic("Furniture", "lamp, chair").await;
    let sorted = json!({ "topic": "Furniture", "urgency": "high" });
    app.on(&key, &first, "sorting", sorted).await.is(200);
    for (name, owner, kind, choices) in [
        ("order", FieldOwner::Conversation, FieldKind::Reference, &[][..]),
        ("items", FieldOwner::Conversation, FieldKind::Number, &[][..]),
        ("shop", FieldOwner::Conversation, FieldKind::Choice, &["North", "South"][..]),
        ("plan", FieldOwner::Contact, FieldKind::Choice, &["Free", "Pro"][..]),
        ("tier", FieldOwner::Company, FieldKind::Choice, &["Gold", "Silver"][..]),
    ] {
        app.field(name, owner, kind, choices).await;
    }
    let values = json!({ "fields": { "order": "A-0", "items": 2, "shop": "North" } });
    app.on(&key, &first, "fields", values).await.is(200);
    let values = json!({ "fields": { "plan": "Pro", "tier": "Gold" } });
    app.post(&key, "/contacts/ann@customer.example/fields", values).await.is(200);
    app.draft(&key, &first, "a draft").await;
    app.send_reply(&key, &first, "an answer").await;
    app.schedule(&key, &first, "another answer").await;
    let asked = json!({ "documents": [{ "label": "Invoice" }], "message": "please" });
    app.on(&key, &first, "document-requests", asked).await.is(201);
    let told = json!({
        "messageId": "<app@acme.example>", "to": ["dee@customer.example"],
        "subject": "Your order", "reference": "order-1",
    });
    app.post(&key, "/app-mail", told).await.is(201);
    open_help(app).await;
    app.pass(0).await;
    let seeds = Seeds { key, conversation: first, header_id: "first@customer.example".into() };
    past_the_store(app, |client| plan(client, app, &seeds, 1..=FIRST_PLANNED));
    seeds
}

/// Help pages with one answer.
async fn open_help(app: &TestApp) {
    let answer = AnswerInput {
        title: "Which lamp fits".into(),
        body: "Any zeppelin lamp fits that you can hold in your hand.".into(),
        section: "Lamps".into(),
        audience: "everybody".into(),
        help_state: "public".into(),
        ..AnswerInput::default()
    };
    app.try_answer(&app.owner, answer).await.unwrap();
    let site = HelpSiteInput { is_open: true, language: "en".into(), form: String::new() };
    app.act(&app.owner, move |tx, cx| set_help_site(tx, cx, &site)).await;
}

/// Copies of a row, numbered, each with changes. `n` is its number, `id(n)` an id made of that, and
/// `id(half)` one that two share.
fn copy(
    client: &mut Client,
    (table, of): (&str, &str),
    numbers: RangeInclusive<i64>,
    changes: &str,
) {
    let name = |number: &str| format!("lpad(CAST({number} AS TEXT), 25, '0')");
    let changes = changes.replace("id(half)", &name("(n + 1) / 2")).replace("id(n)", &name("n"));
    let (first, last) = (numbers.start(), numbers.end());
    let sql = format!(
        "INSERT INTO {table} SELECT copied.*
         FROM (SELECT t FROM {table} t WHERE {of} LIMIT 1) one
         CROSS JOIN generate_series({first}, {last}) n
         CROSS JOIN LATERAL jsonb_populate_record(one.t, jsonb_build_object({changes})) copied"
    );
    let made = client.execute(&sql, &[]).unwrap_or_else(|error| panic!("{table}: {error:?}"));
    assert_eq!(made as i64, last - first + 1, "{table} has nothing to copy where {of}");
}

/// Thousands of everything.
pub fn grow(app: &TestApp, seeds: &Seeds) {
    past_the_store(app, |client| {
        grow_mail(client, app, seeds);
        grow_files_and_events(client, app, seeds);
        grow_help(client);
        plan(client, app, seeds, FIRST_PLANNED + 1..=PLANNED);
        client.batch_execute("SELECT pg_stat_force_next_flush()").unwrap();
    });
}

fn grow_mail(client: &mut Client, app: &TestApp, seeds: &Seeds) {
    let (now, owner) = (app.now(), user(&app.owner));
    let own = format!("id = '{}'", seeds.conversation);
    let inside = format!("conversation = '{}'", seeds.conversation);
    let conversations = format!(
        "'id', 'cnv_0' || id(n), 'num', 1000000 + n, 'subject', 'Lamp ' || n,
         'base_subject', 'lamp ' || n,
         'contact_email', CASE n % 2 WHEN 0 THEN 'busy' ELSE 'c' || n END || '@customer.example',
         'view', (ARRAY['open', 'waiting', 'closed'])[1 + n % 3],
         'status', (ARRAY['open', 'waiting', 'closed'])[1 + n % 3],
         'last_message_at', {now} - n * 1000,
         'assignee', CASE n % 4 WHEN 0 THEN '{owner}' ELSE '' END,
         'reference', CASE n % 3 WHEN 0 THEN 'order-' || n % 40 END, 'held', n % 500 = 0"
    );
    copy(client, ("conversations", &own), 1..=CONVERSATIONS, &conversations);
    let messages = format!(
        "'id', 'msg_0' || id(n), 'conversation', 'cnv_0' || id(half), 'serial', 1 + n % 2,
         'at', {now} - n * 500, 'counted_at', {now} - n * 500,
         'header_id', 'h' || n || '@customer.example',
         'header_key', 'h' || n || '@customer.example'"
    );
    let received = format!("{inside} AND status IS NULL");
    copy(client, ("messages", &received), 1..=2 * CONVERSATIONS, &messages);
    for table in ["participants", "conversation_tags"] {
        copy(client, (table, &inside), 1..=CONVERSATIONS, "'conversation', 'cnv_0' || id(n)");
    }
    for table in ["notes", "timeline_events"] {
        let changes = "'conversation', 'cnv_0' || id(n), 'id', 'x_' || id(n)";
        copy(client, (table, &inside), 1..=CONVERSATIONS, changes);
    }
    let changes = "'conversation', 'cnv_0' || id(n)";
    for (field, value) in [
        ("order", "'value', 'A-' || n, 'folded', 'a-' || n"),
        ("items", "'value', n % 7, 'folded', n % 7, 'number', n % 7 * 10000"),
        ("shop", "'value', 'North'"),
    ] {
        let of = format!("field = '{field}'");
        let changes = format!("{changes}, {value}");
        copy(client, ("conversation_fields", &of), 1..=CONVERSATIONS, &changes);
    }
    let changes = "'email', 'c' || n || '@customer.example'";
    copy(client, ("contact_fields", "field = 'plan'"), 1..=CONVERSATIONS, changes);
    let changes = "'company', 'k' || n || '.example'";
    copy(client, ("company_fields", "field = 'tier'"), 1..=CONVERSATIONS, changes);
    let words =
        "'conversation', 'cnv_0' || id(half), 'num', 1000000 + (n + 1) / 2, 'serial', 1 + n % 2,
        'words', replace(replace(CAST((one.t).words AS TEXT), 'zeppelin', 'balloon' || n % 7),
            'w0001', 'w' || lpad(CAST(n AS TEXT), 5, '0'))";
    copy(client, ("message_index", &inside), 1..=2 * CONVERSATIONS, words);
}

fn grow_files_and_events(client: &mut Client, app: &TestApp, seeds: &Seeds) {
    let now = app.now();
    let documents = format!(
        "'id', 'doc_0' || id(n), 'num', 1000000 + n, 'conversation', 'cnv_0' || id(n),
         'created_at', {now} - n * 1000, 'extract_at', NULL"
    );
    let inside = format!("conversation = '{}'", seeds.conversation);
    copy(client, ("documents", &inside), 1..=CONVERSATIONS, &documents);
    let words = "'num', 1000000 + n,
        'words', replace(CAST((one.t).words AS TEXT), 'lamp', 'lamp' || n % 100)";
    copy(client, ("document_index", "num > 0"), 1..=CONVERSATIONS, words);
    let events = format!("'id', 'evt_0' || id(n), 'created_at', {now} - n * 100");
    copy(client, ("events", "circle = 'team'"), 1..=2 * CONVERSATIONS, &events);
    let deliveries = format!(
        "'event', 'evt_0' || id(n), 'state', 'delivered', 'next_attempt_at', NULL, 'created_at', {now}"
    );
    copy(client, ("deliveries", "event <> ''"), 1..=2 * CONVERSATIONS, &deliveries);
    let app_mail = format!(
        "'header_key', 'a' || n || '@acme.example', 'header_id', 'a' || n || '@acme.example',
         'conversation', 'cnv_0' || id(n), 'recorded_at', {now} - n * 1000"
    );
    copy(client, ("app_mail", "livemode"), 1..=CONVERSATIONS, &app_mail);
}

/// As many public answers as a workspace may have, half of which have the words of a search.
fn grow_help(client: &mut Client) {
    let pages = "'answer', 'ans_0' || id(n), 'original', 'ans_0' || id(n), 'slug', 'lamp-' || n,
        'title', 'Lamp ' || n, 'section_slug', 'section-' || n % 30, 'changed_at', n";
    copy(client, ("help_pages", "language = 'en'"), 1..=CONVERSATIONS, pages);
    let slugs = "'answer', 'ans_0' || id(n), 'slug', 'lamp-' || n";
    copy(client, ("help_slugs", "language = 'en'"), 1..=CONVERSATIONS, slugs);
    let words = "'answer', 'ans_0' || id(n), 'word',
        CASE n % 2 WHEN 0 THEN 'lamp' ELSE 'balloon' || n % 7 END";
    copy(client, ("help_words", "word = 'lamp'"), 1..=CONVERSATIONS, words);
}

/// Rows of every queue that fall due later.
fn plan(client: &mut Client, app: &TestApp, seeds: &Seeds, numbers: RangeInclusive<i64>) {
    let (now, later) = (app.now(), app.now() + LATER_MS);
    let inside = format!("conversation = '{}'", seeds.conversation);
    // The first ones are there before the other conversations are.
    let elsewhere = format!(
        "CASE WHEN n > {FIRST_PLANNED} THEN 'cnv_0' || id(n) ELSE (one.t).conversation END"
    );
    let planned = [
        (
            "messages",
            "status = 'scheduled'",
            format!(
                "'id', 'msg_9' || id(n), 'serial', 1000 + n, 'header_id', 'p' || n, 'header_key', 'p' || n,
             'request', NULL, 'sends_at', {later} + n, 'conversation', {elsewhere}"
            ),
        ),
        ("events", "circle = 'team'", format!("'id', 'evt_9' || id(n), 'created_at', {now}")),
        (
            "deliveries",
            "event <> ''",
            format!("'event', 'evt_9' || id(n), 'state', 'waiting', 'next_attempt_at', {later} + n"),
        ),
        (
            "conversations",
            "snoozed_until IS NOT NULL",
            format!("'id', 'cnv_9' || id(n), 'num', 2000000 + n, 'snoozed_until', {later} + n,
             'last_message_at', {now} - {LATER_MS} - n"),
        ),
        (
            "documents",
            "num > 0",
            format!(
                "'id', 'doc_9' || id(n), 'num', 2000000 + n, 'kind', NULL, 'extract_at', {later} + n"
            ),
        ),
        (
            "document_requests",
            inside.as_str(),
            format!(
                "'id', 'req_9' || id(n), 'token_hash', '\\x' || lpad(to_hex(n), 64, '0'),
             'asked_at', {now}, 'conversation', {elsewhere}, 'remind_at', {later} + n, 'hands_over_at', {later} + n"
            ),
        ),
        (
            "app_mail",
            "livemode",
            format!(
            "'header_key', 'w' || n || '@acme.example', 'header_id', 'w' || n || '@acme.example',
             'service', 'none', 'body_due_at', {later} + n"
        ),
        ),
    ];
    for (table, of, changes) in planned {
        copy(client, (table, of), numbers.clone(), &changes);
    }
    let (ws, first, last) = (app.owner.ws, numbers.start(), numbers.end());
    let rows = format!("generate_series({first}, {last}) n");
    let sql = format!(
        "INSERT INTO notices (ws, id, email, subject, text, due_at, attempts, created_at)
         SELECT {ws}, 'ntc_' || n, 'olive@acme.example', 's', 't', {later} + n, 0, {now}
         FROM {rows};
         INSERT INTO sandbox_replies (ws, message, email, kind, due_at)
         SELECT {ws}, 'msg_9' || lpad(CAST(n AS TEXT), 25, '0'), 'a@b.example', 'reply', {later} + n
         FROM {rows};
         INSERT INTO uploads (ws, request, id, item, filename, mark, size, received, state,
            content_type, handed_over, attempts, created_at, due_at)
         SELECT {ws}, 'req_9' || lpad(CAST(n AS TEXT), 25, '0'),
            'upl_9' || lpad(CAST(n AS TEXT), 25, '0'), 0, 'a.txt', 'm', 1, 0, 'removed', '', FALSE,
            0, {now}, {later} + n
         FROM {rows};"
    );
    client.batch_execute(&sql).unwrap();
}

/// Has the next planned row of a queue fall due now.
pub fn let_fall_due(app: &TestApp, table: &str, column: &str) {
    let now = app.now();
    past_the_store(app, |client| {
        let due = client.execute(
            &format!(
                "UPDATE {table} SET {column} = {now}
                 WHERE {column} = (SELECT min({column}) FROM {table} WHERE {column} > {now})"
            ),
            &[],
        );
        assert!(due.unwrap() > 0, "{table} has nothing planned");
    });
}
