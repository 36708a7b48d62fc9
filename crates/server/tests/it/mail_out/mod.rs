//! Mail that leaves: the SMTP client against servers on real sockets that behave as they are told,
//! and what becomes of messages.

mod cuts;
mod direct;
mod domains;
mod encryption;
mod envelope;
pub mod names;
pub mod peer;
mod recipients;
mod replies;
mod reuse;
mod sts;

use std::sync::Arc;
use std::time::Duration;

use jobs::{OutgoingMail, Relay, RelayOutcome};
use transport::mail_out::{SmarthostRelay, SmtpTimeouts};
use transport::webhooks::SystemResolver;

use crate::webhooks::receiver::Authority;
use peer::{Manner, Peer};

/// Everything that a modern server offers.
const OFFERS: &[&str] = &["PIPELINING", "8BITMIME", "SMTPUTF8", "SIZE 1000000"];

pub fn offering(offers: &[&'static str]) -> Manner {
    Manner { offers: offers.to_vec(), ..Manner::default() }
}

/// Long enough for a slow machine; what must run out in a test uses less.
fn patience() -> SmtpTimeouts {
    let long = Duration::from_secs(60);
    SmtpTimeouts { connect: long, command: long, block: long, verdict: long }
}

/// A relay at this address: `options` is what stands behind it in `MAILROOM_RELAY`.
fn smarthost(scheme: &str, peer: &Peer, options: &str, authority: &Authority) -> SmarthostRelay {
    let text = format!("{scheme}127.0.0.1:{}{options}", peer.address.port());
    smarthost_named(&text, authority, patience())
}

fn smarthost_named(text: &str, authority: &Authority, patience: SmtpTimeouts) -> SmarthostRelay {
    let resolver = Arc::new(SystemResolver::default());
    let options = text.parse().unwrap();
    SmarthostRelay::new(&options, "mail.acme.example".into(), resolver, authority.roots(), patience)
        .unwrap()
}

fn plain(peer: &Peer) -> SmarthostRelay {
    smarthost("smtp://", peer, "", &Authority::new())
}

fn mail(recipients: &[&str]) -> OutgoingMail {
    OutgoingMail {
        message_id: "msg.1@acme.example".into(),
        sender: "support+b_1_abc@acme.example".into(),
        recipients: recipients.iter().map(|to| (*to).to_owned()).collect(),
        bytes: b"Subject: Hello\r\n\r\nHello\r\n.\r\n.. and on\r\n".to_vec().into(),
        server: None,
        of_service: false,
        of_sample: false,
    }
}

/// What became of a mail to one recipient.
async fn sent(relay: &impl Relay) -> RelayOutcome {
    let mut outcomes = relay.send(&mail(&["mara@customer.example"])).await;
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

/// An outcome as a word and its reason.
fn told(outcome: &RelayOutcome) -> String {
    match outcome {
        RelayOutcome::Delivered => "delivered".into(),
        RelayOutcome::Later(reason) | RelayOutcome::Unavailable(reason) => {
            format!("later: {reason}")
        }
        RelayOutcome::Never(reason) => format!("never: {reason}"),
    }
}
