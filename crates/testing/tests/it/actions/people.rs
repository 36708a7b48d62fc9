//! Who may look after keys, people, inboxes and webhooks (API section 5.3).

use actions::inboxes::setup;
use actions::integrations::{delivery_log, keys, webhooks};
use base::actor::{Actor, Plan, Role};
use base::app::Cx;
use base::error::Error;
use base::security::scopes::Scope;
use serde_json::json;
use testing::{TestApp, letter, on_both, text_of, user};

on_both!(
    only_owners_and_admins_administer,
    keys_and_webhooks_are_made_by_people_and_not_by_the_service,
    each_key_acts_as_its_own_agent_named_after_it,
    a_key_needs_a_name_and_a_scope,
    revoking_counts_at_once_and_again_changes_nothing,
    an_address_is_on_the_team_and_an_inbox_once,
    what_belongs_to_another_workspace_is_not_listed,
    a_workspace_has_at_most_100_webhooks,
    the_sandbox_has_no_private_webhook,
    a_private_inbox_is_seen_by_its_person_and_not_by_the_owner,
    a_note_of_a_person_stands_under_their_name
);

async fn only_owners_and_admins_administer(app: TestApp) {
    let key = app.key("read write draft send record").await;
    let test_key = app.test_key("read write draft send record").await;
    let actors = [
        ("owner", app.owner.clone(), true),
        ("admin", app.person_with("Ada", Role::Admin).await, true),
        ("member", app.person_with("Max", Role::Member).await, false),
        ("agent", app.agent(&key).await, false),
        ("test agent", app.agent(&test_key).await, false),
    ];
    for (name, actor, may) in &actors {
        for (number, duty) in DUTIES.iter().enumerate() {
            let (number, duty) = (format!("{}{number}", name.replace(' ', "")), *duty);
            let id = key.id.clone();
            let done = app.app.act(actor, move |tx, cx| perform(tx, cx, duty, &number, &id)).await;
            match done {
                Ok(()) => assert!(may, "{name} may not {duty}"),
                Err(Error::Forbidden(_)) => assert!(!may, "{name} may {duty}"),
                Err(error) => panic!("{name}, {duty}: {error}"),
            }
        }
    }
    let people = app.act(&app.owner, setup::list_people).await;
    assert_eq!(people.len(), 3 + 2, "what was refused was not done");
}

async fn keys_and_webhooks_are_made_by_people_and_not_by_the_service(app: TestApp) {
    let service = app.service(&app.support);
    for duty in ["make a key", "add a webhook"] {
        let id = app.key("read").await.id;
        let refused =
            app.expect_refusal(&service, move |tx, cx| perform(tx, cx, duty, "x", &id)).await;
        assert!(matches!(refused, Error::Forbidden(_)), "{duty}: {refused}");
    }
}

async fn each_key_acts_as_its_own_agent_named_after_it(app: TestApp) {
    let first = app.key_of(&app.owner, " Robo ", "write", true).await;
    let second = app.key_of(&app.owner, "Robo", "write", true).await;
    assert_ne!(first.id, second.id);
    let me = app.get(&first, "/me").await.is(200).json();
    assert_eq!(
        me,
        json!({
            "agent": { "id": first.id.as_str(), "name": "Robo" },
            "scopes": ["read", "write"],
            "livemode": true,
            "now": app.iso(),
            "policy": {
                "paused": false,
                "recipients": "anyone",
                "domains": [],
                "firstContact": "allow",
                "messagesPerHour": null,
                "draftsPerHour": null,
                "bookingsPerHour": null,
                "bulkPerMinutes": null,
                "links": "anyone",
                "files": true,
                "amountAbove": null,
                "hours": "always",
                "markedMail": "allow",
                "perCustomerPerDay": null,
                "undoMinutes": null,
                "secrets": "allow",
            },
        })
    );
}

async fn a_key_needs_a_name_and_a_scope(app: TestApp) {
    for (name, scopes, field) in [
        ("", vec![Scope::Read], "name: "),
        ("  ", vec![Scope::Read], "name: "),
        (&"x".repeat(101), vec![Scope::Read], "name: "),
        ("a\0b", vec![Scope::Read], "name: "),
        ("Robo", vec![], "scopes: "),
    ] {
        let name = name.to_owned();
        let refused = app
            .expect_refusal(&app.owner, move |tx, cx| keys::make_key(tx, cx, &name, &scopes, true))
            .await;
        assert!(refused.to_string().starts_with(field), "{refused}");
    }
}

async fn revoking_counts_at_once_and_again_changes_nothing(app: TestApp) {
    let key = app.key("read").await;
    app.get(&key, "/me").await.is(200);
    app.revoke(&key).await;
    app.get(&key, "/me").await.is(401);
    app.revoke(&key).await;
    let other = app.other_workspace("Globex").await;
    let ours = app.key("read").await;
    let id = ours.id.clone();
    let refused = app.expect_refusal(&other, move |tx, cx| keys::revoke_key(tx, cx, &id)).await;
    assert!(matches!(refused, Error::NotFound(_)), "{refused}");
    app.get(&ours, "/me").await.is(200);
}

