//! One workspace out of a dump: beside the original, in its place, and as it was; every table of the schema is handled.

use std::collections::BTreeSet;

use actions::workspace::suspension;
use base::actor::{Actor, Circle};
use base::error::Error;
use maintenance::dump::{DumpScope, DumpedWorkspace, dump};
use maintenance::workspace_load::{
    LoadedWorkspace, WorkspacePlace, load_workspace, unique_columns,
};
use maintenance::workspace_verify::verify_workspace;
use maintenance::{NOT_DUMPED, NOT_OF_WORKSPACE, OF_INSTALLATION, reindex, workspace_load};
use serde_json::json;
use testing::{DAY, HOUR, TestApp, UNDO, file, letter, on_both};

on_both!(
    a_copy_has_every_row_and_nothing_leaves_it,
    a_copy_has_secrets_of_its_own_and_none_of_its_keys_work,
    a_workspace_is_put_in_the_place_of_what_became_of_it,
    a_deleted_workspace_comes_back_with_its_keys_and_addresses,
    a_workspace_comes_back_where_another_one_has_its_public_addresses,
    a_copy_takes_its_addresses_over_when_they_are_free,
    a_sample_comes_back_as_one_and_belongs_to_no_other_workspace,
    other_workspaces_are_in_no_dump_of_one,
    every_table_belongs_to_a_workspace_or_to_the_installation
);

fn operator(ws: i64, of: &Actor) -> Actor {
    Actor::system(ws, of.workspace.clone(), Circle::team())
}

/// A workspace with a bit of everything that the API makes.
async fn fill(app: &TestApp) {
    let key = app.key("read write send").await;
    app.hook("shop").await;
    let mut mail = letter("ann@x.example Ann", "Invoice", "Total 12.00");
    mail.attachments = vec![file("invoice.txt", b"Total 12.00 EUR")];
    let mail = app.deliver(&app.support, mail).await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["Urgent"] })).await.is(200);
    app.on(&key, &mail.conversation, "notes", json!({ "body": "A word" })).await.is(201);
    app.send_reply(&key, &mail.conversation, "Here it is").await;
    app.mail("kim@x.example", "Bench", "It wobbles").await;
    app.settle().await;
}

async fn dumped(app: &TestApp) -> (Vec<u8>, DumpedWorkspace) {
    let ws = app.owner.ws;
    let named = app.app.store.read(move |tx| {
        let (id, slug, name) =
            tx.one("SELECT id, slug, name FROM workspaces WHERE ws = ?1", &[&ws])?;
        Ok::<_, Error>(DumpedWorkspace { ws, id, slug, name })
    });
    let source = named.await.unwrap();
    let scope = DumpScope::Workspace(source.clone());
    let written = app.app.store.read(move |tx| {
        let mut lines = Vec::new();
        dump(tx, &scope, &mut lines, &mut |_, _| {})?;
        Ok::<_, Error>(lines)
    });
    (written.await.unwrap(), source)
}

async fn load(
    app: &TestApp,
    (lines, source): &(Vec<u8>, DumpedWorkspace),
    into: WorkspacePlace,
) -> LoadedWorkspace {
    let (lines, source) = (lines.clone(), source.clone());
    let none = Actor::operator(&app.app.ids);
    let loaded = app
        .act(&none, move |tx, cx| load_workspace(tx, cx, &mut lines.as_slice(), &source, &into))
        .await;
    reindex::index_workspace(&app.app.store, loaded.ws).await.unwrap();
    let ws = loaded.ws;
    app.act(&none, move |tx, _| workspace_load::finish(tx, ws)).await;
    let (blobs, tables) = (app.app.blobs.clone(), loaded.tables.clone());
    let faults =
        app.app.store.read(move |tx| verify_workspace(tx, &blobs, ws, &tables)).await.unwrap();
    assert_eq!(faults, Vec::<String>::new());
    loaded
}

fn beside(slug: &str) -> WorkspacePlace {
    WorkspacePlace::Beside { slug: slug.into() }
}

async fn a_copy_has_every_row_and_nothing_leaves_it(app: TestApp) {
    fill(&app).await;
    let key = app.key("read write send").await;
    let waiting = app.mail("lee@x.example", "Chair", "Late").await;
    app.schedule(&key, &waiting.conversation, "Soon").await;
    let copy = load(&app, &dumped(&app).await, beside("trial")).await;
    let (old, new) = (app.owner.ws, copy.ws);
    for table in ["conversations", "messages", "notes", "documents", "blobs", "tags", "users"] {
        let rows = app.count(&format!("{table} WHERE ws = {old}")).await;
        assert_eq!(app.count(&format!("{table} WHERE ws = {new}")).await, rows, "{table}");
    }
    let sent = app.outside.relay.attempts().len();
    app.pass(HOUR).await;
    // The original's leaves, and that of the copy does not.
    assert_eq!(app.outside.relay.attempts().len(), sent + 1);
    assert_eq!(app.count(&format!("messages WHERE ws = {new} AND status = 'scheduled'")).await, 1);
    assert_eq!(app.count(&format!("resting_workspaces WHERE ws = {new}")).await, 1);
    assert_eq!(app.subjects(&key, "view=all").await.len(), 3);
    let taken: Result<_, Error> = app
        .app
        .act(&Actor::operator(&app.app.ids), {
            let (lines, source) = dumped(&app).await;
            move |tx, cx| load_workspace(tx, cx, &mut lines.as_slice(), &source, &beside("trial"))
        })
        .await;
    assert!(matches!(taken, Err(Error::Conflict(_))));
}

