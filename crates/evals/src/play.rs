//! Plays a case: the customer writes to the sandbox, the agent works, and what it did is graded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use api::operations::{Operation, with_id};
use base::actor::{Actor, Circle, Circles, Principal};
use base::app::{App, Cx};
use base::email_address::EmailAddress;
use base::error::{Error, Result};
use base::ids::{AgentId, ConversationId};
use base::limits::{EVAL_CASES, EVAL_ROUNDS};
use base::security::agent_policy::{AgentPolicy, PolicyProfile};
use base::security::scopes::{Scope, Scopes};
use base::states::Removal;
use db::Tx;
use jobs::ReplyModel;
use model::{conversations, erasure};
use outbound::removals;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::case::{EvalCase, EvalMail, EvalStep, INBOUND, find_operation};
use crate::grading::{EvalVerdict, grade};
use crate::judging::judge;
use crate::outcome::{
    EvalActivity, EvalCall, EvalOutcome, load_activity, load_calls, load_outcome,
};
use crate::runs::EvalResult;
use crate::webhook_agent::{EvalWebhook, WebhookTurn};

/// The operation by which an agent outside is told what it is about.
const READ: &str = "get_conversation";
/// The scripted player's id; it has no key, and nobody can call as it.
const SCRIPT_ID: &str = "agt_script";
const SCRIPT_NAME: &str = "Script";
/// The time between two looks at what an agent does.
const LOOK: Duration = Duration::from_millis(250);

/// Who answers the customers.
#[derive(Clone)]
pub struct EvalPlayer {
    pub id: AgentId,
    pub name: String,
    pub way: EvalWay,
    /// Answers the questions of cases; without it they are not asked.
    pub judge: Option<Arc<dyn ReplyModel>>,
}

/// How somebody plays.
#[derive(Clone)]
pub enum EvalWay {
    /// By the steps of the case, which shows that the checks can be met.
    Script,
    /// By itself, with a test key.
    Key,
    /// It is asked at a webhook, and its calls are made for it.
    Webhook(EvalWebhook),
}

/// How long an agent is waited for.
#[derive(Clone, Copy, Debug)]
pub struct EvalPace {
    /// After each mail.
    pub wait: Duration,
    /// It has come to rest when it did nothing for this long after it did something that ends its work.
    pub rest: Duration,
}

impl EvalPace {
    /// As the app runs them.
    pub const USUAL: EvalPace =
        EvalPace { wait: Duration::from_secs(60), rest: Duration::from_secs(2) };
}

impl EvalPlayer {
    /// The player of the steps that cases have themselves.
    pub fn script() -> Result<EvalPlayer> {
        let id = AgentId::parse(SCRIPT_ID).ok_or(Error::NotFound("agent"))?;
        Ok(EvalPlayer { id, name: SCRIPT_NAME.into(), way: EvalWay::Script, judge: None })
    }

    /// An agent outside, under this name.
    pub fn at_webhook(name: &str, webhook: EvalWebhook) -> Result<EvalPlayer> {
        let script = EvalPlayer::script()?;
        Ok(EvalPlayer { name: name.to_owned(), way: EvalWay::Webhook(webhook), ..script })
    }

    /// The agent of a test key, by its name or id.
    pub fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, name: &str) -> Result<EvalPlayer> {
        cx.actor.must_administer()?;
        let found: Vec<(AgentId, String)> = tx.all(
            "SELECT id, name FROM agents
             WHERE ws = ?1 AND livemode = FALSE AND revoked_at IS NULL AND (id = ?2 OR name = ?2)
             ORDER BY created_at, id LIMIT 2",
            &[&cx.actor.ws, &name],
        )?;
        match found.as_slice() {
            [(id, name)] => {
                let (id, name) = (id.clone(), name.clone());
                Ok(EvalPlayer { id, name, way: EvalWay::Key, judge: None })
            }
            [] => Err(Error::Conflict(format!(
                "No test key is called {name}. Make one with `mailroom key create --test`."
            ))),
            _ => Err(Error::Conflict(format!(
                "Several test keys are called {name}. Name one by its id (agt_…)."
            ))),
        }
    }

    fn actor(&self, operator: &Actor) -> Actor {
        let who = Principal::Agent {
            id: self.id.clone(),
            name: self.name.clone(),
            scopes: Scopes::new(Scope::USUAL),
            policy: Arc::new(AgentPolicy::of(PolicyProfile::Program)),
            paused: false,
        };
        Actor { who, circles: Circles::only(Circle::sandbox()), ..operator.clone() }
    }
}

