//! The databases of a PostgreSQL server that tests use one after the other: to empty one takes a small
//! part of the time that making and dropping one takes.

use db::{Store, StoreOptions};
use postgres::{Client, Config, Error, NoTls};

use super::schema_template::template_name;

/// Where the private PostgreSQL of a test run listens.
const VARIABLE: &str = "MAILROOM_TEST_POSTGRES";

/// The databases there are, in the server's own. One that is not clean is in use, or its test failed,
/// and is made anew by the next that takes it.
const POOL: &str = "CREATE TABLE IF NOT EXISTS test_databases (
    number int PRIMARY KEY, uses int NOT NULL, template text NOT NULL, shape text NOT NULL,
    is_clean boolean NOT NULL)";

/// Tables, indexes and sequences of a database, and what was analysed. One in which a test changed that
/// is not used again.
const SHAPE: &str = "SELECT md5(string_agg(concat_ws(' ', oid, relname, relnatts, relchecks,
        relhastriggers, relhasrules, reloptions), ',' ORDER BY oid))
        || (SELECT count(*) FROM pg_stats WHERE schemaname = 'public') AS shape
    FROM pg_class WHERE relnamespace = 'public'::regnamespace";

/// Keeps the rows that a new database has, table by table.
const KEEP_SEED: &str = "DO $$ DECLARE t text; BEGIN
    CREATE SCHEMA seed;
    FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
            AND relkind = 'r' AND pg_relation_size(oid) > 0 LOOP
        EXECUTE format('CREATE TABLE seed.%I AS TABLE public.%I', t, t);
    END LOOP; END $$";

/// Leaves a database as a new one is.
const EMPTY: &str = "DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
            AND relkind = 'r' AND pg_relation_size(oid) > 0 LOOP
        EXECUTE format('TRUNCATE public.%I', t);
    END LOOP;
    FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'seed'::regnamespace
            AND relkind = 'r' LOOP
        EXECUTE format('INSERT INTO public.%I SELECT * FROM seed.%I', t, t);
    END LOOP;
    FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
            AND relkind = 'S' LOOP
        EXECUTE format('ALTER SEQUENCE public.%I RESTART', t);
    END LOOP;
    PERFORM pg_stat_reset(); END $$";

/// A database that one test has for itself.
pub struct PostgresDatabase {
    admin: String,
    /// Holds the lock on the database's number.
    client: Client,
    number: i32,
    /// Part of its name, so that whatever an earlier test left running does not find it.
    uses: i32,
}

impl PostgresDatabase {
    pub fn take() -> PostgresDatabase {
        let admin = std::env::var(VARIABLE)
            .unwrap_or_else(|_| panic!("{VARIABLE} is not set; run the tests with scripts/test"));
        let mut client = connect(&admin).unwrap();
        let template = ensure_template(&admin, &mut client);
        let is_free = |number: &i32| -> bool {
            client.query_one("SELECT pg_try_advisory_lock(2, $1)", &[number]).unwrap().get(0)
        };
        let number = (1..).find(is_free).expect("as many as are needed");
        let mut taken = PostgresDatabase { admin, client, number, uses: 0 };
        taken.make_ready(&template).unwrap();
        taken
    }

    pub fn url(&self) -> String {
        in_database(&self.admin, &self.name())
    }

    fn name(&self) -> String {
        format!("test_{}_{}", self.number, self.uses)
    }

    fn make_ready(&mut self, template: &str) -> Result<(), Error> {
        let known = "SELECT uses, is_clean AND template = $2 AS is_usable FROM test_databases
                     WHERE number = $1";
        if let Some(known) = self.client.query_opt(known, &[&self.number, &template])? {
            self.uses = known.get("uses");
            if known.get("is_usable") {
                return self.use_again();
            }
        }
        let name = self.name();
        self.client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
        self.client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}"))?;
        let shape: String = connect(&self.url())?.query_one(SHAPE, &[])?.get("shape");
        self.client.execute(
            "INSERT INTO test_databases (number, uses, template, shape, is_clean)
             VALUES ($1, $2, $3, $4, false)
             ON CONFLICT (number) DO UPDATE SET template = $3, shape = $4, is_clean = false",
            &[&self.number, &self.uses, &template, &shape],
        )?;
        Ok(())
    }

    fn use_again(&mut self) -> Result<(), Error> {
        let before = self.name();
        self.uses += 1;
        let name = self.name();
        self.client.batch_execute(&format!(
            "ALTER DATABASE {before} RENAME TO {name}; ALTER DATABASE {name} ALLOW_CONNECTIONS true"
        ))?;
        self.client.execute(
            "UPDATE test_databases SET uses = $2, is_clean = false WHERE number = $1",
            &[&self.number, &self.uses],
        )?;
        Ok(())
    }

    /// Leaves the database to the next test, empty, after every connection to it was cut.
    fn give_back(&mut self) -> Result<(), Error> {
        let mut inside = connect(&self.url())?;
        let name = self.name();
        self.client.batch_execute(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"))?;
        inside.batch_execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )?;
        inside.batch_execute(EMPTY)?;
        let shape: String = inside.query_one(SHAPE, &[])?.get("shape");
        inside.close()?;
        self.client.execute(
            "UPDATE test_databases SET is_clean = true WHERE number = $1 AND shape = $2",
            &[&self.number, &shape],
        )?;
        Ok(())
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        if !std::thread::panicking()
            && let Err(error) = self.give_back()
        {
            eprintln!("{} could not be emptied: {error}", self.name());
        }
    }
}

/// A database with today's schema that the others are copied from. The first test makes it, the others
/// wait for that.
fn ensure_template(admin: &str, client: &mut Client) -> String {
    let template = template_name(|step| step.postgres);
    client.batch_execute("SELECT pg_advisory_lock(1)").unwrap();
    let known = "SELECT 1 FROM pg_database WHERE datname = $1 AND NOT datallowconn";
    if client.query(known, &[&template]).unwrap().is_empty() {
        client.batch_execute(POOL).unwrap();
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {template} WITH (FORCE)")).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {template} TEMPLATE template0")).unwrap();
        let url = in_database(admin, &template);
        Store::open(&url, &StoreOptions::default(), model::schema::MIGRATIONS).unwrap();
        connect(&url).unwrap().batch_execute(KEEP_SEED).unwrap();
        client
            .batch_execute(&format!(
                "ALTER DATABASE {template} WITH ALLOW_CONNECTIONS false;
                 SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                 WHERE datname = '{template}'"
            ))
            .unwrap();
    }
    client.batch_execute("SELECT pg_advisory_unlock(1)").unwrap();
    template
}

fn connect(url: &str) -> Result<Client, Error> {
    url.parse::<Config>().unwrap().connect(NoTls)
}

/// The same server, another database: the path of the URL.
fn in_database(admin: &str, name: &str) -> String {
    let (server, _) = admin.rsplit_once('/').expect("a URL with a database");
    format!("{server}/{name}")
}