async fn a_copy_has_secrets_of_its_own_and_none_of_its_keys_work(app: TestApp) {
    fill(&app).await;
    let key = app.key("read").await;
    let copy = load(&app, &dumped(&app).await, beside("trial")).await;
    assert_eq!(copy.unopened, 0);
    let new = copy.ws;
    assert_eq!(app.count(&format!("agents WHERE ws = {new} AND revoked_at IS NULL")).await, 0);
    assert_eq!(app.count(&format!("webhooks WHERE ws = {new}")).await, 0);
    let ends = "address LIKE '%.trial.invalid' OR address = 'sandbox@trial.test'";
    assert_eq!(app.count(&format!("mailboxes WHERE ws = {new} AND NOT ({ends})")).await, 0);
    // The secret that signs its mail opens under its own number.
    let actor = operator(new, &app.owner);
    app.act(&actor, |tx, cx| model::installation::mail_secret::mail_secret(tx, cx).map(drop)).await;
    app.get(&key, "/conversations").await.is(200);
}

async fn a_workspace_is_put_in_the_place_of_what_became_of_it(app: TestApp) {
    fill(&app).await;
    let (kept, revoked) = (app.key("read").await, app.key("read").await);
    let backup = dumped(&app).await;
    app.revoke(&revoked).await;
    app.mail("eve@x.example", "Spam", "Buy this").await;
    let loaded = load(&app, &backup, WorkspacePlace::Replacing { slug: "acme".into() }).await;
    assert_eq!(loaded.id, app.owner.workspace);
    app.get(&revoked, "/conversations").await.is(401);
    assert_eq!(app.subjects(&kept, "view=all").await.len(), 2);
    assert_eq!(app.search_subjects(&kept, "wobbles").await, ["Bench"]);
    app.pass(DAY).await;
    assert_eq!(app.count(&format!("messages WHERE ws = {}", app.owner.ws)).await, 0);
    assert_eq!(app.subjects(&kept, "view=all").await.len(), 2);
    app.act(&operator(loaded.ws, &app.owner), suspension::end_quiet).await;
    let mail = testing::raw("new@x.example", "Lamp", "It is broken");
    assert!(app.ingest(&["support@acme.example"], &mail).await[0].is_ok());
    assert_eq!(app.subjects(&kept, "view=all").await.len(), 3);
}

async fn a_deleted_workspace_comes_back_with_its_keys_and_addresses(app: TestApp) {
    fill(&app).await;
    let key = app.key("read").await;
    let backup = dumped(&app).await;
    app.act(&app.owner, |tx, cx| actions::workspace::deletion::delete_workspace(tx, cx, "acme"))
        .await;
    app.pass(DAY).await;
    let loaded = load(&app, &backup, WorkspacePlace::AsItWas).await;
    assert_eq!(loaded.slug, "acme");
    assert_eq!(app.subjects(&key, "view=all").await.len(), 2);
    assert_eq!(app.count("mailboxes WHERE address = 'support@acme.example'").await, 1);
}

async fn a_workspace_comes_back_where_another_one_has_its_public_addresses(app: TestApp) {
    let (own, other) = (app.owner.ws, app.other_workspace("Globex").await.ws);
    let form = |ws: i64, slug: &str| {
        format!(
            "INSERT INTO contact_forms (
                 ws, id, mailbox, slug, title, intro, thanks, fields, sites, tag, proof, texts, created_at
             ) VALUES ({ws}, 'frm_{slug}', 'mbx', '{slug}', '', '', '', '[]', '[]', '', 'doubt', '{{}}', 1)"
        )
    };
    let long = "a".repeat(60);
    for slug in ["contact", "returns", &long] {
        app.exec(&form(own, slug)).await;
    }
    let help = |ws: i64| {
        format!(
            "INSERT INTO help_sites (ws, is_open, path, language, form, changed_at)
             VALUES ({ws}, TRUE, '', 'en', '', 1)"
        )
    };
    app.exec(&help(own)).await;
    let backup = dumped(&app).await;
    let copy = load(&app, &backup, beside("trial")).await;
    let of_copy = |slug: &str| format!("contact_forms WHERE ws = {} AND slug = '{slug}'", copy.ws);
    for slug in ["contact-trial", "returns-trial", &format!("{}-trial", &long[..51])] {
        assert_eq!(app.count(&of_copy(slug)).await, 1, "{slug}");
    }
    app.act(&app.owner, |tx, cx| actions::workspace::deletion::delete_workspace(tx, cx, "acme"))
        .await;
    app.pass(DAY).await;
    app.exec(&form(other, "contact")).await;
    app.exec(&help(other)).await;
    let ws = load(&app, &backup, WorkspacePlace::AsItWas).await.ws;
    for slug in ["contact-acme", "returns", &long] {
        let mine = format!("contact_forms WHERE ws = {ws} AND slug = '{slug}'");
        assert_eq!(app.count(&mine).await, 1, "{slug}");
    }
    let mine = format!("help_sites WHERE ws = {ws} AND path = 'acme-help'");
    assert_eq!(app.count(&mine).await, 1);
}

