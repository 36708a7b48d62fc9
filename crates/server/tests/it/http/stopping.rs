//! The server stops within seconds, whatever is open.

use tokio::io::AsyncWriteExt;

use super::*;

#[tokio::test]
async fn answers_without_an_end_and_idle_clients_hold_nobody_up() {
    let server = TestServer::start(HttpLimits { grace: LONG, ..patient() }).await;
    let mut endless = server.asks("/endless").await;
    let (mut silent, mut idle) = (server.connect().await, server.asks("/short").await);
    let mut half = server.connect().await;
    half.write_all(b"PRI").await.unwrap();
    // The server has seen them all once it has answered another.
    server.asks("/short").await;
    server.stop().await;
    hears(&mut endless, "0\r\n\r\n").await;
    is_over(&mut silent).await;
    is_over(&mut idle).await;
    is_over(&mut half).await;
}

#[tokio::test]
async fn what_does_not_end_by_itself_is_ended() {
    let server = TestServer::start(patient()).await;
    let mut hanging = server.connect().await;
    hanging.write_all(b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut pieces = server.asks("/pieces").await;
    server.stop().await;
    is_over(&mut hanging).await;
    is_over(&mut pieces).await;
}
