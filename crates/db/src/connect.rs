use std::sync::Arc;

use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Error;

/// Connects to PostgreSQL. With `sslmode=require` in the URL the connection is encrypted and the
/// server's certificate must be one that this system trusts (`SSL_CERT_FILE` names further ones).
pub(crate) fn connect(config: &Config) -> Result<Client, Error> {
    let mut client = match config.get_ssl_mode() {
        SslMode::Require => config.connect(MakeRustlsConnect::new(checked_tls()?))?,
        _ => config.connect(NoTls)?,
    };
    // To compile a plan takes longer than any statement here runs.
    client.batch_execute("SET jit TO off")?;
    Ok(client)
}

fn checked_tls() -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(Error::Tls(
            "this system has no certificates to check the server's against".into(),
        ));
    }
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
