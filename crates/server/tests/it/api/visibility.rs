//! API sections 5.7 and 5.8: what a key cannot see does not exist for it.

use base::actor::{Actor, Circle, Role};
use inbound::incoming_mail::{FiledMail, IncomingMail};
use mail::{Attachment, Mail};
use model::mailboxes::{self, Mailbox};
use serde_json::{Value, json};

use super::{ALL, OPS, give_message, rows};
use crate::support::{Answer, TestApp, TestKey, letter, no_mailbox, nowhere, on_both, user};

on_both!(
    what_a_live_key_cannot_see_answers_like_an_id_that_was_never_there,
    what_a_test_key_cannot_see_answers_like_an_id_that_was_never_there,
    what_cannot_be_an_id_answers_like_an_id_that_was_never_there,
    a_key_does_everything_in_the_team_inbox_and_its_makers_own,
    lists_hold_exactly_what_the_key_sees,
    an_inbox_that_is_unknown_or_unseen_gives_the_same_empty_list,
    a_tag_counts_the_conversations_that_the_key_sees,
    a_tag_of_another_workspace_is_not_listed,
    the_team_is_who_can_see_the_inbox,
    a_conversation_is_given_only_to_who_can_see_its_inbox
);

/// The same mail, with a file, wherever it is delivered.
fn lamp() -> Mail {
    let mut mail = letter("bruno@keller.test Bruno", "Lamp", "The lamp is broken.");
    mail.attachments = vec![Attachment {
        filename: "lamp.pdf".into(),
        content_type: "application/pdf".into(),
        bytes: b"%PDF-1.4 lamp".to_vec(),
    }];
    mail
}

/// The same words in every place that there is, each seen by somebody else.
struct House {
    ann: Actor,
    other: Actor,
    inboxes: [Mailbox; 5],
    /// In the team's inbox, the owner's own, Ann's own, the sandbox, and another workspace.
    conversations: [String; 5],
}

const TEAM: usize = 0;
const OWNERS: usize = 1;
const ANNS: usize = 2;
const SANDBOX: usize = 3;
const ELSEWHERE: usize = 4;

async fn house(app: &TestApp) -> House {
    let ann = app.person_with("Ann", Role::Admin).await;
    let other = app.other_workspace("Umbra").await;
    let inboxes = [
        app.support.clone(),
        app.private_inbox(&app.owner).await,
        app.private_inbox(&ann).await,
        app.sandbox.clone(),
        inbox_of(app, &other).await,
    ];
    let mut conversations = Vec::new();
    for inbox in &inboxes[..4] {
        let mut mail = lamp();
        mail.delivered_to = inbox.address.replace('@', "+ref-1@");
        let received = app.deliver(inbox, mail).await;
        give_message(app, &app.service(inbox), &received.conversation).await;
        conversations.push(received.conversation.to_string());
    }
    let received = deliver_to(app, &other, &inboxes[ELSEWHERE]).await;
    let service = Actor::system(other.ws, other.workspace.clone(), Circle::team());
    give_message(app, &service, &received.conversation).await;
    conversations.push(received.conversation.to_string());
    House { ann, other, inboxes, conversations: conversations.try_into().unwrap() }
}

async fn inbox_of(app: &TestApp, owner: &Actor) -> Mailbox {
    let seen = app.act(owner, |tx, cx| mailboxes::all_seen_by(tx, cx.actor)).await;
    seen.into_iter().next().unwrap()
}

async fn deliver_to(app: &TestApp, owner: &Actor, inbox: &Mailbox) -> FiledMail {
    let mut mail = lamp();
    mail.delivered_to = inbox.address.replace('@', "+ref-1@");
    let attachments = mail.attachments.iter().map(|f| app.app.blobs.put(&f.bytes).unwrap());
    let incoming = IncomingMail {
        attachments: attachments.collect(),
        mail,
        raw: None,
        authentication: None,
        joins: None,
        content_hash: None,
    };
    let service = Actor::system(owner.ws, owner.workspace.clone(), Circle::team());
    let inbox = inbox.clone();
    app.act(&service, move |tx, cx| inbound::receive::receive(tx, cx, &inbox, &incoming)).await
}

