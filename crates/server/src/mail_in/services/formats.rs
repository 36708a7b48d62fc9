//! The webhook and API formats of e-mail-sending services.

use jobs::AppMailBody;
use outbound::services::{Service, ServiceMail};
use serde_json::Value;

/// The domain of the Message-IDs that Postmark gives mails.
const POSTMARK_DOMAIN: &str = "mtasv.net";

/// Mails that one call may report: SendGrid puts several into one.
const MAILS: usize = 1_000;

/// The mails that a webhook call reports; none for other calls.
pub fn sent_mails(service: Service, call: &Value, reference_tag: &str) -> Vec<ServiceMail> {
    match service {
        Service::Resend => by_resend(call, reference_tag).into_iter().collect(),
        Service::Postmark => by_postmark(call, reference_tag).into_iter().collect(),
        Service::Mailgun => by_mailgun(call, reference_tag).into_iter().collect(),
        Service::SendGrid => {
            let events = call.as_array().map(Vec::as_slice).unwrap_or_default();
            let mails = events.iter().filter_map(|event| by_sendgrid(event, reference_tag));
            mails.take(MAILS).collect()
        }
        Service::AmazonSes => by_ses(call, reference_tag).into_iter().collect(),
    }
}

/// A mail that Mailgun took or delivered. Its text is kept under the storage key for some days.
fn by_mailgun(call: &Value, reference_tag: &str) -> Option<ServiceMail> {
    let event = &call["event-data"];
    if event["event"] != "accepted" && event["event"] != "delivered" {
        return None;
    }
    let headers = &event["message"]["headers"];
    let recipient = text(&event["recipient"]);
    let domain = text(&event["domain"]["name"]).or_else(|| {
        let sender = text(&event["envelope"]["sender"])?;
        sender.rsplit_once('@').map(|(_, domain)| domain.to_owned())
    });
    let stored = match (domain, text(&event["storage"]["key"])) {
        (Some(domain), Some(key)) => format!("{domain}/{key}"),
        _ => text(&event["id"])?,
    };
    Some(ServiceMail {
        service_mail: stored,
        header_id: text(&headers["message-id"])?,
        to: recipient.map_or_else(|| addresses(&headers["to"]), |to| vec![to]),
        subject: text(&headers["subject"]).unwrap_or_default(),
        reference: text(&event["user-variables"][reference_tag]),
    })
}

/// A mail that SendGrid took on. Custom arguments are fields of the event.
fn by_sendgrid(event: &Value, reference_tag: &str) -> Option<ServiceMail> {
    if event["event"] != "processed" && event["event"] != "delivered" {
        return None;
    }
    Some(ServiceMail {
        service_mail: text(&event["sg_message_id"])?,
        header_id: text(&event["smtp-id"])?,
        to: text(&event["email"]).into_iter().collect(),
        subject: String::new(),
        reference: text(&event[reference_tag]),
    })
}

/// A mail that SES sent, in the message of an SNS notification. SES replaces the Message-ID by its
/// own id and the domain of its region.
fn by_ses(call: &Value, reference_tag: &str) -> Option<ServiceMail> {
    if call["Type"] != "Notification" {
        return None;
    }
    let message: Value = serde_json::from_str(call["Message"].as_str()?).ok()?;
    let kind = text(&message["eventType"]).or_else(|| text(&message["notificationType"]))?;
    if kind != "Send" && kind != "Delivery" {
        return None;
    }
    let mail = &message["mail"];
    let id = text(&mail["messageId"])?;
    let domain = match call["TopicArn"].as_str()?.split(':').nth(3)? {
        "us-east-1" => "email.amazonses.com".to_owned(),
        region => format!("{region}.amazonses.com"),
    };
    Some(ServiceMail {
        header_id: format!("{id}@{domain}"),
        service_mail: id,
        to: addresses(&mail["destination"]),
        subject: text(&mail["commonHeaders"]["subject"]).unwrap_or_default(),
        reference: text(&mail["tags"][reference_tag][0]),
    })
}

/// `email.sent`, with the outline in `data`. Tags are an object, or a list of names and values.
fn by_resend(call: &Value, reference_tag: &str) -> Option<ServiceMail> {
    if call["type"] != "email.sent" {
        return None;
    }
    let data = &call["data"];
    let listed = || {
        let tags = data["tags"].as_array()?.iter();
        tags.filter(|tag| tag["name"] == reference_tag).find_map(|tag| text(&tag["value"]))
    };
    Some(ServiceMail {
        service_mail: text(&data["email_id"])?,
        header_id: text(&data["message_id"])?,
        to: addresses(&data["to"]),
        subject: text(&data["subject"]).unwrap_or_default(),
        reference: text(&data["tags"][reference_tag]).or_else(listed),
    })
}

/// A delivery to one recipient. It has no subject; the Message-ID is derived from the mail's id,
/// unless the metadata holds the app's own.
fn by_postmark(call: &Value, reference_tag: &str) -> Option<ServiceMail> {
    if call["RecordType"] != "Delivery" {
        return None;
    }
    let service_mail = text(&call["MessageID"])?;
    let metadata = &call["Metadata"];
    let kept = text(&metadata["message-id"]);
    Some(ServiceMail {
        header_id: kept.unwrap_or_else(|| format!("{service_mail}@{POSTMARK_DOMAIN}")),
        to: text(&call["Recipient"]).into_iter().collect(),
        subject: String::new(),
        reference: text(&metadata[reference_tag]),
        service_mail,
    })
}

