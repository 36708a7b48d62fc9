//! People write, import and retire answers, and make one of a reply.

use actions::writing::answer_folder::{self, FolderAnswer};
use actions::writing::answers::{self, AnswerInput, AnswerListing, ImportResult, StaleAnswer};
use actions::writing::{answer_files, answer_from_reply, answer_pages};
use base::actor::Role;
use base::ids::MessageId;
use model::mailboxes::DraftingMode;
use testing::*;

on_both!(
    what_is_wrong_with_an_answer_is_said_by_field,
    a_file_can_be_imported_again_and_nothing_comes_twice,
    a_file_is_imported_whole_or_not_at_all,
    stale_answers_are_told_apart,
    what_is_retired_stays_off_the_help_pages_when_it_is_put_in_order,
    an_answer_that_leaves_a_private_inbox_leaves_its_history_there,
    a_reply_becomes_an_answer_without_its_particulars,
    only_a_sent_reply_of_a_visible_conversation_becomes_an_answer,
);

async fn listed(app: &TestApp) -> Vec<AnswerListing> {
    app.app.read(&app.owner, actions::writing::answers::list_answers).await.unwrap()
}

async fn what_is_wrong_with_an_answer_is_said_by_field(app: TestApp) {
    let good = AnswerInput {
        title: "Koala".into(),
        body: "The koala is at home on all days.".into(),
        ..AnswerInput::default()
    };
    let with = |change: fn(&mut AnswerInput)| {
        let mut input = good.clone();
        change(&mut input);
        input
    };
    app.try_answer(&app.owner, good.clone()).await.unwrap();
    for (input, said) in [
        (with(|input| input.title = " ".into()), "title"),
        (with(|input| input.body = String::new()), "Write something"),
        (with(|input| input.body = "{{nonsense}} is there and it is you".into()), "nonsense"),
        (with(|input| input.body = "xyzzy".into()), "language"),
        (with(|input| input.language = "eng".into()), "language"),
        (with(|input| input.valid_until = "soon".into()), "2026-12-31"),
        (with(|_| ()), "has this title"),
    ] {
        let refused = app.try_answer(&app.owner, input).await.unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    assert_eq!(listed(&app).await.len(), 1);
}

const FILE: &str = "# Opening hours\nlanguage: en\n\nWe open at nine.\n\n# Rückgabe\nlanguage: de\n\n\
                    Sie haben vierzehn Tage Zeit.\n";

async fn import(app: &TestApp, file: &str) -> base::error::Result<ImportResult> {
    let answers = answer_files::read_answer_file(file.as_bytes()).unwrap();
    app.app
        .act(&app.owner, move |tx, cx| actions::writing::answers::import_answers(tx, cx, &answers))
        .await
}

async fn a_file_can_be_imported_again_and_nothing_comes_twice(app: TestApp) {
    let first = import(&app, FILE).await.unwrap();
    assert_eq!(first, ImportResult { added: 2, changed: 0, unchanged: 0 });
    let second = import(&app, &FILE.replace("nine", "ten")).await.unwrap();
    assert_eq!(second, ImportResult { added: 0, changed: 1, unchanged: 1 });
    let texts: Vec<String> = listed(&app).await.into_iter().map(|one| one.answer.body).collect();
    assert_eq!(texts, ["We open at ten.", "Sie haben vierzehn Tage Zeit."]);
}

async fn a_file_is_imported_whole_or_not_at_all(app: TestApp) {
    let wrong = FILE.replace("Sie haben", "{{nobody}} Sie haben");
    let refused = import(&app, &wrong).await.unwrap_err().to_string();
    assert!(refused.contains("In “Rückgabe”") && refused.contains("nobody"), "{refused}");
    assert!(listed(&app).await.is_empty());
}

async fn stale_answers_are_told_apart(app: TestApp) {
    app.answer("Koala", "The koala is at home on all days.").await;
    let input = AnswerInput {
        title: "Zoo".into(),
        body: "The zoo is open on all days.".into(),
        valid_until: "2026-12-31".into(),
        ..AnswerInput::default()
    };
    app.try_answer(&app.owner, input).await.unwrap();
    let stale = |listed: &[AnswerListing]| -> Vec<Option<StaleAnswer>> {
        listed.iter().map(|one| one.stale).collect()
    };
    assert_eq!(stale(&listed(&app).await), [None, None]);
    app.pass(60 * DAY).await;
    assert_eq!(stale(&listed(&app).await), [None, Some(StaleAnswer::PastItsDate)]);
    app.pass(130 * DAY).await;
    assert_eq!(stale(&listed(&app).await)[0], Some(StaleAnswer::Unused));
}

async fn what_is_retired_stays_off_the_help_pages_when_it_is_put_in_order(app: TestApp) {
    let input = AnswerInput {
        title: "Koala".into(),
        body: "The koala is at home on all days.".into(),
        language: "en".into(),
        audience: "everybody".into(),
        help_state: "public".into(),
        ..AnswerInput::default()
    };
    let id = app.try_answer(&app.owner, input.clone()).await.unwrap();
    assert_eq!(app.count("help_pages").await, 1);
    let (second, own) = (id.clone(), AnswerInput { body: "It is at home today.".into(), ..input });
    app.act(&app.owner, move |tx, cx| answers::change_answer(tx, cx, &second, &own)).await;
    let retired = id.clone();
    app.act(&app.owner, move |tx, cx| answers::retire_answer(tx, cx, &retired)).await;
    let (moved, back) = (id.clone(), id.clone());
    app.act(&app.owner, move |tx, cx| answer_pages::set_section(tx, cx, &moved, "Zoo")).await;
    app.act(&app.owner, move |tx, cx| answer_pages::restore_version(tx, cx, &back, 1)).await;
    let answer = listed(&app).await.remove(0).answer;
    assert_eq!(answer.body, "The koala is at home on all days.");
    assert!(answer.retired_at.is_some());
    assert_eq!(app.count("help_pages").await, 0);
    // A help desk that is imported again does not bring it back either.
    let file = answer_folder::read_answer("en/koala.md", b"# Koala\n\nThe koala moved to you.");
    let again = [FolderAnswer { keeps_state: true, ..file.unwrap() }];
    let import = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
        answer_folder::import_folder(tx, cx, &again)
    };
    let result = app.act(&app.owner, import).await;
    assert_eq!(result, ImportResult { added: 0, changed: 0, unchanged: 1 });
    assert_eq!(app.count("help_pages").await, 0);
}

