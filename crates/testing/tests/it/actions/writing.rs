//! Writing in the app: replies to all, first mails, forwarding, rich text, signatures, and stopping.

use actions::conversations::open_conversation;
use actions::conversations::timeline::{FileLocation, TimelineEntry, TimelinePart};
use actions::inboxes::writing_settings;
use actions::writing::autosaves::{self, Autosave, AutosaveKey, AutosaveKind};
use actions::writing::compose::{self, FirstMail, ForwardedMessage, NewReply};
use actions::writing::drafts::{self, StoppedMessage};
use actions::writing::saved_replies::{self, SavedReplyInput};
use actions::writing::{approvals, completion, unsent_files};
use api::operations::{self, ReplyInput};
use base::actor::Actor;
use base::app::App;
use base::error::Error;
use base::ids::{AttachmentId, ConversationId, MessageId};
use mail::{Address, ParsedMail};
use model::messages::attachments::NewAttachment;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::scheduling::MessageTimes;
use testing::{MINUTE, TestApp, filed_mail, letter, on_both};

on_both!(
    a_rich_reply_leaves_as_html_with_a_plain_twin_signature_and_history,
    a_picture_in_the_text_leaves_as_a_part_that_the_html_names,
    a_first_mail_starts_a_conversation_that_waits_for_them,
    a_forwarded_message_goes_to_others_and_changes_nobodys_turn,
    a_forwarded_message_goes_as_html_with_its_pictures,
    only_files_of_the_forwarded_message_go_along,
    what_its_author_stops_comes_back_into_their_composer,
    what_others_wrote_is_a_draft_again_when_it_is_stopped,
    without_a_relay_sending_is_refused_at_once,
    what_an_agent_sends_without_a_relay_waits_and_says_so,
    addresses_are_completed_from_what_one_may_see,
    an_own_signature_takes_the_place_of_the_inboxs,
    a_saved_reply_brings_its_files
);

/// A file to attach.
const PAPER: (&str, &str, &[u8]) = ("terms.txt", "text/plain", b"be kind");

fn to(line: &str) -> RecipientList {
    RecipientList { to: compose::parties(line).unwrap(), ..RecipientList::default() }
}

fn reply(body: &str, format: TextFormat) -> NewReply {
    NewReply {
        body: body.into(),
        format,
        recipients: to("ann@shop.example"),
        close: false,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    }
}

fn file(app: &TestApp, name: &str, kind: &str, bytes: &[u8]) -> NewAttachment {
    NewAttachment {
        id: AttachmentId::new(&app.app.ids, app.now()),
        filename: name.into(),
        content_type: kind.into(),
        blob: app.app.blobs.put(bytes).unwrap(),
    }
}

async fn send(app: &TestApp, by: &Actor, id: &str, message: NewReply) -> MessageId {
    let id = id.to_owned();
    let place = AutosaveKey::Conversation(ConversationId::parse(&id).unwrap());
    app.fit_files(by, &place, &message).await;
    let sent = app.act(by, move |tx, cx| testing::send_reply(tx, cx, &id, &message)).await;
    sent.message_id
}

async fn signatures(app: &TestApp, own: &'static str, inbox: &'static str) {
    let mailbox = app.support.id.clone();
    app.act(&app.owner, move |tx, cx| {
        writing_settings::set_own_signature(tx, cx, own)?;
        writing_settings::set_inbox_signature(tx, cx, &mailbox, inbox)
    })
    .await;
}

/// The newest mail that left, as its bytes and as it is read.
fn left(app: &TestApp) -> (String, ParsedMail) {
    let bytes = app.outside.relay.attempts().pop().unwrap().bytes;
    let read = mail::parse(&bytes, mail::Envelope::default());
    (String::from_utf8_lossy(&bytes).into_owned(), read)
}

