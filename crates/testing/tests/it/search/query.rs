//! `q` of section 4.2: what is searched, and how words are read.

use base::actor::Role;
use db::Tx;
use mail::{Address, Mail};
use serde_json::json;
use testing::{MINUTE, SECOND, TestApp, letter, on_both, query, texts};

on_both!(
    on_postgresql_all_ids_are_compared_by_their_bytes,
    the_index_is_put_together_in_time_and_finds_the_same,
    words_are_found_in_subject_text_names_and_addresses,
    the_whole_text_is_searched_and_not_only_what_a_read_shows,
    drafts_scheduled_and_sent_mail_are_found_until_a_draft_is_discarded,
    the_writer_of_sent_mail_is_found_by_name_and_address,
    case_accents_width_and_script_do_not_matter,
    all_words_must_match_though_in_different_mails_of_the_conversation,
    what_comes_after_a_search_is_found_by_the_next,
    frequent_words_are_found_again_and_again,
    mail_from_before_is_found_though_its_index_has_no_number,
    a_conversation_with_several_matching_mails_is_listed_once,
    only_the_last_word_is_a_prefix,
    other_forms_of_a_word_are_found_unless_it_is_in_quotes,
    a_noun_inside_a_compound_is_found,
    mail_from_before_is_found_by_the_nouns_of_its_compounds,
    quoted_words_stand_together,
    a_phrase_is_found_however_long_the_mail_is,
    a_query_as_long_as_can_be_is_found_wherever_it_stands,
    a_mail_of_very_many_words_is_received_and_found,
    odd_input_is_never_an_error,
    a_key_finds_only_what_it_sees,
    a_workspace_never_finds_the_mail_of_another,
    what_is_found_is_newest_first_and_keeps_to_the_filters,
    an_empty_search_is_no_search
);

async fn on_postgresql_all_ids_are_compared_by_their_bytes(app: TestApp) {
    // An index of another order is of no use to whoever looks an id up in it.
    let others: Vec<(String,)> = app
        .app
        .store
        .read(|tx| match tx.pick(true, false) {
            true => Ok(Vec::new()),
            false => tx.all(
                "SELECT CAST(table_name || '.' || column_name AS TEXT)
                 FROM information_schema.columns
                 WHERE table_schema = current_schema() AND data_type = 'text'
                 AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'schema_versions'",
                &[],
            ),
        })
        .await
        .unwrap();
    assert_eq!(others, []);
}

async fn the_index_is_put_together_in_time_and_finds_the_same(app: TestApp) {
    let key = app.key("read").await;
    app.work().await;
    for number in 0..40 {
        let text = format!("The lamp number{number} is broken.");
        app.mail(&format!("c{number}@x.example"), &format!("Lamp {number}"), &text).await;
    }
    let before = (app.search_subjects(&key, "broken").await, parts(&app).await);
    app.pass(3 * 60 * MINUTE + SECOND).await;
    let after = (app.search_subjects(&key, "broken").await, parts(&app).await);
    assert_eq!(before.0, after.0);
    assert_eq!(app.search_subjects(&key, "number7").await, ["Lamp 7"]);
    assert!(after.1 == 0 || after.1 < before.1, "{} parts, then {}", before.1, after.1);
}

async fn words_are_found_in_subject_text_names_and_addresses(app: TestApp) {
    let key = app.key("read").await;
    let mail = Mail {
        to: vec![Address::new(Some("Tora Recipient"), "tora@north.example")],
        cc: vec![Address::new(Some("Cleo Copied"), "cleo@south.example")],
        ..letter("bruno@keller.example Bruno Keller", "Lamp order", "It arrived shattered.")
    };
    app.deliver(&app.support, mail).await;
    app.mail("nobody@else.example Nobody", "Other", "Nothing to see").await;
    for q in [
        "lamp",
        "order",
        "shattered",
        "arrived",
        "Bruno",
        "Keller",
        "bruno@keller.example",
        "keller.example",
        "Tora",
        "north",
        "tora@north.example",
        "Copied",
        "cleo",
        "cleo@south.example",
        "lamp shattered Tora cleo",
    ] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp order"], "{q}");
    }
    for q in ["lampshade", "hattered", "bruno@north.example", "lamp nothing"] {
        assert!(app.search_subjects(&key, q).await.is_empty(), "{q}");
    }
}

