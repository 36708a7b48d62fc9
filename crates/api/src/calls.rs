//! A call with an API key or an access token, the same for REST and MCP: authentication, rate limit, scope, idempotency
//! and the operation itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::actor::{Actor, Principal, authenticate, counted_as};
use base::app::{App, Cx};
use base::call_log::{self, CallRecord};
use base::concurrency::call_progress::CallProgress;
use base::concurrency::queue::Queue;
use base::error::{Error, Result, ValidationErrors};
use base::ids::BookingTypeId;
use base::rate_limit::RateStatus;
use base::request_id;
use base::security::api_key::KeyHash;
use base::security::scopes::{Scope, Scopes};
use bookings::types;
use customer_panel::PanelCase;
use db::Tx;
use model::people::agent_limits::{changes, pausing};
use model::people::{agent_calls, api_keys};
use serde_json::{Map, Value};

use crate::idempotency::{self, IdempotencyKey};
use crate::kept_arguments::{kept_arguments, kept_sentence};
use crate::operations::{Access, Operation, OperationOutput, ScopeRule, with_id};

/// Why a workspace's keys do nothing.
pub const NO_API: &str = "The API is part of the Pro and Team plans; this workspace is on Free.";

/// Bytes of an answer in which a policy's note is looked for: longer ones are lists and timelines.
const JUDGED_BYTES: usize = 4_096;

/// A request for an operation, before validation.
pub struct ApiCall {
    pub operation: &'static Operation,
    pub key: KeyHash,
    /// The conversation in the path.
    pub id: Option<String>,
    /// The input as received, where it is valid JSON: it determines the scope.
    pub raw: Value,
    /// The input after the check against the operation's fields.
    pub input: Result<Map<String, Value>, ValidationErrors>,
    pub idempotency_key: Option<IdempotencyKey>,
}

/// Counts the request, then does everything else in one transaction, so that a revoked key,
/// a changed plan or a moved conversation counts at once. What a standby answers is checked on
/// the database before. The order of checks is fixed: 401, 429, 403, 400, 404.
pub async fn call(app: &App, call: ApiCall) -> (Result<OperationOutput>, RateStatus) {
    let (key, access) = (call.key, call.operation.access);
    let record = record_of(app, &call);
    if call.operation.name == "list_calls" {
        // What this key called before is told, too.
        write_records(app.clone()).await.ok();
    }
    if let Some((ws, kind)) = booked_type(app, &call).await {
        // If they cannot be read now, what is known counts.
        let _ = bookings::freshen_calendars(app, ws, &kind).await;
    }
    if let Some(case) = panel_case(app, &call).await {
        // Where no answer comes, the call says so.
        let _ = customer_panel::answer(app, &case).await;
    }
    let checked = Arc::new(CheckedCall::new(call));
    let paused = Arc::new(AtomicBool::new(false));
    let followed = CallProgress::of_task();
    let (own, pauses, mut simulated) = (app.clone(), paused.clone(), None);
    let work = move |tx: &mut Tx<'_>, cx: &Cx<'_>| {
        if checked.simulates() && !cx.actor.livemode() {
            // Counted once, however often the transaction has to be run.
            let counted = || {
                own.limiter.announce_simulated(cx.actor.ws);
                own.limiter.take_simulated(cx.actor.ws, cx.now)
            };
            let rate: RateStatus = *simulated.get_or_insert_with(counted);
            if rate.over {
                return Err(Error::TooMany(rate));
            }
        }
        let answer = CallProgress::run(followed.as_ref(), || checked.run(tx, cx));
        if let Err(error) = &answer {
            let is_refusal = access == Access::Write && error.status() < 500;
            pauses.store(is_refusal && was_paused_here(tx, cx), Ordering::Relaxed);
        }
        let answer = answer?;
        checked.record_activity(&own, cx);
        Ok(answer)
    };
    let (result, rate) = with_key(app, key, access, work).await;
    let result = match result {
        Err(error) if paused.load(Ordering::Relaxed) => {
            Err(keep_pause(app, key).await.err().unwrap_or(error))
        }
        result => result,
    };
    keep_record(app, record, &result);
    (result, rate)
}

/// True where this very transaction paused the agent of the key.
fn was_paused_here(tx: &mut Tx<'_>, cx: &Cx<'_>) -> bool {
    match &cx.actor.who {
        Principal::Agent { id, paused: false, .. } => {
            pausing::is_paused(tx, cx.actor.ws, id).unwrap_or(false)
        }
        _ => false,
    }
}

