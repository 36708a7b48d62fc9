//! An agent outside at a webhook: it is told what the customer wrote, and answers with calls, which are made for
//! it; then it is told what came of them, until it wants no more.

use std::sync::Arc;

use base::app::App;
use base::error::{Error, Result};
use base::ids::EventId;
use base::limits::EVAL_STEPS;
use jobs::{WebhookRequest, WebhookResponse, WebhookSender};
use model::webhooks::webhook_signing;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::EvalStep;

/// The event that such an agent gets.
const EVENT: &str = "eval.turn";

/// Where an agent outside is asked.
#[derive(Clone)]
pub struct EvalWebhook {
    pub sender: Arc<dyn WebhookSender>,
    pub url: String,
    /// Signs what it gets, as events are signed; without one nothing is signed.
    pub secret: Option<String>,
}

/// What it answers.
#[derive(Deserialize)]
struct WantedCalls {
    #[serde(default)]
    calls: Vec<EvalStep>,
}

/// What an agent is told of a turn.
pub(crate) struct WebhookTurn<'a> {
    pub case: &'a str,
    /// The number of the customer's mail, from 1.
    pub turn: usize,
    /// As `GET /conversations/{id}` has it.
    pub conversation: Value,
    /// What came of the calls that it wanted last.
    pub results: &'a [Value],
}

impl EvalWebhook {
    /// The next calls that the agent wants; none when it is done.
    pub(crate) async fn next_calls(
        &self,
        app: &App,
        turn: &WebhookTurn<'_>,
    ) -> Result<Vec<EvalStep>> {
        let (event, now) = (EventId::new(&app.ids, app.clock.now()), app.clock.now());
        let body = json!({
            "id": event, "type": EVENT, "case": turn.case, "turn": turn.turn,
            "conversation": turn.conversation, "results": turn.results,
        })
        .to_string();
        let secrets: Vec<String> = self.secret.iter().cloned().collect();
        let mut headers = webhook_signing::headers(&event, now, &body, &secrets);
        headers.retain(|(_, value)| !value.is_empty());
        let call = WebhookRequest { url: self.url.clone(), headers, body: body.into() };
        let said = match self.sender.post(&call).await {
            WebhookResponse::Status { code: 200..300, body } => body,
            WebhookResponse::Status { code, .. } => {
                return Err(Error::Conflict(format!("The agent's webhook answered {code}.")));
            }
            WebhookResponse::Failed(why) | WebhookResponse::Refused(why) => {
                return Err(Error::Conflict(format!("The agent's webhook was not reached: {why}")));
            }
        };
        let wanted: WantedCalls = serde_json::from_str(&said).map_err(|_| {
            let sentence =
                "The agent's webhook must answer with {\"calls\": [{\"call\": …, \"with\": {…}}]}.";
            Error::Conflict(sentence.into())
        })?;
        match wanted.calls.len() > EVAL_STEPS {
            true => Err(Error::Conflict(format!(
                "The agent wants more than {EVAL_STEPS} calls at once."
            ))),
            false => Ok(wanted.calls),
        }
    }
}
