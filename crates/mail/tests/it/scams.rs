//! The scam check: what marks a mail, what holds it, and what being known changes.

use mail::{
    Authentication, AuthenticationResult, Dmarc, DmarcPolicy, Envelope, Risk, SenderHistory,
    Verdict, check, parse,
};

fn checked(raw: &str, authentication: Authentication, known: &SenderHistory<'_>) -> Verdict {
    check(&parse(raw.as_bytes(), Envelope::default()), &authentication, known)
}

fn alone(raw: &str) -> Verdict {
    checked(raw, Authentication::default(), &SenderHistory::default())
}

fn own() -> Vec<String> {
    vec!["acmelamps.com".into()]
}

#[test]
fn an_ordinary_mail_has_no_points() {
    let verdict = alone("From: Ann <ann@shop.com>\nSubject: Lamp\n\nIt is broken, please help.");
    assert_eq!((verdict.score, verdict.risk, verdict.hold), (0.0, None, false));
    assert!(verdict.reasons.is_empty() && verdict.warning().is_none());
}

#[test]
fn a_look_alike_of_our_own_domain_is_held_even_for_a_contact() {
    let own = own();
    let known = SenderHistory { contact: true, own_domains: &own, ..SenderHistory::default() };
    let verdict = checked("From: boss@acme1amps.com\n\nHello", proven(), &known);
    assert_eq!(verdict.risk, Some(Risk::Impersonation));
    assert!(verdict.hold);
    assert_eq!(verdict.reasons, ["acme1amps.com looks like your own acmelamps.com, but is not."]);
}

#[test]
fn a_look_alike_of_somebody_we_write_to_is_marked() {
    let correspondents: Vec<String> =
        ["brightfoundry.com", "gmail.com", "harborline.com", "harborlime.com"]
            .map(Into::into)
            .into();
    let known = SenderHistory { correspondents: &correspondents, ..SenderHistory::default() };
    let judged = |from: &str, known: &SenderHistory<'_>| {
        checked(&format!("From: {from}\n\nHello"), proven(), known)
    };
    for alike in ["pay@brightf0undry.com", "pay@bright-foundry.com", "pay@brightfoundrv.com."] {
        let verdict = judged(alike, &known);
        assert_eq!(verdict.risk, Some(Risk::Suspicious), "{alike}");
        assert!(
            verdict.reasons[0]
                .ends_with("looks like brightfoundry.com, which you know, but is not.")
        );
    }
    for honest in [
        "ann@brightfoundry.com",
        "ann@mail.brightfoundry.com.",
        "ann@BrightFoundry.com",
        "ann@ymail.com",
        "ann@mail.com",
        "ann@harborline.com",
        "ann@harborlime.com",
        "ann@elsewhere.com",
    ] {
        assert_eq!(judged(honest, &known).risk, None, "{honest}");
    }
    let contact = SenderHistory { contact: true, ..known };
    assert_eq!(judged("pay@brightf0undry.com", &contact).risk, None);
}

#[test]
fn a_dot_at_the_end_of_a_domain_hides_nobody() {
    let own = own();
    let known = SenderHistory { own_domains: &own, ..SenderHistory::default() };
    let forged = Authentication { dmarc: Dmarc::Fail, ..Authentication::default() };
    let verdict = checked("From: boss@AcmeLamps.com.\n\nHello", forged, &known);
    assert!(verdict.hold, "{verdict:?}");
    let shown = "From: \"ceo@acmelamps.com.\" <x@elsewhere.com.>\n\nHello";
    assert!(checked(shown, Authentication::default(), &known).hold);
    let mail = parse(b"From: boss@AcmeLamps.com.\n\nHello", Envelope::default());
    assert_eq!(mail.from.unwrap().email, "boss@acmelamps.com");
}

#[test]
fn our_own_domain_must_be_proven() {
    let own = own();
    let known = SenderHistory { own_domains: &own, ..SenderHistory::default() };
    let forged = Authentication { dmarc: Dmarc::Fail, ..Authentication::default() };
    let verdict = checked("From: boss@acmelamps.com\n\nHello", forged, &known);
    assert!(verdict.hold, "{verdict:?}");
    let verdict = checked("From: boss@acmelamps.com\n\nHello", proven(), &known);
    assert_eq!(verdict.risk, None);
}

#[test]
fn a_name_that_shows_another_address_is_marked_and_ours_is_held() {
    let raw = "From: \"ceo@acmelamps.com\" <x@elsewhere.com>\n\nHello";
    assert_eq!(alone(raw).risk, Some(Risk::Suspicious));
    let own = own();
    let verdict = checked(
        raw,
        Authentication::default(),
        &SenderHistory { own_domains: &own, ..SenderHistory::default() },
    );
    assert!(verdict.hold && verdict.risk == Some(Risk::Impersonation));
}

