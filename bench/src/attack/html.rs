//! Mail whose HTML is made to be expensive, sent by SMTP and opened as "show original".

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::{JoinSet, spawn_blocking};

use super::target::{AttackTarget, closing, exchange, status};
use crate::fill::workspace::INBOX;
use crate::receive::SmtpSender;
use crate::requests::{page_request, request};

/// What each hostile part of a mail comes to.
const HTML_BYTES: usize = 2_000_000;
/// A line of a mail has no more than this.
const LINE_BYTES: usize = 900;
/// Pages that ask for one mail at the same time.
const PAGES: usize = 4;
/// Times that a mail shows its one picture.
const PICTURE_TAGS: usize = 400;
const PICTURE_BYTES: usize = 1_400_000;
/// An answer of more than this repeats the picture.
const MOST_ANSWER_BYTES: usize = 8_000_000;

/// What is repeated to make a parser work.
const SHAPES: [(&str, &str); 10] = [
    ("nested div", "<div>"),
    ("nested b", "<b>"),
    ("unclosed links", "<a href=x>y"),
    ("unclosed paragraphs in formatting", "<p><i><u>x"),
    ("nested tables", "<table><tr><td>"),
    ("text inside tables", "<table>x"),
    ("misnested formatting", "<b><i></b>x</i>"),
    ("nested lists", "<ul><li>"),
    ("unclosed options", "<select><option>x"),
    ("nested blockquotes", "<blockquote>"),
];

/// Sends a mail of every shape and opens each several times at once; answers the longest wait.
pub async fn open_hostile_mail(target: &AttackTarget) -> Result<Duration, String> {
    let mut slowest = Duration::ZERO;
    for (number, (name, piece)) in SHAPES.iter().enumerate() {
        let line = piece.repeat(LINE_BYTES / piece.len()) + "\r\n";
        let html = line.repeat(HTML_BYTES / line.len());
        let mail = format!(
            "{}Content-Type: text/html; charset=utf-8\r\n\r\n{html}\r\n",
            head(name, "html", number)
        );
        let wait = open(target, name, mail).await?;
        slowest = slowest.max(wait);
    }
    Ok(slowest)
}

/// Sends a mail that shows its one picture hundreds of times, and opens it.
pub async fn open_repeated_pictures(target: &AttackTarget) -> Result<Duration, String> {
    let tags = "<img src=\"cid:p@attack\">\r\n".repeat(PICTURE_TAGS);
    let picture = wrap_lines(&STANDARD.encode(vec![7; PICTURE_BYTES]));
    let mail = format!(
        "{}Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\n\
         Content-Type: text/html; charset=utf-8\r\n\r\n{tags}\r\n--b\r\n\
         Content-Type: image/png\r\nContent-ID: <p@attack>\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{picture}\r\n--b--\r\n",
        head("repeated pictures", "pictures", 0)
    );
    open(target, "repeated pictures", mail).await
}

/// Lets a mail come in and opens it; answers the longest wait for its acknowledgement or a page.
pub async fn open(target: &AttackTarget, name: &str, mail: String) -> Result<Duration, String> {
    let (smtp, begun) = (target.smtp, Instant::now());
    let sent = spawn_blocking(move || {
        SmtpSender::connect(smtp)?.send_bytes("attacker@attack.example", INBOX, mail.as_bytes())
    });
    sent.await.map_err(|error| error.to_string())??;
    let mut slowest = begun.elapsed();
    let path = newest_original(target, name).await?;
    let mut opening = JoinSet::new();
    for _ in 0..PAGES {
        let (http, page) = (target.http, closing(&page_request(&target.session, &path)));
        opening.spawn(async move {
            let begun = Instant::now();
            let stream = TcpStream::connect(http).await.map_err(|error| error.to_string())?;
            let answer = exchange(stream, page.as_bytes()).await?;
            Ok::<_, String>((answer, begun.elapsed()))
        });
    }
    while let Some(opened) = opening.join_next().await {
        let (answer, wait) = opened.map_err(|error| error.to_string())??;
        // Past the bounds there is no page of its HTML.
        if !matches!(status(&answer), 200 | 404 | 503) {
            return Err(format!("{name} was answered with status {}", status(&answer)));
        }
        if answer.len() > MOST_ANSWER_BYTES {
            return Err(format!("{name} became {} bytes", answer.len()));
        }
        slowest = slowest.max(wait);
    }
    Ok(slowest)
}

/// The page that shows the newest mail with a subject as it came.
async fn newest_original(target: &AttackTarget, subject: &str) -> Result<String, String> {
    let query = subject.replace(' ', "+");
    let found = get(target, &format!("/conversations?view=all&limit=1&q={query}")).await?;
    let conversation = found[0]["id"].as_str().ok_or("the hostile mail is not in the list")?;
    let read = get(target, &format!("/conversations/{conversation}")).await?;
    let timeline = read["timeline"].as_array().into_iter().flatten();
    let message = timeline.rev().find(|item| item["type"] == "message");
    let message = message.and_then(|item| item["id"].as_str()).ok_or("no message")?;
    Ok(format!("/conversations/{conversation}/messages/{message}/html"))
}

async fn get(target: &AttackTarget, path: &str) -> Result<Value, String> {
    let stream = TcpStream::connect(target.http).await.map_err(|error| error.to_string())?;
    let asked = closing(&request(&target.key, "GET", path, ""));
    let answer = exchange(stream, asked.as_bytes()).await?;
    let text = String::from_utf8_lossy(&answer);
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).map_err(|error| format!("{error}: {body}"))
}

/// The first fields of a mail.
pub fn head(subject: &str, kind: &str, number: usize) -> String {
    let id: u64 = rand::random();
    format!(
        "From: Attacker <attacker@attack.example>\r\nTo: {INBOX}\r\nSubject: {subject}\r\n\
         Message-ID: <{kind}.{number}.{id}@attack.example>\r\nMIME-Version: 1.0\r\n"
    )
}

/// Lines that SMTP takes.
pub fn wrap_lines(text: &str) -> String {
    let lines = text.as_bytes().chunks(LINE_BYTES);
    lines.map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>().join("\r\n")
}
