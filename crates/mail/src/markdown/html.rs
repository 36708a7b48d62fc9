//! Markdown as HTML: a few elements are written, and a second look takes out whatever else is there.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ammonia::{Builder, UrlRelative};
use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::{DEPTH, parser, picture_id};
use crate::page::safe_target;
use crate::text::text_links::{TextSegment, text_blocks};

/// Where the pictures of a text are: what stands before and behind the id of an attachment.
#[derive(Clone, Copy, Debug)]
pub struct PictureUrls<'a> {
    pub before: &'a str,
    pub behind: &'a str,
}

impl PictureUrls<'_> {
    fn of(&self, id: &str) -> String {
        format!("{}{id}{}", self.before, self.behind)
    }
}

/// The HTML of a Markdown text, without a frame around it. Headings are bold lines, as in a mail.
pub fn markdown_html(source: &str, pictures: PictureUrls<'_>) -> String {
    write_html(source, pictures, None, false)
}

/// The same for a text that is read: pictures are loaded when they come into view, and one that is within no link leads
/// to its original.
pub fn markdown_html_with_originals(
    source: &str,
    pictures: PictureUrls<'_>,
    originals: PictureUrls<'_>,
) -> String {
    write_html(source, pictures, Some(originals), false)
}

/// The same for a page below a title: headings are those of its second and third level, and pictures
/// are their descriptions.
pub fn markdown_article(source: &str) -> String {
    write_html(source, PictureUrls { before: "", behind: "" }, None, true)
}

fn write_html(
    source: &str,
    pictures: PictureUrls<'_>,
    originals: Option<PictureUrls<'_>>,
    is_article: bool,
) -> String {
    let html = String::new();
    let mut writer =
        HtmlWriter { html, pictures, originals, is_article, depth: 0, links: 0, alt: None };
    for event in parser(source) {
        writer.event(event);
    }
    second_look(&writer.html, pictures, originals)
}

/// The HTML of a plain text: paragraphs, line breaks, and links that can be followed.
pub fn plain_html(text: &str) -> String {
    let mut html = String::new();
    for paragraph in text.replace("\r\n", "\n").split("\n\n") {
        html.push_str("<p>");
        for (number, line) in paragraph.trim_matches('\n').split('\n').enumerate() {
            if number > 0 {
                html.push_str("<br>");
            }
            push_linked(&mut html, line);
        }
        html.push_str("</p>");
    }
    html
}

struct HtmlWriter<'a> {
    html: String,
    pictures: PictureUrls<'a>,
    /// Where pictures lead; `None` for nowhere.
    originals: Option<PictureUrls<'a>>,
    /// True for an article: headings are not bold lines, and there are no pictures.
    is_article: bool,
    /// Quotations and lists that are open.
    depth: usize,
    /// Links that are open; text in them holds no further ones.
    links: usize,
    /// The description of the picture that is open, with its id.
    alt: Option<(Option<String>, String)>,
}

impl HtmlWriter<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Some((_, alt)) = &mut self.alt {
            match event {
                Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => {
                    alt.push_str(&text)
                }
                Event::End(TagEnd::Image) => self.end_picture(),
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.links == 0 => push_linked(&mut self.html, &text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                escape(&mut self.html, &text)
            }
            Event::Code(text) => {
                self.html.push_str("<code>");
                escape(&mut self.html, &text);
                self.html.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.html.push_str("<p>"),
            Tag::Heading { level, .. } if self.is_article => {
                self.html.push_str(if level <= HeadingLevel::H2 { "<h2>" } else { "<h3>" });
            }
            Tag::Heading { .. } => self.html.push_str("<p><strong>"),
            Tag::BlockQuote(_) => self.open("<blockquote>"),
            Tag::List(None) => self.open("<ul>"),
            Tag::List(Some(1)) => self.open("<ol>"),
            Tag::List(Some(first)) => self.open(&format!("<ol start=\"{first}\">")),
            Tag::Item if self.depth <= DEPTH => self.html.push_str("<li>"),
            Tag::CodeBlock(_) => self.html.push_str("<pre>"),
            Tag::Emphasis => self.html.push_str("<em>"),
            Tag::Strong => self.html.push_str("<strong>"),
            Tag::Link { dest_url, .. } => {
                self.links += 1;
                match safe_target(&dest_url) {
                    Some(url) => open_link(&mut self.html, url.as_str()),
                    None => self.html.push_str("<a>"),
                }
            }
            Tag::Image { dest_url, .. } => {
                let id = picture_id(&dest_url).map(str::to_owned);
                self.alt = Some((id, String::new()));
            }
            _ => {}
        }
    }

