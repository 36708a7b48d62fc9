//! Opens connections to PostgreSQL: encryption, time limits, and what the planner may choose.

use std::sync::Arc;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::StoreError;

/// A server that does not take the connection by then is down.
const CONNECT: Duration = Duration::from_secs(1);
/// A network that swallows what is sent is noticed after this long.
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);
/// A silent connection is asked after this long, this often, this many times, whether its other end
/// is still there.
const IDLE: Duration = Duration::from_secs(5);
const ASKED_EVERY: Duration = Duration::from_secs(2);
const ASKED: u32 = 3;

/// What every session is set to. The data of a workspace is read by index, a few rows at a time, and
/// each statement has an index that fits it. Which plan PostgreSQL thinks cheapest depends on
/// statistics that are missing, or old, for as long as a table grows faster than it is analysed; a
/// plan made then reads whole tables. So what never fits is taken away from the planner: reading
/// tables from end to end, and joining by hashing, sorting or keeping them. `enable_sort` makes it read a
/// list from the index that has its order. Joins are made in the order in which they are written.
/// Statements are planned once, whatever their arguments are: what a plan made for one argument
/// gains is less than what planning costs. To compile a plan, or to start workers for it, takes
/// longer than any statement here runs.
const SESSION: &str = "
    SET enable_seqscan TO off;
    SET enable_hashjoin TO off;
    SET enable_mergejoin TO off;
    SET enable_material TO off;
    SET enable_sort TO off;
    SET join_collapse_limit TO 1;
    SET plan_cache_mode TO force_generic_plan;
    SET max_parallel_workers_per_gather TO 0;
    SET jit TO off";

/// The settings of a URL, with time limits where it has none of its own.
pub(crate) fn with_limits(mut config: Config) -> Config {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNACKNOWLEDGED);
    }
    if config.get_keepalives_interval().is_none() && config.get_keepalives_retries().is_none() {
        config.keepalives_idle(IDLE).keepalives_interval(ASKED_EVERY).keepalives_retries(ASKED);
    }
    config
}

/// Connects to PostgreSQL. With `sslmode=require` in the URL the connection is encrypted and the
/// server's certificate must be one that this system trusts (`SSL_CERT_FILE` names further ones).
pub(crate) fn connect(config: &Config) -> Result<Client, StoreError> {
    let mut client = match config.get_ssl_mode() {
        SslMode::Require => config.connect(MakeRustlsConnect::new(checked_tls()?))?,
        _ => config.connect(NoTls)?,
    };
    client.batch_execute(SESSION)?;
    Ok(client)
}

fn checked_tls() -> Result<ClientConfig, StoreError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(StoreError::Tls(
            "this system has no certificates to check the server's against".into(),
        ));
    }
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Tls(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
