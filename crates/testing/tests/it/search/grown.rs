//! Search in an inbox that has lived: what a look reads is counted, not timed, and is hardly more than in an
//! index that was written at once.

use std::collections::HashMap;

use base::error::{Error, Result};
use base::ids::{ConversationId, short_base32};
use db::Tx;
use maintenance::{check, reindex};
use model::indexing::word_lists;
use serde_json::json;
use testing::{HOUR, MINUTE, SECOND, TestApp, TestKey, file, letter, on_both};

on_both!(
    a_grown_index_is_read_as_quickly_as_a_new_one,
    deleted_rows_are_spread_over_their_tables,
    an_index_into_which_mail_comes_is_put_together_now_and_then,
    a_word_list_that_lost_words_is_written_again,
    a_word_that_comes_while_its_list_is_made_is_found,
    a_list_that_is_made_anew_has_no_words_of_hidden_notes,
    a_tag_more_loses_no_words,
    rows_with_numbers_of_before_are_found_replaced_and_written_anew
);

/// Characters before each word that say its workspace.
const TAG_CHARS: u32 = 4;
/// Threads of the grown inbox.
const THREADS: usize = 60;
/// A grown index may cost so much more than a new one.
const GROWN_OVER_NEW: f64 = 1.2;
/// A word list whose first words were lost leads with this.
const LISTS_WITH_OTHERS: &str = "conversation_index WHERE substr(words, 1, 1) = '~'";

/// Mail in threads with files that are read, answers that are drafted, changed, sent and discarded, notes,
/// tags that come and go, merges, and what is deleted for good.
async fn grow(app: &TestApp, key: &TestKey) -> Vec<ConversationId> {
    let mut conversations = Vec::new();
    for number in 0..THREADS {
        let from = format!("c{number}@x.example Customer{number}");
        let subject = format!("Order {number}");
        let mut mail = letter(&from, &subject, &format!("The lamp number{number} is broken."));
        if number % 3 == 0 {
            mail.attachments = vec![file(&format!("invoice{number}.txt"), b"Total 12.00 EUR")];
        }
        let id = app.deliver(&app.support, mail).await.conversation;
        app.on(key, &id, "notes", json!({ "body": "The lamp is on its way" })).await.is(201);
        app.on(key, &id, "tags", json!({ "add": ["Lamps"] })).await.is(200);
        app.on(key, &id, "tags", json!({ "add": ["Urgent"] })).await.is(200);
        app.on(key, &id, "tags", json!({ "remove": ["Lamps"] })).await.is(200);
        let draft = app.draft(key, &id, "We send a lamp on Monday").await;
        let change = json!({ "body": "We send another lamp on Tuesday" });
        app.post(key, &format!("/messages/{draft}/update"), change).await.is(200);
        if number % 4 == 0 {
            app.post(key, &format!("/messages/{draft}/discard"), json!({ "reason": "No" }))
                .await
                .is(200);
        }
        app.send_reply(key, &id, "A new lamp left the house today").await;
        app.advance(SECOND);
        let answer = letter(&from, &format!("Re: {subject}"), "Thank you, the lamp shines");
        let answered = app.deliver(&app.support, answer).await.conversation;
        app.on(key, &answered, "status", json!({ "status": "closed" })).await.is(200);
        conversations.push(id);
        if number % 10 == 9 {
            app.pass(HOUR).await;
        }
    }
    for pair in conversations.chunks(20) {
        let [target, source, ..] = pair else { continue };
        app.on(key, source, "merge", json!({ "into": target.to_string() })).await.is(200);
    }
    conversations
}

