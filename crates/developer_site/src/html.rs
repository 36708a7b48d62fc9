//! Markdown of the developer site as HTML. A table of two columns is a list of rules, one of three a
//! list of fields; code has a title, and the same code in several languages has tabs. What stands
//! under "Examples" goes beside the rest.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The section that stands beside the others.
const BESIDE: &str = "Examples";

/// The languages of tabs: the title of a block and the class that its tab shows.
const LANGUAGES: &[(&str, &str)] =
    &[("curl", "curl"), ("TypeScript", "ts"), ("Python", "py"), ("PHP", "php"), ("Java", "java")];

/// The article of a page.
pub fn article(markdown: &str) -> String {
    let mut writer = Writer::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        writer.take(event);
    }
    writer.finish()
}

#[derive(Default)]
struct Writer {
    head: String,
    main: String,
    beside: String,
    /// Where what is read now goes.
    place: Place,
    section_open: bool,
    /// The text of an element that needs it whole: a heading, a cell, a block of code.
    inline: Vec<String>,
    table: Option<Vec<Vec<String>>>,
    code: Option<Code>,
    /// Blocks of code that follow one another.
    codes: Vec<Code>,
    fields: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Head,
    Main,
    Beside,
}

struct Code {
    language: String,
    title: String,
    text: String,
}

impl Writer {
    fn take(&mut self, event: Event<'_>) {
        if !matches!(event, Event::Start(Tag::CodeBlock(_))) && self.code.is_none() {
            self.write_codes();
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.text.push_str(&text),
                None => self.push(&escape(&text)),
            },
            Event::Html(text) | Event::InlineHtml(text) => self.push(&escape(&text)),
            Event::Code(text) => self.push(&format!("<code>{}</code>", escape(&text))),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak => self.push("<br>"),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph if self.inline.is_empty() => {
                let lead = self.place == Place::Head;
                self.push(if lead { "<p class=\"lead\">" } else { "<p>" });
            }
            Tag::Heading { .. } | Tag::TableCell => self.inline.push(String::new()),
            Tag::List(None) => self.push("<ul>"),
            Tag::List(Some(_)) => self.push("<ol>"),
            Tag::Item => self.push("<li>"),
            Tag::Strong => self.push("<b>"),
            Tag::Emphasis => self.push("<em>"),
            Tag::Link { dest_url, .. } => {
                self.push(&format!("<a href=\"{}\">", escape(&dest_url)));
            }
            Tag::Table(_) => self.table = Some(Vec::new()),
            Tag::TableHead | Tag::TableRow => {
                self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let (language, title) = info.split_once(' ').unwrap_or((&info, ""));
                let (language, title) = (language.to_owned(), title.to_owned());
                self.code = Some(Code { language, title, text: String::new() });
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph if self.inline.is_empty() => self.push("</p>\n"),
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::List(false) => self.push("</ul>\n"),
            TagEnd::List(true) => self.push("</ol>\n"),
            TagEnd::Item => self.push("</li>"),
            TagEnd::Strong => self.push("</b>"),
            TagEnd::Emphasis => self.push("</em>"),
            TagEnd::Link => self.push("</a>"),
            TagEnd::TableCell => {
                let cell = self.inline.pop().unwrap_or_default();
                let row = self.table.as_mut().and_then(|rows| rows.last_mut());
                row.into_iter().for_each(|row| row.push(cell.clone()));
            }
            TagEnd::Table => {
                let rows = self.table.take().unwrap_or_default();
                let text = table(&rows, self.place == Place::Head);
                self.push(&text);
            }
            TagEnd::CodeBlock => self.codes.extend(self.code.take()),
            _ => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let words = self.inline.pop().unwrap_or_default();
        match level {
            HeadingLevel::H1 => self.push(&format!("<h1>{words}</h1>\n")),
            HeadingLevel::H2 => {
                self.close_section();
                self.place = if words == BESIDE { Place::Beside } else { Place::Main };
                if self.place == Place::Main {
                    let id = slug(&words);
                    self.push(&format!(
                        "<section class=\"stack\" aria-labelledby=\"{id}\"><h2 id=\"{id}\">{words}</h2>\n"
                    ));
                    self.section_open = true;
                }
            }
            _ => self.push(&format!("<h3 id=\"{}\">{words}</h3>\n", slug(&words))),
        }
    }

    fn close_section(&mut self) {
        if std::mem::take(&mut self.section_open) {
            self.main.push_str("</section>\n");
        }
    }

    fn push(&mut self, text: &str) {
        let out = match (self.inline.last_mut(), self.place) {
            (Some(inline), _) => inline,
            (None, Place::Head) => &mut self.head,
            (None, Place::Main) => &mut self.main,
            (None, Place::Beside) => &mut self.beside,
        };
        out.push_str(text);
    }

    /// The blocks that came one after the other: tabs where they are in several languages.
    fn write_codes(&mut self) {
        let codes = std::mem::take(&mut self.codes);
        let (tabs, others): (Vec<Code>, Vec<Code>) =
            codes.into_iter().partition(|code| language_class(&code.title).is_some());
        if tabs.len() > 1 {
            self.fields += 1;
            let text = code_tabs(&tabs, self.fields);
            self.push(&text);
        } else {
            tabs.iter().for_each(|code| self.push(&sample(code)));
        }
        others.iter().for_each(|code| self.push(&sample(code)));
    }

    fn finish(mut self) -> String {
        self.write_codes();
        self.close_section();
        let Writer { head, main, beside, .. } = self;
        let body = if beside.is_empty() {
            format!("<div class=\"g-prose\">{main}</div>")
        } else {
            format!(
                "<div class=\"g-beside\"><div>{main}</div>\
                 <aside id=\"examples\" aria-label=\"{BESIDE}\">{beside}</aside></div>"
            )
        };
        format!("<header>{head}</header>\n{body}")
    }
}

fn language_class(title: &str) -> Option<&'static str> {
    LANGUAGES.iter().find(|(name, _)| *name == title).map(|(_, class)| *class)
}

