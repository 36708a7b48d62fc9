//! Brands that scams borrow, read from `brands.txt`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::domain::{self, DomainSkeleton};
use super::letters::fold;

/// A brand of the list.
#[derive(Debug)]
pub(super) struct Brand {
    /// The first of its names, as it is shown.
    pub name: String,
    /// Its name as one word, as a domain has it.
    solid: String,
    domains: Vec<String>,
}

/// A name of a brand, folded.
struct BrandName {
    brand: usize,
    words: Vec<String>,
    /// Also an everyday word: it needs company.
    common: bool,
}

struct BrandList {
    brands: Vec<Brand>,
    /// By the first word of the name.
    names: HashMap<String, Vec<BrandName>>,
    /// Names as one word, as a domain has them, and the brand of each.
    solid: Vec<(String, usize)>,
    /// The first domain of each brand, for look-alikes.
    seen: Vec<(DomainSkeleton, usize)>,
    /// Every domain of every brand, and every name of one as one word.
    owned: HashSet<String>,
}

/// Letters of a name from which on it is looked for inside a longer word.
const SOLID_CHARS: usize = 6;
/// Letters of a name that is looked for between the hyphens and dots of a domain.
const PART_CHARS: usize = 3;

static BRANDS: LazyLock<BrandList> = LazyLock::new(|| BrandList::parse(include_str!("brands.txt")));

impl BrandList {
    fn parse(file: &str) -> BrandList {
        let mut list = BrandList {
            brands: Vec::new(),
            names: HashMap::new(),
            solid: Vec::new(),
            seen: Vec::new(),
            owned: HashSet::new(),
        };
        for line in file.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                list.add(line);
            }
        }
        list
    }

    fn add(&mut self, line: &str) {
        let mut columns = line.split('|').map(str::trim);
        let names: Vec<&str> = columns.next().unwrap_or_default().split(',').collect();
        let domains = columns.next().unwrap_or_default().split_whitespace();
        let brand = self.brands.len();
        for name in &names {
            let common = name.trim().ends_with('!');
            let folded = fold(name).words;
            let words: Vec<String> = folded.split(' ').map(str::to_owned).collect();
            if !common {
                self.solid.push((words.concat(), brand));
            }
            let named = BrandName { brand, words, common };
            self.names.entry(named.words[0].clone()).or_default().push(named);
        }
        let name = names[0].trim().trim_end_matches('!').to_owned();
        let domains: Vec<String> = domains.map(str::to_owned).collect();
        let first = domains.first().filter(|first| first.len() > SOLID_CHARS);
        self.seen.extend(first.map(|first| (DomainSkeleton::of(first), brand)));
        let solid = name.replace(' ', "");
        self.owned.extend(domains.iter().cloned().chain([solid.clone()]));
        self.brands.push(Brand { name, solid, domains });
    }
}

impl Brand {
    /// True for a domain that is the brand's, its own name under any ending included.
    pub fn owns(&self, host: &str) -> bool {
        let registered = domain::registered_domain(host);
        let within = |own: &String| {
            let rest = host.strip_suffix(own.as_str());
            registered == *own || rest.is_some_and(|rest| rest.ends_with('.'))
        };
        // Some brands have an ending of their own.
        let ending = host.rsplit('.').next() == Some(self.solid.as_str());
        label(&registered) == self.solid || ending || self.domains.iter().any(within)
    }

    /// The name as it is written in a sentence.
    pub fn title(&self) -> String {
        let capital = |word: &str| {
            let mut letters = word.chars();
            let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
            first.unwrap_or_default() + letters.as_str()
        };
        self.name.split(' ').map(capital).collect::<Vec<_>>().join(" ")
    }
}

/// The first brand that a folded name or subject speaks of. An everyday word counts where it is all
/// there is, or where a word beside it makes an office of it.
pub(super) fn brand_in(folded: &str) -> Option<&'static Brand> {
    let words: Vec<&str> = folded.split(' ').collect();
    let begins = |at: usize| BRANDS.names.get(words[at]).map(|names| (at, names));
    let found = (0..words.len()).filter_map(begins).find_map(|(at, names)| {
        names.iter().find(|name| {
            let there = words[at..].len() >= name.words.len()
                && name.words.iter().zip(&words[at..]).all(|(wanted, word)| wanted == word);
            let beside = [at.checked_sub(1), Some(at + name.words.len())];
            let office = |place: &Option<usize>| {
                place.and_then(|place| words.get(place)).is_some_and(|word| OFFICES.contains(word))
            };
            there && (!name.common || words.len() == name.words.len() || beside.iter().any(office))
        })
    })?;
    Some(&BRANDS.brands[found.brand])
}

