//! Calls of Amazon SNS, through which SES tells of the mail it sent. A call is signed with the key of
//! a certificate that it names; only certificates at an SNS host of Amazon are fetched.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::concurrency::future::BoxFuture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{
    RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
};
use serde_json::Value;
use transport::net::https_fetch::Pages;
use url::{Host, Url};

use super::certificate;

/// Bytes of a certificate or of the answer to a confirmation.
const PAGE_BYTES: usize = 64 * 1024;
/// One deadline for each page.
pub const PAGE_TIME: Duration = Duration::from_secs(10);
/// Certificates that are kept: each region has one at a time.
const CERTIFICATES: usize = 64;
/// SNS repeats a call for hours with its first time, in milliseconds.
const TOLERANCE_MS: i64 = 2 * 60 * 60 * 1_000;

/// Fetches pages of Amazon.
pub trait SnsPages: Send + Sync {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Option<Vec<u8>>>;
}

impl SnsPages for Pages {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let page = Pages::get(self, url, PAGE_BYTES).await.ok()?;
            (page.status == 200).then_some(page.body)
        })
    }
}

/// Verifies calls, and keeps the certificates they name.
#[derive(Clone)]
pub struct SnsCalls {
    pages: Arc<dyn SnsPages>,
    keys: Arc<Mutex<HashMap<String, Vec<u8>>>>,
}

impl SnsCalls {
    pub fn new(pages: Arc<dyn SnsPages>) -> SnsCalls {
        SnsCalls { pages, keys: Arc::default() }
    }

    /// True for a call of this topic that Amazon signed, not long ago.
    pub async fn is_genuine(&self, call: &Value, topic: &str, now: i64) -> bool {
        let text = |name: &str| call[name].as_str().unwrap_or_default();
        if text("TopicArn") != topic || !is_recent(text("Timestamp"), now) {
            return false;
        }
        let (Some(signed), Ok(signature)) =
            (string_to_sign(call), STANDARD.decode(text("Signature")))
        else {
            return false;
        };
        let Some(key) = self.key(text("SigningCertURL")).await else { return false };
        let algorithm = match text("SignatureVersion") {
            "1" => &RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
            "2" => &RSA_PKCS1_2048_8192_SHA256,
            _ => return false,
        };
        UnparsedPublicKey::new(algorithm, key).verify(signed.as_bytes(), &signature).is_ok()
    }

    /// Answers the question whether calls of a topic are wanted.
    pub async fn confirm(&self, call: &Value) -> bool {
        let url = call["SubscribeURL"].as_str().unwrap_or_default();
        is_sns_host(url) && self.pages.get(url).await.is_some()
    }

    async fn key(&self, url: &str) -> Option<Vec<u8>> {
        let is_certificate =
            Url::parse(url).is_ok_and(|url| url.path().ends_with(".pem") && url.query().is_none());
        if !is_sns_host(url) || !is_certificate {
            return None;
        }
        let known = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(url).cloned();
        if known.is_some() {
            return known;
        }
        let page = self.pages.get(url).await?;
        let key = certificate::rsa_key(&page)?;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= CERTIFICATES {
            keys.clear();
        }
        keys.insert(url.to_owned(), key.clone());
        Some(key)
    }
}

/// True for `https://sns.REGION.amazonaws.com/…`, also of the regions in China.
fn is_sns_host(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let plain = url.scheme() == "https" && url.port().is_none() && url.username().is_empty();
    let Some(Host::Domain(host)) = url.host() else { return false };
    let region = host
        .strip_suffix(".amazonaws.com")
        .or_else(|| host.strip_suffix(".amazonaws.com.cn"))
        .and_then(|rest| rest.strip_prefix("sns."));
    let is_region = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    plain && region.is_some_and(is_region)
}

/// The text that is signed: some fields in their order, each with its name.
fn string_to_sign(call: &Value) -> Option<String> {
    let names: &[&str] = match call["Type"].as_str()? {
        "Notification" => &["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
        "SubscriptionConfirmation" | "UnsubscribeConfirmation" => {
            &["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
        }
        _ => return None,
    };
    let mut signed = String::new();
    for name in names {
        match call[*name].as_str() {
            Some(value) => signed.push_str(&format!("{name}\n{value}\n")),
            None if *name == "Subject" => {}
            None => return None,
        }
    }
    Some(signed)
}

fn is_recent(time: &str, now: i64) -> bool {
    let at = time.parse::<jiff::Timestamp>().map(|at| at.as_millisecond());
    at.is_ok_and(|at| now.saturating_sub(at).abs() <= TOLERANCE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_of_sns_are_called() {
        for good in [
            "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem",
            "https://sns.cn-north-1.amazonaws.com.cn/x.pem",
        ] {
            assert!(is_sns_host(good), "{good}");
        }
        for bad in [
            "http://sns.eu-central-1.amazonaws.com/x.pem",
            "https://sns.eu-central-1.amazonaws.com.evil.example/x.pem",
            "https://sns.evil.example/x.pem",
            "https://s3.eu-central-1.amazonaws.com/bucket/x.pem",
            "https://sns.a.b.amazonaws.com/x.pem",
            "https://sns..amazonaws.com/x.pem",
            "https://user@sns.eu-central-1.amazonaws.com/x.pem",
            "https://sns.eu-central-1.amazonaws.com:8443/x.pem",
            "https://127.0.0.1/x.pem",
            "",
        ] {
            assert!(!is_sns_host(bad), "{bad}");
        }
    }
}
