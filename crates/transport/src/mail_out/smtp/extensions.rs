//! The SMTP extensions that a server offers (EHLO).

use super::reply::SmtpReply;

/// The EHLO extensions of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmtpExtensions {
    pub start_tls: bool,
    pub pipelining: bool,
    pub eight_bit: bool,
    pub international: bool,
    /// The SIZE limit in bytes; zero for none given.
    pub size: Option<u64>,
    pub plain: bool,
    pub login: bool,
    pub xoauth2: bool,
}

impl SmtpExtensions {
    /// The lines of the EHLO reply below the first.
    pub fn of(reply: &SmtpReply) -> SmtpExtensions {
        let mut offers = SmtpExtensions::default();
        for line in reply.lines.iter().skip(1) {
            // Old servers write `AUTH=PLAIN`.
            let line = line.to_ascii_uppercase().replacen("AUTH=", "AUTH ", 1);
            let mut words = line.split_whitespace();
            match words.next() {
                Some("STARTTLS") => offers.start_tls = true,
                Some("PIPELINING") => offers.pipelining = true,
                Some("8BITMIME") => offers.eight_bit = true,
                Some("SMTPUTF8") => offers.international = true,
                Some("SIZE") => {
                    offers.size = Some(words.next().and_then(|n| n.parse().ok()).unwrap_or(0));
                }
                Some("AUTH") => {
                    for word in words {
                        offers.plain |= word == "PLAIN";
                        offers.login |= word == "LOGIN";
                        offers.xoauth2 |= word == "XOAUTH2";
                    }
                }
                _ => {}
            }
        }
        offers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_read_whatever_their_case() {
        let lines = "mx.example\nstarttls\nPipelining\n8BITMIME\nSMTPUTF8\nSIZE 1000\nAUTH=LOGIN\nAUTH CRAM-MD5 PLAIN XOAUTH2\nDSN";
        let reply = SmtpReply { code: 250, lines: lines.lines().map(str::to_owned).collect() };
        let all = SmtpExtensions {
            start_tls: true,
            pipelining: true,
            eight_bit: true,
            international: true,
            size: Some(1000),
            plain: true,
            login: true,
            xoauth2: true,
        };
        assert_eq!(SmtpExtensions::of(&reply), all);
        let none = SmtpReply { code: 250, lines: vec!["STARTTLS.example greets you".into()] };
        assert_eq!(SmtpExtensions::of(&none), SmtpExtensions::default());
    }
}