/// Pauses the agent of a key once more, because the call that changed too much was refused in the end,
/// and its pause went with all that it did.
async fn keep_pause(app: &App, key: KeyHash) -> Result<()> {
    let own = app.clone();
    let pause = move |tx: &mut Tx<'_>| {
        let (actor, _) = authenticate(tx, &key, own.clock.now())?;
        match &actor.who {
            Principal::Agent { id, .. } => changes::pause_for_burst(tx, &own.cx(&actor), id),
            _ => Ok(()),
        }
    };
    app.store.write(pause).await
}

/// The call as it is kept, before its outcome is known.
fn record_of(app: &App, call: &ApiCall) -> CallRecord {
    let raw = match &call.input {
        Ok(input) => &Value::Object(input.clone()),
        Err(_) => &call.raw,
    };
    CallRecord {
        id: call_log::new_record_id(),
        key: call.key,
        at: app.clock.now(),
        operation: call.operation.name,
        status: call.operation.success,
        request: request_id::current(),
        subject: call.id.clone(),
        arguments: kept_arguments(raw, call.id.as_deref()),
        error: None,
        bytes: 0,
    }
}

/// Keeps what came of a call, unless the key is none. The caller does not wait for it.
fn keep_record(app: &App, mut record: CallRecord, result: &Result<OperationOutput>) {
    if let (Ok(output), None) = (result, &record.subject) {
        record.subject = conversation_in(&output.body);
    }
    if let Ok(output) = result {
        record.error = policy_in(&output.body);
    }
    if let Err(error) = result {
        if matches!(error, Error::Unauthorized) || error.is_outage() {
            return;
        }
        record.status = error.status();
        record.error = Some(kept_sentence(&error.to_string()));
    }
    let answer = match (result, &record.error) {
        (Ok(output), _) => output.body.len(),
        (Err(_), error) => error.as_ref().map_or(0, String::len),
    };
    record.bytes = i64::try_from(record.arguments.len() + answer).unwrap_or(i64::MAX);
    if app.calls.add(record) {
        app.background.start("the calls of keys", write_records(app.clone()));
    }
}

/// The conversation that a call began, as its answer names it.
fn conversation_in(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Begun {
        conversation_id: String,
    }
    // A list is none.
    let is_object = body.first() == Some(&b'{');
    let begun: Option<Begun> = is_object.then(|| serde_json::from_slice(body).ok()).flatten();
    begun.map(|begun| begun.conversation_id)
}

/// Why a message that was to be sent became a draft, as the answer says it.
fn policy_in(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Judged {
        policy: Note,
    }
    #[derive(serde::Deserialize)]
    struct Note {
        rule: String,
        sentence: String,
    }
    let is_small = body.len() <= JUDGED_BYTES && body.first() == Some(&b'{');
    let judged: Option<Judged> = is_small.then(|| serde_json::from_slice(body).ok()).flatten();
    judged.map(|Judged { policy }| kept_sentence(&format!("{}: {}", policy.rule, policy.sentence)))
}

/// Writes what waits, until nothing does.
async fn write_records(app: App) -> Result<()> {
    loop {
        let calls = app.calls.take();
        if calls.is_empty() {
            return Ok(());
        }
        let written = app.store.write(move |tx| agent_calls::write(tx, &calls)).await;
        if written.is_err() {
            app.calls.give_up();
            return written;
        }
    }
}

/// The type that a call is about to book or to move, if its key may. The call itself checks both
/// again, in its transaction.
async fn booked_type(app: &App, call: &ApiCall) -> Option<(i64, BookingTypeId)> {
    let name = call.operation.name;
    if !matches!(name, "create_booking" | "move_booking") || has_none_left(app, call.key).await {
        return None;
    }
    let text = |name: &str| Some(call.input.as_ref().ok()?.get(name)?.as_str()?.to_owned());
    let id = call.id.clone().or_else(|| text("typeId")).or_else(|| text("id"))?;
    let (own, key) = (app.clone(), call.key);
    let work = move |tx: &mut Tx<'_>| {
        let (actor, _) = authenticate(tx, &key, own.clock.now())?;
        if !scopes_of(&own.cx(&actor)).has(Scope::Send) {
            return Err(Error::NotFound("booking type"));
        }
        let kind = match name {
            "create_booking" => types::load_active(tx, &actor, &id)?.id,
            _ => bookings::load(tx, &actor, &id)?.type_id,
        };
        Ok((actor.ws, kind))
    };
    app.store.read(work).await.ok()
}

