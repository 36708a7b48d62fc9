//! Reading a conversation: its timeline in parts, what was proven, previews and remote pictures.

use std::collections::HashSet;

use actions::conversations::timeline::{TimelineCursor, TimelineEntry, TimelinePart};
use actions::conversations::{open_conversation, picture_senders};
use actions::documents::files::find_document;
use actions::documents::previews::{self, PreviewLookup, ScaledLookup};
use actions::people::removal;
use base::actor::{Actor, Role};
use base::email_address::EmailAddress;
use base::error::Error;
use base::ids::{DocumentId, MessageId};
use inbound::incoming_mail::FiledMail;
use mail::Dmarc;
use maintenance::forget_person::forget_person;
use model::authentication::AuthenticationOutcome;
use serde_json::json;
use testing::{HOUR, SECOND, TestApp, file, letter, on_both, raw, text_of, user};

on_both!(
    a_timeline_is_read_in_parts_without_a_gap_or_a_repeat,
    the_newest_part_reaches_back_to_what_is_unread,
    each_part_has_the_files_of_its_own_messages,
    what_authentication_found_is_kept_with_the_mail,
    pictures_of_a_sender_are_shown_to_whom_chose_it_alone,
    a_forged_mail_is_not_trusted_like_its_sender,
    a_preview_is_kept_once_and_given_up_after_three_attempts,
    scaled_copies_are_kept_beside_the_preview_and_forgotten_with_the_person
);

/// What one part holds: texts of messages and notes, names of events, and where the next ends.
async fn part(
    app: &TestApp,
    reader: &Actor,
    id: &impl ToString,
    part: TimelinePart,
) -> (Vec<String>, Option<TimelineCursor>) {
    let id = id.to_string();
    app.act(reader, move |tx, cx| {
        let open = open_conversation::read_conversation(tx, cx, &id, &part)?;
        let shown = |entry: &TimelineEntry| match entry {
            TimelineEntry::Message(message) => message.text.clone(),
            TimelineEntry::Note(note) => note.body.clone(),
            TimelineEntry::Event(event) => format!("event {}", event.id),
        };
        Ok((open.entries.iter().map(shown).collect(), open.older))
    })
    .await
}

async fn thread(app: &TestApp, messages: usize) -> FiledMail {
    let first = app.mail("ann@x.example", "Lamps", "Letter 000").await;
    for number in 1..messages {
        // Some arrive within one millisecond.
        if number % 3 > 0 {
            app.advance(SECOND);
        }
        app.mail("ann@x.example", "Re: Lamps", &format!("Letter {number:03}")).await;
    }
    first
}

async fn a_timeline_is_read_in_parts_without_a_gap_or_a_repeat(app: TestApp) {
    let key = app.key("write").await;
    let first = thread(&app, 60).await;
    for number in 0..130 {
        let body = json!({ "body": format!("Note {number:03}") });
        app.on(&key, &first.conversation, "notes", body).await.is(201);
        let status = if number % 2 == 0 { "waiting" } else { "open" };
        app.on(&key, &first.conversation, "status", json!({ "status": status })).await.is(200);
    }
    let (mut all, mut parts, mut next) = (Vec::new(), 0, TimelinePart::Newest);
    loop {
        let (mut entries, older) = part(&app, &app.owner, &first.conversation, next).await;
        assert!(!entries.is_empty() && entries.len() <= 80, "{}", entries.len());
        entries.append(&mut all);
        all = entries;
        parts += 1;
        match older {
            Some(cursor) => next = TimelinePart::Before(cursor),
            None => break,
        }
    }
    assert!(parts >= 4, "{parts}");
    let different: HashSet<&String> = all.iter().collect();
    assert_eq!(different.len(), all.len(), "nothing comes twice");
    for (what, count) in [("Letter", 60), ("Note", 130), ("event", 130)] {
        let found: Vec<&String> = all.iter().filter(|one| one.starts_with(what)).collect();
        assert_eq!(found.len(), count, "{what}");
        assert!(found.is_sorted(), "{what}: {found:?}");
    }
}

async fn the_newest_part_reaches_back_to_what_is_unread(app: TestApp) {
    let first = thread(&app, 30).await;
    let id = first.conversation.to_string();
    app.advance(HOUR);
    let read = id.clone();
    app.act(&app.owner, move |tx, cx| open_conversation::mark_read(tx, cx, &read)).await;
    app.advance(HOUR);
    for number in 30..70 {
        app.advance(SECOND);
        app.mail("ann@x.example", "Re: Lamps", &format!("Letter {number:03}")).await;
    }
    let (entries, older) = part(&app, &app.owner, &id, TimelinePart::Newest).await;
    assert_eq!((entries.len(), entries[0].as_str()), (40, "Letter 030"));
    let cursor = older.expect("an older part");
    assert_eq!(TimelineCursor::parse(&cursor.to_string()), Some(cursor.clone()));
    let (earlier, _) = part(&app, &app.owner, &id, TimelinePart::Before(cursor)).await;
    assert_eq!(earlier.last().map(String::as_str), Some("Letter 029"));
    let bo = app.person("Bo").await;
    let (entries, _) = part(&app, &bo, &id, TimelinePart::Newest).await;
    assert_eq!(entries.len(), 20, "who was never here sees the usual part");
}

