//! Long calls of clients that want to know how far they are: the response is a stream of events then, notifications
//! of progress and the result. A client that hangs up, or cancels the call, gets nothing of it done.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use ::api::operations::Operation;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use base::concurrency::call_progress::CallProgress;
use base::request_id;
use base::security::api_key::KeyHash;
use hyper::body::{Body as HttpBody, Frame};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracing::Instrument;

use super::{ApiResponse, Asked, McpServer, make_call};

/// Events that wait for a slow client.
const EVENTS_WAITING: usize = 16;
/// Characters of a token that a client chooses.
const TOKEN_CHARS: usize = 200;
/// Calls whose progress is told at one time; others are answered as a whole.
const FOLLOWED_CALLS: usize = 1_000;

/// The token of a client that wants to be told of progress (`_meta.progressToken`).
pub fn progress_token(params: &Map<String, Value>) -> Option<Value> {
    let token = params.get("_meta")?.get("progressToken")?;
    let is_token = match token {
        Value::String(text) => text.chars().count() <= TOKEN_CHARS,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    };
    is_token.then(|| token.clone())
}

/// True for a client that reads a stream of events.
pub fn takes_events(headers: &HeaderMap) -> bool {
    let wanted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    wanted.flat_map(|text| text.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range.eq_ignore_ascii_case("text/event-stream")
    })
}

/// The calls that are followed here, by key and request id.
#[derive(Default)]
pub struct FollowedCalls(Mutex<HashMap<(KeyHash, String), Weak<CallProgress>>>);

impl FollowedCalls {
    /// `None` where too many are.
    fn add(self: &Arc<Self>, key: KeyHash, id: &Value) -> Option<FollowedCall> {
        let mut calls = self.lock();
        if calls.len() >= FOLLOWED_CALLS {
            return None;
        }
        let progress = Arc::new(CallProgress::default());
        let place = (key, id.to_string());
        calls.insert(place.clone(), Arc::downgrade(&progress));
        Some(FollowedCall { progress, place, calls: Arc::clone(self) })
    }