/// What an owner's app is asked for a call that reads the customer panel, if its key may.
async fn panel_case(app: &App, call: &ApiCall) -> Option<PanelCase> {
    let id = call.id.clone().filter(|_| call.operation.name == "get_customer_panel")?;
    if has_none_left(app, call.key).await {
        return None;
    }
    let (own, key) = (app.clone(), call.key);
    let work = move |tx: &mut Tx<'_>| {
        let (actor, terms) = authenticate(tx, &key, own.clock.now())?;
        let cx = &own.cx(&actor);
        if !terms.plan.has_api() || !scopes_of(cx).has(Scope::Read) {
            return Err(Error::NotFound("conversation"));
        }
        customer_panel::question(tx, cx, &id)
    };
    app.store.read(work).await.ok()
}

/// Authorizes a key for requests without an operation, such as listing tools: the same rate
/// limit and checks as a call; returns its scopes.
pub async fn admit(app: &App, key: KeyHash) -> (Result<Scopes>, RateStatus) {
    let scopes = |_: &mut Tx<'_>, cx: &Cx<'_>| Ok(scopes_of(cx).clone());
    with_key(app, key, Access::Read, scopes).await
}

/// Whether this is a key, for a caller that has to decide before it has the whole call. Nothing
/// is counted: the call itself checks the key again, in its transaction.
pub async fn check_key(app: &App, key: KeyHash) -> Result<()> {
    let now = app.clock.now();
    app.store.read(move |tx| authenticate(tx, &key, now).map(drop)).await
}

/// What a key may do, for a caller that explains a refusal. Nothing is counted.
pub async fn scopes(app: &App, key: KeyHash) -> Result<Scopes> {
    let own = app.clone();
    let scopes = move |tx: &mut Tx<'_>| {
        let (actor, _) = authenticate(tx, &key, own.clock.now())?;
        Ok(scopes_of(&own.cx(&actor)).clone())
    };
    app.store.read(scopes).await
}

/// Counts the request, and does the work of a key that is one, is not too fast, and whose
/// workspace's plan has the API.
async fn with_key<T, F>(
    app: &App,
    key: KeyHash,
    access: Access,
    mut work: F,
) -> (Result<T>, RateStatus)
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>, &Cx<'_>) -> Result<T> + Clone + Send + 'static,
{
    let counted = match counted_key(app, key).await {
        Ok(counted) => counted,
        Err(error) => return (Err(error), app.limiter.full_status()),
    };
    let rate = app.limiter.take(&counted, app.clock.now());
    let (limiting, mut counted_call) = (app.clone(), None);
    let mut admit = move |tx: &mut Tx<'_>| {
        let (actor, terms) = authenticate(tx, &key, limiting.clock.now())?;
        if rate.over {
            return Err(Error::TooMany(rate));
        }
        if !terms.plan.has_api() {
            return Err(Error::Forbidden(NO_API.into()));
        }
        if let Some(hard) = terms.calls_per_hour {
            // Counted once, however often the transaction has to be run.
            let take = || take_call(&limiting, actor.ws, hard);
            let calls: RateStatus = *counted_call.get_or_insert_with(take);
            if calls.over {
                return Err(quotas::too_many_calls(hard, calls.resets_in));
            }
        }
        Ok(actor)
    };
    let own = app.clone();
    let mut work = move |tx: &mut Tx<'_>, actor: Actor| work(tx, &own.cx(&actor));
    let result = match access {
        Access::Read => {
            let whole = move |tx: &mut Tx<'_>| {
                let actor = admit(tx)?;
                work(tx, actor)
            };
            app.store.read(whole).await
        }
        Access::ReadReplica => app.store.read_from_replica(admit, work).await,
        Access::Write => {
            let whole = move |tx: &mut Tx<'_>| {
                let actor = admit(tx)?;
                tx.wake(Queue::Pages);
                work(tx, actor)
            };
            app.store.write(whole).await
        }
    };
    let rate = match &result {
        Err(Error::Unauthorized) => {
            app.limiter.forget(&counted);
            app.limiter.full_status()
        }
        Err(Error::TooMany(over)) => *over,
        _ => {
            app.limiter.announce(&counted);
            rate
        }
    };
    if result.is_ok() && rate.remaining + 1 == rate.limit {
        mark_used(app, key);
    }
    (result, rate)
}

