//! How the HTML of a mail looks: one column of readable width in the reader's own font, links and buttons in the
//! workspace's colour, lists as tables.
//!
//! Only what old desktop programs understand: tables lay out, and each element has its own rules. There is no flex,
//! no grid, no shorthand of a background, no VML, nothing to fetch, and no ground, so that dark programs choose one.

use crate::markdown::escape;

/// Pixels of the column, which is as wide as a phone where that is less.
const COLUMN_PX: u32 = 640;
/// The font that the reader's system has.
const FONT: &str = "font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;\
                    font-size:16px;line-height:1.55";
/// Word knows none of the first names, and takes a serif where it does not know the first.
const WORD_FONT: &str = "<!--[if mso]><style>body,td,p,li,a{font-family:'Segoe UI',Arial,sans-serif}</style>\
                         <![endif]-->";
/// Lines between rows and over signatures, on light and on dark grounds.
const LINE: &str = "#b4bdb8";
/// Buttons of a workspace that chose no colour.
const BUTTON_COLOUR: &str = "#0b5c61";

/// What a mail takes from its workspace and its reader; by default nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct MailLook<'a> {
    /// The code of the language that it is in; empty where that is not known.
    pub language: &'a str,
    /// True where that language is written from right to left. A paragraph in another language keeps its own
    /// direction.
    pub is_right_to_left: bool,
    /// The colour of links and buttons as `#0b5c61`, on which white words can be read.
    pub colour: Option<&'a str>,
    pub logo: Option<MailLogo<'a>>,
}

/// A logo that travels with the mail.
#[derive(Clone, Copy, Debug)]
pub struct MailLogo<'a> {
    /// Without angle brackets.
    pub content_id: &'a str,
    /// The words in its place.
    pub name: &'a str,
    /// Pixels as it is shown.
    pub width: u32,
    pub height: u32,
}

/// A part of a text that the HTML shows as a table with a button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailSection {
    /// The lines that are the same in the plain text.
    pub lines: String,
    pub heading: String,
    pub rows: Vec<MailSectionRow>,
    /// A sentence below the rows; empty where there is none.
    pub remark: String,
    /// What the button says, and where it leads.
    pub button: String,
    pub url: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailSectionRow {
    pub title: String,
    pub description: String,
    /// Where the title leads; empty where it is no link.
    pub url: String,
}

