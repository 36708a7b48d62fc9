//! A text of the manual as HTML: in one part or, where it is long, one for its beginning and one for each
//! section.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{Manual, ManualText, dark_picture};
use crate::html::escape;

/// What stands on one page.
pub(super) struct ManualPart {
    /// The heading of the section that it is; `None` for the beginning, or for the whole text.
    pub section: Option<usize>,
    /// Places of its headings in the text.
    pub headings: Vec<usize>,
    pub html: String,
}

pub(super) struct ManualArticle {
    pub parts: Vec<ManualPart>,
    /// Paths of the pictures that it shows.
    pub pictures: Vec<String>,
}

pub(super) fn write_article(manual: &Manual, text: &ManualText) -> Result<ManualArticle, String> {
    let whole = ManualPart { section: None, headings: Vec::new(), html: String::new() };
    let mut writer = Writer {
        manual,
        text,
        article: ManualArticle { parts: vec![whole], pictures: Vec::new() },
        headings: 0,
        in_head: false,
        picture: None,
        ends: Vec::new(),
    };
    for event in Parser::new_ext(&text.markdown, Options::ENABLE_TABLES) {
        writer.take(event)?;
    }
    Ok(writer.article)
}

struct Writer<'a> {
    manual: &'a Manual,
    text: &'a ManualText,
    article: ManualArticle,
    /// Headings that were begun.
    headings: usize,
    /// In the first row of a table.
    in_head: bool,
    /// A picture whose words are being read, with its path.
    picture: Option<(String, String)>,
    /// How the headings and links end that are open.
    ends: Vec<String>,
}

impl Writer<'_> {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.start(tag)?,
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.picture {
                Some((_, words)) => words.push_str(&text),
                None => self.push(&escape(&text)),
            },
            Event::Code(text) => match &mut self.picture {
                Some((_, words)) => words.push_str(&text),
                None => self.push(&format!("<code>{}</code>", escape(&text))),
            },
            Event::Html(text) | Event::InlineHtml(text) => self.write_raw(&text),
            Event::SoftBreak => self.push("\n"),
            Event::HardBreak => self.push("<br>\n"),
            Event::Rule => self.push("<hr>\n"),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>) -> Result<(), String> {
        match tag {
            Tag::Paragraph => self.push("<p>"),
            Tag::Heading { .. } => self.begin_heading(),
            Tag::BlockQuote(_) => self.push("<blockquote>\n"),
            Tag::CodeBlock(_) => self.push("<pre tabindex=\"0\"><code>"),
            Tag::List(None) => self.push("<ul>\n"),
            Tag::List(Some(first)) => self.push(&format!("<ol start=\"{first}\">\n")),
            Tag::Item => self.push("<li>"),
            Tag::Table(_) => self.push("<div class=\"wide\" tabindex=\"0\"><table>\n"),
            Tag::TableHead => {
                self.in_head = true;
                self.push("<thead><tr>");
            }
            Tag::TableRow => self.push("<tr>"),
            Tag::TableCell if self.in_head => self.push("<th scope=\"col\">"),
            Tag::TableCell => self.push("<td>"),
            Tag::Emphasis => self.push("<em>"),
            Tag::Strong => self.push("<strong>"),
            Tag::Link { dest_url, .. } => self.begin_link(&dest_url)?,
            Tag::Image { dest_url, .. } => {
                self.picture = Some((dest_url.into_string(), String::new()));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.push("</p>\n"),
            TagEnd::Heading(_) | TagEnd::Link => {
                let end = self.ends.pop().unwrap_or_default();
                self.push(&end);
            }
            TagEnd::BlockQuote(_) => self.push("</blockquote>\n"),
            TagEnd::CodeBlock => self.push("</code></pre>\n"),
            TagEnd::List(true) => self.push("</ol>\n"),
            TagEnd::List(false) => self.push("</ul>\n"),
            TagEnd::Item => self.push("</li>\n"),
            TagEnd::Table => self.push("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.push("</tr></thead>\n<tbody>\n");
            }
            TagEnd::TableRow => self.push("</tr>\n"),
            TagEnd::TableCell => self.push(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.push("</em>"),
            TagEnd::Strong => self.push("</strong>"),
            TagEnd::Image => {
                if let Some((path, words)) = self.picture.take() {
                    self.write_picture(path, &words);
                }
            }
            _ => {}
        }
    }

    /// A section of a long text begins a part, of which its heading is the title.
    fn begin_heading(&mut self) {
        let place = self.headings;
        self.headings += 1;
        let text = self.text;
        let Some(heading) = text.headings.get(place) else { return };
        let section = text.section(place);
        if section == Some(place) {
            let part = ManualPart { section, headings: Vec::new(), html: String::new() };
            self.article.parts.push(part);
        }
        let level = if section.is_some() { heading.level - 1 } else { heading.level };
        if let Some(part) = self.article.parts.last_mut() {
            part.headings.push(place);
        }
        self.push(&format!("<h{level} id=\"{}\">", heading.anchor));
        self.ends.push(format!("</h{level}>\n"));
    }

    /// The words of a link to what is not in the site stay, without the link.
    fn begin_link(&mut self, link: &str) -> Result<(), String> {
        let end = match self.manual.resolve(self.text, link)? {
            Some(href) => {
                self.push(&format!("<a href=\"{}\">", escape(&href)));
                "</a>"
            }
            None => "",
        };
        self.ends.push(end.to_owned());
        Ok(())
    }

    /// Readers in the dark see the dark one, where there is one.
    fn write_picture(&mut self, path: String, words: &str) {
        let (src, alt) = (escape(&path), escape(words));
        let light = format!("<img src=\"{src}\" alt=\"{alt}\" loading=\"lazy\">");
        match dark_picture(&path) {
            Some(dark) => {
                let source = escape(&dark);
                let media = "media=\"(prefers-color-scheme: dark)\"";
                let dark_source = format!("<source srcset=\"{source}\" {media}>");
                self.push(&format!("<picture>{dark_source}{light}</picture>"));
                self.article.pictures.push(dark);
            }
            None => self.push(&light),
        }
        self.article.pictures.push(path);
    }

    /// Of the HTML in a text only a picture is one in the site, too.
    fn write_raw(&mut self, html: &str) {
        let attribute = |name: &str| {
            let (_, rest) = html.split_once(&format!(" {name}=\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        match attribute("src").filter(|_| html.starts_with("<img ")) {
            Some(path) => self.write_picture(path, &attribute("alt").unwrap_or_default()),
            None => self.push(&escape(html)),
        }
    }

    fn push(&mut self, html: &str) {
        if let Some(part) = self.article.parts.last_mut() {
            part.html.push_str(html);
        }
    }
}