async fn the_whole_text_is_searched_and_not_only_what_a_read_shows(app: TestApp) {
    let key = app.key("read").await;
    let text = format!("{} needle {}", "hay ".repeat(5_000), "straw ".repeat(5_000));
    app.mail("a@x.example", "Stack", &text).await;
    assert_eq!(app.search_subjects(&key, "needle").await, ["Stack"]);
    assert_eq!(app.search_subjects(&key, "hay needle straw").await, ["Stack"]);
}

async fn drafts_scheduled_and_sent_mail_are_found_until_a_draft_is_discarded(app: TestApp) {
    let key = app.key("draft send").await;
    let mail = app.mail("a@x.example", "Lamp", "Broken").await;
    let draft = app.draft(&key, &mail.conversation, "A whispered draft").await;
    let message = app.schedule(&key, &mail.conversation, "We refund everything").await;
    for q in ["whispered", "refund everything"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp"], "{q}");
    }
    app.mark_sent(&app.support, &message).await;
    for q in ["refund", "refund everything", "\"we refund\"", "re lamp"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp"], "{q}");
    }
    let path = format!("/messages/{draft}");
    app.post(&key, &format!("{path}/update"), json!({ "body": "A shouted one" })).await.is(200);
    assert_eq!(app.search_subjects(&key, "shouted").await, ["Lamp"]);
    assert!(app.search_subjects(&key, "whispered").await.is_empty());
    app.post(&key, &format!("{path}/discard"), json!({})).await.is(200);
    assert!(app.search_subjects(&key, "shouted").await.is_empty());
    assert_eq!(app.search_subjects(&key, "refund").await, ["Lamp"]);
}

async fn the_writer_of_sent_mail_is_found_by_name_and_address(app: TestApp) {
    let key = app.key_of(&app.owner, "Quentin", "send", true).await;
    let mail = app.mail("a@x.example", "Lamp", "Broken").await;
    app.mail("b@x.example", "Other", "Broken").await;
    app.send_reply(&key, &mail.conversation, "We refund everything").await;
    for q in ["Quentin", "quentin support@acme.example"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp"], "{q}");
    }
}

async fn case_accents_width_and_script_do_not_matter(app: TestApp) {
    let key = app.key("read").await;
    let found = [
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("ſtraſſe", "strasse"),
        ("Crème brûlée", "creme BRULEE"),
        ("creme", "crème"),
        ("cafe\u{301}", "café"),
        ("Ångström", "angstrom"),
        ("İSTANBUL", "istanbul"),
        ("ﬁnance", "finance"),
        ("ΟΔΟΣ", "οδος"),
        ("Привет", "ПРИВЕТ"),
        ("東京都の請求書", "東京"),
        ("東京都の請求書", "京都"),
        ("東京都の請求書", "請求書"),
        ("東京都の請求書", "書"),
        ("東京都の請求書", "東"),
        ("東京都の請求書です", "請求書 東京"),
        ("請求書No5", "no5 請求書"),
        ("주문을 확인", "주문"),
        ("주문을 확인", "확인 주문"),
        ("ガス料金", "ｶﾞｽ"),
        ("ＡＢＣ１２３", "abc123"),
        ("abc123", "ＡＢＣ"),
        ("สวัสดีครับ", "สวัสดี"),
        ("𝓢𝓬𝓻𝓲𝓹𝓽", "script"),
    ];
    for (number, (text, q)) in found.iter().enumerate() {
        let subject = format!("n{number}");
        app.mail("a@x.example", &subject, text).await;
        let result = app.search_subjects(&key, &format!("{subject} {q}")).await;
        assert_eq!(result, [subject], "{q} in {text}");
    }
    for (text, q) in [("東京", "京東"), ("carpet", "car t"), ("주문", "문주"), ("ab", "b")]
    {
        app.mail("a@x.example", "missing", text).await;
        assert!(
            app.search_subjects(&key, &format!("missing {q}")).await.is_empty(),
            "{q} in {text}"
        );
    }
}

