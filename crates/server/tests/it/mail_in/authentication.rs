//! What the DNS proves about mail, against a DNS server with real records.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use inbound::{Authenticator, BelievedResults, Credentials, MailSource};
use mail::{Authentication, AuthenticationResult, Dmarc, DmarcPolicy};
use mail_auth::arc::ArcSealer;
use mail_auth::common::crypto::Ed25519Key;
use mail_auth::common::headers::HeaderWriter;
use mail_auth::dkim::DkimSigner;
use mail_auth::{ArcOutput, AuthenticatedMessage, AuthenticationResults, DmarcOutput, DmarcResult};
use server::mail_in::authentication::{AuthenticationConfig, DnsAuthenticator};
use test_dns::{DnsAnswer, DnsRecord, DnsServer};

/// A sender that everything here knows.
const ANN: &str = "ann@customer.example";
const OWN_IP: [u8; 4] = [192, 0, 2, 10];
const OTHER_IP: [u8; 4] = [198, 51, 100, 7];
/// Far more than the proofs of two mails may take, and less than one took with a dead DNS server.
const SOON: Duration = Duration::from_secs(9);
const FORWARDER: &str = "mx.acme.example";

#[tokio::test]
async fn spf_of_the_shown_domain_passes_dmarc() {
    let world = World::new("v=DMARC1; p=reject");
    let verdict = world.check(&letter(), Some(ANN), from(OWN_IP)).await;
    assert_eq!(
        (verdict.spf, verdict.dkim, verdict.dmarc),
        (AuthenticationResult::Pass, AuthenticationResult::None, Dmarc::Pass)
    );
}

#[tokio::test]
async fn a_mail_from_elsewhere_fails_with_the_policy_that_is_published() {
    for (policy, expected) in [
        ("reject", DmarcPolicy::Reject),
        ("quarantine", DmarcPolicy::Quarantine),
        ("none", DmarcPolicy::None),
    ] {
        let world = World::new(&format!("v=DMARC1; p={policy}"));
        let verdict = world.check(&letter(), Some(ANN), from(OTHER_IP)).await;
        assert_eq!(
            (verdict.spf, verdict.dmarc),
            (AuthenticationResult::Fail, Dmarc::Fail),
            "{policy}"
        );
        assert_eq!(verdict.policy, expected);
    }
}

#[tokio::test]
async fn spf_of_another_domain_proves_nothing_about_the_shown_one() {
    let world = World::new("v=DMARC1; p=reject");
    let verdict = world.check(&letter(), Some("bounce@evil.example"), from(OTHER_IP)).await;
    assert_eq!((verdict.spf, verdict.dmarc), (AuthenticationResult::Pass, Dmarc::Fail));
}

#[tokio::test]
async fn a_signature_passes_wherever_the_mail_comes_from() {
    let world = World::new("v=DMARC1; p=reject");
    let signed = world.signed(&letter(), "customer.example");
    for source in [from(OTHER_IP), MailSource::OurServer] {
        let verdict = world.check(&signed, Some("list@evil.example"), source).await;
        assert_eq!((verdict.dkim, verdict.dmarc), (AuthenticationResult::Pass, Dmarc::Pass));
    }
    let verdict = world.check(&signed.replace("broken", "fine"), Some(ANN), from(OTHER_IP)).await;
    assert_eq!(verdict.dmarc, Dmarc::Fail);
}

#[tokio::test]
async fn a_signature_of_another_domain_proves_nothing_about_the_shown_one() {
    let world = World::new("v=DMARC1; p=reject");
    let signed = world.signed(&letter(), "evil.example");
    let verdict = world.check(&signed, Some("x@evil.example"), from(OTHER_IP)).await;
    assert_eq!((verdict.dkim, verdict.dmarc), (AuthenticationResult::Pass, Dmarc::Fail));
}

#[tokio::test]
async fn a_second_from_field_takes_a_signature_its_worth() {
    let world = World::new("v=DMARC1; p=reject");
    let signed = world.signed(&letter(), "customer.example");
    let doubled = format!("From: Boss <boss@customer.example>\r\n{signed}");
    let credentials = Credentials {
        raw: doubled.as_bytes(),
        from: Some("boss@customer.example"),
        sender: Some("x@evil.example"),
        source: &from(OTHER_IP),
    };
    assert_eq!(world.authenticator.check(credentials).await.dmarc, Dmarc::Fail);
    let other = Credentials {
        raw: signed.as_bytes(),
        from: Some("boss@customer.example"),
        sender: Some("x@evil.example"),
        source: &from(OTHER_IP),
    };
    assert_eq!(world.authenticator.check(other).await.dmarc, Dmarc::Fail, "another is shown");
}