async fn a_copy_takes_its_addresses_over_when_they_are_free(app: TestApp) {
    fill(&app).await;
    let copy = load(&app, &dumped(&app).await, beside("trial")).await;
    let actor = operator(copy.ws, &app.owner);
    let taken = app.expect_refusal(&actor, suspension::end_quiet).await;
    assert!(matches!(taken, Error::Conflict(_)), "{taken:?}");
    app.act(&app.owner, |tx, cx| actions::workspace::deletion::delete_workspace(tx, cx, "acme"))
        .await;
    app.act(&actor, suspension::end_quiet).await;
    let mine = format!("mailboxes WHERE address = 'support@acme.example' AND ws = {}", copy.ws);
    assert_eq!(app.count(&mine).await, 1);
    app.pass(UNDO).await;
}

async fn a_sample_comes_back_as_one_and_belongs_to_no_other_workspace(app: TestApp) {
    fill(&app).await;
    let other = app.other_workspace("Globex").await.ws;
    let own = app.owner.ws;
    app.exec(&format!("UPDATE workspaces SET sample_of = {other} WHERE ws = {own}")).await;
    let copy = load(&app, &dumped(&app).await, beside("trial")).await.ws;
    let of_other = format!("workspaces WHERE ws = {copy} AND sample_of = {other}");
    assert_eq!(app.count(&of_other).await, 0, "those of Globex cannot go in");
    let sample = format!("workspaces WHERE ws = {copy} AND sample_of IS NOT NULL");
    assert_eq!(app.count(&sample).await, 1, "and nothing leaves it");
}

async fn other_workspaces_are_in_no_dump_of_one(app: TestApp) {
    fill(&app).await;
    app.other_workspace("Globex").await;
    let (lines, _) = dumped(&app).await;
    let text = String::from_utf8(lines).unwrap();
    assert!(text.contains("acme.example") && !text.to_lowercase().contains("globex"));
}

async fn every_table_belongs_to_a_workspace_or_to_the_installation(app: TestApp) {
    let found = app.app.store.read(|tx| {
        let tables = tx.tables()?;
        let indexes: Vec<(String, String)> = tx.all(
            tx.pick(
                "SELECT tbl_name, sql FROM sqlite_master
                 WHERE type = 'index' AND sql LIKE 'CREATE UNIQUE%'",
                "SELECT CAST(tablename AS TEXT), CAST(indexdef AS TEXT) FROM pg_indexes
                 WHERE schemaname = current_schema() AND indexdef LIKE 'CREATE UNIQUE%'
                   AND indexname NOT LIKE '%_pkey'",
            ),
            &[],
        )?;
        Ok::<_, Error>((tables, indexes))
    });
    let (tables, indexes) = found.await.unwrap();
    for table in &tables {
        let name = table.name.as_str();
        let is_known = table.has("ws")
            || NOT_DUMPED.contains(&name)
            || OF_INSTALLATION.contains(&name)
            || name.contains("_index_");
        assert!(is_known, "{name} has no workspace: name it in OF_INSTALLATION, or give it `ws`");
    }
    let with_ws: BTreeSet<&str> =
        tables.iter().filter(|table| table.has("ws")).map(|table| table.name.as_str()).collect();
    let handled: BTreeSet<(&str, &str)> = unique_columns().into_iter().collect();
    for (table, sql) in &indexes {
        let columns = sql.split_once('(').unwrap().1.split(')').next().unwrap();
        let names: Vec<&str> = columns.split(", ").collect();
        let is_apart = names.first() == Some(&"ws")
            || !with_ws.contains(table.as_str())
            || NOT_OF_WORKSPACE.contains(&table.as_str())
            || NOT_DUMPED.contains(&table.as_str());
        let is_handled = names.iter().any(|name| handled.contains(&(table.as_str(), *name)));
        assert!(
            is_apart || is_handled,
            "{table} is unique by {columns}: name it in UNIQUE_COLUMNS"
        );
    }
}
