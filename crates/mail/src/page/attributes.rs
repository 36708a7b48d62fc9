//! The attributes of an element that stay, and what becomes of their values.

use super::css::{RESERVED_PREFIX, clean_declarations};
use super::links::link_attributes;
use super::node::PageAttributes;
use super::pictures::{PagePictures, PictureSource, is_tracker};
use crate::html::TagAttributes;
use crate::limits::{CELL_SPAN, PAGE_ATTRIBUTE_BYTES, STYLE_LENGTH_PX};

/// PageAttributes whose value may be any text.
const WORDS: &[&str] = &["alt", "dir", "lang", "title"];
/// PageAttributes whose value is a keyword or a colour.
const KEYWORDS: &[&str] =
    &["align", "bgcolor", "clear", "color", "face", "scope", "type", "valign"];
/// PageAttributes whose value is a length.
const LENGTHS: &[&str] = &[
    "border",
    "cellpadding",
    "cellspacing",
    "height",
    "hspace",
    "size",
    "start",
    "vspace",
    "width",
];
/// PageAttributes that count cells.
const SPANS: &[&str] = &["colspan", "rowspan", "span"];
/// PageAttributes that are there or not.
const FLAGS: &[&str] = &["hidden", "nowrap", "noshade", "reversed"];
/// PageAttributes that are written by the rules for what they name.
const OTHERS: &[&str] = &["class", "href", "id", "name", "rel", "src", "style", "target"];

/// Pixels up to which a picture without words only keeps others apart.
const SPACER_PX: f64 = 20.0;

/// Every attribute that a page may have.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let lists = [WORDS, KEYWORDS, LENGTHS, SPANS, FLAGS, OTHERS];
    lists.into_iter().flatten().copied()
}

/// The attributes of an element that is no picture.
pub(super) fn attributes(
    tag: &'static str,
    given: &TagAttributes,
    pictures: &mut PagePictures<'_>,
) -> PageAttributes {
    let mut kept = PageAttributes::new();
    for (name, value) in given.iter().filter_map(|(name, value)| text(name, value)) {
        match name.as_str() {
            "href" if tag == "a" => kept.extend(link_attributes(&value)),
            // A link says where it leads, and nothing else.
            "title" if tag == "a" => {}
            "name" if tag != "a" => {}
            "src" => {}
            "size" if tag == "font" => kept.extend(font_size(&value)),
            name => kept.extend(attribute(name, &value)),
        }
    }
    kept.extend(style(given, pictures).map(|style| ("style", style)));
    kept
}

/// What is shown of a picture.
pub(super) enum PictureBox {
    Picture(PageAttributes),
    /// A place of its size with its words.
    Place(PageAttributes, String),
    Nothing,
}

pub(super) fn picture(given: &TagAttributes, pictures: &mut PagePictures<'_>) -> PictureBox {
    let of = |name: &str| {
        given.iter().find_map(|(key, value)| {
            text(key, value).filter(|(key, _)| key == name).map(|(_, value)| value)
        })
    };
    let (width, height) = (of("width"), of("height"));
    let own_style = of("style").unwrap_or_default();
    let own_address = of("src").unwrap_or_default();
    let tracks = pictures.is_remote(&own_address)
        && is_tracker(width.as_deref(), height.as_deref(), &own_style);
    let source = match tracks {
        true => PictureSource::Blocked,
        false => pictures.source(&own_address),
    };
    pictures.trackers += usize::from(tracks);
    let mut kept = PageAttributes::new();
    for (name, value) in given.iter().filter_map(|(name, value)| text(name, value)) {
        let of_picture = !matches!(name.as_str(), "href" | "name" | "src");
        // A picture that nobody sees has nothing to say.
        if of_picture && !(tracks && name == "alt") {
            kept.extend(attribute(&name, &value));
        }
    }
    let style = style(given, pictures);
    if let PictureSource::Shown(address) = source {
        let says_size = width.is_some() || height.is_some() || own_style.contains("width");
        let says_size = says_size || own_style.contains("height");
        let size = pictures.size(&own_address).filter(|_| !says_size);
        let mut styles: Vec<String> = style.into_iter().collect();
        if let Some((width, height)) = size {
            kept.extend([("width", width.to_string()), ("height", height.to_string())]);
            styles.push("height:auto".to_owned());
        }
        kept.extend((!styles.is_empty()).then(|| ("style", styles.join(";"))));
        kept.insert(0, ("src", address));
        return PictureBox::Picture(kept);
    }
    place(kept, style, width.as_deref(), height.as_deref())
}

