//! Forms: their fields, files, and what becomes of one whose session is over.

pub mod field_errors;
pub mod form;
pub(crate) mod form_values;
pub mod interrupted;
pub mod left_form;
pub mod multipart;
pub mod typed_times;
