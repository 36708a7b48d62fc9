//! Walking a list by its `Link` header: nothing twice, nothing passed over.

use mail::Mail;
use model::mailboxes::Mailbox;
use serde_json::json;
use testing::{
    Chance, SECOND, TestApp, TestKey, file, letter, on_both, query, seeds, text_of, texts,
};

on_both!(
    a_walk_gives_everything_exactly_once_in_the_order_of_the_list,
    a_walk_keeps_every_filter,
    mail_on_conversations_given_and_not_yet_given_moves_nothing_in_a_walk,
    what_leaves_the_list_during_a_walk_is_left_out_and_the_rest_is_given_once,
    the_last_page_has_no_next,
    a_cursor_that_no_answer_gave_is_refused,
    a_cursor_of_another_key_shows_only_what_its_user_may_see,
    documents_are_walked_exactly_once_while_new_ones_come,
    random_walks_give_the_list_as_it_was_when_they_began
);

async fn a_walk_gives_everything_exactly_once_in_the_order_of_the_list(app: TestApp) {
    let key = app.key("read").await;
    let private = app.private_inbox(&app.owner).await;
    fill(&app, 23, &[&app.support, &private]).await;
    let whole = texts(&app.list(&key, "view=all&limit=100").await, "id");
    for limit in [1, 2, 7, 22, 23, 24, 100] {
        let pages = app.pages(&key, &format!("/conversations?view=all&limit={limit}")).await;
        assert_eq!(texts(&pages.concat(), "id"), whole, "limit {limit}");
        let (last, full) = pages.split_last().unwrap();
        assert!(full.iter().all(|page| page.len() == limit), "limit {limit}");
        assert!(last.len() <= limit, "limit {limit}");
    }
}

async fn a_walk_keeps_every_filter(app: TestApp) {
    let key = app.key("write").await;
    let made = fill(&app, 20, &[&app.support]).await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    for (number, id) in made.iter().enumerate() {
        let status = ["open", "closed", "waiting"][number % 3];
        app.on(&key, id, "status", json!({ "status": status })).await.is(200);
        if number % 2 == 0 {
            app.on(&key, id, "assign", json!({ "to": "me" })).await.is(200);
        }
    }
    for number in 0..9 {
        app.advance(SECOND);
        let mail = Mail {
            delivered_to: "sales+r2@acme.example".into(),
            ..letter("b@x.example", &format!("Lamp {number}"), "a lamp & more")
        };
        app.deliver(&sales, mail).await;
    }
    let sales = sales.id.to_string();
    let filters: &[&[(&str, &str)]] = &[
        &[],
        &[("view", "open")],
        &[("view", "waiting")],
        &[("view", "closed")],
        &[("view", "all")],
        &[("view", "all"), ("mailbox", &sales)],
        &[("view", "all"), ("assigned", "me")],
        &[("assigned", "unassigned")],
        &[("view", "all"), ("reference", "R2")],
        &[("reference", "r2"), ("mailbox", &sales), ("assigned", "unassigned")],
        &[("q", "lamp & \"a lamp\"")],
        &[("view", "all"), ("q", "mail"), ("assigned", "me")],
        &[("q", "lam"), ("mailbox", &sales), ("reference", "r2")],
    ];
    for filter in filters {
        let whole = texts(&app.list(&key, &with_limit(filter, "100")).await, "id");
        assert!(!whole.is_empty(), "{filter:?}");
        for limit in ["1", "2", "7"] {
            let path = format!("/conversations?{}", with_limit(filter, limit));
            assert_eq!(app.walk(&key, &path).await, whole, "{filter:?} {limit}");
        }
    }
}

async fn mail_on_conversations_given_and_not_yet_given_moves_nothing_in_a_walk(app: TestApp) {
    let key = app.key("send").await;
    fill(&app, 9, &[&app.support]).await;
    let of_inbox = format!("view=all&mailbox={}", app.support.id);
    for filter in [
        "view=all",
        "view=all&q=mail",
        &of_inbox,
        "view=all&assigned=unassigned",
        "view=all&assigned=unassigned&q=mail",
    ] {
        let whole = texts(&app.list(&key, &format!("{filter}&limit=100")).await, "id");
        assert!(whole.len() >= 9);
        let mut given = Vec::new();
        let mut next = Some(format!("/conversations?{filter}&limit=2"));
        let mut round = 0;
        while let Some(path) = next {
            let answer = app.get(&key, &path).await.is(200);
            given.extend(texts(answer.json().as_array().unwrap(), "id"));
            next = answer.next();
            app.advance(SECOND);
            write_again(&app, &key, &given[0]).await;
            if let Some(later) = whole.iter().rev().nth(round) {
                write_again(&app, &key, later).await;
            }
            if let Some(later) = whole.get(given.len()) {
                app.send_reply(&key, later, "On its way").await;
            }
            if round % 4 == 0 {
                app.advance(SECOND);
                app.mail("new@x.example", &format!("Brand new {filter} {round}"), "mail").await;
            }
            round += 1;
        }
        assert_eq!(given, whole, "{filter}");
    }
}

