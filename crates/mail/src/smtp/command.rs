//! Parses one SMTP command line strictly: ambiguous input is refused.

use super::refusal::{
    BAD_RECIPIENT, BAD_SENDER, NOT_MAIL, PARAMETER, SYNTAX, SmtpRefusal, UNKNOWN,
};

/// Characters of an address (RFC 5321, section 4.5.3.1).
const PATH_CHARS: usize = 254;
/// The one recipient that needs no domain (RFC 5321, section 4.5.1).
const POSTMASTER: &str = "postmaster";

/// A command as a client may give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Hello { greeting: Greeting, name: String },
    Mail(MailFrom),
    Recipient(String),
    Data,
    Chunk { bytes: usize, last: bool },
    StartTls,
    Reset,
    Nothing,
    Verify,
    Help,
    Quit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greeting {
    Helo,
    Ehlo,
    Lhlo,
}

/// The parameters of `MAIL FROM`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MailFrom {
    /// Empty for a mail that wants no bounces.
    pub path: String,
    /// The SIZE parameter.
    pub bytes: Option<u64>,
    /// SMTPUTF8: addresses may contain non-ASCII characters.
    pub any_mail: bool,
}

impl Command {
    pub fn parse(line: &[u8]) -> Result<Command, SmtpRefusal> {
        let line = std::str::from_utf8(line).map_err(|_| SYNTAX)?;
        if line.contains(char::is_control) {
            return Err(SYNTAX);
        }
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        let alone = |command| if rest.is_empty() { Ok(command) } else { Err(SYNTAX) };
        match verb.to_ascii_uppercase().as_str() {
            "HELO" => hello(Greeting::Helo, rest),
            "EHLO" => hello(Greeting::Ehlo, rest),
            "LHLO" => hello(Greeting::Lhlo, rest),
            "MAIL" => mail(after(rest, "FROM:").ok_or(SYNTAX)?),
            "RCPT" => recipient(after(rest, "TO:").ok_or(SYNTAX)?),
            "DATA" => alone(Command::Data),
            "BDAT" => chunk(rest),
            "STARTTLS" => alone(Command::StartTls),
            "RSET" => alone(Command::Reset),
            "NOOP" => Ok(Command::Nothing),
            "VRFY" => Ok(Command::Verify),
            "HELP" => Ok(Command::Help),
            "QUIT" => alone(Command::Quit),
            "GET" | "POST" | "PUT" | "HEAD" | "OPTIONS" | "CONNECT" | "DELETE" | "PATCH" => {
                Err(NOT_MAIL)
            }
            _ => Err(UNKNOWN),
        }
    }
}

/// What follows a word, however the word is cased.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let start = text.get(..word.len())?;
    start.eq_ignore_ascii_case(word).then(|| text[word.len()..].trim_start())
}

fn hello(greeting: Greeting, name: &str) -> Result<Command, SmtpRefusal> {
    let fits = !name.is_empty() && name.len() <= 255 && !name.contains(' ');
    fits.then(|| Command::Hello { greeting, name: name.to_owned() }).ok_or(SYNTAX)
}

fn mail(rest: &str) -> Result<Command, SmtpRefusal> {
    let (path, parameters) = path(rest).ok_or(BAD_SENDER)?;
    let mut sender = MailFrom { path: path.to_owned(), ..MailFrom::default() };
    for parameter in parameters.split_whitespace() {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match name.to_ascii_uppercase().as_str() {
            "SIZE" => sender.bytes = Some(value.parse().map_err(|_| SYNTAX)?),
            "BODY" if value.eq_ignore_ascii_case("7BIT") => {}
            "BODY" if value.eq_ignore_ascii_case("8BITMIME") => {}
            "SMTPUTF8" if value.is_empty() => sender.any_mail = true,
            _ => return Err(PARAMETER),
        }
    }
    let known = path.is_empty() || is_path(path);
    if known { Ok(Command::Mail(sender)) } else { Err(BAD_SENDER) }
}

fn recipient(rest: &str) -> Result<Command, SmtpRefusal> {
    let (path, parameters) = path(rest).ok_or(BAD_RECIPIENT)?;
    if !parameters.trim().is_empty() {
        return Err(PARAMETER);
    }
    if path.eq_ignore_ascii_case(POSTMASTER) {
        return Ok(Command::Recipient(POSTMASTER.into()));
    }
    if !is_path(path) {
        return Err(BAD_RECIPIENT);
    }
    Ok(Command::Recipient(unquote(path)))
}

/// What stands in angle brackets, a route before it left out, and what follows them.
fn path(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.strip_prefix('<')?;
    let (mut quoted, mut escaped) = (false, false);
    let end = rest.char_indices().find_map(|(at, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '>' if !quoted => return Some(at),
            _ => {}
        }
        None
    })?;
    let (path, after) = (&rest[..end], &rest[end + 1..]);
    if !after.is_empty() && !after.starts_with(' ') {
        return None;
    }
    let path = match path.starts_with('@') {
        true => path.split_once(':')?.1,
        false => path,
    };
    Some((path, after))
}

