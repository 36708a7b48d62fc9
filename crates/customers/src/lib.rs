//! The page of a customer's own: whoever has proven an address by a mailed code reads the conversations with a
//! workspace, answers them, takes their data along, and asks for its deletion. Nothing of the team is on it:
//! no notes, drafts, held mail, and no mail that the address neither wrote nor was sent by the team.

mod answer;
mod conversations;
mod deletion_request;
mod messages;
mod own_data;
mod sessions;
mod workspace;
mod zip;

pub use answer::{CustomerAnswer, receive_answer};
pub use conversations::{CustomerBooking, CustomerConversation, CustomerTurn, bookings, list};
pub use deletion_request::{is_deletion_asked, request_deletion};
pub use messages::{CustomerFile, CustomerLetter, ReadConversation, file, read};
pub use own_data::own_data;
pub use sessions::{
    CustomerSession, begin_session, code_subject, end_session, enter_code, find_session,
    request_code, touch_session,
};
pub use workspace::{
    CustomerPageMode, CustomerWorkspace, mode_of, only_workspace, page_url, set_mode, workspace_at,
};
