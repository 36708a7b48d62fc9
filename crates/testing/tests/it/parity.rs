//! The same operations leave the same on both databases: every answer and event, to the byte.

use std::sync::{Arc, Mutex};

use actions::conversations::snooze;
use actions::writing::drafts;
use base::actor::{Actor, Role};
use base::ids::MessageId;
use mail::{Address, AuthorKind, Dmarc, Mail, Risk, Warning};
use model::mailboxes::Mailbox;
use serde_json::{Value, json};
use testing::{
    Backend, Chance, DAY, SECOND, TestApp, TestKey, file, letter, query, run, seeds, user,
};

const OPERATIONS: usize = 300;

#[test]
fn a_random_history_is_the_same_to_the_byte_on_both_databases() {
    for seed in seeds().into_iter().take(1) {
        let [sqlite, postgres] = [Backend::Sqlite, Backend::Postgres].map(|on| told(on, seed));
        for (number, (left, right)) in sqlite.iter().zip(&postgres).enumerate() {
            assert_eq!(left, right, "MAILROOM_TEST_SEED={seed}, entry {number}");
        }
        assert_eq!(sqlite.len(), postgres.len(), "MAILROOM_TEST_SEED={seed}");
    }
}

/// Everything that was answered and is held in the end.
fn told(backend: Backend, seed: u64) -> Vec<String> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    run(backend, |app: TestApp| async move {
        let mut history = History::begin(app, seed).await;
        for _ in 0..OPERATIONS {
            history.step().await;
        }
        history.tell_everything().await;
        *kept.lock().unwrap() = history.lines;
    });
    let lines = lines.lock().unwrap();
    assert!(lines.len() > OPERATIONS);
    lines.clone()
}

struct History {
    app: TestApp,
    chance: Chance,
    /// Robo sees the team and the owner's inbox, Anns hers, Testo the sandbox.
    keys: [TestKey; 3],
    ann: Actor,
    inboxes: Vec<Mailbox>,
    conversations: Vec<String>,
    messages: Vec<String>,
    header_ids: Vec<String>,
    lines: Vec<String>,
}

const WORDS: [&str; 12] = [
    "lamp",
    "Straße",
    "東京都",
    "invoice",
    "Crème",
    "주문",
    "late",
    "ΟΔΟΣ",
    "inv-12",
    "a@b.example",
    "the",
    "😀",
];

impl History {
    async fn begin(app: TestApp, seed: u64) -> History {
        let ann = app.person_with("Ann", Role::Admin).await;
        let scopes = "read write draft send record";
        let keys = [
            app.key(scopes).await,
            app.key_of(&ann, "Anns", scopes, true).await,
            app.test_key(scopes).await,
        ];
        let inboxes = vec![
            app.support.clone(),
            app.team_inbox("sales@acme.example", "Sales").await,
            app.private_inbox(&app.owner).await,
            app.private_inbox(&ann).await,
            app.sandbox.clone(),
        ];
        for (maker, private, livemode) in
            [(&app.owner, false, true), (&ann, true, true), (&app.owner, false, false)]
        {
            app.webhook(maker, private, livemode).await;
        }
        History {
            app,
            chance: Chance::new(seed),
            keys,
            ann,
            inboxes,
            conversations: Vec::new(),
            messages: Vec::new(),
            header_ids: Vec::new(),
            lines: Vec::new(),
        }
    }

    async fn step(&mut self) {
        match self.chance.below(20) {
            0 => self.app.advance(self.chance.below(20) as i64 * DAY),
            1..=3 => self.app.advance(self.chance.below(3) as i64 * SECOND),
            _ => {}
        }
        if self.conversations.is_empty() || self.chance.below(3) == 0 {
            return self.mail_comes_in().await;
        }
        match self.chance.below(10) {
            0..=5 => self.key_calls().await,
            6 => self.app_records().await,
            _ => self.person_acts().await,
        }
    }

    fn say(&mut self, what: &str, outcome: String) {
        self.lines.push(format!("{what}: {outcome}"));
    }

