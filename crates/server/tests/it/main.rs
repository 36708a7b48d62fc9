//! Every rule of the API, through the REST door, on both databases.

mod notes;
mod support;
