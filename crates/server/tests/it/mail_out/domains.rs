//! The keys of a domain, and what it publishes.

use model::mailboxes::domains::{self, KeyState};
use transport::mail_out::dns_records::{self, RecordStatus};
use transport::net::dns_lookup::Lookup;

use super::names::Zone;
use crate::support::*;

on_both!(
    mail_of_a_domain_with_a_key_is_signed_the_same_on_every_try,
    a_new_key_signs_once_its_record_is_seen_and_the_old_one_retires,
    what_a_domain_lacks_is_said_record_by_record,
    only_an_owner_or_admin_and_only_a_domain_of_ours_has_keys
);

async fn with_key(app: &TestApp) {
    let key = domains::make_key(&app.app.ids).unwrap();
    app.act(&app.owner, move |tx, cx| domains::keep_first_key(tx, cx, "acme.example", &key)).await;
}

async fn keys(app: &TestApp) -> Vec<domains::ListedKey> {
    app.act(&app.owner, |tx, cx| domains::list_keys(tx, cx, "acme.example")).await
}

async fn mail_of_a_domain_with_a_key_is_signed_the_same_on_every_try(app: TestApp) {
    with_key(&app).await;
    with_key(&app).await;
    let listed = keys(&app).await;
    assert_eq!(listed.len(), 1, "a second first key changes nothing");
    let key = app.key("send").await;
    let mail = app.mail("mara@customer.example", "Lamp", "Where is it?").await;
    app.schedule(&key, &mail.conversation, "It left.").await;
    app.outside.relay.will_say(&[jobs::RelayOutcome::Later("busy".into())]);
    app.pass(DAY).await;
    let attempts = app.outside.relay.attempts();
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0].bytes, attempts[1].bytes);
    let text = String::from_utf8(attempts[0].bytes.to_vec()).unwrap();
    let start = "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=acme.example;\r\n\ts=";
    assert!(text.starts_with(&format!("{start}{};", listed[0].selector)), "{text}");
}

async fn a_new_key_signs_once_its_record_is_seen_and_the_old_one_retires(app: TestApp) {
    with_key(&app).await;
    let old = keys(&app).await.remove(0);
    let key = domains::make_key(&app.app.ids).unwrap();
    app.advance(DAY);
    app.act(&app.owner, move |tx, cx| domains::keep_next_key(tx, cx, "acme.example", &key)).await;
    let states = |keys: &[domains::ListedKey]| keys.iter().map(|k| k.state).collect::<Vec<_>>();
    let listed = keys(&app).await;
    assert_eq!(states(&listed), [KeyState::Waiting, KeyState::Signing]);
    let new = listed[0].selector.clone();

    // Without its record nothing changes.
    let lookup = Lookup::at(Some(Zone::default().serve().await)).unwrap();
    dns_records::check(&app.app, &app.owner, &lookup, "acme.example", &sending()).await.unwrap();
    assert_eq!(states(&keys(&app).await), [KeyState::Waiting, KeyState::Signing]);

    let name = |selector: &str| format!("{selector}._domainkey.acme.example");
    let zone = Zone::default()
        .text(&name(&new), &mail::dkim_record(&listed[0].public))
        .text(&name(&old.selector), &mail::dkim_record(&old.public));
    let lookup = Lookup::at(Some(zone.serve().await)).unwrap();
    dns_records::check(&app.app, &app.owner, &lookup, "acme.example", &sending()).await.unwrap();
    assert_eq!(states(&keys(&app).await), [KeyState::Signing, KeyState::Retired]);
}

async fn what_a_domain_lacks_is_said_record_by_record(app: TestApp) {
    with_key(&app).await;
    let key = keys(&app).await.remove(0);
    let selector = format!("{}._domainkey.acme.example", key.selector);
    let good = || {
        Zone::default()
            .text(&selector, &mail::dkim_record(&key.public).replace("; ", ";"))
            .text("acme.example", "some-site-verification=1")
            .text("_dmarc.acme.example", "v=DMARC1; p=none")
            .mx("acme.example", 10, "mail.acme.example")
    };
    for (zone, stands) in [
        (
            good().text("acme.example", "v=spf1 a:mail.acme.example -all"),
            [RecordStatus::Good, RecordStatus::Good, RecordStatus::Good, RecordStatus::Good],
        ),
        (
            good(),
            [RecordStatus::Good, RecordStatus::Missing, RecordStatus::Good, RecordStatus::Good],
        ),
        (
            good().text("acme.example", "v=spf1 include:other.example -all"),
            [RecordStatus::Good, RecordStatus::Different, RecordStatus::Good, RecordStatus::Good],
        ),
        (
            good()
                .text("acme.example", "v=spf1 a:mail.acme.example -all")
                .text("acme.example", "v=spf1 -all"),
            [RecordStatus::Good, RecordStatus::Different, RecordStatus::Good, RecordStatus::Good],
        ),
        (
            Zone::default().text(&selector, "v=DKIM1; k=rsa; p=AAAA").mx(
                "acme.example",
                10,
                "mx.other.example",
            ),
            [
                RecordStatus::Different,
                RecordStatus::Missing,
                RecordStatus::Missing,
                RecordStatus::Different,
            ],
        ),
        (Zone::default(), [RecordStatus::Missing; 4]),
    ] {
        let lookup = Lookup::at(Some(zone.serve().await)).unwrap();
        let found =
            dns_records::check(&app.app, &app.owner, &lookup, "acme.example", &sending()).await;
        let found: Vec<RecordStatus> =
            found.unwrap().iter().map(|finding| finding.status).collect();
        assert_eq!(found, stands);
    }
}

async fn only_an_owner_or_admin_and_only_a_domain_of_ours_has_keys(app: TestApp) {
    let ann = app.person("Ann").await;
    let refused =
        app.app.act(&ann, |tx, cx| domains::list_keys(tx, cx, "acme.example")).await.unwrap_err();
    assert!(matches!(refused, base::error::Error::Forbidden(_)), "{refused}");
    for domain in ["other.example", "not a domain", ""] {
        let refused = app
            .app
            .act(&app.owner, move |tx, cx| domains::list_keys(tx, cx, domain))
            .await
            .unwrap_err();
        assert!(matches!(refused, base::error::Error::Invalid(_)), "{domain}: {refused}");
    }
}

fn sending() -> dns_records::SendingSetup {
    dns_records::SendingSetup { host: Some("mail.acme.example".into()), relay: None }
}
