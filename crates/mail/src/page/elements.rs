//! The elements of a mail's page: which there are, and how they stand to each other.

/// The elements that a mail's page is shown with.
pub(super) const TAGS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];

/// Elements that are shown as others, because a page has no forms, no obsolete lists and nothing that
/// plays; what browsers do not show of them is hidden.
const SHOWN_AS: &[(&str, &str)] = &[
    ("audio", "span"),
    ("button", "span"),
    ("canvas", "span"),
    ("datalist", "span"),
    ("dialog", "div"),
    ("dir", "ul"),
    ("fieldset", "div"),
    ("form", "div"),
    ("label", "span"),
    ("legend", "div"),
    ("menu", "ul"),
    ("meter", "span"),
    ("nobr", "span"),
    ("noframes", "div"),
    ("progress", "span"),
    ("rp", "span"),
    ("video", "span"),
];

/// The element that a tag is shown as; `None` for one that is not.
pub(super) fn shown_as(name: &str) -> Option<&'static str> {
    let other = SHOWN_AS.iter().find(|(from, _)| *from == name).map(|(_, to)| *to);
    let name = other.unwrap_or(name);
    TAGS.iter().find(|tag| **tag == name).copied()
}

/// Elements that go on behind the end of one that they were begun in.
pub(super) fn is_formatting(tag: &str) -> bool {
    matches!(
        tag,
        "b" | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

/// What no end tag or start tag within it reaches out of.
pub(super) const CELLS: [&str; 4] = ["td", "th", "caption", "table"];

/// How deep in a table its parts stand.
pub(super) fn table_rank(tag: &str) -> Option<u8> {
    match tag {
        "tbody" | "thead" | "tfoot" | "caption" | "colgroup" | "col" => Some(1),
        "tr" => Some(2),
        "td" | "th" => Some(3),
        _ => None,
    }
}

/// The same of those that hold other parts.
pub(super) fn holding_rank(tag: &str) -> Option<u8> {
    match tag {
        "table" => Some(0),
        "tbody" | "thead" | "tfoot" => Some(1),
        "tr" => Some(2),
        _ => None,
    }
}

pub(super) fn is_void(tag: &str) -> bool {
    matches!(tag, "br" | "col" | "hr" | "img" | "wbr")
}

/// Elements whose text the tokenizer hands over as it stands and nobody is meant to read.
pub(super) fn is_skipped(name: &str) -> bool {
    matches!(name, "script" | "style" | "title" | "iframe" | "noembed" | "noscript")
}

pub(super) fn ends_paragraph(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "figcaption"
            | "figure"
            | "footer"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
}
