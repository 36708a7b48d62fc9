//! A proxy that the environment names would dial in the courier's place, and is not asked.

use std::env;
use std::process::Stdio;
use std::thread;

use tokio::process::Command;

use super::receiver::{Authority, HTTP1, Receiver, answer};
use super::*;

const VARIABLES: &[&str] =
    &["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const IN_THE_CHILD: &str = "COURIER_TEST_HAS_A_PROXY";

/// A process cannot safely change its own environment, so the test runs itself in another one.
#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked() {
    if env::var_os(IN_THE_CHILD).is_some() {
        return posts_arrive().await;
    }
    let proxy = Receiver::raw(OUTSIDE, |_| async {}).await;
    let this_test = thread::current().name().unwrap().to_owned();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", &this_test]).env(IN_THE_CHILD, "1").env_remove("NO_PROXY");
    for variable in VARIABLES {
        child.env(variable, format!("http://127.0.0.1:{}", proxy.port));
    }
    let output = child.stdin(Stdio::null()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    assert_eq!(proxy.connections(), 0);
}

async fn posts_arrive() {
    let authority = Authority::new();
    let secure = Receiver::answering(&authority, HTTP1, || answer(200, "")).await;
    let webhook_sender = courier_outside(&authority, LONG);
    assert_eq!(post(&webhook_sender, secure.url()).await, status(200, ""));

    let plain = Receiver::plain(OUTSIDE, || answer(200, "")).await;
    let ssrf_guard = SsrfGuard::new(Script::always(&[OUTSIDE]), SsrfRules::new(true));
    let webhook_sender = HttpWebhookSender::new(ssrf_guard, authority.roots(), LONG).unwrap();
    for host in [NAME, "127.0.0.1"] {
        let url = format!("http://{host}:{}/", plain.port);
        assert_eq!(post(&webhook_sender, url).await, status(200, ""));
    }
}
