//! Public help pages: addresses and words of answers that are not public are guessed, the search is flooded, and what
//! an answer says tries to leave its place.

use std::time::{Duration, Instant};

use actions::workspace::help_site::set_help_site;
use actions::writing::answers::{AnswerInput, add_answer};
use base::app::Cx;
use base::error::Result;
use db::Tx;
use knowledge::help_site::HelpSiteInput;
use tokio::task::JoinSet;

use super::target::{ATTACKER, AttackTarget, connect_from, exchange, status};

/// Public answers of the workspace that is attacked.
const ANSWERS: usize = 300;
/// Answers that nobody outside may learn of.
const HIDDEN: usize = 20;
/// What only those say.
const MARK: &str = "zyxomarker";
/// What an answer says that would act in a browser.
const SCRIPT: &str = "<script>alert('stored')</script><img src=x onerror=alert(1)>";
const CONNECTIONS: usize = 600;
/// Connections that are open at one time.
const AT_ONCE: usize = 60;

/// Opens the help pages, with answers that are public and others that are not.
pub fn publish(tx: &mut Tx<'_>, cx: &Cx<'_>) -> Result<()> {
    let answer = |title: String, body: String, state: &str| AnswerInput {
        title,
        body,
        language: "en".into(),
        section: "Orders".into(),
        audience: "everybody".into(),
        help_state: state.into(),
        ..AnswerInput::default()
    };
    for number in 0..ANSWERS {
        let body =
            format!("Order number {number} leaves on the next day, and you pay later. {SCRIPT}");
        add_answer(tx, cx, &answer(format!("Order {number}"), body, "public"))?;
    }
    for number in 0..HIDDEN {
        let body = format!("The {MARK} of order {number} is for nobody but the team.");
        add_answer(tx, cx, &answer(format!("Hidden {number}"), body, "draft"))?;
    }
    let site = HelpSiteInput { is_open: true, language: "en".into(), form: String::new() };
    set_help_site(tx, cx, &site).map(drop)
}

/// What one connection asks.
fn path(number: usize) -> String {
    match number % 6 {
        0 => format!("/help/search?q=order+{number}+pay+later+leaves&language=en"),
        1 => format!("/help/en/hidden-{}", number % HIDDEN),
        2 => format!("/help/search?q={MARK}&language=en"),
        3 => format!("/help/en/order-{}", number % ANSWERS),
        4 => format!("/help/{}", "en/".repeat(number)),
        _ => "/help/en/feed.xml".to_owned(),
    }
}

/// Asks all of it at once; answers how long the slowest waited.
pub async fn guess_and_flood(target: &AttackTarget) -> std::result::Result<Duration, String> {
    let mut slowest = Duration::ZERO;
    let mut asking = JoinSet::new();
    for number in 0..CONNECTIONS {
        if asking.len() >= AT_ONCE {
            slowest = slowest.max(next(&mut asking).await?);
        }
        let to = target.http;
        asking.spawn(async move {
            let (begun, path) = (Instant::now(), path(number));
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: bench.example\r\nconnection: close\r\n\r\n");
            let Ok(stream) = connect_from(ATTACKER, to).await else { return Ok(begun.elapsed()) };
            let answer = exchange(stream, request.as_bytes()).await?;
            let text = String::from_utf8_lossy(&answer);
            // The search says its words again; nothing else may.
            let told = text.matches(MARK).count();
            let said_again = if path.contains(MARK) { 4 } else { 0 };
            if told > said_again || text.contains("for nobody but") {
                return Err(format!("{path} tells of an answer that is not public"));
            }
            if text.contains("<script>") || text.contains("<img") {
                return Err(format!("{path} has a script of an answer"));
            }
            if !matches!(status(&answer), 200 | 404 | 414 | 429 | 431 | 503) {
                return Err(format!("{path} was answered with status {}", status(&answer)));
            }
            Ok(begun.elapsed())
        });
    }
    while !asking.is_empty() {
        slowest = slowest.max(next(&mut asking).await?);
    }
    Ok(slowest)
}

async fn next(
    asking: &mut JoinSet<std::result::Result<Duration, String>>,
) -> std::result::Result<Duration, String> {
    match asking.join_next().await {
        Some(asked) => asked.map_err(|error| error.to_string())?,
        None => Ok(Duration::ZERO),
    }
}
