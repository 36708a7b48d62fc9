//! E-mail-sending services that report an app's mail by webhook (API section 4.13.4). Only the
//! metadata of each mail is stored; its text is fetched when a reply arrives.

use base::actor::{Actor, Circle, Plan};
use base::app::Cx;
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{ServiceId, WorkspaceId};
use base::limits::{ADDRESS_CHARS, APP_MAIL_RECIPIENTS, HEADER_CHARS, REFERENCE_CHARS};
use base::reference;
use base::string_enum::string_enum;
use base::workspaces::resting;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::Tx;
use model::webhooks::webhook_signing;

use crate::app_mail::{self, ReportedMail};

/// The user that Postmark is to name.
pub const POSTMARK_USER: &str = "mailroom";
/// Characters of the password that Postmark is to name.
pub const POSTMARK_PASSWORD_CHARS: usize = 32;
/// Characters of an API key or a secret.
pub const SECRET_CHARS: usize = 500;

string_enum! {
    Service {
        Resend = "resend",
        Postmark = "postmark",
        Mailgun = "mailgun",
        SendGrid = "sendgrid",
        AmazonSes = "ses",
    }
}

impl Service {
    /// Where its API is; empty for a service whose API is not used.
    pub fn api_url(self) -> &'static str {
        match self {
            Service::Resend => "https://api.resend.com",
            Service::Postmark => "https://api.postmarkapp.com",
            Service::Mailgun => "https://api.mailgun.net",
            Service::SendGrid | Service::AmazonSes => "",
        }
    }

    /// True for a service that keeps the text of sent mail and hands it out for a key.
    pub fn keeps_text(self) -> bool {
        !self.api_url().is_empty()
    }

    /// True for what can be the secret of its calls: a signing secret or key, or, for SES, the topic
    /// that the calls come from.
    pub fn is_secret(self, text: &str) -> bool {
        let plain =
            (8..=SECRET_CHARS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        plain
            && match self {
                Service::Resend => webhook_signing::is_secret(text),
                Service::Postmark | Service::Mailgun => true,
                // A P-256 key in its usual form.
                Service::SendGrid => {
                    STANDARD.decode(text).is_ok_and(|key| key.len() == 91 && key[0] == 0x30)
                }
                Service::AmazonSes => text.starts_with("arn:aws") && text.contains(":sns:"),
            }
    }

    /// What people call it.
    pub fn label(self) -> &'static str {
        match self {
            Service::Resend => "Resend",
            Service::Postmark => "Postmark",
            Service::Mailgun => "Mailgun",
            Service::SendGrid => "SendGrid",
            Service::AmazonSes => "Amazon SES",
        }
    }
}

db::row! {
    /// A connection, with the data to verify its calls.
    #[derive(Clone)]
    pub struct ServiceConnection from "s" {
        pub ws: i64,
        pub workspace: WorkspaceId = "w.id",
        pub id: ServiceId,
        pub service: Service,
        /// Sealed; `None` until it is set.
        pub secret: Option<String>,
        /// The tag or metadata key that holds a mail's reference.
        pub reference_tag: String,
        pub plan: Plan = "w.plan",
    }
}

impl ServiceConnection {
    pub fn actor(&self) -> Actor {
        Actor::system(self.ws, self.workspace.clone(), Circle::team())
    }
}

/// The connection whose address holds this token.
pub fn with_token(
    tx: &mut Tx<'_>,
    service: Service,
    token: &str,
) -> Result<Option<ServiceConnection>> {
    // No address has it, and PostgreSQL takes no text with it.
    if token.contains('\0') {
        return Ok(None);
    }
    let found: Option<ServiceConnection> = tx.opt(
        &format!(
            "SELECT {} FROM services s JOIN workspaces w ON w.ws = s.ws
             WHERE s.token = ?1 AND s.service = ?2",
            ServiceConnection::COLUMNS
        ),
        &[&token, &service],
    )?;
    if let Some(connection) = &found {
        resting::must_be_open(tx, connection.ws)?;
    }
    Ok(found)
}

/// A mail that a service reports as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceMail {
    /// The service's own name for it.
    pub service_mail: String,
    /// The Message-ID header it went out with.
    pub header_id: String,
    pub to: Vec<String>,
    /// Empty when not reported.
    pub subject: String,
    pub reference: Option<String>,
}

/// Records a mail that a service has sent; repeated reports change nothing.
pub fn note_sent(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    connection: &ServiceConnection,
    sent: &ServiceMail,
) -> Result<()> {
    let header_id = mail::bare_message_id(&sent.header_id);
    let fits = |text: &str, most: usize| !text.contains('\0') && text.chars().count() <= most;
    if header_id.is_empty() || !fits(header_id, HEADER_CHARS) {
        return Err(Error::invalid("messageId", format!("must be 1 to {HEADER_CHARS} characters")));
    }
    if !is_name(&sent.service_mail) {
        return Err(Error::invalid("id", "must be letters, digits, dots and hyphens"));
    }
    let known = |email: &&String| mail::is_address(email) && fits(email, ADDRESS_CHARS);
    let to: Vec<EmailAddress> = sent
        .to
        .iter()
        .filter(known)
        .take(APP_MAIL_RECIPIENTS)
        .map(|email| EmailAddress::new(email))
        .collect();
    if to.is_empty() {
        return Err(Error::invalid("to", "must name whom it went to"));
    }
    let plain = |c: &char| *c != '\0';
    let subject: String = sent.subject.chars().filter(plain).take(HEADER_CHARS).collect();
    let reference = sent.reference.as_deref().filter(|text| is_reference(text));
    let outline = ReportedMail {
        header_id,
        to: &to,
        subject: &subject,
        reference: &reference.unwrap_or_default().to_lowercase(),
        service: &connection.id,
        service_mail: &sent.service_mail,
    };
    let is_new = app_mail::find(tx, cx.actor.ws, true, header_id, cx.now)?.is_none();
    app_mail::note(tx, cx, &outline)?;
    tx.exec_soon(
        "UPDATE services SET noted = noted + ?4, last_noted_at = ?3 WHERE ws = ?1 AND id = ?2",
        &[&cx.actor.ws, &connection.id, &cx.now, &i64::from(is_new)],
    )?;
    Ok(())
}

/// The service's id of a mail: it becomes part of a URL, so its characters are restricted. Mailgun's
/// is a domain and a key with a slash between.
fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.=/".contains(&b);
    (1..=400).contains(&text.len())
        && text.bytes().all(plain)
        && text.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

fn is_reference(text: &str) -> bool {
    text.len() <= REFERENCE_CHARS && reference::is_reference(text)
}