fn is_path(path: &str) -> bool {
    let Some((local, domain)) = path.rsplit_once('@') else { return false };
    let plain =
        |c: char| !c.is_whitespace() && !matches!(c, '@' | '<' | '>' | '"' | '(' | ')' | ',');
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    path.chars().count() <= PATH_CHARS
        && !local.is_empty()
        && !domain.is_empty()
        && (quoted || local.chars().all(plain))
        && domain.chars().all(plain)
}

/// `"ann"@x.example` is `ann@x.example`.
fn unquote(path: &str) -> String {
    let plain = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c))
    };
    match path.rsplit_once('@') {
        Some((local, domain)) => {
            let inner = local.strip_prefix('"').and_then(|local| local.strip_suffix('"'));
            match inner.filter(|inner| plain(inner)) {
                Some(inner) => format!("{inner}@{domain}"),
                None => path.to_owned(),
            }
        }
        None => path.to_owned(),
    }
}

fn chunk(rest: &str) -> Result<Command, SmtpRefusal> {
    let (bytes, last) = rest.split_once(' ').unwrap_or((rest, ""));
    let digits = !bytes.is_empty() && bytes.bytes().all(|byte| byte.is_ascii_digit());
    let bytes = bytes.parse().ok().filter(|_| digits).ok_or(SYNTAX)?;
    match last.trim() {
        "" => Ok(Command::Chunk { bytes, last: false }),
        word if word.eq_ignore_ascii_case("LAST") => Ok(Command::Chunk { bytes, last: true }),
        _ => Err(SYNTAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(line: &str) -> MailFrom {
        match Command::parse(line.as_bytes()) {
            Ok(Command::Mail(sender)) => sender,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_sender_may_be_nobody_and_may_tell_the_size() {
        assert_eq!(sender("MAIL FROM:<>"), MailFrom::default());
        let told = sender("mail from: <Ann@x.example> size=1234 BODY=8bitmime SMTPUTF8");
        assert_eq!(told.path, "Ann@x.example");
        assert_eq!((told.bytes, told.any_mail), (Some(1234), true));
        assert_eq!(sender("MAIL FROM:<\"a> b\"@x.example>").path, "\"a> b\"@x.example");
    }

    #[test]
    fn a_recipient_is_read_without_route_and_needless_quotes() {
        for (line, expected) in [
            ("RCPT TO:<support@acme.example>", "support@acme.example"),
            ("rcpt to:<@relay.example,@b.example:support@acme.example>", "support@acme.example"),
            ("RCPT TO:<\"support\"@acme.example>", "support@acme.example"),
            ("RCPT TO:<\"sup port\"@acme.example>", "\"sup port\"@acme.example"),
            ("RCPT TO:<Postmaster>", "postmaster"),
        ] {
            let command = Command::parse(line.as_bytes());
            assert_eq!(command, Ok(Command::Recipient(expected.into())), "{line}");
        }
    }

    #[test]
    fn what_is_not_written_as_it_should_be_is_refused() {
        for line in [
            "",
            "MAIL",
            "MAIL FROM",
            "MAIL FROM:ann@x.example",
            "MAIL FROM:<ann@x.example",
            "MAIL FROM:<ann@x.example>SIZE=1",
            "MAIL FROM:<ann@x.example> SIZE=-1",
            "MAIL FROM:<ann@x.example> BODY=BINARYMIME",
            "MAIL FROM:<ann@x.example> RET=FULL",
            "MAIL FROM:<ann>",
            "MAIL FROM:<a@b@c>",
            "RCPT TO:<>",
            "RCPT TO:<support>",
            "RCPT TO:<postmaster@>",
            "MAIL FROM:<postmaster>",
            "RCPT TO:<a@b> NOTIFY=NEVER",
            "RCPT TO:<a b@c>",
            "DATA now",
            "BDAT",
            "BDAT x",
            "BDAT +1",
            "BDAT 99999999999999999999999",
            "BDAT 1 FIRST",
            "EHLO",
            "EHLO a b",
            "QUIT now",
            "AUTH PLAIN AGEAYg==",
            "MAIL FROM:<a\u{7}@b>",
        ] {
            let fault = Command::parse(line.as_bytes()).expect_err(line);
            let SmtpRefusal { line: answer, .. } = fault;
            assert!(answer.starts_with('5') && answer.is_ascii(), "{line}: {answer}");
        }
        assert!(Command::parse(b"MAIL FROM:<\xff@b>").is_err());
        assert_eq!(Command::parse(b"GET / HTTP/1.1"), Err(NOT_MAIL));
    }

    #[test]
    fn chunks_tell_their_size_and_the_last_says_so() {
        assert_eq!(Command::parse(b"BDAT 10"), Ok(Command::Chunk { bytes: 10, last: false }));
        assert_eq!(Command::parse(b"bdat 0 last"), Ok(Command::Chunk { bytes: 0, last: true }));
    }
}