#[tokio::test]
async fn a_dot_at_the_end_of_a_domain_evades_no_policy() {
    let world = World::new("v=DMARC1; p=reject");
    let dotted = letter().replace(ANN, "Ann@Customer.example.");
    let check = async |sender: &str, ip| {
        let source = from(ip);
        let credentials = Credentials {
            raw: dotted.as_bytes(),
            from: Some("Ann@Customer.example."),
            sender: Some(sender),
            source: &source,
        };
        world.authenticator.check(credentials).await
    };
    let forged = check("x@evil.example", OTHER_IP).await;
    assert_eq!((forged.dmarc, forged.policy), (Dmarc::Fail, DmarcPolicy::Reject));
    let own = check("ann@customer.example.", OWN_IP).await;
    assert_eq!((own.spf, own.dmarc), (AuthenticationResult::Pass, Dmarc::Pass));
}

#[tokio::test]
async fn a_domain_without_a_policy_is_no_failure() {
    let world = World::new("");
    let verdict = world.check(&letter(), Some(ANN), from(OTHER_IP)).await;
    assert_eq!((verdict.spf, verdict.dmarc), (AuthenticationResult::Fail, Dmarc::Absent));
}

#[tokio::test]
async fn a_mail_that_wants_no_bounces_is_known_by_its_machines_name() {
    let world = World::new("v=DMARC1; p=reject");
    let source = |helo: &str| MailSource::Sender { ip: OWN_IP.into(), helo: helo.into() };
    let verdict = world.check(&letter(), Some(""), source("customer.example")).await;
    assert_eq!(verdict.dmarc, Dmarc::Pass);
    let verdict = world.check(&letter(), Some(""), source("nobody.invalid")).await;
    assert_eq!(verdict.dmarc, Dmarc::Fail);
}

#[tokio::test]
async fn a_machine_that_poses_as_another_fails_spf_and_its_senders_dmarc_stands() {
    let world = World::new("v=DMARC1; p=reject");
    world.tell("mx.customer.example", Some("v=spf1 -all"));
    let source = MailSource::Sender { ip: OWN_IP.into(), helo: "mx.customer.example".into() };
    let verdict = world.check(&letter(), Some(ANN), source).await;
    assert_eq!((verdict.spf, verdict.dmarc), (AuthenticationResult::Fail, Dmarc::Pass));
}

#[tokio::test]
async fn a_name_of_the_machine_counts_for_spf_if_it_leads_back_to_it() {
    for (policy, name, leads_to, expected) in [
        ("v=spf1 ptr -all", "customer.example", OWN_IP, AuthenticationResult::Pass),
        ("v=spf1 ptr -all", "mx.customer.example", OWN_IP, AuthenticationResult::Pass),
        ("v=spf1 ptr -all", "customer.example", OTHER_IP, AuthenticationResult::Fail),
        ("v=spf1 ptr -all", "notcustomer.example", OWN_IP, AuthenticationResult::Fail),
        (
            "v=spf1 exists:%{p}.ok.example -all",
            "mx.customer.example",
            OWN_IP,
            AuthenticationResult::Pass,
        ),
        (
            "v=spf1 exists:%{p}.ok.example -all",
            "mx.customer.example",
            OTHER_IP,
            AuthenticationResult::Fail,
        ),
    ] {
        let world = World::new("");
        let records = HashMap::from([
            ("10.2.0.192.in-addr.arpa", vec![DnsRecord::Ptr(name.into())]),
            (
                "customer.example",
                vec![DnsRecord::Txt(policy.into()), DnsRecord::A(leads_to.into())],
            ),
            ("mx.customer.example", vec![DnsRecord::A(leads_to.into())]),
            ("notcustomer.example", vec![DnsRecord::A(leads_to.into())]),
            ("mx.customer.example.ok.example", vec![DnsRecord::A([127, 0, 0, 2].into())]),
        ]);
        world.names.learn(move |name| match records.get(name) {
            Some(records) => DnsAnswer::Records(records.clone()),
            None => DnsAnswer::Nothing,
        });
        let verdict = world.check(&letter(), Some(ANN), from(OWN_IP)).await;
        assert_eq!(verdict.spf, expected, "{policy} {name} {leads_to:?}");
    }
}

#[tokio::test]
async fn behind_our_server_only_strict_domains_can_fail_without_a_signature() {
    for (policy, expected) in
        [("none", Dmarc::Absent), ("quarantine", Dmarc::Fail), ("reject", Dmarc::Fail)]
    {
        let world = World::new(&format!("v=DMARC1; p={policy}"));
        let verdict = world.check(&letter(), Some(ANN), MailSource::OurServer).await;
        assert_eq!(
            (verdict.spf, verdict.dmarc),
            (AuthenticationResult::None, expected),
            "{policy}"
        );
    }
}

