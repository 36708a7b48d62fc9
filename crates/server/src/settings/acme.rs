//! The settings of certificates that an ACME server issues.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use clap::Args;
use model::installation::acme::ChallengeKind;
use transport::acme::{AcmeConfig, ExternalAccount, LETS_ENCRYPT};
use url::{Host, Url};

use super::Settings;
use super::mail_providers::secret_in;
use super::setting_sources::SettingSources;

/// Where an ACME server asks by HTTP.
const HTTP_PORT: u16 = 80;

pub(super) const NAMES: &[&str] = &[
    "acme",
    "acme_accept_terms",
    "acme_directory",
    "acme_email",
    "acme_ca_file",
    "acme_eab_key_id",
    "acme_eab_key_file",
];

/// The flags, as they were typed.
#[derive(Args, Clone, Debug, Default)]
pub struct AcmeFlags {
    /// Order the certificate of the public URL from an ACME server, and renew it [default: false]
    #[arg(long, env = "MAILROOM_ACME", global = true, value_name = "BOOLEAN")]
    pub acme: Option<String>,
    /// Say true to accept the terms of that server's operator [default: false]
    #[arg(long, env = "MAILROOM_ACME_ACCEPT_TERMS", global = true, value_name = "BOOLEAN")]
    pub acme_accept_terms: Option<String>,
    /// The directory of the ACME server [default: Let's Encrypt's]
    #[arg(long, env = "MAILROOM_ACME_DIRECTORY", global = true, value_name = "URL")]
    pub acme_directory: Option<String>,
    /// Where its operator writes to about certificates [default: nowhere]
    #[arg(long, env = "MAILROOM_ACME_EMAIL", global = true, value_name = "ADDRESS")]
    pub acme_email: Option<String>,
    /// The certificate of an authority of your own, by which the ACME server proves itself, a PEM file
    /// [default: none]
    #[arg(long, env = "MAILROOM_ACME_CA_FILE", global = true, value_name = "FILE")]
    pub acme_ca_file: Option<String>,
    /// The id of your account at its operator, where it asks for external account binding [default: none]
    #[arg(long, env = "MAILROOM_ACME_EAB_KEY_ID", global = true, value_name = "ID")]
    pub acme_eab_key_id: Option<String>,
    /// The file that holds the key of that account
    #[arg(long, env = "MAILROOM_ACME_EAB_KEY_FILE", global = true, value_name = "FILE")]
    pub acme_eab_key_file: Option<String>,
}

impl SettingSources {
    /// True where a certificate is to be ordered, even if something is wrong with how.
    pub(super) fn is_acme_on(&mut self, flags: &AcmeFlags) -> bool {
        self.text("acme", &flags.acme).is_some_and(|text| text.trim() == "true")
    }

    /// Which certificate is ordered from whom, if one is; needs the other settings.
    pub(super) fn acme(&mut self, flags: &AcmeFlags, settings: &Settings) -> Option<AcmeConfig> {
        let boolean = "true or false";
        let is_on = self.parse("acme", &flags.acme, boolean).unwrap_or(false);
        let accepts = self.parse("acme_accept_terms", &flags.acme_accept_terms, boolean);
        let directory = self.text("acme_directory", &flags.acme_directory);
        let email = self.text("acme_email", &flags.acme_email);
        let ca_file = self.text("acme_ca_file", &flags.acme_ca_file);
        let key_id = self.text("acme_eab_key_id", &flags.acme_eab_key_id);
        let key_file = self.text("acme_eab_key_file", &flags.acme_eab_key_file);
        if !is_on {
            return None;
        }
        let before = self.mistakes.len();
        if settings.tls.is_some() {
            self.mistakes.push(
                "acme: tls_cert and tls_key name a certificate already; set one or the other"
                    .into(),
            );
        }
        if accepts != Some(true) {
            self.mistakes.push(
                "acme: needs acme_accept_terms = true: certificates are issued to those who accept the terms of the \
                 server's operator"
                    .into(),
            );
        }
        let host = settings.public_url.as_deref().and_then(secure_host);
        if host.is_none() {
            self.mistakes.push(
                "acme: needs public_url, an https address with a host name, which the certificate is for".into(),
            );
        }
        let challenges = reachable_challenges(settings);
        if challenges.is_empty() {
            self.mistakes.push(
                "acme: needs https_listen, redirect_listen or listen on port 80, where the server asks whether the host \
                 is yours"
                    .into(),
            );
        }
        let directory = directory.unwrap_or_else(|| LETS_ENCRYPT.to_owned());
        let directory = directory.trim().to_owned();
        if !directory.parse::<Url>().is_ok_and(|url| url.scheme() == "https") {
            self.mistakes
                .push(format!("acme_directory: must be an https address, not {directory:?}"));
        }
        let email = email.map(|email| email.trim().to_owned());
        if email.as_ref().is_some_and(|email| !mail::is_address(email)) {
            self.mistakes.push("acme_email: must be an address such as you@acme.example".into());
        }
        let external_account = self.external_account(key_id, key_file);
        let ca_file = ca_file.map(PathBuf::from);
        if self.mistakes.len() > before {
            return None;
        }
        Some(AcmeConfig { host: host?, directory, email, ca_file, external_account, challenges })
    }

