//! Calls of Mailgun, SendGrid and Amazon SES. The signed calls in `service_calls` were made with
//! Python's cryptography, as the services publish their schemes.

use std::sync::{Arc, Mutex};

use actions::integrations::services::{self, NewService};
use axum::body::Body;
use axum::http::Request;
use base::ids::ServiceId;
use hmac::{Hmac, Mac};
use jobs::BoxFuture;
use mail::Mail;
use node::vault::Vault;
use outbound::services::Service;
use serde_json::{Value, json};
use server::mail_in::services::{SnsCalls, SnsPages, purpose, router};
use sha2::Sha256;

use crate::support::{Answer, HOUR, MINUTE, TestApp, letter, on_both};

on_both!(
    mailgun_tells_of_a_mail_and_forged_old_and_repeated_calls_change_nothing,
    sendgrid_tells_of_mails_signed_with_its_key,
    ses_tells_of_mails_through_sns_in_both_versions_of_its_signature,
    a_subscription_is_confirmed_for_the_topic_of_the_connection_alone,
    the_certificate_of_a_stranger_is_not_fetched
);

const SECRET: &str = "key-0123456789abcdef";
const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:sent-mail";
const CERTIFICATE: &[u8] = include_bytes!("service_calls/sns.pem");
const CONFIRMATION: &str = include_str!("service_calls/sns_confirmation.json");
const NOTIFICATIONS: [&str; 2] = [
    include_str!("service_calls/sns_notification_1.json"),
    include_str!("service_calls/sns_notification_2.json"),
];
const SENDGRID_BODY: &str = include_str!("service_calls/sendgrid.json");
const SENDGRID_KEY: &str = include_str!("service_calls/sendgrid.key");
const SENDGRID_SIGNATURE: &str = include_str!("service_calls/sendgrid.signature");

/// Hands out one certificate, and remembers what was asked for.
#[derive(Clone, Default)]
struct AmazonPages(Arc<Mutex<Vec<String>>>);

impl SnsPages for AmazonPages {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        self.0.lock().unwrap().push(url.to_owned());
        Box::pin(async { Some(CERTIFICATE.to_vec()) })
    }
}

struct Connected {
    path: String,
    pages: AmazonPages,
    sns: SnsCalls,
}

async fn connected(app: &TestApp, service: Service, secret: &str) -> Connected {
    let id = ServiceId::new(&app.app.ids, app.now());
    let vault = Vault::open(app.folder(), &app.app.ids).unwrap();
    let seal = |what: &str, text: &str| vault.seal(&app.app.ids, &purpose(what, &id), text);
    let new = NewService {
        service,
        sealed_key: seal("key", "x"),
        sealed_secret: Some(seal("secret", secret)),
        api_url: service.api_url().into(),
        reference_tag: "reference".into(),
        id: id.clone(),
    };
    let path = app.act(&app.owner, move |tx, cx| services::connect_service(tx, cx, &new)).await;
    let pages = AmazonPages::default();
    let sns = SnsCalls::new(Arc::new(pages.clone()));
    Connected { path, pages, sns }
}

impl Connected {
    async fn tell(&self, app: &TestApp, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::post(&self.path).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let vault = Vault::open(app.folder(), &app.app.ids).unwrap();
        let router = router(app.app.clone(), vault, self.sns.clone());
        TestApp::send_to(&router, request.body(Body::from(body.to_owned())).unwrap()).await
    }
}

/// The reference that a reply to this Message-ID gets.
async fn reference(app: &TestApp, header_id: &str) -> Value {
    let key = app.key("read").await;
    let reply = Mail {
        answers: vec![header_id.into()],
        ..letter("bruno@x.example", "Re: Your order", "Thank you")
    };
    let id = app.deliver(&app.support, reply).await.conversation;
    app.read(&key, &id).await["reference"].clone()
}

async fn noted(app: &TestApp) -> i64 {
    app.act(&app.owner, services::list_services).await[0].noted
}

fn by_mailgun(timestamp: i64, key: &str) -> String {
    let (timestamp, token) = (timestamp.to_string(), "a8ce0edb2dd8301dee6c2405235584e4");
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("{timestamp}{token}").as_bytes());
    let bytes = mac.finalize().into_bytes();
    let signature: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "signature": { "timestamp": timestamp, "token": token, "signature": signature },
        "event-data": {
            "event": "accepted", "id": "G9Bn5sl1TC6nu79C8C0bwg", "recipient": "bruno@x.example",
            "domain": { "name": "mg.acme.example" }, "storage": { "key": "BAABAAUq3s2_Gk==" },
            "message": { "headers": {
                "to": "Bruno <bruno@x.example>", "message-id": "1.mg@mg.acme.example",
                "subject": "Your order",
            } },
            "user-variables": { "reference": "Order-9" },
        },
    })
    .to_string()
}

