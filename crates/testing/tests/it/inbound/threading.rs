//! Which conversation a mail belongs to (decisions, "Threading").

use inbound::incoming_mail::FiledMail;
use mail::{Address, Dmarc, Mail};
use model::mailboxes::Mailbox;
use testing::{DAY, SECOND, TestApp, letter, on_both};

on_both!(
    a_participant_who_names_a_message_joins_whatever_the_subject,
    any_ancestor_may_be_the_one_that_is_known,
    an_answer_to_our_own_mail_joins_its_conversation,
    a_stranger_who_names_a_message_gets_a_new_conversation,
    a_stranger_with_the_same_subject_gets_a_new_conversation,
    the_same_sender_and_base_subject_join,
    a_subject_that_says_nothing_joins_nothing,
    the_subject_rule_looks_back_30_days_from_the_latest_mail,
    the_subject_rule_joins_the_latest_of_several,
    a_named_message_goes_before_the_subject,
    mail_that_fails_dmarc_joins_nothing,
    a_domain_without_dmarc_is_no_failure,
    a_message_of_another_inbox_does_not_thread,
    a_message_of_another_workspace_does_not_thread,
    whoever_was_copied_later_may_join_too,
    a_participants_colleague_who_names_a_message_joins,
    an_answer_to_our_mail_by_the_customers_colleague_joins,
    who_shares_a_provider_or_a_public_suffix_is_no_colleague,
    our_own_organisation_makes_nobody_a_colleague,
    who_was_only_written_about_makes_no_colleagues,
    the_inbox_itself_is_no_participant
);

const NAMED: &str = "first@x.example";

async fn a_participant_who_names_a_message_joins_whatever_the_subject(app: TestApp) {
    let first = begin(&app).await;
    for from in ["bruno@x.example", "Cara@x.example", "DORA@X.example"] {
        let joined = app.deliver(&app.support, naming(from, &[NAMED])).await;
        assert_eq!(joined.conversation, first.conversation, "{from}");
    }
}

async fn any_ancestor_may_be_the_one_that_is_known(app: TestApp) {
    let first = begin(&app).await;
    let unknown: Vec<String> = (0..10).map(|n| format!("u{n}@x.example")).collect();
    let mut answers: Vec<&str> = unknown.iter().map(String::as_str).collect();
    answers.push(NAMED);
    let joined = app.deliver(&app.support, naming("bruno@x.example", &answers)).await;
    assert_eq!(joined.conversation, first.conversation);
}

async fn an_answer_to_our_own_mail_joins_its_conversation(app: TestApp) {
    let key = app.key("send").await;
    let first = begin(&app).await;
    let message = app.send_reply(&key, &first.conversation, "Here you are").await;
    let header_id = app.header_id(&message).await;
    let joined = app.deliver(&app.support, naming("bruno@x.example", &[&header_id])).await;
    assert_eq!(joined.conversation, first.conversation);
    let stranger = app.deliver(&app.support, naming("eve@evil.example", &[&header_id])).await;
    assert_ne!(stranger.conversation, first.conversation);
}

async fn a_stranger_who_names_a_message_gets_a_new_conversation(app: TestApp) {
    let key = app.key("read").await;
    let first = begin(&app).await;
    let before = app.read(&key, &first.conversation).await;
    app.advance(SECOND);
    for from in ["eve@evil.example", "bruno@evil.example", "support@acme.example"] {
        let alone = app.deliver(&app.support, naming(from, &[NAMED])).await;
        assert_ne!(alone.conversation, first.conversation, "{from}");
    }
    assert_eq!(app.read(&key, &first.conversation).await, before);
    assert_eq!(app.event_types().await, ["turn.changed"; 4]);
}

async fn a_stranger_with_the_same_subject_gets_a_new_conversation(app: TestApp) {
    let first = begin(&app).await;
    let alone = app.mail("eve@x.example", "Re: Lamp", "text").await;
    assert_ne!(alone.conversation, first.conversation);
}

async fn the_same_sender_and_base_subject_join(app: TestApp) {
    let first = begin(&app).await;
    for subject in [
        "Lamp",
        "Re: Lamp",
        "RE: re: LAMP",
        "Fwd: Lamp",
        "FW: Lamp",
        "AW: Lamp",
        "SV: Lamp",
        "Re[2]: Lamp",
        "RE (3): Lamp",
        "WG: AW: lamp",
        "  re :  Lamp ",
        "Antw: Lamp",
        "回复：Lamp",
    ] {
        let joined = app.mail("bruno@x.example", subject, "text").await;
        assert_eq!(joined.conversation, first.conversation, "{subject}");
    }
    for subject in ["Lamps", "The lamp", "Question: Lamp", "Re[x]: Lamp", "Re:", "", "Re Lamp"] {
        let alone = app.mail("bruno@x.example", subject, "text").await;
        assert_ne!(alone.conversation, first.conversation, "{subject}");
    }
}

