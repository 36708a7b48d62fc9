//! People and teams of a workspace.

pub mod mentions;
pub mod notifications;
pub mod profile;
pub mod removal;
pub mod roles;
pub mod roster;
pub mod teams;
