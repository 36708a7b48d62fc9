//! What jobs need of the outside.

pub(crate) mod app_mail_reader;
pub(crate) mod calendar_reader;
pub(crate) mod document_reader;
pub(crate) mod open_pages;
pub(crate) mod push_sender;
pub(crate) mod relay;
pub(crate) mod reply_model;
pub(crate) mod webhook_sender;
