//! Rules for inboxes that are for some: who sees them, makes them, and gets what they give.

use actions::inboxes::inbox_access::{self, InboxAccess};
use actions::inboxes::setup;
use actions::workspace::deletion;
use actions::workspace::rules::{self, RuleInput};
use base::actor::{Actor, Role};
use base::ids::RuleId;
use jobs::OutgoingMail;
use model::mailboxes::inbox_access::{AccessEntry, AccessHolder};
use model::mailboxes::{self, Mailbox};
use serde_json::{Value, json};
use testing::{SECOND, TestApp, TestKey, letter, on_both, texts, user};

use super::rules::input;

on_both!(
    a_rule_for_an_inbox_for_some_is_there_for_those_who_see_it,
    nobody_makes_or_changes_a_rule_for_an_inbox_out_of_sight,
    a_rule_that_leaves_an_inbox_out_does_not_name_it_to_others,
    a_rule_is_tried_on_what_its_reader_sees,
    a_rule_gives_nothing_to_whoever_does_not_see_it,
    rules_out_of_sight_keep_their_order_when_others_are_moved,
    the_rules_of_an_inbox_for_some_go_with_it
);

/// Somebody as they are at their next request.
async fn again(app: &TestApp, actor: &Actor) -> Actor {
    let (ws, id) = (actor.ws, user(actor));
    let people = app.act(&app.owner, setup::list_people).await;
    let email = people.into_iter().find(|one| one.id == id).unwrap().email.to_string();
    app.app.store.read(move |tx| base::actor::person(tx, ws, &email)).await.unwrap()
}

/// The inbox Billing, for one person alone, who is answered as they are then.
async fn billing_for(app: &TestApp, person: &Actor) -> (Mailbox, Actor) {
    let billing = app.team_inbox("billing@acme.example", "Billing").await;
    close(app, &billing, &[AccessHolder::Person(user(person))]).await;
    let person = again(app, person).await;
    let (actor, id) = (person.clone(), billing.id);
    let billing = app.app.store.read(move |tx| mailboxes::seen_by(tx, &actor, &id)).await;
    (billing.unwrap().unwrap(), person)
}

async fn close(app: &TestApp, inbox: &Mailbox, holders: &[AccessHolder]) {
    let entry = |holder: &AccessHolder| AccessEntry {
        holder: holder.clone(),
        may_see: true,
        may_send: true,
    };
    let entries = holders.iter().map(entry).collect();
    let access = InboxAccess { everybody: false, all_send: true, entries };
    let id = inbox.id.clone();
    app.act(&app.owner, move |tx, cx| inbox_access::set_inbox_access(tx, cx, &id, &access)).await;
}

/// A rule that is switched on.
async fn rule(app: &TestApp, by: &Actor, input: RuleInput) -> RuleId {
    app.act(by, move |tx, cx| {
        let id = rules::add_rule(tx, cx, &input)?;
        rules::switch_rule(tx, cx, &id, true)?;
        Ok(id)
    })
    .await
}

/// The names of the rules that somebody sees in the app.
async fn names(app: &TestApp, actor: &Actor) -> Vec<String> {
    let (rules, _) = app.act(actor, rules::list_rules_named).await;
    rules.into_iter().map(|rule| rule.name).collect()
}

async fn listed(app: &TestApp, key: &TestKey) -> Vec<Value> {
    app.get(key, "/rules").await.is(200).json().as_array().unwrap().clone()
}

