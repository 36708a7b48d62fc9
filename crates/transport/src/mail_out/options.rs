//! Parses relay URLs.

use std::fmt;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use url::Url;

use super::smtp::Security;

const SUBMISSION: u16 = 587;
const SUBMISSIONS: u16 = 465;
const SMTP: u16 = 25;

/// What `smtp://` or `smtps://` names.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpOptions {
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
    /// User name and password.
    pub login: Option<(String, String)>,
    pub security: Security,
    pub helo: Option<String>,
}

/// Passwords are in no log.
impl fmt::Debug for SmtpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} {:?}", self.host, self.port, self.security)
    }
}

impl FromStr for SmtpOptions {
    type Err = String;

    fn from_str(text: &str) -> Result<SmtpOptions, String> {
        let url = Url::parse(text).map_err(|_| "must be smtp://USER:PASSWORD@HOST:PORT, with % codes for special characters in the password".to_owned())?;
        let host = url.host_str().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if host.is_empty() || !matches!(url.path(), "" | "/") {
            return Err("must name a host and nothing behind it but ?options".into());
        }
        let user = decode(url.username())?;
        let login = match url.password() {
            Some(password) => Some((user, decode(password)?)),
            None if user.is_empty() => None,
            None => return Err("must have a password beside the user name".into()),
        };
        let implicit = url.scheme() == "smtps";
        let mut security = if implicit { Security::FromTheStart } else { Security::WhenOffered };
        let mut helo = None;
        for (name, value) in url.query_pairs() {
            match (name.as_ref(), value.as_ref()) {
                ("tls", "required") if !implicit => security = Security::Required,
                ("tls", "none") if !implicit => security = Security::Clear,
                ("helo", name) if is_helo(name) => helo = Some(name.to_owned()),
                _ => {
                    return Err("takes the options tls=required, tls=none (smtp:// alone) and \
                                helo=NAME"
                        .into());
                }
            }
        }
        let usual = match (implicit, &login) {
            (true, _) => SUBMISSIONS,
            (false, Some(_)) => SUBMISSION,
            (false, None) => SMTP,
        };
        Ok(SmtpOptions { host, port: url.port().unwrap_or(usual), login, security, helo })
    }
}

fn decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| "must be UTF-8 behind its % codes".to_owned())?;
    Ok(decoded.into_owned())
}

/// How `mx:` delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MxOptions {
    pub port: u16,
    pub tls: MxTls,
    pub helo: Option<String>,
}

/// What `mx:` does about encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MxTls {
    /// Encrypted when offered, with any certificate; a server that offers it and fails is not
    /// spoken to in clear.
    Offered,
    /// The same, but then in clear.
    Fallback,
    /// Encrypted with a checked certificate, or not at all.
    Required,
}

impl FromStr for MxOptions {
    type Err = String;

    fn from_str(text: &str) -> Result<MxOptions, String> {
        let rest = text.strip_prefix("mx:").unwrap_or(text);
        let query = match rest {
            "" => "",
            rest => rest.strip_prefix('?').ok_or("must be mx: alone or with ?options")?,
        };
        let mut options = MxOptions { port: SMTP, tls: MxTls::Offered, helo: None };
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match (name.as_ref(), value.as_ref()) {
                ("tls", "offered") => options.tls = MxTls::Offered,
                ("tls", "fallback") => options.tls = MxTls::Fallback,
                ("tls", "required") => options.tls = MxTls::Required,
                ("helo", name) if is_helo(name) => options.helo = Some(name.to_owned()),
                ("port", port) if port.parse().is_ok_and(|port: u16| port > 0) => {
                    options.port = port.parse().unwrap_or(SMTP);
                }
                _ => {
                    return Err("takes the options tls=offered, tls=fallback, tls=required, \
                                helo=NAME and port=NUMBER"
                        .into());
                }
            }
        }
        Ok(options)
    }
}

/// A name of this machine as others know it, or an address in brackets.
fn is_helo(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    !name.is_empty() && name.len() <= 255 && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_smtp_relay_is_named_with_its_login_port_and_encryption() {
        let read = |text: &str| text.parse::<SmtpOptions>().unwrap();
        let relay = read("smtp://ann%40acme:p%3Aa+ss@mail.example");
        assert_eq!(relay.login, Some(("ann@acme".into(), "p:a+ss".into())));
        assert_eq!((relay.host.as_str(), relay.port), ("mail.example", 587));
        assert_eq!(relay.security, Security::WhenOffered);
        assert!(!format!("{relay:?}").contains("p:a"), "{relay:?}");
        assert_eq!(read("smtps://mail.example").port, 465);
        assert_eq!(read("smtp://[::1]:2525?tls=none").host, "::1");
        assert_eq!(read("smtp://127.0.0.1").port, 25);
        assert_eq!(
            read("smtp://h/?tls=required&helo=a.example").helo.as_deref(),
            Some("a.example")
        );
        for bad in [
            "smtp://",
            "smtp://user@host",
            "smtp://host/path",
            "smtp://host?tls=maybe",
            "smtps://host?tls=none",
            "smtp://host?helo=a b",
            "smtp://host:99999",
        ] {
            assert!(bad.parse::<SmtpOptions>().is_err(), "{bad}");
        }
    }

    #[test]
    fn direct_delivery_takes_its_options() {
        let read = |text: &str| text.parse::<MxOptions>();
        let usual = MxOptions { port: 25, tls: MxTls::Offered, helo: None };
        assert_eq!(read("mx:"), Ok(usual.clone()));
        let set = read("mx:?tls=required&helo=mail.acme.example&port=2525").unwrap();
        assert_eq!((set.port, set.tls), (2525, MxTls::Required));
        for bad in ["mx:acme.example", "mx:?port=0", "mx:?tls=none", "mx:?x=1"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