async fn a_rich_reply_leaves_as_html_with_a_plain_twin_signature_and_history(app: TestApp) {
    signatures(&app, "**Olive**\nAcme", "").await;
    let received = app.mail("ann@shop.example", "Fee", "It was taken twice.").await;
    let id = received.conversation.to_string();
    let body = "You are **right**:\n\n- [sent back](https://acme.example/r)\n- today";
    send(&app, &app.owner, &id, reply(body, TextFormat::Markdown)).await;
    let key = app.key("read").await;
    let message = app.timeline(&key, &id, "message").await.pop().unwrap();
    let twin = "You are right:\n\n- sent back (https://acme.example/r)\n- today";
    assert_eq!(message["text"], twin, "the API has the words alone");
    app.pass(11 * MINUTE).await;
    let (raw, read) = left(&app);
    assert!(raw.contains("multipart/alternative"), "{raw}");
    let words = "You are right:\n\n- sent back\n- today";
    assert_eq!(read.text, words, "our own trimmer leaves the words alone");
    let whole = mail::whole_text(raw.as_bytes());
    assert!(whole.contains("-- \nOlive\nAcme"), "{whole}");
    assert!(whole.contains("wrote:\n\n> It was taken twice."), "{whole}");
    let plain = raw.replace("=\r\n", "");
    assert!(plain.contains("<p>You are <strong>right</strong>:</p>"), "{plain}");
    assert!(plain.contains("<li>today</li>"), "{plain}");
}

async fn a_picture_in_the_text_leaves_as_a_part_that_the_html_names(app: TestApp) {
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let id = received.conversation.to_string();
    let picture = ("so.png", "image/png", b"\x89PNG\r\n\x1a\n".as_slice());
    let place = AutosaveKey::Conversation(received.conversation.clone());
    let name = app.attach(&app.owner, &place, &[picture, PAPER]).await.remove(0).to_string();
    let body = format!("So:\n\n![so.png](cid:{name})");
    send(&app, &app.owner, &id, reply(&body, TextFormat::Markdown)).await;
    app.pass(11 * MINUTE).await;
    let (raw, _) = left(&app);
    let cid = format!("{name}@acme.example");
    assert!(raw.contains(&format!("Content-ID: <{cid}>")), "{raw}");
    assert!(raw.replace("=\r\n", "").contains(&format!("src=3D\"cid:{cid}\"")), "{raw}");
    assert!(raw.contains("multipart/related") && raw.contains("multipart/mixed"), "{raw}");
    assert!(raw.contains("[so.png]"), "the twin names the picture: {raw}");
    assert_eq!(raw.matches("Content-Disposition: attachment").count(), 1, "{raw}");
}

async fn a_first_mail_starts_a_conversation_that_waits_for_them(app: TestApp) {
    let key = app.key("read").await;
    let first = FirstMail {
        mailbox: app.support.id.to_string(),
        subject: "Your order".into(),
        message: reply("It is **here**.", TextFormat::Markdown),
        opened_at: None,
    };
    let bad = FirstMail { subject: " ".into(), ..first.clone() };
    let refused =
        app.expect_refusal(&app.owner, move |tx, cx| compose::send_first_mail(tx, cx, &bad));
    assert!(matches!(refused.await, Error::Invalid(_)));
    let saved = Autosave {
        to: "ann@shop.example".into(),
        ..Autosave::new(AutosaveKind::New, "It is".into())
    };
    let (id, _) = app
        .act(&app.owner, move |tx, cx| {
            autosaves::autosave(tx, cx, &AutosaveKey::New, &saved)?;
            compose::send_first_mail(tx, cx, &first)
        })
        .await;
    let left_over =
        app.act(&app.owner, |tx, cx| autosaves::load_autosave(tx, cx, &AutosaveKey::New)).await;
    assert!(left_over.is_none());
    app.pass(11 * MINUTE).await;
    let read = app.read(&key, &id).await;
    assert_eq!(
        (read["status"].as_str(), read["subject"].as_str()),
        (Some("waiting"), Some("Your order"))
    );
    let (raw, _) = left(&app);
    assert!(!raw.contains("In-Reply-To") && !raw.contains("wrote:"), "{raw}");
    let answer = letter("ann@shop.example", "Re: Your order", "Thanks");
    let answers = vec![app.header_id(message_id(&read)).await];
    let answered = app.deliver(&app.support, mail::Mail { answers, ..answer }).await;
    assert_eq!(answered.conversation, id);
}

fn message_id(read: &serde_json::Value) -> &str {
    let entries = read["timeline"].as_array().unwrap();
    entries
        .iter()
        .find_map(|entry| entry["id"].as_str().filter(|id| id.starts_with("msg_")))
        .unwrap()
}

