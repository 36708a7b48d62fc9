//! Taking quoted history and signatures off, without losing a word of the writer's own.
//!
//! Every line gets a class; what is cut follows from how the classes stand to one another. Where
//! it is not certain that lines are history, they stay: leftover quotes are a nuisance, lost
//! words a damage.

mod attribution;
mod field_names;
mod header_block;
mod line;
mod quote_lead;
mod quote_phrases;
mod signature;
mod signature_words;

pub use line::LineMark;
pub(crate) use quote_lead::{QuoteLead, begins_header_block, quote_lead};

use crate::limits::TEXT_BYTES;
use crate::text::clean::clean_text;
use attribution::Strength;
use header_block::Block;
use line::TrimLine;

/// A text taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TrimmedText {
    /// The writer's own words. A text in which nothing could be told to be the writer's own is here
    /// whole, except when it is history beyond doubt.
    pub own: String,
    /// The quoted and forwarded lines that were taken off, without those that only announce them.
    pub quoted: String,
}

/// The writer's own words of a plain text. White space around them is gone; lines stay as they
/// are, and what stands beyond the most text that is kept of a mail is not read.
pub fn trim(text: &str) -> String {
    split(text).own
}

/// The writer's own words, and what they quote.
pub(crate) fn split(text: &str) -> TrimmedText {
    split_marked(&clean_text(&text[..text.floor_char_boundary(TEXT_BYTES)]))
}

/// The same for clean text in which HTML told announcements apart.
pub(crate) fn split_marked(text: &str) -> TrimmedText {
    let text = without_armour(text);
    let lines = line::lines(&text);
    if let Some(inside) = answer_inside_quote(&lines) {
        return split_marked(&inside);
    }
    let classes = classify(&lines);
    if is_history_only(&lines, &classes) {
        return TrimmedText { own: String::new(), quoted: quoted_text(&lines, &classes, &[]) };
    }
    let kept = keep(&lines, &classes);
    let own = join(&lines, &kept);
    match own.is_empty() {
        true => TrimmedText {
            own: join(&lines, &(0..lines.len()).collect::<Vec<_>>()),
            quoted: String::new(),
        },
        false => TrimmedText { quoted: quoted_text(&lines, &classes, &kept), own },
    }
}

/// The text without its first level of quotes, where a program put the whole mail into a quote: every
/// line is quoted, an announcement of an earlier mail is among them, and that mail is quoted deeper.
fn answer_inside_quote(lines: &[TrimLine<'_>]) -> Option<String> {
    let quoted = |line: &TrimLine<'_>| line.depth > 0 || line.is_blank();
    if !lines.iter().all(quoted) || !lines.iter().any(|line| line.depth > 1) {
        return None;
    }
    let first_deeper = lines.iter().position(|line| line.depth > 1)?;
    let own = |line: &TrimLine<'_>| line.depth == 1 && !line.folded.is_empty();
    let announced = (0..first_deeper)
        .any(|at| own(&lines[at]) && attribution::announcement(&lines[at..]).is_some());
    announced.then(|| lines.iter().map(TrimLine::one_level_less).collect::<Vec<_>>().join("\n"))
}

/// The lines from the first quoted or forwarded one on that do not stay.
fn quoted_text(lines: &[TrimLine<'_>], classes: &[Class], kept: &[usize]) -> String {
    let is_history =
        |class: &Class| is_announcement(*class) || matches!(class, Class::Quote | Class::Boundary);
    let Some(first) = classes.iter().position(is_history) else { return String::new() };
    let is_quoted = |at: &usize| classes[*at] != Class::Marker && kept.binary_search(at).is_err();
    join(lines, &(first..lines.len()).filter(is_quoted).collect::<Vec<_>>())
}

/// Characters from which on a quoted line may have been broken by a mail program.
const WRAPPED_CHARS: usize = 60;

/// Signatures under which a writer may have gone on.
const SIGNATURES_TRIED: usize = 50;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Blank,
    Text,
    Quote,
    /// Announces an earlier mail.
    Marker,
    /// Part of the block of fields over an earlier mail.
    Header,
    /// A line drawn across.
    Rule,
    /// Begins a signature or a footer.
    Signature,
    /// A line that a telephone added.
    Mobile,
    /// Everything from here on is history.
    Boundary,
}

fn classify(lines: &[TrimLine<'_>]) -> Vec<Class> {
    let fenced = fenced_code(lines);
    let mut classes = Vec::with_capacity(lines.len());
    let mut classifier = Classifier { lines, announced: false, searched: 0 };
    while classes.len() < lines.len() {
        let at = classes.len();
        let (class, length) = match fenced[at] {
            true => (Class::Text, 1),
            false => classifier.class_at(at),
        };
        let class = match class {
            Class::Text if goes_on_with_quote(lines, &classes, at) => Class::Quote,
            class => class,
        };
        classes.extend(std::iter::repeat_n(class, length));
    }
    classes
}

struct Classifier<'a> {
    lines: &'a [TrimLine<'a>],
    /// An announcement stands above.
    announced: bool,
    /// Up to this line no block of fields begins.
    searched: usize,
}

