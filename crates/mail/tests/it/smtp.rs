//! The session as a machine: the same answers however its input is cut.

use mail::smtp::{
    Protocol, RecipientReply, SessionLimits, SmtpServerSession, SmtpStep, SmtpTransaction,
};
use proptest::prelude::*;

/// What a session says and takes when it is fed in pieces of these sizes, where `support@` and
/// `sales@` are inboxes.
fn played(
    protocol: Protocol,
    input: &[u8],
    mut piece: impl FnMut() -> usize,
) -> (String, Vec<SmtpTransaction>) {
    let limits =
        SessionLimits { message_bytes: 10_000, command_bytes: 512, ..SessionLimits::default() };
    let mut session = SmtpServerSession::new(protocol, "mail.acme.example", limits, true);
    let (mut said, mut letters, mut rest) = (Vec::new(), Vec::new(), input);
    loop {
        let step = session.step();
        said.extend(session.take_output());
        match step {
            SmtpStep::Read if rest.is_empty() => break,
            SmtpStep::Read => {
                let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
                session.feed(now);
                rest = later;
            }
            SmtpStep::FindInbox(address) => {
                let known = ["support@acme.example", "sales@acme.example"];
                session.know_recipient(Some(known.contains(&address.as_str())));
            }
            SmtpStep::TakeIn(letter) => {
                let outcomes: Vec<RecipientReply> =
                    letter.recipients.iter().map(|to| outcome(to)).collect();
                letters.push(letter);
                session.know_mail(&outcomes);
            }
            SmtpStep::StartTls => session.secure(),
            SmtpStep::Close => break,
        }
    }
    (String::from_utf8(said).expect("ASCII"), letters)
}

fn outcome(to: &str) -> RecipientReply {
    if to.starts_with("sales") { RecipientReply::Trouble } else { RecipientReply::Taken }
}

/// Plays it whole, byte by byte and in random pieces, which must be the same.
fn play(protocol: Protocol, input: &str) -> (String, Vec<SmtpTransaction>) {
    let whole = played(protocol, input.as_bytes(), || usize::MAX);
    assert_eq!(played(protocol, input.as_bytes(), || 1), whole, "byte by byte");
    for most in 2..40 {
        let mut turn = 0;
        let piece = || {
            turn += 7;
            turn % most + 1
        };
        assert_eq!(played(protocol, input.as_bytes(), piece), whole, "{most}");
    }
    whole
}

/// The codes of the answers, the last line of each.
fn codes(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.as_bytes()[3] == b' ').map(|line| &line[..3]).collect()
}

const MAIL: &str = "MAIL FROM:<ann@x.example>\r\nRCPT TO:<support@acme.example>\r\n";

#[test]
fn a_pipelined_session_is_answered_in_order() {
    let input = format!("EHLO x.example\r\n{MAIL}DATA\r\nSubject: a\r\n\r\n..b\r\n.\r\nQUIT\r\n");
    let (said, letters) = play(Protocol::Smtp, &input);
    assert_eq!(codes(&said), ["220", "250", "250", "250", "354", "250", "221"]);
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].sender, "ann@x.example");
    assert_eq!(letters[0].recipients, ["support@acme.example"]);
    assert_eq!(letters[0].bytes, b"Subject: a\r\n\r\n.b\r\n");
}

#[test]
fn extensions_are_told_and_helo_tells_none() {
    let (said, _) = play(Protocol::Smtp, "EHLO x\r\nHELO x\r\nLHLO x\r\n");
    for extension in [
        "PIPELINING",
        "SIZE 10000",
        "8BITMIME",
        "SMTPUTF8",
        "ENHANCEDSTATUSCODES",
        "CHUNKING",
        "STARTTLS",
    ] {
        assert_eq!(said.matches(extension).count(), 1, "{extension}: {said}");
    }
    assert_eq!(codes(&said), ["220", "250", "250", "500"]);
}