    fn words(&mut self, most: usize) -> String {
        let count = 1 + self.chance.below(most);
        let words: Vec<&str> = (0..count).map(|_| *self.chance.pick(&WORDS)).collect();
        words.join(" ")
    }

    async fn mail_comes_in(&mut self) {
        let inbox = self.chance.pick(&self.inboxes).clone();
        let from = format!("c{}@x.example Customer", self.chance.below(5));
        let subject = format!("{}{}", self.chance.pick(&["", "Re: ", "AW: "]), self.words(1));
        let text = self.words(30);
        let tag = *self.chance.pick(&["", "", "", "+INV-12", "+word"]);
        let number = self.header_ids.len();
        let repeated = number > 0 && self.chance.one_in(15);
        let message_id = match repeated {
            true => self.chance.pick(&self.header_ids).clone(),
            false => format!("m{number}@x.example"),
        };
        let answers = match number > 0 && self.chance.one_in(3) {
            true => vec![self.chance.pick(&self.header_ids).clone()],
            false => Vec::new(),
        };
        let risk = self.chance.one_in(8).then(|| Warning {
            risk: Risk::Phishing,
            reasons: vec!["Odd link".into(); self.chance.below(5)],
            hold: self.chance.one_in(2),
        });
        let attachments = match self.chance.one_in(4) {
            true => vec![file(&format!("{}.pdf", self.words(2)), text.as_bytes())],
            false => Vec::new(),
        };
        let mail = Mail {
            message_id: Some(message_id.clone()),
            answers,
            cc: vec![Address::new(None, &format!("c{}@x.example", self.chance.below(5)))],
            delivered_to: inbox.address.replace('@', &format!("{tag}@")),
            kind: if self.chance.one_in(6) { AuthorKind::AutoReply } else { AuthorKind::Person },
            dmarc: *self.chance.pick(&[Dmarc::Pass, Dmarc::Pass, Dmarc::Absent, Dmarc::Fail]),
            warning: risk,
            attachments,
            ..letter(&from, &subject, &text)
        };
        let received = self.app.deliver(&inbox, mail).await;
        self.say("mail", format!("{received:?}"));
        self.header_ids.push(message_id);
        let id = received.conversation.to_string();
        if !self.conversations.contains(&id) {
            self.conversations.push(id);
        }
    }

    async fn key_calls(&mut self) {
        let key = self.chance.pick(&self.keys).clone();
        let id = self.chance.pick(&self.conversations).clone();
        let (what, body) = match self.chance.below(7) {
            0 => ("notes", json!({ "body": self.words(5) })),
            1 => ("status", json!({ "status": *self.chance.pick(&["open", "waiting", "closed"]) })),
            2 => ("tags", json!({ "add": [self.words(1)], "remove": [self.words(1)] })),
            3 => ("assign", json!({ "to": self.assignee() })),
            4 => (
                "document-requests",
                json!({
                    "documents": [{ "label": self.words(2), "required": self.chance.one_in(2) }],
                    "send": self.chance.one_in(2),
                }),
            ),
            _ => ("replies", json!({ "body": self.words(20), "send": self.chance.one_in(2) })),
        };
        let answer = self.app.on(&key, &id, what, body).await;
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        if let Some(message) = answer.json()["messageId"].as_str() {
            self.messages.push(message.to_owned());
        }
        self.say(what, format!("{} {text}", answer.status));
    }

    fn assignee(&mut self) -> String {
        let agent = self.chance.pick(&self.keys).id.clone();
        let people = [self.ann.clone(), self.app.owner.clone()];
        let person = user(self.chance.pick(&people));
        match self.chance.below(4) {
            0 => "me".into(),
            1 => "none".into(),
            2 => format!("agent:{agent}"),
            _ => format!("user:{person}"),
        }
    }

