//! What a supervisor asks: is the process there, and can it work?

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use inbox::App;

pub fn router(app: App) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(app)
}

/// Ready when the store answers.
async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    let asked = app.store.read(|tx| tx.one::<(i64,)>("SELECT CAST(1 AS BIGINT)", &[])).await;
    match asked {
        Ok::<_, db::Error>(_) => (StatusCode::OK, "ready\n"),
        Err(error) => {
            tracing::error!(%error, "the store does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        }
    }
}