/// The API path of a mail.
pub fn path_of(service: Service, mail: &str) -> String {
    match service {
        Service::Resend => format!("/emails/{mail}"),
        Service::Postmark => format!("/messages/outbound/{mail}/details"),
        Service::Mailgun => {
            let (domain, key) = mail.split_once('/').unwrap_or(("", mail));
            format!("/v3/domains/{domain}/messages/{key}")
        }
        Service::SendGrid | Service::AmazonSes => String::new(),
    }
}

/// The text of a mail in the service's API response.
pub fn words(service: Service, answer: &Value) -> AppMailBody {
    let names = match service {
        Service::Resend => ["subject", "text", "html"],
        Service::Postmark => ["Subject", "TextBody", "HtmlBody"],
        Service::Mailgun => ["subject", "body-plain", "body-html"],
        Service::SendGrid | Service::AmazonSes => ["subject", "text", "html"],
    };
    let [subject, plain, html] = names.map(|name| text(&answer[name]));
    match (&plain, &html) {
        (None, None) => AppMailBody::Never("The service does not have the mail's words.".into()),
        _ => AppMailBody::Found { subject: subject.unwrap_or_default(), text: plain, html },
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Addresses with or without names.
fn addresses(value: &Value) -> Vec<String> {
    let bare = |text: &str| match text.rsplit_once('<') {
        Some((_, rest)) => rest.trim_end_matches('>').trim().to_owned(),
        None => text.trim().to_owned(),
    };
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(bare).collect(),
        Value::String(one) => vec![bare(one)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_news_of_a_sent_mail_counts() {
        let sent_mail = |service, call: &Value, tag: &str| sent_mails(service, call, tag).pop();
        let data =
            json!({ "email_id": "a-1", "message_id": "<m@x.example>", "to": ["b@x.example"] });
        let call = |name: &str| json!({ "type": name, "data": data });
        assert!(sent_mail(Service::Resend, &call("email.sent"), "r").is_some());
        for other in ["email.delivered", "email.opened", "contact.created", ""] {
            assert_eq!(sent_mail(Service::Resend, &call(other), "r"), None, "{other}");
        }
        for other in ["Open", "Bounce", "SpamComplaint", ""] {
            let call = json!({ "RecordType": other, "MessageID": "a", "Recipient": "b@x.example" });
            assert_eq!(sent_mail(Service::Postmark, &call, "r"), None, "{other}");
        }
        assert_eq!(sent_mail(Service::Resend, &json!([]), "r"), None);
        let unknown = json!({ "type": "email.sent", "data": { "email_id": "a-1" } });
        assert_eq!(sent_mail(Service::Resend, &unknown, "r"), None);
    }

    #[test]
    fn tags_are_read_in_both_of_their_forms_and_names_are_left_out() {
        let sent_mail = |service, call: &Value, tag: &str| sent_mails(service, call, tag).pop();
        for tags in [json!({ "ref": "Order-9" }), json!([{ "name": "ref", "value": "Order-9" }])] {
            let call = json!({ "type": "email.sent", "data": {
                "email_id": "a-1", "message_id": "<m@x.example>", "subject": "Your order",
                "to": ["Bruno <bruno@x.example>", "cara@x.example"], "tags": tags,
            } });
            let expected = ServiceMail {
                service_mail: "a-1".into(),
                header_id: "<m@x.example>".into(),
                to: vec!["bruno@x.example".into(), "cara@x.example".into()],
                subject: "Your order".into(),
                reference: Some("Order-9".into()),
            };
            assert_eq!(sent_mail(Service::Resend, &call, "ref"), Some(expected));
        }
    }

    #[test]
    fn a_message_id_that_an_app_kept_is_taken_from_the_metadata() {
        let call = |metadata: Value| {
            let call = json!({ "RecordType": "Delivery", "MessageID": "b-2",
                "Recipient": "bruno@x.example", "Metadata": metadata });
            sent_mails(Service::Postmark, &call, "reference").remove(0)
        };
        assert_eq!(call(json!({})).header_id, "b-2@mtasv.net");
        let kept = call(json!({ "message-id": "<own@app.example>", "reference": "A1" }));
        assert_eq!(kept.header_id, "<own@app.example>");
        assert_eq!(kept.reference.as_deref(), Some("A1"));
    }

    #[test]
    fn a_mail_of_mailgun_is_found_again_by_its_domain_and_storage_key() {
        let call = |event: &str| {
            json!({ "event-data": {
                "event": event, "id": "G9Bn5sl1TC6nu79C8C0bwg", "recipient": "bruno@x.example",
                "domain": { "name": "mg.acme.example" }, "storage": { "key": "BAABAAUq3s2_Gk==" },
                "message": { "headers": {
                    "to": "Bruno <bruno@x.example>", "message-id": "20261115.1@mg.acme.example",
                    "subject": "Your order",
                } },
                "user-variables": { "reference": "Order-9" },
            } })
        };
        let sent = sent_mails(Service::Mailgun, &call("delivered"), "reference").remove(0);
        assert_eq!(sent.service_mail, "mg.acme.example/BAABAAUq3s2_Gk==");
        assert_eq!(sent.header_id, "20261115.1@mg.acme.example");
        assert_eq!((sent.to[0].as_str(), sent.subject.as_str()), ("bruno@x.example", "Your order"));
        assert_eq!(sent.reference.as_deref(), Some("Order-9"));
        let path = path_of(Service::Mailgun, &sent.service_mail);
        assert_eq!(path, "/v3/domains/mg.acme.example/messages/BAABAAUq3s2_Gk==");
        assert!(sent_mails(Service::Mailgun, &call("opened"), "reference").is_empty());
    }
}
