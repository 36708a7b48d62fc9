//! Compares domains: same owner, look-alike.

use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::MixedScript;

use crate::headers::domain_name::DomainName;

/// Characters of a name below which a near miss is chance.
const NAME_CHARS: usize = 4;
/// Characters of a name from which on any letter that differs is no chance.
const LONG_NAME_CHARS: usize = 7;
/// The same for the first letter, by which people tell words apart.
const RHYME_CHARS: usize = 10;

/// The part of a domain that somebody registered: `shop.co.uk` of `mail.shop.co.uk`.
pub(super) fn registered_domain(domain: &str) -> String {
    match DomainName::parse(domain) {
        Some(name) => name.organisation().to_string(),
        None => domain.trim_end_matches('.').to_lowercase(),
    }
}

pub(super) fn is_same_owner(one: &str, other: &str) -> bool {
    registered_domain(one) == registered_domain(other)
}

/// The domain of an address.
pub(super) fn of_address(email: &str) -> &str {
    email.rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// True for a domain under a suffix that exists.
pub(super) fn exists(domain: &str) -> bool {
    let registered = |name: &DomainName| public_suffix::registered_domain(name.as_str()).is_some();
    let name = DomainName::parse(domain).filter(registered);
    name.is_some_and(|name| public_suffix::has_known_suffix(name.as_str()))
}

/// True for a domain with an ending under which names are registered, such an ending included:
/// some have mailboxes of their own (`iki.fi`).
pub(super) fn has_known_ending(domain: &str) -> bool {
    let name = DomainName::parse(domain).filter(|name| name.as_str().contains('.'));
    let known = |name: DomainName| public_suffix::has_known_suffix(name.as_str());
    name.is_some_and(known)
}

/// True for another owner's domain that a reader takes for this one: letters swapped for ones that
/// look alike, one letter off, or words added by a hyphen.
pub(super) fn looks_like(domain: &str, real: &str) -> bool {
    DomainSkeleton::of(domain).looks_like(&DomainSkeleton::of(real))
}

/// A registered domain as an eye in a hurry sees it, ready to be compared with many.
#[derive(Debug)]
pub(super) struct DomainSkeleton {
    pub registered: String,
    /// The name without its public ending, in the letters that are shown.
    name: String,
    seen: String,
}

impl DomainSkeleton {
    pub fn of(domain: &str) -> DomainSkeleton {
        let registered = registered_domain(domain);
        let name = name_of(&registered);
        DomainSkeleton { seen: as_seen(&name), name, registered }
    }

    pub fn looks_like(&self, real: &DomainSkeleton) -> bool {
        if self.registered == real.registered || real.name.chars().count() < NAME_CHARS {
            return false;
        }
        if self.seen == real.seen {
            // The same name under another ending is most often the same owner.
            return self.name != real.name && !is_numbered_like(&self.name, &real.name);
        }
        let ending = |domain: &DomainSkeleton| {
            domain.registered.split_once('.').map(|(_, end)| end.to_owned())
        };
        real.name.chars().count() > NAME_CHARS
            && !is_numbered_like(&self.name, &real.name)
            && (one_step(&self.seen, &real.seen) || one_step(&self.name, &real.name))
            && ending(self) == ending(real)
    }

    /// True for a name that differs only in letters which look the same, or in a hyphen.
    pub fn imitates(&self, real: &DomainSkeleton) -> bool {
        let is_other = self.registered != real.registered && self.name != real.name;
        let is_numbered = is_numbered_like(&self.name, &real.name);
        real.name.chars().count() >= NAME_CHARS
            && is_other
            && !is_numbered
            && self.seen == real.seen
    }
}

/// True for another owner's domain that differs from this one only in letters which look the same.
pub(super) fn imitates(domain: &str, real: &str) -> bool {
    DomainSkeleton::of(domain).imitates(&DomainSkeleton::of(real))
}

/// True for two names that differ in their numbers alone, such as `mail41` and `mail21`: whoever
/// numbers names has many of them, and no number looks like another.
fn is_numbered_like(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let is_numbered = |name: &str| name.contains(|c: char| c.is_ascii_digit());
    one != other && is_numbered(one) && is_numbered(other) && letters(one) == letters(other)
}

/// True for a name that is wholly of letters which look like Latin ones: `аррӏе` in Cyrillic.
pub(super) fn poses_as_latin(domain: &str) -> bool {
    let (unicode, _) = idna::domain_to_unicode(domain);
    unicode.split('.').any(|label| {
        let seen = || skeleton(label).collect::<String>();
        !label.is_ascii() && seen().is_ascii()
    })
}

/// True for a name that mixes scripts, as only a look-alike does.
pub(super) fn mixes_scripts(domain: &str) -> bool {
    let (unicode, _) = idna::domain_to_unicode(domain);
    unicode.split('.').any(|label| !label.is_ascii() && !label.is_single_script())
}

/// The name without its public ending, in the letters that are shown.
fn name_of(domain: &str) -> String {
    let (unicode, _) = idna::domain_to_unicode(domain);
    unicode.split('.').next().unwrap_or_default().to_owned()
}

/// The name as an eye in a hurry sees it.
fn as_seen(name: &str) -> String {
    let swapped = name.replace("rn", "m").replace("vv", "w").replace('0', "o").replace('1', "l");
    let swapped: String = swapped.chars().filter(|c| *c != '-').collect();
    skeleton(&swapped).collect::<String>().to_lowercase()
}

/// True when one letter was added, left out, changed, or swapped with the next. Short names are near one
/// another by chance: there a letter may only be swapped or doubled. So are words that rhyme.
fn one_step(one: &str, other: &str) -> bool {
    if one.len().abs_diff(other.len()) > 4 {
        return false;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    let same = short.iter().zip(long.iter()).take_while(|(a, b)| a == b).count();
    let is_long = short.len() >= LONG_NAME_CHARS && (same > 0 || short.len() >= RHYME_CHARS);
    match long.len() - short.len() {
        0 if same == short.len() => false,
        0 => {
            (is_long && short[same + 1..] == long[same + 1..])
                || (same + 1 < short.len()
                    && short[same] == long[same + 1]
                    && short[same + 1] == long[same]
                    && short[same + 2..] == long[same + 2..])
        }
        1 => {
            let is_doubled = same > 0 && long[same] == long[same - 1];
            (is_long || is_doubled) && short[same..] == long[same + 1..]
        }
        _ => false,
    }
}

/// Providers at which anybody gets an address.
pub(super) fn is_freemail(domain: &str) -> bool {
    crate::is_public_provider(&registered_domain(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alikes_are_told_from_relatives() {
        for alike in [
            "acmelarnps.com",
            "acrnelamps.com",
            "acme1amps.com",
            "acmelamp.com",
            "acme-lamps.com",
            "acmelmaps.com",
            "аcmelamps.com",
            "xn--cmelamps-06g.com",
        ] {
            assert!(looks_like(alike, "acmelamps.com"), "{alike}");
        }
        for other in
            ["acmelamps.com", "shop.acmelamps.com", "acmelamps.de", "lamps.com", "example.org"]
        {
            assert!(!looks_like(other, "acmelamps.com"), "{other}");
        }
        assert!(!looks_like("abd.com", "abc.com"), "short names are near one another by chance");
    }

    #[test]
    fn numbered_short_and_rhyming_names_are_no_look_alikes() {
        for (one, other) in [
            ("mail41.test", "mail21.test"),
            ("mail1.test", "mail10.test"),
            ("hotel24.de", "hotel25.de"),
            ("shop10.com", "shop01.com"),
            ("baker.com", "maker.com"),
            ("lamps.com", "lamp.com"),
            ("reader.com", "leader.com"),
            ("golding.com", "holding.com"),
            ("berlin.de", "merlin.de"),
        ] {
            assert!(!looks_like(one, other), "{one} {other}");
            assert!(!imitates(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("appel.com", "apple.com"),
            ("appple.com", "apple.com"),
            ("app1e.com", "apple.com"),
            ("rnail21.test", "mail21.test"),
            ("shopl0.com", "shop10.com"),
            ("harborlime.com", "harborline.com"),
        ] {
            assert!(looks_like(one, other), "{one} {other}");
        }
    }

    #[test]
    fn names_in_letters_that_only_look_latin_are_told() {
        for posing in ["аррӏе.com", "ѕсоре.com", "ɑpple.com"] {
            assert!(poses_as_latin(posing), "{posing}");
        }
        for honest in ["müller.de", "пример.рф", "example.com", "日本.jp", "łódź.pl", "ελλάδα.gr"]
        {
            assert!(!poses_as_latin(honest), "{honest}");
        }
    }

    #[test]
    fn owners_are_told_by_what_is_registered() {
        assert_eq!(registered_domain("Mail.Shop.co.uk."), "shop.co.uk");
        assert!(is_same_owner("a.shop.com", "b.shop.com"));
        assert!(!is_same_owner("a.co.uk", "b.co.uk"));
        assert!(exists("shop.example.com") && !exists("readme.md.nosuch") && !exists("localhost"));
    }

    #[test]
    fn scripts_are_mixed_only_by_tricksters() {
        assert!(mixes_scripts("pаypal.com"));
        assert!(!mixes_scripts("пример.рф"));
        assert!(!mixes_scripts("müller.de"));
    }
}