impl MailLook<'_> {
    /// A whole document: in the column what is written, below it an earlier mail, which has a look of its own.
    pub(crate) fn document(&self, written: &str, earlier: &str) -> String {
        let mut html = String::with_capacity(written.len() + earlier.len() + 2_000);
        html.push_str("<!DOCTYPE html><html");
        if !self.language.is_empty() {
            html.push_str(" lang=\"");
            escape(&mut html, self.language);
            html.push('"');
        }
        if self.is_right_to_left {
            html.push_str(" dir=\"rtl\"");
        }
        html.push_str(
            "><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">",
        );
        html.push_str(WORD_FONT);
        html.push_str(&format!(
            "</head><body style=\"{FONT}\">\
             <!--[if mso]><table role=\"presentation\" width=\"{COLUMN_PX}\" cellpadding=\"0\" \
             cellspacing=\"0\" border=\"0\"><tr><td><![endif]-->\
             <table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" \
             border=\"0\" style=\"max-width:{COLUMN_PX}px\"><tr><td style=\"{FONT}\">"
        ));
        html.push_str(written);
        html.push_str("</td></tr></table><!--[if mso]></td></tr></table><![endif]-->");
        html.push_str(earlier);
        html.push_str("</body></html>");
        html
    }

    /// HTML of a text with its links in the workspace's colour, no picture wider than the column, and in a mail from
    /// right to left paragraphs that find their own direction. What an attribute says may look like an element, and
    /// stays as it is: a text of ours has its `<` escaped elsewhere.
    pub(crate) fn dress(&self, html: &str) -> String {
        let link = self.colour.map(|colour| format!("<a style=\"color:{colour}\" href="));
        let mut dressed = String::with_capacity(html.len());
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            let (text, element) = rest.split_at(at);
            dressed.push_str(text);
            let (element, after) = element.split_at(element_length(element));
            let style = match (element.strip_prefix("<img src="), element.strip_prefix("<a href="))
            {
                (Some(said), _) => Some(("<img style=\"max-width:100%;height:auto\" src=", said)),
                (_, Some(said)) => link.as_deref().map(|link| (link, said)),
                (None, None) if element == "<p>" => Some((self.paragraph(), "")),
                (None, None) => None,
            };
            let (begin, said) = style.unwrap_or(("", element));
            dressed.push_str(begin);
            dressed.push_str(said);
            rest = after;
        }
        dressed.push_str(rest);
        dressed
    }

    /// What stands below the words: the logo, and the signature as HTML.
    pub(crate) fn write_signature(&self, html: &mut String, signature: &str) {
        if self.logo.is_none() && signature.is_empty() {
            return;
        }
        // Mail programs know a signature by this class.
        html.push_str(&format!(
            "<div class=\"gmail_signature\" style=\"margin-top:24px;padding-top:12px;\
             border-top:1px solid {LINE}\">"
        ));
        if let Some(logo) = self.logo {
            html.push_str("<img src=\"cid:");
            escape(html, logo.content_id);
            html.push_str("\" alt=\"");
            escape(html, logo.name);
            let (width, height) = (logo.width, logo.height);
            html.push_str(&format!(
                "\" width=\"{width}\" height=\"{height}\" style=\"display:block;border:0\">"
            ));
        }
        html.push_str(&self.dress(signature));
        html.push_str("</div>");
    }

    /// What begins a paragraph.
    fn paragraph(&self) -> &'static str {
        if self.is_right_to_left { "<p dir=\"auto\">" } else { "<p>" }
    }

    /// What begins the quotation of a mail that is answered: its line stands where its lines begin. Mail programs fold
    /// what has this class, or is a quotation that cites.
    pub(crate) fn quotation(&self) -> &'static str {
        match self.is_right_to_left {
            true => {
                "<blockquote dir=\"auto\" class=\"gmail_quote\" type=\"cite\" \
                 style=\"margin:0 .8ex 0 0;border-right:1px solid #ccc;padding-right:1ex\">"
            }
            false => {
                "<blockquote class=\"gmail_quote\" type=\"cite\" \
                 style=\"margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex\">"
            }
        }
    }

    pub(crate) fn write_section(&self, html: &mut String, section: &MailSection) {
        html.push_str(self.paragraph());
        escape(html, &section.heading);
        html.push_str("</p>");
        if !section.rows.is_empty() {
            html.push_str(
                "<table role=\"presentation\" width=\"100%\" cellpadding=\"0\" cellspacing=\"0\" \
                 border=\"0\">",
            );
            for row in &section.rows {
                self.write_row(html, row);
            }
            html.push_str("</table>");
        }
        if !section.remark.is_empty() {
            html.push_str(self.paragraph());
            escape(html, &section.remark);
            html.push_str("</p>");
        }
        self.write_button(html, &section.button, &section.url);
    }

    fn write_row(&self, html: &mut String, row: &MailSectionRow) {
        html.push_str(&format!(
            "<tr><td style=\"{FONT};padding:10px 0;border-bottom:1px solid {LINE}\"><b>"
        ));
        let mut title = String::new();
        escape(&mut title, &row.title);
        match row.url.is_empty() {
            true => html.push_str(&title),
            false => {
                let mut link = String::from("<a href=\"");
                escape(&mut link, &row.url);
                link.push_str(&format!("\">{title}</a>"));
                html.push_str(&self.dress(&link));
            }
        }
        html.push_str("</b>");
        for line in row.description.lines().filter(|line| !line.trim().is_empty()) {
            html.push_str("<br>");
            escape(html, line.trim());
        }
        html.push_str("</td></tr>");
    }

    /// A button is a cell with a ground, because old programs give a link none.
    fn write_button(&self, html: &mut String, label: &str, url: &str) {
        let colour = self.colour.unwrap_or(BUTTON_COLOUR);
        html.push_str(&format!(
            "<table role=\"presentation\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\" \
             style=\"margin:16px 0\"><tr><td bgcolor=\"{colour}\" \
             style=\"{FONT};background-color:{colour};border-radius:6px;padding:10px 18px\"><a href=\""
        ));
        escape(html, url);
        html.push_str(
            "\" style=\"color:#ffffff;text-decoration:none;font-weight:bold\">\
             <span style=\"color:#ffffff\">",
        );
        escape(html, label);
        html.push_str("</span></a></td></tr></table>");
    }
}

/// True where the first letter of a text belongs to a script that runs from right to left (UAX 9, P2 and P3).
pub fn begins_right_to_left(text: &str) -> bool {
    let letter = text.chars().find(|letter| letter.is_alphabetic());
    let blocks = ['\u{590}'..='\u{8ff}', '\u{fb1d}'..='\u{fdff}', '\u{fe70}'..='\u{feff}'];
    letter.is_some_and(|letter| blocks.iter().any(|block| block.contains(&letter)))
}

