//! Whether the right answer is found first, for questions in plain words and in others than the answer's.

use classifier::AnswerIndex;

/// The share of questions whose answer comes first: in plain words and in other words.
struct FirstShare {
    plain: f64,
    other: f64,
}

fn score(file: &'static str) -> FirstShare {
    let mut answers: Vec<(&str, &str)> = Vec::new();
    let mut questions: Vec<(&str, &str, usize)> = Vec::new();
    for line in file.lines() {
        match line.split_once(' ') {
            Some(("=", rest)) => answers.push(rest.split_once(" | ").unwrap()),
            Some((sign @ ("+" | "~"), text)) => questions.push((sign, text, answers.len() - 1)),
            _ => {}
        }
    }
    let index = AnswerIndex::new(answers.iter().copied());
    let share = |wanted: &str| {
        let asked: Vec<_> = questions.iter().filter(|(sign, ..)| *sign == wanted).collect();
        let is_first = |(_, text, answer): &&&(&str, &str, usize)| {
            index.search(text).first().is_some_and(|best| best.place == *answer)
        };
        asked.iter().filter(is_first).count() as f64 / asked.len() as f64
    };
    FirstShare { plain: share("+"), other: share("~") }
}

#[test]
fn the_right_answer_of_a_shop_comes_first() {
    let first = score(include_str!("answers/shop.dev.txt"));
    println!("shop: plain {:.3}, other words {:.3}", first.plain, first.other);
    assert!(first.plain >= 0.9, "{:.3}", first.plain);
    assert!(first.other >= 0.46, "{:.3}", first.other);
}

#[test]
fn the_right_answer_of_clubs_and_landlords_comes_first() {
    let first = score(include_str!("answers/clubs.txt"));
    println!("clubs: plain {:.3}, other words {:.3}", first.plain, first.other);
    assert!(first.plain >= 0.9, "{:.3}", first.plain);
    assert!(first.other >= 0.4, "{:.3}", first.other);
}
