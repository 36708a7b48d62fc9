//! A decision is about what was seen: whatever reaches the customer is checked against what came in
//! since the page was made.

use actions::documents::document_requests::request_documents;
use actions::writing::compose::{self, ForwardedMessage, NewReply};
use actions::writing::drafts::{self, DraftApproval};
use actions::writing::seen::{DecisionOutcome, SeenConversation, SeenDraft};
use base::actor::{Actor, Role};
use base::ids::MessageId;
use bookings::offers::OfferInput;
use inbound::incoming_mail::FiledMail;
use model::documents::document_requests::RequestedDocument;
use model::guests::secure::SecureSendOptions;
use model::messages::recipients::RecipientList;
use model::messages::written_text::TextFormat;
use outbound::document_request::NewDocumentRequest;
use outbound::scheduling::MessageTimes;
use testing::*;

on_both!(
    a_reply_is_not_sent_over_a_mail_that_was_not_seen,
    what_a_colleague_sends_stops_a_reply_but_ones_own_message_does_not,
    a_draft_and_a_forwarded_message_are_written_whatever_came_in,
    a_request_and_an_offer_are_not_sent_over_a_mail_that_was_not_seen,
    an_unseen_mail_stops_an_approval_even_behind_a_colleagues_message
);

const ANN: &str = "ann@shop.example";

fn reply(body: &str) -> NewReply {
    NewReply {
        body: body.into(),
        format: TextFormat::Plain,
        recipients: RecipientList {
            to: compose::parties(ANN).unwrap(),
            ..RecipientList::default()
        },
        close: false,
        send: true,
        forwards: None,
        secure: None,
        times: MessageTimes::default(),
    }
}

async fn mail(app: &TestApp, text: &str) -> FiledMail {
    app.mail(ANN, "Lamp", text).await
}

/// What a page shows that is made now.
async fn look(app: &TestApp, mail: &FiledMail) -> SeenConversation {
    let id = mail.conversation.clone();
    app.act(&app.owner, move |tx, cx| SeenConversation::now(tx, cx, &id)).await
}

/// Sends or keeps a message; `None` if it was, otherwise who wrote and whether it is the customer.
async fn send(
    app: &TestApp,
    by: &Actor,
    mail: &FiledMail,
    message: NewReply,
    seen: SeenConversation,
) -> Option<(String, bool)> {
    let id = mail.conversation.to_string();
    let sent = app.act(by, move |tx, cx| compose::send_reply(tx, cx, &id, &message, seen)).await;
    stopped_by(sent)
}

fn stopped_by<T>(outcome: DecisionOutcome<T>) -> Option<(String, bool)> {
    match outcome {
        DecisionOutcome::Done(_) => None,
        DecisionOutcome::Meanwhile(newer) => Some((newer.by, newer.is_customer)),
    }
}

async fn texts_in(app: &TestApp, mail: &FiledMail) -> Vec<String> {
    let key = app.key("read").await;
    let messages = app.timeline(&key, &mail.conversation, "message").await;
    messages.iter().map(|message| text_of(message, "text")).collect()
}

async fn a_reply_is_not_sent_over_a_mail_that_was_not_seen(app: TestApp) {
    let first = mail(&app, "It is broken").await;
    let seen = look(&app, &first).await;
    assert_eq!(mail(&app, "It works again").await.conversation, first.conversation);
    let stopped = send(&app, &app.owner, &first, reply("Send it back"), seen).await;
    assert_eq!(stopped.map(|(_, is_customer)| is_customer), Some(true));
    assert_eq!(texts_in(&app, &first).await, ["It is broken", "It works again"]);
    let seen = look(&app, &first).await;
    assert_eq!(send(&app, &app.owner, &first, reply("Good to hear"), seen).await, None);
    assert_eq!(texts_in(&app, &first).await.len(), 3);
}