async fn a_rule_for_an_inbox_for_some_is_there_for_those_who_see_it(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let bo = app.person_with("Bo", Role::Admin).await;
    let (sees, blind) = (app.key("read").await, app.key("read").await);
    let (billing, ann) = billing_for(&app, &ann).await;
    let holders = [AccessHolder::Person(user(&ann)), AccessHolder::Agent(sees.id.clone())];
    close(&app, &billing, &holders).await;
    let dunning = input("Dunning", "mail-arrives", &["inbox is Billing"], &["tag dunning"]);
    let id = rule(&app, &ann, dunning).await;
    rule(&app, &app.owner, input("All", "mail-arrives", &[], &["tag seen"])).await;
    assert_eq!(names(&app, &ann).await, ["Dunning", "All"]);
    assert_eq!(texts(&listed(&app, &sees).await, "name"), ["Dunning", "All"]);
    let condition = json!({ "field": "inbox", "negated": false, "value": "Billing" });
    assert_eq!(listed(&app, &sees).await[0]["conditions"][0], condition);
    for other in [&app.owner, &bo] {
        assert_eq!(names(&app, other).await, ["All"]);
    }
    assert_eq!(texts(&listed(&app, &blind).await, "name"), ["All"]);
    let own = format!("audit_log WHERE thing = 'Dunning' AND circle = '{}'", billing.id);
    assert_eq!(app.count(&own).await, 2, "what was done with it is read by those who see it");
    assert_eq!(app.count("audit_log WHERE thing = 'Dunning'").await, 2);
    // It acts there, and nowhere else.
    let invoice = app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    let lamp = app.mail("a@x.example", "Lamp", "text").await;
    app.pass(5 * SECOND).await;
    let tags = app.read(&sees, &invoice.conversation).await["tags"].clone();
    assert_eq!(tags, json!(["dunning", "seen"]));
    assert_eq!(app.read(&sees, &lamp.conversation).await["tags"], json!(["seen"]));
    // Whoever sees the inbox from now on sees the rule; whoever does not any more loses it.
    close(&app, &billing, &[AccessHolder::Person(user(&bo))]).await;
    assert_eq!(names(&app, &again(&app, &bo).await).await, ["Dunning", "All"]);
    let ann = again(&app, &ann).await;
    assert_eq!(names(&app, &ann).await, ["All"]);
    let gone = app.expect_refusal(&ann, move |tx, cx| rules::delete_rule(tx, cx, &id)).await;
    assert!(matches!(gone, base::error::Error::NotFound("rule")), "{gone}");
}

async fn nobody_makes_or_changes_a_rule_for_an_inbox_out_of_sight(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let (_, ann) = billing_for(&app, &ann).await;
    let dunning = input("Dunning", "mail-arrives", &["inbox is Billing"], &["close"]);
    let refused = {
        let dunning = dunning.clone();
        app.expect_refusal(&app.owner, move |tx, cx| rules::add_rule(tx, cx, &dunning)).await
    };
    let unknown = input("Dunning", "mail-arrives", &["inbox is Nothing"], &["close"]);
    let missing =
        app.expect_refusal(&app.owner, move |tx, cx| rules::add_rule(tx, cx, &unknown)).await;
    let missing = missing.to_string().replace("Nothing", "Billing");
    assert_eq!(refused.to_string(), missing, "it cannot be told from one that is not there");
    let id = rule(&app, &ann, dunning).await;
    let other = input("Mine", "mail-arrives", &[], &["close"]);
    let (own, wanted) = (other.clone(), id.clone());
    let changed =
        app.expect_refusal(&app.owner, move |tx, cx| rules::change_rule(tx, cx, &wanted, &own));
    assert!(matches!(changed.await, base::error::Error::NotFound("rule")));
    let wanted = id.clone();
    let off = app
        .expect_refusal(&app.owner, move |tx, cx| rules::switch_rule(tx, cx, &wanted, false))
        .await;
    assert!(matches!(off, base::error::Error::NotFound("rule")), "{off}");
    let wanted = id.clone();
    let tried =
        app.expect_refusal(&app.owner, move |tx, cx| rules::try_rule(tx, cx, &wanted)).await;
    assert!(matches!(tried, base::error::Error::NotFound("rule")), "{tried}");
    let moved =
        app.expect_refusal(&app.owner, move |tx, cx| rules::move_rule(tx, cx, &id, true)).await;
    assert!(matches!(moved, base::error::Error::NotFound("rule")), "{moved}");
}

async fn a_rule_that_leaves_an_inbox_out_does_not_name_it_to_others(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let key = app.key("read").await;
    let (_, ann) = billing_for(&app, &ann).await;
    let not_there = input("Usual", "mail-arrives", &["inbox is-not Billing"], &["tag usual"]);
    rule(&app, &ann, not_there).await;
    // It acts on the team's mail, so the team reads of it.
    let listed = listed(&app, &key).await;
    let condition = json!({ "field": "inbox", "negated": true, "value": "(removed)" });
    assert_eq!(listed[0]["conditions"][0], condition);
    let (rules, words) = app.act(&ann, rules::list_rules_named).await;
    assert_eq!(words.condition_value(&rules[0].conditions[0]), "Billing");
}

