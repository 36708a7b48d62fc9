use std::net::IpAddr;

use db::Tx;
use serde::Serialize;
use url::{Host, Url};

use crate::actor::{Circle, Who};
use crate::app::Cx;
use crate::error::{Error, Result};
use crate::ids::{UserId, WebhookId};
use crate::limits::WEBHOOK_URL_CHARS;
use crate::signing;
use crate::time::Moment;

/// A webhook and its secret, shown this once.
#[derive(Debug, Serialize)]
pub struct MadeWebhook {
    pub id: WebhookId,
    pub secret: String,
}

/// Adds a webhook for the team's inboxes, its maker's private ones, or the sandbox.
pub fn add_webhook(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    url: &Url,
    private: bool,
    livemode: bool,
) -> Result<MadeWebhook> {
    cx.actor.must_administer()?;
    let Who::Person { id: made_by, .. } = &cx.actor.who else {
        return Err(Error::Forbidden("Only a person can add a webhook.".into()));
    };
    let circle = match (livemode, private) {
        (false, true) => {
            return Err(Error::invalid("private", "the sandbox has no private inboxes"));
        }
        (false, false) => Circle::sandbox(),
        (true, true) => Circle::of(made_by),
        (true, false) => Circle::team(),
    };
    let id = WebhookId::new(cx.ids, cx.now);
    let secret = signing::new_secret(cx.ids);
    tx.exec(
        "INSERT INTO webhooks (ws, id, url, circle, livemode, secret, state, made_by, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'active', ?7, ?8)",
        &[&cx.actor.ws, &id, &url.as_str(), &circle, &livemode, &secret, made_by, &cx.now],
    )?;
    Ok(MadeWebhook { id, secret })
}

/// What a webhook's address must be on its face: a public `https://` address. Where its name
/// leads is looked at separately, because that can change.
pub fn check_url(text: &str, allow_private: bool) -> Result<Url> {
    let refuse = |sentence: &str| Err(Error::invalid("url", sentence));
    if text.chars().count() > WEBHOOK_URL_CHARS {
        return refuse("must be at most 2,000 characters");
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
    let public = match url.host() {
        None => false,
        Some(Host::Domain(name)) => is_public_name(name),
        Some(Host::Ipv4(ip)) => is_public(ip.into()),
        Some(Host::Ipv6(ip)) => is_public(ip.into()),
    };
    if !public && !allow_private {
        return refuse("must be a public address, not one of a private network");
    }
    Ok(url)
}

fn is_public_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let private = ["localhost", "local", "internal", "lan", "home", "corp", "intranet", "test"];
    let last = name.rsplit('.').next().unwrap_or("");
    name.contains('.') && !private.contains(&last)
}

/// True for addresses that anyone on the internet reaches alike.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            !(ip.is_loopback()
                || ip.is_private()
                || ip.is_link_local()
                || ip.is_multicast()
                || ip.is_broadcast()
                || ip.is_documentation()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                || (a == 192 && b == 88 && c == 99)
                || (a == 198 && (b == 18 || b == 19)))
        }
        IpAddr::V6(ip) => {
            let [a, b, c, ..] = ip.segments();
            // NAT64 leads to the IPv4 address in its last 32 bits.
            if (a, b) == (0x64, 0xff9b) && c == 0 {
                let [.., g, h] = ip.segments();
                let [w, x] = g.to_be_bytes();
                let [y, z] = h.to_be_bytes();
                return is_public(IpAddr::from([w, x, y, z]));
            }
            // Only 2000::/3 is handed out; inside it Teredo, 6to4 and documentation are not public.
            (a & 0xe000) == 0x2000
                && a != 0x2002
                && !(a == 0x2001 && (b < 0x200 || b == 0xdb8))
                && !(a == 0x3fff && b < 0x1000)
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookListing {
    pub id: WebhookId,
    pub url: String,
    pub livemode: bool,
    pub private: bool,
    pub state: String,
    pub made_by: UserId,
    pub created_at: Moment,
}

pub fn list_webhooks(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<Vec<WebhookListing>> {
    cx.actor.must_administer()?;
    type Row = (WebhookId, String, bool, Circle, String, UserId, i64);
    let mut rows: Vec<Row> = tx.all(
        "SELECT id, url, livemode, circle, state, made_by, created_at FROM webhooks
         WHERE ws = ?1 ORDER BY created_at, id",
        &[&cx.actor.ws],
    )?;
    // Someone else's private webhook is not there.
    rows.retain(|(_, _, _, circle, ..)| match (&cx.actor.who, circle.person()) {
        (Who::Person { id, .. }, Some(owner)) => *id == owner,
        _ => true,
    });
    let listed = rows.into_iter().map(|(id, url, livemode, circle, state, made_by, created)| {
        let (private, created_at) = (circle.person().is_some(), Moment(created));
        WebhookListing { id, url, livemode, private, state, made_by, created_at }
    });
    Ok(listed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_https_addresses_are_taken() {
        for good in
            ["https://example.com/hook", "https://8.8.8.8/", "https://[2606:4700::1]:8443/x"]
        {
            assert!(check_url(good, false).is_ok(), "{good}");
        }
        for bad in [
            "http://example.com/",
            "ftp://example.com/",
            "example.com",
            "https://localhost/",
            "https://intranet/",
            "https://printer.local/",
            "https://user:pw@example.com/",
            "https://127.0.0.1/",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://10.1.2.3/",
            "https://172.16.0.1/",
            "https://192.168.1.1/",
            "https://169.254.169.254/",
            "https://100.64.0.1/",
            "https://0.0.0.0/",
            "https://192.0.2.1/",
            "https://198.18.0.1/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::7f00:1]/",
            "https://[fe80::1]/",
            "https://[fc00::1]/",
            "https://[2002:7f00:1::]/",
            "https://[2001::1]/",
            "https://[2001:db8::1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[64:ff9b:1::1]/",
            "https://[ff02::1]/",
        ] {
            assert!(check_url(bad, false).is_err(), "{bad}");
        }
        assert!(check_url("http://127.0.0.1:9/", true).is_ok());
    }
}
