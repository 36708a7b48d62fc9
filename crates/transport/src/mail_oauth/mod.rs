//! Mailboxes that are signed in to at their provider (OAuth 2.0) instead of with a password: the clients
//! that the operator registered at Google and Microsoft, and the access tokens of connected mailboxes.

mod access_tokens;
mod client;
mod identity;
mod token_endpoint;
mod xoauth2;

pub use access_tokens::{
    AccessTokens, FixedToken, MailboxTokens, NoTokens, TokenFailure, with_fresh_token,
};
pub use client::{CALLBACK, OAuthClient, OAuthClients};
pub use token_endpoint::{CodeGrant, TokenEndpoint, refusal};
pub use xoauth2::xoauth2;