impl Classifier<'_> {
    /// The class of a line, and how many lines from it on share it.
    fn class_at(&mut self, at: usize) -> (Class, usize) {
        let (line, lines) = (&self.lines[at], &self.lines[at..]);
        match line.mark {
            Some(LineMark::Boundary) => return (Class::Boundary, 1),
            Some(LineMark::Announcement) => return self.marker(1),
            None => {}
        }
        if line.is_blank() {
            return (Class::Blank, 1);
        }
        if line.depth > 0 {
            return (Class::Quote, 1);
        }
        if let Some(found) = attribution::announcement(lines) {
            match found.strength {
                Strength::Boundary => return (Class::Boundary, found.lines),
                Strength::Strong => return self.marker(found.lines),
                Strength::Weak if quoted_next(&lines[found.lines..]) => {
                    return self.marker(found.lines);
                }
                Strength::Weak => {}
            }
        }
        if at >= self.searched {
            match header_block::header_block(lines) {
                Block::Header(length) => return (Class::Header, length),
                Block::Nothing(length) => self.searched = at + length,
            }
        }
        (self.lone_class(line, lines), 1)
    }

    /// The class of a line that announces nothing.
    fn lone_class(&self, line: &TrimLine<'_>, lines: &[TrimLine<'_>]) -> Class {
        if signature::begins_signature(lines) || signature::begins_footer(lines) {
            Class::Signature
        } else if signature::is_mobile_signature(line) {
            Class::Mobile
        } else if line.is_rule() || line.is_tracking_mark() {
            Class::Rule
        } else if self.announced && is_quoted_otherwise(line) {
            Class::Quote
        } else {
            Class::Text
        }
    }

    fn marker(&mut self, lines: usize) -> (Class, usize) {
        self.announced = true;
        (Class::Marker, lines)
    }
}