#[tokio::test]
async fn what_our_server_found_is_believed_if_it_is_named_and_only_then() {
    let world = World::new("v=DMARC1; p=reject");
    let told = |server: &str, outcome: &str, sender: &str| {
        let found = format!("{server}; spf={outcome} smtp.mailfrom={sender}");
        format!("Authentication-Results: {found}\r\n{}", letter())
    };
    let ours = MailSource::OurServer;
    for (mail, sender, source, expected) in [
        (told(FORWARDER, "pass", ANN), Some(ANN), ours.clone(), Dmarc::Pass),
        (told(FORWARDER, "pass", ANN), None, ours.clone(), Dmarc::Pass),
        (told(FORWARDER, "fail", ANN), Some(ANN), ours.clone(), Dmarc::Fail),
        (told(FORWARDER, "pass", "x@evil.example"), None, ours.clone(), Dmarc::Fail),
        (told("mx.evil.example", "pass", ANN), Some(ANN), ours, Dmarc::Fail),
        (told(FORWARDER, "pass", ANN), Some(ANN), from(OTHER_IP), Dmarc::Fail),
    ] {
        assert_eq!(world.check(&mail, sender, source).await.dmarc, expected, "{mail}");
    }
}

#[tokio::test]
async fn only_the_topmost_results_of_the_mailboxs_own_server_are_believed() {
    let world = World::new("v=DMARC1; p=reject");
    let found = |server: &str, sender: &str| {
        format!("Authentication-Results: {server}; spf=pass smtp.mailfrom={sender}\r\n")
    };
    let other = "Authentication-Results: mx.other.example; spf=none\r\n";
    let hop = "Received: from x.evil.example by mx.google.com; Mon, 6 May 2024 10:00:00 +0000\r\n";
    let google = BelievedResults::of_provider(&["mx.google.com"]);
    let fastmail = BelievedResults::of_provider(&[".messagingengine.com"]);
    let guessed = BelievedResults::of_host("imap.host.example");
    let two = BelievedResults::of_provider(&["dmarc.icloud.com", "spf.icloud.com"]);
    for (fields, believed, expected) in [
        (found("mx.google.com", ANN), &google, Dmarc::Pass),
        (format!("{hop}{}", found("mx.google.com", ANN)), &google, Dmarc::Pass),
        (format!("{other}{}", found("mx.google.com", ANN)), &google, Dmarc::Fail),
        (found("evil.mx.google.com", ANN), &google, Dmarc::Fail),
        (found("google.com", ANN), &google, Dmarc::Fail),
        (
            format!("{}{}", found("mx.google.com", "x@evil.example"), found("mx.google.com", ANN)),
            &google,
            Dmarc::Fail,
        ),
        (found("mx3.messagingengine.com", ANN), &fastmail, Dmarc::Pass),
        (found("messagingengine.com.evil.example", ANN), &fastmail, Dmarc::Fail),
        (found("imap.host.example", ANN), &guessed, Dmarc::Pass),
        (format!("{hop}{}", found("imap.host.example", ANN)), &guessed, Dmarc::Fail),
        (found("x.imap.host.example", ANN), &guessed, Dmarc::Fail),
        (
            format!(
                "Authentication-Results: dmarc.icloud.com; dmarc=pass\r\n{}",
                found("spf.icloud.com", ANN)
            ),
            &two,
            Dmarc::Pass,
        ),
    ] {
        let source = MailSource::Mailbox { believed: believed.clone() };
        let mail = format!("{fields}{}", letter());
        assert_eq!(world.check(&mail, None, source).await.dmarc, expected, "{fields}");
    }
}

#[tokio::test]
async fn a_sender_is_proven_without_a_policy_by_its_own_server_or_signature() {
    let world = World::new("");
    let own = world.check(&letter(), Some(ANN), from(OWN_IP)).await;
    assert_eq!((own.dmarc, own.proves_sender()), (Dmarc::Absent, true));
    let signed = world.signed(&letter(), "customer.example");
    assert!(world.check(&signed, Some("x@evil.example"), from(OTHER_IP)).await.proves_sender());
    let foreign = world.signed(&letter(), "evil.example");
    for (mail, sender) in
        [(letter(), ANN), (letter(), "x@evil.example"), (foreign, "x@evil.example")]
    {
        let found = world.check(&mail, Some(sender), from(OTHER_IP)).await;
        assert!(!found.proves_sender(), "{sender}");
    }
}

