//! Tests of the sample workspace.

use std::collections::HashMap;
use std::sync::Arc;

use api::operations::find_by_name;
use base::actor::{self, Actor};
use base::app::App;
use base::files::blobs::Blobs;
use base::ids::Ids;
use base::limits::{DAY_MS, MINUTE_MS};
use base::mail_reading::MailReading;
use base::rate_limit::RateLimiter;
use base::security::api_key::KeyHash;
use base::time::{Clock, Moment};
use db::Store;
use jobs::queues::{QueueFilter, QueueState, list_own_queues};
use serde_json::{Value, json};
use testing::TrustingParser;

use super::scenario::{SampleInbox, ScenarioAction};
use super::scenarios::sample_data;
use super::{BEGINS_DAYS_AGO, Sample, builder, fill};

/// A day's first moment, so that an hour ago is yesterday.
const MIDNIGHT: i64 = 20_500 * DAY_MS;

struct Stopped(i64);

impl Clock for Stopped {
    fn now(&self) -> i64 {
        self.0
    }
}

async fn fill_workspace(now: i64) -> (tempfile::TempDir, App, Sample) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("demo.db").display());
    let app = App {
        store: Store::open(&url, &db::StoreOptions::default(), model::schema::MIGRATIONS).unwrap(),
        clock: Arc::new(Stopped(now)),
        ids: Arc::new(Ids::with_seed(7)),
        blobs: Blobs::open(&folder.path().join("blobs")).unwrap(),
        reading: MailReading::new(&folder.path().join("reading"), Arc::new(TrustingParser)),
        limiter: Arc::new(RateLimiter::new(120)),
        agents: Arc::default(),
        calls: Arc::default(),
        sorters: Arc::default(),
        panels: Arc::default(),
        background: base::concurrency::background_writes::BackgroundWrites::default(),
        scanner: None,
        sealer: Arc::new(base::security::secret_sealer::NoopSealer),
        has_relay: true,
        public_url: "http://127.0.0.1:8080".into(),
    };
    let sample = fill(&app).await.unwrap();
    (folder, app, sample)
}

/// What an operation answers somebody.
async fn ask(app: &App, actor: &Actor, operation: &str, input: Value) -> Value {
    let run = find_by_name(operation).unwrap().run;
    let answer = app.act(actor, move |tx, cx| run(tx, cx, input.clone())).await.unwrap();
    serde_json::from_slice(&answer.body).unwrap()
}

async fn holder(app: &App, key: &str) -> Actor {
    let (key, now) = (KeyHash::of(key).unwrap(), app.clock.now());
    app.store.read(move |tx| actor::authenticate(tx, &key, now)).await.unwrap().0
}

async fn everything(app: &App, actor: &Actor) -> Vec<Value> {
    let list = json!({ "view": "all", "limit": 100 });
    let listed = ask(app, actor, "list_conversations", list).await;
    let mut read = Vec::new();
    for summary in listed.as_array().unwrap() {
        read.push(ask(app, actor, "get_conversation", json!({ "id": summary["id"] })).await);
    }
    read
}

fn messages<'a>(read: &'a [Value], status: &str) -> Vec<&'a Value> {
    let items = read.iter().flat_map(|one| one["timeline"].as_array().unwrap());
    items.filter(|item| item["type"] == "message" && item["status"] == status).collect()
}

