//! What the tests run on: a server, a browser, and axe.

pub mod axe;
pub mod browser;
pub mod new_workspace;
pub mod test_server;
