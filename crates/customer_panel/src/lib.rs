//! The customer panel: the app of a workspace's owner is asked what it knows of the customer of a
//! conversation, with a call that is signed as events of webhooks are, and answers with small blocks.
//!
//! It is asked about conversations of the team, and about those of the sandbox where an app is registered for
//! them; never about held mail, spam, private inboxes and inboxes for some. Its words are somebody else's.

mod answer;
mod block;
mod press;
mod question;
mod registration;

pub use answer::{PanelAnswer, PanelState, answer, latest_answer};
pub use block::{BadgeTone, PanelBlock, read_blocks};
pub use press::{PanelPress, PressOutcome, press, record_press};
pub use question::{PanelCase, PanelQuestion, question};
pub use registration::{
    CustomerPanel, list_panels, register_panel, remove_panel, rotate_panel_secret,
};