/// Plays a case from its first mail to its verdicts.
pub async fn play_case(
    app: &App,
    operator: &Actor,
    player: &EvalPlayer,
    case: &EvalCase,
    pace: EvalPace,
) -> Result<EvalResult> {
    let stage = Stage { app, operator, player, pace };
    if let Some(first) = case.mails.first().cloned() {
        let clear = move |tx: &mut Tx<'_>, cx: &Cx<'_>| clear_stage(tx, cx, &first);
        app.act(&stage.customers(), clear).await?;
    }
    let (since, begun) = (app.clock.now(), Instant::now());
    let mut conversation: Option<ConversationId> = None;
    let (mut calls, mut is_idle, mut unreached) = (Vec::new(), false, None);
    for (at, mail) in case.mails.iter().enumerate() {
        let before = match &conversation {
            Some(id) => stage.activity(id).await?.acts,
            None => 0,
        };
        let id = stage.write(mail, conversation.as_ref()).await?;
        match &player.way {
            EvalWay::Script => {
                let steps = case.steps_after(at);
                calls.extend(stage.play_steps(steps, &id).await.into_iter().map(|one| one.call));
            }
            EvalWay::Key => is_idle |= !stage.comes_to_rest(&id, before).await?,
            EvalWay::Webhook(webhook) => {
                let turn = stage.play_turn(webhook, case, at + 1, &id, &mut calls).await;
                unreached = unreached.or(turn.err());
            }
        }
        conversation = Some(id);
    }
    let id = conversation.ok_or(Error::NotFound("conversation"))?;
    let is_scripted = matches!(player.way, EvalWay::Script);
    let took = if is_scripted { Duration::ZERO } else { begun.elapsed() };
    let (own, agent) = (id.clone(), player.id.clone());
    let load = move |tx: &mut Tx<'_>, cx: &Cx<'_>| -> Result<EvalOutcome> {
        let mut outcome = load_outcome(tx, cx, &own, &agent)?;
        outcome.calls = load_calls(tx, cx, &own, &agent, since)?;
        Ok(outcome)
    };
    let mut outcome = app.read(operator, load).await?;
    outcome.calls.extend(calls);
    let mut verdicts = grade(case, &outcome);
    verdicts.extend(judge(player.judge.as_deref(), case, &outcome).await);
    verdicts.extend(unreached.map(|error| EvalVerdict {
        expected: "must answer at its webhook".into(),
        seen: error.to_string(),
        ..EvalVerdict::default()
    }));
    let idle = is_idle && !case.nothing_to_do;
    Ok(EvalResult {
        name: case.name.clone(),
        passed: !idle && verdicts.iter().all(|verdict| verdict.passed),
        idle,
        took_ms: i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
        verdicts,
        outcome,
    })
}

/// Erases what the sandbox has of the same sender and subject, which the mail would go on with otherwise:
/// each time the case begins as the first.
fn clear_stage(tx: &mut Tx<'_>, cx: &Cx<'_>, mail: &EvalMail) -> Result<()> {
    let earlier: Vec<(ConversationId,)> = tx.all(
        "SELECT id FROM conversations
         WHERE ws = ?1 AND contact_email = ?2 AND subject = ?3 AND circle = 'sandbox'
           AND merged_into IS NULL LIMIT ?4",
        &[
            &cx.actor.ws,
            &EmailAddress::new(&mail.from),
            &mail.subject.as_deref().unwrap_or_default().trim(),
            &EVAL_CASES,
        ],
    )?;
    for (id,) in &earlier {
        let mut conversation = conversations::load_itself(tx, cx.actor, id.as_str())?;
        // What was to leave is stopped, and the counters of its list know that it goes.
        removals::set_removed(tx, cx, &mut conversation, Some(Removal::Trash))?;
        erasure::overwriting(tx, |tx| erasure::erase(tx, cx, conversation.num, id))?;
    }
    Ok(())
}

/// Where a case is played.
struct Stage<'a> {
    app: &'a App,
    operator: &'a Actor,
    player: &'a EvalPlayer,
    pace: EvalPace,
}

/// A call that was made for a player, and what it was answered.
struct PlayedStep {
    call: EvalCall,
    answer: String,
}

impl PlayedStep {
    fn result(&self) -> Value {
        let body = serde_json::from_str(&self.answer).unwrap_or_else(|_| json!(self.answer));
        json!({ "call": self.call.operation, "status": self.call.status, "body": body })
    }
}

/// Where a simulated mail was filed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FiledCaseMail {
    conversation_id: String,
}

