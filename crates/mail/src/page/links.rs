//! The links of a page: where they may lead, and a mark behind those that show another domain.

use url::Url;

use super::css::RESERVED_PREFIX;
use super::node::{PageAttributes, PageElement, PageNode};
use crate::limits::{LINK_TEXT_CHARS, LINK_TITLE_CHARS};
use crate::scam::{disguised_link, link_target, shown_host};

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

/// Puts a mark behind every link whose words show another domain than it leads to, and says how many
/// they are.
pub(super) fn mark_links(nodes: Vec<PageNode>) -> (Vec<PageNode>, usize) {
    let mut marked = Vec::with_capacity(nodes.len());
    let mut count = 0;
    let mut open: Vec<OpenLink> = Vec::new();
    let mut hidden: Vec<bool> = Vec::new();
    for node in nodes {
        let mut mark = None;
        match &node {
            PageNode::Start(element) => {
                let within = hidden.last().copied().unwrap_or_default();
                hidden.push(within || element.hidden);
                if element.tag == "a" {
                    let href = element.attribute("href").unwrap_or_default().to_owned();
                    open.push(OpenLink { href, text: String::new() });
                }
            }
            PageNode::Text(text) if !hidden.last().copied().unwrap_or_default() => {
                if let Some(link) = open.last_mut() {
                    let room = LINK_TEXT_CHARS.saturating_sub(link.text.chars().count());
                    link.text.extend(text.chars().take(room));
                }
            }
            PageNode::End(tag) => {
                hidden.pop();
                mark = open.pop_if(|_| *tag == "a").and_then(|link| link.leads());
            }
            _ => {}
        }
        marked.push(node);
        if let Some(host) = mark {
            count += 1;
            let element = PageElement::ours("span", &format!("{RESERVED_PREFIX}goes"));
            marked.push(PageNode::Start(element));
            marked.push(PageNode::Text(format!("goes to {host}")));
            marked.push(PageNode::End("span"));
        }
    }
    (marked, count)
}

struct OpenLink {
    href: String,
    text: String,
}

impl OpenLink {
    /// The host to which it leads, if its words show another.
    fn leads(&self) -> Option<String> {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let disguised = disguised_link(&text, &link_target(&self.href)?)?;
        Some(shown_host(&disguised.leads))
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
