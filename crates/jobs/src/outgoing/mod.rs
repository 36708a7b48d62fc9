//! Mail that leaves.

pub(crate) mod mail_branding;
pub(crate) mod message_body;
pub(crate) mod outgoing_mail;
pub(crate) mod plus_tag_test;
pub(crate) mod recipient_outcomes;
pub(crate) mod sandbox_replies;
pub(crate) mod secure_mail;
pub(crate) mod send_messages;
pub(crate) mod sending_lanes;
pub(crate) mod test_mail;
