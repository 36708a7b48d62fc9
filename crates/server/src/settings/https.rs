//! The settings of the HTTPS listeners.

use clap::Args;
use transport::http::secure_listeners::HttpsListen;

use super::Settings;
use super::setting_sources::SettingSources;

pub(super) const NAMES: &[&str] = &["https_listen", "redirect_listen", "hsts"];

/// The flags, as they were typed.
#[derive(Args, Clone, Debug, Default)]
pub struct HttpsFlags {
    /// Where to serve HTTPS, with the certificate of MAILROOM_TLS_CERT or MAILROOM_ACME [default: nowhere]
    #[arg(long, env = "MAILROOM_HTTPS_LISTEN", global = true, value_name = "ADDRESS")]
    pub https_listen: Option<String>,
    /// Where to lead browsers from HTTP to the public https address [default: nowhere]
    #[arg(long, env = "MAILROOM_REDIRECT_LISTEN", global = true, value_name = "ADDRESS")]
    pub redirect_listen: Option<String>,
    /// For how many seconds browsers are told to use HTTPS alone, in responses over HTTPS, or off
    /// [default: 31536000, a year]
    #[arg(long, env = "MAILROOM_HSTS", global = true, value_name = "SECONDS")]
    pub hsts: Option<String>,
}

impl SettingSources {
    pub(super) fn https(&mut self, flags: &HttpsFlags) -> HttpsListen {
        let (https, redirect) = (&flags.https_listen, &flags.redirect_listen);
        HttpsListen {
            https: self.parse("https_listen", https, "an address and port such as 0.0.0.0:443"),
            redirect: self.parse(
                "redirect_listen",
                redirect,
                "an address and port such as 0.0.0.0:80",
            ),
            hsts: self
                .parse("hsts", &flags.hsts, "a number of seconds such as 31536000, or off")
                .unwrap_or_default(),
        }
    }
}

/// What is missing for the listeners to work.
pub(super) fn mistakes(settings: &Settings, is_ordered: bool) -> Vec<String> {
    let mut mistakes = Vec::new();
    if settings.https.https.is_some() && settings.tls.is_none() && !is_ordered {
        mistakes.push(
            "https_listen: needs a certificate: set tls_cert and tls_key, or acme to order one"
                .to_owned(),
        );
    }
    let is_https =
        settings.public_url.as_ref().is_some_and(|public_url| public_url.starts_with("https://"));
    if settings.https.redirect.is_some() && !is_https {
        mistakes.push("redirect_listen: needs public_url, an https address, to lead to".to_owned());
    }
    mistakes
}