async fn what_leaves_the_list_during_a_walk_is_left_out_and_the_rest_is_given_once(app: TestApp) {
    let key = app.key("write").await;
    fill(&app, 9, &[&app.support]).await;
    let whole = texts(&app.list(&key, "limit=100").await, "id");
    let first = app.get(&key, "/conversations?limit=3").await.is(200);
    app.advance(SECOND);
    for closed in [&whole[1], &whole[4], &whole[8]] {
        app.on(&key, closed, "status", json!({ "status": "closed" })).await.is(200);
    }
    let rest = app.walk(&key, &first.next().unwrap()).await;
    let stayed = [3, 5, 6, 7].map(|place| whole[place].clone());
    assert_eq!(rest, stayed);
}

async fn the_last_page_has_no_next(app: TestApp) {
    let key = app.key("read").await;
    for path in ["/conversations", "/documents"] {
        let answer = app.get(&key, path).await.is(200);
        assert_eq!(answer.next(), None);
    }
    fill(&app, 5, &[&app.support]).await;
    let answer = app.get(&key, "/conversations?limit=3").await.is(200);
    let answer = app.get(&key, &answer.next().unwrap()).await.is(200);
    assert_eq!(answer.json().as_array().unwrap().len(), 2);
    assert_eq!(answer.next(), None);
}

async fn a_cursor_that_no_answer_gave_is_refused(app: TestApp) {
    let key = app.key("read").await;
    let long = format!("1.2.{}", "a".repeat(77));
    let odd = ["", "x", "1.2", "1.2.", "1.2.A", "1.2.a.b", "-1.2.a", "1.é.a", "1 .2.a", &long];
    for list in ["/conversations", "/documents"] {
        for cursor in odd {
            let path = format!("{list}?{}", query(&[("cursor", cursor)]));
            let answer = app.get(&key, &path).await.is(400);
            assert!(answer.error().starts_with("cursor: "), "{cursor}: {}", answer.error());
        }
    }
}

async fn a_cursor_of_another_key_shows_only_what_its_user_may_see(app: TestApp) {
    let key = app.key("read").await;
    let test_key = app.test_key("read").await;
    fill(&app, 4, &[&app.support]).await;
    app.deliver(&app.sandbox, letter("a@x.test", "Sandbox", "mail")).await;
    let next = app.get(&key, "/conversations?limit=1").await.next().unwrap();
    for seen in app.pages(&test_key, &next).await.concat() {
        assert_eq!(seen["subject"], "Sandbox");
    }
}

async fn documents_are_walked_exactly_once_while_new_ones_come(app: TestApp) {
    let key = app.key("read").await;
    let private = app.private_inbox(&app.owner).await;
    for number in 0..15 {
        let inbox = if number % 3 == 0 { &private } else { &app.support };
        let attachments = vec![file(&format!("scan {number}.pdf"), &[number])];
        let mail = Mail { attachments, ..letter("a@x.example", &format!("{number}"), "text") };
        app.deliver(inbox, mail).await;
        if number % 2 == 0 {
            app.advance(SECOND);
        }
    }
    for filter in ["", "q=scan&"] {
        let whole = app.get(&key, &format!("/documents?{filter}limit=100")).await.is(200);
        let whole = texts(whole.json().as_array().unwrap(), "id");
        assert!(whole.len() >= 15);
        for limit in [1, 2, 7, 15] {
            let mut given = Vec::new();
            let mut next = Some(format!("/documents?{filter}limit={limit}"));
            while let Some(path) = next {
                let answer = app.get(&key, &path).await.is(200);
                given.extend(texts(answer.json().as_array().unwrap(), "id"));
                next = answer.next();
                app.advance(SECOND);
            }
            assert_eq!(given, whole, "{filter} {limit}");
        }
        let first = app.get(&key, &format!("/documents?{filter}limit=4")).await.is(200);
        app.advance(SECOND);
        let attachments = vec![file("scan late.pdf", b"late")];
        let late = Mail { attachments, ..letter("a@x.example", filter, "text") };
        app.deliver(&app.support, late).await;
        assert_eq!(app.walk(&key, &first.next().unwrap()).await, whole[4..]);
    }
}

