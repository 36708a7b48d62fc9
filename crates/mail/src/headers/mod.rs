//! What the header of a mail says.

pub(crate) mod address;
pub(crate) mod date;
pub(crate) mod domain_name;
pub(crate) mod header;
pub(crate) mod ids;
pub(crate) mod organisation;
pub(crate) mod participants;
pub(crate) mod people;
pub(crate) mod subject;
pub(crate) mod token;
