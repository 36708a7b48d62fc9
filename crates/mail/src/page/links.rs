//! The links of a page: where they may lead, and what they say about it.

use url::Url;

use super::node::PageAttributes;
use crate::limits::LINK_TITLE_CHARS;
use crate::scam::shown_host;

/// The attributes of a link: it opens a window of its own that knows nothing of ours, and tells its
/// target when it is pointed at. One that leads anywhere else than to a site, a mailbox, a telephone
/// or a place in the mail has none.
pub(super) fn link_attributes(href: &str) -> PageAttributes {
    let href = href.trim();
    if let Some(place) = href.strip_prefix('#') {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let kept = !place.is_empty() && place.chars().all(plain);
        return if kept { vec![("href", href.to_owned())] } else { PageAttributes::new() };
    }
    let Some(url) = safe_target(href) else { return PageAttributes::new() };
    vec![
        ("href", url.to_string()),
        ("target", "_blank".to_owned()),
        ("rel", "noopener noreferrer nofollow".to_owned()),
        ("title", title(&url)),
    ]
}

/// Where a link of a mail may lead; `None` for whatever would run or stay with us.
pub(crate) fn safe_target(href: &str) -> Option<Url> {
    let url = match href {
        href if href.starts_with("//") => Url::parse(&format!("https:{href}")),
        href if starts_with_www(href) => Url::parse(&format!("http://{href}")),
        href => Url::parse(href),
    };
    url.ok().filter(|url| match url.scheme() {
        "http" | "https" => url.has_host(),
        "mailto" | "tel" => !url.path().is_empty(),
        _ => false,
    })
}

fn starts_with_www(text: &str) -> bool {
    text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."))
}

/// A target as people read it: the host in its own letters if they are of one alphabet, and nothing
/// before the host that could be taken for it.
fn title(url: &Url) -> String {
    let whole = match url.host_str() {
        Some(host) if matches!(url.scheme(), "http" | "https") => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
            format!("{}://{}{port}{}{query}", url.scheme(), shown_host(host), url.path())
        }
        _ => url.to_string(),
    };
    match whole.char_indices().nth(LINK_TITLE_CHARS) {
        Some((at, _)) => format!("{}…", &whole[..at]),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn href(href: &str) -> Option<String> {
        let kept = link_attributes(href).into_iter().find(|(name, _)| *name == "href");
        kept.map(|(_, href)| href)
    }

    #[test]
    fn links_lead_to_sites_mailboxes_telephones_and_places_in_the_mail() {
        for (given, kept) in [
            ("https://x.example/a b", "https://x.example/a%20b"),
            (" HTTP://X.example ", "http://x.example/"),
            ("//x.example/a", "https://x.example/a"),
            ("www.x.example", "http://www.x.example/"),
            ("mailto:ann@x.example", "mailto:ann@x.example"),
            ("tel:+4940123", "tel:+4940123"),
            ("#top", "#top"),
        ] {
            assert_eq!(href(given).as_deref(), Some(kept), "{given}");
        }
        for given in [
            "javascript:alert(1)",
            " java\nscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "vbscript:x",
            "data:text/html,x",
            "/inbox",
            "inbox",
            "cid:a",
            "file:///etc/passwd",
            "#\"><script>",
            "blob:https://x.example/a",
            "intent://x",
            "",
        ] {
            assert_eq!(href(given), None, "{given}");
        }
    }

    #[test]
    fn the_title_is_the_real_target() {
        let title = |text: &str| title(&Url::parse(text).unwrap());
        assert_eq!(title("https://bank.example@evil.example/x?y"), "https://evil.example/x?y");
        assert_eq!(title("https://müller.de/a"), "https://müller.de/a");
        assert!(title("https://pаypal.com/").contains("xn--"));
        let long = title(&format!("https://x.example/{}", "a".repeat(1_000)));
        assert_eq!(long.chars().count(), LINK_TITLE_CHARS + 1);
    }
}
