//! Webhooks: the check of their address, adding, choosing events, listing, and deleting.

use base::actor::Circle;
use base::app::Cx;
use base::error::{Error, Result};
use base::ids::{UserId, WebhookId};
use base::limits::{WEBHOOK_URL_CHARS, WEBHOOKS, thousands};
use base::security::public_ip::is_public_host;
use base::time::Moment;
use base::workspaces::samples::refuse_in_sample;
use db::{Json, Tx};
use serde::Serialize;
use url::{Position, Url};

use super::events::{self, CHAT_EVENTS_AT_FIRST};
use super::webhook_signing;
use super::{State, WebhookFormat};
use crate::installation::audit_log::{self, Action};
use crate::installation::sealing;

/// Characters of the path of a chat's address from which on its end is shown, and how many.
const LONG_PATH_CHARS: usize = 32;
const SHOWN_END_CHARS: usize = 4;

/// A webhook and its secret, shown this once.
#[derive(Serialize)]
pub struct MadeWebhook {
    pub id: WebhookId,
    /// `None` for one of a chat, which has no other secret than its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

base::debug_without_secrets!(MadeWebhook { id });

/// Checks a webhook's URL: a public `https://` address. The addresses that its host resolves to are
/// checked on each delivery, because they can change.
pub fn check_url(text: &str, allow_private: bool) -> Result<Url> {
    let refuse = |sentence: &str| Err(Error::invalid("url", sentence));
    if text.chars().count() > WEBHOOK_URL_CHARS {
        return refuse(&format!("must be at most {} characters", thousands(WEBHOOK_URL_CHARS)));
    }
    let Ok(url) = Url::parse(text) else {
        return refuse("must be an address such as https://example.com/hook");
    };
    if url.scheme() != "https" && !(allow_private && url.scheme() == "http") {
        return refuse("must start with https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("must not hold a user name or password");
    }
    if url.port() == Some(0) {
        return refuse("must not have port 0");
    }
    let public = url.host().is_some_and(|host| is_public_host(&host));
    if !public && !allow_private {
        return refuse("must be a public address, not one of a private network");
    }
    Ok(url)
}

/// What is shown of the address of a chat: its host, and the last characters where they give little away.
pub fn masked_address(url: &Url) -> String {
    let path: Vec<char> = url[Position::BeforePath..].chars().collect();
    let shown = if path.len() < LONG_PATH_CHARS { 0 } else { SHOWN_END_CHARS };
    let end: String = path[path.len() - shown..].iter().collect();
    format!("{}/…{end}", &url[..Position::BeforePath])
}

/// Adds a webhook that hears a circle, in the name of a person.
pub fn insert_webhook(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    (url, format): (&Url, WebhookFormat),
    circle: &Circle,
    made_by: &UserId,
) -> Result<MadeWebhook> {
    refuse_in_sample(tx, cx.actor.ws)?;
    let (count,): (i64,) =
        tx.one("SELECT count(*) FROM webhooks WHERE ws = ?1", &[&cx.actor.ws])?;
    if count >= WEBHOOKS {
        let sentence = format!(
            "cannot be added: a workspace has at most {WEBHOOKS} webhooks; delete one first"
        );
        return Err(Error::invalid("url", sentence));
    }
    let id = WebhookId::new(cx.ids, cx.now);
    let heard: &[&str] = if format.is_chat() { CHAT_EVENTS_AT_FIRST } else { &[] };
    let (shown, secret) = if format.is_chat() {
        (masked_address(url), url.to_string())
    } else {
        (url.to_string(), webhook_signing::new_secret(cx.ids))
    };
    let kept = sealing::seal(cx, &sealing::webhook_purpose(cx.actor.ws, &id), &secret);
    let livemode = !circle.is_sandbox();
    tx.exec(
        "INSERT INTO webhooks (
            ws, id, url, format, circle, livemode, secret, state, made_by, created_at, chosen_events
         ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'active', ?8, ?9, ?10)",
        &[
            &cx.actor.ws,
            &id,
            &shown,
            &format,
            circle,
            &livemode,
            &kept,
            made_by,
            &cx.now,
            &Json(heard),
        ],
    )?;
    audit_log::record(tx, cx, circle, Action::WebhookAdded, &shown, "")?;
    let secret = Some(secret).filter(|_| !format.is_chat());
    Ok(MadeWebhook { id, secret })
}

/// The format of a webhook.
pub fn format_of(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<WebhookFormat> {
    let found: Option<(WebhookFormat,)> =
        tx.opt("SELECT format FROM webhooks WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    found.map(|(format,)| format).ok_or(Error::NotFound("webhook"))
}

/// Those of the named events that a webhook of this format can choose; the field is the one that named them.
pub fn check_chosen_events(
    format: WebhookFormat,
    names: &[String],
    field: &'static str,
) -> Result<Vec<&'static str>> {
    let mut chosen = events::choosable_names(format);
    if let Some(unknown) = names.iter().find(|name| !chosen.contains(&name.as_str())) {
        let sentence = format!("{unknown} cannot be chosen; there are {}", chosen.join(", "));
        return Err(Error::invalid(field, sentence));
    }
    chosen.retain(|known| names.iter().any(|name| name == known));
    Ok(chosen)
}

/// Sets the events by choice that a webhook of this circle hears.
pub fn set_chosen_events(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    id: &WebhookId,
    circle: &Circle,
    chosen: &[&str],
) -> Result<()> {
    let (url,): (String,) = tx.one(
        "UPDATE webhooks SET chosen_events = ?3 WHERE ws = ?1 AND id = ?2 RETURNING url",
        &[&cx.actor.ws, id, &Json(chosen)],
    )?;
    let detail = if chosen.is_empty() { "none".into() } else { chosen.join(", ") };
    audit_log::record(tx, cx, circle, Action::WebhookEventsChosen, &url, &detail)
}

db::row! {
    /// A webhook as keys see it.
    pub struct RegisteredWebhook from "webhooks" {
        pub id: WebhookId,
        pub url: String,
        pub format: WebhookFormat,
        pub state: State,
        pub created_at: Moment,
        /// The names of the events that it hears beside those that all hear; one of a chat hears no others.
        pub chosen_events: Json<Vec<String>>,
        circle: Circle,
    }
}

/// The webhooks of the circles that the actor sees, the oldest first.
pub fn visible_webhooks(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<RegisteredWebhook>> {
    let mut listed: Vec<RegisteredWebhook> = tx.all(
        &format!(
            "SELECT {} FROM webhooks WHERE ws = ?1 ORDER BY created_at, id",
            RegisteredWebhook::COLUMNS
        ),
        &[&cx.actor.ws],
    )?;
    listed.retain(|webhook| cx.actor.sees(&webhook.circle));
    Ok(listed)
}

/// Removes a webhook of a circle that the actor sees, and its log.
pub fn delete_visible_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<()> {
    let found: Option<(Circle, String)> =
        tx.opt("SELECT circle, url FROM webhooks WHERE ws = ?1 AND id = ?2", &[&cx.actor.ws, id])?;
    let found = found.filter(|(circle, _)| cx.actor.sees(circle));
    let (circle, url) = found.ok_or(Error::NotFound("webhook"))?;
    audit_log::record(tx, cx, &circle, Action::WebhookDeleted, &url, "")?;
    forget_webhook(tx, cx, id)
}

/// Removes a webhook's row and its log.
pub fn forget_webhook(tx: &mut Tx<'_>, cx: &Cx<'_>, id: &WebhookId) -> Result<()> {
    for sql in [
        "DELETE FROM delivery_attempts WHERE ws = ?1 AND webhook = ?2",
        "DELETE FROM deliveries WHERE ws = ?1 AND webhook = ?2",
        "DELETE FROM webhooks WHERE ws = ?1 AND id = ?2",
    ] {
        tx.exec(sql, &[&cx.actor.ws, id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_https_address_is_taken() {
        for good in [
            "https://example.com",
            "https://example.com/hook?key=1#part",
            "https://example.com./hook",
            "https://example.com:8443/hook",
            "https://example.com:65535/",
            "https://EXAMPLE.com/",
            "  https://example.com/  ",
            "https://münchen.example.com/",
            "https://xn--mnchen-3ya.example.com/",
            "https://example.com/@127.0.0.1/",
            "https://8.8.8.8/",
            "https://0x08080808/",
            "https://[2606:4700::1]:8443/x",
            "https://[64:ff9b::808:808]/",
        ] {
            assert!(check_url(good, false).is_ok(), "{good}");
        }
    }

    #[test]
    fn any_other_address_is_refused_however_it_is_spelled() {
        for bad in [
            "",
            "example.com",
            "//example.com/",
            "https://",
            "https:///hook",
            "http://example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://exa mple.com/",
            "https://example.com:0/",
            "https://example.com:65536/",
            "https://example.com:x/",
            "https://user@example.com/",
            "https://user:pw@example.com/",
            "https://:pw@example.com/",
            "https://example.com@127.0.0.1/",
            "https://example.com%2f@127.0.0.1/",
            "https://localhost/",
            "https://localhost./",
            "https://LocalHost:8443/",
            "https://ｌｏｃａｌｈｏｓｔ/",
            "https://loc\u{ad}alhost/",
            "https://%6c%6fcalhost/",
            "https://intranet/",
            "https://com./",
            "https://printer.local/",
            "https://printer.local./",
            "https://metadata.google.internal/",
            "https://router.home.arpa/",
            "https://abc.onion/",
            "https://example..com/",
            "https://xn--a/",
            "https://127.0.0.1/",
            "https://127.0.0.1./",
            "https://127.1/",
            "https://127.0.1/",
            "https://0x7f.1/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://017700000001/",
            "https://2130706433/",
            "https://0/",
            "https://256.1.1.1/",
            "https://4294967296/",
            "https://①②⑦.⓪.⓪.①/",
            "https://127。0。0。1/",
            "https://%31%32%37.0.0.1/",
            "https://10.1.2.3/",
            "https://012.1.2.3/",
            "https://169.254.169.254/latest/meta-data",
            "https://2852039166/",
            "https://0xa9fea9fe/",
            "https://[::1]/",
            "https://[::]/",
            "https://[0:0:0:0:0:0:0:1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/",
            "https://[::7f00:1]/",
            "https://[::ffff:0:7f00:1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://[64:ff9b:1::1]/",
            "https://[2002:7f00:1::]/",
            "https://[2001::1]/",
            "https://[2001:10::1]/",
            "https://[2001:db8::1]/",
            "https://[fec0::1]/",
            "https://[fe80::1%25eth0]/",
            "https://[fe80::1]/",
            "https://[fc00::1]/",
            "https://[ff02::1]/",
        ] {
            assert!(check_url(bad, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn development_may_allow_private_and_http_addresses_but_no_nonsense() {
        for good in ["http://127.0.0.1:9/", "https://localhost/", "http://receiver:9000/hook"] {
            assert!(check_url(good, true).is_ok(), "{good}");
            assert!(check_url(good, false).is_err(), "{good}");
        }
        for bad in ["ftp://127.0.0.1/", "http://user@127.0.0.1/", "http://127.0.0.1:0/", "http://"]
        {
            assert!(check_url(bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn of_the_address_of_a_chat_only_host_and_end_are_shown() {
        let shown = |text: &str| masked_address(&Url::parse(text).expect("an address"));
        let long = "https://hooks.chat.example/services/T0001/B0002/abcdefghijklmnopqrstwxyz";
        assert_eq!(shown(long), "https://hooks.chat.example/…wxyz");
        let signed = "https://flow.example:443/invoke?sig=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-_9z";
        assert_eq!(shown(signed), "https://flow.example/…-_9z");
        assert_eq!(shown("https://chat.example:8443/hooks/short"), "https://chat.example:8443/…");
        assert_eq!(shown("https://chat.example"), "https://chat.example/…");
    }

    #[test]
    fn an_address_has_at_most_2000_characters() {
        let long = |chars: usize| {
            let start = "https://example.com/";
            format!("{start}{}", "a".repeat(chars - start.len()))
        };
        assert!(check_url(&long(2_000), false).is_ok());
        assert!(check_url(&long(2_001), false).is_err());
    }
}