async fn all_words_must_match_though_in_different_mails_of_the_conversation(app: TestApp) {
    let key = app.key("send").await;
    let mail = app.mail("a@x.example", "Lamp", "The first has apples").await;
    app.mail("a@x.example", "Re: Lamp", "The second has pears").await;
    app.send_reply(&key, &mail.conversation, "We have plums").await;
    app.mail("b@x.example", "Apples only", "apples").await;
    assert_eq!(app.search_subjects(&key, "apples pears plums").await, ["Lamp"]);
    assert_eq!(app.search_subjects(&key, "plums \"second has\" apples").await, ["Lamp"]);
    assert!(app.search_subjects(&key, "apples pears cherries").await.is_empty());
    assert_eq!(app.search_subjects(&key, "apples").await.len(), 2);
}

async fn what_comes_after_a_search_is_found_by_the_next(app: TestApp) {
    let key = app.key("write").await;
    let mail = app.mail("a@x.example", "Lamp", "The first has apples").await;
    assert_eq!(app.search_subjects(&key, "appl").await, ["Lamp"]);
    assert!(app.search_subjects(&key, "pea").await.is_empty());
    app.mail("a@x.example", "Re: Lamp", "The second has pears").await;
    assert_eq!(app.search_subjects(&key, "pea").await, ["Lamp"]);
    let notes = format!("/conversations/{}/notes", mail.conversation);
    app.post(&key, &notes, json!({ "body": "They like plums" })).await.is(201);
    assert_eq!(app.search_subjects(&key, "appl pears plu").await, ["Lamp"]);
}

async fn frequent_words_are_found_again_and_again(app: TestApp) {
    let key = app.key("read").await;
    for number in 0..60 {
        app.advance(SECOND);
        let text = if number % 3 == 0 { "The lamp is broken" } else { "The lamp is bright" };
        app.mail(&format!("c{number}@x.example"), &format!("Lamp {number}"), text).await;
    }
    let lamps = || (0..60).rev().map(|number| format!("Lamp {number}"));
    for _ in 0..3 {
        let all: Vec<String> = lamps().take(25).collect();
        assert_eq!(app.search_subjects(&key, "lamp").await, all);
        let broken: Vec<String> = lamps().skip(2).step_by(3).collect();
        assert_eq!(app.search_subjects(&key, "lamp broken").await, broken);
        assert_eq!(app.search_subjects(&key, "lamp bro").await, broken);
    }
    app.advance(SECOND);
    app.mail("new@x.example", "Lamp 60", "This lamp is broken too").await;
    assert_eq!(app.search_subjects(&key, "lamp broken").await.first().unwrap(), "Lamp 60");
    assert_eq!(app.search_subjects(&key, "lamp").await.first().unwrap(), "Lamp 60");
}

async fn mail_from_before_is_found_though_its_index_has_no_number(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "The first has apples").await;
    let forget = |tx: &mut Tx<'_>| match tx.pick(true, false) {
        true => Ok(0),
        false => tx.exec("UPDATE message_index SET num = NULL", &[]),
    };
    app.app.store.write(forget).await.unwrap();
    app.mail("b@x.example", "Shade", "The second has apples").await;
    assert_eq!(app.search_subjects(&key, "apples").await.len(), 2);
}

