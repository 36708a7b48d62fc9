//! The form of a request to the token or revocation endpoint.

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Parameters of one request. Those of OAuth are about ten.
const PARAMETERS: usize = 100;

/// The parameters of a request, each given once.
pub struct Parameters {
    pairs: Vec<(String, String)>,
    /// The client's id where it stands in the `Authorization` header.
    basic: Option<String>,
}

impl Parameters {
    /// `None` for what is not a form, and for a form that says something twice or far too much.
    pub fn of(headers: &HeaderMap, body: &[u8]) -> Option<Parameters> {
        let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?.to_ascii_lowercase();
        if !kind.starts_with("application/x-www-form-urlencoded") {
            return None;
        }
        let given = url::form_urlencoded::parse(body).into_owned();
        let pairs: Vec<(String, String)> = given.take(PARAMETERS + 1).collect();
        let is_said_twice = |(place, (name, _)): (usize, &(String, String))| {
            pairs[..place].iter().any(|(earlier, _)| earlier == name)
        };
        if pairs.len() > PARAMETERS || pairs.iter().enumerate().any(is_said_twice) {
            return None;
        }
        Some(Parameters { pairs, basic: basic(headers) })
    }

    /// `None` for a parameter that is missing or empty.
    pub fn get(&self, name: &str) -> Option<String> {
        let found = self.pairs.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    }

    pub fn client_id(&self) -> Option<String> {
        self.get("client_id").or_else(|| self.basic.clone())
    }
}

/// The user name of `Authorization: Basic`; clients have no password here.
fn basic(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(encoded.trim()))?;
    let decoded = String::from_utf8(decoded.ok()?).ok()?;
    let (id, _) = decoded.split_once(':')?;
    // As in a form: the specification has it encoded once more.
    let (id, _) = url::form_urlencoded::parse(id.as_bytes()).next()?;
    Some(id.into_owned())
}
