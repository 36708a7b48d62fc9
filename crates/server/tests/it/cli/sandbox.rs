//! `listen --try-sandbox` plays a conversation through, every time anew.

use testing::PATIENCE;
use tokio::process::Command;
use tokio::time::timeout;

use super::Operator;

#[tokio::test]
async fn the_sandbox_can_be_tried_again_and_again() {
    let operator = Operator::set_up();
    let key = ["key", "create", "--name=Robo", "--scopes=read,write,send", "--test"];
    let made = operator.json(&[&key[..], &["--by=olive@acme.example"]].concat());
    let served = operator.serve(&[]);
    let server = format!("--server=http://{}", served.address);
    for _ in 0..2 {
        let args = ["listen", &server, "--try-sandbox", "--key", made["key"].as_str().unwrap()];
        let mut listen = Command::from(operator.command(&args));
        let ended = timeout(PATIENCE, listen.kill_on_drop(true).output()).await;
        let said = ended.unwrap_or_else(|_| panic!("it never ended")).unwrap();
        let out = String::from_utf8(said.stdout).unwrap();
        assert!(said.status.success(), "{out} {}", String::from_utf8_lossy(&said.stderr));
        let (sent, replied) = (out.find("\"message.sent\""), out.find("\"client.replied\""));
        assert!(sent.is_some() && sent < replied, "our answer left, then they wrote back: {out}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named_and_so_is_the_option() {
    let operator = Operator::set_up();
    // Nothing listens on the port of the discard protocol here.
    let args = ["listen", "--server=http://127.0.0.1:9", "--try-sandbox", "--key", "rk_test_x"];
    let mut listen = Command::from(operator.command(&args));
    let ended = timeout(PATIENCE, listen.kill_on_drop(true).output()).await;
    let said = ended.unwrap_or_else(|_| panic!("it never ended")).unwrap();
    let error = String::from_utf8(said.stderr).unwrap();
    assert!(!said.status.success());
    assert!(error.contains("http://127.0.0.1:9 cannot be reached"), "{error}");
    assert!(error.contains("--server"), "{error}");
}
