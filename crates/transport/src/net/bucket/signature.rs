//! Signs the calls of a bucket: AWS Signature Version 4.

use jiff::Timestamp;
use ring::hmac;
use sha2::{Digest, Sha256};

use super::{BucketConfig, Call};

/// The headers that sign a call (AWS Signature Version 4, in the Authorization header).
pub(super) fn signed_headers(
    config: &BucketConfig,
    call: &Call,
    url: &reqwest::Url,
    now: Timestamp,
) -> Vec<(&'static str, String)> {
    let moment = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let day = &moment[..8];
    let hash = hex(&Sha256::digest(&call.body));
    let host = match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().to_owned(),
    };
    let mut headers = vec![("host", host), ("x-amz-content-sha256", hash.clone())];
    headers.push(("x-amz-date", moment.clone()));
    headers.extend(config.session_token.clone().map(|token| ("x-amz-security-token", token)));
    let listed: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let (path, query) = (url.path(), url.query().unwrap_or_default());
    let request = format!("{}\n{path}\n{query}\n{listed}\n{names}\n{hash}", call.method);
    let scope = format!("{day}/{}/s3/aws4_request", config.region);
    let request = hex(&Sha256::digest(request));
    let to_sign = format!("AWS4-HMAC-SHA256\n{moment}\n{scope}\n{request}");
    let mut key = format!("AWS4{}", config.secret_key).into_bytes();
    for part in [day, &config.region, "s3", "aws4_request"] {
        key = sign(&key, part);
    }
    let signature = hex(&sign(&key, &to_sign));
    headers.push((
        "authorization",
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            config.access_key
        ),
    ));
    headers
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