/// The place of a picture that is not shown. Its style counts for more than its size, as it does for
/// the picture.
fn place(
    kept: PageAttributes,
    style: Option<String>,
    width: Option<&str>,
    height: Option<&str>,
) -> PictureBox {
    let of = |name: &str| {
        let found = kept.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.trim()).unwrap_or_default().to_owned()
    };
    let (width, height) = (width.and_then(length), height.and_then(length));
    let mut styles: Vec<String> = Vec::new();
    for (name, value) in [("width", &width), ("height", &height)] {
        let unit = value.as_deref().map(|value| if value.ends_with('%') { "" } else { "px" });
        styles.extend(value.iter().zip(unit).map(|(value, unit)| format!("{name}:{value}{unit}")));
    }
    let px = |value: &Option<String>| value.as_deref().and_then(|value| value.parse::<f64>().ok());
    if let (Some(width), Some(height)) = (px(&width), px(&height))
        && height > 0.0
    {
        styles.push(format!("aspect-ratio:{width}/{height}"));
    }
    styles.extend(match of("align").to_ascii_lowercase().as_str() {
        side @ ("left" | "right") => Some(format!("float:{side}")),
        _ => None,
    });
    styles.extend(style);
    let (alt, class) = (of("alt"), of("class"));
    if alt.is_empty() && styles.is_empty() {
        return PictureBox::Nothing;
    }
    let narrow = |value: &Option<String>| px(value).is_some_and(|px| px <= SPACER_PX);
    let kind = match alt.is_empty() && (narrow(&width) || narrow(&height)) {
        true => "space",
        false => "picture",
    };
    let class = format!("{RESERVED_PREFIX}{kind} {class}");
    let mut attributes = vec![("class", class.trim_end().to_owned())];
    attributes.extend((!styles.is_empty()).then(|| ("style", styles.join(";"))));
    PictureBox::Place(attributes, alt)
}

/// The attributes of `<body>` and `<html>`, which a page of ours has itself.
pub(super) fn root_attributes(
    given: &TagAttributes,
    pictures: &mut PagePictures<'_>,
) -> PageAttributes {
    let mut kept = PageAttributes::new();
    let mut styles: Vec<String> = Vec::new();
    for (name, value) in given.iter().filter_map(|(name, value)| text(name, value)) {
        match name.as_str() {
            "bgcolor" if is_colour(&value) => styles.push(format!("background-color:{value}")),
            "text" if is_colour(&value) => styles.push(format!("color:{value}")),
            "leftmargin" | "marginwidth" => styles.extend(margins(&value, "left", "right")),
            "topmargin" | "marginheight" => styles.extend(margins(&value, "top", "bottom")),
            "class" | "id" | "dir" | "lang" => kept.extend(attribute(&name, &value)),
            _ => {}
        }
    }
    styles.extend(style(given, pictures));
    kept.extend((!styles.is_empty()).then(|| ("style", styles.join(";"))));
    kept
}

/// The margins that an attribute of `<body>` sets.
fn margins(value: &str, one: &str, other: &str) -> Option<String> {
    let px = length(value).filter(|value| !value.ends_with('%'))?;
    Some(format!("margin-{one}:{px}px;margin-{other}:{px}px"))
}

/// The colours that `<body>` gives to links, as a style sheet. Every rule of a mail counts for more.
pub(super) fn link_colours(given: &TagAttributes) -> String {
    let mut sheet = String::new();
    for (name, value) in given.iter().filter_map(|(name, value)| text(name, value)) {
        let state = match name.as_str() {
            "link" => "link",
            "vlink" => "visited",
            _ => continue,
        };
        if is_colour(&value) {
            sheet.push_str(&format!(":where(a:{state}){{color:{value}}}"));
        }
    }
    sheet
}

fn text(name: &[u8], value: &[u8]) -> Option<(String, String)> {
    let fits = value.len() <= PAGE_ATTRIBUTE_BYTES;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fits.then(|| (text(name).to_ascii_lowercase(), text(value)))
}