async fn each_part_has_the_files_of_its_own_messages(app: TestApp) {
    let mut mail = letter("ann@x.example", "Lamps", "Letter 000");
    mail.attachments = vec![file("first.pdf", b"%PDF")];
    let first = app.deliver(&app.support, mail).await;
    for number in 1..40 {
        app.advance(SECOND);
        let mut mail = letter("ann@x.example", "Re: Lamps", &format!("Letter {number:03}"));
        mail.attachments = (0..8).map(|n| file(&format!("{number}-{n}.pdf"), b"%PDF")).collect();
        app.deliver(&app.support, mail).await;
    }
    let id = first.conversation.to_string();
    let (_, older) = part(&app, &app.owner, &id, TimelinePart::Newest).await;
    let before = TimelinePart::Before(older.expect("an older part"));
    let names = app
        .act(&app.owner, move |tx, cx| {
            let open = open_conversation::read_conversation(tx, cx, &id, &before)?;
            let names = |entry: &TimelineEntry| match entry {
                TimelineEntry::Message(message) => {
                    message.files.iter().map(|file| file.filename.clone()).collect()
                }
                _ => Vec::new(),
            };
            Ok(open.entries.iter().map(names).collect::<Vec<_>>())
        })
        .await;
    assert_eq!(names[0], ["first.pdf"]);
    assert_eq!(names[19], (0..8).map(|n| format!("19-{n}.pdf")).collect::<Vec<_>>());
}

async fn what_authentication_found_is_kept_with_the_mail(app: TestApp) {
    app.outside.authenticator.says(Dmarc::Fail);
    let failed = app.arrives(&raw("ann@x.example", "Lamps", "One")).await;
    let unchecked = app.mail("bo@x.example", "Chairs", "Two").await;
    let found = |mail: &FiledMail| {
        let id = mail.conversation.to_string();
        app.act(&app.owner, move |tx, cx| {
            let open = open_conversation::read_conversation(tx, cx, &id, &TimelinePart::Newest)?;
            let TimelineEntry::Message(message) = &open.entries[0] else { panic!("a message") };
            Ok(message.authentication.as_ref().map(|found| found.0))
        })
    };
    let stored = found(&failed).await.expect("it was checked");
    assert_eq!(stored.dmarc, AuthenticationOutcome::Fail);
    assert_eq!(stored.spf, AuthenticationOutcome::None);
    assert_eq!(found(&unchecked).await, None);
}

async fn always_show(app: &TestApp, reader: &Actor, mail: &FiledMail) -> String {
    let (id, message) = (mail.conversation.to_string(), mail.message.clone());
    app.act(reader, move |tx, cx| picture_senders::always_show_pictures(tx, cx, &id, &message))
        .await
}

async fn shows(app: &TestApp, reader: &Actor, mail: &FiledMail) -> bool {
    let (id, message) = (mail.conversation.to_string(), mail.message.clone());
    app.act(reader, move |tx, cx| picture_senders::shows_pictures(tx, cx, &id, &message)).await
}

async fn pictures_of_a_sender_are_shown_to_whom_chose_it_alone(app: TestApp) {
    let bo = app.person("Bo").await;
    let first = app.arrives(&raw("ann@x.example", "Lamps", "One")).await;
    assert!(!shows(&app, &bo, &first).await);
    assert_eq!(always_show(&app, &bo, &first).await, "ann@x.example");
    always_show(&app, &bo, &first).await;
    let second = app.arrives(&raw("ann@x.example", "Chairs", "Two")).await;
    let other = app.arrives(&raw("cy@x.example", "Chairs", "Three")).await;
    assert!(shows(&app, &bo, &second).await);
    assert!(!shows(&app, &bo, &other).await);
    assert!(!shows(&app, &app.owner, &second).await, "others decide for themselves");
    let listed = app.act(&bo, picture_senders::picture_senders).await;
    assert_eq!(listed.len(), 1);
    app.act(&bo, |tx, cx| picture_senders::remove_picture_sender(tx, cx, "ann@x.example")).await;
    assert!(!shows(&app, &bo, &second).await);
    always_show(&app, &bo, &first).await;
    let person = user(&bo);
    app.act(&app.owner, move |tx, cx| removal::remove_person(tx, cx, &person)).await;
    assert_eq!(app.count("picture_senders").await, 0);
}

async fn a_forged_mail_is_not_trusted_like_its_sender(app: TestApp) {
    let honest = app.arrives(&raw("ann@x.example", "Lamps", "One")).await;
    always_show(&app, &app.owner, &honest).await;
    assert!(shows(&app, &app.owner, &honest).await);
    app.outside.authenticator.says(Dmarc::Fail);
    let forged = app.arrives(&raw("ann@x.example", "Chairs", "Two")).await;
    assert!(!shows(&app, &app.owner, &forged).await);
    let missing = FiledMail { message: MessageId::parse("msg_0").unwrap(), ..honest };
    let (id, message) = (missing.conversation.to_string(), missing.message.clone());
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            picture_senders::always_show_pictures(tx, cx, &id, &message).map(|_| ())
        })
        .await;
    assert!(matches!(refused, Error::NotFound(_)));
}

