//! Mail that Mailroom or its team sent, and that comes back.

pub(crate) mod own_copies;
pub(crate) mod own_markers;
pub(crate) mod sent;