    /// `notifications/cancelled`: a key cancels its own calls alone, at the process that makes them.
    pub fn cancel(&self, key: KeyHash, params: &Map<String, Value>) {
        let Some(id) = params.get("requestId") else { return };
        let found = self.lock().get(&(key, id.to_string())).and_then(Weak::upgrade);
        if let Some(progress) = found {
            progress.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(KeyHash, String), Weak<CallProgress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is being followed; it is not any more when this is dropped.
struct FollowedCall {
    progress: Arc<CallProgress>,
    place: (KeyHash, String),
    calls: Arc<FollowedCalls>,
}

impl Drop for FollowedCall {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        let own = Arc::as_ptr(&self.progress);
        // Another call may have the same id by now.
        if calls.get(&self.place).is_some_and(|known| known.as_ptr() == own) {
            calls.remove(&self.place);
        }
    }
}

/// The stream that a response has in place of its body.
#[derive(Default)]
pub struct EventStream(Mutex<Option<Body>>);

impl EventStream {
    fn fill(&self, events: mpsc::Receiver<Bytes>) {
        let body = Body::new(Events(events));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }

    /// Puts the stream into the response, if there is one.
    pub fn put_into(self, mut response: Response<Body>) -> Response<Body> {
        let body = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(body) = body {
            *response.body_mut() = body;
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        }
        response
    }
}

/// Events that are not sent yet.
struct Events(mpsc::Receiver<Bytes>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}

/// Makes a call and tells its progress. One that is done before there is any is answered as every other.
pub async fn follow_call(
    server: &Arc<McpServer>,
    key: KeyHash,
    asked: &Asked,
    (operation, arguments): (&'static Operation, Value),
    (token, stream): (Value, &EventStream),
) -> ApiResponse {
    let Some(followed) = server.followed.add(key, &asked.id) else {
        return make_call(server, key, asked, operation, arguments).await;
    };
    let progress = Arc::clone(&followed.progress);
    let (own, asked, of_call) = (Arc::clone(server), asked.clone(), Arc::clone(&progress));
    let id = request_id::current();
    let call = async move {
        let call = make_call(&own, key, &asked, operation, arguments);
        request_id::scope(id, of_call.follow(call)).await
    };
    let mut call = tokio::spawn(call.in_current_span());
    let begun = tokio::select! {
        biased;
        so_far = progress.next_step() => so_far,
        response = &mut call => return response.unwrap_or_else(|_| failure(server)),
    };
    let (sender, events) = mpsc::channel(EVENTS_WAITING);
    tokio::spawn(tell(followed, call, sender, token, begun).in_current_span());
    stream.fill(events);
    let rate = server.context.app.limiter.full_status();
    ApiResponse { status: StatusCode::OK, body: Bytes::new(), rate, extra: Vec::new() }
}

fn failure(server: &McpServer) -> ApiResponse {
    let sentence = "Something failed on our side. Try again shortly.";
    server.context.refuse(StatusCode::INTERNAL_SERVER_ERROR, sentence)
}

/// Sends what is done so far, and in the end the result.
async fn tell(
    followed: FollowedCall,
    mut call: JoinHandle<ApiResponse>,
    sender: mpsc::Sender<Bytes>,
    token: Value,
    begun: (u64, u64),
) {
    let progress = &followed.progress;
    let mut told = 0;
    let mut so_far = begun;
    loop {
        let (done, total) = so_far;
        // Progress only ever grows, also where a transaction had to begin anew.
        if told == 0 || done + 1 > told {
            told = done + 1;
            let news = json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": { "progressToken": token, "progress": told, "total": total + 1 },
            });
            let _ = sender.send(event(news.to_string().as_bytes())).await;
        }
        so_far = tokio::select! {
            biased;
            () = sender.closed() => {
                progress.cancel();
                let _ = call.await;
                return;
            }
            so_far = progress.next_step() => so_far,
            response = &mut call => {
                if let Ok(response) = response {
                    let _ = sender.send(event(&response.body)).await;
                }
                return;
            }
        };
    }
}

/// One event of a stream. JSON has no line breaks here.
fn event(message: &[u8]) -> Bytes {
    let mut event = b"event: message\ndata: ".to_vec();
    event.extend_from_slice(message);
    event.extend_from_slice(b"\n\n");
    event.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_a_short_text_or_a_whole_number() {
        let token = |token: Value| {
            let params = json!({ "_meta": { "progressToken": token } });
            progress_token(params.as_object().expect("an object"))
        };
        assert_eq!(token(json!("a")), Some(json!("a")));
        assert_eq!(token(json!(7)), Some(json!(7)));
        for wrong in [json!(null), json!(1.5), json!({}), json!("x".repeat(TOKEN_CHARS + 1))] {
            assert_eq!(token(wrong), None);
        }
        assert_eq!(progress_token(&Map::new()), None);
    }

    #[test]
    fn a_key_cancels_its_own_call_and_no_other() {
        let calls = Arc::new(FollowedCalls::default());
        let key = |text: &str| KeyHash::of(text).expect("a key");
        let (one, two) =
            (format!("rk_test_{}", "a".repeat(32)), format!("rk_test_{}", "b".repeat(32)));
        let (Some(_), Some(_)) = (KeyHash::of(&one), KeyHash::of(&two)) else { return };
        let followed = calls.add(key(&one), &json!(7)).expect("room");
        let params = json!({ "requestId": 7 });
        let params = params.as_object().expect("an object");
        let is_cancelled = || {
            CallProgress::run(Some(&followed.progress), || {
                base::concurrency::call_progress::step(1, 2).is_err()
            })
        };
        calls.cancel(key(&two), params);
        assert!(!is_cancelled());
        calls.cancel(key(&one), params);
        assert!(is_cancelled());
        drop(followed);
        assert!(calls.lock().is_empty());
    }
}
