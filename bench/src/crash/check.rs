//! Compares what was promised with what there is.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::client::{Memory, SentReply, Stop};
use crate::client::Client;
use crate::requests::request;

/// Events on one page.
const PAGE: usize = 100;
/// Pages read before it is said that there is no end.
const PAGES: usize = 10_000;

/// What the webhooks' receiver got: each event's body, and how often it came.
#[derive(Default)]
pub struct ReceivedEvents(Mutex<HashMap<String, (Value, u64)>>);

impl ReceivedEvents {
    pub fn add(&self, body: &[u8]) {
        let Ok(event) = serde_json::from_slice::<Value>(body) else { return };
        let id = event["id"].as_str().unwrap_or_default().to_owned();
        self.lock().entry(id).or_insert((event, 0)).1 += 1;
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Deliveries beyond the first of each event.
    pub fn repeats(&self) -> u64 {
        self.lock().values().map(|(_, times)| times - 1).sum()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Value, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is wrong, one sentence each.
#[derive(Default)]
pub struct Findings {
    /// Acknowledged, and not there as it should be.
    pub missing: Vec<String>,
    /// Events that no receiver got as they are, or that nobody knows of.
    pub undelivered: Vec<String>,
    pub sent_after_stop: Vec<String>,
    /// Written more often than kills between writing and recording explain.
    pub written_twice: Vec<String>,
    pub events: usize,
}

/// What the relay wrote, and how often a kill fell between writing and recording.
pub struct WrittenMail<'a> {
    pub written: &'a HashMap<String, u64>,
    pub between: &'a HashMap<String, u64>,
}

/// Reads everything back from a server that has come to rest.
pub async fn check(
    server: SocketAddr,
    keys: (&str, &str),
    memories: &[&Memory],
    heard: &ReceivedEvents,
    mail: &WrittenMail<'_>,
) -> Result<Findings, String> {
    let mut reader = Reader::new(server).await?;
    let mut findings = Findings::default();
    let mut sent: HashMap<String, u64> = HashMap::new();
    for key in [keys.0, keys.1] {
        for event in reader.events(key).await? {
            findings.events += 1;
            if event["type"] == "message.sent" {
                let message = event["data"]["message_id"].as_str().unwrap_or_default();
                *sent.entry(message.to_owned()).or_default() += 1;
            }
            findings.hear(&event, heard);
        }
    }
    if heard.len() > findings.events {
        let more = heard.len() - findings.events;
        findings.undelivered.push(format!("{more} events came that are not among the events"));
    }
    for memory in memories {
        findings.recall(&mut reader, keys, memory, &sent, mail).await?;
    }
    findings.count_writes(mail);
    Ok(findings)
}

impl Findings {
    fn hear(&mut self, event: &Value, heard: &ReceivedEvents) {
        let id = event["id"].as_str().unwrap_or_default();
        match heard.lock().get(id) {
            Some((body, _)) if body == event => {}
            Some(_) => self.undelivered.push(format!("{id} came with another body")),
            None => self.undelivered.push(format!("{id} ({}) never came", event["type"])),
        }
    }

    async fn recall(
        &mut self,
        reader: &mut Reader,
        (live, test): (&str, &str),
        memory: &Memory,
        sent: &HashMap<String, u64>,
        mail: &WrittenMail<'_>,
    ) -> Result<(), String> {
        for (id, body) in &memory.notes {
            if !reader.conversation(live, id).await?.notes.contains(body) {
                self.missing.push(format!("the note \"{body}\" on {id}"));
            }
        }
        for (id, message) in &memory.mails {
            if !reader.conversation(test, id).await?.messages.contains_key(message) {
                self.missing.push(format!("the mail {message} on {id}"));
            }
        }
        for (id, statuses) in &memory.statuses {
            let status = &reader.conversation(live, id).await?.status;
            if !statuses.contains(&status.as_str()) {
                self.missing.push(format!("{id} is {status} and should be one of {statuses:?}"));
            }
        }
        for (id, assigned) in &memory.assigned {
            if !assigned.contains(&reader.conversation(live, id).await?.is_assigned) {
                self.missing.push(format!("the assignment of {id}"));
            }
        }
        for (message, reply) in &memory.replies {
            let key = if reply.livemode { live } else { test };
            let read = reader.conversation(key, &reply.conversation).await?;
            let status = read.messages.get(message).cloned().unwrap_or_default();
            let sent = sent.get(message).copied().unwrap_or(0);
            self.check_reply(message, reply, &status, sent, mail);
        }
        Ok(())
    }

    fn check_reply(
        &mut self,
        message: &str,
        reply: &SentReply,
        status: &str,
        sent: u64,
        mail: &WrittenMail<'_>,
    ) {
        let written = mail.written.contains_key(message);
        let left = status == reply.ends
            && sent == u64::from(reply.ends == "sent")
            && written == reply.livemode;
        let kept = status == "draft" && sent == 0 && !written;
        match reply.stop {
            Stop::Acknowledged if !kept => self
                .sent_after_stop
                .push(format!("{message} was stopped, and is {status}, announced {sent} times")),
            Stop::Never | Stop::TooLate if !left => self.missing.push(format!(
                "{message} is {status:?}, announced {sent} times, written: {written}"
            )),
            Stop::Unknown if !left && !kept => self.missing.push(format!(
                "{message}, whose stop was not answered, is {status:?}, announced {sent} times"
            )),
            _ => {}
        }
    }

    /// A kill between writing and recording explains one more time.
    fn count_writes(&mut self, mail: &WrittenMail<'_>) {
        for (message, times) in mail.written {
            let explained = 1 + mail.between.get(message).copied().unwrap_or(0);
            if *times > explained {
                let sentence = format!("{message}: {times} times, of which {explained} explained");
                self.written_twice.push(sentence);
            }
        }
    }
}

/// A conversation as it was read.
#[derive(Default)]
struct Read {
    status: String,
    is_assigned: bool,
    notes: HashSet<String>,
    /// The status of each message; mail that came in has none.
    messages: HashMap<String, String>,
}

struct Reader {
    client: Client,
    read: HashMap<String, Read>,
}

impl Reader {
    async fn new(server: SocketAddr) -> Result<Reader, String> {
        let client = Client::connect(server).await.map_err(|error| error.to_string())?;
        Ok(Reader { client, read: HashMap::new() })
    }

    /// A conversation, read once; one that is not there has nothing in it.
    async fn conversation(&mut self, key: &str, id: &str) -> Result<&Read, String> {
        if !self.read.contains_key(id) {
            let (status, found, _) = self.get(key, &format!("/conversations/{id}")).await?;
            let read = if status == 200 { read(&found) } else { Read::default() };
            self.read.insert(id.to_owned(), read);
        }
        self.read.get(id).ok_or_else(|| "it was read just now".into())
    }

    /// All events that a key may see.
    async fn events(&mut self, key: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        for _ in 0..PAGES {
            let path = format!("/events?limit={PAGE}{cursor}");
            let (status, page, next) = self.get(key, &path).await?;
            let Value::Array(page) = page else { return Err(format!("{status} {page}")) };
            if page.is_empty() {
                return Ok(all);
            }
            all.extend(page);
            cursor = next.map(|next| format!("&cursor={next}")).ok_or("a page has no cursor")?;
        }
        Err("the events have no end".into())
    }

    /// The status, the body, and the cursor of what comes next.
    async fn get(&mut self, key: &str, path: &str) -> Result<(u16, Value, Option<String>), String> {
        let request = request(key, "GET", path, "");
        let answer =
            self.client.call(request.as_bytes()).await.map_err(|error| error.to_string())?;
        let head = String::from_utf8_lossy(answer.head);
        let next = head.split_once("cursor=").map(|(_, rest)| {
            rest.chars().take_while(|c| !matches!(c, '&' | '>' | '\r')).collect::<String>()
        });
        let body = serde_json::from_slice(answer.body).map_err(|error| error.to_string())?;
        Ok((answer.status, body, next))
    }
}

fn read(found: &Value) -> Read {
    let mut read = Read {
        status: found["status"].as_str().unwrap_or_default().to_owned(),
        is_assigned: !found["assignee"].is_null(),
        ..Read::default()
    };
    for item in found["timeline"].as_array().into_iter().flatten() {
        let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str() {
            Some("note") => drop(read.notes.insert(text("body"))),
            Some("message") => drop(read.messages.insert(text("id"), text("status"))),
            _ => {}
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is found of a live reply: acknowledged and missing, sent after its stop.
    fn judge(stop: Stop, status: &str, sent: u64, written: bool) -> (usize, usize) {
        let reply = SentReply { conversation: "cnv_1".into(), livemode: true, ends: "sent", stop };
        let written = written.then(|| ("msg_1".to_owned(), 1)).into_iter().collect();
        let mail = WrittenMail { written: &written, between: &HashMap::new() };
        let mut findings = Findings::default();
        findings.check_reply("msg_1", &reply, status, sent, &mail);
        (findings.missing.len(), findings.sent_after_stop.len())
    }

    #[test]
    fn a_reply_leaves_once_or_is_kept_as_its_stop_says() {
        for stop in [Stop::Never, Stop::TooLate, Stop::Unknown] {
            assert_eq!(judge(stop, "sent", 1, true), (0, 0));
            assert_eq!(judge(stop, "sent", 0, true), (1, 0));
            assert_eq!(judge(stop, "sent", 2, true), (1, 0));
            assert_eq!(judge(stop, "sent", 1, false), (1, 0));
            assert_eq!(judge(stop, "sending", 0, true), (1, 0));
            assert_eq!(judge(stop, "", 0, false), (1, 0));
        }
        assert_eq!(judge(Stop::Never, "draft", 0, false), (1, 0));
        assert_eq!(judge(Stop::Unknown, "draft", 0, false), (0, 0));
        assert_eq!(judge(Stop::Acknowledged, "draft", 0, false), (0, 0));
        assert_eq!(judge(Stop::Acknowledged, "sent", 1, true), (0, 1));
        assert_eq!(judge(Stop::Acknowledged, "draft", 0, true), (0, 1));
    }

    #[test]
    fn a_mail_is_written_again_only_after_a_kill_in_between() {
        let written = HashMap::from([("msg_1".to_owned(), 2), ("msg_2".to_owned(), 2)]);
        let between = HashMap::from([("msg_1".to_owned(), 1)]);
        let mut findings = Findings::default();
        findings.count_writes(&WrittenMail { written: &written, between: &between });
        assert_eq!(findings.written_twice, ["msg_2: 2 times, of which 1 explained"]);
    }

    #[test]
    fn an_event_must_come_and_come_as_it_is() {
        let heard = ReceivedEvents::default();
        heard.add(br#"{"id":"evt_1","type":"x"}"#);
        heard.add(br#"{"id":"evt_1","type":"x"}"#);
        assert_eq!((heard.len(), heard.repeats()), (1, 1));
        let mut findings = Findings::default();
        findings.hear(&json!({ "id": "evt_1", "type": "x" }), &heard);
        assert!(findings.undelivered.is_empty());
        findings.hear(&json!({ "id": "evt_1", "type": "y" }), &heard);
        findings.hear(&json!({ "id": "evt_2", "type": "x" }), &heard);
        assert_eq!(findings.undelivered.len(), 2);
    }
}
