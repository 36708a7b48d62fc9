//! What a supervisor asks: is the process there, and can it work?

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use inbox::App;

use crate::quiet::{QUIET_SENTENCE, QuietMode};

pub fn router(app: App, quiet: QuietMode) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state((app, quiet))
}

/// Ready when the store answers. A quiet server is ready, and says that it is quiet.
async fn ready(State((app, quiet)): State<(App, QuietMode)>) -> (StatusCode, String) {
    let asked = app.store.read(|tx| tx.one::<(i64,)>("SELECT CAST(1 AS BIGINT)", &[])).await;
    match asked {
        Ok::<_, db::Error>(_) if quiet.is_quiet() => {
            (StatusCode::OK, format!("ready\n{QUIET_SENTENCE}\n"))
        }
        Ok(_) => (StatusCode::OK, "ready\n".to_owned()),
        Err(error) => {
            tracing::error!(%error, "the store does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n".to_owned())
        }
    }
}
