//! What a team does with the mail of one round: it reads, tags, notes, drafts, changes, answers, closes, reopens,
//! merges and deletes. Agents act over REST, and people by the forms of the app.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::database;
use crate::fill::workspace::BenchWorkspace;
use crate::requests::request;
use crate::triage::AppSession;

/// One conversation of so many is merged into the one before it, and one is deleted.
const MERGED: usize = 20;
const DELETED: usize = 30;
/// One draft of so many is discarded instead of sent.
const DISCARDED: usize = 4;

/// The page of the rules.
const RULES: &str = "/settings/rules";

pub struct Life<'a> {
    runtime: &'a Runtime,
    client: Client,
    session: AppSession,
    key: &'a str,
}

impl<'a> Life<'a> {
    pub fn begin(
        runtime: &'a Runtime,
        server: SocketAddr,
        workspace: &'a BenchWorkspace,
    ) -> Result<Life<'a>, String> {
        let client =
            runtime.block_on(Client::connect(server)).map_err(|error| error.to_string())?;
        let session = runtime.block_on(AppSession::open(server, &workspace.session))?;
        Ok(Life { runtime, client, session, key: &workspace.live_key })
    }

    /// A rule that tags mail whose subject has a word.
    pub fn add_rule(&mut self, word: &str) -> Result<(), String> {
        let fields = format!(
            "name=Grown&event=mail-arrives&field=subject&how=is&value={word}&act=tag&with=Rule"
        );
        let adding = self.session.post(RULES, &fields, "rule-added");
        let location = self.runtime.block_on(adding)?;
        let rule = location.strip_prefix(RULES).unwrap_or_default();
        let rule = rule.trim_start_matches('/').split('?').next().unwrap_or_default();
        let switch = format!("{RULES}/{rule}/switch");
        self.runtime.block_on(self.session.post(&switch, "on=1", "rule-on")).map(drop)
    }

    /// A day with the conversations of a database.
    pub fn live_round(&mut self, url: &str, round: usize) -> Result<(), String> {
        let sql = "SELECT id FROM conversations
            WHERE num > 0 AND removed IS NULL AND merged_into IS NULL ORDER BY num";
        let ids = database::texts(url, sql)?;
        for (number, id) in ids.iter().enumerate() {
            self.call("GET", &format!("/conversations/{id}"), &Value::Null)?;
            self.on(id, "tags", &json!({ "add": [format!("Tag {}", number % 7)] }))?;
            if round > 0 {
                self.on(id, "tags", &json!({ "remove": [format!("Tag {}", number % 7)] }))?;
            }
            self.on(id, "notes", &json!({ "body": format!("Looked at it in round {round}") }))?;
            self.answer(id, number, round)?;
            let status = if (number + round).is_multiple_of(3) { "open" } else { "closed" };
            self.on(id, "status", &json!({ "status": status }))?;
        }
        for pair in ids.chunks(MERGED) {
            if let [target, source, ..] = pair {
                self.on(source, "merge", &json!({ "into": target }))?;
            }
        }
        for few in ids.chunks(DELETED) {
            if let [_, _, deleted, ..] = few {
                let form = format!("act=delete&c={deleted}&from=view%3Dall");
                self.runtime.block_on(self.session.post("/triage", &form, "triaged"))?;
            }
        }
        Ok(())
    }

    /// A draft that is changed and then sent or discarded.
    fn answer(&mut self, id: &str, number: usize, round: usize) -> Result<(), String> {
        let draft = json!({ "body": format!("We look into number {number}.") });
        let draft = self.on(id, "replies", &draft)?;
        let draft = draft["messageId"].as_str().ok_or("a draft has no id")?.to_owned();
        let text = json!({ "body": format!("Number {number} leaves on day {round}.") });
        self.call("POST", &format!("/messages/{draft}/update"), &text)?;
        if number.is_multiple_of(DISCARDED) {
            let reason = json!({ "reason": "Solved by telephone." });
            return self.call("POST", &format!("/messages/{draft}/discard"), &reason).map(drop);
        }
        let answer = json!({ "body": format!("Number {number} has left."), "send": true });
        self.on(id, "replies", &answer).map(drop)
    }

    fn on(&mut self, id: &str, what: &str, body: &Value) -> Result<Value, String> {
        self.call("POST", &format!("/conversations/{id}/{what}"), body)
    }

    fn call(&mut self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = request(self.key, method, path, &body);
        let calling = self.client.call(request.as_bytes());
        let answer = self.runtime.block_on(calling).map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(answer.body);
        // A conversation may have been merged or deleted meanwhile.
        match answer.status {
            200..300 | 404 => Ok(serde_json::from_str(&said).unwrap_or_default()),
            status => Err(format!("{method} {path}: {status} {said}")),
        }
    }
}
