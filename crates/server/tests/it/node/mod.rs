//! One process of the service: health, outages, a standby, quiet mode, several nodes and what is kept secret.

mod alerts;
mod certificate_orders;
mod health;
mod log_lines;
mod nodes;
mod outage;
mod quiet;
mod replica;
mod scheduled_backups;
mod secrecy;
mod vault;