/// Everything that a caller could tell two answers apart by.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let differing = ["x-request-id", "ratelimit"];
    let headers = answer.headers.iter().filter(|(name, _)| !differing.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), format!("{value:?}")));
    (answer.status, headers.collect(), String::from_utf8(answer.bytes.to_vec()).unwrap())
}

/// Each operation answers each id as it answers one that was never there, and does nothing.
async fn is_nowhere(app: &TestApp, key: &TestKey, ids: &[String]) {
    let before = rows(app).await;
    for op in OPS.iter().filter(|op| op.has_id()) {
        let never = op.ask(app, key, &nowhere()).await.is(404);
        assert!(!never.error().is_empty());
        for id in ids {
            let answer = op.ask(app, key, id).await;
            assert_eq!(told(&answer), told(&never), "{} {id}", op.name);
        }
    }
    assert_eq!(rows(app).await, before);
}

/// The ids in a list.
async fn listed(app: &TestApp, key: &TestKey, path: &str) -> Vec<String> {
    let list = app.get(key, path).await.is(200).json();
    let ids = list.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
    ids.collect()
}

/// The value of a field in each item of a list, in order.
async fn told_of(app: &TestApp, key: &TestKey, path: &str, field: &str) -> Vec<Value> {
    let list = app.get(key, path).await.is(200).json();
    list.as_array().unwrap().iter().map(|item| item[field].clone()).collect()
}

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.sort_unstable();
    words
}

/// Which places of the house a key sees, in every list there is.
async fn sees(app: &TestApp, house: &House, key: &TestKey, places: &[usize]) {
    let expected = sorted(places.iter().map(|p| house.conversations[*p].clone()).collect());
    for query in [
        "view=all",
        "view=open",
        "",
        "q=lamp",
        "q=keller",
        "view=all&reference=REF-1",
        "reference=ref-1&q=broken",
        "assigned=unassigned",
        "limit=100",
    ] {
        let seen = listed(app, key, &format!("/conversations?{query}")).await;
        assert_eq!(sorted(seen), expected, "{query}");
    }
    for (place, inbox) in house.inboxes.iter().enumerate() {
        for query in ["view=all", "q=lamp", "view=all&reference=ref-1"] {
            let path = format!("/conversations?mailbox={}&{query}", inbox.id);
            let seen = listed(app, key, &path).await;
            let expected = if places.contains(&place) { 1 } else { 0 };
            assert_eq!(seen.len(), expected, "{place} {query}");
        }
    }
    let boxes: Vec<String> = places.iter().map(|p| house.inboxes[*p].id.to_string()).collect();
    assert_eq!(sorted(listed(app, key, "/mailboxes").await), sorted(boxes));
    assert_eq!(told_of(app, key, "/mailboxes", "open").await, vec![json!(1); places.len()]);
    for path in ["/documents", "/documents?q=lamp"] {
        let seen = told_of(app, key, path, "conversationId").await;
        let seen = seen.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        assert_eq!(sorted(seen), expected, "{path}");
    }
}

async fn what_a_live_key_cannot_see_answers_like_an_id_that_was_never_there(app: TestApp) {
    let house = house(&app).await;
    let hidden = [ANNS, SANDBOX, ELSEWHERE].map(|place| house.conversations[place].clone());
    is_nowhere(&app, &app.key(ALL).await, &hidden).await;
}

async fn what_a_test_key_cannot_see_answers_like_an_id_that_was_never_there(app: TestApp) {
    let house = house(&app).await;
    let hidden = [TEAM, OWNERS, ANNS, ELSEWHERE].map(|place| house.conversations[place].clone());
    is_nowhere(&app, &app.test_key(ALL).await, &hidden).await;
}