async fn an_address_is_on_the_team_and_an_inbox_once(app: TestApp) {
    app.other_workspace("Globex").await;
    for (email, field) in
        [("OWNER@acme.example ", "email: "), ("nobody", "email: "), ("a@b@c", "email: ")]
    {
        let refused = app.expect_refusal(&app.owner, move |tx, cx| {
            setup::add_person(tx, cx, email, "Twin", Role::Member)
        });
        let refused = refused.await.to_string();
        assert!(refused.starts_with(field), "{email}: {refused}");
    }
    for address in [
        "Support@Acme.example",
        "support@globex.example",
        "sandbox@globex.test",
        "sandbox@new.test",
        "support+x@acme.example",
        "nowhere",
    ] {
        let refused = app.expect_refusal(&app.owner, move |tx, cx| {
            setup::add_mailbox(tx, cx, address, "Twin", None)
        });
        let refused = refused.await.to_string();
        assert!(refused.starts_with("address: "), "{address}: {refused}");
    }
}

async fn what_belongs_to_another_workspace_is_not_listed(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    app.key_of(&other, "Their", "read", true).await;
    app.webhook(&other, false, true).await;
    assert_eq!(app.act(&app.owner, setup::list_people).await.len(), 1);
    assert_eq!(app.act(&app.owner, keys::list_keys).await.len(), 0);
    assert_eq!(app.act(&app.owner, webhooks::list_webhooks).await.len(), 0);
}

async fn a_workspace_has_at_most_100_webhooks(app: TestApp) {
    let first = app.webhook(&app.owner, false, true).await;
    for number in 1..100 {
        app.webhook(&app.owner, false, number % 2 == 0).await;
    }
    let url = webhooks::check_url("https://example.com/hook", false).unwrap();
    let add =
        move |tx: &mut db::Tx<'_>, cx: &Cx<'_>| webhooks::add_webhook(tx, cx, &url, false, true);
    let refused = app.expect_refusal(&app.owner, add.clone()).await;
    assert!(refused.to_string().contains("at most 100 webhooks"), "{refused}");
    app.act(&app.owner, move |tx, cx| delivery_log::delete_webhook(tx, cx, &first)).await;
    app.act(&app.owner, add).await;
}

async fn the_sandbox_has_no_private_webhook(app: TestApp) {
    let url = webhooks::check_url("https://example.com/", false).unwrap();
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| webhooks::add_webhook(tx, cx, &url, true, false));
    assert!(refused.await.to_string().starts_with("private: "));
}

async fn a_private_inbox_is_seen_by_its_person_and_not_by_the_owner(app: TestApp) {
    let ann = app.person("Ann").await;
    let hers = app.private_inbox(&ann).await;
    let mail = app.deliver(&hers, letter("a@x.example", "Lamp", "text")).await;
    assert!(sees(&app, &ann, &mail.conversation).await);
    assert!(!sees(&app, &app.owner, &mail.conversation).await);
    let seen = app.act(&app.owner, |tx, cx| model::mailboxes::all_seen_by(tx, cx.actor)).await;
    assert!(seen.iter().all(|mailbox| mailbox.id != hers.id));
}

async fn a_note_of_a_person_stands_under_their_name(app: TestApp) {
    let key = app.key("read").await;
    let mail = app.mail("a@x.example", "Lamp", "text").await;
    let id = mail.conversation.to_string();
    app.act(&app.owner, move |tx, cx| {
        let input = api::operations::AddNoteInput { id: id.clone(), body: "Hello".into() };
        api::operations::add_note(tx, cx, input)
    })
    .await;
    let note = app.timeline(&key, &mail.conversation, "note").await.pop().unwrap();
    assert_eq!(text_of(&note, "author"), "Olive Owner");
}

const DUTIES: [&str; 8] = [
    "make a key",
    "revoke a key",
    "list keys",
    "add a person",
    "add an inbox",
    "add a webhook",
    "list webhooks",
    "set the plan",
];

/// Does one duty under a name that nobody else uses.
fn perform(
    tx: &mut db::Tx<'_>,
    cx: &Cx<'_>,
    duty: &str,
    name: &str,
    key: &base::ids::AgentId,
) -> base::error::Result<()> {
    let email = format!("{name}@acme.example");
    match duty {
        "make a key" => keys::make_key(tx, cx, name, &[Scope::Read], true).map(drop),
        "revoke a key" => keys::revoke_key(tx, cx, key),
        "list keys" => keys::list_keys(tx, cx).map(drop),
        "add a person" => setup::add_person(tx, cx, &email, name, Role::Member).map(drop),
        "add an inbox" => setup::add_mailbox(tx, cx, &email, name, None).map(drop),
        "add a webhook" => {
            let url = webhooks::check_url("https://example.com/hook", false)?;
            webhooks::add_webhook(tx, cx, &url, false, true).map(drop)
        }
        "list webhooks" => webhooks::list_webhooks(tx, cx).map(drop),
        "set the plan" => setup::set_plan(tx, cx, Plan::Team),
        other => panic!("nobody can {other}"),
    }
}

async fn sees(app: &TestApp, person: &Actor, id: &impl ToString) -> bool {
    user(person);
    let id = id.to_string();
    let loaded =
        app.app.act(person, move |tx, cx| model::conversations::load(tx, cx.actor, &id).map(drop));
    loaded.await.is_ok()
}
