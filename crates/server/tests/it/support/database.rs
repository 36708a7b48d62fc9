use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use db::{Options, Store};
use postgres::{Client, Config, NoTls};

/// The databases that every rule holds on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// Where the private PostgreSQL of a test run listens.
const VARIABLE: &str = "MAILROOM_TEST_POSTGRES";
/// The database with the schema that each test's own is copied from.
const TEMPLATE: &str = "mailroom_template";

pub fn open(backend: Backend, folder: &Path) -> Store {
    let url = match backend {
        Backend::Sqlite => format!("sqlite:{}", folder.join("test.db").display()),
        Backend::Postgres => new_postgres_database(),
    };
    let options = Options { readers: 2, connections: 4, ..Options::default() };
    Store::open(&url, &options, inbox::MIGRATIONS).unwrap()
}

fn new_postgres_database() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let admin = std::env::var(VARIABLE)
        .unwrap_or_else(|_| panic!("{VARIABLE} is not set; run the tests with scripts/test"));
    let config: Config = admin.parse().unwrap();
    let mut client = config.connect(NoTls).unwrap();
    ensure_template(&admin, &mut client);
    let count = COUNT.fetch_add(1, Ordering::SeqCst);
    let name = format!("t_{}_{count}", std::process::id());
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}")).unwrap();
    in_database(&admin, &name)
}

/// The first test makes the template; the others wait for it.
fn ensure_template(admin: &str, client: &mut Client) {
    client.batch_execute("SELECT pg_advisory_lock(1)").unwrap();
    let sql = "SELECT 1 FROM pg_database WHERE datname = $1";
    if client.query(sql, &[&TEMPLATE]).unwrap().is_empty() {
        let making = format!("{TEMPLATE}_making");
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)")).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {making} TEMPLATE template0")).unwrap();
        Store::open(&in_database(admin, &making), &Options::default(), inbox::MIGRATIONS).unwrap();
        client
            .batch_execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = 'mailroom_template_making'",
            )
            .unwrap();
        let mut renamed =
            client.batch_execute(&format!("ALTER DATABASE {making} RENAME TO {TEMPLATE}"));
        for _ in 0..50 {
            if renamed.is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
            renamed =
                client.batch_execute(&format!("ALTER DATABASE {making} RENAME TO {TEMPLATE}"));
        }
        renamed.unwrap();
    }
    client.batch_execute("SELECT pg_advisory_unlock(1)").unwrap();
}

/// The same server, another database: the path of the URL.
fn in_database(admin: &str, name: &str) -> String {
    let (server, _) = admin.rsplit_once('/').expect("a URL with a database");
    format!("{server}/{name}")
}