/// Bytes of the element that a text begins with: up to a `>` that stands in no quotation marks.
fn element_length(html: &str) -> usize {
    let mut is_quoted = false;
    let end = html.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    });
    end.map_or(html.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{PictureUrls, markdown_html};

    fn look<'a>() -> MailLook<'a> {
        let logo = MailLogo { content_id: "logo@x.example", name: "A & B", width: 120, height: 40 };
        MailLook {
            language: "de",
            is_right_to_left: false,
            colour: Some("#7a4a12"),
            logo: Some(logo),
        }
    }

    fn section() -> MailSection {
        MailSection {
            lines: String::new(),
            heading: "What we need <from> you:".into(),
            rows: vec![MailSectionRow {
                title: "Passport".into(),
                description: "The page with your photo".into(),
                url: "https://m.example/u/x?a=1&b=2".into(),
            }],
            remark: "By 1 December.".into(),
            button: "Upload".into(),
            url: "https://m.example/u/x".into(),
        }
    }

    fn whole() -> String {
        let mut written = look().dress("<p>Hi <a href=\"https://x.example\">x</a></p>");
        look().write_section(&mut written, &section());
        look().write_signature(&mut written, "<p>Ann</p>");
        look().document(&written, "<blockquote>old</blockquote>")
    }

    #[test]
    fn sent_html_has_only_what_old_desktop_programs_understand() {
        let html = whole().to_lowercase();
        for unknown in [
            "flex",
            "grid",
            "background:",
            "background-image",
            "<v:",
            "urn:schemas",
            "@import",
            "<link",
            "<script",
            "<div style=\"display",
            "position:",
            "float:",
            "src=\"http",
        ] {
            assert!(!html.contains(unknown), "{unknown} in {html}");
        }
        assert_eq!(html.matches("<table").count(), html.matches("role=\"presentation\"").count());
        assert_eq!(html.matches("<table").count(), html.matches("</table>").count());
        assert_eq!(html.matches("<td").count(), html.matches("</td>").count());
        assert_eq!(html.matches("<!--[if mso]>").count(), html.matches("<![endif]-->").count());
    }

    #[test]
    fn a_mail_has_the_font_of_its_reader_a_column_and_the_language() {
        let html = whole();
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"de\"><head>"), "{html}");
        assert!(html.contains("max-width:640px"), "{html}");
        assert!(html.contains("font-family:-apple-system,'Segoe UI'"), "{html}");
        assert!(html.ends_with("<![endif]--><blockquote>old</blockquote></body></html>"), "{html}");
        let plain = MailLook::default().document("<p>Hi</p>", "");
        assert!(plain.starts_with("<!DOCTYPE html><html><head>"), "{plain}");
    }

    #[test]
    fn a_mail_from_right_to_left_says_so_and_its_paragraphs_keep_their_own_direction() {
        let arabic = MailLook { language: "ar", is_right_to_left: true, ..MailLook::default() };
        let mut written = arabic.dress("<p>Hello</p><pre>x</pre>");
        arabic.write_section(&mut written, &section());
        let html = arabic.document(&written, arabic.quotation());
        assert!(html.starts_with("<!DOCTYPE html><html lang=\"ar\" dir=\"rtl\"><head>"), "{html}");
        assert!(html.contains("<p dir=\"auto\">Hello</p><pre>x</pre>"), "{html}");
        assert!(html.contains("<p dir=\"auto\">What we need"), "{html}");
        assert!(html.contains("border-right:1px solid") && !html.contains("border-left"), "{html}");
        assert!(!whole().contains(" dir="), "a mail from left to right says nothing of it");
    }

    #[test]
    fn the_first_letter_of_a_text_says_which_way_it_runs() {
        for (text, expected) in [
            ("مرحبًا Ann،", true),
            ("2 (مواعيد)", true),
            ("שלום", true),
            ("Ann، مرحبًا", false),
            ("Привет", false),
            ("12:30", false),
        ] {
            assert_eq!(begins_right_to_left(text), expected, "{text}");
        }
    }

    #[test]
    fn colour_and_logo_are_those_of_the_workspace() {
        let html = whole();
        assert!(html.contains("<a style=\"color:#7a4a12\" href=\"https://x.example\">"), "{html}");
        assert!(html.contains("bgcolor=\"#7a4a12\""), "{html}");
        assert!(
            html.contains(
                "src=\"cid:logo@x.example\" alt=\"A &amp; B\" width=\"120\" height=\"40\""
            ),
            "{html}"
        );
        let mut plain = String::new();
        MailLook::default().write_signature(&mut plain, "");
        assert_eq!(plain, "", "nothing stands for a signature that is not there");
    }

    #[test]
    fn what_a_picture_is_called_adds_no_attribute() {
        let pictures = PictureUrls { before: "cid:", behind: "@x.example" };
        for name in ["&lt;img src=x onerror=alert(1)", "&lt;a href=x onclick=alert(1)"] {
            let html =
                markdown_html(&format!("![{name}](cid:enc_1) [x](https://x.example)"), pictures);
            let dressed = look().dress(&html);
            assert_eq!(dressed.matches(" style=").count(), 2, "{dressed}");
            let name = name.replace("&lt;", "<");
            assert!(dressed.contains(&format!("alt=\"{name}\"")), "{dressed}");
        }
        assert_eq!(look().dress("1 <"), "1 <", "a text that ends within an element stays");
    }

    #[test]
    fn what_a_section_says_is_text() {
        let html = whole();
        assert!(html.contains("What we need &lt;from&gt; you:"), "{html}");
        assert!(html.contains("href=\"https://m.example/u/x?a=1&amp;b=2\">Passport</a></b>"));
        assert!(html.contains("<br>The page with your photo</td>"), "{html}");
    }
}
