//! Keys, secrets, codes and what may be reached.

pub mod agent_policy;
pub mod api_key;
pub mod content_key;
pub mod debug_without_secrets;
pub mod public_ip;
pub mod redirect_uri;
pub mod scopes;
pub mod secret_sealer;
pub mod totp;
pub mod web_push;
pub mod webauthn;