/// Counts a call for its whole workspace, here and on the other nodes.
fn take_call(app: &App, ws: i64, hard: i64) -> RateStatus {
    let status = app.limiter.take_call(ws, hard, app.clock.now());
    if !status.over {
        app.limiter.announce_call(ws);
    }
    status
}

/// True where the next call is one too many, so that nobody outside is asked for it.
async fn has_none_left(app: &App, key: KeyHash) -> bool {
    match counted_key(app, key).await {
        Ok(counted) => app.limiter.remaining(&counted, app.clock.now()) == 0,
        Err(_) => true,
    }
}

/// A key is counted for itself; which app a token belongs to must be looked up.
async fn counted_key(app: &App, key: KeyHash) -> Result<KeyHash> {
    if !key.is_access_token() {
        return Ok(key);
    }
    let now = app.clock.now();
    app.store.read(move |tx| counted_as(tx, &key, now)).await
}

/// Written in the background with the first call of a minute.
fn mark_used(app: &App, key: KeyHash) {
    let (store, now) = (app.store.clone(), app.clock.now());
    app.background.start("key usage", async move {
        store.write(move |tx| api_keys::mark_used(tx, &key, now)).await
    });
}

/// A call with validated input or its errors.
struct CheckedCall {
    operation: &'static Operation,
    scope: Scope,
    input: Result<Value, ValidationErrors>,
    idempotency_key: Option<(IdempotencyKey, Vec<u8>)>,
}

impl CheckedCall {
    fn new(call: ApiCall) -> CheckedCall {
        let operation = call.operation;
        let scope = operation.scope.scope(&call.raw);
        let input = call.input.map(|input| with_id(input, call.id.as_deref()));
        let idempotency_key = match (&input, call.idempotency_key) {
            (Ok(input), Some(key)) if operation.takes_idempotency_key() => {
                Some((key, idempotency::fingerprint(operation, input)))
            }
            _ => None,
        };
        CheckedCall { operation, scope, input, idempotency_key }
    }

    fn simulates(&self) -> bool {
        matches!(self.operation.scope, ScopeRule::InSandbox(_))
    }

    /// People with the conversation open see the agent's presence for a while.
    fn record_activity(&self, app: &App, cx: &Cx<'_>) {
        let Principal::Agent { id: agent, name, .. } = &cx.actor.who else { return };
        let id = self.input.as_ref().ok().and_then(|input| input["id"].as_str());
        let Some(id) = id.filter(|_| cx.actor.livemode()) else { return };
        let writes = self.operation.access == Access::Write;
        let news = app.agents.note(cx.actor.ws, id, agent, name, writes, cx.now);
        if let Some(news) = news.filter(|_| app.store.is_shared()) {
            app.store.notify_others(news);
        }
    }

    fn run(&self, tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<OperationOutput> {
        if self.simulates() && cx.actor.livemode() {
            return Err(Error::Forbidden(
                "This works in the sandbox alone. Use a test key (rk_test_…).".into(),
            ));
        }
        // Pausing once more changes nothing and is answered alike.
        let is_pause = self.operation.name == "pause_agent";
        if self.operation.access == Access::Write && is_paused(cx) && !is_pause {
            return Err(Error::AgentPaused);
        }
        let scopes = scopes_of(cx);
        if !scopes.has(self.scope) {
            let entirely = !self.operation.scope.is_met_at_all(scopes);
            return Err(Error::Lacks { scope: self.scope, entirely });
        }
        let input = self.input.clone().map_err(Error::Invalid)?;
        let Some((key, fingerprint)) = &self.idempotency_key else {
            return (self.operation.run)(tx, cx, input);
        };
        if let Some(answer) = idempotency::recall(tx, cx, key, fingerprint)? {
            return Ok(answer);
        }
        let answer = (self.operation.run)(tx, cx, input)?;
        idempotency::keep(tx, cx, key, fingerprint, &answer)?;
        Ok(answer)
    }
}

fn is_paused(cx: &Cx<'_>) -> bool {
    matches!(cx.actor.who, Principal::Agent { paused: true, .. })
}

/// A person or the service has none: only keys make calls.
fn scopes_of<'a>(cx: &'a Cx<'_>) -> &'a Scopes {
    static NONE: Scopes = Scopes::none();
    match &cx.actor.who {
        Principal::Agent { scopes, .. } => scopes,
        Principal::Person { .. } | Principal::System | Principal::Rule { .. } => &NONE,
    }
}