async fn random_walks_give_the_list_as_it_was_when_they_began(app: TestApp) {
    let key = app.key("write send").await;
    for seed in seeds() {
        let mut chance = Chance::new(seed);
        fill(&app, 6 + chance.below(9), &[&app.support]).await;
        for round in 0..5 {
            let walk = Walked::run(&app, &key, &mut chance).await;
            let name = format!("MAILROOM_TEST_SEED={seed}, round {round}, {}", walk.path);
            let mut once = walk.given.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), walk.given.len(), "{name}: given twice");
            let kept = |ids: &[String]| -> Vec<String> {
                let stayed = ids.iter().filter(|id| !walk.left.contains(id));
                stayed.cloned().collect()
            };
            let given: Vec<String> = kept(&walk.given);
            let known: Vec<String> =
                given.into_iter().filter(|id| walk.began_with.contains(id)).collect();
            assert_eq!(known, kept(&walk.began_with), "{name}");
            let new: Vec<&String> =
                walk.given.iter().filter(|id| walk.began_later.contains(id)).collect();
            assert!(new.is_empty(), "{name}: {new:?} began after the walk");
        }
    }
}

/// A walk during which the list changes, and what was true when it began.
struct Walked {
    path: String,
    began_with: Vec<String>,
    given: Vec<String>,
    /// Those that left the view meanwhile and may be missing, whatever came after.
    left: Vec<String>,
    began_later: Vec<String>,
}

impl Walked {
    async fn run(app: &TestApp, key: &TestKey, chance: &mut Chance) -> Walked {
        app.advance(SECOND);
        let filter = *chance.pick(&["view=all", "view=open", "view=all&q=mail", "q=mail"]);
        let limit = *chance.pick(&[2, 3, 5, 7]);
        let path = format!("/conversations?{filter}&limit={limit}");
        let began_with = app.walk(key, &path).await;
        let mut walked = Walked {
            began_with,
            given: Vec::new(),
            left: Vec::new(),
            began_later: Vec::new(),
            path: path.clone(),
        };
        let mut next = Some(path);
        while let Some(path) = next {
            let answer = app.get(key, &path).await.is(200);
            walked.given.extend(texts(answer.json().as_array().unwrap(), "id"));
            next = answer.next();
            for _ in 0..chance.below(3) {
                app.advance(1);
                walked.change(app, key, chance).await;
            }
        }
        walked
    }

    async fn change(&mut self, app: &TestApp, key: &TestKey, chance: &mut Chance) {
        if self.began_with.is_empty() || chance.one_in(8) {
            let mail = app.mail("new@x.example", &format!("New {}", app.now()), "mail").await;
            return self.began_later.push(mail.conversation.to_string());
        }
        let id = chance.pick(&self.began_with).clone();
        match chance.below(4) {
            0 => {
                app.on(key, &id, "status", json!({ "status": "closed" })).await.is(200);
                self.leaves(id);
            }
            1 => {
                app.send_reply(key, &id, "mail").await;
                self.leaves(id);
            }
            _ => write_again(app, key, &id).await,
        }
    }

    fn leaves(&mut self, id: String) {
        if !self.path.contains("view=all") {
            self.left.push(id);
        }
    }
}

/// Conversations of several moments, some of which share one, spread over these inboxes.
async fn fill(app: &TestApp, count: usize, inboxes: &[&Mailbox]) -> Vec<String> {
    let mut made = Vec::new();
    for number in 0..count {
        let inbox = inboxes[number % inboxes.len()];
        let from = format!("{number}.{}@x.example", app.now());
        let mail = letter(&from, &format!("Mail {number}"), "text");
        made.push(app.deliver(inbox, mail).await.conversation.to_string());
        if number % 3 == 0 {
            app.advance(SECOND);
        }
    }
    app.advance(SECOND);
    made
}

/// The customer writes again on a conversation of the support inbox.
async fn write_again(app: &TestApp, key: &TestKey, id: &str) {
    let read = app.read(key, &id).await;
    let (from, subject) = (text_of(&read["contact"], "email"), text_of(&read, "subject"));
    let again = app.mail(&from, &format!("Re: {subject}"), "More mail").await;
    assert_eq!(again.conversation.as_str(), id);
}

fn with_limit(filter: &[(&str, &str)], limit: &str) -> String {
    query(&[filter, &[("limit", limit)]].concat())
}
