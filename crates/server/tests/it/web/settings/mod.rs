//! The settings, page by page.

mod branding;
mod chat_webhooks;
mod connect;
mod deletion;
mod fields;
mod graph;
mod helpers;
mod inbox_access;
mod inbox_settings;
mod linked_items;
mod notifications;
mod outgoing;
mod overview;
mod pages;
mod provider_sign_in;
mod queues;
mod reports;
mod rules;
mod samples;
mod services;
mod team;
mod test_cases;
mod webhooks;
mod welcome;
