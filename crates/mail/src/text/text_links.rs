//! Plain text for showing: links that can be opened, and quoted history told apart.

use crate::headers::address::is_address;
use crate::limits::{LINK_TARGET_BYTES, TEXT_LINKS};
use crate::page::safe_target;

/// A stretch of whole lines, all quoted or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBlock<'a> {
    /// Its lines begin with `>`.
    pub quoted: bool,
    pub segments: Vec<TextSegment<'a>>,
}

/// A part of a text. All segments of a text are the text again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSegment<'a> {
    Words(&'a str),
    Link {
        text: &'a str,
        /// Where it leads: by http, https, mailto or tel.
        href: String,
    },
}

/// Splits a text into blocks and their links, in one pass.
pub fn text_blocks(text: &str) -> Vec<TextBlock<'_>> {
    let mut blocks = Vec::new();
    let mut links = 0;
    let mut start = 0;
    while start < text.len() {
        let quoted = is_quoted(&text[start..]);
        let lines =
            text[start..].split_inclusive('\n').take_while(|line| is_quoted(line) == quoted);
        let end = start + lines.map(str::len).sum::<usize>();
        let segments = segments(&text[start..end], TEXT_LINKS - links);
        links += segments.iter().filter(|part| matches!(part, TextSegment::Link { .. })).count();
        blocks.push(TextBlock { quoted, segments });
        start = end;
    }
    blocks
}

fn is_quoted(line: &str) -> bool {
    line.starts_with('>')
}

/// Splits a text at its links, `most` of them.
fn segments(text: &str, most: usize) -> Vec<TextSegment<'_>> {
    let mut segments = Vec::new();
    let mut done = 0;
    let mut links = 0;
    let mut at = 0;
    while links < most {
        let Some((start, end)) = next_word(text, at) else { break };
        at = end;
        let mut from = start;
        while let Some(link) = first_link(&text[..end], from).filter(|_| links < most) {
            if link.start > done {
                segments.push(TextSegment::Words(&text[done..link.start]));
            }
            let shown = &text[link.start..link.end];
            segments.push(TextSegment::Link { text: shown, href: link.href });
            (done, from) = (link.end, link.end);
            links += 1;
        }
    }
    if done < text.len() {
        segments.push(TextSegment::Words(&text[done..]));
    }
    segments
}

/// The next stretch without white space and without signs that no address has.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text[from..].find(|c: char| !ends_word(c))?;
    let end = text[start..].find(ends_word).map_or(text.len(), |end| start + end);
    Some((start, end))
}

fn ends_word(c: char) -> bool {
    const QUOTES: &str = "<>\"`|“”„‟«»‹›「」『』【】《》〈〉（）［］，。；！？、：";
    c.is_whitespace() || c.is_control() || QUOTES.contains(c)
}

struct FoundLink {
    start: usize,
    end: usize,
    href: String,
}

/// What begins a link that says so itself.
const STARTS: [&str; 5] = ["http://", "https://", "www.", "mailto:", "tel:"];

/// Starts of a word that may turn out to begin no link.
const FAILED_STARTS: usize = 8;

/// The first link from a place on, in text that ends with a word.
fn first_link(text: &str, from: usize) -> Option<FoundLink> {
    let mut search = from;
    let mut failed = 0;
    while failed < FAILED_STARTS {
        // Every link has one of these in it, and most words have none.
        let sign = search + text[search..].find([':', '@', '.'])?;
        search = sign + 1;
        if text.as_bytes()[sign] == b'@' {
            match address(text, from, sign) {
                Some(link) => return Some(link),
                None => continue,
            }
        }
        if let Some((name, start)) = link_start(text, from, sign) {
            match named_link(text, name, start) {
                Some(link) => return Some(link),
                None => failed += 1,
            }
        }
    }
    None
}