async fn what_cannot_be_an_id_answers_like_an_id_that_was_never_there(app: TestApp) {
    let house = house(&app).await;
    let real = &house.conversations[TEAM];
    let bare = real.strip_prefix("cnv_").unwrap();
    let ids = [
        "x".into(),
        "cnv_".into(),
        bare.to_owned(),
        real.to_uppercase(),
        format!("CNV_{bare}"),
        format!("{real}0"),
        real[..real.len() - 1].to_owned(),
        format!("msg_{bare}"),
        format!("{real}%00"),
        format!("{real}%20"),
        format!("%20{real}"),
        format!("{real}%2Fnotes"),
        format!("{real}'"),
        format!("{real}%27%20OR%20%271%27=%271"),
        "cnv_%C3%A9".into(),
        "cnv_%FF".into(),
        "cnv_%".into(),
        "..".into(),
        "%2E%2E".into(),
        "*".into(),
        format!("cnv_{}", "0".repeat(64)),
        format!("cnv_{}", "0".repeat(65)),
        format!("cnv_{}", "a".repeat(5_000)),
    ];
    is_nowhere(&app, &app.key(ALL).await, &ids).await;
    is_nowhere(&app, &app.test_key(ALL).await, &ids).await;
}

async fn a_key_does_everything_in_the_team_inbox_and_its_makers_own(app: TestApp) {
    let house = house(&app).await;
    let anns = app.key_of(&house.ann, "Annie", ALL, true).await;
    for (key, places) in [(app.key(ALL).await, [TEAM, OWNERS]), (anns, [TEAM, ANNS])] {
        for place in places {
            for op in OPS {
                let answer = op.ask(&app, &key, &house.conversations[place]).await;
                assert_eq!(answer.status, op.success, "{} {place}", op.name);
            }
        }
    }
}

async fn lists_hold_exactly_what_the_key_sees(app: TestApp) {
    let house = house(&app).await;
    let anns = app.key_of(&house.ann, "Annie", "read", true).await;
    let others = app.key_of(&house.other, "Stranger", "read", true).await;
    let others_test = app.key_of(&house.other, "Stranger", "read", false).await;
    sees(&app, &house, &app.key("read").await, &[TEAM, OWNERS]).await;
    sees(&app, &house, &anns, &[TEAM, ANNS]).await;
    sees(&app, &house, &app.test_key("read").await, &[SANDBOX]).await;
    sees(&app, &house, &others, &[ELSEWHERE]).await;
    assert_eq!(listed(&app, &others_test, "/conversations?view=all").await, [""; 0]);
    assert_eq!(listed(&app, &others_test, "/documents").await, [""; 0]);
}

async fn an_inbox_that_is_unknown_or_unseen_gives_the_same_empty_list(app: TestApp) {
    let house = house(&app).await;
    let key = app.key("read").await;
    let unknown = app.get(&key, &format!("/conversations?mailbox={}", no_mailbox())).await;
    assert_eq!(unknown.json(), json!([]));
    let unseen = [ANNS, SANDBOX, ELSEWHERE].map(|place| house.inboxes[place].id.to_string());
    for id in unseen.into_iter().chain(["", "x", "mbx_", "mbx_A"].map(str::to_owned)) {
        let answer = app.get(&key, &format!("/conversations?mailbox={id}&view=all")).await;
        assert_eq!(told(&answer), told(&unknown), "{id}");
    }
}

async fn a_tag_counts_the_conversations_that_the_key_sees(app: TestApp) {
    let house = house(&app).await;
    let (ours, tests) = (app.key("write").await, app.test_key("write").await);
    let anns = app.key_of(&house.ann, "Annie", "write", true).await;
    let others = app.key_of(&house.other, "Stranger", "write", true).await;
    let tag = json!({ "add": ["vip"] });
    for (key, places) in [
        (&ours, vec![TEAM, OWNERS]),
        (&anns, vec![ANNS]),
        (&tests, vec![SANDBOX]),
        (&others, vec![ELSEWHERE]),
    ] {
        for place in places {
            let path = format!("/conversations/{}/tags", house.conversations[place]);
            app.post(key, &path, tag.clone()).await.is(200);
        }
    }
    for (key, count) in [(&ours, 2), (&anns, 2), (&tests, 1), (&others, 1)] {
        assert_eq!(told_of(&app, key, "/tags", "count").await, [json!(count)]);
    }
    let path = format!("/conversations/{}/tags", house.conversations[ANNS]);
    app.post(&anns, &path, json!({ "remove": ["vip"] })).await.is(200);
    for (key, count) in [(&ours, 2), (&anns, 1), (&tests, 1), (&others, 1)] {
        assert_eq!(told_of(&app, key, "/tags", "count").await, [json!(count)]);
    }
}

