//! Search against a brute-force model: rare words, common ones, and common ones that never meet.

use mail::Mail;
use testing::{Chance, SECOND, TestApp, letter, on_both, query, seeds, texts};

on_both!(
    rare_common_and_never_meeting_words_give_exact_results,
    random_searches_find_what_a_model_finds
);

/// SQLite: more than the search tries one by one before it gathers all matches. PostgreSQL has
/// one way for all.
const CONVERSATIONS: [usize; 2] = [2_200, 600];

async fn rare_common_and_never_meeting_words_give_exact_results(app: TestApp) {
    let key = app.key("read").await;
    let expected = large_inbox(&app).await;
    for (terms, limit) in [
        ("even", "100"),
        ("odd", "7"),
        ("third", "25"),
        ("rare", "100"),
        ("solo", "100"),
        ("even third", "25"),
        ("third even rare", "100"),
        ("odd solo", "100"),
        ("even odd", "7"),
        ("even odd", "100"),
        ("first second", "7"),
        ("second first third", "25"),
        ("odd third even", "25"),
        ("even never", "7"),
        ("even late", "100"),
        ("odd late", "1"),
        ("thi", "7"),
        ("rare ev", "3"),
        ("\"third word\"", "100"),
        ("even \"third word\"", "7"),
    ] {
        let list = app.list(&key, &query(&[("q", terms), ("limit", limit)])).await;
        let limit: usize = limit.parse().unwrap();
        let all = matching(&expected, terms);
        assert_eq!(texts(&list, "id"), all[..limit.min(all.len())], "{terms}");
    }
    for (terms, limit) in [("rare", "7"), ("third even", "100"), ("even odd", "1")] {
        let path = format!("/conversations?{}", query(&[("q", terms), ("limit", limit)]));
        assert_eq!(app.walk(&key, &path).await, matching(&expected, terms), "{terms}");
    }
}

async fn random_searches_find_what_a_model_finds(app: TestApp) {
    let key = app.key("read").await;
    for seed in seeds() {
        let mut chance = Chance::new(seed);
        let words = ["ant", "antler", "bee", "beetle", "cat", "catalog", "東京", "straße"];
        let sender = format!("s{seed}@x.example");
        let mut model: Vec<Found> = Vec::new();
        for _ in 0..60 {
            app.advance(SECOND);
            let subject = format!("seed{seed} n{}", chance.below(25));
            let text: Vec<&str> = (0..1 + chance.below(4)).map(|_| *chance.pick(&words)).collect();
            let id = app.mail(&sender, &subject, &text.join(" ")).await.conversation.to_string();
            let place = model.iter().position(|one| one.id == id);
            let mut one =
                place.map_or_else(|| Found { id, words: Vec::new() }, |place| model.remove(place));
            one.words.extend(text.iter().map(|word| (*word).to_owned()));
            model.insert(0, one);
        }
        for _ in 0..40 {
            let asked: Vec<&str> = (0..1 + chance.below(3)).map(|_| *chance.pick(&words)).collect();
            let q = format!("seed{seed} {}", asked.join(" "));
            let found = texts(&app.list(&key, &query(&[("q", &q), ("limit", "100")])).await, "id");
            assert_eq!(found, matching(&model, &asked.join(" ")), "MAILROOM_TEST_SEED={seed} {q}");
        }
    }
}

/// A conversation and the words of all its mails.
struct Found {
    id: String,
    words: Vec<String>,
}

/// Every word must be there, the last as the start of one. A phrase counts as its words, which
/// the inboxes of these tests never have apart.
fn matching(all: &[Found], terms: &str) -> Vec<String> {
    let quoted = terms.ends_with('"');
    let terms = terms.replace('"', "");
    let terms: Vec<&str> = terms.split(' ').collect();
    let (last, whole) = terms.split_last().unwrap();
    let has = |one: &Found, term: &str| one.words.iter().any(|word| word == term);
    let starts = |one: &Found| match quoted {
        true => has(one, last),
        false => one.words.iter().any(|word| word.starts_with(last)),
    };
    let found = all.iter().filter(|one| whole.iter().all(|term| has(one, term)) && starts(one));
    found.map(|one| one.id.clone()).collect()
}

/// Conversations newest first. `even` and `odd` are common and meet once, long ago; `third` is
/// common and meets both; `first` and `second` never meet; `rare` and `solo` are rare; `late` is
/// in second mails.
async fn large_inbox(app: &TestApp) -> Vec<Found> {
    let [sqlite, postgres] = CONVERSATIONS;
    let count = app.act(&app.owner, move |tx, _| Ok(tx.pick(sqlite, postgres))).await;
    let words_of = |number: usize| {
        let mut words = match number.is_multiple_of(2) {
            true => vec!["even", "first"],
            false => vec!["odd", "second"],
        };
        if number.is_multiple_of(3) {
            words.extend(["third", "word"]);
        }
        if number.is_multiple_of(47) {
            words.push("rare");
        }
        if number == 423 {
            words.push("solo");
        }
        if number == 3 {
            words.push("even");
        }
        words
    };
    let mail = |number: usize, words: &[&str]| -> Mail {
        letter(&format!("{number}@x.example"), &format!("Mail {number}"), &words.join(" "))
    };
    let first = (0..count).map(|number| mail(number, &words_of(number))).collect();
    let received = app.deliver_all(&app.support, first).await;
    let mut all: Vec<Found> = received
        .iter()
        .enumerate()
        .map(|(number, received)| Found {
            id: received.conversation.to_string(),
            words: words_of(number).into_iter().map(str::to_owned).collect(),
        })
        .collect();
    app.advance(SECOND);
    let again: Vec<usize> = (0..count).filter(|number| number % 100 == 50).collect();
    let second = again.iter().map(|number| mail(*number, &["late"])).collect();
    app.deliver_all(&app.support, second).await;
    for number in &again {
        all[*number].words.push("late".into());
    }
    // The later mail is newer; within one moment the later conversation is.
    let place = |number: &usize| (again.contains(number), *number);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|number| std::cmp::Reverse(place(number)));
    let mut all: Vec<Option<Found>> = all.into_iter().map(Some).collect();
    order.into_iter().filter_map(|number| all[number].take()).collect()
}
