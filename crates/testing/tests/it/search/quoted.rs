//! Mail is found by what it passes on or quotes where that stands nowhere else.

use maintenance::reindex;
use testing::{TestApp, on_both, raw_with};

on_both!(
    a_mail_that_is_passed_on_under_a_comment_is_found_by_its_words,
    history_that_nobody_here_has_is_found_and_what_the_conversation_has_is_not_kept_twice,
    quoted_words_stay_found_when_the_index_is_written_again
);

const GMAIL: &str = "FYI, see below.\r\n\r\n---------- Forwarded message ---------\r\n\
    From: Otto Quist <otto@harbour.example>\r\nDate: Mon, 9 Nov 2026 at 10:02\r\n\
    Subject: Berth 14\r\nTo: Ann <ann@x.example>\r\n\r\n\
    The zeppelin needs a mooring mast.\r\n";
const OUTLOOK: &str = "<html><body><p>Could you answer this?</p><div style=\"border:none;\
    border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm\"><p><b>From:</b> Otto Quist \
    &lt;otto@harbour.example&gt;<br><b>Sent:</b> Monday, 9 November 2026 10:02<br><b>To:</b> Ann \
    &lt;ann@x.example&gt;<br><b>Subject:</b> Berth 15</p></div><p>The submarine needs a new \
    periscope.</p></body></html>";

async fn takes_in(app: &TestApp, id: &str, subject: &str, kind: &str, body: &str) -> String {
    let fields = format!("Message-ID: <{id}@x.example>\r\nContent-Type: {kind}\r\n");
    let mail = raw_with(&fields, "Ann <ann@x.example>", subject, body);
    app.arrives(&mail).await.conversation.to_string()
}

async fn a_mail_that_is_passed_on_under_a_comment_is_found_by_its_words(app: TestApp) {
    let key = app.key("read").await;
    let plain = takes_in(&app, "1", "Fwd: Berth 14", "text/plain", GMAIL).await;
    takes_in(&app, "2", "Fwd: Berth 15", "text/html", OUTLOOK).await;
    let read = app.read(&key, &plain).await;
    assert_eq!(read["timeline"][0]["text"], "FYI, see below.", "the text is the writer's own");
    for (words, found) in [
        ("zeppelin", "Fwd: Berth 14"),
        ("\"mooring mast\"", "Fwd: Berth 14"),
        ("periscope", "Fwd: Berth 15"),
    ] {
        assert_eq!(app.search_subjects(&key, words).await, [found], "{words}");
    }
    assert_eq!(app.search_subjects(&key, "harbour.example").await.len(), 2, "who wrote it first");
}

async fn history_that_nobody_here_has_is_found_and_what_the_conversation_has_is_not_kept_twice(
    app: TestApp,
) {
    let key = app.key("read").await;
    let stranger = "Yes, please.\r\n\r\nOn Mon, 9 Nov 2026 at 10:02, Otto Quist wrote:\r\n\
        > Shall we order\r\n> the marble staircase?\r\n";
    let first = takes_in(&app, "1", "Stairs", "text/plain", stranger).await;
    assert_eq!(app.search_subjects(&key, "marble staircase").await, ["Stairs"]);
    // The same lines once more, and one that is new.
    let again = "And the banister?\r\n\r\nOn Tue, 10 Nov 2026 at 9:00, Ann wrote:\r\n\
        > Yes, please.\r\n>\r\n> On Mon, 9 Nov 2026 at 10:02, Otto Quist wrote:\r\n\
        > > Shall we order\r\n> > the marble staircase?\r\n> > It comes from Carrara.\r\n";
    let fields = "Message-ID: <2@x.example>\r\nIn-Reply-To: <1@x.example>\r\n";
    let mail = raw_with(fields, "Ann <ann@x.example>", "Re: Stairs", again);
    assert_eq!(app.arrives(&mail).await.conversation.as_str(), first);
    assert_eq!(app.search_subjects(&key, "carrara").await, ["Stairs"]);
    let twice = app.count("messages WHERE quoted LIKE '%marble%'").await;
    assert_eq!(twice, 1, "a line is kept once");
}

async fn quoted_words_stay_found_when_the_index_is_written_again(app: TestApp) {
    let key = app.key("read").await;
    takes_in(&app, "1", "Fwd: Berth 14", "text/plain", GMAIL).await;
    reindex::rebuild_index(&app.app.store, |_| {}).await.unwrap();
    assert_eq!(app.search_subjects(&key, "zeppelin").await, ["Fwd: Berth 14"]);
    // As if it had been filed before quoted text was kept.
    app.exec("UPDATE messages SET quoted = NULL").await;
    reindex::rebuild_index(&app.app.store, |_| {}).await.unwrap();
    assert!(app.search_subjects(&key, "zeppelin").await.is_empty());
    assert_eq!(reindex::read_quoted(&app.app).await.unwrap(), 1);
    assert_eq!(reindex::read_quoted(&app.app).await.unwrap(), 0, "each mail is read once");
    reindex::rebuild_index(&app.app.store, |_| {}).await.unwrap();
    assert_eq!(app.search_subjects(&key, "zeppelin").await, ["Fwd: Berth 14"]);
}