async fn a_conversation_with_several_matching_mails_is_listed_once(app: TestApp) {
    let key = app.key("read").await;
    for _ in 0..3 {
        app.advance(SECOND);
        app.mail("a@x.example", "Lamp", "The same word").await;
    }
    app.advance(SECOND);
    app.mail("b@x.example", "Chair", "The same word").await;
    for q in ["word", "same word", "\"same word\"", "wor"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Chair", "Lamp"], "{q}");
        let path = format!("/conversations?{}", query(&[("q", q), ("limit", "1")]));
        assert_eq!(app.walk(&key, &path).await.len(), 2, "{q}");
    }
}

async fn only_the_last_word_is_a_prefix(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "Your invoice is late").await;
    for q in ["inv", "late inv", "invoice la", "your invoi", "l"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp"], "{q}");
    }
    for q in ["inv late", "la invoice", "\"inv\"", "late \"inv\"", "nvoice"] {
        assert!(app.search_subjects(&key, q).await.is_empty(), "{q}");
    }
}

async fn other_forms_of_a_word_are_found_unless_it_is_in_quotes(app: TestApp) {
    let key = app.key("read").await;
    app.mail("ann@x.example", "One", "My invoice is wrong.").await;
    app.mail("bob@x.example", "Zwei", "Die Rechnungen fehlen noch.").await;
    for (asked, count) in [
        ("invoices wrong", 1),
        ("rechnung fehlen", 1),
        ("\"invoices\" wrong", 0),
        ("\"rechnung\" fehlen", 0),
        ("wrong -invoices", 1),
        ("wrong -invoice", 0),
    ] {
        assert_eq!(app.search_subjects(&key, asked).await.len(), count, "{asked}");
    }
}

async fn a_noun_inside_a_compound_is_found(app: TestApp) {
    let key = app.key("read").await;
    app.mail("ann@x.example", "Frage", "Die Monatsrechnungen sind da, Größe egal.").await;
    for asked in ["rechnung größe", "rechnungen größe", "monat größe", "Monatsrechnung größe"]
    {
        assert_eq!(app.search_subjects(&key, asked).await.len(), 1, "{asked}");
    }
    assert_eq!(app.search_subjects(&key, "\"die rechnung\"").await.len(), 0);
}

async fn mail_from_before_is_found_by_the_nouns_of_its_compounds(app: TestApp) {
    let key = app.key("read").await;
    app.mail("ann@x.example", "Frage", "Die Stromrechnung ist hoch.").await;
    app.app
        .store
        .write(|tx| {
            tx.exec("DELETE FROM message_index", &[])?;
            tx.exec("DELETE FROM index_rebuilds", &[])?;
            tx.exec(
                "INSERT INTO index_rebuilds (name, next_num, due_at)
                 SELECT 'compounds', max(num), 0 FROM conversations",
                &[],
            )
        })
        .await
        .unwrap();
    app.pass(MINUTE).await;
    assert_eq!(app.search_subjects(&key, "rechnung hoch").await.len(), 1);
}

async fn quoted_words_stand_together(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Together", "The late fee is due").await;
    app.mail("a@x.example", "Apart", "The fee came late; fee again").await;
    app.mail("a@x.example", "Reversed", "fee late").await;
    assert_eq!(app.search_subjects(&key, "\"late fee\"").await, ["Apart", "Together"]);
    assert_eq!(app.search_subjects(&key, "\"late fee is\"").await, ["Together"]);
    assert_eq!(app.search_subjects(&key, "\"late fee\" du").await, ["Together"]);
    assert_eq!(app.search_subjects(&key, "due \"LATE  Fée\"").await, ["Together"]);
    assert_eq!(app.search_subjects(&key, "\"the late fe").await, ["Together"]);
    assert!(app.search_subjects(&key, "\"late fe\"").await.is_empty());
    assert_eq!(app.search_subjects(&key, "late fee").await.len(), 3);
}