impl Stage<'_> {
    /// Mailroom at work in the sandbox, where mail arrives.
    fn customers(&self) -> Actor {
        let (ws, workspace) = (self.operator.ws, self.operator.workspace.clone());
        Actor::system(ws, workspace, Circle::sandbox())
    }

    /// The customer writes, in the same conversation from the second mail on.
    async fn write(
        &self,
        mail: &EvalMail,
        conversation: Option<&ConversationId>,
    ) -> Result<ConversationId> {
        let input = mail.input(conversation.map(ConversationId::as_str));
        let run = find_operation(INBOUND)?.run;
        let filed =
            self.app.act(&self.customers(), move |tx, cx| run(tx, cx, input.clone())).await?;
        let filed: FiledCaseMail = serde_json::from_slice(&filed.body)?;
        ConversationId::parse(&filed.conversation_id).ok_or(Error::NotFound("conversation"))
    }

    /// Plays steps one after the other. One that is refused is a call with that status, as an agent's is.
    async fn play_steps<'s>(
        &self,
        steps: impl Iterator<Item = &'s EvalStep>,
        conversation: &ConversationId,
    ) -> Vec<PlayedStep> {
        let actor = self.player.actor(self.operator);
        let mut played = Vec::new();
        for step in steps {
            let (status, answer) = match self.play_step(&actor, step, conversation).await {
                Ok((status, body)) => (status, String::from_utf8_lossy(&body).into_owned()),
                Err(error) => (error.status(), error.to_string()),
            };
            let asked = Value::Object(step.with.clone()).to_string();
            let bytes = i64::try_from(asked.len() + answer.len()).unwrap_or(i64::MAX);
            let (operation, status) = (step.call.clone(), i64::from(status));
            played.push(PlayedStep { call: EvalCall { operation, status, bytes }, answer });
        }
        played
    }

    /// Asks an agent outside for calls and makes them, until it wants no more.
    async fn play_turn(
        &self,
        webhook: &EvalWebhook,
        case: &EvalCase,
        turn: usize,
        id: &ConversationId,
        calls: &mut Vec<EvalCall>,
    ) -> Result<()> {
        let actor = self.player.actor(self.operator);
        let mut results: Vec<Value> = Vec::new();
        for _ in 0..EVAL_ROUNDS {
            let read = EvalStep { call: READ.into(), after: None, with: Map::new() };
            let (_, body) = self.play_step(&actor, &read, id).await?;
            let conversation = serde_json::from_slice(&body)?;
            let told = WebhookTurn { case: &case.name, turn, conversation, results: &results };
            let steps = webhook.next_calls(self.app, &told).await?;
            if steps.is_empty() {
                break;
            }
            let played = self.play_steps(steps.iter(), id).await;
            results = played.iter().map(PlayedStep::result).collect();
            calls.extend(played.into_iter().map(|one| one.call));
        }
        Ok(())
    }

    async fn play_step(
        &self,
        actor: &Actor,
        step: &EvalStep,
        conversation: &ConversationId,
    ) -> Result<(u16, Vec<u8>)> {
        let (operation, fields) = step.input()?;
        check_scope(actor, operation, &step.with)?;
        let id = operation.has_id().then(|| conversation.as_str());
        let input: Value = with_id(fields, id);
        let run = operation.run;
        let output = self.app.act(actor, move |tx, cx| run(tx, cx, input.clone())).await?;
        Ok((operation.success, output.body))
    }

    /// Waits until the agent did something that ends its work, and then nothing for a while. False when it
    /// did not in time.
    async fn comes_to_rest(&self, conversation: &ConversationId, before: i64) -> Result<bool> {
        let begun = Instant::now();
        let (mut last, mut changed) = (EvalActivity::default(), begun);
        loop {
            let activity = self.activity(conversation).await?;
            if activity != last {
                (last, changed) = (activity, Instant::now());
            }
            let has_acted = activity.acts > before;
            if has_acted && changed.elapsed() >= self.pace.rest {
                return Ok(true);
            }
            if begun.elapsed() >= self.pace.wait {
                return Ok(has_acted);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn activity(&self, conversation: &ConversationId) -> Result<EvalActivity> {
        let (id, agent) = (conversation.clone(), self.player.id.clone());
        let load = move |tx: &mut Tx<'_>, cx: &Cx<'_>| load_activity(tx, cx, &id, &agent);
        self.app.read(self.operator, load).await
    }
}

/// Refuses what a key of the player's scopes could not do: its calls do not come by the API, which checks that.
fn check_scope(actor: &Actor, operation: &Operation, with: &Map<String, Value>) -> Result<()> {
    let Principal::Agent { scopes, .. } = &actor.who else { return Ok(()) };
    let scope = operation.scope.scope(&Value::Object(with.clone()));
    if scopes.has(scope) {
        return Ok(());
    }
    let entirely = !operation.scope.is_met_at_all(scopes);
    Err(Error::Lacks { scope, entirely })
}
