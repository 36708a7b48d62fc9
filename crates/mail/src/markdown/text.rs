//! Markdown as plain text that reads well by itself: no signs of emphasis, links with their
//! addresses, lists and quotations as people type them.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{DEPTH, parser};

/// The plain text of a Markdown text.
pub fn markdown_text(source: &str) -> String {
    let mut writer = TextWriter::default();
    writer.open.push(OpenBlock::default());
    for event in parser(source) {
        writer.event(event);
    }
    writer.open.truncate(1);
    writer.open.pop().unwrap_or_default().text
}

#[derive(Default)]
struct TextWriter {
    /// The text as a whole, then the quotations, lists and items that are open.
    open: Vec<OpenBlock>,
    /// Where the text of each open link began, and where it leads.
    links: Vec<(usize, String)>,
}

#[derive(Default)]
struct OpenBlock {
    kind: BlockKind,
    text: String,
    /// True until something stands behind a paragraph's end.
    ended: bool,
}

#[derive(Default)]
enum BlockKind {
    #[default]
    Whole,
    Quote,
    /// The number of the next item; `None` where items have none.
    List(Option<u64>),
    /// What stands before the item.
    Item(String),
}

impl TextWriter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.write(&text)
            }
            Event::SoftBreak | Event::HardBreak => self.write("\n"),
            Event::Rule => {
                self.begin_block();
                self.write("---");
                self.end_block();
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::HtmlBlock => {
                self.begin_block()
            }
            Tag::BlockQuote(_) => self.begin(BlockKind::Quote),
            Tag::List(first) => self.begin(BlockKind::List(first)),
            Tag::Item => {
                let mark = match self.open.last_mut().map(|block| &mut block.kind) {
                    Some(BlockKind::List(Some(number))) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
                self.begin(BlockKind::Item(mark));
            }
            Tag::Link { dest_url, .. } => {
                self.begin_words();
                let begins = self.open.last().map_or(0, |block| block.text.len());
                self.links.push((begins, dest_url.into_string()));
            }
            Tag::Image { .. } => {
                self.part_words();
                self.write("[");
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                self.end_block()
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => self.close(),
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.write("]"),
            _ => {}
        }
    }

    fn write(&mut self, words: &str) {
        self.begin_words();
        if let Some(block) = self.open.last_mut() {
            block.text.push_str(words);
        }
    }

    /// Puts a space behind what stands here, so that a picture is no part of an address before it.
    fn part_words(&mut self) {
        self.begin_words();
        if let Some(block) = self.open.last_mut()
            && block.text.ends_with(|c: char| !c.is_whitespace() && !"([{".contains(c))
        {
            block.text.push(' ');
        }
    }

    /// Words right after a block that has ended, such as an item's text after a list in it.
    fn begin_words(&mut self) {
        if let Some(block) = self.open.last_mut().filter(|block| block.ended) {
            block.ended = false;
            separate(block);
        }
    }

    fn begin_block(&mut self) {
        if let Some(block) = self.open.last_mut() {
            block.ended = false;
            separate(block);
        }
    }

    fn end_block(&mut self) {
        if let Some(block) = self.open.last_mut() {
            let end = block.text.trim_end_matches('\n').len();
            block.text.truncate(end);
            block.ended = true;
        }
    }

    fn begin(&mut self, kind: BlockKind) {
        self.open.push(OpenBlock { kind, ..OpenBlock::default() });
    }

    /// Puts the innermost block into the one around it.
    fn close(&mut self) {
        let is_deep = self.open.len() > DEPTH;
        let Some(inner) = self.open.pop() else { return };
        let Some(outer) = self.open.last_mut() else { return };
        let text = match inner.kind {
            _ if is_deep => inner.text,
            BlockKind::Whole | BlockKind::List(_) => inner.text,
            BlockKind::Quote => prefix_lines(&inner.text, "> ", "> "),
            BlockKind::Item(mark) => {
                let spaces = " ".repeat(mark.chars().count());
                prefix_lines(&inner.text, &mark, &spaces)
            }
        };
        separate(outer);
        outer.text.push_str(&text);
        outer.ended = true;
    }

    /// The address of a link stands behind its words, unless it is its words.
    fn end_link(&mut self) {
        let Some((begins, target)) = self.links.pop() else { return };
        let Some(block) = self.open.last_mut() else { return };
        let words = block.text.get(begins..).unwrap_or_default().trim();
        let bare = |text: &str| {
            let text = text.trim_start_matches("mailto:").trim_start_matches("tel:");
            let text = text.trim_start_matches("https://").trim_start_matches("http://");
            text.trim_end_matches('/').to_lowercase()
        };
        if !target.is_empty() && bare(words) != bare(&target) {
            let target = target.trim_start_matches("mailto:");
            block.text.push_str(&format!(" ({target})"));
        }
    }
}

/// Paragraphs have a blank line between them; the parts of a list do not.
fn separate(block: &mut OpenBlock) {
    if block.text.is_empty() {
        return;
    }
    block.text.push_str(match block.kind {
        BlockKind::List(_) | BlockKind::Item(_) => "\n",
        BlockKind::Whole | BlockKind::Quote => "\n\n",
    });
}

fn prefix_lines(text: &str, first: &str, next: &str) -> String {
    let mut out = String::with_capacity(text.len() + first.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let lead = if number == 0 { first } else { next };
        out.push_str(if line.is_empty() { lead.trim_end() } else { lead });
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_twin_reads_like_typed_text() {
        for (source, text) in [
            ("Dear **Ann**,\n\nit was _twice_.\nBye", "Dear Ann,\n\nit was twice.\nBye"),
            ("For you:\n\n- one\n- two\n\nBye", "For you:\n\n- one\n- two\n\nBye"),
            ("3. a\n4. b", "3. a\n4. b"),
            ("- a\n  - b\n- c", "- a\n  - b\n- c"),
            ("> so\n> it\n>\n> is\n\nYes", "> so\n> it\n>\n> is\n\nYes"),
            ("the [receipt](https://x.example/r)", "the receipt (https://x.example/r)"),
            ("[https://x.example](https://x.example/)", "https://x.example"),
            ("[Ann](mailto:ann@x.example)", "Ann (ann@x.example)"),
            ("see ![the lamp](cid:enc_1)", "see [the lamp]"),
            ("https://x.example/a![lamp](cid:enc_1)", "https://x.example/a [lamp]"),
            ("[r](https://x.example)![lamp](cid:enc_1)", "r (https://x.example) [lamp]"),
            ("# Title\ntext", "Title\n\ntext"),
            ("1 \\* 2 \\_ 3", "1 * 2 _ 3"),
            ("a\n\n---\n\nb", "a\n\n---\n\nb"),
            ("plain & <b>bold</b>", "plain & <b>bold</b>"),
            ("", ""),
        ] {
            assert_eq!(markdown_text(source), text, "{source}");
        }
    }

    #[test]
    fn deep_quotations_stay_small() {
        let text = markdown_text(&format!("{}x", "> ".repeat(20_000)));
        assert!(text.len() < 100, "{}", text.len());
    }
}
