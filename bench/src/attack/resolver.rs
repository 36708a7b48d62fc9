//! Mail that comes in while no DNS server answers.

use std::path::Path;
use std::time::Duration;

use super::target::AttackTarget;
use crate::database::{DatabaseKind, Databases};
use crate::fill::workspace::INBOX;
use crate::receive::SmtpSender;
use crate::report::{Goal, Wanted};
use crate::server::free_address;

const MAILS: usize = 5;

/// The longest wait for a mail's acknowledgement while the resolver's port is closed.
pub fn measure(
    binary: &Path,
    kind: DatabaseKind,
    databases: &Databases,
    patience: f64,
) -> Result<Goal, String> {
    let closed = free_address()?;
    let target = AttackTarget::start_with_dns(binary, kind, databases.postgres(), closed)?;
    let mut sender = SmtpSender::connect(target.smtp)?;
    let mut slowest = Duration::ZERO;
    for number in 0..MAILS {
        let mail = format!(
            "From: ann@customer{number}.example\r\nTo: {INBOX}\r\nSubject: Order {number}\r\n\
             Message-ID: <resolver{number}@customer.example>\r\n\r\nHello\r\n"
        );
        let from = format!("ann@customer{number}.example");
        slowest = slowest.max(sender.send_bytes(&from, INBOX, mail.as_bytes())?);
    }
    Ok(Goal {
        what: format!("dead resolver: seconds until a mail was taken ({})", kind.name()),
        value: slowest.as_secs_f64(),
        // Checking who wrote it may take two seconds; the rest is what a mail takes anyway.
        wanted: Wanted::AtMost(patience + 1.0),
    })
}
