//! Schema upgrades: from every version of the schema, with a row in every table of that version, to
//! today's; one that fails leaves the old state, and a newer schema is refused with a sentence.
//!
//! The rows are made from each version's own catalogue, not by the program of that time.

use std::collections::BTreeMap;
use std::path::Path;

use base::actor;
use base::error::Error;
use db::{Cell, Migration, Store, StoreError, StoreOptions, TableShape, Tx};
use model::conversations::load as load_conversation;
use model::schema::MIGRATIONS;
use testing::{Backend, Database, TestApp, run_at};

/// Tables whose rows are made anew, or whose form is the database's own.
const WITHOUT_ROWS: &[&str] = &[
    "conversation_index",
    "conversation_words",
    "document_index",
    "document_words",
    "index_maintenance",
    "index_rebuilds",
    "installation",
    "mail_words",
    "message_index",
    "node_files",
    "nodes",
    "report_backfill",
    "scheduled_backups",
    "schema_versions",
    "upkeep",
];

const CONVERSATION: &str = "cnv_00000000000000000000000001";
const EMAIL: &str = "kim@old.example";
const SUBJECT: &str = "From the old days";

/// What a column of a row holds, by its name.
fn text(table: &str, column: &str) -> String {
    let id = |prefix: &str| format!("{prefix}_00000000000000000000000001");
    match (table, column) {
        ("workspaces", "id") => id("wsp"),
        ("conversations", "id") | (_, "conversation") => CONVERSATION.into(),
        ("mailboxes", "id") | (_, "mailbox") => id("mbx"),
        ("messages", "id") | (_, "message") => id("msg"),
        ("users", "id") | (_, "person" | "made_by" | "host") => id("usr"),
        ("agents", "id") | (_, "agent") => id("agt"),
        ("webhooks", "id") | (_, "webhook") => id("whk"),
        ("events", "id") | (_, "event") => id("evt"),
        ("documents", "id") => id("doc"),
        ("workspaces", "slug") => "old".into(),
        ("workspaces", "plan") => "team".into(),
        ("users", "role") => "owner".into(),
        ("conversations", "view" | "status") => "open".into(),
        ("messages", "status") => "received".into(),
        (_, "subject") => SUBJECT.into(),
        (_, "direction") => "inbound".into(),
        (_, "circle") => "team".into(),
        (_, "assignee") => String::new(),
        (_, "email" | "address" | "from_email" | "contact_email" | "guest_email") => EMAIL.into(),
        (_, "data" | "before" | "after" | "body" | "fields") => "{}".into(),
        (_, "tags" | "risk_reasons" | "to_list" | "cc_list" | "bcc_list" | "attachments") => {
            "[]".into()
        }
        (_, "answers" | "topic_reasons" | "urgency_reasons" | "questions" | "inboxes") => {
            "[]".into()
        }
        (_, column) => format!("the {column}"),
    }
}

/// The version in which tables got the names they have today.
const PLAIN_NAMES: i64 = 18;

/// The type of each column, and whether it must have a value.
fn columns(tx: &mut Tx<'_>, table: &str) -> Result<BTreeMap<String, (String, bool)>, StoreError> {
    let rows: Vec<(String, String, i64)> = tx.all(
        tx.pick(
            "SELECT name, lower(type), \"notnull\" + pk FROM pragma_table_info(?1)",
            "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT),
                    CAST(CASE WHEN is_nullable = 'NO' THEN 1 ELSE 0 END AS BIGINT)
             FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name = ?1",
        ),
        &[&table],
    )?;
    Ok(rows.into_iter().map(|(name, kind, needed)| (name, (kind, needed > 0))).collect())
}

