//! What people read about a sending service, in the app and at the command line.

use translation::t;

use crate::services::Service;

impl Service {
    /// What is to be entered at the service.
    pub fn steps(self, tag: &str) -> Vec<String> {
        let mut steps = match self {
            Service::Resend => vec![
                t!("In Resend, open Webhooks and add the address above for the event email.sent."),
                t!("Copy the signing secret that Resend shows (whsec_…) and enter it here."),
            ],
            Service::Postmark => vec![t!(
                "In Postmark, open the message stream's Webhooks and add the address that was shown \
                 when you connected it, for the event Delivery."
            )],
            Service::Mailgun => vec![
                t!("In Mailgun, open Sending, Webhooks and add the address above for accepted or \
                     delivered messages."),
                t!("Copy the HTTP webhook signing key and enter it here."),
            ],
            Service::SendGrid => vec![
                t!("In SendGrid, open Settings, Mail Settings, Event Webhook and add the address \
                     above for Processed or Delivered."),
                t!("Turn on Signed Event Webhook, copy the verification key and enter it here."),
            ],
            Service::AmazonSes => vec![
                t!("In Amazon SNS, make a topic and enter its ARN here."),
                t!("Subscribe the address above to the topic, with the protocol HTTPS. The \
                     subscription confirms itself."),
                t!("In Amazon SES, publish the event Send of your configuration set to the topic."),
            ],
        };
        let reference = match self {
            Service::Resend => t!("Put your reference into the tag {tag}.", tag),
            Service::Postmark => t!("Put your reference into the metadata field {tag}.", tag),
            Service::Mailgun => t!("Put your reference into the variable v:{tag}.", tag),
            Service::SendGrid => t!("Put your reference into the custom argument {tag}.", tag),
            Service::AmazonSes => t!("Put your reference into the message tag {tag}.", tag),
        };
        steps.push(&reference);
        steps.into_iter().map(str::to_owned).collect()
    }

    /// The service's name for what its calls are checked with.
    pub fn secret_label(self) -> &'static str {
        match self {
            Service::Resend => t!("Signing secret (whsec_…)"),
            Service::Postmark => t!("Password"),
            Service::Mailgun => t!("HTTP webhook signing key"),
            Service::SendGrid => t!("Verification key"),
            Service::AmazonSes => t!("ARN of the topic"),
        }
    }
}