/// The start of a link that says so itself, of which `sign` is part.
fn link_start(text: &str, from: usize, sign: usize) -> Option<(&'static str, usize)> {
    STARTS.iter().find_map(|name| {
        let start = sign.checked_sub(name.find([':', '.'])?).filter(|start| *start >= from)?;
        let written = text.get(start..start + name.len())?;
        let apart = !text[..start].ends_with(|c: char| c.is_ascii_alphanumeric());
        (written.eq_ignore_ascii_case(name) && apart).then_some((*name, start))
    })
}

fn named_link(text: &str, name: &str, start: usize) -> Option<FoundLink> {
    if text.len() - start > LINK_TARGET_BYTES {
        return None;
    }
    let end = match name {
        "tel:" => start + 4 + number_end(&text[start + 4..]),
        _ => start + trimmed_end(before_picture(&text[start..])),
    };
    let shown = &text[start..end];
    let leads = shown.len() > name.len() && (name != "www." || has_domain(&shown[4..]));
    let href = safe_target(shown).filter(|_| leads)?.to_string();
    Some(FoundLink { start, end, href })
}

/// Where a telephone number ends.
fn number_end(text: &str) -> usize {
    let part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | '(' | ')');
    let end = text.find(|c: char| !part(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(|c: char| !c.is_ascii_digit()).len()
}

/// An address around its sign.
fn address(text: &str, from: usize, sign: usize) -> Option<FoundLink> {
    let local = |c: char| c.is_alphanumeric() || "._%+-'&=~".contains(c);
    let before = text[from..sign].rfind(|c: char| !local(c));
    let start = match before {
        Some(place) => from + place + text[from + place..].chars().next()?.len_utf8(),
        None => from,
    };
    let local = &text[start..sign];
    let start = sign - local.trim_start_matches(['.', '\'', '&', '=']).len();
    let domain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let rest = &text[sign + 1..];
    let end = rest.find(|c: char| !domain(c)).unwrap_or(rest.len());
    let end = sign + 1 + rest[..end].trim_end_matches(['.', '-']).len();
    let email = &text[start..end];
    if !is_address(email) || !has_domain(&text[sign + 1..end]) {
        return None;
    }
    let href = safe_target(&format!("mailto:{email}"))?.to_string();
    Some(FoundLink { start, end, href })
}

/// True for `x.example/y`: two labels, the last of letters.
fn has_domain(text: &str) -> bool {
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let Some((name, ending)) = host.rsplit_once('.') else { return false };
    let letters = |c: char| c.is_alphabetic();
    !name.is_empty()
        && ending.chars().count() >= 2
        && (ending.chars().all(letters) || ending.starts_with("xn--"))
}

/// A link without the mark of a picture that mail programs write right behind it: `[cid:…]`,
/// `[image: …]`.
fn before_picture(link: &str) -> &str {
    const MARKS: [&str; 3] = ["[cid:", "[image", "[inline"];
    let is_mark = |at: &usize| {
        let after = &link.as_bytes()[*at..];
        MARKS.iter().any(|mark| {
            after.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
        })
    };
    let end = link.match_indices('[').map(|(at, _)| at).find(is_mark);
    &link[..end.unwrap_or(link.len())]
}

/// Where a link ends: signs behind it are the sentence's, and so is a bracket that was opened before
/// it.
fn trimmed_end(link: &str) -> usize {
    const PAIRS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];
    let mut surplus = PAIRS.map(|(open, close)| {
        link.matches(close).count() as i64 - link.matches(open).count() as i64
    });
    let mut end = link.len();
    while let Some(last) = link[..end].chars().next_back() {
        let bracket = PAIRS.iter().position(|(_, close)| *close == last);
        let trims = match bracket {
            Some(pair) => surplus[pair] > 0,
            None => ".,;:!?'’‘…*_~([{".contains(last),
        };
        if !trims {
            break;
        }
        if let Some(pair) = bracket {
            surplus[pair] -= 1;
        }
        end -= last.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The links of a text, as they are written and where they lead.
    fn links(text: &str) -> Vec<(String, String)> {
        let segments = text_blocks(text).into_iter().flat_map(|block| block.segments);
        let links = segments.filter_map(|segment| match segment {
            TextSegment::Link { text, href } => Some((text.to_owned(), href)),
            TextSegment::Words(_) => None,
        });
        links.collect()
    }

    fn write(text: &str) -> Vec<String> {
        links(text).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn links_end_where_the_sentence_goes_on() {
        for (text, link) in [
            ("See https://x.example/a.", "https://x.example/a"),
            ("https://x.example/a[cid:image001.png@01D]", "https://x.example/a"),
            ("https://x.example/a[Image: Logo]", "https://x.example/a"),
            ("https://x.example/a[1]", "https://x.example/a[1]"),
            ("See https://x.example/a?b=c&d=e, then", "https://x.example/a?b=c&d=e"),
            ("(see http://x.example/a)", "http://x.example/a"),
            ("http://x.example/a_(b)", "http://x.example/a_(b)"),
            ("(http://x.example/a_(b)).", "http://x.example/a_(b)"),
            ("<http://x.example/a>", "http://x.example/a"),
            ("\"http://x.example/a\"", "http://x.example/a"),
            ("'http://x.example/a'", "http://x.example/a"),
            ("[link](http://x.example/a)!", "http://x.example/a"),
            ("*http://x.example/a*", "http://x.example/a"),
            ("„http://x.example/a“", "http://x.example/a"),
            ("请看http://x.example/a。", "http://x.example/a"),
            ("HTTPS://X.example", "HTTPS://X.example"),
            ("www.x.example/a, and", "www.x.example/a"),
            ("Write to ann.lee+x@mail.x.example.", "ann.lee+x@mail.x.example"),
            ("<ann@x.example>", "ann@x.example"),
            ("mailto:ann@x.example?subject=Hi", "mailto:ann@x.example?subject=Hi"),
            ("tel:+49-40-123.", "tel:+49-40-123"),
            ("http://müller.example/ü", "http://müller.example/ü"),
            ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"),
        ] {
            assert_eq!(write(text), [link], "{text}");
        }
    }

    #[test]
    fn several_links_may_stand_in_a_word() {
        assert_eq!(write("a@x.example;b@y.example"), ["a@x.example", "b@y.example"]);
        assert_eq!(write("a@x.example/b.c@y.example"), ["a@x.example", "b.c@y.example"]);
        assert_eq!(write("www.x.example www.y.example"), ["www.x.example", "www.y.example"]);
    }

    #[test]
    fn hrefs_are_whole_addresses() {
        let href = |text: &str| links(text).remove(0).1;
        assert_eq!(href("www.x.example"), "http://www.x.example/");
        assert_eq!(href("ann@x.example"), "mailto:ann@x.example");
        assert_eq!(href("http://müller.example/ü"), "http://xn--mller-kva.example/%C3%BC");
    }

    #[test]
    fn what_is_no_link_stays_words() {
        for text in [
            "javascript:alert(1)",
            "data:text/html,x",
            "www.",
            "www.x",
            "http://",
            "ann@localhost",
            "@ann",
            "a@b.1",
            "e.g. this",
            "1.2.3",
            "xhttp://x.example",
            "tel:abc",
            "mailto:",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(write(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn quoted_lines_are_told_apart() {
        let blocks = text_blocks("Yes\n> Old http://x.example\n>> older\n\nBye");
        let told: Vec<(bool, usize)> =
            blocks.iter().map(|block| (block.quoted, block.segments.len())).collect();
        assert_eq!(told, [(false, 1), (true, 3), (false, 1)]);
    }

    #[test]
    fn long_texts_take_little_time() {
        for piece in ["a@", "http://", "www.", "(", "a.", "http://x.example/(", ":", ".@", "a.b@c "]
        {
            text_blocks(&piece.repeat(500_000 / piece.len()));
        }
    }
}
