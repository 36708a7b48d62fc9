//! One client that works in the inbox and remembers what it was promised.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::requests::request;

/// Simulated mails of one hand before its server dies: all hands together stay under 120 a minute.
const SIMULATED: usize = 10;
/// Messages, the latest first, that a hand thinks of taking back.
const SECOND_THOUGHTS: usize = 12;

/// What became of a wish to stop a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Never,
    /// The server died before it answered.
    Unknown,
    Acknowledged,
    /// The message had left.
    TooLate,
}

/// A reply whose sending was acknowledged.
pub struct SentReply {
    pub conversation: String,
    pub livemode: bool,
    /// What must have become of it unless it was stopped.
    pub ends: &'static str,
    pub stop: Stop,
}

/// Everything that was acknowledged, and what may have happened besides.
#[derive(Default)]
pub struct Memory {
    pub notes: Vec<(String, String)>,
    pub replies: HashMap<String, SentReply>,
    pub mails: Vec<(String, String)>,
    /// What a conversation's status and assignee may be: more than one where an answer is missing.
    pub statuses: HashMap<String, Vec<&'static str>>,
    pub assigned: HashMap<String, Vec<bool>>,
    /// Requests that the server died on.
    pub unanswered: u64,
}

pub struct SimulatedClient {
    number: usize,
    chance: StdRng,
    /// The longest pause between two operations.
    pause: Duration,
    live_key: String,
    test_key: String,
    /// Conversations whose status nobody else changes.
    people: Vec<String>,
    /// Conversations that are replied on.
    replied: Vec<String>,
    /// Sandbox conversations, and what becomes of a reply to their customers.
    sandbox: Vec<(String, &'static str)>,
    latest: Vec<String>,
    simulated: usize,
    made: u64,
    pub memory: Memory,
    /// The longest wait for an answer.
    pub slowest: Duration,
}

/// Why a hand stopped.
pub enum Pause {
    /// It was asked to.
    Asked,
    ServerDied,
    Refused(String),
}

impl SimulatedClient {
    pub fn new(
        number: usize,
        seed: u64,
        pause: Duration,
        keys: (&str, &str),
        people: &[String],
        replied: &[String],
    ) -> SimulatedClient {
        SimulatedClient {
            number,
            chance: StdRng::seed_from_u64(seed.wrapping_mul(1_000).wrapping_add(number as u64)),
            pause,
            live_key: keys.0.to_owned(),
            test_key: keys.1.to_owned(),
            people: people.to_vec(),
            replied: replied.to_vec(),
            sandbox: Vec::new(),
            latest: Vec::new(),
            simulated: 0,
            made: 0,
            memory: Memory::default(),
            slowest: Duration::ZERO,
        }
    }

    /// Works until the server dies or somebody asks it to stop, counting what is acknowledged.
    pub async fn work(
        &mut self,
        server: SocketAddr,
        acknowledged: &Arc<AtomicU64>,
        stop: &CancellationToken,
    ) -> Pause {
        self.simulated = 0;
        let Ok(mut client) = Client::connect(server).await else { return Pause::ServerDied };
        loop {
            sleep(self.pause.mul_f64(self.chance.random())).await;
            if stop.is_cancelled() {
                return Pause::Asked;
            }
            match self.do_something(&mut client).await {
                Ok(true) => drop(acknowledged.fetch_add(1, Ordering::Relaxed)),
                Ok(false) => {}
                Err(Pause::ServerDied) => {
                    self.memory.unanswered += 1;
                    return Pause::ServerDied;
                }
                Err(refused) => return refused,
            }
        }
    }

    /// True when something was acknowledged; false when there was nothing to do after all.
    async fn do_something(&mut self, client: &mut Client) -> Result<bool, Pause> {
        match self.chance.random_range(0..100) {
            0..25 => self.note(client).await,
            25..40 => self.set_status(client).await,
            40..55 => self.assign(client).await,
            55..75 => self.reply(client).await,
            75..85 => self.stop(client).await,
            85..92 => self.write_in(client).await,
            _ => self.reply_in_sandbox(client).await,
        }
    }

    async fn note(&mut self, client: &mut Client) -> Result<bool, Pause> {
        let Some(id) = self.people.choose(&mut self.chance).cloned() else { return Ok(false) };
        let body = self.new_words();
        let path = format!("/conversations/{id}/notes");
        self.post(client, true, &path, json!({ "body": body })).await?;
        self.memory.notes.push((id, body));
        Ok(true)
    }

    async fn set_status(&mut self, client: &mut Client) -> Result<bool, Pause> {
        let Some(id) = self.people.choose(&mut self.chance).cloned() else { return Ok(false) };
        let status = *["open", "waiting", "closed"].choose(&mut self.chance).unwrap_or(&"open");
        let path = format!("/conversations/{id}/status");
        self.memory.statuses.entry(id.clone()).or_insert_with(|| vec!["open"]).push(status);
        self.post(client, true, &path, json!({ "status": status })).await?;
        self.memory.statuses.insert(id, vec![status]);
        Ok(true)
    }