async fn a_forwarded_message_goes_to_others_and_changes_nobodys_turn(app: TestApp) {
    let key = app.key("read").await;
    let mut incoming = letter("ann@shop.example", "Fee", "It was taken twice.");
    incoming.from = Address::new(Some("Ann Shop"), "ann@shop.example");
    incoming.attachments = vec![mail::Attachment {
        filename: "statement.txt".into(),
        content_type: "text/plain".into(),
        bytes: b"348.00".to_vec(),
    }];
    let received = app.deliver(&app.support, incoming).await;
    let id = received.conversation.to_string();
    let files = forwarded_files(&app.app, &app.owner, &id).await;
    assert_eq!(files.len(), 1);
    let forward = NewReply {
        recipients: to("Pelz <pelz@bank.example>"),
        forwards: Some(ForwardedMessage { id: received.message.clone(), files }),
        ..reply("Why?", TextFormat::Markdown)
    };
    send(&app, &app.owner, &id, forward).await;
    app.pass(11 * MINUTE).await;
    let parcel = app.outside.relay.attempts().pop().unwrap();
    assert_eq!(parcel.recipients, ["pelz@bank.example"]);
    let (raw, read) = left(&app);
    assert!(raw.contains("Subject: Fwd: Fee"), "{raw}");
    let whole = mail::whole_text(raw.as_bytes());
    for line in ["Forwarded message", "From: Ann Shop <ann@shop.example>", "Subject: Fee"] {
        assert!(whole.contains(line), "{whole}");
    }
    assert!(whole.contains("\nIt was taken twice."), "{whole}");
    assert_eq!(read.attachments.len(), 1);
    let conversation = app.read(&key, &id).await;
    assert_eq!(conversation["status"], "open", "the customer has no answer yet");
    let everybody = app
        .act(&app.owner, move |tx, cx| {
            Ok(open_conversation::read_conversation(tx, cx, &id, &TimelinePart::Newest)?.everybody)
        })
        .await;
    assert_eq!(everybody.to[0].email, "ann@shop.example", "a reply does not go to the bank");
}

async fn a_forwarded_message_goes_as_html_with_its_pictures(app: TestApp) {
    let raw = "From: ann@shop.example\r\nTo: support@acme.example\r\nSubject: Fee\r\n\
        Message-ID: <fee@shop.example>\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/related; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/html\r\n\r\n<table><tr><td onclick=\"x()\">348.00</td></tr></table>\
        <script>alert(1)</script><img src=\"cid:seal\">\r\n\
        --b\r\nContent-Type: image/png\r\nContent-ID: <seal>\r\nContent-Transfer-Encoding: base64\r\n\r\n\
        iVBORw0KGgo=\r\n--b--\r\n";
    let received = filed_mail(&app.ingest(&["support@acme.example"], raw).await[0]);
    let forward = NewReply {
        recipients: to("Pelz <pelz@bank.example>"),
        forwards: Some(ForwardedMessage { id: received.message.clone(), files: Vec::new() }),
        ..reply("Why?", TextFormat::Markdown)
    };
    send(&app, &app.owner, received.conversation.as_str(), forward).await;
    app.pass(11 * MINUTE).await;
    let sent = app.outside.relay.attempts().pop().unwrap().bytes;
    let addresses = mail::PageAddresses { pictures: "/p", remote: mail::RemotePictures::Blocked };
    let page = mail::mail_page(&sent, &addresses).unwrap().html;
    assert!(page.contains("<td>348.00</td>") && page.contains("Why?"), "{page}");
    assert!(page.contains("<img src=\"/p/"), "the picture is found in the mail: {page}");
    assert!(!String::from_utf8_lossy(&sent).contains("alert(1)"));
    let whole = mail::whole_text(&sent);
    assert!(whole.contains("Forwarded message") && whole.contains("348.00"), "{whole}");
}

async fn forwarded_files(app: &App, by: &Actor, id: &str) -> Vec<FileLocation> {
    let id = id.to_owned();
    let open = app.act(by, move |tx, cx| {
        open_conversation::read_conversation(tx, cx, &id, &TimelinePart::Newest)
    });
    let files = open.await.unwrap().entries.into_iter().filter_map(|entry| match entry {
        TimelineEntry::Message(message) => Some(message.files),
        _ => None,
    });
    files.flatten().map(|file| file.place).collect()
}