async fn a_phrase_is_found_however_long_the_mail_is(app: TestApp) {
    let key = app.key("read").await;
    let filler = |count: usize| (0..count).map(|n| format!("w{n} ")).collect::<String>();
    let long = format!("{} far away words", filler(20_000));
    app.mail("a@x.example", "Late in a long mail", &long).await;
    let repeated = format!("{} the very end", "the other ".repeat(400));
    app.mail("a@x.example", "After many of the same", &repeated).await;
    let unspaced = format!("{}東京都庁", "京東国".repeat(6_000));
    app.mail("a@x.example", "A long unspaced run", &unspaced).await;
    assert_eq!(app.search_subjects(&key, "\"far away\"").await, ["Late in a long mail"]);
    assert_eq!(app.search_subjects(&key, "\"the very\"").await, ["After many of the same"]);
    assert_eq!(app.search_subjects(&key, "東京都庁").await, ["A long unspaced run"]);
}

async fn a_query_as_long_as_can_be_is_found_wherever_it_stands(app: TestApp) {
    let key = app.key("read").await;
    let text: Vec<char> = (0..5_000).filter_map(|n| char::from_u32(0x4e00 + n)).collect();
    app.mail("a@x.example", "A long run", &text.iter().collect::<String>()).await;
    for start in (0..4_800).step_by(100) {
        let q: String = text[start..start + 200].iter().collect();
        assert_eq!(app.search_subjects(&key, &q).await, ["A long run"], "from {start}");
    }
}

async fn a_mail_of_very_many_words_is_received_and_found(app: TestApp) {
    let key = app.key("read").await;
    let text: String = (0..13_000).map(|n| format!("{n:05}{} ", "ж".repeat(40))).collect();
    app.mail("a@x.example", "Enormous", &text).await;
    assert_eq!(app.search_subjects(&key, "enormous").await, ["Enormous"]);
    assert_eq!(app.search_subjects(&key, "00017ж").await, ["Enormous"]);
}

async fn odd_input_is_never_an_error(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "Broken near and or not").await;
    let long = "ab ".repeat(66);
    let (quotes, emoji, one) = ("\"".repeat(200), "😀".repeat(200), "x".repeat(200));
    for q in [
        "\"",
        "\"\"",
        "\"\"\"",
        "*",
        "lamp*",
        "*lamp",
        "^lamp",
        "lamp NEAR broken",
        "NEAR(lamp broken, 2)",
        "NEAR",
        "AND",
        "OR",
        "NOT",
        "lamp AND broken",
        "lamp OR",
        "NOT lamp",
        "(",
        ")",
        "(lamp",
        "lamp)",
        "((()))",
        "{a b}: c",
        "words: lamp",
        "-lamp",
        "+lamp",
        "lamp + broken",
        "a:b",
        "a:*",
        "!lamp",
        "lamp & broken",
        "lamp | broken",
        "lamp <-> broken",
        "<2>",
        "'",
        "''",
        "'lamp' & !'x'",
        "\\",
        "\\'",
        "\\\"",
        ";",
        "--",
        "; DROP TABLE mail_words",
        "%",
        "_",
        "%%",
        "lamp%",
        "\0",
        "lamp\0broken",
        "\u{feff}",
        "😀",
        "👩‍👩‍👧",
        "\u{202e}lamp",
        "\t\n",
        "?1",
        "$1",
        ":x",
        "@x",
        "[a]",
        "lamp\u{301}",
        "\u{301}",
        "ﷺ",
        "ẞ",
        "\u{10ffff}",
        &long,
        &quotes,
        &emoji,
        &one,
    ] {
        for list in ["conversations", "documents"] {
            let path = format!("/{list}?{}", query(&[("q", q)]));
            app.get(&key, &path).await.is(200);
        }
    }
    for q in ["lamp*", "(lamp)", "lamp AND broken", "\0lamp", "'lamp'", "lamp OR"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp"], "{q}");
    }
    for q in ["NEAR lamp missing", "lamp OR missing", "-lamp", "!!!", "😀", "\"\""] {
        assert!(app.search_subjects(&key, q).await.is_empty(), "{q}");
    }
}

