//! Notices to people about conversations: what each wants to be told of (`choices`), when (`settings`),
//! what there is to tell (`facts`), and what leaves (`telling`, in the words of `wording`) by mail or to
//! a browser (`push`).

pub mod choices;
pub mod dispatch;
pub mod facts;
pub mod notified_conversation;
pub mod push;
pub mod settings;
pub mod wording;
