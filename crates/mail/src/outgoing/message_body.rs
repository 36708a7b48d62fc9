//! The body of an outgoing message: its text, the signature, and the mail that it answers or passes
//! on, as plain text and as HTML that mail programs fold.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::Address;
use crate::markdown::{PictureUrls, escape, markdown_html, markdown_text, plain_html};
use crate::outgoing::mail_look::{MailLook, MailSection};

/// Bytes of an earlier mail that go along; the rest is left out, and said to be.
const QUOTED_BYTES: usize = 100_000;

/// What a message says, in the order in which it is read.
#[derive(Clone, Copy, Debug)]
pub struct MessageBody<'a> {
    pub text: &'a str,
    /// The Markdown that the text was made from, if it was.
    pub markdown: Option<&'a str>,
    /// Markdown; empty where there is none.
    pub signature: &'a str,
    pub earlier: Option<&'a QuotedMail>,
    /// Where the pictures of the Markdown are.
    pub pictures: PictureUrls<'a>,
    /// Parts of the text that the HTML shows as tables, in their order.
    pub sections: &'a [MailSection],
    pub look: MailLook<'a>,
}

/// The mail that stands below a message.
#[derive(Clone, Debug)]
pub struct QuotedMail {
    pub role: QuotedMailRole,
    pub from: Address,
    /// Milliseconds since 1970.
    pub at: i64,
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub subject: String,
    pub text: String,
    /// Its HTML, made safe; `None` for one of plain text.
    pub html: Option<String>,
    /// True where that HTML leaves something out.
    pub is_shortened: bool,
    pub words: EarlierWords,
}

/// The words around an earlier mail, in the language of whoever gets the message.
#[derive(Clone, Debug)]
pub struct EarlierWords {
    /// The line over a mail that is answered. Mail programs and [`trim`](crate::trim()) know history by such
    /// lines: it says when and by whom the mail was written, and ends with a colon.
    pub answered: String,
    /// The line under a mail that is too long to go along whole.
    pub left_out: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotedMailRole {
    /// The message answers it.
    Answered,
    /// The message passes it on.
    Forwarded,
}

impl MessageBody<'_> {
    /// The plain text. A signature begins after a line that mail programs know it by (RFC 3676, 4.3).
    pub fn plain(&self) -> String {
        let mut text = self.text.trim_end().to_owned();
        if !self.signature.is_empty() {
            text.push_str("\n\n-- \n");
            text.push_str(markdown_text(self.signature).trim_end());
        }
        if let Some(earlier) = self.earlier {
            text.push_str("\n\n");
            earlier.write_plain(&mut text);
        }
        text.push('\n');
        text
    }

    /// A whole HTML document.
    pub fn html(&self) -> String {
        let mut written = String::new();
        self.write_words(&mut written);
        let signature = match self.signature.is_empty() {
            true => String::new(),
            false => markdown_html(self.signature, self.pictures),
        };
        self.look.write_signature(&mut written, &signature);
        let mut earlier = String::new();
        if let Some(mail) = self.earlier {
            mail.write_html(&mut earlier, &self.look);
        }
        self.look.document(&written, &earlier)
    }

    /// The words, with tables in the places of their lines. A section whose lines somebody changed stays text;
    /// one that the Markdown never had stands below it.
    fn write_words(&self, html: &mut String) {
        let mut rest = self.markdown.unwrap_or(self.text).trim_end();
        let mut below = Vec::new();
        for section in self.sections {
            let lines = section.lines.trim();
            match rest.find(lines) {
                Some(at) if !lines.is_empty() => {
                    self.write_text(html, &rest[..at]);
                    self.look.write_section(html, section);
                    rest = &rest[at + lines.len()..];
                }
                _ if self.markdown.is_some() && self.text.contains(lines) => below.push(section),
                _ => {}
            }
        }
        self.write_text(html, rest);
        for section in below {
            self.look.write_section(html, section);
        }
    }

    fn write_text(&self, html: &mut String, text: &str) {
        let text = text.trim_end().trim_start_matches(['\r', '\n']);
        if text.is_empty() {
            return;
        }
        let written = match self.markdown {
            Some(_) => markdown_html(text, self.pictures),
            None => plain_html(text),
        };
        html.push_str(&self.look.dress(&written));
    }
}

impl QuotedMail {
    fn write_plain(&self, out: &mut String) {
        out.push_str(&self.lead().join("\n"));
        out.push_str("\n\n");
        match self.role {
            QuotedMailRole::Forwarded => out.push_str(&self.shown_text()),
            QuotedMailRole::Answered => {
                let text = self.shown_text();
                let quoted = text.lines().map(|line| match line.starts_with('>') {
                    true => format!(">{line}"),
                    false => format!("> {line}").trim_end().to_owned(),
                });
                out.push_str(&quoted.collect::<Vec<_>>().join("\n"));
            }
        }
    }