#[test]
fn chunks_make_one_mail() {
    let input = format!(
        "EHLO x\r\n{MAIL}BDAT 12\r\nSubject: a\r\nBDAT 3\r\n\r\n.BDAT 4 LAST\r\n.\r\nxNOOP\r\n"
    );
    let (said, letters) = play(Protocol::Smtp, &input);
    // The last chunk ends in the middle of a line.
    assert_eq!(letters[0].bytes, b"Subject: a\r\n\r\n..\r\nx");
    assert_eq!(codes(&said), ["220", "250", "250", "250", "250", "250", "250", "250"]);
}

#[test]
fn chunks_that_nobody_is_to_get_are_read_and_refused() {
    let input = "EHLO x\r\nBDAT 5 LAST\r\nQUIT\nMAIL FROM:<>\r\nBDAT 5\r\nRSET\nNOOP\r\n";
    let (said, letters) = play(Protocol::Smtp, input);
    assert_eq!(codes(&said), ["220", "250", "503", "250", "503", "250"]);
    assert!(letters.is_empty());
    let (said, _) = play(Protocol::Smtp, "EHLO x\r\nBDAT 10001 LAST\r\n");
    assert_eq!(codes(&said), ["220", "250", "552"]);
}

#[test]
fn smuggled_mails_are_never_seen_as_mails() {
    for end in ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r\n.\r", "\r.\r\n", "\n.\r"] {
        let input = format!(
            "EHLO x\r\n{MAIL}DATA\r\nSubject: a\r\n\r\nb{end}\
             MAIL FROM:<evil@x.example>\r\nRCPT TO:<support@acme.example>\r\nDATA\r\nevil\r\n.\r\nQUIT\r\n"
        );
        let (said, letters) = play(Protocol::Smtp, &input);
        assert!(letters.is_empty(), "{end:?}");
        assert_eq!(codes(&said), ["220", "250", "250", "250", "354", "550", "221"], "{end:?}");
    }
}

#[test]
fn commands_in_a_wrong_order_are_refused_and_change_nothing() {
    let input = "MAIL FROM:<>\r\nRCPT TO:<support@acme.example>\r\nDATA\r\nEHLO x\r\nDATA\r\n\
                 MAIL FROM:<>\r\nMAIL FROM:<>\r\nDATA\r\nRCPT TO:<nobody@acme.example>\r\nDATA\r\n";
    let (said, letters) = play(Protocol::Smtp, input);
    let wanted = ["220", "503", "503", "503", "250", "503", "250", "503", "503", "550", "503"];
    assert_eq!(codes(&said), wanted);
    assert!(letters.is_empty());
}

#[test]
fn a_mistaken_line_is_one_mistake_however_long_and_its_end_is_crlf() {
    let long = "x".repeat(5_000);
    let (said, _) =
        play(Protocol::Smtp, &format!("{long}\r\nNOOP\r\nNOOP\nNOOP {long}\r\nNOOP\r\n"));
    assert_eq!(codes(&said), ["220", "500", "250", "500", "500", "250"]);
}

