//! Why a call of Microsoft Graph came to nothing.

use std::time::Duration;

use reqwest::Error;
use serde::Deserialize;

use crate::mail_oauth::TokenFailure;

/// Characters of the server's words that are shown.
const WORDS_CHARS: usize = 200;
/// Codes of errors that mean that a delta link is not known any more.
const LINK_IS_OVER: &[&str] = &["syncstatenotfound", "syncstateinvalid", "resyncrequired"];
/// The code of an error that means that a mail was deleted.
const ITEM_NOT_FOUND: &str = "ErrorItemNotFound";
/// How long is waited where a server that is asked too often does not say it.
const USUAL_WAIT: Duration = Duration::from_secs(10);
/// The longest wait for which a request is repeated at once.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphFault {
    /// No connection: nothing was asked.
    Unreachable,
    /// There was no whole response. What was asked may have been done.
    BrokeOff,
    Slow,
    /// There is no access token.
    NoToken(TokenFailure),
    /// The access token is not accepted, in the server's words.
    TokenRefused(String),
    /// The account may not use this mailbox, in the server's words.
    NoAccess(String),
    /// There is no such mailbox or folder, in the server's words.
    NotFound(String),
    /// The mail was deleted.
    ItemGone,
    /// Too many requests, again and again.
    Throttled,
    /// It was not done: the server asks, with this status, to wait so long.
    RetryAfter {
        status: u16,
        wait: Duration,
    },
    /// It was not done at present, with this status: a conflict, a lock, a redirection.
    Busy(u16),
    /// The delta link is not known any more: the folder has to be listed from its beginning.
    LinkOver,
    /// A link leads to another server, which was not asked.
    ForeignLink,
    /// What was asked for is larger than is read, or what was given larger than is taken.
    TooLarge,
    /// A definite refusal, in the server's words.
    Refused(String),
    /// The server failed, with this status. What was asked may have been done.
    Failed(u16),
    Unclear,
}

#[derive(Default, Deserialize)]
struct ErrorBody {
    #[serde(default)]
    error: ErrorDetail,
}

#[derive(Default, Deserialize)]
struct ErrorDetail {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

impl GraphFault {
    /// The fault in a response with such a status and body, which asks to wait for `wait`.
    pub(super) fn of_response(status: u16, wait: Option<Duration>, body: &[u8]) -> GraphFault {
        let body: ErrorBody = serde_json::from_slice(body).unwrap_or_default();
        let ErrorDetail { code, message } = body.error;
        if status == 410 || LINK_IS_OVER.contains(&code.to_ascii_lowercase().as_str()) {
            return GraphFault::LinkOver;
        }
        let words = match code.is_empty() {
            true => format!("HTTP {status}"),
            false => few_words(&format!("{code} {message}")),
        };
        match (status, wait) {
            (401, _) => GraphFault::TokenRefused(words),
            (403, _) => GraphFault::NoAccess(words),
            (404, _) if code == ITEM_NOT_FOUND => GraphFault::ItemGone,
            (404, _) => GraphFault::NotFound(words),
            (413, _) => GraphFault::TooLarge,
            (429, wait) => GraphFault::RetryAfter { status, wait: wait.unwrap_or(USUAL_WAIT) },
            (503, Some(wait)) => GraphFault::RetryAfter { status, wait },
            (300..=399 | 408 | 409 | 412 | 423 | 425, _) => GraphFault::Busy(status),
            (500..600, _) => GraphFault::Failed(status),
            _ => GraphFault::Refused(words),
        }
    }

    /// True where a new access token may help.
    pub fn is_token_refusal(&self) -> bool {
        matches!(self, GraphFault::TokenRefused(_))
    }

    /// How long to wait before the same request is made again; `None` where that is not worth it.
    pub fn short_wait(&self) -> Option<Duration> {
        match self {
            GraphFault::RetryAfter { status: 429, wait } if *wait <= LONGEST_WAIT => Some(*wait),
            _ => None,
        }
    }

    /// True where what was asked may have been done all the same.
    pub fn may_be_done(&self) -> bool {
        matches!(
            self,
            GraphFault::BrokeOff | GraphFault::Slow | GraphFault::Failed(_) | GraphFault::Unclear
        )
    }
}

/// The causes of an error may quote the request, so only its kind is used.
impl From<Error> for GraphFault {
    fn from(error: Error) -> GraphFault {
        if error.is_connect() {
            GraphFault::Unreachable
        } else if error.is_timeout() {
            GraphFault::Slow
        } else {
            GraphFault::BrokeOff
        }
    }
}

impl From<TokenFailure> for GraphFault {
    fn from(failure: TokenFailure) -> GraphFault {
        GraphFault::NoToken(failure)
    }
}

fn few_words(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(plain).take(WORDS_CHARS).collect();
    text.trim().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_tells_what_follows_from_it() {
        let waiting = |status: u16, seconds: Option<u64>, body: &str| {
            GraphFault::of_response(status, seconds.map(Duration::from_secs), body.as_bytes())
        };
        let of = |status: u16, body: &str| waiting(status, None, body);
        let gone = r#"{"error":{"code":"SyncStateNotFound","message":"x"}}"#;
        assert_eq!(of(400, gone), GraphFault::LinkOver);
        assert_eq!(of(410, ""), GraphFault::LinkOver);
        let denied = r#"{"error":{"code":"ErrorAccessDenied","message":"Access is denied."}}"#;
        let words = "ErrorAccessDenied Access is denied".to_owned();
        assert_eq!(of(403, denied), GraphFault::NoAccess(words.clone()));
        assert_eq!(of(401, denied), GraphFault::TokenRefused(words.clone()));
        assert_eq!(of(404, denied), GraphFault::NotFound(words.clone()));
        assert_eq!(of(400, denied), GraphFault::Refused(words));
        let deleted = r#"{"error":{"code":"ErrorItemNotFound","message":"x"}}"#;
        assert_eq!(of(404, deleted), GraphFault::ItemGone);
        assert_eq!(of(404, ""), GraphFault::NotFound("HTTP 404".into()));
        assert_eq!(of(503, "<html>"), GraphFault::Failed(503));
        for (status, seconds, wait) in [(429, None, 10), (429, Some(90), 90), (503, Some(7), 7)] {
            let wait = Duration::from_secs(wait);
            assert_eq!(waiting(status, seconds, ""), GraphFault::RetryAfter { status, wait });
        }
        assert_eq!(waiting(429, Some(60), "").short_wait(), Some(Duration::from_secs(60)));
        assert_eq!(waiting(429, Some(61), "").short_wait(), None);
        assert_eq!(waiting(503, Some(1), "").short_wait(), None);
        for status in [302, 408, 409, 412, 423, 425] {
            assert_eq!(of(status, denied), GraphFault::Busy(status));
        }
        assert_eq!(of(400, "<html>"), GraphFault::Refused("HTTP 400".into()));
        let long = format!(r#"{{"error":{{"code":"a","message":"{}"}}}}"#, "x".repeat(1_000));
        assert_eq!(of(400, &long), GraphFault::Refused(format!("a {}", "x".repeat(198))));
    }
}
