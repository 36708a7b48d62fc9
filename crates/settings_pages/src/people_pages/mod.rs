//! People, teams and how they sign in.

pub(crate) mod notifications;
pub(crate) mod people;
pub(crate) mod provider_link;
pub(crate) mod provider_sign_in;
pub(crate) mod sign_in;
pub(crate) mod teams;
pub(crate) mod you;
