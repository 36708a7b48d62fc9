//! Contact forms: pages on which anybody writes to an inbox without a mail program. What a form asks for, what
//! came by it, who proves their address, and which posts a person looks at first.

mod checks;
pub mod fields;
pub mod files;
pub mod form_texts;
mod forms;
pub mod posts;
pub mod proof;
pub mod sites;
pub mod stamps;
pub mod strangers;

pub use fields::{FormAnswerUse, FormCondition, FormField, FormFieldKind, TICKED, one_line};
pub use forms::{
    ContactForm, ContactFormInput, FormProof, PublicForm, add, all, change, find, public_at, remove,
};
