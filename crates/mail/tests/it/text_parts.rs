//! Which part of a mail is its text, where it has several or a page stands in place of words.

use mail::{Envelope, parse};

fn text(plain: &str, html: &str) -> String {
    let raw = format!(
        "From: a@x.example\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\
         Content-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n{html}\n--b--\n"
    );
    parse(raw.as_bytes(), Envelope::default()).text
}

fn alone(plain: &str) -> String {
    let raw = format!("From: a@x.example\nContent-Type: text/plain\n\n{plain}\n");
    parse(raw.as_bytes(), Envelope::default()).text
}

const STYLES: &str = "@media only screen and (max-width:600px) { .x { width:100% !important } }\n\
    .ExternalClass { width:100%; }\nbody, td { font-family: Arial; color:#333 }\n";

#[test]
fn a_page_or_its_styles_in_place_of_text_are_not_shown() {
    let html = "<p>Your lamp was sent.</p>";
    for plain in [
        "<html><body><p>Your lamp was sent.</p></body></html>",
        "<!DOCTYPE html>\n<html>\n<p>Your lamp <b>was</b> sent.</p></html>",
        "<div>Your lamp was sent.<br></div>",
        &format!("{STYLES}Your lamp was sent."),
        STYLES,
    ] {
        assert_eq!(text(plain, html), "Your lamp was sent.", "{plain}");
    }
    for plain in [
        "<html><head><style>p{color:red}</style></head><body><p>Your lamp was sent.</p></html>",
        &format!("{STYLES}\nYour lamp was sent."),
        "body{margin:0}Your lamp was sent.",
    ] {
        assert_eq!(alone(plain), "Your lamp was sent.", "{plain}");
    }
}

#[test]
fn words_about_pages_and_styles_stay() {
    for plain in [
        "My page has <div>one</div> too many, see below",
        "Hello,\n\n.note { color: red }\n\ndoes not work.",
        "In your sheet: body { margin: 0 } is wrong",
        "<ann@x.example> wrote to me, why?",
        "<3 your lamps",
        "a: b; c {d}",
        "Note {see: below}",
    ] {
        assert_eq!(alone(plain), plain, "{plain}");
    }
}

#[test]
fn the_richer_part_counts_where_plain_text_stands_in_for_it() {
    let words = "Your order of two lamps has been sent today. ".repeat(8);
    let html = format!("<p>{words}</p>");
    for stub in [
        "",
        "View this email in your browser: https://x.example/1",
        "Your mail program does not support HTML.",
        "Hello",
    ] {
        assert_eq!(text(stub, &html), words.trim(), "{stub}");
    }
}

#[test]
fn plain_text_counts_where_it_says_as_much() {
    let html = "<p>The lamp arrived broken. What now?</p>";
    for plain in ["The lamp arrived broken. What now?", "The lamp arrived broken.", "Broken!"] {
        assert_eq!(text(plain, html), plain);
    }
    let answer = "I found it under HTML format in the settings, thank you so much!";
    assert_eq!(text(answer, "<p>I found it, thank you.</p>"), answer);
}
