//! Any bytes as a session, cut in any way: it never panics, holds no more than it may, answers in
//! whole lines, and gives out no mail with a bare line end, too many bytes or nobody to get it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::smtp::{RecipientReply, Protocol, SmtpServerSession, SessionLimits, SmtpStep};

const MESSAGE_BYTES: usize = 2_000;
const RECIPIENTS: usize = 5;

fuzz_target!(|input: (bool, u8, &[u8])| {
    let (lmtp, piece, bytes) = input;
    let protocol = if lmtp { Protocol::Lmtp } else { Protocol::Smtp };
    let limits = SessionLimits {
        message_bytes: MESSAGE_BYTES,
        recipients: RECIPIENTS,
        command_bytes: 200,
        ..SessionLimits::default()
    };
    let mut session = SmtpServerSession::new(protocol, "fuzz.example", limits, true);
    let mut pieces = bytes.chunks(usize::from(piece).max(1));
    let mut said = Vec::new();
    loop {
        let step = session.step();
        said.extend(session.take_output());
        assert!(session.held_bytes() <= MESSAGE_BYTES);
        match step {
            SmtpStep::Read => match pieces.next() {
                Some(piece) => session.feed(piece),
                None => break,
            },
            SmtpStep::FindInbox(address) => {
                assert!(!address.contains(char::is_control));
                session.know_recipient(Some(address.len() % 3 != 0));
            }
            SmtpStep::TakeIn(letter) => {
                assert!((1..=RECIPIENTS).contains(&letter.recipients.len()));
                assert!(letter.bytes.len() <= MESSAGE_BYTES);
                let bare = String::from_utf8_lossy(&letter.bytes).replace("\r\n", "");
                assert!(!bare.contains(['\r', '\n']));
                session.know_mail(&vec![RecipientReply::Taken; letter.recipients.len()]);
            }
            SmtpStep::StartTls => session.secure(),
            SmtpStep::Close => break,
        }
    }
    let said = String::from_utf8(said).expect("answers are text");
    assert!(said.ends_with("\r\n"));
    for line in said.split_terminator("\r\n") {
        assert!(line.len() >= 4 && line.as_bytes()[..3].iter().all(u8::is_ascii_digit), "{line}");
    }
});