/// The style of an element, with the picture that an older attribute puts behind it.
fn style(given: &TagAttributes, pictures: &mut PagePictures<'_>) -> Option<String> {
    let mut styles: Vec<String> = Vec::new();
    for (name, value) in given.iter().filter_map(|(name, value)| text(name, value)) {
        match name.as_str() {
            "background" => {
                if let PictureSource::Shown(address) = pictures.source(&value) {
                    styles.push(format!("background-image:url('{address}')"));
                }
            }
            "style" => styles.extend(clean_declarations(&value, pictures)),
            _ => {}
        }
    }
    (!styles.is_empty()).then(|| styles.join(";"))
}

fn attribute(name: &str, value: &str) -> Option<(&'static str, String)> {
    let of = |names: &[&'static str]| names.iter().find(|known| **known == name).copied();
    if let Some(name) = of(WORDS) {
        return Some((name, value.to_owned()));
    }
    if let Some(name) = of(KEYWORDS) {
        let plain = |c: char| c.is_alphanumeric() || " #,-_'".contains(c);
        return value.chars().all(plain).then(|| (name, value.to_owned()));
    }
    if let Some(name) = of(LENGTHS) {
        return length(value).map(|value| (name, value));
    }
    if let Some(name) = of(SPANS) {
        let span = value.trim().parse::<usize>().ok()?;
        return (1..=CELL_SPAN).contains(&span).then(|| (name, span.to_string()));
    }
    if let Some(name) = of(FLAGS) {
        return Some((name, String::new()));
    }
    let name = of(&["class", "id", "name"])?;
    let theirs = |word: &&str| !word.to_ascii_lowercase().contains(RESERVED_PREFIX);
    let words: Vec<&str> = value.split_ascii_whitespace().filter(theirs).collect();
    (!words.is_empty()).then(|| (name, words.join(" ")))
}

/// The size of a font: a step of seven, or so many larger or smaller than around it.
fn font_size(value: &str) -> Option<(&'static str, String)> {
    let value = value.trim();
    let step = value.strip_prefix(['+', '-']).unwrap_or(value);
    matches!(step.as_bytes(), [b'1'..=b'7']).then(|| ("size", value.to_owned()))
}

/// A length of an attribute: a number, or one with a percent sign.
fn length(value: &str) -> Option<String> {
    let value = value.trim();
    let value = value.strip_suffix("px").unwrap_or(value).trim_end();
    let (number, unit) = match value.strip_suffix('%') {
        Some(number) => (number, "%"),
        None => (value, ""),
    };
    let number = number.parse::<f64>().ok()?;
    let most = if unit.is_empty() { STYLE_LENGTH_PX } else { STYLE_LENGTH_PX / 10.0 };
    (0.0..=most).contains(&number).then(|| format!("{number}{unit}"))
}

fn is_colour(value: &str) -> bool {
    let value = value.strip_prefix('#').unwrap_or(value);
    !value.is_empty() && value.len() <= 30 && value.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_font_may_be_larger_or_smaller_than_around_it() {
        for good in ["1", "7", "+2", "-1", " 3 "] {
            assert_eq!(font_size(good), Some(("size", good.trim().to_owned())), "{good}");
        }
        for bad in ["", "0", "8", "+", "--1", "12px", "3;"] {
            assert_eq!(font_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn lengths_are_bounded_and_never_negative() {
        for (value, expected) in [
            ("600", Some("600")),
            (" 600px ", Some("600")),
            ("100%", Some("100%")),
            ("-1", None),
            ("99999999", None),
            ("2*", None),
            ("", None),
        ] {
            assert_eq!(length(value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn names_of_ours_are_taken_off_and_spans_are_bounded() {
        assert_eq!(attribute("class", "a Mailroom-goes b"), Some(("class", "a b".into())));
        assert_eq!(attribute("id", "mailroom-x"), None);
        assert_eq!(attribute("rowspan", "65534"), None);
        assert_eq!(attribute("colspan", "2"), Some(("colspan", "2".into())));
        assert_eq!(attribute("onclick", "x"), None);
        assert_eq!(attribute("align", "left\"><x"), None);
    }
}
