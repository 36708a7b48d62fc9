//! The domain's tests call operations without HTTP. Such a call answers as REST does.

use std::collections::BTreeSet;

use api::operations::Method;
use serde_json::{Value, json};
use testing::{ApiClient, DirectClient, TestCall};

use super::{ALL, a_conversation, every_op};
use crate::support::{TestApp, TestKey, nowhere, on_both};

on_both!(a_call_without_http_answers_as_rest_does);

async fn a_call_without_http_answers_as_rest_does(app: TestApp) {
    let id = a_conversation(&app).await;
    app.mail("ann@x.example", "Shade", "It is torn.").await;
    let (all, read, revoked) = (app.key(ALL).await, app.key("read").await, app.key(ALL).await);
    app.revoke(&revoked).await;
    let mut statuses = BTreeSet::new();
    // Each handover writes a note of its own, the calls of before are others each time, and what is
    // deleted is gone.
    let differs = ["hand_over", "list_calls"];
    for op in every_op().filter(|op| !differs.contains(&op.name) && op.method != "DELETE") {
        let path = op.at(&id);
        if op.method == "GET" {
            for query in ["", "?limit=1", "?limit=0", "?limit=1&view=all&q=lamp"] {
                statuses.insert(same(&app, &all, &format!("{path}{query}"), None).await);
            }
            statuses.insert(same(&app, &revoked, &path, None).await);
            statuses.insert(same(&app, &read, &op.at(&nowhere()), None).await);
        } else {
            for (key, path, body) in [
                (&revoked, &path, op.json()),
                (&read, &path, op.json()),
                (&all, &path, json!({ "body": 1, "to": 1, "send": 1, "status": 1, "add": 1 })),
                (&all, &op.at(&nowhere()), op.json()),
            ] {
                if op.has_id() || key.id != all.id {
                    statuses.insert(same(&app, key, path, Some(body)).await);
                }
            }
        }
    }
    let app = app.with_rate(0);
    statuses.insert(same(&app, &read, "/me", None).await);
    assert_eq!(statuses, BTreeSet::from([200, 400, 401, 403, 404, 429]));
}

/// Asks in both ways and answers the status.
async fn same(app: &TestApp, key: &TestKey, path: &str, body: Option<Value>) -> u16 {
    let method = if body.is_some() { Method::Post } else { Method::Get };
    let rest = match body.clone() {
        Some(body) => app.post(key, path, body).await,
        None => app.get(key, path).await,
    };
    let (path, body) = (path.to_owned(), body.unwrap_or_default());
    let call = TestCall { method, path: path.clone(), key: key.key.clone(), body };
    let direct = DirectClient.call(&app.app, call).await;
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(
        (direct.status, told(&direct.bytes), &direct.next),
        (rest.status, told(&rest.bytes), &rest.next),
        "{path}"
    );
    rest.status
}