fn sample(code: &Code) -> String {
    let title = if code.title.is_empty() { code.language.as_str() } else { code.title.as_str() };
    format!(
        "<div class=\"g-sample\"><header><b>{}</b></header>{}</div>\n",
        escape(title),
        pre(code, "")
    )
}

fn code_tabs(codes: &[Code], number: usize) -> String {
    let mut labels = String::new();
    let mut blocks = String::new();
    for (place, code) in codes.iter().enumerate() {
        let class = language_class(&code.title).unwrap_or_default();
        let checked = if place == 0 { " checked" } else { "" };
        labels.push_str(&format!(
            "<label><input type=\"radio\" name=\"lang{number}\" value=\"{class}\"{checked}>{}</label>",
            escape(&code.title)
        ));
        blocks.push_str(&pre(code, &format!(" g-{class}")));
    }
    format!(
        "<fieldset class=\"g-sample g-tabbed\"><legend class=\"sr\">Language of the example</legend>\
         <div class=\"g-langs\">{labels}</div>{blocks}</fieldset>\n"
    )
}

fn pre(code: &Code, class: &str) -> String {
    let text = code.text.trim_end();
    let text = if code.language == "json" { json(text) } else { escape(text) };
    format!("<pre class=\"code{class}\">{text}</pre>")
}

/// JSON with its names and strings told apart.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        out.push_str(&escape(&rest[..start]));
        let after = &rest[start + 1..];
        let end = string_end(after).unwrap_or(after.len());
        let string = &rest[start..(start + end + 2).min(rest.len())];
        rest = &rest[(start + end + 2).min(rest.len())..];
        let class = if rest.trim_start().starts_with(':') { "g-n" } else { "g-v" };
        out.push_str(&format!("<span class=\"{class}\">{}</span>", escape(string)));
    }
    out.push_str(&escape(rest));
    out
}

/// Where a JSON string ends whose opening quote was read.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

fn table(rows: &[Vec<String>], in_head: bool) -> String {
    let [names, rows @ ..] = rows else { return String::new() };
    let cell = |row: &[String], place: usize| row.get(place).cloned().unwrap_or_default();
    if names.len() == 2 {
        let class = if in_head { "facts" } else { "g-rules" };
        let rows: String = rows
            .iter()
            .map(|row| {
                let pair = format!("<dt>{}</dt><dd>{}</dd>", cell(row, 0), cell(row, 1));
                if in_head { pair } else { format!("<div>{pair}</div>") }
            })
            .collect();
        return format!("<dl class=\"{class}\">{rows}</dl>\n");
    }
    if names.len() == 3 {
        let row = |row: &Vec<String>| {
            let (name, kind, about) = (cell(row, 0), cell(row, 1), cell(row, 2));
            format!("<div><dt>{name}<span>{kind}</span></dt><dd>{about}</dd></div>\n")
        };
        return format!(
            "<dl class=\"g-fields\">{}</dl>\n",
            rows.iter().map(row).collect::<String>()
        );
    }
    let head: String = names.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    let row = |row: &Vec<String>| {
        let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<table class=\"table cards\"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>\n"
    )
}

/// A heading as the end of an address.
fn slug(words: &str) -> String {
    let mut inside_tag = false;
    let mut slug = String::new();
    for c in words.chars() {
        match c {
            '<' => inside_tag = true,
            '>' => inside_tag = false,
            _ if inside_tag => {}
            c if c.is_alphanumeric() => slug.extend(c.to_lowercase()),
            _ if !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.trim_matches('-').to_owned()
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_the_parts_of_a_page() {
        let page = article(
            "# T\n\nLead `a<b`.\n\n| a | b |\n|---|---|\n| x | y |\n\n## One two\n\n\
             | f | t | w |\n|---|---|---|\n| `id` | string | [w](/x) |\n\n## Examples\n\n\
             ```sh curl\ncurl <a>\n```\n```python Python\npass\n```\n```json Answer\n{\"a\": \"b\"}\n```\n",
        );
        for part in [
            "<header><h1>T</h1>\n<p class=\"lead\">Lead <code>a&lt;b</code>.</p>",
            "<dl class=\"facts\"><dt>x</dt><dd>y</dd></dl>",
            "<section class=\"stack\" aria-labelledby=\"one-two\"><h2 id=\"one-two\">One two</h2>",
            "<dt><code>id</code><span>string</span></dt><dd><a href=\"/x\">w</a></dd>",
            "<fieldset class=\"g-sample g-tabbed\">",
            "<pre class=\"code g-curl\">curl &lt;a&gt;</pre><pre class=\"code g-py\">pass</pre>",
            "<span class=\"g-n\">&quot;a&quot;</span>: <span class=\"g-v\">&quot;b&quot;</span>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
