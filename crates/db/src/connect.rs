//! Opens connections to PostgreSQL: encryption, timeouts, and planner settings.

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
/// The TCP user timeout: unacknowledged data breaks the connection after this long.
const UNACKNOWLEDGED: Duration = Duration::from_secs(5);
/// TCP keep-alive: idle time, interval and number of probes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_PROBES: u32 = 3;

/// The settings of every session. A workspace's data is read by index, a few rows at a time, and
/// each statement has a matching index. The planner's cost estimates depend on statistics that are
/// missing or outdated while a table grows faster than it is analysed; plans made then scan whole
/// tables. So unsuitable plans are disabled: sequential scans, and hash, merge and materialized
/// joins. `enable_sort` is off, so that ordered lists are read from the index with that order.
/// Joins run in the order in which they are written. Statements use generic plans, because planning
/// for each argument costs more than it gains. JIT and parallel workers are off, because starting
/// them takes longer than any statement here.
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
        config
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_PROBES);
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