async fn a_grown_index_is_read_as_quickly_as_a_new_one(app: TestApp) {
    if app.app.store.is_shared() {
        return;
    }
    let key = app.key("write draft send").await;
    grow(&app, &key).await;
    app.pass(4 * HOUR).await;
    let grown = read_pages(&app).await;
    let found = app.search_subjects(&key, "lamp").await;
    reindex::rebuild_index(&app.app.store, |_| {}).await.unwrap();
    app.pass(4 * HOUR).await;
    let new = read_pages(&app).await;
    assert_eq!(app.search_subjects(&key, "lamp").await, found);
    for (word, pages) in &grown {
        // A word of one mail is read in a page or two.
        let most = (new[word] as f64 * GROWN_OVER_NEW).max(new[word] as f64 + 1.0);
        assert!(*pages as f64 <= most, "{word}: {pages} pages, {} when new", new[word]);
    }
}

/// What FTS5 reads to find all mails that have a word, by word.
async fn read_pages(app: &TestApp) -> HashMap<&'static str, i64> {
    let tag = short_base32(app.owner.ws, TAG_CHARS);
    let read = app.app.store.read(move |tx| {
        let mut pages = HashMap::new();
        for word in ["lamp", "order", "today", "number7"] {
            let before = pages_read(tx)?;
            let sql = "SELECT count(*) FROM message_index WHERE message_index MATCH ?1";
            let (mails,): (i64,) = tx.one(sql, &[&format!("\"{tag}{word}\"")])?;
            assert!(mails > 0, "{word}");
            pages.insert(word, pages_read(tx)? - before);
        }
        Ok::<_, Error>(pages)
    });
    read.await.unwrap()
}

/// How many entries of its table FTS5 has read on this connection.
fn pages_read(tx: &mut Tx<'_>) -> Result<i64> {
    let sql = "SELECT message_index FROM message_index WHERE message_index MATCH '*reads'";
    Ok(tx.one::<(i64,)>(sql, &[])?.0)
}

/// FTS5 puts a deleted row on the slot that its number says, or the next free one, and looks from there to
/// the next free one for each row of a word.
async fn deleted_rows_are_spread_over_their_tables(app: TestApp) {
    if app.app.store.is_shared() {
        return;
    }
    let mut mails = Vec::new();
    for number in 0..2 * DELETED {
        let from = format!("c{number}@x.example");
        mails.push(letter(&from, &format!("Order {number}"), "The lamp is broken"));
    }
    let filed = app.deliver_all(&app.support, mails).await;
    let key = app.key("write draft send").await;
    for mail in filed.iter().take(DELETED) {
        // What leaves takes the place of its draft.
        app.send_reply(&key, &mail.conversation, "A new lamp is on its way").await;
    }
    let (tables, numbers) = app.app.store.read(deleted_rows).await.unwrap();
    let deleted: usize = tables.iter().map(|table| table.iter().flatten().count()).sum();
    assert!(deleted >= DELETED / 2, "only {deleted} rows were deleted");
    let looks: Vec<usize> = tables
        .iter()
        .flat_map(|table| numbers.iter().map(|number| steps(table, *number)))
        .collect();
    let mean = looks.iter().sum::<usize>() as f64 / looks.len() as f64;
    assert!(mean < MOST_STEPS, "{mean} steps for each row");
}

/// Rows that are deleted; as many stay.
const DELETED: usize = 100;
/// Slots that a look may pass on average. A table is at most half full: from a random slot it passes 1.5.
const MOST_STEPS: f64 = 3.0;

/// The slots of one table of deleted rows, page by page behind one another.
type DeletedRows = Vec<Vec<Option<u64>>>;