    fn open(&mut self, tag: &str) {
        self.depth += 1;
        if self.depth <= DEPTH {
            self.html.push_str(tag);
        }
    }

    fn close(&mut self, tag: &str) {
        if self.depth <= DEPTH {
            self.html.push_str(tag);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.html.push_str("</p>"),
            TagEnd::Heading(level) if self.is_article => {
                self.html.push_str(if level <= HeadingLevel::H2 { "</h2>" } else { "</h3>" });
            }
            TagEnd::Heading(_) => self.html.push_str("</strong></p>"),
            TagEnd::BlockQuote(_) => self.close("</blockquote>"),
            TagEnd::List(true) => self.close("</ol>"),
            TagEnd::List(false) => self.close("</ul>"),
            TagEnd::Item if self.depth <= DEPTH => self.html.push_str("</li>"),
            TagEnd::CodeBlock => self.html.push_str("</pre>"),
            TagEnd::Emphasis => self.html.push_str("</em>"),
            TagEnd::Strong => self.html.push_str("</strong>"),
            TagEnd::Link => {
                self.links = self.links.saturating_sub(1);
                self.html.push_str("</a>");
            }
            _ => {}
        }
    }

    /// A picture that is not an attachment is its description.
    fn end_picture(&mut self) {
        let Some((id, alt)) = self.alt.take() else { return };
        let Some(id) = id.filter(|_| !self.is_article) else {
            return escape(&mut self.html, &alt);
        };
        let link = self.originals.filter(|_| self.links == 0);
        if let Some(originals) = link {
            open_link(&mut self.html, &originals.of(&id));
        }
        let loading = if self.originals.is_some() { " loading=\"lazy\"" } else { "" };
        self.html.push_str(&format!("<img{loading} src=\""));
        escape(&mut self.html, &self.pictures.of(&id));
        self.html.push_str("\" alt=\"");
        escape(&mut self.html, &alt);
        self.html.push_str("\">");
        if link.is_some() {
            self.html.push_str("</a>");
        }
    }
}

/// A text whose addresses can be followed.
fn push_linked(html: &mut String, text: &str) {
    for segment in text_blocks(text).into_iter().flat_map(|block| block.segments) {
        match segment {
            TextSegment::Words(words) => escape(html, words),
            TextSegment::Link { text, href } => {
                open_link(html, &href);
                escape(html, text);
                html.push_str("</a>");
            }
        }
    }
}

fn open_link(html: &mut String, href: &str) {
    html.push_str("<a href=\"");
    escape(html, href);
    html.push_str("\" target=\"_blank\" rel=\"noopener noreferrer\">");
}

pub(crate) fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\0' => {}
            c => html.push(c),
        }
    }
}

