//! A tidy page made safe: nothing in it acts, and every address in it is one that may be there.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ammonia::{Builder, UrlRelative};
use url::Url;

use super::PageAddresses;
use super::tidy::TAGS;

/// What a mail's page is usually laid out with. Nothing here fetches, moves over other things or
/// acts.
const STYLES: &[&str] = &[
    "background-color",
    "border",
    "border-bottom",
    "border-collapse",
    "border-color",
    "border-left",
    "border-radius",
    "border-right",
    "border-spacing",
    "border-style",
    "border-top",
    "border-width",
    "color",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "height",
    "letter-spacing",
    "line-height",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "max-width",
    "min-width",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "text-align",
    "text-decoration",
    "text-transform",
    "vertical-align",
    "white-space",
    "width",
];

/// `tidy` comes from [`super::tidy::tidy`]; `own` has the number of each picture that the mail
/// brought, by its Content-ID.
pub(super) fn clean(
    tidy: &str,
    own: HashMap<String, usize>,
    addresses: &PageAddresses<'_>,
) -> String {
    let (prefix, host) = (addresses.pictures.to_owned(), addresses.host.to_ascii_lowercase());
    let mut builder = Builder::default();
    builder
        .tags(TAGS.iter().copied().collect())
        .add_tag_attributes("font", ["color", "face", "size"])
        .add_tag_attributes("table", ["cellpadding", "cellspacing", "border", "width", "bgcolor"])
        .add_tag_attributes("td", ["width", "height", "bgcolor", "valign"])
        .add_tag_attributes("tr", ["bgcolor", "valign"])
        .add_generic_attributes(["style", "align", "dir"])
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel", "cid"]))
        // Those that are not ours are dropped below.
        .url_relative(UrlRelative::PassThrough)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .attribute_filter(move |tag, name, value| match (tag, name) {
            ("img", "src") => picture(value, &own, &prefix, &host),
            (_, "src") => None,
            ("a", "href") if has_scheme(value, "cid:") || Url::parse(value).is_err() => None,
            (_, "style") => plain_style(value).map(Cow::Owned),
            _ => Some(Cow::Borrowed(value)),
        });
    builder.clean(tidy).to_string()
}

/// The declarations of a style that only lay out and colour; `None` when none is left. Whatever could
/// name a file, escape or nest is dropped with its declaration.
fn plain_style(style: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " #%.,-'\"!".contains(c);
    let kept: Vec<String> = style
        .split(';')
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .filter(|(name, _)| STYLES.contains(&name.as_str()))
        .filter(|(_, value)| {
            let colour = ["rgb(", "rgba(", "hsl(", "hsla("]
                .iter()
                .find_map(|start| value.strip_prefix(start)?.strip_suffix(')'));
            let closed = ['\'', '"'].iter().all(|quote| value.matches(*quote).count() % 2 == 0);
            !value.is_empty() && closed && colour.unwrap_or(value).chars().all(plain)
        })
        .map(|(name, value)| format!("{name}:{value}"))
        .collect();
    (!kept.is_empty()).then(|| kept.join(";"))
}

/// A picture's address: with us where the mail brought it, elsewhere by https otherwise. A mail that
/// names a picture at our own host wants us to fetch our own pages.
fn picture<'v>(
    value: &'v str,
    own: &HashMap<String, usize>,
    prefix: &str,
    host: &str,
) -> Option<Cow<'v, str>> {
    if has_scheme(value, "cid:") {
        let id = percent_decoded(&value["cid:".len()..]);
        return own.get(&id).map(|number| Cow::Owned(format!("{prefix}/{number}")));
    }
    let url = Url::parse(value).ok().filter(|url| url.scheme() == "https")?;
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    let same_port = url.port().is_none_or(|named| named.to_string() == port);
    let ours = same_port && url.host_str().is_none_or(|named| named.eq_ignore_ascii_case(name));
    (!ours).then_some(Cow::Borrowed(value))
}

fn has_scheme(value: &str, scheme: &str) -> bool {
    value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// A Content-ID as a `cid:` address writes it (RFC 2392).
fn percent_decoded(id: &str) -> String {
    let bytes = id.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = id.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], code) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_keeps_what_only_lays_out_and_colours() {
        for (style, kept) in [
            ("color: red; FONT-SIZE: 12px", Some("color:red;font-size:12px")),
            ("color: rgb(1, 2, 3)", Some("color:rgb(1, 2, 3)")),
            ("color: expression(alert(1)); width: 10%", Some("width:10%")),
            ("background-color: url(https://e.example/x)", None),
            ("color: \\75rl(x)", None),
            ("font-family: 'a;b'; color: #fff", Some("color:#fff")),
            ("font-family: 'Open Sans', serif", Some("font-family:'Open Sans', serif")),
            ("position: fixed", None),
            ("", None),
        ] {
            assert_eq!(plain_style(style).as_deref(), kept, "{style}");
        }
    }

    #[test]
    fn a_picture_is_at_its_own_address_or_elsewhere_by_https() {
        let own = HashMap::from([("a@b c".to_owned(), 3)]);
        let at = |value: &str| picture(value, &own, "/p", "desk.example:8443").map(Cow::into_owned);
        assert_eq!(at("cid:a@b%20c").as_deref(), Some("/p/3"));
        assert_eq!(at("CID:a@b c").as_deref(), Some("/p/3"));
        assert_eq!(at("cid:other"), None);
        assert_eq!(at("cid:a%"), None);
        assert_eq!(at("https://x.example/a.png").as_deref(), Some("https://x.example/a.png"));
        assert_eq!(at("http://x.example/a.png"), None);
        assert_eq!(at("https://desk.example/inbox"), None);
        assert_eq!(at("https://DESK.example:8443/inbox"), None);
        let other = "https://desk.example:9000/a.png";
        assert_eq!(at(other).as_deref(), Some(other), "another server of the same machine");
    }
}
