//! The settings, page by page.

mod connect;
mod deletion;
mod helpers;
mod inbox_access;
mod inbox_settings;
mod notifications;
mod outgoing;
mod pages;
mod provider_sign_in;
mod queues;
mod rules;
mod services;
mod team;
mod webhooks;
mod welcome;
