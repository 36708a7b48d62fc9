//! A search in the public pages of one language: words of titles count most, rare words more than common ones.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use base::ids::AnswerId;
use base::limits::{ANSWERS, HELP_QUERY_TERMS};
use db::{Arg, Tx, Value};
use search::{Excerpt, Query, excerpt};

use crate::help_pages::{HelpLink, PUBLIC};
use crate::help_site::HelpSite;
use crate::page_text::summary;

/// Words that one word of a query stands for: its other forms, and those that it begins.
const FORMS: usize = 16;
/// Pages that are read at once where the best ones are past their last day.
const READ_AT_ONCE: usize = 100;
/// How much a word that only begins with the query's counts, in hundredths of a whole one.
const PREFIX_SHARE: f64 = 0.6;

db::row! {
    /// A page that a search found.
    struct PageText from "p" {
        answer: AnswerId,
        plain: String,
        language: String,
        slug: String,
        section: String,
        section_slug: String,
        title: String,
        original: String,
        changed_at: i64,
    }
}

/// A page that a search found, with the found words marked.
#[derive(Clone, Debug)]
pub struct HelpHit {
    pub link: HelpLink,
    pub title: Vec<Excerpt>,
    pub text: Vec<Excerpt>,
}

/// Texts as one argument of a statement.
pub struct TextList(Vec<String>);

impl TextList {
    /// `None` for no text, which no statement can take.
    pub fn of(texts: impl IntoIterator<Item = String>) -> Option<TextList> {
        let texts: Vec<String> = texts.into_iter().collect();
        (!texts.is_empty()).then_some(TextList(texts))
    }
}

impl Arg for TextList {
    fn value(&self) -> Value<'_> {
        Value::Text(&self.0[0])
    }

    fn others(&self) -> Vec<Value<'_>> {
        self.0[1..].iter().map(|text| Value::Text(text)).collect()
    }
}

/// The pages that fit a question, the best first. The index is read by whole words, so what it costs depends on
/// how many pages have them, not on how long these are.
pub fn search(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    (language, question): (&str, &str),
    most: usize,
    now: i64,
) -> Result<Vec<HelpHit>> {
    let Some(query) = Query::of_words(question) else { return Ok(Vec::new()) };
    let mut scores: HashMap<AnswerId, f64> = HashMap::new();
    for term in query.terms.iter().take(HELP_QUERY_TERMS) {
        // The best word of a term counts for each page.
        let mut best: BTreeMap<AnswerId, f64> = BTreeMap::new();
        let whole = term.words.iter().chain(&term.alternatives).take(FORMS).cloned();
        if let Some(whole) = TextList::of(whole) {
            let rows: Vec<(AnswerId, i64)> = tx.all(
                "SELECT answer, weight FROM help_words
                 WHERE ws = ?1 AND language = ?2 AND word IN (?3) LIMIT ?4",
                &[&site.ws, &language, &whole, &(2 * ANSWERS)],
            )?;
            for (answer, weight) in rows {
                let score = best.entry(answer).or_insert(0.0);
                *score = score.max(weight as f64);
            }
        }
        let last = term.words.last().filter(|word| term.prefix && word.chars().count() >= 3);
        if let Some(begin) = last {
            let end = format!("{begin}\u{10ffff}");
            let rows: Vec<(AnswerId, i64)> = tx.all(
                "SELECT answer, weight FROM help_words
                 WHERE ws = ?1 AND language = ?2 AND word > ?3 AND word < ?4
                 ORDER BY word, answer LIMIT ?5",
                &[&site.ws, &language, begin, &end, &ANSWERS],
            )?;
            for (answer, weight) in rows {
                let score = best.entry(answer).or_insert(0.0);
                *score = score.max(weight as f64 * PREFIX_SHARE);
            }
        }
        // A word that many pages have says little.
        let rarity = ((1.0 + ANSWERS as f64) / (1.0 + best.len() as f64)).ln() + 0.1;
        for (answer, weight) in best {
            *scores.entry(answer).or_insert(0.0) += weight * rarity;
        }
    }
    let mut ranked: Vec<(AnswerId, f64)> = scores.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    // The index has pages past their last day too; they take nobody's place.
    let (best, others) = ranked.split_at(most.min(ranked.len()));
    let mut hits = load(tx, site, &query, best, now)?;
    for some in others.chunks(READ_AT_ONCE) {
        if hits.len() >= most {
            break;
        }
        hits.extend(load(tx, site, &query, some, now)?);
    }
    hits.truncate(most);
    Ok(hits)
}

/// The pages themselves, in the order of their scores.
fn load(
    tx: &mut Tx<'_>,
    site: &HelpSite,
    query: &Query,
    ranked: &[(AnswerId, f64)],
    now: i64,
) -> Result<Vec<HelpHit>> {
    let ids = ranked.iter().map(|(answer, _)| answer.to_string());
    let Some(wanted) = TextList::of(ids) else { return Ok(Vec::new()) };
    let pages: Vec<PageText> = tx.all(
        &format!(
            "SELECT {} FROM help_pages p WHERE {PUBLIC} AND p.answer IN (?3)",
            PageText::COLUMNS
        ),
        &[&site.ws, &now, &wanted],
    )?;
    let mut pages: HashMap<AnswerId, PageText> =
        pages.into_iter().map(|page| (page.answer.clone(), page)).collect();
    let pages = ranked.iter().filter_map(|(answer, _)| pages.remove(answer));
    Ok(pages.map(|page| hit(page, query)).collect())
}

fn hit(page: PageText, query: &Query) -> HelpHit {
    let plain = |text: String| vec![Excerpt { text, marked: false }];
    let title = match excerpt(&page.title, query) {
        marked if marked.is_empty() => plain(page.title.clone()),
        marked => marked,
    };
    let text = match excerpt(&page.plain, query) {
        marked if marked.is_empty() => plain(summary(&page.plain)),
        marked => marked,
    };
    let link = HelpLink {
        language: page.language,
        slug: page.slug,
        section: page.section,
        section_slug: page.section_slug,
        title: page.title,
        original: page.original,
        changed_at: page.changed_at,
    };
    HelpHit { link, title, text }
}
