//! Lays extracted text out in lines, with quotes and lists.

use crate::limits::TEXT_BYTES;
use crate::text::clean::clean_line;
use crate::trim::LineMark;

/// Quote signs before a line; deeper quotes look the same.
const QUOTE_DEPTH: usize = 16;

/// Text put together line by line.
#[derive(Default)]
pub(super) struct Lines {
    done: Vec<Line>,
    current: String,
    /// True when a space is due before the next word of the line.
    space: bool,
    /// True when a blank line is due before the next line.
    gap: bool,
    bytes: usize,
    pub setting: Setting,
}

/// What a line stands in.
#[derive(Clone, Copy, Default)]
pub(super) struct Setting {
    /// Quotes around it.
    pub depth: usize,
    pub signature: bool,
    pub announces: bool,
}

struct Line {
    text: String,
    depth: usize,
    signature: bool,
    mark: Option<LineMark>,
}

impl Lines {
    pub fn text(&mut self, text: &str) {
        let mut words = text.split(|c: char| c.is_whitespace()).peekable();
        while let Some(word) = words.next() {
            if !word.is_empty() {
                if self.space && !self.current.is_empty() {
                    self.current.push(' ');
                }
                self.current.push_str(word);
                self.space = false;
            }
            self.space |= words.peek().is_some();
        }
    }

    pub fn push_preformatted(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.current.push_str(line.trim_end_matches('\r'));
        }
        self.space = false;
    }

    pub fn cell(&mut self) {
        self.space = true;
    }

    pub fn bullet(&mut self) {
        self.current.push('-');
        self.space = true;
    }

    pub fn rule(&mut self) {
        self.current.push_str("________");
        self.begin_line();
    }

    /// Ends the line if anything stands in it.
    pub fn begin_line(&mut self) {
        if !self.current.is_empty() {
            self.end_line();
        }
        self.space = false;
    }

    /// Ends the line, empty or not.
    pub fn end_line(&mut self) {
        let text = std::mem::take(&mut self.current);
        self.space = false;
        let mark = self.setting.announces.then_some(LineMark::Announcement);
        self.push(text, mark);
    }

    pub fn paragraph(&mut self) {
        self.begin_line();
        self.gap = true;
    }

    pub fn mark(&mut self, mark: LineMark) {
        self.begin_line();
        self.push(String::new(), Some(mark));
    }

    fn push(&mut self, text: String, mark: Option<LineMark>) {
        let depth = self.setting.depth.min(QUOTE_DEPTH);
        self.bytes += text.len() + 2 * depth + 1;
        if self.bytes > TEXT_BYTES {
            return;
        }
        if std::mem::take(&mut self.gap) && !self.done.is_empty() {
            let depth = depth.min(self.done.last().map_or(0, |line| line.depth));
            self.done.push(Line {
                text: String::new(),
                depth,
                signature: self.setting.signature,
                mark: None,
            });
        }
        let text = if text.trim().is_empty() { String::new() } else { text };
        self.done.push(Line { text, depth, signature: self.setting.signature, mark });
    }

    /// The text to read, and the text to trim.
    pub fn finish(mut self) -> (String, String) {
        self.begin_line();
        let read = self.done.iter().filter(|line| line.mark != Some(LineMark::Boundary));
        let read = read.map(line_text);
        let trim = self.done.iter().filter(|line| !line.signature || line.mark.is_some());
        let trim = trim.map(|line| match line.mark {
            Some(mark) if line.depth == 0 => format!("{}{}", mark.sign(), line_text(line)),
            _ => line_text(line),
        });
        (fold(read), fold(trim))
    }
}

fn line_text(line: &Line) -> String {
    let prefix = ">".repeat(line.depth);
    match (line.depth, line.text.is_empty()) {
        (0, _) => line.text.trim_end().to_owned(),
        (_, true) => prefix,
        (_, false) => format!("{prefix} {}", line.text.trim_end()),
    }
}

/// The lines as one text, without blank lines at the ends and never more than one in a row.
fn fold(lines: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let mut blank = true;
    for line in lines {
        let empty = clean_line(&line).is_empty() && !line.starts_with(LineMark::is_sign);
        if empty && blank {
            continue;
        }
        blank = empty;
        text.push_str(&line);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}