/// Puts a row into every table.
fn fill(tx: &mut Tx<'_>) -> Result<BTreeMap<String, i64>, Error> {
    let mut filled = BTreeMap::new();
    for table in tx.tables()? {
        if WITHOUT_ROWS.contains(&table.name.as_str()) {
            continue;
        }
        let kinds = columns(tx, &table.name)?;
        let cells = table.columns.iter().map(|column| {
            let (kind, needed) = &kinds[&column.name];
            match kind.as_str() {
                _ if !needed => Cell::Null,
                "integer" | "bigint" | "boolean" | "int" => Cell::Int(1),
                "real" | "double precision" => Cell::Real(0.5),
                "blob" | "bytea" => Cell::Bytes(b"bytes".to_vec()),
                _ => Cell::Text(text(&table.name, &column.name)),
            }
        });
        let cells: Vec<Cell> = cells.collect();
        tx.fill(&table, &[cells])?;
        filled.insert(table.name.clone(), 1);
    }
    Ok(filled)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn open(url: &str, migrations: &[Migration]) -> Result<Store, StoreError> {
    let options = StoreOptions { readers: 1, connections: 2, ..StoreOptions::default() };
    Store::open(url, &options, migrations)
}

/// A database with nothing in it.
fn emptied(backend: Backend, database: &Database, folder: &Path, name: &str) -> String {
    match backend {
        Backend::Sqlite => format!("sqlite:{}", folder.join(format!("{name}.db")).display()),
        Backend::Postgres => {
            let said = std::process::Command::new("psql")
                .args([&database.url, "-qc", "DROP SCHEMA public CASCADE; CREATE SCHEMA public"])
                .output()
                .unwrap();
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
            database.url.clone()
        }
    }
}

/// How many rows each table has, of those that are there.
fn counts(store: &Store) -> BTreeMap<String, i64> {
    let read = store.read(|tx| {
        let mut counts = BTreeMap::new();
        let tables: Vec<TableShape> = tx.tables()?;
        for table in tables {
            let sql = format!("SELECT CAST(count(*) AS BIGINT) FROM {}", table.name);
            let (count,): (i64,) = tx.one(&sql, &[])?;
            counts.insert(table.name, count);
        }
        Ok::<_, Error>(counts)
    });
    runtime().block_on(read).unwrap()
}

/// After the upgrade everything works: the old conversation is read, and a new workspace takes mail.
async fn old_and_new_work(app: TestApp) {
    let found = app.app.store.read(|tx| {
        let kim = actor::person(tx, 1, EMAIL)?;
        let conversation = load_conversation(tx, &kim, CONVERSATION)?;
        Ok::<_, Error>(conversation.subject)
    });
    assert_eq!(found.await.unwrap(), SUBJECT);
    let key = app.key("read").await;
    app.mail("ann@x.example", "Lamp", "It is broken").await;
    assert_eq!(app.search_subjects(&key, "broken").await, ["Lamp"]);
}

/// Tests that share the versions among them, as one for all would take minutes.
const SHARES: usize = 4;

fn every_version(backend: Backend, share: usize) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    for known in (1..MIGRATIONS.len()).filter(|known| known % SHARES == share) {
        let version = MIGRATIONS[known - 1].version;
        let url = emptied(backend, &database, folder.path(), &format!("v{version}"));
        let store = open(&url, &MIGRATIONS[..known]).unwrap();
        let filled = runtime().block_on(store.write(fill)).unwrap();
        drop(store);
        let store = open(&url, MIGRATIONS)
            .unwrap_or_else(|error| panic!("from version {version}: {error}"));
        let now = counts(&store);
        drop(store);
        for (table, rows) in &filled {
            let table = match table.as_str() {
                // What answers are now was made later.
                "answers" if version < PLAIN_NAMES => "idempotency_keys",
                table => table,
            };
            assert!(
                now.get(table).is_none_or(|now| now >= rows),
                "from version {version}: {table}"
            );
        }
        assert_eq!(Store::schema_version(&url).unwrap(), MIGRATIONS.last().unwrap().version);
        run_at(&url, old_and_new_work);
    }
}

macro_rules! every_version_is_upgraded_with_its_rows {
    ($($share:ident: $number:literal),*) => {
        $(mod $share {
            #[test]
            fn every_version_is_upgraded_with_its_rows_on_sqlite() {
                super::every_version(testing::Backend::Sqlite, $number);
            }

            #[test]
            fn every_version_is_upgraded_with_its_rows_on_postgres() {
                super::every_version(testing::Backend::Postgres, $number);
            }
        })*
    };
}

every_version_is_upgraded_with_its_rows!(first: 0, second: 1, third: 2, fourth: 3);

const BROKEN: Migration = Migration {
    version: 9_999,
    name: "broken",
    both: "CREATE TABLE half_made (ws BIGINT NOT NULL PRIMARY KEY) {rows};
           INSERT INTO no_such_table (ws) VALUES (1);",
    sqlite: "",
    postgres: "",
};

/// Steps that succeed before it are undone as well: the old program goes on with the old schema.
fn a_failed_one(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    let url = emptied(backend, &database, folder.path(), "failed");
    let known = MIGRATIONS.len() - 5;
    let (old, mut steps) = (&MIGRATIONS[..known], MIGRATIONS.to_vec());
    let store = open(&url, old).unwrap();
    runtime().block_on(store.write(fill)).unwrap();
    let before = counts(&store);
    drop(store);
    steps.push(BROKEN);
    let failed = open(&url, &steps).map(drop).unwrap_err();
    assert!(matches!(failed, StoreError::Migration { version: 9_999, .. }), "{failed}");
    assert_eq!(Store::schema_version(&url).unwrap(), old[known - 1].version);
    let store = open(&url, old).unwrap();
    assert_eq!(counts(&store), before);
    drop(store);
    run_at(&url, old_and_new_work);
}

#[test]
fn a_failed_upgrade_leaves_the_old_state_on_sqlite() {
    a_failed_one(Backend::Sqlite);
}

#[test]
fn a_failed_upgrade_leaves_the_old_state_on_postgres() {
    a_failed_one(Backend::Postgres);
}

fn a_newer_one(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new(backend, folder.path());
    let newer = Migration {
        version: 9_999,
        name: "of a later version",
        both: "CREATE TABLE later (ws BIGINT NOT NULL PRIMARY KEY) {rows};",
        sqlite: "",
        postgres: "",
    };
    let steps = [MIGRATIONS, &[newer]].concat();
    drop(open(&database.url, &steps).unwrap());
    let refused = open(&database.url, MIGRATIONS).map(drop).unwrap_err();
    assert!(matches!(refused, StoreError::TooNew { found: 9_999, .. }), "{refused}");
    assert!(refused.to_string().contains("newer"), "{refused}");
    assert_eq!(Store::schema_version(&database.url).unwrap(), 9_999, "it is left as it is");
}

#[test]
fn a_newer_schema_is_refused_with_a_sentence_on_sqlite() {
    a_newer_one(Backend::Sqlite);
}

#[test]
fn a_newer_schema_is_refused_with_a_sentence_on_postgres() {
    a_newer_one(Backend::Postgres);
}