async fn a_subject_that_says_nothing_joins_nothing(app: TestApp) {
    for subject in ["", "Re:", "Fwd: Re: ", "  "] {
        let first = app.mail("bruno@x.example", subject, "text").await;
        let second = app.mail("bruno@x.example", subject, "text").await;
        assert_ne!(first.conversation, second.conversation, "{subject:?}");
    }
}

async fn the_subject_rule_looks_back_30_days_from_the_latest_mail(app: TestApp) {
    let first = begin(&app).await;
    for _ in 0..3 {
        app.advance(30 * DAY - 1);
        let joined = app.mail("bruno@x.example", "Re: Lamp", "text").await;
        assert_eq!(joined.conversation, first.conversation);
    }
    app.advance(30 * DAY + 1);
    let late = app.mail("bruno@x.example", "Re: Lamp", "text").await;
    assert_ne!(late.conversation, first.conversation);
    let named = app.deliver(&app.support, naming("bruno@x.example", &[NAMED])).await;
    assert_eq!(named.conversation, first.conversation);
}

async fn the_subject_rule_joins_the_latest_of_several(app: TestApp) {
    let first = begin(&app).await;
    app.advance(40 * DAY);
    let second = app.mail("bruno@x.example", "Lamp", "text").await;
    assert_ne!(second.conversation, first.conversation);
    app.advance(SECOND);
    app.deliver(&app.support, naming("bruno@x.example", &[NAMED])).await;
    app.advance(SECOND);
    let third = app.mail("bruno@x.example", "Lamp", "text").await;
    assert_eq!(third.conversation, first.conversation);
}

async fn a_named_message_goes_before_the_subject(app: TestApp) {
    let first = begin(&app).await;
    let chair = app.mail("bruno@x.example", "Chair", "text").await;
    let named = Mail { subject: "Re: Chair".into(), ..naming("bruno@x.example", &[NAMED]) };
    assert_eq!(app.deliver(&app.support, named).await.conversation, first.conversation);
    let unknown = naming("bruno@x.example", &["unknown@x.example"]);
    let unknown = Mail { subject: "Re: Chair".into(), ..unknown };
    assert_eq!(app.deliver(&app.support, unknown).await.conversation, chair.conversation);
}

async fn mail_that_fails_dmarc_joins_nothing(app: TestApp) {
    let key = app.key("read").await;
    let first = begin(&app).await;
    for mail in [
        naming("bruno@x.example", &[NAMED]),
        letter("bruno@x.example", "Re: Lamp", "text"),
        Mail { subject: "Lamp".into(), ..naming("bruno@x.example", &[NAMED]) },
    ] {
        let failed = Mail { dmarc: Dmarc::Fail, ..mail };
        let alone = app.deliver(&app.support, failed).await;
        assert_ne!(alone.conversation, first.conversation);
    }
    assert_eq!(app.event_types().await, ["turn.changed"; 4]);
    assert_eq!(app.read(&key, &first.conversation).await["timeline"].as_array().unwrap().len(), 1);
}

async fn a_domain_without_dmarc_is_no_failure(app: TestApp) {
    let first = begin(&app).await;
    for mail in [naming("bruno@x.example", &[NAMED]), letter("bruno@x.example", "Re: Lamp", "text")]
    {
        let mail = Mail { dmarc: Dmarc::Absent, ..mail };
        assert_eq!(app.deliver(&app.support, mail).await.conversation, first.conversation);
    }
}

async fn a_message_of_another_inbox_does_not_thread(app: TestApp) {
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let private = app.private_inbox(&app.owner).await;
    let first = begin(&app).await;
    for inbox in [&sales, &private, &app.sandbox] {
        for mail in
            [naming("bruno@x.example", &[NAMED]), letter("bruno@x.example", "Re: Lamp", "text")]
        {
            let elsewhere = app.deliver(inbox, mail).await;
            assert_ne!(elsewhere.conversation, first.conversation, "{}", inbox.address);
        }
    }
}

async fn a_message_of_another_workspace_does_not_thread(app: TestApp) {
    let other = app.other_workspace("Globex").await;
    let theirs = app.act(&other, |tx, cx| model::mailboxes::all_seen_by(tx, cx.actor)).await;
    let theirs: Mailbox = theirs.into_iter().next().unwrap();
    let first = begin(&app).await;
    let incoming = app.incoming(&theirs, naming("bruno@x.example", &[NAMED]));
    let there =
        app.act(&other, move |tx, cx| inbound::receive::receive(tx, cx, &theirs, &incoming)).await;
    assert_ne!(there.conversation, first.conversation);
}

async fn whoever_was_copied_later_may_join_too(app: TestApp) {
    let first = begin(&app).await;
    let copied = Mail {
        message_id: Some("second@x.example".into()),
        cc: vec![Address::new(None, "finn@x.example")],
        ..naming("bruno@x.example", &[NAMED])
    };
    app.deliver(&app.support, copied).await;
    let joined = app.deliver(&app.support, naming("finn@x.example", &[NAMED])).await;
    assert_eq!(joined.conversation, first.conversation);
}

