//! The roles of HTML elements in text extraction.

use super::style::CascadedStyles;

/// The role of an element in a mail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ElementRole {
    /// Its lines are quoted.
    pub quote: bool,
    /// Its content is not text, such as a script or style.
    pub silent: bool,
    /// White space in it stands as it is.
    pub preformatted: bool,
    /// It is the writer's signature.
    pub signature: bool,
    /// It announces an earlier mail.
    pub marker: bool,
    /// Everything from it on is history.
    pub boundary: bool,
}

impl ElementRole {
    /// True when the element shows that the mail client marks quoted history.
    pub fn tells_history(self) -> bool {
        self.quote || self.signature || self.marker || self.boundary
    }
}

/// The attributes by which mail programs mark what they add.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub id: String,
    pub class: String,
    /// Lower case, without white space.
    pub style: String,
    /// What the element's own attributes declare about how it looks.
    pub declared: CascadedStyles,
    /// The screens that a style block is for, lower case.
    pub media: String,
    pub kind: String,
    pub name: String,
    pub cite: bool,
    pub data_marker: String,
    pub hidden: bool,
    pub open: bool,
    pub href: Option<String>,
}

pub(super) fn role(tag: &str, attributes: &Attributes) -> ElementRole {
    ElementRole {
        quote: is_quote(tag, attributes),
        silent: is_silent(tag),
        preformatted: matches!(tag, "pre" | "textarea"),
        signature: is_signature(attributes),
        marker: has_class(attributes, &["gmail_attr", "moz-cite-prefix", "zmail_extra_hr"]),
        boundary: is_boundary(tag, attributes),
    }
}

fn is_quote(tag: &str, attributes: &Attributes) -> bool {
    if tag == "blockquote" {
        // Programs also indent the writer's own text with this element, and then draw no line.
        let indents =
            attributes.style.contains("border:none") || attributes.style.contains("border:0");
        return cites(attributes) || !indents;
    }
    attributes.class.contains("yahoo_quoted")
        || attributes.id.contains("yahoo_quoted")
        || has_class(
            attributes,
            &["protonmail_quote", "tutanota_quote", "zmail_extra", "moz-forward-container"],
        )
        || matches!(attributes.name.as_str(), "messagereplysection" | "quote")
        || attributes.data_marker == "__quoted_text__"
}

/// True for a block quotation that a mail program made.
pub(super) fn cites(attributes: &Attributes) -> bool {
    attributes.cite
        || attributes.kind == "cite"
        || attributes.class.contains("quote")
        || attributes.class.contains("cite")
}

fn is_signature(attributes: &Attributes) -> bool {
    has_class(
        attributes,
        &["gmail_signature", "moz-signature", "protonmail_signature_block", "protonmail_signature"],
    ) || matches!(
        attributes.id.as_str(),
        "applemailsignature"
            | "ms-outlook-mobile-signature"
            | "mail-app-auto-default-signature"
            | "ymail_android_signature"
    ) || attributes.name == "messagesignaturesection"
        || attributes.data_marker == "__sig_pre__"
        || attributes.data_marker == "__sig_post__"
}

fn is_boundary(tag: &str, attributes: &Attributes) -> bool {
    let named = matches!(
        attributes.id.as_str(),
        "appendonsend"
            | "divrplyfwdmsg"
            | "x_divrplyfwdmsg"
            | "mail-editor-reference-message-container"
            | "olk_src_body_section"
            | "stopspelling"
            | "zwchr"
    );
    let style = attributes.style.as_str();
    let desktop = tag == "div"
        && style.contains("border:none;border-top:solid#")
        && style.contains("padding:3.0pt0");
    let windows_mail = tag == "div" && style.contains("border-top-color:rgb(229,229,229)");
    named || desktop || windows_mail || attributes.data_marker == "__divider__"
}

fn is_silent(tag: &str) -> bool {
    matches!(
        tag,
        "head"
            | "style"
            | "script"
            | "title"
            | "template"
            | "noscript"
            | "svg"
            | "select"
            | "iframe"
            | "noembed"
    )
}

/// True for an element whose text a browser does not show; `is_open` for one that says so of itself.
pub(crate) fn shows_nothing(tag: &str, is_open: bool) -> bool {
    match tag {
        "audio" | "canvas" | "datalist" | "meter" | "noframes" | "progress" | "rp" | "video" => {
            true
        }
        "dialog" => !is_open,
        _ => false,
    }
}

pub(super) fn has_class(attributes: &Attributes, classes: &[&str]) -> bool {
    attributes.class.split_ascii_whitespace().any(|class| classes.contains(&class))
}

pub(super) fn is_void(tag: &str) -> bool {
    matches!(
        tag,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Elements that begin and end a line.
pub(crate) fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "html"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "tbody"
            | "tfoot"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// Elements with a blank line before and after.
pub(super) fn is_paragraph(tag: &str) -> bool {
    matches!(tag, "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "pre" | "dl")
}

/// Elements that end when another of the same kind begins, their end tags being optional.
pub(super) fn closes_itself(tag: &str) -> bool {
    matches!(tag, "p" | "li" | "dt" | "dd" | "option")
}