async fn what_a_colleague_sends_stops_a_reply_but_ones_own_message_does_not(app: TestApp) {
    let bea = app.person_with("Bea", Role::Member).await;
    let mail = mail(&app, "It is broken").await;
    let seen = look(&app, &mail).await;
    assert_eq!(send(&app, &bea, &mail, reply("We look into it"), seen).await, None);
    assert_eq!(send(&app, &bea, &mail, reply("And call you"), seen).await, None);
    let stopped = send(&app, &app.owner, &mail, reply("We look into it"), seen).await;
    assert!(matches!(stopped, Some((_, false))), "{stopped:?}");
    assert_eq!(texts_in(&app, &mail).await.len(), 3);
}

async fn a_draft_and_a_forwarded_message_are_written_whatever_came_in(app: TestApp) {
    let first = mail(&app, "It is broken").await;
    let seen = look(&app, &first).await;
    mail(&app, "It works again").await;
    let draft = NewReply { send: false, ..reply("Send it back") };
    assert_eq!(send(&app, &app.owner, &first, draft, seen).await, None);
    let forwards = Some(ForwardedMessage { id: first.message.clone(), files: Vec::new() });
    let forward = NewReply { forwards, ..reply("Look") };
    assert_eq!(send(&app, &app.owner, &first, forward, seen).await, None);
}

async fn a_request_and_an_offer_are_not_sent_over_a_mail_that_was_not_seen(app: TestApp) {
    let first = mail(&app, "Can we talk?").await;
    let seen = look(&app, &first).await;
    mail(&app, "Never mind").await;
    let passport =
        RequestedDocument { label: "Passport".into(), description: None, required: true };
    let request = NewDocumentRequest {
        documents: vec![passport],
        message: None,
        due_date: None,
        send: true,
        secure: SecureSendOptions::default(),
    };
    let (id, sent) = (first.conversation.to_string(), request.clone());
    let asked =
        app.act(&app.owner, move |tx, cx| request_documents(tx, cx, &id, &sent, seen)).await;
    assert!(matches!(stopped_by(asked), Some((_, true))));
    // It is stopped before the offer is looked at, which names nothing that can be booked.
    let offer = OfferInput { type_id: "none".into(), times: Vec::new() };
    let id = first.conversation.to_string();
    let offered = app
        .act(&app.owner, move |tx, cx| {
            compose::offer_times(tx, cx, &id, &reply("Any of these?"), &offer, seen)
        })
        .await;
    assert!(matches!(stopped_by(offered), Some((_, true))));
    assert_eq!(texts_in(&app, &first).await.len(), 2);
    let (id, draft) =
        (first.conversation.to_string(), NewDocumentRequest { send: false, ..request });
    let kept =
        app.act(&app.owner, move |tx, cx| request_documents(tx, cx, &id, &draft, seen)).await;
    assert_eq!(stopped_by(kept), None);
}

async fn an_unseen_mail_stops_an_approval_even_behind_a_colleagues_message(app: TestApp) {
    let key = app.key("read draft").await;
    let bea = app.person_with("Bea", Role::Member).await;
    let first = mail(&app, "It is broken").await;
    let draft = app.draft(&key, &first.conversation, "Send it back").await;
    let draft = MessageId::parse(&draft).unwrap();
    let before = look(&app, &first).await;
    assert_eq!(send(&app, &bea, &first, reply("We look into it"), before).await, None);
    let between = look(&app, &first).await;
    mail(&app, "It works again").await;
    let approve = |conversation: SeenConversation| {
        let (draft, seen) = (draft.clone(), SeenDraft { revision: 1, conversation });
        app.act(&app.owner, move |tx, cx| {
            drafts::approve_draft(tx, cx, &draft, seen, &DraftApproval::default())
        })
    };
    for seen in [before, between] {
        let stopped = stopped_by(approve(seen).await);
        assert!(matches!(stopped, Some((_, true))), "{stopped:?}");
    }
    let messages = app.timeline(&key, &first.conversation, "message").await;
    assert!(messages.iter().any(|message| message["status"] == "draft"), "nothing was approved");
    assert_eq!(stopped_by(approve(look(&app, &first).await).await), None);
}