/// True for a line that a mail program broke off the quoted line above it: that one is long and
/// ends within a sentence, this one goes on in lower case, and the next is quoted again.
fn goes_on_with_quote(lines: &[TrimLine<'_>], classes: &[Class], at: usize) -> bool {
    let quoted = |at: usize| lines.get(at).is_some_and(|line| line.depth > 0);
    let Some(above) = at.checked_sub(1) else { return false };
    let broken = lines[above].text.chars().count() >= WRAPPED_CHARS
        && !lines[above].folded.ends_with(['.', '!', '?', ':']);
    classes[above] == Class::Quote
        && broken
        && quoted(at + 1)
        && lines[at].text.starts_with(|c: char| c.is_lowercase())
}

/// True when the next line with something in it is quoted.
fn quoted_next(lines: &[TrimLine<'_>]) -> bool {
    let next = lines.iter().find(|line| !line.is_blank());
    next.is_some_and(|line| line.depth > 0 || line.text.trim_start().starts_with('|'))
}

/// `| text`, `Ann> text` and `AL> text`, which count as quoted only under an announcement.
fn is_quoted_otherwise(line: &TrimLine<'_>) -> bool {
    let text = line.text.trim_start();
    if text.starts_with('|') {
        return true;
    }
    text.split_once('>').is_some_and(|(name, rest)| {
        (1..=12).contains(&name.len())
            && name.starts_with(|c: char| c.is_uppercase())
            && name.chars().all(char::is_alphabetic)
            && (rest.is_empty() || rest.starts_with([' ', '>']))
    })
}

/// Lines between two lines of three backticks. What is shown as code is never history.
fn fenced_code(lines: &[TrimLine<'_>]) -> Vec<bool> {
    let mut fenced = vec![false; lines.len()];
    let mut open = None;
    for (at, line) in lines.iter().enumerate() {
        if line.depth > 0 || !line.folded.starts_with("```") {
            continue;
        }
        match open.take() {
            None => open = Some(at),
            Some(from) => fenced[from..=at].fill(true),
        }
    }
    fenced
}

/// The numbers of the lines that stay.
fn keep(lines: &[TrimLine<'_>], classes: &[Class]) -> Vec<usize> {
    let mut start = 0;
    let mut end = classes.len();
    if let Some(boundary) = find(classes, 0, end, |class| class == Class::Boundary) {
        end = boundary;
    }
    // A mail that begins with an announcement is read from under it.
    while let Some(history) = find(classes, start, end, is_announcement) {
        let after = announcement_end(classes, history, end);
        if has_own_words(classes, start, history) {
            return around(lines, classes, start, history, after, end);
        }
        let quote_end = quote_end(classes, after, end);
        if quote_end > after {
            return under_quote(classes, after, quote_end, end);
        }
        start = after;
        end = own_end(classes, start, end);
    }
    without_trailing_quote(lines, classes, start, own_end(classes, start, end))
}

/// Own words, then an announcement. What follows it is history, unless it is quoted line by line
/// and words stand after the quotes: then the writer answers below or between.
fn around(
    lines: &[TrimLine<'_>],
    classes: &[Class],
    start: usize,
    history: usize,
    after: usize,
    end: usize,
) -> Vec<usize> {
    let own = own_end(classes, start, history);
    let quote = quote_end(classes, after, end);
    let answer_end = end_of_own(classes, start, quote, end);
    if quote == after || !has_own_words(classes, quote, answer_end) {
        return without_trailing_quote(lines, classes, start, own);
    }
    let rest = without_trailing_quote(lines, classes, after, answer_end);
    let mut kept: Vec<usize> = (start..own).collect();
    kept.extend(rest.into_iter().filter(|at| !is_announcement(classes[*at])));
    kept
}

/// An announcement first, then quotes: the answer stands under them. When there is only one block
/// of quotes it says nothing that the conversation does not hold; among several, each gives the
/// words under it their sense.
fn under_quote(classes: &[Class], quote: usize, quote_end: usize, end: usize) -> Vec<usize> {
    let end = own_end(classes, quote_end, end);
    let last = last_own_word(classes, quote_end, end);
    let again = find(classes, quote_end, last, |class| class == Class::Quote).is_some();
    let from = if again { quote } else { quote_end };
    (from..last).filter(|at| !is_announcement(classes[*at])).collect()
}

/// Quotes at the very end are history, unless the line before them introduces them.
fn without_trailing_quote(
    lines: &[TrimLine<'_>],
    classes: &[Class],
    start: usize,
    end: usize,
) -> Vec<usize> {
    let last = last_own_word(classes, start, end);
    let introduced = last > start
        && lines[last - 1].folded.ends_with([':', '：'])
        && !quotes_announcement(lines, last, end);
    let end = if last == start || introduced { end } else { last };
    (start..end).collect()
}

/// True when these lines quote an announcement: "> On Monday Ann wrote:".
fn quotes_announcement(lines: &[TrimLine<'_>], start: usize, end: usize) -> bool {
    (start..end).any(|at| {
        lines[at].depth > 0
            && attribution::announcement(&lines[at..end])
                .is_some_and(|found| found.strength == Strength::Strong)
    })
}

/// Where the writer's own part ends: at a signature, or at a telephone's line that words stand
/// before. Under a telephone's line stands history, however it is written.
fn own_end(classes: &[Class], start: usize, end: usize) -> usize {
    end_of_own(classes, start, start, end)
}

/// The same from `from` on, for words that may have begun at `start` already.
fn end_of_own(classes: &[Class], start: usize, from: usize, end: usize) -> usize {
    let mut words = has_own_words(classes, start, from);
    let mut tried = 0;
    for at in from..end {
        let ends = match classes[at] {
            Class::Signature => true,
            Class::Mobile => stands_alone(classes, at, end),
            class => {
                words |= class == Class::Text;
                false
            }
        };
        if ends && words {
            tried += 1;
            if tried > SIGNATURES_TRIED || !answers_below(classes, at, end) {
                return at;
            }
        }
    }
    end
}

/// True when quotes and then words follow: the writer goes on under their signature.
fn answers_below(classes: &[Class], at: usize, end: usize) -> bool {
    let Some(quote) = find(classes, at, end, |class| class == Class::Quote) else { return false };
    let ends = |class| matches!(class, Class::Signature | Class::Mobile);
    let below = quote_end(classes, quote, end);
    let last = find(classes, below, end, ends).unwrap_or(end);
    has_own_words(classes, below, last)
}

/// A blank line, or nothing, on the far side of it.
fn stands_alone(classes: &[Class], at: usize, end: usize) -> bool {
    at + 1 >= end || classes[at + 1] != Class::Text
}

fn is_announcement(class: Class) -> bool {
    matches!(class, Class::Marker | Class::Header)
}

fn has_own_words(classes: &[Class], start: usize, end: usize) -> bool {
    find(classes, start, end, |class| class == Class::Text).is_some()
}

/// One past the last line of own words; `start` when there is none.
fn last_own_word(classes: &[Class], start: usize, end: usize) -> usize {
    let own = |at: &usize| matches!(classes[*at], Class::Text);
    (start..end).rev().find(own).map_or(start, |at| at + 1)
}

/// One past an announcement with the fields, rules and blank lines that belong to it.
fn announcement_end(classes: &[Class], start: usize, end: usize) -> usize {
    let belongs =
        |class: Class| is_announcement(class) || matches!(class, Class::Blank | Class::Rule);
    (start..end).find(|at| !belongs(classes[*at])).unwrap_or(end)
}

/// One past a block of quoted lines; `start` when none begins there.
fn quote_end(classes: &[Class], start: usize, end: usize) -> usize {
    if start >= end || classes[start] != Class::Quote {
        return start;
    }
    let belongs =
        |class: Class| is_announcement(class) || matches!(class, Class::Blank | Class::Quote);
    (start..end).find(|at| !belongs(classes[*at])).unwrap_or(end)
}

fn find(
    classes: &[Class],
    start: usize,
    end: usize,
    wanted: impl Fn(Class) -> bool,
) -> Option<usize> {
    (start..end).find(|at| wanted(classes[*at]))
}

/// True when every word is quoted and an announcement says from where.
fn is_history_only(lines: &[TrimLine<'_>], classes: &[Class]) -> bool {
    !has_own_words(classes, 0, classes.len())
        && classes.contains(&Class::Quote)
        && (classes.iter().any(|class| is_announcement(*class))
            || quotes_announcement(lines, 0, lines.len()))
}

/// The kept lines as text, without blank lines at either end.
fn join(lines: &[TrimLine<'_>], kept: &[usize]) -> String {
    let blank = |at: &usize| lines[*at].is_blank();
    let from = kept.iter().position(|at| !blank(at)).unwrap_or(kept.len());
    let to = kept.iter().rposition(|at| !blank(at)).map_or(from, |at| at + 1);
    let texts: Vec<&str> = kept[from..to].iter().map(|at| lines[*at].text.trim_end()).collect();
    texts.join("\n")
}

/// The signed text of a PGP message, without the armour around it.
fn without_armour(text: &str) -> std::borrow::Cow<'_, str> {
    const BEGIN: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
    const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";
    let Some(begin) = text.find(BEGIN) else { return text.into() };
    let inside = &text[begin + BEGIN.len()..];
    let Some(body) = inside.find("\n\n") else {
        return text.into();
    };
    let signed = &inside[body..];
    let signed = signed.find(SIGNATURE).map_or(signed, |end| &signed[..end]);
    format!("{}{}", &text[..begin], signed.replace("\n- -", "\n-")).into()
}