async fn a_key_finds_only_what_it_sees(app: TestApp) {
    let key = app.key("read").await;
    let test_key = app.test_key("read").await;
    let ann = app.person_with("Ann", Role::Admin).await;
    let anns_key = app.key_of(&ann, "Anns", "read", true).await;
    for (subject, inbox) in [
        ("Team", app.support.clone()),
        ("Mine", app.private_inbox(&app.owner).await),
        ("Hers", app.private_inbox(&ann).await),
        ("Sandbox", app.sandbox.clone()),
    ] {
        app.deliver(&inbox, letter("a@x.test", subject, "the same treasure")).await;
        app.advance(SECOND);
    }
    for q in ["treasure", "same treasure", "\"same treasure\"", "treas"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Mine", "Team"], "{q}");
        assert_eq!(app.search_subjects(&anns_key, q).await, ["Hers", "Team"], "{q}");
        assert_eq!(app.search_subjects(&test_key, q).await, ["Sandbox"], "{q}");
    }
}

async fn a_workspace_never_finds_the_mail_of_another(app: TestApp) {
    let key = app.key("read").await;
    let other = app.other_workspace("Globex").await;
    let theirs = app.app.act(&other, |tx, cx| model::mailboxes::all_seen_by(tx, cx.actor));
    let theirs = theirs.await.unwrap().remove(0);
    let incoming = app.incoming(&theirs, letter("a@x.example", "Theirs", "treasure"));
    app.act(&other, move |tx, cx| inbound::receive::receive(tx, cx, &theirs, &incoming)).await;
    app.mail("a@x.example", "Ours", "treasure").await;
    assert_eq!(app.search_subjects(&key, "treasure").await, ["Ours"]);
    let their_key = app.key_of(&other, "Their", "read", true).await;
    assert_eq!(app.search_subjects(&their_key, "treasure").await, ["Theirs"]);
}

async fn what_is_found_is_newest_first_and_keeps_to_the_filters(app: TestApp) {
    let key = app.key("write").await;
    let sales = app.team_inbox("sales@acme.example", "Sales").await;
    let first = app.mail("a@x.example", "First", "treasure").await;
    app.advance(SECOND);
    app.deliver(&sales, letter("b@x.example", "Second", "treasure")).await;
    app.advance(SECOND);
    let third = app.mail("c@x.example", "Third", "treasure").await;
    app.on(&key, &third.conversation, "status", json!({ "status": "closed" })).await.is(200);
    app.advance(SECOND);
    app.mail("a@x.example", "First", "without the word").await;
    app.on(&key, &first.conversation, "assign", json!({ "to": "me" })).await.is(200);
    assert_eq!(app.search_subjects(&key, "treasure").await, ["First", "Third", "Second"]);
    let sales = sales.id.to_string();
    for (filter, expected) in [
        (("view", "open"), vec!["First", "Second"]),
        (("view", "closed"), vec!["Third"]),
        (("mailbox", sales.as_str()), vec!["Second"]),
        (("assigned", "me"), vec!["First"]),
        (("assigned", "unassigned"), vec!["Second"]),
        (("limit", "1"), vec!["First"]),
    ] {
        let list = app.list(&key, &query(&[("q", "treasure"), filter])).await;
        assert_eq!(texts(&list, "subject"), expected, "{filter:?}");
    }
}

async fn an_empty_search_is_no_search(app: TestApp) {
    let key = app.key("read").await;
    app.mail("a@x.example", "Lamp", "Broken").await;
    for q in ["", " ", "\t"] {
        assert_eq!(app.search_subjects(&key, q).await, ["Lamp"]);
    }
}

/// The parts that the word index is in; PostgreSQL's has none.
async fn parts(app: &TestApp) -> i64 {
    let read = app.app.store.read(|tx| {
        let sql = tx.pick("SELECT count(DISTINCT segid) FROM message_index_idx", "SELECT 0");
        Ok::<_, db::StoreError>(tx.one::<(i64,)>(sql, &[])?.0)
    });
    read.await.unwrap()
}