#[tokio::test]
async fn a_dns_that_fails_proves_nothing_and_fails_nobody() {
    let world = World::new("v=DMARC1; p=reject");
    world.names.learn(|_| DnsAnswer::Trouble);
    let verdict = world.check(&letter(), Some(ANN), from(OTHER_IP)).await;
    assert_eq!(verdict, Authentication::default());
}

#[tokio::test]
async fn a_dns_server_that_is_not_there_is_noticed_at_once_and_remembered() {
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let authenticator = asking(closed);
    let (raw, source) = (letter(), from(OTHER_IP));
    let begun = Instant::now();
    for _ in 0..20 {
        let credentials = Credentials {
            raw: raw.as_bytes(),
            from: Some(ANN),
            sender: Some(ANN),
            source: &source,
        };
        assert_eq!(authenticator.check(credentials).await, Authentication::default());
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_domain_whose_dns_is_silent_leaves_what_others_prove_known() {
    let world = World::new("v=DMARC1; p=reject");
    let slow = |name: &str| name.ends_with("slow.example");
    world.silent_about(slow);
    let signed = world.signed(&letter(), "customer.example");
    let twice = world.signed(&signed, "slow.example");
    let begun = Instant::now();
    let verdict = world.check(&twice, Some("x@slow.example"), from(OTHER_IP)).await;
    assert_eq!(
        (verdict.spf, verdict.dkim, verdict.dmarc),
        (AuthenticationResult::None, AuthenticationResult::Pass, Dmarc::Pass)
    );
    let forged = twice.replace("broken", "fine");
    let verdict = world.check(&forged, Some("x@slow.example"), from(OTHER_IP)).await;
    assert_eq!(verdict.dmarc, Dmarc::Fail, "a stranger's silence excuses nobody");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_sender_whose_own_dns_is_silent_fails_nobody() {
    let world = World::new("v=DMARC1; p=reject");
    world.silent_about(|name| name.ends_with("customer.example"));
    let begun = Instant::now();
    let verdict = world.check(&letter(), Some(ANN), from(OTHER_IP)).await;
    assert_eq!(verdict, Authentication::default());
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stranger_whose_dns_fails_does_not_excuse_a_forgery() {
    let world = World::new("v=DMARC1; p=reject");
    world.tell("trouble.example", None);
    let verdict = world.check(&letter(), Some("x@trouble.example"), from(OTHER_IP)).await;
    assert_eq!(verdict.dmarc, Dmarc::Fail);
}

#[tokio::test]
async fn of_many_signatures_the_senders_own_is_found_and_few_are_looked_up() {
    let world = World::new("v=DMARC1; p=reject");
    let mut mail = world.signed(&letter(), "customer.example");
    for number in 0..30 {
        mail = world.signed(&mail, &format!("other{number}.example"));
    }
    let verdict = world.check(&mail, Some("x@evil.example"), from(OTHER_IP)).await;
    assert_eq!(verdict.dmarc, Dmarc::Pass);
    let asked = world.asked.lock().unwrap();
    let keys = asked.iter().filter(|name| name.contains("_domainkey"));
    let mut keys: Vec<&String> = keys.collect();
    keys.dedup();
    assert!(keys.len() <= 5, "{keys:?}");
}

#[tokio::test]
async fn a_known_forwarders_seal_excuses_what_it_found_and_proves_nobody() {
    let world = World::new("v=DMARC1; p=reject");
    for (sealer, found, expected) in [
        // Whoever has an account there may have it seal a mail that a rule of theirs has changed.
        ("google.com", DmarcResult::Pass, Dmarc::Absent),
        ("google.com", DmarcResult::None, Dmarc::Fail),
        ("evil.example", DmarcResult::Pass, Dmarc::Fail),
    ] {
        let sealed = world.sealed(&letter(), sealer, found);
        let verdict = world.check(&sealed, Some("x@evil.example"), from(OTHER_IP)).await;
        assert_eq!(verdict.dmarc, expected, "{sealer}");
        assert!(!verdict.proves_sender(), "{sealer}");
        let changed = sealed.replace("broken", "fine");
        let verdict = world.check(&changed, Some("x@evil.example"), from(OTHER_IP)).await;
        assert_eq!(verdict.dmarc, Dmarc::Fail, "changed behind {sealer}");
    }
}

#[tokio::test]
async fn a_mail_without_a_header_is_checked_by_its_sender_all_the_same() {
    let world = World::new("v=DMARC1; p=reject");
    let verdict =
        world.check("\r\nFrom: ann@customer.example\r\n", Some(ANN), from(OTHER_IP)).await;
    assert_eq!(verdict.dmarc, Dmarc::Fail);
}

fn letter() -> String {
    format!(
        "From: Ann <{ANN}>\r\nTo: support@acme.example\r\nSubject: Lamp\r\n\r\nIt is broken.\r\n"
    )
}

fn from(ip: [u8; 4]) -> MailSource {
    MailSource::Sender { ip: IpAddr::from(ip), helo: "mail.sender.invalid".into() }
}

/// A Mailroom that asks a DNS server.
fn asking(server: SocketAddr) -> DnsAuthenticator {
    let config =
        AuthenticationConfig { dns: Some(server), trusted_results: Some("MX.acme.example".into()) };
    DnsAuthenticator::of(&config).unwrap()
}

/// Some names, told from others.
type Which = fn(&str) -> bool;

/// The DNS of a few domains, and a Mailroom that asks it.
struct World {
    authenticator: DnsAuthenticator,
    names: DnsServer,
    key: Vec<u8>,
    asked: Arc<Mutex<Vec<String>>>,
    known: Arc<Mutex<HashMap<String, Option<String>>>>,
    silent: Arc<Mutex<Which>>,
}

impl World {
    /// `dmarc` is what customer.example publishes; every domain has the same key.
    fn new(dmarc: &str) -> World {
        let key = Ed25519Key::generate_pkcs8().unwrap();
        let public = STANDARD.encode(Ed25519Key::from_pkcs8_der(&key).unwrap().public_key());
        let mut known = HashMap::from([
            ("customer.example".to_owned(), Some("v=spf1 ip4:192.0.2.10 -all".to_owned())),
            ("evil.example".to_owned(), Some("v=spf1 +all".to_owned())),
        ]);
        if !dmarc.is_empty() {
            known.insert("_dmarc.customer.example".into(), Some(dmarc.into()));
        }
        let (known, asked) = (Arc::new(Mutex::new(known)), Arc::<Mutex<Vec<String>>>::default());
        let (knows, log) = (Arc::clone(&known), Arc::clone(&asked));
        let silent = Arc::new(Mutex::new((|_| false) as Which));
        let is_silent = Arc::clone(&silent);
        let names = DnsServer::start(move |name| {
            log.lock().unwrap().push(name.to_owned());
            if (*is_silent.lock().unwrap())(name) {
                return DnsAnswer::Silence;
            }
            if name.starts_with("s1._domainkey.") {
                let key = format!("v=DKIM1; k=ed25519; p={public}");
                return DnsAnswer::Records(vec![DnsRecord::Txt(key)]);
            }
            match knows.lock().unwrap().get(name) {
                Some(Some(text)) => DnsAnswer::Records(vec![DnsRecord::Txt(text.clone())]),
                Some(None) => DnsAnswer::Trouble,
                None => DnsAnswer::Nothing,
            }
        });
        let names = names.unwrap();
        let authenticator = asking(names.address);
        World { authenticator, names, key, asked, known, silent }
    }

    /// The server does not answer about these names from now on.
    fn silent_about(&self, names: Which) {
        *self.silent.lock().unwrap() = names;
    }

    /// What stands under a name from now on; nothing means that its server fails.
    fn tell(&self, name: &str, text: Option<&str>) {
        self.known.lock().unwrap().insert(name.into(), text.map(str::to_owned));
    }

    async fn check(&self, raw: &str, sender: Option<&str>, source: MailSource) -> Authentication {
        let credentials =
            Credentials { raw: raw.as_bytes(), from: Some(ANN), sender, source: &source };
        self.authenticator.check(credentials).await
    }

    fn key(&self) -> Ed25519Key {
        Ed25519Key::from_pkcs8_der(&self.key).unwrap()
    }

    fn signed(&self, mail: &str, domain: &str) -> String {
        let signer = DkimSigner::from_key(self.key());
        let signer = signer.domain(domain).selector("s1").headers(["From", "To", "Subject"]);
        format!("{}{mail}", signer.sign(mail.as_bytes()).unwrap().to_header())
    }

    fn sealed(&self, mail: &str, sealer: &str, found: DmarcResult) -> String {
        let message = AuthenticatedMessage::parse(mail.as_bytes()).unwrap();
        let dmarc = DmarcOutput::default().with_domain("customer.example").with_dkim_result(found);
        let results = AuthenticationResults::new(sealer).with_dmarc_result(&dmarc);
        let seal = ArcSealer::from_key(self.key())
            .domain(sealer)
            .selector("s1")
            .headers(["From", "To", "Subject"])
            .seal(&message, &results, &ArcOutput::default())
            .unwrap();
        format!("{}{mail}", seal.to_header())
    }
}