async fn only_files_of_the_forwarded_message_go_along(app: TestApp) {
    let with_file = |subject: &str| {
        let mut incoming = letter("ann@shop.example", subject, "Hello");
        incoming.attachments = vec![testing::file("a.txt", b"a")];
        incoming
    };
    let one = app.deliver(&app.support, with_file("One")).await;
    let two = app.deliver(&app.support, with_file("Two")).await;
    let foreign = forwarded_files(&app.app, &app.owner, two.conversation.as_str()).await;
    let forward = NewReply {
        forwards: Some(ForwardedMessage { id: one.message.clone(), files: foreign }),
        ..reply("", TextFormat::Plain)
    };
    let id = one.conversation.to_string();
    let refused = app
        .expect_refusal(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &forward))
        .await;
    assert!(matches!(refused, Error::NotFound("file")), "{refused}");
}

async fn what_its_author_stops_comes_back_into_their_composer(app: TestApp) {
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let id = received.conversation.to_string();
    let place = AutosaveKey::Conversation(received.conversation.clone());
    app.attach(&app.owner, &place, &[PAPER]).await;
    let message = reply("You are **right**.", TextFormat::Markdown);
    let sent = send(&app, &app.owner, &id, message).await;
    let stop = sent.clone();
    let stopped = app.act(&app.owner, move |tx, cx| drafts::stop_message(tx, cx, &stop)).await;
    assert_eq!(stopped, StoppedMessage::InComposer);
    let (saved, files) = app
        .act(&app.owner, move |tx, cx| {
            Ok((autosaves::load_autosave(tx, cx, &place)?, unsent_files::list(tx, cx, &place)?))
        })
        .await;
    let saved = saved.unwrap();
    assert_eq!(
        (saved.body.as_str(), saved.to.as_str()),
        ("You are **right**.", "ann@shop.example")
    );
    assert_eq!(files.len(), 1);
    let waiting = app.act(&app.owner, approvals::queue).await;
    assert!(waiting.is_empty(), "nothing waits for the team");
    app.pass(11 * MINUTE).await;
    assert!(app.outside.relay.attempts().is_empty());
    let key = app.key("read").await;
    assert_eq!(app.timeline(&key, &id, "message").await.len(), 1, "the customer's alone");
}

async fn what_others_wrote_is_a_draft_again_when_it_is_stopped(app: TestApp) {
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let id = received.conversation.to_string();
    let key = app.key("read draft send").await;
    let by_agent = MessageId::parse(&app.schedule(&key, &id, "From the agent").await).unwrap();
    let sent = send(&app, &app.owner, &id, reply("Mine", TextFormat::Plain)).await;
    let bo = app.person("Bo").await;
    for message in [by_agent, sent] {
        let stopped = app.act(&bo, move |tx, cx| drafts::stop_message(tx, cx, &message)).await;
        assert_eq!(stopped, StoppedMessage::Draft { leaves_at: None });
    }
    let waiting = app.act(&app.owner, approvals::queue).await;
    assert_eq!(waiting.len(), 2);
}

async fn without_a_relay_sending_is_refused_at_once(app: TestApp) {
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let id = received.conversation.to_string();
    let without = App { has_relay: false, ..app.app.clone() };
    let (wanted, message) = (id.clone(), reply("Mine", TextFormat::Plain));
    let refused = without
        .act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &wanted, &message).map(|_| ()))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("MAILROOM_RELAY"), "{refused}");
    let kept = NewReply { send: false, ..reply("Mine", TextFormat::Plain) };
    let draft =
        without.act(&app.owner, move |tx, cx| testing::send_reply(tx, cx, &id, &kept)).await;
    assert!(draft.is_ok(), "a draft promises nothing");
}

async fn what_an_agent_sends_without_a_relay_waits_and_says_so(app: TestApp) {
    let key = app.key("send").await;
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let without = App { has_relay: false, ..app.app.clone() };
    let agent = app.agent(&key).await;
    let input = ReplyInput {
        id: received.conversation.to_string(),
        body: "Soon".into(),
        send: true,
        ..ReplyInput::default()
    };
    let result =
        without.act(&agent, move |tx, cx| operations::reply(tx, cx, input.clone())).await.unwrap();
    assert!(result.sends_at.is_some());
    assert!(result.note.starts_with("Waits until"), "{}", result.note);
}