#[test]
fn the_name_of_a_colleague_from_a_free_mailbox_is_marked() {
    let own = own();
    let team = vec!["Olive Owner".to_owned()];
    let known = SenderHistory { own_domains: &own, team: &team, ..SenderHistory::default() };
    let raw = |from: &str| format!("From: Olive OWNER <{from}>\n\nAre you at your desk?");
    let verdict = checked(&raw("olive.owner@gmail.com"), Authentication::default(), &known);
    assert!(verdict.risk.is_some(), "{verdict:?}");
    let verdict = checked(&raw("olive@acmelamps.com"), Authentication::default(), &known);
    assert_eq!(verdict.risk, None);
}

#[test]
fn haste_and_a_wish_for_money_are_needed_together() {
    let asks = |text: &str| alone(&format!("From: a@shop.com\n\n{text}")).score;
    assert_eq!(asks("Please answer immediately, it is urgent."), 0.0);
    assert!(asks("Our new bank details are below.") < 4.0);
    assert!(asks("Urgent: pay into our new bank account today.") >= 4.0);
    assert!(asks("Kaufen Sie sofort Geschenkkarten für mich.") >= 4.0);
}

#[test]
fn a_link_must_lead_where_it_says() {
    let mail = |shown: &str, target: &str| {
        alone(&format!(
            "From: a@shop.com\nContent-Type: text/html\n\n<a href=\"{target}\">{shown}</a>"
        ))
        .score
    };
    assert!(mail("www.paybank.com", "https://evil.com/x") > 0.0);
    assert!(mail("www.paybank.com", "https://paybanc.com/x") >= 4.0);
    assert!(mail("https://paybank.com", "http://203.0.113.9/") > 0.0);
    assert!(mail("here", "https://paybank.com@evil.com/") > 0.0);
    assert!(mail("here", "javascript:alert(1)") > 0.0);
    for honest in ["https://login.paybank.com/x", "http://www.paybank.com"] {
        assert_eq!(mail("www.paybank.com", honest), 0.0, "{honest}");
    }
    assert_eq!(mail("readme.txt", "https://shop.com/readme.txt"), 0.0);
    assert_eq!(
        mail(
            "www.paybank.com",
            "https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fpaybank.com%2F&amp;data=1"
        ),
        0.0
    );
}

#[test]
fn programs_dressed_as_documents_are_held() {
    let mail = |name: &str| {
        alone(&format!(
            "From: a@shop.com\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\n\
             Content-Type: application/octet-stream; name=\"{name}\"\nContent-Disposition: \
             attachment\n\nxx\n--b--\n"
        ))
    };
    assert!(mail("bill.pdf.exe").hold);
    assert!(mail("bill\u{202e}fdp.exe").hold);
    assert_eq!(mail("setup.exe").risk, Some(Risk::Suspicious));
    assert_eq!(mail("bill.pdf").risk, None);
}

#[test]
fn an_archive_is_judged_by_its_list_and_never_unpacked() {
    assert_eq!(with_archive("bill.js").risk, Some(Risk::Suspicious));
    assert_eq!(with_archive("bill.pdf").risk, None);
}

/// A mail with an archive that is nothing but its list: one name, and sizes that are lies.
fn with_archive(name: &str) -> Verdict {
    let mut raw = b"From: a@shop.com\nContent-Type: application/zip; name=bill.zip\n\
                    Content-Disposition: attachment\nContent-Transfer-Encoding: binary\n\n"
        .to_vec();
    raw.extend(b"PK\x01\x02");
    raw.extend([0xff; 24]);
    raw.extend((name.len() as u16).to_le_bytes());
    raw.extend([0; 16]);
    raw.extend(name.as_bytes());
    let mail = parse(&raw, Envelope::default());
    assert_eq!(mail.attachments.len(), 1);
    check(&mail, &Authentication::default(), &SenderHistory::default())
}

#[test]
fn a_proven_contact_is_trusted_and_an_unproven_one_hardly() {
    let raw = "From: a@shop.com\n\nUrgent: pay into our new bank account today.";
    let known = SenderHistory { contact: true, ..SenderHistory::default() };
    assert_eq!(checked(raw, proven(), &known).risk, None);
    assert!(checked(raw, Authentication::default(), &SenderHistory::default()).risk.is_some());
    let forged = Authentication {
        dmarc: Dmarc::Fail,
        policy: DmarcPolicy::Reject,
        ..Authentication::default()
    };
    assert!(checked(raw, forged, &known).hold);
}

#[test]
fn at_most_three_reasons_are_given_the_weightiest_first() {
    let raw = "From: \"a@paybank.com\" <x@elsewhere.com>\nReply-To: y@gmail.com\nSubject: Urgent\n\
               Content-Type: text/html\n\nVerify your account and send gift cards \
               <a href=\"http://1.2.3.4/\">www.paybank.com</a>";
    let verdict = alone(raw);
    assert_eq!(verdict.reasons.len(), 3);
    assert!(verdict.hold && verdict.score >= 7.0);
    let warning = verdict.warning().unwrap();
    assert!(warning.hold && warning.reasons == verdict.reasons);
}

fn proven() -> Authentication {
    Authentication {
        spf: AuthenticationResult::Pass,
        dkim: AuthenticationResult::Pass,
        dmarc: Dmarc::Pass,
        ..Authentication::default()
    }
}
