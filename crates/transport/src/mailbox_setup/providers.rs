//! Well-known mail providers: their servers, and what they ask of mail programs.

use inbound::imap::Security;
use model::mailboxes::outgoing_servers::SubmissionSecurity;

use super::servers::{IncomingServer, OutgoingServer};

/// A provider and its servers.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    pub name: &'static str,
    /// The domains of addresses at the provider itself.
    domains: &'static [&'static str],
    /// How the names of its MX servers end, for domains of its customers.
    exchangers: &'static [&'static str],
    imap: &'static str,
    smtp: (&'static str, u16),
    pub access: PasswordAccess,
}

/// What a mail program signs in with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordAccess {
    /// The usual password.
    Usual,
    /// A password made for one program, at this page.
    AppPassword(&'static str),
    /// Signing in at the provider itself (OAuth), and no password.
    SignIn,
    /// Nothing: the reason is a sentence.
    None(&'static str),
}

impl Provider {
    pub fn incoming(&self) -> Option<IncomingServer> {
        let has = !self.imap.is_empty();
        has.then(|| IncomingServer { host: self.imap.into(), port: 993, security: Security::Tls })
    }

    pub fn outgoing(&self) -> Option<OutgoingServer> {
        let (host, port) = self.smtp;
        let security = match port {
            465 => SubmissionSecurity::Tls,
            _ => SubmissionSecurity::StartTls,
        };
        (!host.is_empty()).then(|| OutgoingServer { host: host.into(), port, security })
    }
}

/// The provider of addresses at this domain.
pub fn of_domain(domain: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.domains.contains(&domain))
}

/// The provider that receives a domain's mail at this server.
pub fn of_exchanger(host: &str) -> Option<&'static Provider> {
    let is_below = |end: &str| {
        host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    PROVIDERS.iter().find(|provider| provider.exchangers.iter().any(|end| is_below(end)))
}

const NO_PROTON: &str = "Proton Mail lets mail programs in only through its Bridge, which runs on \
    your own computer. Forward the mail to an inbox here instead.";
const NO_TUTA: &str = "Tuta lets no mail program in. Forward the mail to an inbox here instead.";

use PasswordAccess::{AppPassword, SignIn, Usual};

/// A line of the table.
const fn provider(
    name: &'static str,
    domains: &'static [&'static str],
    exchangers: &'static [&'static str],
    imap: &'static str,
    smtp: (&'static str, u16),
    access: PasswordAccess,
) -> Provider {
    Provider { name, domains, exchangers, imap, smtp, access }
}

