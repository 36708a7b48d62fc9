//! What authentication found about the sender of a mail, as it is stored with the message.

use base::string_enum::string_enum;
use mail::{Authentication, AuthenticationResult, Dmarc, SignatureFormat};
use serde::{Deserialize, Serialize};

string_enum! {
    /// The outcome of one method.
    AuthenticationOutcome {
        Pass = "pass",
        Fail = "fail",
        None = "none",
    }
}

/// The outcomes for one mail (RFC 7208, RFC 6376, RFC 7489, RFC 8617).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderAuthentication {
    pub spf: AuthenticationOutcome,
    pub dkim: AuthenticationOutcome,
    pub dmarc: AuthenticationOutcome,
    pub arc: AuthenticationOutcome,
    /// A signature or the sending server is of the organisation that From names.
    #[serde(default)]
    pub aligned: bool,
    /// The writer's own signature, which nobody checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<SignatureFormat>,
}

impl SenderAuthentication {
    /// True where the mail was proven to come from the organisation that From names.
    pub fn is_proven(&self) -> bool {
        match self.dmarc {
            AuthenticationOutcome::Pass => true,
            AuthenticationOutcome::Fail => false,
            AuthenticationOutcome::None => self.aligned,
        }
    }

    /// True where the mail comes from whom it names, as far as domains can tell. Without a policy of the
    /// domain, the server must at least be one of the envelope sender's.
    pub fn proves_sender(&self) -> bool {
        match self.dmarc {
            AuthenticationOutcome::Pass => true,
            AuthenticationOutcome::Fail => false,
            AuthenticationOutcome::None => self.spf == AuthenticationOutcome::Pass,
        }
    }
}

impl From<&Authentication> for SenderAuthentication {
    fn from(found: &Authentication) -> SenderAuthentication {
        SenderAuthentication {
            spf: found.spf.into(),
            dkim: found.dkim.into(),
            dmarc: match found.dmarc {
                Dmarc::Pass => AuthenticationOutcome::Pass,
                Dmarc::Fail => AuthenticationOutcome::Fail,
                Dmarc::Absent => AuthenticationOutcome::None,
            },
            arc: found.arc.into(),
            aligned: found.aligned,
            signature: None,
        }
    }
}

impl From<AuthenticationResult> for AuthenticationOutcome {
    fn from(result: AuthenticationResult) -> AuthenticationOutcome {
        match result {
            AuthenticationResult::Pass => AuthenticationOutcome::Pass,
            AuthenticationResult::Fail => AuthenticationOutcome::Fail,
            AuthenticationResult::None => AuthenticationOutcome::None,
        }
    }
}