async fn mailgun_tells_of_a_mail_and_forged_old_and_repeated_calls_change_nothing(app: TestApp) {
    let service = connected(&app, Service::Mailgun, SECRET).await;
    let now = app.now() / 1_000;
    for bad in [
        by_mailgun(now, "key-other"),
        by_mailgun(now - 3_600, SECRET),
        by_mailgun(now + 3_600, SECRET),
        by_mailgun(now, SECRET).replace("a8ce0edb", "a8ce0edc"),
        "{}".into(),
        "not JSON".into(),
    ] {
        service.tell(&app, &[], &bad).await.is(401);
    }
    assert_eq!(noted(&app).await, 0);
    for _ in 0..3 {
        service.tell(&app, &[], &by_mailgun(now, SECRET)).await.is(200);
    }
    assert_eq!(noted(&app).await, 1, "a call that is repeated notes nothing more");
    assert_eq!(reference(&app, "1.mg@mg.acme.example").await, "order-9");
}

async fn sendgrid_tells_of_mails_signed_with_its_key(app: TestApp) {
    let service = connected(&app, Service::SendGrid, SENDGRID_KEY).await;
    let name = |what: &str| format!("X-Twilio-Email-Event-Webhook-{what}");
    let (signature, timestamp) = (name("Signature"), name("Timestamp"));
    let headers = [(signature.as_str(), SENDGRID_SIGNATURE), (timestamp.as_str(), "1794733200")];
    service.tell(&app, &[], SENDGRID_BODY).await.is(401);
    let forged = SENDGRID_BODY.replace("Order-9", "Order-8");
    service.tell(&app, &headers, &forged).await.is(401);
    service.tell(&app, &[headers[0], (&timestamp, "1794733201")], SENDGRID_BODY).await.is(401);
    for _ in 0..2 {
        service.tell(&app, &headers, SENDGRID_BODY).await.is(200);
    }
    assert_eq!(noted(&app).await, 1, "an opened mail is no sent mail");
    app.advance(20 * MINUTE);
    service.tell(&app, &headers, SENDGRID_BODY).await.is(401);
    assert_eq!(reference(&app, "14c5d75ce93.dfd.64b469@geopod.example").await, "order-9");
}

async fn ses_tells_of_mails_through_sns_in_both_versions_of_its_signature(app: TestApp) {
    let service = connected(&app, Service::AmazonSes, TOPIC).await;
    for call in NOTIFICATIONS {
        for (from, to) in [
            ("Order-9", "Order-8"),
            ("bruno@x.example", "eve@x.example"),
            ("\"SignatureVersion\": \"", "\"SignatureVersion\": \"9"),
            ("T09:00:00.000Z", "T09:00:01.000Z"),
        ] {
            let forged = call.replace(from, to);
            assert_ne!(forged, call, "{from}");
            service.tell(&app, &[], &forged).await.is(401);
        }
        service.tell(&app, &[], call).await.is(200);
        service.tell(&app, &[], call).await.is(200);
    }
    assert_eq!(noted(&app).await, 1);
    assert_eq!(service.pages.0.lock().unwrap().len(), 1, "the certificate is fetched once");
    assert_eq!(reference(&app, "0107018dd-11@eu-central-1.amazonses.com").await, "order-9");
    app.advance(3 * HOUR);
    service.tell(&app, &[], NOTIFICATIONS[1]).await.is(401);
}

async fn a_subscription_is_confirmed_for_the_topic_of_the_connection_alone(app: TestApp) {
    let other = connected(&app, Service::AmazonSes, "arn:aws:sns:eu-central-1:1:other").await;
    other.tell(&app, &[], CONFIRMATION).await.is(401);
    assert!(other.pages.0.lock().unwrap().is_empty());
    let service = connected(&app, Service::AmazonSes, TOPIC).await;
    let moved = CONFIRMATION.replace("Token=2336412f37", "Token=1111111111");
    service.tell(&app, &[], &moved).await.is(401);
    service.tell(&app, &[], CONFIRMATION).await.is(200);
    let asked = service.pages.0.lock().unwrap().clone();
    let confirmed = asked.last().unwrap();
    assert!(confirmed.contains("Action=ConfirmSubscription"), "{asked:?}");
}

async fn the_certificate_of_a_stranger_is_not_fetched(app: TestApp) {
    let service = connected(&app, Service::AmazonSes, TOPIC).await;
    for stranger in [
        "https://evil.example/SimpleNotificationService-test.pem",
        "https://sns.eu-central-1.amazonaws.com.evil.example/x.pem",
        "http://sns.eu-central-1.amazonaws.com/x.pem",
        "https://s3.amazonaws.com/bucket/x.pem",
        "https://127.0.0.1/x.pem",
    ] {
        let mut call: Value = serde_json::from_str(NOTIFICATIONS[1]).unwrap();
        call["SigningCertURL"] = stranger.into();
        service.tell(&app, &[], &call.to_string()).await.is(401);
    }
    assert!(service.pages.0.lock().unwrap().is_empty());
}
