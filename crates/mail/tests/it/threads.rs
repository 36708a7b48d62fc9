//! What a mail answers, and the tokens that our own mail carries.

use mail::{
    AddressToken, Envelope, MailKind, message_of_id, parse, return_path, signed_message_id,
    token_of_address,
};

const SECRET: &[u8] = b"a workspace's secret";
const MESSAGE: &str = "msg_01hxyz0123456789abcdefghjk";

#[test]
fn the_nearest_ancestor_comes_first() {
    let raw = b"In-Reply-To: <c@x>\nReferences: <a@x> <b@x>\n <c@x>\n\nhello";
    let mail = parse(raw, Envelope::default());
    assert_eq!(mail.answers(), ["c@x", "b@x", "a@x"]);
    assert_eq!(mail.references, ["a@x", "b@x", "c@x"]);
}

#[test]
fn a_thousand_references_are_cut_to_the_nearest() {
    let ids: Vec<String> = (0..1_000).map(|n| format!("<{n}@x>")).collect();
    let raw = format!("References: {}\n\nhello", ids.join(" "));
    let mail = parse(raw.as_bytes(), Envelope::default());
    assert!(mail.references.len() <= 50, "{}", mail.references.len());
}

#[test]
fn an_answer_to_our_mail_leads_back_to_it() {
    let ours = signed_message_id(SECRET, MESSAGE, "acme.example");
    let raw = format!("From: ann@x.example\nIn-Reply-To: <{ours}>\n\nThanks");
    let mail = parse(raw.as_bytes(), Envelope::default());
    assert_eq!(message_of_id(SECRET, &mail.answers()[0]).as_deref(), Some(MESSAGE));
}

#[test]
fn a_forged_bounce_names_no_token_of_ours() {
    let raw = "Return-Path: <>\nFrom: mailer-daemon@evil.example\nSubject: Undelivered Mail\n\
               To: support@acme.example\nContent-Type: multipart/report; \
               report-type=delivery-status; boundary=b\n\n--b\nContent-Type: \
               message/delivery-status\n\nReporting-MTA: dns; evil.example\n\nFinal-Recipient: \
               rfc822; ann@x.example\nAction: failed\nStatus: 5.1.1\n\n--b\nContent-Type: \
               message/rfc822\n\nMessage-ID: <msg.01hxyz0123456789abcdefghjk.000000000000000000000000@acme.example>\n\
               From: support@acme.example\n\nx\n--b--\n";
    let mail = parse(raw.as_bytes(), Envelope::default());
    assert_eq!(mail.kind, MailKind::Bounce);
    let about = mail.about.unwrap();
    assert_eq!(message_of_id(SECRET, &about), None, "the mark is made up");
    assert!(mail.to.iter().all(|to| token_of_address(SECRET, &to.email).is_none()));
}

#[test]
fn a_bounce_to_our_return_path_is_about_that_message() {
    let path = return_path(SECRET, "support@acme.example", MESSAGE).unwrap();
    assert_eq!(token_of_address(SECRET, &path), Some(AddressToken::Bounce(MESSAGE.into())));
}

#[test]
fn the_envelope_outweighs_a_return_path_in_the_header() {
    let raw = b"Return-Path: <a@x.example>\n\nhello";
    let mail = parse(raw, Envelope { sender: Some("") });
    assert_eq!(mail.return_path.as_deref(), Some(""));
    let mail = parse(raw, Envelope::default());
    assert_eq!(mail.return_path.as_deref(), Some("a@x.example"));
}

#[test]
fn a_mail_that_went_round_too_often_loops() {
    let hops = |count: usize| format!("{}\nhello", "Received: by x\n".repeat(count));
    let loops = |count| parse(hops(count).as_bytes(), Envelope::default()).loops;
    assert!(!loops(50) && loops(51));
}

#[test]
fn a_mail_of_ours_that_comes_back_is_known() {
    let raw =
        format!("{}: {}\n\nhello", mail::LOOP_FIELD, mail::loop_mark(SECRET, "msg_01h").unwrap());
    let mark = parse(raw.as_bytes(), Envelope::default()).loop_mark.unwrap();
    assert_eq!(mail::message_of_loop_mark(SECRET, &mark).as_deref(), Some("msg_01h"));
    assert_eq!(mail::message_of_loop_mark(b"another", &mark), None);
}

#[test]
fn what_was_understood_is_what_the_inbox_files() {
    let raw = b"In-Reply-To: <b@x>\nReferences: <a@x>\nAuto-Submitted: auto-replied\n\nAway";
    let mail = parse(raw, Envelope::default());
    let filed = mail.into_mail("Support+A1@acme.example", mail::Dmarc::Absent, None);
    assert_eq!(filed.answers, ["b@x", "a@x"]);
    assert_eq!(filed.delivered_to, "support+a1@acme.example");
    assert_eq!(filed.from.email, "nobody@unknown.invalid");
    assert_eq!((filed.kind, filed.text.as_str()), (mail::AuthorKind::AutoReply, "Away"));
}
