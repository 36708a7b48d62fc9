//! A client for Microsoft Graph, by which mailboxes are read and sent from where IMAP and SMTP are
//! switched off.

mod client;
mod delta;
mod drafts;
mod fault;

pub use client::GraphClient;
pub use delta::{DeltaPage, GraphItem};
pub use drafts::GraphFile;
pub use fault::GraphFault;