async fn addresses_are_completed_from_what_one_may_see(app: TestApp) {
    let mut incoming = letter("giulia@pellegrini-wines.example", "Fee", "How?");
    incoming.from = Address::new(Some("Giulia Pèllegrini"), "giulia@pellegrini-wines.example");
    let asked = app.deliver(&app.support, incoming).await;
    let bo = app.person("Bo").await;
    let private = app.private_inbox(&bo).await;
    let secret = app.deliver(&private, letter("secret@pellet.example", "Private", "Hello")).await;
    for (by, asked, recipient) in [
        (&app.owner, &asked, "giulia@pellegrini-wines.example"),
        (&bo, &secret, "secret@pellet.example"),
    ] {
        let answer = NewReply { recipients: to(recipient), ..reply("Hi", TextFormat::Plain) };
        send(&app, by, asked.conversation.as_str(), answer).await;
    }
    app.pass(11 * MINUTE).await;
    let found = |by: &Actor, typed: &'static str| {
        let by = by.clone();
        let app = &app;
        async move {
            let found =
                app.act(&by, move |tx, cx| completion::complete_recipient(tx, cx, typed)).await;
            found.into_iter().map(|party| party.email).collect::<Vec<_>>()
        }
    };
    let giulia = "giulia@pellegrini-wines.example";
    for typed in ["pel", "GIU", "pelle giu", "wines", "giulia@pell"] {
        assert_eq!(found(&app.owner, typed).await, [giulia], "{typed}");
    }
    for typed in ["", "x", "example", "%", "pel zzz"] {
        assert!(found(&app.owner, typed).await.is_empty(), "{typed}");
    }
    assert_eq!(found(&bo, "pel").await.len(), 2, "the person sees their private one too");
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let message =
        NewReply { recipients: to("Cy Young <cy@club.example>"), ..reply("Hi", TextFormat::Plain) };
    send(&app, &app.owner, received.conversation.as_str(), message).await;
    assert!(found(&app.owner, "young").await.is_empty(), "not before it has left");
    app.pass(11 * MINUTE).await;
    assert_eq!(found(&app.owner, "young").await, ["cy@club.example"]);
}

async fn an_own_signature_takes_the_place_of_the_inboxs(app: TestApp) {
    signatures(&app, "", "{{my_name}}, Acme").await;
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let id = received.conversation.to_string();
    let key = app.key("read draft send").await;
    app.schedule(&key, &id, "From the agent").await;
    app.pass(11 * MINUTE).await;
    assert!(mail::whole_text(left(&app).0.as_bytes()).contains("-- \nRobo, Acme"));
    signatures(&app, "Best, Olive", "{{my_name}}, Acme").await;
    send(&app, &app.owner, &id, reply("Mine", TextFormat::Plain)).await;
    app.pass(11 * MINUTE).await;
    let whole = mail::whole_text(left(&app).0.as_bytes());
    assert_eq!(whole.matches("-- \nBest, Olive").count(), 1, "{whole}");
    assert!(!whole.split("wrote:").next().unwrap().contains("Acme"), "{whole}");
    let bo = app.person("Bo").await;
    let mailbox = app.support.id.clone();
    let refused = app
        .expect_refusal(&bo, move |tx, cx| {
            writing_settings::set_inbox_signature(tx, cx, &mailbox, "x")
        })
        .await;
    assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
}

async fn a_saved_reply_brings_its_files(app: TestApp) {
    let received = app.mail("ann@shop.example", "Fee", "How?").await;
    let place = AutosaveKey::Conversation(received.conversation.clone());
    let paper = file(&app, "terms.txt", "text/plain", b"be kind");
    let input = SavedReplyInput {
        name: "Terms".into(),
        folder: " Legal ".into(),
        body: "See **below**, {{my_first_name}}".into(),
    };
    let (text, files, listed) = app
        .act(&app.owner, move |tx, cx| {
            let id = saved_replies::save_reply(tx, cx, &input, std::slice::from_ref(&paper))?;
            saved_replies::attach_saved_files(tx, cx, &place, &id)?;
            Ok((
                saved_replies::put_in_saved_reply(tx, cx, &place, &id)?,
                unsent_files::list(tx, cx, &place)?,
                saved_replies::list_saved_replies(tx, cx)?,
            ))
        })
        .await;
    assert_eq!(text, "See **below**, Olive");
    assert_eq!(files[0].filename, "terms.txt");
    assert_eq!((listed[0].folder.as_str(), listed[0].files.len()), ("Legal", 1));
}