/// The tables of deleted rows of all segments, and the numbers of all rows.
fn deleted_rows(tx: &mut Tx<'_>) -> Result<(Vec<DeletedRows>, Vec<u64>)> {
    let pages: Vec<(i64, Vec<u8>)> = tx
        .all("SELECT id, block FROM message_index_data WHERE id >> 37 >= 65536 ORDER BY id", &[])?;
    let mut tables: Vec<(i64, DeletedRows)> = Vec::new();
    for (id, block) in pages {
        // A byte says how long a key is; behind eight bytes come the keys.
        let keys = block[8..].chunks(block[0].into());
        let keys = keys.map(|key| key.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        let page = keys.map(|key| (key != 0).then_some(key)).collect();
        match tables.last_mut() {
            Some((segment, table)) if *segment == id >> 37 => table.push(page),
            _ => tables.push((id >> 37, vec![page])),
        }
    }
    let numbers: Vec<(i64,)> = tx.all("SELECT id FROM message_index_docsize", &[])?;
    let numbers = numbers.into_iter().map(|(number,)| number.unsigned_abs()).collect();
    Ok((tables.into_iter().map(|(_, table)| table).collect(), numbers))
}

/// The slots that FTS5 looks at to see whether a row was deleted.
fn steps(table: &DeletedRows, number: u64) -> usize {
    let pages = table.len() as u64;
    let page = &table[(number % pages) as usize];
    let first = (number / pages) as usize % page.len();
    let slots = page[first..].iter().chain(&page[..first]);
    slots.take_while(|slot| slot.is_some_and(|deleted| deleted != number)).count()
}

/// Each mail is a segment more: putting a small index together for each would write it all the time.
async fn an_index_into_which_mail_comes_is_put_together_now_and_then(app: TestApp) {
    if app.app.store.is_shared() {
        return;
    }
    let mails = (0..DELETED).map(|number| {
        letter(&format!("c{number}@x.example"), &format!("Order {number}"), "The lamp is broken")
    });
    app.deliver_all(&app.support, mails.collect()).await;
    app.pass(2 * HOUR).await;
    assert_eq!(app.count(SEGMENTS).await, 1);
    app.mail("ann@x.example", "Chair", "It is green").await;
    app.pass(SECOND).await;
    assert_eq!(app.count(SEGMENTS).await, 2);
    app.pass(HOUR).await;
    assert_eq!(app.count(SEGMENTS).await, 1);
}

/// FTS5 numbers the pages of a segment from its own number on, shifted so far, and tables of deleted rows
/// beyond them.
const SEGMENTS: &str = "(SELECT DISTINCT id >> 37 FROM message_index_data
    WHERE id >> 37 BETWEEN 1 AND 65535) AS segments";

async fn a_word_list_that_lost_words_is_written_again(app: TestApp) {
    let key = app.key("write draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "A heron called" })).await.is(201);
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["Birds"] })).await.is(200);
    let draft = app.draft(&key, &mail.conversation, "We send a zeppelin").await;
    app.post(&key, &format!("/messages/{draft}/update"), json!({ "body": "We send a train" }))
        .await
        .is(200);
    app.work().await;
    assert_eq!(app.count(LISTS_WITH_OTHERS).await, 1, "it waits for what changes at once");
    app.pass(MINUTE).await;
    assert_eq!(app.count(LISTS_WITH_OTHERS).await, 0);
    assert_eq!(app.count("index_rebuilds").await, 0);
    for (word, is_found) in
        [("broken", true), ("heron", true), ("birds", true), ("train", true), ("zeppelin", false)]
    {
        assert_eq!(app.search_subjects(&key, word).await.len(), usize::from(is_found), "{word}");
    }
    app.on(&key, &mail.conversation, "tags", json!({ "remove": ["Birds"] })).await.is(200);
    app.pass(MINUTE).await;
    assert!(app.search_subjects(&key, "birds").await.is_empty());
    assert_eq!(app.search_subjects(&key, "train").await, ["Lamp"]);
    assert_eq!(app.count(LISTS_WITH_OTHERS).await, 0);
}

async fn a_word_that_comes_while_its_list_is_made_is_found(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["Zeppelin"] })).await.is(200);
    app.on(&key, &mail.conversation, "tags", json!({ "remove": ["Zeppelin"] })).await.is(200);
    app.advance(MINUTE);
    let (now, store) = (app.now(), &app.app.store);
    let claimed = store.write(move |tx| word_lists::claim_lists(tx, now, now + MINUTE));
    let claimed = claimed.await.unwrap();
    assert_eq!(claimed.len(), 1);
    let others = store.write(move |tx| word_lists::claim_lists(tx, now, now + MINUTE));
    assert!(others.await.unwrap().is_empty(), "another process makes the same list");
    let made = store.read(move |tx| word_lists::make_list(tx, &claimed[0])).await.unwrap();
    // The list that search has names the word already.
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["Zeppelin"] })).await.is(200);
    let made = [made];
    store.write(move |tx| word_lists::write_lists(tx, &made)).await.unwrap();
    assert_eq!(app.search_subjects(&key, "zeppelin").await, ["Lamp"]);
    app.pass(2 * MINUTE).await;
    assert_eq!(app.search_subjects(&key, "zeppelin").await, ["Lamp"]);
    assert_eq!(app.count(LISTS_WITH_OTHERS).await, 0);
}

