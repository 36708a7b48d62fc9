//! Above the results of a search: the parts of the query, each with the search without it, what the
//! conversations are to contain, and how many there are.

use api::operations::ListCount;
use base::limits::QUERY_CHARS;
use search::{QuerySwitch, query_parts, query_switch};
use translation::{msg, t, text};

use crate::forms::form::FormFields;
use crate::layout::wording::thousands;
use crate::pages::lists::list_filters::FilterChoice;

/// Parts that are shown; of a long query the first.
const PARTS_SHOWN: usize = 20;
/// The filters beside the words, which stay when these change.
const FILTERS: [&str; 3] = ["view", "mailbox", "assigned"];
/// What `has:` asks for, and what that is called.
const CONTENTS: [(&str, &str); 3] = [
    ("attachment", msg!("With files")),
    ("note", msg!("With notes")),
    ("draft", msg!("With drafts")),
];

/// A word, a phrase or an operator of the query.
pub struct SearchPart {
    /// Empty for words.
    pub operator: String,
    pub value: String,
    /// All of it as it was typed.
    pub typed: String,
    /// It looks like an operator and is none.
    pub is_taken_for_words: bool,
    /// The search without it.
    pub href: String,
}

/// The parts of a query, in their order.
pub fn search_parts(asked: &FormFields, q: &str) -> Vec<SearchPart> {
    let parts = query_parts(q).into_iter().take(PARTS_SHOWN);
    let parts = parts.map(|part| SearchPart {
        operator: part.operator.to_owned(),
        value: part.value.to_owned(),
        typed: part.typed.to_owned(),
        is_taken_for_words: part.is_taken_for_words,
        href: href(asked, &part.rest),
    });
    parts.collect()
}

/// Links that add what conversations are to contain, or take it away; the first takes all away.
pub fn search_contents(asked: &FormFields, q: &str) -> Vec<FilterChoice> {
    let mut plain = q.to_owned();
    let mut choices = Vec::new();
    for (what, label) in CONTENTS {
        let QuerySwitch { is_on, switched } = query_switch(q, "has", what);
        if is_on {
            plain = query_switch(&plain, "has", what).switched;
        }
        if switched.chars().count() > QUERY_CHARS {
            continue;
        }
        let label = text(label).to_owned();
        choices.push(FilterChoice { href: href(asked, &switched), label, current: is_on });
    }
    let everything = FilterChoice {
        href: href(asked, &plain),
        label: t!("Everything").to_owned(),
        current: choices.iter().all(|choice| !choice.current),
    };
    choices.insert(0, everything);
    choices
}

/// The same search with another query.
fn href(asked: &FormFields, q: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("q", q);
    for name in FILTERS {
        if let Some(value) = asked.opt(name).filter(|value| value != "all") {
            query.append_pair(name, &value);
        }
    }
    format!("/search?{}", query.finish())
}

/// How many conversations were found, of which a page lists some; `None` when nothing is known.
pub fn count_words(count: ListCount, listed: usize) -> Option<String> {
    let n = count.n.max(listed);
    if n == 0 {
        return None;
    }
    let count_text = thousands(n);
    Some(if !count.is_exact {
        t!("At least {count} conversations", count = count_text)
    } else if n == 1 {
        t!("1 conversation").to_owned()
    } else {
        t!("{count} conversations", count = count_text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_leads_to_the_search_without_it_and_keeps_the_filters() {
        let asked = FormFields::read(b"q=x&view=open&mailbox=&assigned=me&cursor=y");
        let parts = search_parts(&asked, "from:anna -\"late fee\"");
        let shown = |part: &SearchPart| (part.operator.clone(), part.value.clone());
        assert_eq!(shown(&parts[0]), ("from".into(), "anna".into()));
        assert_eq!(shown(&parts[1]), (String::new(), "-\"late fee\"".into()));
        assert_eq!(parts[0].href, "/search?q=-%22late+fee%22&view=open&assigned=me");
        assert_eq!(parts[1].href, "/search?q=from%3Aanna&view=open&assigned=me");
        assert_eq!(search_parts(&asked, &"a ".repeat(100)).len(), PARTS_SHOWN);
    }

    #[test]
    fn what_conversations_contain_is_asked_for_and_given_up_by_links() {
        let asked = FormFields::read(b"view=all");
        let shown = |q: &str| -> Vec<(String, bool)> {
            let choices = search_contents(&asked, q).into_iter();
            choices.map(|choice| (choice.href, choice.current)).collect()
        };
        let href = |q: &str| format!("/search?q={q}");
        assert_eq!(
            shown("lamp"),
            [
                (href("lamp"), true),
                (href("has%3Aattachment+lamp"), false),
                (href("has%3Anote+lamp"), false),
                (href("has%3Adraft+lamp"), false),
            ]
        );
        assert_eq!(
            shown("has:file lamp has:note"),
            [
                (href("lamp"), false),
                (href("lamp+has%3Anote"), true),
                (href("has%3Afile+lamp"), true),
                (href("has%3Adraft+has%3Afile+lamp+has%3Anote"), false),
            ]
        );
    }

    #[test]
    fn a_count_that_was_not_ended_says_so() {
        let words = |n, is_exact, listed| count_words(ListCount { n, is_exact }, listed);
        assert_eq!(words(1, true, 1).as_deref(), Some("1 conversation"));
        assert_eq!(words(25, true, 20).as_deref(), Some("25 conversations"));
        assert_eq!(words(1_000, false, 20).as_deref(), Some("At least 1,000 conversations"));
        assert_eq!(words(0, false, 20).as_deref(), Some("At least 20 conversations"));
        assert_eq!(words(0, false, 0), None);
    }
}