    async fn app_records(&mut self) {
        let key = self.chance.pick(&self.keys).clone();
        let id = format!("app{}@app.example", self.chance.below(6));
        let body = json!({
            "messageId": id,
            "reference": format!("ORDER-{}", self.chance.below(4)),
            "to": [format!("c{}@x.example", self.chance.below(5))],
            "subject": self.words(2),
        });
        let answer = self.app.post(&key, "/app-mail", body).await;
        self.header_ids.push(id);
        self.say("app mail", answer.status.to_string());
    }

    async fn person_acts(&mut self) {
        let people = [self.ann.clone(), self.app.owner.clone()];
        let person = self.chance.pick(&people).clone();
        let conversation = self.chance.pick(&self.conversations).clone();
        let until = self.app.now() + self.chance.below(3) as i64 * DAY;
        let text = self.words(5);
        let deed = self.chance.below(7);
        let message = match self.messages.is_empty() {
            true => None,
            false => MessageId::parse(self.chance.pick::<String>(&self.messages)),
        };
        let done = self.app.app.act(&person, move |tx, cx| match (deed, &message) {
            (0, _) => snooze::snooze(tx, cx, &conversation, until).map(|()| 0),
            (1, _) => snooze::release_held(tx, cx, &conversation).map(|()| 0),
            (_, None) => Ok(0),
            (2, Some(id)) => drafts::stop_message(tx, cx, id).map(|_| 0),
            (deed, Some(id)) => {
                let (draft, mut conversation) =
                    outbound::messages::load_outgoing(tx, cx.actor, id)?;
                match deed {
                    3 => testing::approve_draft(tx, cx, id, draft.revision, &draft.text),
                    4 => drafts::edit_draft(tx, cx, id, draft.revision, &text),
                    5 => drafts::discard_draft(tx, cx, id, draft.revision, &text).map(|()| 0),
                    _ => {
                        outbound::messages::mark_sent(tx, cx, &mut conversation, &draft).map(|()| 0)
                    }
                }
            }
        });
        let outcome = match done.await {
            Ok(number) => number.to_string(),
            Err(error) => error.to_string(),
        };
        self.say("person", outcome);
    }

    async fn tell_everything(&mut self) {
        let mut paths: Vec<String> =
            vec!["/me".into(), "/mailboxes".into(), "/tags".into(), "/documents?limit=5".into()];
        for view in ["open", "waiting", "snoozed", "closed", "all"] {
            for assigned in ["me", "unassigned"] {
                paths.push(format!("/conversations?view={view}&assigned={assigned}"));
            }
            paths.push(format!("/conversations?view={view}&limit=7"));
            paths.push(format!("/conversations?view={view}&reference=inv-12"));
        }
        for word in WORDS {
            let q = query(&[("view", "all"), ("limit", "7"), ("q", word)]);
            paths.push(format!("/conversations?{q}"));
            let start: String = word.chars().take(2).collect();
            paths.push(format!("/conversations?{}", query(&[("view", "all"), ("q", &start)])));
            paths.push(format!("/documents?{}", query(&[("q", word)])));
            let two = query(&[("view", "all"), ("q", &format!("{word} \"late lamp\""))]);
            paths.push(format!("/conversations?{two}"));
        }
        for inbox in self.inboxes.clone() {
            paths.push(format!("/conversations?view=all&mailbox={}&limit=7", inbox.id));
        }
        paths.extend(self.conversations.iter().map(|id| format!("/conversations/{id}")));
        for key in self.keys.clone() {
            for path in &paths {
                self.tell_pages(&key, path).await;
            }
        }
        for event in self.app.events().await {
            self.say("event", Value::to_string(&event));
        }
        for delivery in self.app.deliveries().await {
            self.say("delivery", format!("{delivery:?}"));
        }
    }

    async fn tell_pages(&mut self, key: &TestKey, path: &str) {
        let mut next = Some(path.to_owned());
        while let Some(path) = next {
            let answer = self.app.get(key, &path).await;
            let text = String::from_utf8_lossy(&answer.bytes).into_owned();
            self.say(&path, format!("{} {text}", answer.status));
            next = answer.next();
        }
    }
}
