//! Silent and slow connections are closed.

use tokio::io::AsyncWriteExt;

use super::*;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[tokio::test]
async fn a_client_that_sends_nothing_is_hung_up_on() {
    let server = TestServer::start(HttpLimits { first_byte: SHORT, ..patient() }).await;
    is_over(&mut server.connect().await).await;
}

#[tokio::test]
async fn a_client_that_does_not_finish_its_first_head_is_hung_up_on() {
    let server = TestServer::start(HttpLimits { first_head: SHORT, ..patient() }).await;
    for beginning in [&b"G"[..], b"PRI * HT", b"GET /short HTTP/1.1\r\nHost: x\r\n", PREFACE] {
        let mut client = server.connect().await;
        client.write_all(beginning).await.unwrap();
        is_over(&mut client).await;
    }
}

#[tokio::test]
async fn a_head_that_trickles_in_does_not_put_the_deadline_off() {
    let server = TestServer::start(HttpLimits { first_head: SHORT, ..patient() }).await;
    let mut client = server.connect().await;
    client.write_all(b"GET /short HTTP/1.1\r\nX: ").await.unwrap();
    // A byte again and again, slowly, for as long as the server does not hang up.
    let trickle = async {
        while !matches!(timeout(SHORT / 20, client.read(&mut [0; 100])).await, Ok(Ok(0) | Err(_))) {
            let _ = client.write_all(b"x").await;
        }
    };
    timeout(PATIENCE, trickle).await.expect("it is hung up on");
}

#[tokio::test]
async fn a_client_that_asks_no_more_is_hung_up_on() {
    for limits in
        [HttpLimits { next_head: SHORT, ..patient() }, HttpLimits { idle: SHORT, ..patient() }]
    {
        let server = TestServer::start(limits).await;
        is_over(&mut server.asks("/short").await).await;
    }
}

#[tokio::test]
async fn an_http_2_client_that_does_not_say_that_it_is_there_is_hung_up_on() {
    let server = TestServer::start(HttpLimits { ping: SHORT, ..patient() }).await;
    let mut client = server.connect().await;
    client.write_all(PREFACE).await.unwrap();
    is_over(&mut client).await;
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_hung_up_on() {
    let server = TestServer::start(HttpLimits { idle: SHORT, ..patient() }).await;
    let stalled = server.asks("/long").await;
    // It is cut off while it does not read: what it reads later ends before the answer does.
    for _ in 0..3 {
        is_over(&mut server.asks("/short").await).await;
    }
    let (mut stalled, mut read) = (stalled, 0);
    let mut piece = vec![0; 1024 * 1024];
    while let Ok(count @ 1..) = timeout(PATIENCE, stalled.read(&mut piece)).await.expect("an end") {
        read += count;
    }
    assert!(read < 64 * 1024 * 1024, "{read}");
}

#[tokio::test]
async fn a_page_that_waits_for_us_stays_open() {
    let server = TestServer::start(HttpLimits { idle: SHORT, ..patient() }).await;
    let mut live = server.asks("/pieces").await;
    // One that asked at the same time and waits for nothing is gone by now, the other is there.
    is_over(&mut server.asks("/short").await).await;
    is_over(&mut server.asks("/short").await).await;
    server.next_piece.notify_one();
    hears(&mut live, "piece").await;
}

#[tokio::test]
async fn many_silent_clients_make_room_for_one_that_asks() {
    let crowds = [
        HttpLimits { waiting: 10, ..patient() },
        HttpLimits { connections: 10, waiting: 1_000, ..patient() },
    ];
    for limits in crowds {
        let server = TestServer::start(limits).await;
        let mut live = server.asks("/pieces").await;
        let mut silent = Vec::new();
        for _ in 0..40 {
            silent.push(server.connect().await);
            hears_short(&server).await;
        }
        is_over(&mut silent[0]).await;
        server.next_piece.notify_one();
        hears(&mut live, "piece").await;
    }
}

async fn hears_short(server: &TestServer) {
    let mut client = server.asks("/short").await;
    hears(&mut client, "short").await;
}

#[tokio::test]
async fn when_all_are_being_served_a_further_one_is_turned_away() {
    let server = TestServer::start(HttpLimits { connections: 3, ..patient() }).await;
    let served = [server.asks("/pieces").await, server.asks("/pieces").await];
    let third = server.asks("/pieces").await;
    is_over(&mut server.connect().await).await;
    drop(third);
    let answered = crate::support::eventually(async || {
        let mut client = server.connect().await;
        let _ = client.write_all(b"GET /short HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let mut piece = [0; 1];
        matches!(client.read(&mut piece).await, Ok(1))
    });
    answered.await;
    drop(served);
}
