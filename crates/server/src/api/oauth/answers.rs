//! The errors that OAuth clients understand.

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use base::error::Error;
use base::error::OUTAGE_RETRY_SECONDS;
use serde_json::json;

use crate::api::http::{ApiContext, ApiResponse, log_cause};

/// An error by its name in the OAuth specifications, with a sentence for the developer of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OauthError {
    status: StatusCode,
    code: &'static str,
    sentence: &'static str,
}

macro_rules! errors {
    ($($name:ident: $status:ident, $code:literal, $sentence:literal;)*) => {
        impl OauthError {
            $(pub const $name: OauthError = OauthError {
                status: StatusCode::$status,
                code: $code,
                sentence: $sentence,
            };)*
        }
    };
}

// Name, HTTP status, the specification's name, and what to do.
errors! {
    INVALID_REQUEST: BAD_REQUEST, "invalid_request",
        "A parameter is missing, given twice, or the body is not a form.";
    INVALID_CLIENT: UNAUTHORIZED, "invalid_client",
        "This client is not known here. Register again, or use a client id metadata document.";
    INVALID_GRANT: BAD_REQUEST, "invalid_grant",
        "The code or token is wrong, used, over, or belongs to another client.";
    INVALID_TARGET: BAD_REQUEST, "invalid_target",
        "Tokens are for the resource that the protected resource metadata names.";
    UNSUPPORTED_GRANT_TYPE: BAD_REQUEST, "unsupported_grant_type",
        "Use authorization_code or refresh_token.";
    INVALID_REDIRECT_URI: BAD_REQUEST, "invalid_redirect_uri",
        "Name 1 to 20 redirect_uris: https, http on this computer, or a known program's scheme.";
    INVALID_CLIENT_METADATA: BAD_REQUEST, "invalid_client_metadata",
        "Send a JSON object with redirect_uris and, if you like, client_name.";
    NO_REGISTRATION: NOT_FOUND, "invalid_request",
        "Clients cannot register themselves here. Use a client id metadata document.";
    ONLY_GET: METHOD_NOT_ALLOWED, "invalid_request",
        "This address takes GET.";
    ONLY_POST: METHOD_NOT_ALLOWED, "invalid_request",
        "This address takes POST.";
    TOO_MANY: TOO_MANY_REQUESTS, "temporarily_unavailable",
        "Too many requests. Try again in fifteen minutes.";
    FAILED: INTERNAL_SERVER_ERROR, "server_error",
        "Something failed on our side. Try again shortly.";
    DATABASE_DOWN: SERVICE_UNAVAILABLE, "temporarily_unavailable",
        "Something failed on our side. Try again shortly.";
}

impl OauthError {
    /// An error of ours; the log gets its cause.
    pub fn of(error: Error) -> OauthError {
        log_cause(&error);
        if error.is_outage() { OauthError::DATABASE_DOWN } else { OauthError::FAILED }
    }

    /// `by_header`: the client named itself in `Authorization`, so a refusal names the scheme, as
    /// RFC 6749 section 5.2 has it. Others get no such header: a browser would ask for a password.
    pub fn answer(&self, context: &ApiContext, by_header: bool) -> ApiResponse {
        let body = json!({"error": self.code, "error_description": self.sentence});
        let mut reply = context.ok(self.status, Bytes::from(body.to_string()));
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            reply.extra.push((header::RETRY_AFTER, "900".into()));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            let method = if *self == OauthError::ONLY_GET { "GET" } else { "POST" };
            reply.extra.push((header::ALLOW, method.into()));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            reply.extra.push((header::RETRY_AFTER, OUTAGE_RETRY_SECONDS.to_string()));
        }
        if by_header && self.status == StatusCode::UNAUTHORIZED {
            reply.extra.push((header::WWW_AUTHENTICATE, "Basic realm=\"Mailroom\"".into()));
        }
        reply
    }
}
