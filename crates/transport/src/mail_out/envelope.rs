//! Envelope addresses: which can be delivered to, and their domain.

use std::future::Future;

use jobs::{OutgoingMail, RelayOutcome, RelayReason};

/// An address as it stands in an envelope: its domain in ASCII, its local part as it is. `None` for
/// invalid addresses.
pub fn deliverable(address: &str) -> Option<String> {
    let (local, domain) = address.rsplit_once('@').filter(|_| mail::is_address(address))?;
    let domain = mail::ascii_domain(domain)?;
    Some(format!("{local}@{domain}"))
}

/// The domain of a deliverable address.
pub fn domain(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// Sends to those recipients that have a deliverable address, in the order of the parcel; the
/// others never get it.
pub async fn to_deliverable<F, R>(mail: &OutgoingMail, send: F) -> Vec<RelayOutcome>
where
    F: FnOnce(OutgoingMail, Vec<String>) -> R,
    R: Future<Output = Vec<RelayOutcome>>,
{
    let sender = deliverable(&mail.sender).unwrap_or_default();
    let recipients: Vec<Option<String>> =
        mail.recipients.iter().map(|to| deliverable(to)).collect();
    let good: Vec<String> = recipients.iter().flatten().cloned().collect();
    let mut told = if good.is_empty() {
        Vec::new()
    } else {
        send(OutgoingMail { sender, ..mail.clone() }, good).await
    }
    .into_iter();
    let unfit = || {
        let sentence = "this is not an address that mail can go to";
        RelayOutcome::Never(RelayReason::new("5.1.3", sentence))
    };
    let missed = || RelayOutcome::Later("nothing was said of this recipient".into());
    let outcome = |to: Option<String>| match to {
        Some(_) => told.next().unwrap_or_else(missed),
        None => unfit(),
    };
    recipients.into_iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_holds_no_address_that_could_be_a_command() {
        for (address, expected) in [
            ("mara@x.example", Some("mara@x.example")),
            ("mara@Bücher.example", Some("mara@xn--bcher-kva.example")),
            ("mära@x.example", Some("mära@x.example")),
            ("mara@x.example>\r\nRCPT TO:<evil@x.example", None),
            ("ma ra@x.example", None),
            ("mara", None),
            ("@x.example", None),
            ("mara@[127.0.0.1]", None),
            ("mara@127.0.0.1", None),
            ("", None),
        ] {
            assert_eq!(deliverable(address).as_deref(), expected, "{address:?}");
        }
    }
}
