//! What concerns a whole workspace.

pub mod audit_log;
pub mod branding_settings;
pub mod customer_page;
pub mod deletion;
pub mod fields;
pub mod help_site;
pub mod limits;
pub mod report_settings;
pub mod rules;
pub mod samples;
pub mod secure_settings;
pub mod suspension;
