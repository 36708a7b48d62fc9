//! What the operator decided about signing in at an OpenID provider, what such a sign-in goes out with and
//! comes back with, and why an account is not let in.

use base::actor::Role;
use base::email_address::EmailAddress;
use base::ids::Ids;
use serde::{Deserialize, Serialize};

/// Characters of the words that only one sign-in knows; PKCE asks for at least 43 (RFC 7636, 4.1).
const VERIFIER_CHARS: usize = 64;
const NONCE_CHARS: usize = 32;

/// What the operator decided about signing in at the provider.
#[derive(Clone, Debug)]
pub struct ProviderRules {
    /// The provider as people know it.
    pub name: String,
    pub issuer: String,
    /// The domains whose addresses sign in; none for all.
    pub domains: Vec<String>,
    /// The provider answers for the addresses it gives: they link accounts of people who have signed in
    /// before, too, and need no `email_verified`.
    pub trusts_email: bool,
    /// The slug of the workspace that people join whom nobody has added.
    pub joins: Option<String>,
    pub other_ways: LocalSignInPolicy,
}

/// Who signs in by passkey, password or link where there is a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalSignInPolicy {
    #[default]
    ForEverybody,
    /// For the day on which the provider is down.
    ForOwners,
}

impl LocalSignInPolicy {
    pub fn let_in(self, role: Role) -> bool {
        self == LocalSignInPolicy::ForEverybody || role == Role::Owner
    }
}

/// Who signed in at the provider, as a checked identity token says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderIdentity {
    pub issuer: String,
    pub subject: String,
    pub email: Option<EmailAddress>,
    /// `None` where the provider does not say it.
    pub email_verified: Option<bool>,
    pub name: String,
    /// True where the provider's sign-in is both steps in one.
    pub has_both_steps: bool,
}

/// What one sign-in at the provider goes out with; the browser's step keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub struct ProviderPlan {
    pub state: String,
    /// Comes back in the identity token of this sign-in alone.
    pub nonce: String,
    /// Proves to the provider that who redeems the code is who asked for it (RFC 7636).
    pub verifier: String,
}

base::debug_without_secrets!(ProviderPlan {});

impl ProviderPlan {
    pub fn new(ids: &Ids) -> ProviderPlan {
        ProviderPlan {
            state: ids.token(NONCE_CHARS),
            nonce: ids.token(NONCE_CHARS),
            verifier: ids.token(VERIFIER_CHARS),
        }
    }
}

/// Why an account does not sign in here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderRefusal {
    ForeignDomain,
    UnprovenAddress,
    Unknown(EmailAddress),
    SeveralWorkspaces,
    NotLinked,
    /// The person has another account, or the account another person.
    LinkedOtherwise,
    Removed,
}

impl ProviderRefusal {
    /// For the log.
    pub fn reason(&self) -> &'static str {
        match self {
            ProviderRefusal::ForeignDomain => "the address is of another domain",
            ProviderRefusal::UnprovenAddress => "the address is not proven",
            ProviderRefusal::Unknown(_) => "nobody has the address",
            ProviderRefusal::SeveralWorkspaces => "several workspaces know the address",
            ProviderRefusal::NotLinked => "the account is not linked",
            ProviderRefusal::LinkedOtherwise => "the person or the account is linked otherwise",
            ProviderRefusal::Removed => "the person was removed",
        }
    }

    pub fn sentence(&self, rules: &ProviderRules) -> String {
        let name = &rules.name;
        match self {
            ProviderRefusal::ForeignDomain => format!(
                "Only accounts with an address at {} sign in here, and yours at {name} has none.",
                rules.domains.join(" or ")
            ),
            ProviderRefusal::UnprovenAddress => format!(
                "{name} does not say that your address there is proven. Sign in as before, and link your \
                 account under Settings, Signing in."
            ),
            ProviderRefusal::Unknown(email) => format!(
                "Nobody on a team here has the address {email}. Ask an owner or admin to add you."
            ),
            ProviderRefusal::SeveralWorkspaces => format!(
                "Your address is known in several workspaces. Sign in to yours as before, and link your \
                 account at {name} under Settings, Signing in."
            ),
            ProviderRefusal::NotLinked => format!(
                "Your account at {name} is not linked yet. Sign in as before, and link it under Settings, \
                 Signing in."
            ),
            ProviderRefusal::LinkedOtherwise => format!(
                "Whoever has your address here signs in with another account at {name}. If that was you, \
                 ask an owner or admin to reset your sign-in."
            ),
            ProviderRefusal::Removed => {
                "You were removed from the team. Ask an owner or admin to add you again.".into()
            }
        }
    }
}