async fn a_rule_is_tried_on_what_its_reader_sees(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let (billing, ann) = billing_for(&app, &ann).await;
    let private = app.private_inbox(&ann).await;
    app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    app.deliver(&private, letter("a@x.example", "Own", "text")).await;
    app.mail("a@x.example", "Lamp", "text").await;
    let id = rule(&app, &app.owner, input("All", "mail-arrives", &[], &["tag seen"])).await;
    for (actor, seen) in [(&ann, vec!["Invoice", "Lamp"]), (&app.owner, vec!["Lamp"])] {
        let wanted = id.clone();
        let tried = app.act(actor, move |tx, cx| rules::try_rule(tx, cx, &wanted)).await;
        let mut subjects: Vec<&str> = tried.iter().map(|one| one.subject.as_str()).collect();
        subjects.sort();
        assert_eq!(subjects, seen);
    }
}

async fn a_rule_gives_nothing_to_whoever_does_not_see_it(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    app.person("Bo").await;
    let (billing, ann) = billing_for(&app, &ann).await;
    for act in ["assign Bo Teammate", "notify Bo Teammate"] {
        let wrong = input("Dunning", "mail-arrives", &["inbox is Billing"], &[act]);
        let refused = app.expect_refusal(&ann, move |tx, cx| rules::add_rule(tx, cx, &wrong)).await;
        let said = refused.to_string();
        assert!(said.contains("Bo Teammate does not see the inbox “Billing”."), "{said}");
    }
    // A rule for all inboxes gives it to nobody there, and its trial says so.
    let all = input("All", "mail-arrives", &[], &["assign Bo Teammate", "notify Bo Teammate"]);
    let id = rule(&app, &app.owner, all).await;
    app.deliver(&billing, letter("a@x.example", "Invoice", "text")).await;
    app.pass(5 * SECOND).await;
    assert_eq!(app.count("conversations WHERE assignee <> ''").await, 0);
    let is_to_bo = |mail: &OutgoingMail| mail.recipients[0] == "bo@acme.example";
    assert!(!app.outside.relay.attempts().iter().any(is_to_bo));
    let wanted = id.clone();
    let tried = app.act(&ann, move |tx, cx| rules::try_rule(tx, cx, &wanted)).await;
    assert_eq!(tried.len(), 1);
    assert!(tried[0].failing.is_none() && tried[0].acts.is_empty());
    let in_turn = input("Turns", "mail-arrives", &["inbox is Billing"], &["assign the least busy"]);
    let turns = rule(&app, &ann, in_turn).await;
    app.act(&ann, move |tx, cx| {
        rules::switch_rule(tx, cx, &id, false)?;
        rules::switch_rule(tx, cx, &turns, true)
    })
    .await;
    app.deliver(&billing, letter("b@x.example", "Receipt", "text")).await;
    app.pass(5 * SECOND).await;
    let of_ann = format!("conversations WHERE assignee = '{}'", user(&ann));
    assert_eq!(app.count(&of_ann).await, 1, "the least busy of those who see it");
}

async fn rules_out_of_sight_keep_their_order_when_others_are_moved(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let (_, ann) = billing_for(&app, &ann).await;
    let new = |name: &str, conditions: &[&str]| input(name, "mail-arrives", conditions, &["close"]);
    rule(&app, &app.owner, new("First", &[])).await;
    rule(&app, &ann, new("Hidden", &["inbox is Billing"])).await;
    let last = rule(&app, &app.owner, new("Last", &[])).await;
    let wanted = last.clone();
    app.act(&app.owner, move |tx, cx| rules::move_rule(tx, cx, &wanted, true)).await;
    assert_eq!(names(&app, &app.owner).await, ["Last", "First"], "past the next that is seen");
    assert_eq!(names(&app, &ann).await, ["Last", "First", "Hidden"]);
    app.act(&app.owner, move |tx, cx| rules::move_rule(tx, cx, &last, false)).await;
    assert_eq!(names(&app, &ann).await, ["First", "Last", "Hidden"]);
}

async fn the_rules_of_an_inbox_for_some_go_with_it(app: TestApp) {
    let ann = app.person_with("Ann", Role::Admin).await;
    let (billing, ann) = billing_for(&app, &ann).await;
    let new = |name: &str, conditions: &[&str]| input(name, "mail-arrives", conditions, &["close"]);
    rule(&app, &ann, new("Hidden", &["inbox is Billing"])).await;
    rule(&app, &ann, new("Usual", &["inbox is-not Billing"])).await;
    let (id, address) = (billing.id.clone(), billing.address.to_string());
    app.act(&app.owner, move |tx, cx| deletion::delete_inbox(tx, cx, &id, &address)).await;
    assert_eq!(names(&app, &app.owner).await, ["Usual"]);
    assert_eq!(app.count("rules").await, 1);
}
