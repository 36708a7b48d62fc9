//! The webhook and API formats of e-mail-sending services.

use inbox::jobs::AppMailBody;
use inbox::model::services::{Service, ServiceMail};
use serde_json::Value;

/// The domain of the Message-IDs that Postmark gives mails.
const POSTMARK_DOMAIN: &str = "mtasv.net";

/// The mail that a webhook call reports; `None` for other calls.
pub fn sent_mail(service: Service, call: &Value, reference_tag: &str) -> Option<ServiceMail> {
    match service {
        Service::Resend => by_resend(call, reference_tag),
        Service::Postmark => by_postmark(call, reference_tag),
    }
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
    }
}

/// The text of a mail in the service's API response.
pub fn words(service: Service, answer: &Value) -> AppMailBody {
    let names = match service {
        Service::Resend => ["subject", "text", "html"],
        Service::Postmark => ["Subject", "TextBody", "HtmlBody"],
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
            sent_mail(Service::Postmark, &call, "reference").unwrap()
        };
        assert_eq!(call(json!({})).header_id, "b-2@mtasv.net");
        let kept = call(json!({ "message-id": "<own@app.example>", "reference": "A1" }));
        assert_eq!(kept.header_id, "<own@app.example>");
        assert_eq!(kept.reference.as_deref(), Some("A1"));
    }
}