async fn a_tag_of_another_workspace_is_not_listed(app: TestApp) {
    let house = house(&app).await;
    let others = app.key_of(&house.other, "Stranger", "write", true).await;
    let path = format!("/conversations/{}/tags", house.conversations[ELSEWHERE]);
    app.post(&others, &path, json!({ "add": ["secret"] })).await.is(200);
    assert_eq!(app.get(&app.key("read").await, "/tags").await.json(), json!([]));
}

async fn the_team_is_who_can_see_the_inbox(app: TestApp) {
    let house = house(&app).await;
    let ours = app.key("read").await;
    let anns = app.key_of(&house.ann, "Annie", "read", true).await;
    let tests = app.test_key("read").await;
    app.key_of(&house.other, "Stranger", "read", true).await;
    let (olive, ann) = (user(&app.owner).to_string(), user(&house.ann).to_string());
    for (key, place, people, agents) in [
        (&ours, TEAM, vec![&olive, &ann], vec![&ours, &anns]),
        (&ours, OWNERS, vec![&olive], vec![&ours]),
        (&anns, ANNS, vec![&ann], vec![&anns]),
        (&tests, SANDBOX, vec![], vec![&tests]),
    ] {
        let team = &app.read(key, &house.conversations[place]).await["team"];
        let ids = |kind: &str| {
            let members = team[kind].as_array().unwrap().iter();
            sorted(members.map(|member| member["id"].as_str().unwrap().to_owned()).collect())
        };
        let people = people.into_iter().map(|id| format!("user:{id}")).collect();
        let agents = agents.into_iter().map(|key| format!("agent:{}", key.id)).collect();
        assert_eq!(ids("people"), sorted(people), "{place}");
        assert_eq!(ids("agents"), sorted(agents), "{place}");
    }
}

async fn a_conversation_is_given_only_to_who_can_see_its_inbox(app: TestApp) {
    let house = house(&app).await;
    let ours = app.key("write").await;
    let anns = app.key_of(&house.ann, "Annie", "write", true).await;
    let revoked = app.key_of(&house.ann, "Gone", "write", true).await;
    app.revoke(&revoked).await;
    let tests = app.test_key("write").await;
    let (olive, ann) = (user(&app.owner).to_string(), user(&house.ann).to_string());
    let stranger = user(&house.other).to_string();
    let user = |id: &str| format!("user:{id}");
    let agent = |key: &TestKey| format!("agent:{}", key.id);
    for (key, place, may, may_not) in [
        (
            &ours,
            TEAM,
            vec![user(&olive), user(&ann), agent(&ours), agent(&anns)],
            vec![user(&stranger), agent(&tests), agent(&revoked), user("usr_0"), agent_of("0")],
        ),
        (
            &anns,
            ANNS,
            vec![user(&ann), agent(&anns), "me".into()],
            vec![user(&olive), agent(&ours), agent(&tests), agent(&revoked)],
        ),
        (&tests, SANDBOX, vec![agent(&tests), "me".into()], vec![user(&olive), agent(&ours)]),
    ] {
        let path = format!("/conversations/{}/assign", house.conversations[place]);
        for to in may {
            app.post(key, &path, json!({ "to": to })).await.is(200);
        }
        let refused = app.post(key, &path, json!({ "to": agent_of("0") })).await.is(400);
        for to in may_not {
            let answer = app.post(key, &path, json!({ "to": to })).await;
            assert_eq!(told(&answer), told(&refused), "{place} {to}");
            assert!(answer.error().starts_with("to: "), "{}", answer.error());
        }
    }
}

fn agent_of(id: &str) -> String {
    format!("agent:agt_{id}")
}