#[rustfmt::skip]
const PROVIDERS: &[Provider] = &[
    provider("Google", &["gmail.com", "googlemail.com"], &["google.com", "googlemail.com"],
        "imap.gmail.com", ("smtp.gmail.com", 465),
        AppPassword("https://myaccount.google.com/apppasswords")),
    provider("Microsoft", &["outlook.com", "hotmail.com", "live.com", "msn.com", "outlook.de", "hotmail.de",
            "live.de", "hotmail.fr", "live.fr", "hotmail.co.uk", "live.co.uk", "hotmail.it", "live.nl"],
        &["olc.protection.outlook.com"],
        "outlook.office365.com", ("smtp-mail.outlook.com", 587), SignIn),
    provider("Microsoft 365", &[], &["mail.protection.outlook.com", "mx.microsoft"],
        "outlook.office365.com", ("smtp.office365.com", 587), SignIn),
    provider("iCloud", &["icloud.com", "me.com", "mac.com"], &["mail.icloud.com"],
        "imap.mail.me.com", ("smtp.mail.me.com", 587), AppPassword("https://account.apple.com")),
    provider("Yahoo", &["yahoo.com", "yahoo.de", "yahoo.fr", "yahoo.it", "yahoo.es", "yahoo.co.uk",
            "ymail.com", "rocketmail.com"], &["yahoodns.net"],
        "imap.mail.yahoo.com", ("smtp.mail.yahoo.com", 465),
        AppPassword("https://login.yahoo.com/account/security")),
    provider("AOL", &["aol.com", "aim.com"], &[],
        "imap.aol.com", ("smtp.aol.com", 465), AppPassword("https://login.aol.com/account/security")),
    provider("Fastmail", &["fastmail.com", "fastmail.fm"], &["messagingengine.com"],
        "imap.fastmail.com", ("smtp.fastmail.com", 465),
        AppPassword("https://app.fastmail.com/settings/security")),
    provider("Zoho", &["zoho.com", "zohomail.com"], &["zoho.com", "zohomail.com"],
        "imappro.zoho.com", ("smtppro.zoho.com", 465), AppPassword("https://accounts.zoho.com/home#security")),
    provider("Zoho", &["zohomail.eu"], &["zoho.eu", "zohomail.eu"],
        "imappro.zoho.eu", ("smtppro.zoho.eu", 465), AppPassword("https://accounts.zoho.eu/home#security")),
    provider("Yandex", &["yandex.com", "yandex.ru", "ya.ru"], &["yandex.net", "yandex.ru"],
        "imap.yandex.com", ("smtp.yandex.com", 465), AppPassword("https://id.yandex.com/security/app-passwords")),
    provider("Mail.ru", &["mail.ru", "inbox.ru", "list.ru", "bk.ru"], &["mail.ru"],
        "imap.mail.ru", ("smtp.mail.ru", 465), AppPassword("https://account.mail.ru/user/2-step-auth/passwords")),
    provider("GMX", &["gmx.de", "gmx.net", "gmx.at", "gmx.ch"], &["gmx.net"],
        "imap.gmx.net", ("mail.gmx.net", 465), Usual),
    provider("GMX", &["gmx.com", "gmx.us", "gmx.co.uk"], &[],
        "imap.gmx.com", ("mail.gmx.com", 465), Usual),
    provider("web.de", &["web.de"], &["web.de"], "imap.web.de", ("smtp.web.de", 587), Usual),
    provider("T-Online", &["t-online.de", "magenta.de"], &["t-online.de"],
        "secureimap.t-online.de", ("securesmtp.t-online.de", 465), Usual),
    provider("IONOS", &[], &["ionos.de", "kundenserver.de"], "imap.ionos.de", ("smtp.ionos.de", 465), Usual),
    provider("IONOS", &[], &["ionos.com", "1and1.com"], "imap.ionos.com", ("smtp.ionos.com", 465), Usual),
    provider("Strato", &[], &["rzone.de"], "imap.strato.de", ("smtp.strato.de", 465), Usual),
    provider("mailbox.org", &["mailbox.org"], &["mailbox.org"],
        "imap.mailbox.org", ("smtp.mailbox.org", 465), Usual),
    provider("Posteo", &["posteo.de", "posteo.net"], &["posteo.de"], "posteo.de", ("posteo.de", 465), Usual),
    provider("Infomaniak", &["ik.me", "etik.com"], &["ikmail.com", "infomaniak.ch"],
        "mail.infomaniak.com", ("mail.infomaniak.com", 465), Usual),
    provider("OVH", &[], &["mail.ovh.net"], "ssl0.ovh.net", ("ssl0.ovh.net", 465), Usual),
    provider("Gandi", &[], &["mail.gandi.net"], "mail.gandi.net", ("mail.gandi.net", 465), Usual),
    provider("Migadu", &[], &["migadu.com"], "imap.migadu.com", ("smtp.migadu.com", 465), Usual),
    provider("Purelymail", &["purelymail.com"], &["purelymail.com"],
        "imap.purelymail.com", ("smtp.purelymail.com", 465), Usual),
    provider("Hostinger", &[], &["hostinger.com"], "imap.hostinger.com", ("smtp.hostinger.com", 465), Usual),
    provider("Namecheap Private Email", &[], &["privateemail.com"],
        "mail.privateemail.com", ("mail.privateemail.com", 465), Usual),
    provider("Rackspace", &[], &["emailsrvr.com"], "secure.emailsrvr.com", ("secure.emailsrvr.com", 465), Usual),
    provider("DreamHost", &[], &["dreamhost.com"], "imap.dreamhost.com", ("smtp.dreamhost.com", 465), Usual),
    provider("Orange", &["orange.fr", "wanadoo.fr"], &[], "imap.orange.fr", ("smtp.orange.fr", 465), Usual),
    provider("Free", &["free.fr"], &[], "imap.free.fr", ("smtp.free.fr", 465), Usual),
    provider("La Poste", &["laposte.net"], &[], "imap.laposte.net", ("smtp.laposte.net", 465), Usual),
    provider("Libero", &["libero.it"], &[], "imapmail.libero.it", ("smtp.libero.it", 465), Usual),
    provider("Seznam", &["seznam.cz", "email.cz"], &["seznam.cz"],
        "imap.seznam.cz", ("smtp.seznam.cz", 465), Usual),
    provider("WP", &["wp.pl"], &[], "imap.wp.pl", ("smtp.wp.pl", 465), Usual),
    provider("NetEase", &["163.com"], &[], "imap.163.com", ("smtp.163.com", 465), Usual),
    provider("QQ", &["qq.com"], &[], "imap.qq.com", ("smtp.qq.com", 465), Usual),
    provider("Proton", &["proton.me", "protonmail.com", "pm.me"], &["protonmail.ch"],
        "", ("", 0), PasswordAccess::None(NO_PROTON)),
    provider("Tuta", &["tuta.com", "tutanota.com", "tutanota.de", "tuta.io"], &["tutanota.de"],
        "", ("", 0), PasswordAccess::None(NO_TUTA)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_known_by_its_domains_and_by_the_servers_of_its_customers() {
        assert_eq!(of_domain("gmail.com").map(|found| found.name), Some("Google"));
        assert_eq!(of_domain("acme.example"), None);
        for (host, name) in [
            ("aspmx.l.google.com", Some("Google")),
            ("acme-example.mail.protection.outlook.com", Some("Microsoft 365")),
            ("in1-smtp.messagingengine.com", Some("Fastmail")),
            ("smtpin.rzone.de", Some("Strato")),
            ("notgoogle.com", None),
            ("google.com.evil.example", None),
        ] {
            assert_eq!(of_exchanger(host).map(|found| found.name), name, "{host}");
        }
    }

    #[test]
    fn every_server_of_the_table_is_encrypted() {
        for provider in PROVIDERS {
            let (Some(incoming), Some(outgoing)) = (provider.incoming(), provider.outgoing())
            else {
                assert!(matches!(provider.access, PasswordAccess::None(_)), "{}", provider.name);
                continue;
            };
            assert_eq!((incoming.port, incoming.security), (993, Security::Tls));
            assert_ne!(outgoing.security, SubmissionSecurity::Plain, "{}", provider.name);
            assert!(matches!(outgoing.port, 465 | 587), "{}", provider.name);
        }
    }
}
