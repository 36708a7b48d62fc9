//! Opens connections to PostgreSQL: encryption, timeouts, and planner settings.

use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio::task::JoinHandle;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config, NoTls};
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

/// A setting that every session begins with. A pooler between us and the server loses it, and with it
/// the settings above, advisory locks and LISTEN.
const SESSION_MARK: &str = "-c mailroom.session=1";
const SHOW_SESSION_MARK: &str = "SELECT current_setting('mailroom.session', true)";

/// The settings of a URL, with time limits where it has none of its own. Of several servers the one is
/// meant that can be written to, which after a failover is another.
pub(crate) fn with_limits(mut config: Config) -> Config {
    let is_any = matches!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
    if config.get_hosts().len() > 1 && is_any {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    let options = match config.get_options() {
        Some(options) => format!("{options} {SESSION_MARK}"),
        None => SESSION_MARK.to_owned(),
    };
    config.options(&options);
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

/// The same for a standby: of several servers one is meant that can only be read.
pub(crate) fn of_standby(mut config: Config) -> Config {
    let is_any = matches!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
    if config.get_hosts().len() > 1 && is_any {
        config.target_session_attrs(TargetSessionAttrs::ReadOnly);
    }
    with_limits(config)
}

/// Connects to PostgreSQL, on the runtime that it is called in. With `sslmode=require` in the URL the
/// connection is encrypted and the server's certificate must be one that this system trusts
/// (`SSL_CERT_FILE` names further ones).
pub(crate) async fn connect(config: &Config) -> Result<(Client, ConnectionTask), StoreError> {
    let (client, task) = match config.get_ssl_mode() {
        SslMode::Require => {
            let tls = MakeRustlsConnect::new(checked_tls()?);
            let (client, connection) = config.connect(tls).await.map_err(refusal)?;
            (client, tokio::spawn(connection))
        }
        _ => {
            let (client, connection) = config.connect(NoTls).await.map_err(refusal)?;
            (client, tokio::spawn(connection))
        }
    };
    client.batch_execute(SESSION).await?;
    let mark: Option<String> = client.query_one(SHOW_SESSION_MARK, &[]).await?.get(0);
    if mark.is_none() {
        return Err(StoreError::Pooler);
    }
    Ok((client, task))
}

/// Sends and receives for a client, until the client or the connection is gone.
pub(crate) type ConnectionTask = JoinHandle<Result<(), tokio_postgres::Error>>;

/// Connects for LISTEN, whose notifications the blocking client waits for.
pub(crate) fn connect_listener(config: &Config) -> Result<postgres::Client, StoreError> {
    let config = postgres::Config::from(config.clone());
    let client = match config.get_ssl_mode() {
        SslMode::Require => config.connect(MakeRustlsConnect::new(checked_tls()?)),
        _ => config.connect(NoTls),
    };
    client.map_err(refusal)
}

fn refusal(error: tokio_postgres::Error) -> StoreError {
    match is_refused_option(&error) {
        true => StoreError::Pooler,
        false => error.into(),
    }
}

/// True when something that is not PostgreSQL refuses the settings of a session.
fn is_refused_option(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|error| error.message().contains("startup parameter"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_servers_the_one_that_can_be_written_to_is_meant() {
        let config = |url: &str| with_limits(url.parse().unwrap());
        let attrs = |url: &str| config(url).get_target_session_attrs();
        assert_eq!(attrs("postgres://u@a,b/d"), TargetSessionAttrs::ReadWrite);
        assert_eq!(attrs("postgres://u@a:1,b:2/d"), TargetSessionAttrs::ReadWrite);
        assert_eq!(attrs("postgres://u@a/d"), TargetSessionAttrs::Any);
        let options = config("postgres://u@a/d?options=-c%20work_mem%3D8MB");
        assert_eq!(options.get_options(), Some("-c work_mem=8MB -c mailroom.session=1"));
    }

    #[test]
    fn of_several_standbys_one_is_meant_that_can_only_be_read() {
        let attrs = |url: &str| of_standby(url.parse().unwrap()).get_target_session_attrs();
        assert_eq!(attrs("postgres://u@a,b/d"), TargetSessionAttrs::ReadOnly);
        assert_eq!(attrs("postgres://u@a/d"), TargetSessionAttrs::Any);
    }
}