    async fn assign(&mut self, client: &mut Client) -> Result<bool, Pause> {
        let Some(id) = self.people.choose(&mut self.chance).cloned() else { return Ok(false) };
        let mine = self.chance.random_bool(0.5);
        let path = format!("/conversations/{id}/assign");
        self.memory.assigned.entry(id.clone()).or_insert_with(|| vec![false]).push(mine);
        let to = if mine { "me" } else { "none" };
        self.post(client, true, &path, json!({ "to": to })).await?;
        self.memory.assigned.insert(id, vec![mine]);
        Ok(true)
    }

    async fn reply(&mut self, client: &mut Client) -> Result<bool, Pause> {
        let Some(id) = self.replied.choose(&mut self.chance).cloned() else { return Ok(false) };
        self.send(client, id, true, "sent").await
    }

    async fn reply_in_sandbox(&mut self, client: &mut Client) -> Result<bool, Pause> {
        let Some((id, ends)) = self.sandbox.choose(&mut self.chance).cloned() else {
            return Ok(false);
        };
        self.send(client, id, false, ends).await
    }

    async fn send(
        &mut self,
        client: &mut Client,
        conversation: String,
        livemode: bool,
        ends: &'static str,
    ) -> Result<bool, Pause> {
        let body = json!({ "body": self.new_words(), "send": true });
        let path = format!("/conversations/{conversation}/replies");
        let answer = self.post(client, livemode, &path, body).await?;
        let message = text(&answer, "messageId");
        self.latest.push(message.clone());
        let reply = SentReply { conversation, livemode, ends, stop: Stop::Never };
        self.memory.replies.insert(message, reply);
        Ok(true)
    }

    /// Takes back one of the latest messages, if it has not left.
    async fn stop(&mut self, client: &mut Client) -> Result<bool, Pause> {
        let latest = &self.latest[self.latest.len().saturating_sub(SECOND_THOUGHTS)..];
        let Some(message) = latest.choose(&mut self.chance).cloned() else { return Ok(false) };
        self.latest.retain(|other| *other != message);
        let Some(reply) = self.memory.replies.get_mut(&message) else { return Ok(false) };
        let livemode = reply.livemode;
        reply.stop = Stop::Unknown;
        let path = format!("/messages/{message}/stop");
        let stop = match self.post(client, livemode, &path, json!({})).await {
            Ok(_) => Stop::Acknowledged,
            Err(Pause::Refused(sentence)) if sentence.starts_with("400 ") => Stop::TooLate,
            Err(pause) => return Err(pause),
        };
        if let Some(reply) = self.memory.replies.get_mut(&message) {
            reply.stop = stop;
        }
        Ok(stop == Stop::Acknowledged)
    }

    /// A simulated customer writes to the sandbox.
    async fn write_in(&mut self, client: &mut Client) -> Result<bool, Pause> {
        if self.simulated == SIMULATED {
            return Ok(false);
        }
        self.simulated += 1;
        let customers = [("delivered", "sent"), ("reply", "sent"), ("bounce", "failed")];
        let (who, ends) = customers[self.chance.random_range(0..customers.len())];
        let words = self.new_words();
        let from = format!("{who}+{}x{}@crash.test", self.number, self.made);
        let body = json!({ "from": from, "subject": words, "text": words });
        let answer = self.post(client, false, "/sandbox/inbound", body).await?;
        let conversation = text(&answer, "conversationId");
        self.sandbox.push((conversation.clone(), ends));
        self.memory.mails.push((conversation, text(&answer, "messageId")));
        Ok(true)
    }

    /// Words that nobody else writes.
    fn new_words(&mut self) -> String {
        self.made += 1;
        format!("Words {} of hand {}.", self.made, self.number)
    }

    async fn post(
        &mut self,
        client: &mut Client,
        livemode: bool,
        path: &str,
        body: Value,
    ) -> Result<Value, Pause> {
        let key = if livemode { &self.live_key } else { &self.test_key };
        let request = request(key, "POST", path, &body.to_string());
        let begun = Instant::now();
        let answer = client.call(request.as_bytes()).await.map_err(|_| Pause::ServerDied)?;
        self.slowest = self.slowest.max(begun.elapsed());
        if !(200..300).contains(&answer.status) {
            let sentence = String::from_utf8_lossy(answer.body);
            return Err(Pause::Refused(format!("{} {path}: {sentence}", answer.status)));
        }
        serde_json::from_slice(answer.body).map_err(|error| Pause::Refused(error.to_string()))
    }
}

fn text(answer: &Value, field: &str) -> String {
    answer[field].as_str().unwrap_or_default().to_owned()
}
