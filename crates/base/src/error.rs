//! Errors of operations, each with a sentence for the caller.

use std::fmt;

use crate::rate_limit::RateStatus;
use crate::security::agent_policy::PolicyRule;
use crate::security::scopes::Scope;

/// While the database is down, clients are asked to wait this long, in seconds: it is looked for more often.
pub const OUTAGE_RETRY_SECONDS: u32 = 5;

/// Why an operation was refused. The sentence is for the caller; the cause is for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Invalid(ValidationErrors),
    #[error(
        "This needs a valid API key. Send it as the header Authorization: Bearer rk_live_… or rk_test_…"
    )]
    Unauthorized,
    #[error("{0}")]
    Forbidden(String),
    #[error("This key lacks the scope {}. {}", .scope.as_str(), way_to(*.scope))]
    Lacks {
        scope: Scope,
        /// True when the key cannot use the operation in any way, not only in this one.
        entirely: bool,
    },
    /// The policy of an agent's key stops it.
    #[error("{sentence}")]
    PolicyRefused { rule: PolicyRule, sentence: String },
    #[error(
        "This key is paused: it may read, and nothing else. An owner or an admin lets it work again, under \
         Settings, Agents and keys."
    )]
    AgentPaused,
    /// The whole workspace is suspended; the reason is whose who suspended it.
    #[error("This workspace is suspended: nothing of it can be read or changed. {reason}")]
    Suspended { reason: String },
    /// The same for guests, who are not told why.
    /// Customers read it.
    #[error("This is closed for now. Try again later.")]
    ClosedForNow,
    /// A limit of what the workspace may hold.
    #[error("{0}")]
    LimitReached(String),
    /// A limit of what the workspace may do in a time, and the seconds until it may again.
    #[error("{sentence}")]
    Throttled { sentence: String, resets_in: i64 },
    #[error("There is no such {0}, or you cannot see it.")]
    NotFound(&'static str),
    #[error("Too many requests. Slow down to {} a minute.", .0.limit)]
    TooMany(RateStatus),
    /// A conflict with existing data.
    #[error("{0}")]
    Conflict(String),
    #[error("This Idempotency-Key was used before with a different request.")]
    KeyReused,
    /// Customers read it.
    #[error("Something failed on our side. Try again shortly.")]
    Store(#[from] db::StoreError),
    #[error("Something failed on our side. Try again shortly.")]
    Files(#[from] std::io::Error),
    /// The bytes of a file that a row names are gone or damaged. The log names it.
    #[error(
        "This file is lost or damaged on our side. Whoever runs this service finds out more with mailroom \
         check."
    )]
    LostFile,
}

/// How somebody gets a scope that a key or app lacks.
fn way_to(scope: Scope) -> &'static str {
    match Scope::USUAL.contains(&scope) {
        true => {
            "Make a key that has it: a key's scopes cannot be changed later. Those of a connected app can, under \
             Settings, Connected apps."
        }
        false => {
            "Make a key that has it: a key's scopes cannot be changed later. A connected app is never given this \
             one."
        }
    }
}

/// Work on another thread panicked. The panic message is left out, because it may quote a mail.
impl From<tokio::task::JoinError> for Error {
    fn from(_: tokio::task::JoinError) -> Error {
        Error::Files(std::io::Error::other("the work on it panicked"))
    }
}

/// A value could not be written as JSON. Nothing may be stored in its place.
impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::Files(std::io::Error::other(error))
    }
}

impl Error {
    /// True while the database is down. The store logs that itself, once a second.
    pub fn is_outage(&self) -> bool {
        matches!(self, Error::Store(error) if error.is_outage())
    }

    /// True where the same may work later, because the database is away or cannot write just now.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Error::Store(error) if error.is_temporary())
    }

    /// The HTTP status that says the same (API section 7).
    pub fn status(&self) -> u16 {
        match self {
            Error::Invalid(_) => 400,
            Error::Unauthorized => 401,
            Error::Forbidden(_)
            | Error::Lacks { .. }
            | Error::PolicyRefused { .. }
            | Error::AgentPaused
            | Error::Suspended { .. }
            | Error::LimitReached(_) => 403,
            Error::NotFound(_) => 404,
            Error::Conflict(_) => 409,
            Error::KeyReused => 422,
            Error::TooMany(_) | Error::Throttled { .. } => 429,
            Error::ClosedForNow => 503,
            Error::Store(error) if error.is_outage() => 503,
            Error::Store(_) | Error::Files(_) | Error::LostFile => 500,
        }
    }

    /// The word for programs, where the status alone does not tell (additions to the API, section 9).
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Error::PolicyRefused { .. } => Some("policy_refused"),
            Error::AgentPaused => Some("agent_paused"),
            Error::Suspended { .. } => Some("workspace_suspended"),
            Error::LimitReached(_) => Some("limit_reached"),
            Error::Throttled { .. } => Some("rate_limited"),
            _ => None,
        }
    }

    /// The rule of a policy that refused.
    pub fn rule(&self) -> Option<PolicyRule> {
        match self {
            Error::PolicyRefused { rule, .. } => Some(*rule),
            _ => None,
        }
    }

    /// An error with one problem, `field: sentence`.
    pub fn invalid(field: impl Into<String>, sentence: impl Into<String>) -> Error {
        Error::Invalid(ValidationErrors(vec![ValidationError {
            field: field.into(),
            sentence: sentence.into(),
        }]))
    }
}

/// Everything that is wrong with an input (API section 7: all at once, separated by semicolons).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationErrors(pub Vec<ValidationError>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    pub field: String,
    pub sentence: String,
}

impl ValidationErrors {
    pub fn add(&mut self, field: &str, sentence: impl Into<String>) {
        self.0.push(ValidationError { field: field.into(), sentence: sentence.into() });
    }

    /// The first thing that is wrong; empty if nothing is.
    pub fn first_sentence(&self) -> String {
        self.0.first().map(|problem| problem.sentence.clone()).unwrap_or_default()
    }

    /// Everything that is wrong, as one text.
    pub fn sentences(&self) -> String {
        let sentences: Vec<&str> = self.0.iter().map(|problem| problem.sentence.as_str()).collect();
        sentences.join(" ")
    }

    /// These problems and others.
    pub fn and(mut self, others: ValidationErrors) -> ValidationErrors {
        self.0.extend(others.0);
        self
    }
}

impl fmt::Display for ValidationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", problem.field, problem.sentence)?;
        }
        Ok(())
    }
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