/// Builds the tree as browsers do, and takes out whatever should not have been written.
fn second_look(
    html: &str,
    pictures: PictureUrls<'_>,
    originals: Option<PictureUrls<'_>>,
) -> String {
    const TAGS: [&str; 15] = [
        "h2",
        "h3",
        "p",
        "br",
        "strong",
        "em",
        "ul",
        "ol",
        "li",
        "blockquote",
        "a",
        "img",
        "code",
        "pre",
        "hr",
    ];
    let owned = |urls: PictureUrls<'_>| (urls.before.to_owned(), urls.behind.to_owned());
    let (pictures, originals) = (owned(pictures), originals.map(owned));
    let attributes = HashMap::from([
        ("a", HashSet::from(["href", "target", "rel"])),
        ("img", HashSet::from(["loading", "src", "alt"])),
        ("ol", HashSet::from(["start"])),
    ]);
    Builder::default()
        .tags(HashSet::from(TAGS))
        .tag_attributes(attributes)
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel", "cid"]))
        .url_relative(UrlRelative::PassThrough)
        .link_rel(None)
        .attribute_filter(move |tag, name, value| {
            let fits = match (tag, name) {
                ("img", "src") => is_picture_at(value, &pictures),
                ("a", "href") => {
                    safe_target(value).is_some()
                        || originals.as_ref().is_some_and(|urls| is_picture_at(value, urls))
                }
                _ => true,
            };
            fits.then_some(Cow::Borrowed(value))
        })
        .clean(html)
        .to_string()
}

/// True for the address of an attachment, between what stands before and behind its id.
fn is_picture_at(address: &str, (before, behind): &(String, String)) -> bool {
    let id =
        address.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(behind.as_str()));
    id.is_some_and(|id| picture_id(&format!("cid:{id}")).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: PictureUrls<'_> = PictureUrls { before: "/attachments/", behind: "?shown" };

    #[test]
    fn an_article_is_article_below_its_title() {
        let html = markdown_article("# One\n\n## <b>\n\n### Three\n\n![a <lamp>](cid:enc_1)");
        assert_eq!(html, "<h2>One</h2><h2>&lt;b&gt;</h2><h3>Three</h3><p>a &lt;lamp&gt;</p>");
    }

    #[test]
    fn bold_italic_lists_links_quotes_and_pictures_are_formatted() {
        for (source, html) in [
            ("Dear **Ann**,\n_one_ line", "<p>Dear <strong>Ann</strong>,<br><em>one</em> line</p>"),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("3. a\n4. b", "<ol start=\"3\"><li>a</li><li>b</li></ol>"),
            ("> so\n\nI", "<blockquote><p>so</p></blockquote><p>I</p>"),
            ("# Title", "<p><strong>Title</strong></p>"),
            (
                "![a \"b\"](cid:enc_1)",
                "<p><img src=\"/attachments/enc_1?shown\" alt=\"a &quot;b&quot;\"></p>",
            ),
        ] {
            assert_eq!(markdown_html(source, APP), html, "{source}");
        }
        let link = markdown_html("[here](https://x.example/a?b=1&c) or www.y.example.", APP);
        assert!(link.contains("<a href=\"https://x.example/a?b=1&amp;c\" target"), "{link}");
        assert!(link.contains(">www.y.example</a>."), "{link}");
    }

    #[test]
    fn nothing_that_runs_or_is_fetched_is_written() {
        for source in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[x](javascript:alert(1))",
            "[x](data:text/html,y)",
            "![x](https://x.example/a.png)",
            "![x](cid:enc_1\" onerror=alert(1))",
            "<div>\n\n**x**\n\n</div>",
        ] {
            let html = markdown_html(source, APP);
            assert!(!html.contains("<script") && !html.contains("<div"), "{html}");
            assert!(!html.contains("javascript:") || !html.contains("href"), "{html}");
            assert!(!html.contains("src=\"http") && !html.contains("onerror=a\""), "{html}");
        }
    }

    #[test]
    fn deep_nesting_takes_no_deep_tree() {
        let html = markdown_html(&format!("{}x", "> ".repeat(20_000)), APP);
        assert_eq!(html.matches("<blockquote>").count(), DEPTH);
    }

    #[test]
    fn plain_text_keeps_its_lines_and_its_signs() {
        assert_eq!(plain_html("a <b>\nc\n\n*d*"), "<p>a &lt;b&gt;<br>c</p><p>*d*</p>");
    }
}
