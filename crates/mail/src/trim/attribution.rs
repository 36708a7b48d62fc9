//! Finds the line that announces a quoted mail ("On Monday Ann wrote:").

use std::sync::LazyLock;

use regex::Regex;

use super::line::{self, TrimLine};
use super::quote_phrases::{
    FIRST_PERSON, FORWARDED, ORIGINAL, REPLY_ABOVE, STARTS, WROTE, WROTE_ANYWHERE,
};

/// Lines over which the announcement of an earlier mail may be broken.
const ANNOUNCEMENT_LINES: usize = 6;
/// The maximum characters of an attribution line; longer lines are prose.
const ANNOUNCEMENT_CHARS: usize = 400;

/// The announcement of an earlier mail: "On Monday Ann wrote:", "-- Original Message --".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    /// How many lines it takes.
    pub lines: usize,
    pub strength: Strength,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// Certain by itself.
    Strong,
    /// Certain only when quoted lines follow.
    Weak,
    /// Everything under it is history, whatever it looks like.
    Boundary,
}

/// The announcement that begins in the first of these lines, joined over as few as will do.
pub(super) fn announcement(lines: &[TrimLine<'_>]) -> Option<Announcement> {
    let first = lines.first().filter(|line| !line.is_blank())?;
    if let Some(strength) = one_line(first) {
        return Some(Announcement { lines: 1, strength });
    }
    let found = join(lines)?;
    (found.lines == 1 || !begins_later(&lines[..found.lines])).then_some(found)
}

/// True when the announcement in these lines begins after the first of them, which then is the
/// writer's own.
fn begins_later(lines: &[TrimLine<'_>]) -> bool {
    let opens = opens_announcement(&lines[0].folded);
    (1..lines.len()).any(|at| {
        let strong = join(&lines[at..]).is_some_and(|found| found.strength == Strength::Strong);
        strong && (!opens || begins_with_word(bare(&lines[at].folded)))
    })
}

fn join(lines: &[TrimLine<'_>]) -> Option<Announcement> {
    let first = lines.first().filter(|line| may_begin(&line.folded))?;
    let opens = opens_announcement(&first.folded);
    let mut text = String::new();
    let mut blanks = 0;
    let mut weak = None;
    for (index, line) in lines.iter().take(ANNOUNCEMENT_LINES).enumerate() {
        if line.is_blank() {
            blanks += 1;
            if blanks > 1 || !opens {
                break;
            }
            continue;
        }
        match line.depth > first.depth {
            false => text.push_str(&line.folded),
            // The sign that closes a broken address may have come to stand first in its line.
            true if text.matches('<').count() > text.matches('>').count() => {
                text.push_str("> ");
                text.push_str(&line.folded);
            }
            true => break,
        }
        let lines = index + 1;
        let told = if may_end(&line.folded) { written_by(&text) } else { None };
        match told {
            Some(Strength::Weak) if weak.is_none() => {
                weak = Some(Announcement { lines, strength: Strength::Weak });
            }
            Some(Strength::Strong) => {
                return Some(Announcement { lines, strength: Strength::Strong });
            }
            _ => {}
        }
        text.push(' ');
        if text.len() > ANNOUNCEMENT_CHARS * 4 {
            break;
        }
    }
    weak
}

/// Lines that announce by themselves, whatever follows.
fn one_line(line: &TrimLine<'_>) -> Option<Strength> {
    let folded = line.folded.as_str();
    if folded.len() <= ANNOUNCEMENT_CHARS && ASKS.is_match(folded) {
        return Some(Strength::Boundary);
    }
    if folded.ends_with([':', '：', 'e']) && FORWARDED.contains(&folded) {
        return Some(Strength::Strong);
    }
    let bare = folded.trim_matches('*').trim();
    let dashed = bare.starts_with(line::is_rule_char) && bare.ends_with(line::is_rule_char);
    if !dashed {
        return None;
    }
    let inner = bare.trim_matches(line::is_rule_char).trim().trim_end_matches(':').trim();
    let listed = |inner: &str| ORIGINAL.contains(&inner) || inner.starts_with("forwarded by ");
    (bare.len() - inner.len() >= 4 && listed(inner)).then_some(Strength::Strong)
}

static ASKS: LazyLock<Regex> = LazyLock::new(|| {
    let asks: Vec<String> = REPLY_ABOVE.iter().map(|ask| regex::escape(ask)).collect();
    Regex::new(&asks.join("|")).expect("escaped words make a valid pattern")
});

/// A first line without a figure or an address cannot begin an announcement; it is what keeps
/// "On the other hand" from being joined with whatever comes later.
fn may_begin(folded: &str) -> bool {
    folded.len() <= ANNOUNCEMENT_CHARS * 4
        && (folded.contains(|c: char| c.is_numeric()) || folded.contains('@'))
}

/// Almost no line ends as an announcement does, so that little is searched for in most.
fn may_end(folded: &str) -> bool {
    folded.ends_with([':', '：', '﹕', '>', '-', '—', '–', '*', '_'])
}

/// "On 3 May 2024 at 10:15, Ann <ann@x.example> wrote:" and its likes.
fn written_by(joined: &str) -> Option<Strength> {
    if joined.chars().count() > ANNOUNCEMENT_CHARS {
        return None;
    }
    let joined = joined.trim();
    let bare = bare(joined);
    let dashed = joined.starts_with("--") && joined.ends_with("--");
    let (body, ended) = match bare.strip_suffix([':', '：', '﹕']) {
        Some(body) => (body.trim_end(), true),
        None => (bare, dashed),
    };
    if !ended && !body.ends_with('>') {
        return None;
    }
    let figures = figure_groups(body);
    let address = body.contains('@');
    let verb = verb_in(body);
    if let (true, Some(place)) = (ended, verb) {
        if FIRST_PERSON.iter().any(|phrase| body.contains(phrase)) {
            return Some(Strength::Weak);
        }
        let dated = tells_when(body) || (figures >= 1 && address);
        let framed = address || begins_as_one(body) || place == VerbPosition::End;
        if dated && framed {
            return Some(Strength::Strong);
        }
        let strength = if names_writer(body) { Strength::Strong } else { Strength::Weak };
        return (address && place == VerbPosition::End).then_some(strength);
    }
    // Some programs give only a date and an address: "30.09.2017, 18.30, "Ann" <ann@x.example>:".
    let closes_with_address = body.ends_with('>') && address;
    if closes_with_address && begins_with_date(body) && figures >= 3 {
        return Some(if ended { Strength::Strong } else { Strength::Weak });
    }
    None
}

/// Words of a name before an address.
const NAME_WORDS: usize = 5;

/// True for `Ann Lee <ann@x.example> wrote`, which some programs write without a date: a name, an address
/// in brackets, and the verb alone.
fn names_writer(body: &str) -> bool {
    let Some((name, rest)) = body.split_once('<') else { return false };
    let Some((address, verb)) = rest.split_once('>') else { return false };
    let words = name.split_whitespace().count();
    let plain = !name.contains([',', ':', ';', '?', '!']);
    let only_verb = verb_in(verb.trim()) == Some(VerbPosition::End)
        && verb.split_whitespace().count() <= VERB_WORDS;
    (1..=NAME_WORDS).contains(&words)
        && plain
        && address.contains('@')
        && !address.contains(' ')
        && only_verb
        && !FIRST_PERSON.iter().any(|phrase| body.contains(phrase))
}

/// Words of the longest verb: "het volgende geschreven".
const VERB_WORDS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum VerbPosition {
    End,
    Within,
}

fn verb_in(body: &str) -> Option<VerbPosition> {
    if let Some(verb) = WROTE_ANYWHERE.iter().find(|verb| body.contains(*verb)) {
        return Some(if body.ends_with(verb) { VerbPosition::End } else { VerbPosition::Within });
    }
    let mut found = None;
    for verb in WROTE.iter() {
        for (at, _) in body.match_indices(verb) {
            let before = body[..at].chars().next_back();
            let after = body[at + verb.len()..].chars().next();
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            if edge(before) && edge(after) {
                if at + verb.len() == body.len() {
                    return Some(VerbPosition::End);
                }
                found = Some(VerbPosition::Within);
            }
        }
    }
    found
}

/// The line without the stars and dashes that may stand around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, '*' | '_' | '-' | '—' | '–' | ' '))
}

fn opens_announcement(folded: &str) -> bool {
    let bare = bare(folded);
    begins_as_one(bare) || begins_with_date(bare)
}

fn begins_as_one(body: &str) -> bool {
    begins_with_word(body)
        || body.starts_with(|c: char| c.is_numeric())
        || body.starts_with(['在', '于', '於'])
}

fn begins_with_word(body: &str) -> bool {
    STARTS
        .iter()
        .any(|start| body.strip_prefix(start).is_some_and(|rest| rest.starts_with([' ', ',', '.'])))
}

/// True for `2016-10-24 …`, `30.09.2017, …`, `2021年1月5日…`, `Wed, 17 Nov 2021 …`.
fn begins_with_date(body: &str) -> bool {
    let head: String = body.chars().take(32).collect();
    figure_groups(&head) >= 2 && (head.starts_with(|c: char| c.is_numeric()) || has_year(&head))
}

/// True when a year, a time of day or a date in figures is told.
fn tells_when(body: &str) -> bool {
    let figures = |text: &str| text.chars().next().is_some_and(char::is_numeric);
    let between = |sign: char| {
        body.match_indices(sign).any(|(at, _)| {
            body[..at].ends_with(char::is_numeric) && figures(&body[at + sign.len_utf8()..])
        })
    };
    let date = |sign: char| {
        body.split(|c: char| !c.is_numeric() && c != sign)
            .any(|word| word.split(sign).filter(|part| !part.is_empty()).count() >= 3)
    };
    has_year(body) || between(':') || date('.') || date('/') || date('-')
}

fn has_year(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit())
        .any(|group| group.len() == 4 && (group.starts_with("19") || group.starts_with("20")))
}

fn figure_groups(text: &str) -> usize {
    text.split(|c: char| !c.is_numeric()).filter(|group| !group.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(text: &str) -> Option<Strength> {
        let lines = line::lines(text);
        announcement(&lines).filter(|found| found.lines == lines.len()).map(|found| found.strength)
    }

    #[test]
    fn mails_are_announced_in_many_languages() {
        for text in [
            "On Mon, May 6, 2024 at 4:37 PM Ann Lee <ann@shop.example> wrote:",
            "On 6 May 2024, at 16:37,\nAnn Lee\n<ann@shop.example>\nwrote:",
            "Am 06.05.2024 um 16:37 schrieb Ann Lee <ann@shop.example>:",
            "Ann Lee <ann@shop.example> schrieb am Mo., 6.\nMai 2024, 16:37:",
            "Le lun. 6 mai 2024 à 16:37, Ann Lee <ann@shop.example> a écrit\u{a0}:",
            "Missatge de Ann Lee <ann@shop.example> del dia dl., 6 de maig 2024 a les 16:37:",
            "Ann Lee/ACME@ACME wrote on 05/06/2024 04:37:00 PM:",
            "Понедельник, 6 мая 2024, 16:37 +03:00 от Ann Lee <ann@shop.example>:",
            "בתאריך יום ב׳, 6 במאי 2024 ב-16:37 מאת Ann Lee <ann@shop.example>:",
            "في الاثنين، ٦ مايو ٢٠٢٤ في ٤:٣٧ م كتب Ann Lee <ann@shop.example>:",
            "เมื่อ จ. 6 พ.ค. 2024 เวลา 16:37 Ann Lee <ann@shop.example> เขียนว่า:",
            "El lun, 6 may 2024 a las 16:37, Ann Lee (<ann@shop.example>) escribió:",
            "Il giorno lun 6 mag 2024 alle ore 16:37 Ann Lee <ann@shop.example> ha scritto:",
            "Em seg., 6 de mai. de 2024 às 16:37, Ann Lee <ann@shop.example> escreveu:",
            "Op ma 6 mei 2024 om 16:37 schreef Ann Lee <ann@shop.example>:",
            "Op 6 mei 2024, om 16:37 heeft Ann Lee <ann@shop.example> het volgende geschreven:",
            "pon., 6 maj 2024 o 16:37 Ann Lee <ann@shop.example> napisał(a):",
            "W dniu 6.05.2024 o 16:37, Ann Lee pisze:",
            "Den mån 6 maj 2024 kl 16:37 skrev Ann Lee <ann@shop.example>:",
            "man. 6. maj 2024 kl. 16.37 skrev Ann Lee <ann@shop.example>:",
            "ma 6. toukok. 2024 klo 16.37 Ann Lee (ann@shop.example) kirjoitti:",
            "пн, 6 мая 2024 г. в 16:37, Ann Lee <ann@shop.example>:",
            "6 мая 2024 г. 16:37 пользователь Ann Lee <ann@shop.example> написал:",
            "пн, 6 трав. 2024 р. о 16:37 Ann Lee <ann@shop.example> пише:",
            "po 6. 5. 2024 v 16:37 odesílatel Ann Lee <ann@shop.example> napsal:",
            "Dňa 6. 5. 2024 o 16:37 Ann Lee napísal(a):",
            "Ann Lee <ann@shop.example> ezt írta (időpont: 2024. máj. 6., H, 16:37):",
            "În lun., 6 mai 2024 la 16:37, Ann Lee <ann@shop.example> a scris:",
            "Ann Lee <ann@shop.example>, 6 May 2024 Pzt, 16:37 tarihinde şunu yazdı:",
            "Στις Δευ 6 Μαΐ 2024 στις 4:37 μ.μ., ο χρήστης Ann Lee <ann@shop.example> έγραψε:",
            "Vào Th 2, 6 thg 5, 2024 vào lúc 16:37 Ann Lee <ann@shop.example> đã viết:",
            "Pada Sen, 6 Mei 2024 pukul 16.37 Ann Lee <ann@shop.example> menulis:",
            "2024年5月6日(月) 16:37 Ann Lee <ann@shop.example>:",
            "在 2024年5月6日，下午4:37，Ann Lee <ann@shop.example> 写道：",
            "Ann Lee <ann@shop.example> 於 2024年5月6日 週一 下午4:37寫道：",
            "2024년 5월 6일 (월) 오후 4:37, Ann Lee <ann@shop.example>님이 작성:",
            "---- On Mon, 06 May 2024 16:37:00 +0200 ann@shop.example wrote ----",
            "-------- Ursprüngliche Nachricht --------",
            "*-------- Original Message --------*",
            "-----Messaggio originale-----",
            "Begin forwarded message:",
            "Ann Lee <ann@shop.example> wrote:",
            "\"Ann Lee\" <ann@shop.example> schrieb:",
            "Ann Lee <ann@shop.example> a écrit :",
        ] {
            assert_eq!(strength(text), Some(Strength::Strong), "{text}");
        }
    }

    #[test]
    fn words_of_the_writer_above_an_announcement_are_not_part_of_it() {
        let marker = "On 6 May 2024 at 10:00 Ann <ann@x.example> wrote:";
        for own in ["See you in 2 weeks, @ann", ":+1:", "On 12 May it broke, 3 lamps at once"] {
            assert_eq!(announcement(&line::lines(&format!("{own}\n{marker}"))), None, "{own}");
            assert_eq!(announcement(&line::lines(&format!("{own}\n\n{marker}"))), None, "{own}");
        }
    }

    #[test]
    fn a_sentence_is_no_announcement() {
        for text in [
            "On the other hand, we should be careful.",
            "On this day\n\nI wrote something\n\nwhich was interesting.",
            "See https://x.example/on-2024-05-06-ann-wrote-about-it for more.",
            "The parcel of 6 May 2024 came broken:",
            "I ordered 3 lamps on 6 May 2024 and got this answer:",
            "--- original thinking ---",
            "0.01; 'subject': 0.01; 'wrote': 0.01; 'mailer 4.74 (5.0; u)':",
        ] {
            assert_eq!(strength(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_writer_wrote_themselves_counts_only_over_quoted_lines() {
        for text in ["On 6 May 2024 at 10:00 I wrote:", "Am 6.5.2024 um 10:00 schrieb ich:"] {
            assert_eq!(strength(text), Some(Strength::Weak), "{text}");
        }
        for text in [
            "This is what bob@shop.example wrote:",
            "I asked Bob and also his sister about what <bob@shop.example> wrote:",
        ] {
            assert_eq!(strength(text), Some(Strength::Weak), "{text}");
        }
    }
}
