//! Typed clients of one file each, made from the table of operations.

mod client_type;
mod python;
mod typescript;

pub use python::client as python_client;
pub use python::python_name;
pub use typescript::{camel_case, client as typescript_client};
