//! Parses MTA-STS policies (RFC 8461, section 3).

use std::time::Duration;

/// Characters of a policy's id.
const ID_CHARS: usize = 32;
/// Patterns of a policy's servers. One with more is none: it could only be held in part.
const PATTERNS: usize = 250;
/// The longest that a policy may last (section 3.2): a year.
const LONGEST: Duration = Duration::from_secs(31_557_600);

/// The mode of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StsPolicy {
    pub mode: StsMode,
    /// Lower case, without a dot at the end; `*.` in front stands for one label.
    servers: Vec<String>,
    /// How long it holds, from when it was fetched.
    pub lasts: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StsMode {
    /// Deliver only to listed servers with a valid certificate.
    Enforce,
    /// Deliver as usual and log violations.
    Testing,
    None,
}

/// The id of a domain's policy, from the TXT records of `_mta-sts` under it: exactly one of them
/// must be about this (section 3.1).
pub fn id_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let records = texts.into_iter().filter_map(|text| text.strip_prefix("v=STSv1"));
    let mut records = records.filter(|rest| rest.trim_start().starts_with(';'));
    let (record, None) = (records.next()?, records.next()) else { return None };
    let mut fields = record.split(';').filter_map(|field| field.split_once('='));
    let (_, id) = fields.find(|(name, _)| name.trim() == "id")?;
    let id = id.trim();
    let fits = (1..=ID_CHARS).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric());
    fits.then_some(id)
}

impl StsPolicy {
    /// `None` for a text that is no policy. Of what is said twice the first counts, what is not known
    /// is passed over (section 3.2).
    pub fn parse(text: &str) -> Option<StsPolicy> {
        let fields: Vec<(&str, &str)> = text
            .split('\n')
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        let first = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|f| f.1);
        if first("version")? != "STSv1" {
            return None;
        }
        let mode = match first("mode")? {
            "enforce" => StsMode::Enforce,
            "testing" => StsMode::Testing,
            "none" => StsMode::None,
            _ => return None,
        };
        let lasts = seconds(first("max_age")?)?.min(LONGEST);
        let servers = fields.iter().filter(|(name, _)| *name == "mx");
        let servers: Vec<String> = servers.map(|(_, pattern)| plain(pattern)).collect();
        let fits = servers.len() <= PATTERNS && (mode == StsMode::None || !servers.is_empty());
        (fits && servers.iter().all(|name| is_pattern(name))).then_some(StsPolicy {
            mode,
            servers,
            lasts,
        })
    }

    /// True for a server that it names (section 4.1).
    pub fn names(&self, server: &str) -> bool {
        let server = plain(server);
        let above = server.split_once('.').map(|(_, above)| above);
        self.servers.iter().any(|pattern| match pattern.strip_prefix("*.") {
            Some(pattern) => above == Some(pattern),
            None => *pattern == server,
        })
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let digits = (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).map(Duration::from_secs)
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn is_pattern(pattern: &str) -> bool {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let label = |label: &str| !label.is_empty() && label.chars().all(letter);
    name.len() <= 253 && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_one_record_with_an_id() {
        for (texts, expected) in [
            (&["v=STSv1; id=20160831085700Z;"][..], Some("20160831085700Z")),
            (&["v=spf1 -all", "v=STSv1;x=1 ; id = a1"], Some("a1")),
            (&["v=STSv1 ;id=a"], Some("a")),
            (&["v=STSv1; id=a;", "v=STSv1; id=b;"], None),
            (&["v=STSv12; id=a"], None),
            (&["v=STSv1"], None),
            (&["v=STSv1; id="], None),
            (&["v=STSv1; id=a-b"], None),
            (&["v=STSv1; id=0123456789012345678901234567890123"], None),
            (&[" v=STSv1; id=a"], None),
            (&["id=a; v=STSv1"], None),
            (&[], None),
        ] {
            assert_eq!(id_of(texts.iter().copied()), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_policy_is_read_with_either_line_end_and_what_is_unknown_is_passed_over() {
        for end in ["\r\n", "\n"] {
            let lines = ["version: STSv1", "mode: enforce", "mx: Mail.example.com", "new: x"];
            let more = ["mx: *.example.net.", "max_age: 604800", "mode: none", ""];
            let text = [&lines[..], &more].concat().join(end);
            let policy = StsPolicy::parse(&text).unwrap();
            assert_eq!(policy.mode, StsMode::Enforce);
            assert_eq!(policy.lasts, Duration::from_secs(604_800));
            assert_eq!(policy.servers, ["mail.example.com", "*.example.net"]);
        }
        let text = "max_age:9999999999\nmode:testing\nversion:STSv1\nmx:a.example";
        assert_eq!(StsPolicy::parse(text).unwrap().lasts, LONGEST);
        let none = StsPolicy::parse("version: STSv1\nmode: none\nmax_age: 0").unwrap();
        assert_eq!(none.mode, StsMode::None);
    }

    #[test]
    fn what_is_no_policy_is_none() {
        for text in [
            "",
            "<html>",
            "mode: enforce\nmx: a.example\nmax_age: 1",
            "version: STSv2\nmode: enforce\nmx: a.example\nmax_age: 1",
            "version: STSv1\nmode: force\nmx: a.example\nmax_age: 1",
            "version: STSv1\nmode: enforce\nmax_age: 1",
            "version: STSv1\nmode: enforce\nmx: a.example",
            "version: STSv1\nmode: enforce\nmx: a.example\nmax_age: -1",
            "version: STSv1\nmode: enforce\nmx: a.example\nmax_age: 99999999999",
            "version: STSv1\nmode: enforce\nmx: a b\nmax_age: 1",
            "version: STSv1\nmode: enforce\nmx: *\nmax_age: 1",
            "version: STSv1\nmode: enforce\nmx: a.*.example\nmax_age: 1",
            "version: STSv1\nmode: enforce\nmx:\nmax_age: 1",
        ] {
            assert_eq!(StsPolicy::parse(text), None, "{text}");
        }
        let many = "mx: a.example\n".repeat(PATTERNS + 1);
        assert_eq!(
            StsPolicy::parse(&format!("version: STSv1\nmode: enforce\nmax_age: 1\n{many}")),
            None
        );
    }

    #[test]
    fn a_star_stands_for_one_label_in_front() {
        let text =
            "version: STSv1\nmode: enforce\nmx: mx.one.example\nmx: *.two.example\nmax_age: 1";
        let policy = StsPolicy::parse(text).unwrap();
        for (server, named) in [
            ("mx.one.example", true),
            ("MX.One.example.", true),
            ("a.mx.one.example", false),
            ("one.example", false),
            ("a.two.example", true),
            ("a.b.two.example", false),
            ("two.example", false),
            ("atwo.example", false),
        ] {
            assert_eq!(policy.names(server), named, "{server}");
        }
    }
}