#[tokio::test]
async fn the_sample_shows_every_state_a_newcomer_should_meet() {
    let (_folder, app, sample) = fill_workspace(MIDNIGHT + 15 * 60 * MINUTE_MS).await;
    let (ws, email) = (holder(&app, &sample.live_key).await.ws, sample.owner_email.clone());
    let ines = app.store.read(move |tx| actor::person(tx, ws, &email)).await.unwrap();
    assert_eq!(ines.workspace, sample.workspace);
    let live = everything(&app, &ines).await;
    let test = everything(&app, &holder(&app, &sample.test_key).await).await;
    assert!((38..=45).contains(&(live.len() + test.len())), "{} + {}", live.len(), test.len());
    assert_eq!(test.len(), 2);
    assert_eq!(everything(&app, &holder(&app, &sample.live_key).await).await.len(), live.len());
    assert_eq!(everything(&app, &holder(&app, &sample.read_key).await).await.len(), live.len());

    let mut statuses = HashMap::new();
    for one in &live {
        *statuses.entry(one["status"].as_str().unwrap()).or_insert(0) += 1;
    }
    assert!(statuses["open"] >= 12 && statuses["waiting"] >= 8 && statuses["closed"] >= 8);
    assert_eq!(live.iter().filter(|one| one["snoozedUntil"] != Value::Null).count(), 1);

    let drafts = messages(&live, "draft");
    assert_eq!(drafts.len(), 6);
    let (helpers, agents): (Vec<&Value>, Vec<&Value>) =
        drafts.into_iter().partition(|draft| draft["draftedBy"] == "helper");
    assert!(agents.iter().all(|draft| draft["from"]["name"] == "Robo"));
    assert_eq!(helpers.len(), 1);
    assert_eq!(helpers[0]["sources"][0]["title"], "Gift cards");
    assert_eq!(messages(&live, "scheduled").len(), 2);
    let failed = messages(&live, "failed");
    assert_eq!((failed.len(), &failed[0]["reason"]["code"]), (1, &json!("5.2.2")));
    let queued = app.act(&ines, |tx, cx| list_own_queues(tx, cx, &QueueFilter::default()));
    let held = queued.await.unwrap().items;
    assert!(held.iter().any(|item| item.state == QueueState::Held));
    let happened = |event: &str| {
        let items = live.iter().flat_map(|one| one["timeline"].as_array().unwrap());
        items.filter(|item| item["event"] == event).count()
    };
    assert_eq!((happened("held"), happened("requested"), happened("discarded")), (1, 1, 1));
    assert!(live.iter().any(|one| one["risk"] == "phishing"));
    assert!(live.iter().any(|one| one["timeline"].as_array().unwrap().len() >= 8));
    assert!(live.iter().filter(|one| one["reference"] != Value::Null).count() >= 5);
    assert!(live.iter().any(|one| one["appSent"] != Value::Null));
    let agent = |one: &&Value| one["assignee"]["type"] == "agent";
    assert!(live.iter().any(|one| one["assignee"]["type"] == "user"));
    assert!(live.iter().filter(agent).count() >= 2);
}

#[tokio::test]
async fn what_customers_attach_is_filed_and_found() {
    let (_folder, app, sample) = fill_workspace(MIDNIGHT).await;
    let robo = holder(&app, &sample.live_key).await;
    let filed = ask(&app, &robo, "search_documents", json!({ "limit": 100 })).await;
    assert_eq!(filed.as_array().unwrap().len(), 11);
    let found = ask(&app, &robo, "search_documents", json!({ "q": "rechnung" })).await;
    assert_eq!(found[0]["filename"], "rechnung-2207.pdf");
    let query = json!({ "q": "20418", "view": "all" });
    let found = ask(&app, &robo, "list_conversations", query).await;
    assert_eq!(found[0]["subject"], "Where is my order 20418?");
    assert_eq!(found[0]["reference"], "order-20418");
}

#[tokio::test]
async fn every_story_stays_one_conversation_within_the_three_weeks() {
    let now = MIDNIGHT + 5 * MINUTE_MS;
    let (_folder, app, sample) = fill_workspace(now).await;
    let live = everything(&app, &holder(&app, &sample.live_key).await).await;
    let stories = sample_data().unwrap().stories.iter();
    let in_live = stories.filter(|story| story.inbox != SampleInbox::Sandbox);
    assert_eq!(in_live.count(), live.len());
    let (earliest, latest) = (Moment(now - BEGINS_DAYS_AGO * DAY_MS).iso(), Moment(now).iso());
    for one in &live {
        for item in one["timeline"].as_array().unwrap() {
            let at = item["at"].as_str().unwrap();
            assert!(earliest.as_str() < at && at <= latest.as_str(), "{}: {at}", one["subject"]);
        }
    }
}

#[test]
fn steps_follow_each_other_at_any_hour_and_nobody_answers_what_has_not_left() {
    for now in [0, 1, 12 * 60, 23 * 60 + 59].map(|minute| MIDNIGHT + minute * MINUTE_MS) {
        for story in &sample_data().unwrap().stories {
            let (mut last, mut leaves) = (i64::MIN, i64::MIN);
            for step in &story.steps {
                let at = step.at.millis(now);
                assert!(last <= at && at <= now, "{}", story.subject);
                last = at;
                match step.what {
                    ScenarioAction::Note { .. }
                    | ScenarioAction::Tag { .. }
                    | ScenarioAction::Assign { .. } => {}
                    _ => assert!(leaves <= at, "{}", story.subject),
                }
                if matches!(
                    step.what,
                    ScenarioAction::Reply { .. } | ScenarioAction::Approve { .. }
                ) {
                    leaves = at + builder::undo_window(story.inbox);
                }
            }
        }
    }
}