async fn a_list_that_is_made_anew_has_no_words_of_hidden_notes(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    app.on(&key, &mail.conversation, "notes", json!({ "body": "A heron called" })).await.is(201);
    app.exec("UPDATE notes SET hidden_at = 1").await;
    app.on(&key, &mail.conversation, "tags", json!({ "add": ["Birds"] })).await.is(200);
    app.on(&key, &mail.conversation, "tags", json!({ "remove": ["Birds"] })).await.is(200);
    app.pass(MINUTE).await;
    assert_eq!(app.count("conversation_index WHERE words LIKE '%broken%'").await, 1);
    assert_eq!(app.count("conversation_index WHERE words LIKE '%heron%'").await, 0);
}

async fn a_tag_more_loses_no_words(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    for tag in ["Birds", "Lamps"] {
        app.on(&key, &mail.conversation, "tags", json!({ "add": [tag] })).await.is(200);
    }
    assert_eq!(app.count(LISTS_WITH_OTHERS).await, 0);
    assert_eq!(app.search_subjects(&key, "birds lamps").await, ["Lamp"]);
}

/// SQLite's rows had numbers that did not spread; PostgreSQL's have none.
async fn rows_with_numbers_of_before_are_found_replaced_and_written_anew(app: TestApp) {
    if app.app.store.is_shared() {
        return;
    }
    let key = app.key("write draft").await;
    let mail = app.mail("ann@x.example", "Lamp", "It is broken").await;
    let draft = app.draft(&key, &mail.conversation, "We send a zeppelin").await;
    let tag = short_base32(app.owner.ws, TAG_CHARS);
    let as_before = move |tx: &mut Tx<'_>| {
        tx.exec("INSERT INTO message_index (message_index) VALUES ('delete-all')", &[])?;
        let rows: Vec<(i64, i64, String)> = tx.all(
            "SELECT c.num, m.serial, m.text FROM messages m
             JOIN conversations c ON c.ws = m.ws AND c.id = m.conversation",
            &[],
        )?;
        for (num, serial, text) in rows {
            let words = text.to_lowercase();
            let words = words.split(' ').map(|word| format!("{tag}{word}")).collect::<Vec<_>>();
            tx.exec(
                "INSERT INTO message_index (rowid, words) VALUES (?1, ?2)",
                &[&(num << 20 | serial), &words.join(" ")],
            )?;
        }
        Ok::<_, Error>(())
    };
    app.app.store.write(as_before).await.unwrap();
    assert_eq!(app.search_subjects(&key, "broken").await, ["Lamp"]);
    let report = check::check(&app.app.store, &app.app.blobs).await.unwrap();
    assert!(report.findings.is_empty());
    app.post(&key, &format!("/messages/{draft}/update"), json!({ "body": "We send a train" }))
        .await
        .is(200);
    assert!(app.search_subjects(&key, "\"a zeppelin\"").await.is_empty());
    assert_eq!(app.search_subjects(&key, "\"a train\"").await, ["Lamp"]);
    let rebuild = "INSERT INTO index_rebuilds (name, next_num, due_at)
        SELECT 'numbers', max(num), 0 FROM conversations";
    app.exec(rebuild).await;
    app.pass(MINUTE).await;
    assert_eq!(app.search_subjects(&key, "\"is broken\"").await, ["Lamp"]);
    assert_eq!(app.count("message_index_docsize WHERE id & 262144 = 0").await, 0);
}
