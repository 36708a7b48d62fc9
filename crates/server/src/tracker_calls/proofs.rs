//! Whether a call really comes from the tracker: each has a scheme of its own. Secrets are compared in constant time.

use axum::http::HeaderMap;
use base::limits::MINUTE_MS;
use model::linked_items::Tracker;
use model::webhooks::webhook_signing::are_same;
use ring::hmac;
use serde_json::Value;

use crate::mail_in::services::signatures::{from_hex, header};

/// How old a call of Linear may be, or how far ahead its clock. Others name no time.
const TOLERANCE_MS: i64 = 15 * MINUTE_MS;

/// A call that is not proven yet.
pub struct TrackerCall<'a> {
    pub headers: &'a HeaderMap,
    pub query: &'a str,
    pub body: &'a [u8],
    /// The body, or null where it is no JSON.
    pub json: &'a Value,
}

impl TrackerCall<'_> {
    /// True when the call is signed with this secret, or names it.
    pub fn is_genuine(&self, tracker: Tracker, secret: &str, now: i64) -> bool {
        match tracker {
            Tracker::GitHub => self.has_hub_signature("x-hub-signature-256", secret),
            Tracker::GitLab => {
                header(self.headers, "x-gitlab-token").is_some_and(|given| is_same(given, secret))
            }
            // Jira Cloud signs; a Jira of one's own has no field for a secret, so its address has it.
            Tracker::Jira => {
                self.has_hub_signature("x-hub-signature", secret) || self.names(secret)
            }
            Tracker::Linear => {
                let signature = header(self.headers, "linear-signature");
                self.is_recent(now) && signature.is_some_and(|given| self.is_signed(given, secret))
            }
        }
    }

    /// `sha256=` and the HMAC of the body, in hexadecimal digits.
    fn has_hub_signature(&self, name: &str, secret: &str) -> bool {
        let given = header(self.headers, name).and_then(|given| given.strip_prefix("sha256="));
        given.is_some_and(|given| self.is_signed(given, secret))
    }

    fn is_signed(&self, given: &str, secret: &str) -> bool {
        let Some(given) = from_hex(given) else { return false };
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        hmac::verify(&key, self.body, &given).is_ok()
    }

    fn names(&self, secret: &str) -> bool {
        url::form_urlencoded::parse(self.query.as_bytes())
            .any(|(name, value)| name == "secret" && is_same(&value, secret))
    }

    fn is_recent(&self, now: i64) -> bool {
        let at = self.json["webhookTimestamp"].as_i64();
        at.is_some_and(|at| now.saturating_sub(at).saturating_abs() <= TOLERANCE_MS)
    }
}

fn is_same(given: &str, secret: &str) -> bool {
    are_same(given.as_bytes(), secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_794_733_200_000;
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &str = "Hello, World!";
    /// The example of GitHub's documentation.
    const SIGNATURE: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn check(tracker: Tracker, (name, value): (&'static str, &str), query: &str, at: i64) -> bool {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(value).expect("a value");
        headers.insert(HeaderName::from_static(name), value);
        let json = json!({ "webhookTimestamp": at });
        let call = TrackerCall { headers: &headers, query, body: BODY.as_bytes(), json: &json };
        call.is_genuine(tracker, SECRET, NOW)
    }

    #[test]
    fn each_tracker_proves_its_calls_by_its_own_scheme() {
        let hub = format!("sha256={SIGNATURE}");
        let hub = hub.as_str();
        let named = "a=b&secret=It%27s+a+Secret+to+Everybody";
        for (tracker, given, query, at) in [
            (Tracker::GitHub, ("x-hub-signature-256", hub), "", 0),
            (Tracker::GitLab, ("x-gitlab-token", SECRET), "", 0),
            (Tracker::Jira, ("x-hub-signature", hub), "", 0),
            (Tracker::Jira, ("accept", "*/*"), named, 0),
            (Tracker::Linear, ("linear-signature", SIGNATURE), "", NOW),
        ] {
            assert!(check(tracker, given, query, at), "{tracker:?} {given:?}");
        }
    }

    #[test]
    fn what_is_signed_otherwise_is_not_genuine() {
        let hub = format!("sha256={SIGNATURE}");
        let wrong = format!("sha256={}", SIGNATURE.replace('7', "8"));
        let (hub, wrong) = (hub.as_str(), wrong.as_str());
        let old = NOW - TOLERANCE_MS - 1;
        for (tracker, given, query, at) in [
            (Tracker::GitHub, ("x-hub-signature-256", wrong), "", 0),
            (Tracker::GitHub, ("x-hub-signature-256", SIGNATURE), "", 0),
            (Tracker::GitHub, ("x-hub-signature-256", "sha256="), "", 0),
            (Tracker::GitHub, ("x-hub-signature-256", "sha256=zz"), "", 0),
            (Tracker::GitHub, ("x-gitlab-token", SECRET), "", 0),
            (Tracker::GitHub, ("accept", "*/*"), "secret=It%27s+a+Secret+to+Everybody", 0),
            (Tracker::GitLab, ("x-gitlab-token", "It's a Secret"), "", 0),
            (Tracker::GitLab, ("x-hub-signature-256", hub), "", 0),
            (Tracker::Jira, ("x-hub-signature", wrong), "secret=", 0),
            (Tracker::Jira, ("accept", "*/*"), "", 0),
            (Tracker::Linear, ("linear-signature", SIGNATURE), "", old),
            (Tracker::Linear, ("linear-signature", wrong), "", NOW),
        ] {
            assert!(!check(tracker, given, query, at), "{tracker:?} {given:?}");
        }
    }
}