async fn a_participants_colleague_who_names_a_message_joins(app: TestApp) {
    let first = begin(&app).await;
    for from in ["eve@x.example", "finn@mail.x.example", "Gina@X.EXAMPLE"] {
        let joined = app.deliver(&app.support, naming(from, &[NAMED])).await;
        assert_eq!(joined.conversation, first.conversation, "{from}");
    }
    let failed = Mail { dmarc: Dmarc::Fail, ..naming("hans@x.example", &[NAMED]) };
    let alone = app.deliver(&app.support, failed).await;
    assert_ne!(alone.conversation, first.conversation, "who fails DMARC joins nothing");
}

async fn an_answer_to_our_mail_by_the_customers_colleague_joins(app: TestApp) {
    let key = app.key("send").await;
    let first = app.mail("bruno@x.example", "Lamp", "text").await;
    let message = app.send_reply(&key, &first.conversation, "Here you are").await;
    let colleague = Mail {
        cc: vec![Address::new(None, "bruno@x.example")],
        ..naming("cara@x.example", &[&app.header_id(&message).await])
    };
    let joined = app.deliver(&app.support, colleague).await;
    assert_eq!(joined.conversation, first.conversation);
}

async fn who_shares_a_provider_or_a_public_suffix_is_no_colleague(app: TestApp) {
    for (place, (participant, stranger)) in [
        ("bruno@gmail.com", "eve@gmail.com"),
        ("bruno@mail.gmx.de", "eve@gmx.de"),
        ("bruno@keller.co.uk", "eve@other.co.uk"),
        ("bruno@keller.co.uk", "eve@co.uk"),
        ("bruno@co.uk", "eve@co.uk"),
        ("bruno@keller.github.io", "eve@evil.github.io"),
        ("bruno@github.io", "eve@github.io"),
        ("bruno@[192.0.2.1]", "eve@[192.0.2.1]"),
        ("bruno@x.example", "eve@xx.example"),
        ("bruno@x.example", "eve@x.example.evil.example"),
    ]
    .into_iter()
    .enumerate()
    {
        let named = format!("{place}@named.example");
        let mail = Mail {
            message_id: Some(named.clone()),
            ..letter(participant, &format!("Lamp {place}"), "text")
        };
        let first = app.deliver(&app.support, mail).await;
        let alone = app.deliver(&app.support, naming(stranger, &[&named])).await;
        assert_ne!(alone.conversation, first.conversation, "{participant} and {stranger}");
    }
}

async fn our_own_organisation_makes_nobody_a_colleague(app: TestApp) {
    app.team_inbox("sales@acme.example", "Sales").await;
    let mail = Mail {
        message_id: Some(NAMED.into()),
        cc: vec![
            Address::new(None, "sales@acme.example"),
            Address::new(None, "olive@acme.example"),
        ],
        ..letter("bruno@x.example", "Lamp", "text")
    };
    let first = app.deliver(&app.support, mail).await;
    let alone = app.deliver(&app.support, naming("eve@acme.example", &[NAMED])).await;
    assert_ne!(alone.conversation, first.conversation);
}

async fn who_was_only_written_about_makes_no_colleagues(app: TestApp) {
    let first = begin(&app).await;
    let elsewhere = app.mail("dan@keller.example", "Other", "text").await;
    let alone = app.deliver(&app.support, naming("eve@keller.example", &[NAMED])).await;
    assert_ne!(alone.conversation, first.conversation);
    assert_ne!(alone.conversation, elsewhere.conversation);
}

async fn the_inbox_itself_is_no_participant(app: TestApp) {
    let mail = Mail {
        message_id: Some(NAMED.into()),
        to: vec![
            Address::new(None, "support@acme.example"),
            Address::new(None, "support+inv-1@acme.example"),
        ],
        ..letter("bruno@x.example", "Lamp", "text")
    };
    let first = app.deliver(&app.support, mail).await;
    for from in ["support@acme.example", "support+inv-1@acme.example"] {
        let alone = app.deliver(&app.support, naming(from, &[NAMED])).await;
        assert_ne!(alone.conversation, first.conversation, "{from}");
    }
}

/// Bruno writes to the support inbox and to Cara, with a copy to Dora.
async fn begin(app: &TestApp) -> FiledMail {
    let mail = Mail {
        message_id: Some(NAMED.into()),
        to: vec![Address::new(None, "support@acme.example"), Address::new(None, "cara@x.example")],
        cc: vec![Address::new(Some("Dora"), "dora@x.example")],
        ..letter("bruno@x.example", "Lamp", "text")
    };
    app.deliver(&app.support, mail).await
}

/// A mail with a subject of its own that names others.
fn naming(from: &str, answers: &[&str]) -> Mail {
    let answers = answers.iter().map(|id| (*id).to_owned()).collect();
    Mail { answers, ..letter(from, &format!("Something else from {from}"), "text") }
}