    /// Mail programs fold what has this class.
    fn write_html(&self, out: &mut String, look: &MailLook<'_>) {
        out.push_str("<br><div class=\"gmail_quote\"><div class=\"gmail_attr\">");
        for (number, line) in self.lead().iter().enumerate() {
            if number > 0 {
                out.push_str("<br>");
            }
            escape(out, line);
        }
        out.push_str("</div>");
        match self.role {
            QuotedMailRole::Forwarded => {
                if self.html.is_some() {
                    out.push_str("<br>");
                }
                self.write_words(out);
            }
            QuotedMailRole::Answered => {
                out.push_str(look.quotation());
                self.write_words(out);
                out.push_str("</blockquote>");
            }
        }
        out.push_str("</div>");
    }

    fn write_words(&self, out: &mut String) {
        match &self.html {
            Some(html) => out.push_str(html),
            None => out.push_str(&plain_html(&self.shown_text())),
        }
        if self.html.is_some() && self.is_shortened {
            out.push_str("<p>");
            escape(out, &self.words.left_out);
            out.push_str("</p>");
        }
    }

    /// The lines over it.
    fn lead(&self) -> Vec<String> {
        match self.role {
            QuotedMailRole::Answered => vec![one_line(&self.words.answered)],
            QuotedMailRole::Forwarded => {
                let mut lines = vec![
                    "---------- Forwarded message ----------".to_owned(),
                    format!("From: {}", shown_address(&self.from)),
                    format!("Date: {}", self.time()),
                    format!("Subject: {}", one_line(&self.subject)),
                    format!("To: {}", list(&self.to)),
                ];
                if !self.cc.is_empty() {
                    lines.push(format!("Cc: {}", list(&self.cc)));
                }
                lines
            }
        }
    }

    /// `Thu, 12 Nov 2026 at 09:10 UTC`: nobody knows the recipient's clock.
    fn time(&self) -> String {
        let at = Timestamp::from_millisecond(self.at).unwrap_or_default().to_zoned(TimeZone::UTC);
        at.strftime("%a, %-d %b %Y at %H:%M UTC").to_string()
    }

    fn shown_text(&self) -> Cow<'_, str> {
        let text = self.text.trim_end();
        if text.len() <= QUOTED_BYTES {
            return Cow::Borrowed(text);
        }
        let end = (0..=QUOTED_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        Cow::Owned(format!("{}\n\n{}", &text[..end], self.words.left_out))
    }
}

fn list(addresses: &[Address]) -> String {
    addresses.iter().map(shown_address).collect::<Vec<_>>().join(", ")
}

/// `Ann Lee <ann@x.example>`, in one line.
pub fn shown_address(address: &Address) -> String {
    match address.name.as_deref().map(one_line).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name} <{}>", address.email),
        None => address.email.clone(),
    }
}

fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURES: PictureUrls<'_> = PictureUrls { before: "cid:", behind: "@acme.example" };

    fn earlier(role: QuotedMailRole) -> QuotedMail {
        QuotedMail {
            role,
            from: Address::new(Some("Giulia Pellegrini"), "giulia@x.example"),
            at: 1_794_733_200_000,
            to: vec![Address::new(None, "support@acme.example")],
            cc: Vec::new(),
            subject: "October fee".into(),
            text: "It was taken twice.\n\n> 348.00 EUR".into(),
            html: None,
            is_shortened: false,
            words: EarlierWords {
                answered: "On Sun, 15 Nov 2026 at 09:00 UTC, Giulia Pellegrini \
                           <giulia@x.example> wrote:"
                    .into(),
                left_out: "[The rest is left out.]".into(),
            },
        }
    }

    #[test]
    fn a_reply_has_text_signature_and_history_in_both_twins() {
        let earlier = earlier(QuotedMailRole::Answered);
        let body = MessageBody {
            text: "You are right.",
            markdown: Some("You are **right**."),
            signature: "**Marit**\nAcme",
            earlier: Some(&earlier),
            pictures: PICTURES,
            sections: &[],
            look: MailLook::default(),
        };
        assert_eq!(
            body.plain(),
            "You are right.\n\n-- \nMarit\nAcme\n\n\
             On Sun, 15 Nov 2026 at 09:00 UTC, Giulia Pellegrini <giulia@x.example> wrote:\n\n\
             > It was taken twice.\n>\n>> 348.00 EUR\n"
        );
        let html = body.html();
        assert!(html.contains("<p>You are <strong>right</strong>.</p>"), "{html}");
        assert!(html.contains("<p><strong>Marit</strong><br>Acme</p></div>"), "{html}");
        assert!(html.contains("<blockquote class=\"gmail_quote\" type=\"cite\""), "{html}");
    }

    #[test]
    fn our_own_trimmer_leaves_only_the_words_of_a_reply_in_every_language_we_write() {
        for answered in [
            "On Sun, 15 Nov 2026 at 09:00 UTC, Giulia Pellegrini <giulia@x.example> wrote:",
            "On Sun, 15 Nov 2026 at 09:00 UTC, giulia@x.example wrote:",
            "Am So, 15. Nov. 2026 um 09:00 UTC schrieb Giulia Pellegrini <giulia@x.example>:",
            "Am Sa, 2. Mai 2026 um 23:59 UTC schrieb giulia@x.example:",
            "Am So, 15. Nov. 2026 um 09:00 UTC schrieb Ichiro Tanaka <ichiro@x.example>:",
            "في الأحد، 15 نوفمبر 2026 الساعة 09:00 UTC، كتب Giulia Pellegrini <giulia@x.example>:",
            "في الأحد، 15 نوفمبر 2026 الساعة 10:00 (Berlin)، كتب giulia@x.example:",
        ] {
            let mut earlier = earlier(QuotedMailRole::Answered);
            earlier.words.answered = answered.to_owned();
            let body = MessageBody {
                text: "You are right.",
                markdown: None,
                signature: "Marit\nAcme",
                earlier: Some(&earlier),
                pictures: PICTURES,
                sections: &[],
                look: MailLook::default(),
            };
            assert!(body.plain().contains(&format!("\n\n{answered}\n\n> It was")), "{answered}");
            assert_eq!(crate::trim(&body.plain()), "You are right.", "{answered}");
            let html = format!("Content-Type: text/html; charset=utf-8\r\n\r\n{}", body.html());
            let read = crate::parse(html.as_bytes(), crate::Envelope::default());
            assert_eq!(read.text, "You are right.", "{html}");
        }
    }

    #[test]
    fn a_very_long_mail_is_cut_and_says_so() {
        let text = "é".repeat(QUOTED_BYTES);
        let earlier = QuotedMail { text, ..earlier(QuotedMailRole::Answered) };
        let body = MessageBody {
            text: "Yes",
            markdown: None,
            signature: "",
            earlier: Some(&earlier),
            pictures: PICTURES,
            sections: &[],
            look: MailLook::default(),
        };
        let plain = body.plain();
        assert!(plain.len() < QUOTED_BYTES + 1_000, "{}", plain.len());
        assert!(plain.ends_with("> [The rest is left out.]\n"));
    }

    #[test]
    fn an_answered_mail_is_quoted_as_it_looked_and_says_where_it_was_shortened() {
        let html = Some("<div><table><tr><td>20402</td></tr></table></div>".to_owned());
        let earlier = QuotedMail { html, is_shortened: true, ..earlier(QuotedMailRole::Answered) };
        let body = MessageBody {
            text: "Yes",
            markdown: None,
            signature: "",
            earlier: Some(&earlier),
            pictures: PICTURES,
            sections: &[],
            look: MailLook::default(),
        };
        let html = body.html();
        assert!(html.contains("<td>20402</td></tr></table></div><p>[The rest is left"), "{html}");
        assert!(body.plain().contains("> It was taken twice."), "the plain twin quotes its text");
    }

    #[test]
    fn a_list_in_the_text_is_a_table_in_the_html_unless_somebody_changed_it() {
        let section = MailSection {
            lines: "We need:\n- Passport\n".into(),
            heading: "We need:".into(),
            button: "Upload".into(),
            url: "https://m.example/u/x".into(),
            ..MailSection::default()
        };
        let body = |text, markdown| MessageBody {
            text,
            markdown,
            signature: "",
            earlier: None,
            pictures: PICTURES,
            sections: std::slice::from_ref(&section),
            look: MailLook::default(),
        };
        let html = body("Hello\n\nWe need:\n- Passport\n\nBye", None).html();
        assert!(html.contains("<p>Hello</p><p>We need:</p><table"), "{html}");
        assert!(html.contains("</table><p>Bye</p></td>") && !html.contains("- Passport"), "{html}");
        let rich = body("Hello\n\nWe need:\n- Passport", Some("**Hello**")).html();
        assert!(rich.contains("<strong>Hello</strong></p><p>We need:</p><table"), "{rich}");
        let changed = body("Hello\n\nWe need:\n- Your passport", None).html();
        assert!(changed.contains("- Your passport") && !changed.contains("bgcolor"), "{changed}");
    }

    #[test]
    fn a_forwarded_mail_has_its_header_lines_and_no_marks_of_quotation() {
        let earlier = earlier(QuotedMailRole::Forwarded);
        let body = MessageBody {
            text: "Why?",
            markdown: None,
            signature: "",
            earlier: Some(&earlier),
            pictures: PICTURES,
            sections: &[],
            look: MailLook::default(),
        };
        let text = body.plain();
        assert!(text.starts_with("Why?\n\n---------- Forwarded message ----------\nFrom: Giulia"));
        assert!(
            text.contains("Subject: October fee\nTo: support@acme.example\n\nIt was"),
            "{text}"
        );
        assert!(body.html().contains("&lt;giulia@x.example&gt;<br>Date:"), "{}", body.html());
        let rich = QuotedMail { html: Some("<div><b>It</b> was</div>".into()), ..earlier.clone() };
        let rich = MessageBody { earlier: Some(&rich), ..body };
        assert!(rich.html().ends_with("<br><div><b>It</b> was</div></div></body></html>"));
        assert_eq!(rich.plain(), text, "the plain twin is the same");
    }
}