async fn an_answer_that_leaves_a_private_inbox_leaves_its_history_there(app: TestApp) {
    let mia = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&mia).await;
    let private = AnswerInput {
        title: "Koala".into(),
        body: "The koala of Mr Berg is at home on all days.".into(),
        inboxes: vec![inbox.id.to_string()],
        ..AnswerInput::default()
    };
    let id = app.try_answer(&mia, private.clone()).await.unwrap();
    let body = "The koala is at home on all days.".to_owned();
    let (own, open) = (id.clone(), AnswerInput { body, inboxes: Vec::new(), ..private });
    app.act(&mia, move |tx, cx| answers::change_answer(tx, cx, &own, &open)).await;
    let seen = app
        .app
        .read(&app.owner, move |tx, cx| answer_pages::answer_background(tx, cx, &id))
        .await
        .unwrap();
    let bodies: Vec<&str> = seen.versions.iter().map(|one| one.body.as_str()).collect();
    assert_eq!(bodies, ["The koala is at home on all days."]);
}

async fn a_reply_becomes_an_answer_without_its_particulars(app: TestApp) {
    let key = app.key("read draft send").await;
    let mail = app.mail("ann@x.example Ann Berg", "Fee twice", FEE_QUESTION).await;
    let reply = "Hello Ann, the 348.00 EUR of 9 November go back to the account it came from within \
                 five bank days. See https://acme.example/fees. Best wishes, Robo";
    let message = app.send_reply(&key, &mail.conversation, reply).await;
    let id = MessageId::parse(&message).unwrap();
    let own = id.clone();
    let shown = app
        .app
        .read(&app.owner, move |tx, cx| answer_from_reply::reply_as_answer(tx, cx, &own))
        .await
        .unwrap();
    assert_eq!(shown.input.title, "Fee twice");
    assert!(shown.input.body.starts_with("Hello {{first_name}}, the 348.00"), "{:?}", shown.input);
    let marked: Vec<&str> = shown.particulars.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(marked, ["348.00", "9 November", "https://acme.example/fees"]);
    let removed: Vec<String> = marked[..2].iter().map(|words| (*words).to_owned()).collect();
    let input = shown.input.clone();
    app.act(&app.owner, move |tx, cx| {
        answer_from_reply::add_answer_from_reply(tx, cx, &id, &input, &removed)
    })
    .await;
    let made = listed(&app).await.remove(0);
    assert!(made.answer.body.contains("the […] EUR of […] go back"), "{}", made.answer.body);
    assert_eq!(made.uses, 1, "the mail that it answered is its first use");
    app.set_drafting(&app.owner, &app.support, DraftingMode::Answers).await;
    let mail = app.mail_to(&app.support, "bo@y.example Bo", FEE_QUESTION_AGAIN).await;
    assert!(app.drafts_in(&key, &mail).await.is_empty(), "a gap is for a person to fill");
}

async fn only_a_sent_reply_of_a_visible_conversation_becomes_an_answer(app: TestApp) {
    let mia = app.person_with("Mia", Role::Admin).await;
    let inbox = app.private_inbox(&mia).await;
    let own = app.key_of(&mia, "Own", "read draft send", true).await;
    let key = app.key("read draft send").await;
    let private = app.deliver(&inbox, letter("ann@x.example", "Fee", FEE_QUESTION)).await;
    let message = app.schedule(&own, &private.conversation, FEE_REPLY).await;
    app.mark_sent(&inbox, &message).await;
    let mail = app.mail("ann@x.example", "Fee", FEE_QUESTION).await;
    let draft = app.draft(&key, &mail.conversation, FEE_REPLY).await;
    for id in [message.clone(), draft, "msg_0".into()] {
        let id = MessageId::parse(&id).unwrap();
        let read = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| {
            answer_from_reply::reply_as_answer(tx, cx, &id).map(|_| ())
        };
        let refused = app.app.read(&app.owner, read).await.unwrap_err().to_string();
        assert!(refused.contains("no such message"), "{refused}");
    }
    let id = MessageId::parse(&message).unwrap();
    let shown = app
        .app
        .read(&mia, move |tx, cx| answer_from_reply::reply_as_answer(tx, cx, &id))
        .await
        .unwrap();
    assert_eq!(shown.input.inboxes, [inbox.id.to_string()], "it stays with the private inbox");
}
