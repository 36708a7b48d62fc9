//! A response before its headers, and how errors become one.

use api::wire::ErrorBody;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use base::error::Error;
use base::error::OUTAGE_RETRY_SECONDS;
use base::rate_limit::RateStatus;

pub(crate) struct ApiResponse {
    pub status: StatusCode,
    pub body: Bytes,
    pub rate: RateStatus,
    pub extra: Vec<(header::HeaderName, String)>,
}

/// A sentence about the whole request.
pub fn refusal(status: StatusCode, sentence: &str, rate: RateStatus) -> ApiResponse {
    with_body(status, &ErrorBody::new(sentence), rate)
}

fn with_body(status: StatusCode, body: &ErrorBody, rate: RateStatus) -> ApiResponse {
    let body = serde_json::json!(body).to_string().into();
    ApiResponse { status, body, rate, extra: Vec::new() }
}

pub fn of_error(error: &Error, rate: RateStatus) -> ApiResponse {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    log_cause(error);
    let mut reply = with_body(status, &ErrorBody::from(error), rate);
    if status == StatusCode::UNAUTHORIZED {
        reply.extra.push((header::WWW_AUTHENTICATE, "Bearer".into()));
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        let resets_in = match error {
            Error::Throttled { resets_in, .. } => *resets_in,
            _ => rate.resets_in,
        };
        reply.extra.push((header::RETRY_AFTER, resets_in.to_string()));
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        reply.extra.push((header::RETRY_AFTER, OUTAGE_RETRY_SECONDS.to_string()));
    }
    reply
}

/// The caller gets a sentence, the log gets the cause.
pub(crate) fn log_cause(error: &Error) {
    match error {
        Error::Store(cause) if !cause.is_outage() => {
            tracing::error!(%cause, "an operation failed");
        }
        Error::Files(cause) => tracing::error!(%cause, "a file could not be read or written"),
        _ => {}
    }
}