    fn external_account(
        &mut self,
        key_id: Option<String>,
        key_file: Option<String>,
    ) -> Option<ExternalAccount> {
        let (key_id, key_file) = match (key_id, key_file) {
            (None, None) => return None,
            (Some(key_id), Some(key_file)) => (key_id.trim().to_owned(), key_file),
            _ => {
                self.mistakes
                    .push("acme_eab_key_id, acme_eab_key_file: must be given together".into());
                return None;
            }
        };
        let text = match secret_in("acme_eab_key_file", &key_file) {
            Ok(text) => text,
            Err(mistake) => {
                self.mistakes.push(mistake);
                return None;
            }
        };
        let text = text.trim();
        match URL_SAFE_NO_PAD.decode(text).or_else(|_| URL_SAFE.decode(text)) {
            Ok(key) => Some(ExternalAccount { key_id, key }),
            Err(_) => {
                self.mistakes.push(format!("acme_eab_key_file: {key_file} is no key in base64url"));
                None
            }
        }
    }
}

/// The host of an https address, if it has a name.
fn secure_host(public_url: &str) -> Option<String> {
    let url = Url::parse(public_url).ok().filter(|url| url.scheme() == "https")?;
    match url.host()? {
        Host::Domain(name) => Some(name.to_owned()),
        _ => None,
    }
}

/// What our listeners can answer, HTTP first: a server asks at port 80, or at port 443 in a handshake.
fn reachable_challenges(settings: &Settings) -> Vec<ChallengeKind> {
    let by_http = settings.https.redirect.is_some() || settings.listen.port() == HTTP_PORT;
    let by_tls = settings.https.https.is_some();
    let kinds = [(by_http, ChallengeKind::Http01), (by_tls, ChallengeKind::TlsAlpn01)];
    kinds.into_iter().filter(|(is_reachable, _)| *is_reachable).map(|(_, kind)| kind).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::settings::Flags;

    const WORKING: &str = "acme = true\nacme_accept_terms = true\nhttps_listen = '0.0.0.0:443'\n\
                           public_url = 'https://mail.acme.example'\n";

    fn load(lines: &str) -> Result<Settings, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mailroom.toml"), lines).unwrap();
        Settings::load(&Flags { data: Some(folder.path().into()), ..Flags::default() })
    }

    #[test]
    fn a_certificate_is_ordered_for_the_host_of_the_public_url() {
        assert!(load("acme_email = 'ops@acme.example'").unwrap().acme.is_none());
        let config = load(WORKING).unwrap().acme.expect("a plan");
        assert_eq!(config.host, "mail.acme.example");
        assert_eq!(config.directory, LETS_ENCRYPT);
        assert_eq!(config.challenges, [ChallengeKind::TlsAlpn01]);
        let with_redirect = format!("{WORKING}redirect_listen = '0.0.0.0:80'");
        let config = load(&with_redirect).unwrap().acme.expect("a plan");
        assert_eq!(config.challenges, [ChallengeKind::Http01, ChallengeKind::TlsAlpn01]);
        let plain = WORKING.replace("https_listen = '0.0.0.0:443'", "listen = '0.0.0.0:80'");
        let config = load(&plain).unwrap().acme.expect("a plan");
        assert_eq!(config.challenges, [ChallengeKind::Http01]);
    }

    #[test]
    fn an_external_account_has_an_id_and_a_key_that_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, "aHVzaA==\n").unwrap();
        let lines =
            format!("{WORKING}acme_eab_key_id = 'k1'\nacme_eab_key_file = '{}'", file.display());
        let config = load(&lines).unwrap().acme.expect("a plan");
        let account = config.external_account.clone().expect("an account");
        assert_eq!((account.key_id.as_str(), account.key.as_slice()), ("k1", &b"hush"[..]));
        assert!(!format!("{config:?}").contains("external_account"));
        fs::write(&file, "no key!").unwrap();
        assert!(load(&lines).err().unwrap()[0].starts_with("acme_eab_key_file: "));
    }

    #[test]
    fn what_contradicts_a_certificate_of_our_own_is_told_in_a_sentence() {
        for (lines, mistake) in [
            (WORKING.replace("acme_accept_terms = true", ""), "acme: needs acme_accept_terms"),
            (WORKING.replace("https://mail", "http://mail"), "acme: needs public_url"),
            (WORKING.replace("mail.acme.example", "192.0.2.7"), "acme: needs public_url"),
            (WORKING.replace("https_listen = '0.0.0.0:443'", ""), "acme: needs https_listen"),
            (format!("{WORKING}tls_cert = 'a'\ntls_key = 'b'"), "acme: tls_cert and tls_key"),
            (format!("{WORKING}acme_directory = 'http://ca.example'"), "acme_directory: "),
            (format!("{WORKING}acme_email = 'ops'"), "acme_email: "),
            (format!("{WORKING}acme_eab_key_id = 'k1'"), "acme_eab_key_id, acme_eab_key_file: "),
        ] {
            let mistakes = load(&lines).err().unwrap_or_default();
            assert!(mistakes.iter().any(|it| it.starts_with(mistake)), "{lines}: {mistakes:?}");
            assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        }
    }
}