#[test]
fn a_session_that_errs_too_often_ends() {
    let (said, _) = play(Protocol::Smtp, &"WHAT\r\n".repeat(30));
    assert_eq!(codes(&said).len(), 22);
    assert_eq!(codes(&said).last(), Some(&"421"));
    let (said, _) = play(Protocol::Smtp, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(codes(&said), ["220", "421"]);
}

#[test]
fn letters_beyond_ascii_need_the_extension() {
    let input = "EHLO x\r\nMAIL FROM:<ü@x.example>\r\nMAIL FROM:<ü@x.example> SMTPUTF8\r\n\
                 RCPT TO:<sü@acme.example>\r\nRSET\r\nMAIL FROM:<a@x.example>\r\nRCPT TO:<sü@acme.example>\r\n";
    let (said, _) = play(Protocol::Smtp, input);
    assert_eq!(codes(&said), ["220", "250", "553", "250", "550", "250", "250", "553"]);
}

#[test]
fn a_mail_that_is_too_large_is_refused_early_or_late() {
    let body = format!("{}\r\n", "x".repeat(998)).repeat(11);
    let input = format!("EHLO x\r\nMAIL FROM:<> SIZE=10001\r\n{MAIL}DATA\r\n{body}.\r\nNOOP\r\n");
    let (said, letters) = play(Protocol::Smtp, &input);
    assert_eq!(codes(&said), ["220", "250", "552", "250", "250", "354", "552", "250"]);
    assert!(letters.is_empty());
}

#[test]
fn smtp_answers_once_and_lmtp_for_each_recipient() {
    let body = "RCPT TO:<sales@acme.example>\r\nDATA\r\nx\r\n.\r\n";
    let (said, _) = play(Protocol::Smtp, &format!("EHLO x\r\n{MAIL}{body}"));
    assert_eq!(codes(&said), ["220", "250", "250", "250", "250", "354", "451"]);
    let (said, _) = play(Protocol::Lmtp, &format!("LHLO x\r\n{MAIL}{body}"));
    assert_eq!(codes(&said), ["220", "250", "250", "250", "250", "354", "250", "451"]);
    let (said, _) =
        play(Protocol::Lmtp, &format!("LHLO x\r\n{MAIL}{}", body.replace("x\r\n", "x\ny\r\n")));
    assert_eq!(codes(&said), ["220", "250", "250", "250", "250", "354", "550", "550"]);
}

#[test]
fn what_was_sent_behind_starttls_is_never_read() {
    let input =
        "EHLO x\r\nSTARTTLS\r\nMAIL FROM:<evil@x.example>\r\nRCPT TO:<support@acme.example>\r\n";
    let (said, _) = played(Protocol::Smtp, input.as_bytes(), || usize::MAX);
    assert_eq!(codes(&said), ["220", "250", "220"]);
    // Fed afterwards it is a new session's, which has not said hello.
    let (said, _) = played(Protocol::Smtp, input.as_bytes(), || 1);
    assert_eq!(codes(&said), ["220", "250", "220", "503", "503"]);
    let (said, _) = play(Protocol::Smtp, "EHLO x\r\nSTARTTLS\r\n");
    assert_eq!(codes(&said), ["220", "250", "220"]);
}

#[test]
fn a_session_without_room_for_a_mail_says_so() {
    let mut session = SmtpServerSession::new(Protocol::Smtp, "m", SessionLimits::default(), true);
    session.feed(b"EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<a@b>\r\n");
    assert!(matches!(session.step(), SmtpStep::FindInbox(_)));
    session.know_recipient(Some(true));
    session.feed(b"DATA\r\nsome bytes");
    assert_eq!(session.step(), SmtpStep::Read);
    assert_eq!(session.held_bytes(), 10);
    session.drop_mail();
    assert_eq!(session.held_bytes(), 0);
    session.take_output();
    session.feed(b"\r\n.\r\n");
    assert_eq!(session.step(), SmtpStep::Read);
    assert!(session.take_output().starts_with(b"452 "));
}

proptest! {
    /// Whatever comes, every answer is a line of its own with a code, and how the input was cut
    /// makes no difference unless the connection was encrypted in between.
    #[test]
    fn anything_is_answered_the_same_however_it_is_cut(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "EHLO x\r\n", "MAIL FROM:<a@b>\r\n", "RCPT TO:<support@acme.example>\r\n", "DATA\r\n",
            "BDAT 5\r\n", "BDAT 3 LAST\r\n", "abc", "\r\n", "\n", "\r", ".", ".\r\n", "RSET\r\n",
            "QUIT\r\n", "\0", "ü", "NOOP\r\n",
        ]), 0..40),
        size in 1usize..30,
    ) {
        let input = pieces.concat();
        let (said, letters) = played(Protocol::Smtp, input.as_bytes(), || size);
        prop_assert_eq!(&played(Protocol::Smtp, input.as_bytes(), || usize::MAX), &(said.clone(), letters));
        for line in said.lines() {
            prop_assert!(line.as_bytes()[..3].iter().all(u8::is_ascii_digit), "{}", line);
        }
    }
}