async fn a_preview_is_kept_once_and_given_up_after_three_attempts(app: TestApp) {
    let mut mail = letter("ann@x.example", "Papers", "Here");
    mail.attachments = vec![file("a.pdf", b"%PDF one"), file("b.pdf", b"%PDF two")];
    app.deliver(&app.support, mail).await;
    let key = app.key("read").await;
    let listed = app.get(&key, "/documents").await.is(200).json();
    let id = |place: usize| DocumentId::parse(&text_of(&listed[place], "id")).unwrap();
    let look =
        |id: DocumentId| app.act(&app.owner, move |tx, cx| previews::document_preview(tx, cx, &id));
    let hash = |found: PreviewLookup| match found {
        PreviewLookup::Missing(file) => file.hash,
        other => panic!("{other:?}"),
    };
    let file = hash(look(id(0)).await);
    let blob = app.app.blobs.put(b"small").unwrap();
    app.act(&app.owner, move |tx, cx| previews::keep_preview(tx, cx, &file, &blob)).await;
    assert!(matches!(look(id(0)).await, PreviewLookup::Kept(bytes) if bytes == b"small"));
    for _ in 0..3 {
        let file = hash(look(id(1)).await);
        app.act(&app.owner, move |tx, cx| previews::count_failed_preview(tx, cx, &file)).await;
    }
    assert!(matches!(look(id(1)).await, PreviewLookup::Impossible));
    let bo = app.person_with("Bo", Role::Admin).await;
    let private = app.private_inbox(&bo).await;
    let mut mail = letter("ann@x.example", "Secret", "Here");
    mail.attachments = vec![testing::file("c.pdf", b"%PDF three")];
    app.deliver(&private, mail).await;
    let own = app.key_of(&bo, "Own", "read", true).await;
    let hidden = app.get(&own, "/documents?q=c").await.is(200).json();
    let hidden = DocumentId::parse(&text_of(&hidden[0], "id")).unwrap();
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| {
            previews::document_preview(tx, cx, &hidden).map(|_| ())
        })
        .await;
    assert!(matches!(refused, Error::NotFound(_)));
}

async fn scaled_copies_are_kept_beside_the_preview_and_forgotten_with_the_person(app: TestApp) {
    let mut mail = letter("ann@x.example", "Photos", "Here");
    mail.attachments = vec![file("a.pdf", b"%PDF one"), file("b.pdf", b"%PDF two")];
    app.deliver(&app.support, mail).await;
    let key = app.key("read").await;
    let listed = app.get(&key, "/documents").await.is(200).json();
    let id = |place: usize| DocumentId::parse(&text_of(&listed[place], "id")).unwrap();
    let look = |id: DocumentId| {
        app.act(&app.owner, move |tx, cx| {
            let file = find_document(tx, cx, &id)?;
            previews::scaled_file(tx, cx, &file)
        })
    };
    let missing = |found: ScaledLookup| match found {
        ScaledLookup::Missing(key) => key,
        other => panic!("{other:?}"),
    };
    let scaled = missing(look(id(0)).await);
    let (preview, _) = scaled.split_once('/').unwrap();
    for (key, bytes) in [(preview.to_owned(), "small"), (scaled.clone(), "scaled")] {
        let blob = app.app.blobs.put(bytes.as_bytes()).unwrap();
        app.act(&app.owner, move |tx, cx| previews::keep_preview(tx, cx, &key, &blob)).await;
    }
    assert!(matches!(look(id(0)).await, ScaledLookup::Kept(bytes) if bytes == b"scaled"));
    for _ in 0..3 {
        let key = missing(look(id(1)).await);
        app.act(&app.owner, move |tx, cx| previews::count_failed_preview(tx, cx, &key)).await;
    }
    assert!(matches!(look(id(1)).await, ScaledLookup::Original));
    let service = app.service(&app.support);
    let ann = EmailAddress::new("ann@x.example");
    app.act(&service, move |tx, cx| forget_person(tx, cx, &ann)).await;
    // A copy that was being made meanwhile comes too late.
    let blob = app.app.blobs.put(b"scaled").unwrap();
    for copy in [Some(blob), None] {
        let key = scaled.clone();
        let keep = move |tx: &mut db::Tx<'_>, cx: &base::app::Cx<'_>| match &copy {
            Some(copy) => previews::keep_preview(tx, cx, &key, copy),
            None => previews::count_failed_preview(tx, cx, &key),
        };
        let refused = app.expect_refusal(&app.owner, keep).await;
        assert!(matches!(refused, Error::NotFound(_)), "{refused:?}");
    }
    for table in ["previews", "blobs"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
}
