//! Decodes the DATA and BDAT content of a mail.
//!
//! A mail ends only at CRLF, a dot, CRLF. Servers that disagree about the end can be abused for
//! SMTP smuggling, so a mail with bare line feeds or carriage returns is read to its end and
//! refused.

use memchr::memchr2;

use super::limits::PATIENCE_WITH_LARGE;

/// Why a mail's bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    BareLineEnd,
    TooLarge,
    /// There is no room for it now.
    NoRoom,
}

/// The decoder's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentProgress {
    /// So many bytes were taken, and more are needed.
    More,
    /// The mail ended behind so many bytes.
    Ended { taken: usize },
    /// The sender does not stop.
    Endless,
}

/// A mail that is being received.
#[derive(Debug)]
pub(super) struct MailContent {
    bytes: Vec<u8>,
    /// Bytes that came, kept or not.
    came: usize,
    most: usize,
    state: State,
    refused: Option<Refused>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    LineStart,
    InLine,
    /// Behind a carriage return.
    Return,
    /// Behind a dot that begins a line.
    Dot,
    /// Behind such a dot and a carriage return.
    DotReturn,
}

impl MailContent {
    pub fn new(most: usize) -> MailContent {
        MailContent { bytes: Vec::new(), came: 0, most, state: State::LineStart, refused: None }
    }

    /// Bytes that it holds.
    pub fn held_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub fn refuse(&mut self, why: Refused) {
        self.bytes = Vec::new();
        self.refused.get_or_insert(why);
    }

    pub fn finish(self) -> Result<Vec<u8>, Refused> {
        match self.refused {
            Some(why) => Err(why),
            None if self.state == State::Return => Err(Refused::BareLineEnd),
            None => Ok(self.bytes),
        }
    }

    /// Takes bytes behind `DATA`.
    pub fn take(&mut self, input: &[u8]) -> ContentProgress {
        let mut at = 0;
        while at < input.len() {
            let byte = input[at];
            match (self.state, byte) {
                (State::DotReturn, b'\n') => return ContentProgress::Ended { taken: at + 1 },
                (State::Return, b'\n') => {
                    self.keep(b"\r\n");
                    self.state = State::LineStart;
                }
                (State::Dot, b'\r') => self.state = State::DotReturn,
                (State::LineStart, b'.') => self.state = State::Dot,
                (State::Return | State::DotReturn, _) => {
                    self.refuse(Refused::BareLineEnd);
                    self.state = State::InLine;
                    continue;
                }
                (State::LineStart | State::InLine, b'\r') => self.state = State::Return,
                (State::LineStart | State::InLine | State::Dot, b'\n') => {
                    self.refuse(Refused::BareLineEnd);
                    self.state = State::InLine;
                }
                (State::LineStart | State::InLine | State::Dot, _) => {
                    let end = memchr2(b'\r', b'\n', &input[at..]).map_or(input.len(), |e| at + e);
                    self.keep(&input[at..end]);
                    self.state = State::InLine;
                    at = end;
                    continue;
                }
            }
            at += 1;
        }
        if self.came > self.most.saturating_mul(PATIENCE_WITH_LARGE) {
            return ContentProgress::Endless;
        }
        ContentProgress::More
    }

    /// Takes bytes of a counted chunk, in which nothing marks the end.
    pub fn take_counted(&mut self, input: &[u8]) {
        let mut rest = input;
        while let Some(at) = memchr2(b'\r', b'\n', rest) {
            let behind_return = at == 0 && self.state == State::Return;
            match rest[at] {
                b'\r' if behind_return => self.refuse(Refused::BareLineEnd),
                b'\r' => self.note_text(at),
                _ if behind_return => self.state = State::LineStart,
                _ => self.refuse(Refused::BareLineEnd),
            }
            if rest[at] == b'\r' {
                self.state = State::Return;
            }
            rest = &rest[at + 1..];
        }
        self.note_text(rest.len());
        self.keep(input);
    }

    /// Text behind a carriage return means that no line feed followed it.
    fn note_text(&mut self, bytes: usize) {
        if bytes > 0 && self.state == State::Return {
            self.refuse(Refused::BareLineEnd);
        }
        if bytes > 0 {
            self.state = State::InLine;
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.came += bytes.len();
        if self.came > self.most {
            self.refuse(Refused::TooLarge);
        }
        if self.refused.is_none() {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a mail fed in pieces of one size, and what is left behind its end.
    fn receive(input: &[u8], piece: usize) -> (Result<Vec<u8>, Refused>, usize) {
        let mut content = MailContent::new(1_000);
        let mut before = 0;
        for bytes in input.chunks(piece) {
            match content.take(bytes) {
                ContentProgress::More => before += bytes.len(),
                ContentProgress::Ended { taken } => {
                    return (content.finish(), input.len() - before - taken);
                }
                ContentProgress::Endless => break,
            }
        }
        panic!("the mail does not end");
    }

    #[test]
    fn a_mail_ends_at_a_dot_between_line_ends_however_it_is_cut() {
        let input = b"Subject: a\r\n\r\n..dots\r\n...\r\nlast\r\n.\r\nQUIT\r\n";
        for piece in 1..=input.len() {
            let (mail, rest) = receive(input, piece);
            assert_eq!(mail.expect("a mail"), b"Subject: a\r\n\r\n.dots\r\n..\r\nlast\r\n");
            assert_eq!(rest, "QUIT\r\n".len(), "{piece}");
        }
        assert_eq!(receive(b".\r\n", 1), (Ok(Vec::new()), 0));
    }

    #[test]
    fn no_other_line_end_ends_a_mail_and_each_refuses_it() {
        for smuggled in
            ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r", "\n.\r", "\r\r\n.\r\r\n"]
        {
            let input = format!("a{smuggled}MAIL FROM:<evil@x.example>\r\n.\r\n");
            for piece in 1..=input.len() {
                let (mail, rest) = receive(input.as_bytes(), piece);
                assert_eq!(mail, Err(Refused::BareLineEnd), "{smuggled:?} by {piece}");
                assert_eq!(rest, 0, "{smuggled:?} by {piece}");
            }
        }
    }

    #[test]
    fn a_mail_that_is_too_large_is_read_to_its_end_and_refused() {
        let at_limit = format!("{}\r\n.\r\n", "x".repeat(998));
        assert_eq!(receive(at_limit.as_bytes(), 7).0.expect("a mail").len(), 1_000);
        let over = format!("{}\r\n.\r\n", "x".repeat(999));
        assert_eq!(receive(over.as_bytes(), 7).0, Err(Refused::TooLarge));
        let mut content = MailContent::new(10);
        assert_eq!(content.take(&[b'x'; 41]), ContentProgress::Endless);
    }

    #[test]
    fn counted_bytes_are_kept_as_they_are_but_for_bare_line_ends() {
        for (input, good) in [
            ("a\r\n.\r\nb\r\n", true),
            ("", true),
            ("a\nb", false),
            ("\na", false),
            ("a\rb", false),
            ("a\r\rb", false),
            ("a\r\r\n", false),
            ("a\r", false),
        ] {
            for piece in 1..=input.len().max(1) {
                let mut content = MailContent::new(100);
                input.as_bytes().chunks(piece).for_each(|bytes| content.take_counted(bytes));
                let expected = good.then(|| input.as_bytes().to_vec());
                assert_eq!(content.finish().ok(), expected, "{input:?} by {piece}");
            }
        }
    }
}