/// The brand whose name stands inside a domain, or between its dots and hyphens.
pub(super) fn brand_in_domain(host: &str) -> Option<&'static Brand> {
    let shown = fold(&idna::domain_to_unicode(host).0).words;
    let parts: Vec<&str> = shown.split(' ').collect();
    let bare = |part: &str| part.trim_matches(|c: char| c.is_ascii_digit()).to_owned();
    let parts: Vec<String> = parts.into_iter().map(bare).filter(|part| !part.is_empty()).collect();
    let named = |(name, _): &&(String, usize)| {
        parts.iter().any(|part| {
            (name.len() >= PART_CHARS && part == name)
                || (name.len() >= SOLID_CHARS && part.contains(name.as_str()))
        })
    };
    BRANDS.solid.iter().find(named).map(|(_, brand)| &BRANDS.brands[*brand])
}

/// The brand that a domain looks like without being it.
pub(super) fn brand_looked_like(host: &str) -> Option<&'static Brand> {
    let seen = DomainSkeleton::of(host);
    let alike = BRANDS.seen.iter().find(|(real, _)| seen.looks_like(real))?;
    Some(&BRANDS.brands[alike.1]).filter(|brand| !brand.owns(host))
}

/// True for a domain of a brand of the list.
pub(super) fn is_brands(host: &str) -> bool {
    let registered = domain::registered_domain(host);
    BRANDS.owned.contains(&label(&registered)) || BRANDS.owned.contains(&registered)
}

/// The name of a registered domain as one word.
fn label(registered: &str) -> String {
    registered.split('.').next().unwrap_or_default().replace('-', "")
}

/// Words that make an office of a name: "Chase support", "Ihr Apple Konto".
const OFFICES: &[&str] = &[
    "account",
    "accounts",
    "alert",
    "alerts",
    "app",
    "bank",
    "billing",
    "bonus",
    "card",
    "care",
    "center",
    "centre",
    "client",
    "customer",
    "customers",
    "delivery",
    "department",
    "dept",
    "desk",
    "gift",
    "help",
    "helpdesk",
    "id",
    "inc",
    "info",
    "member",
    "membership",
    "notice",
    "notification",
    "notifications",
    "online",
    "pay",
    "payment",
    "payments",
    "prime",
    "promo",
    "reward",
    "rewards",
    "security",
    "service",
    "services",
    "shop",
    "store",
    "support",
    "team",
    "update",
    "verification",
    "wallet",
    "kundenservice",
    "kundendienst",
    "konto",
    "sicherheit",
    "gutschein",
    "compte",
    "securite",
    "clients",
    "cuenta",
    "seguridad",
    "conto",
    "sicurezza",
    "assistenza",
    "rekening",
    "klantenservice",
    "conta",
    "atendimento",
    "seguranca",
    "konta",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn find_name(text: &str) -> Option<&'static str> {
        brand_in(&fold(text).words).map(|brand| brand.name.as_str())
    }

    #[test]
    fn brands_are_found_in_names() {
        assert_eq!(find_name("Microsoft account team"), Some("microsoft"));
        assert_eq!(find_name("\\|BANCO*DO*BRASIL|/"), Some("banco do brasil"));
        assert_eq!(find_name("Аmazon.cоm Customer"), Some("amazon"));
        assert_eq!(find_name("Chase"), Some("chase"));
        assert_eq!(find_name("Apple Support"), Some("apple"));
    }

    #[test]
    fn everyday_words_need_company() {
        for honest in ["Chase Miller", "Orange Tree Cafe", "Zoom lenses", "Ann Lee", ""] {
            assert_eq!(find_name(honest), None, "{honest}");
        }
    }

    #[test]
    fn a_brand_owns_its_domains_and_its_name_under_any_ending() {
        let brand = brand_in("amazon").unwrap();
        for own in
            ["amazon.com", "mail.amazon.co.uk", "amazon.de", "email.amazonses.com", "post.amazon"]
        {
            assert!(brand.owns(own), "{own}");
        }
        assert!(!brand.owns("amazon-prime.top") && !brand.owns("amazon.com.evil.org"));
    }

    #[test]
    fn brands_are_found_inside_domains() {
        let inside = |host: &str| brand_in_domain(host).map(|brand| brand.name.as_str());
        assert_eq!(inside("paypal.com.evil.org"), Some("paypal"));
        assert_eq!(inside("marriottgdw.com"), Some("marriott"));
        assert_eq!(inside("dhl-paket.top"), Some("dhl"));
        assert_eq!(inside("campanhasbradesco182758"), Some("bradesco"));
        for honest in ["adhlet.com", "applegate.com", "shop.com"] {
            assert_eq!(inside(honest), None, "{honest}");
        }
    }

    #[test]
    fn every_line_has_names_domains_and_a_source() {
        for line in include_str!("brands.txt").lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let told = columns.len() == 3 && matches!(columns[2], "web" | "mail");
            assert!(line.is_empty() || told, "{line}");
        }
    }
}
