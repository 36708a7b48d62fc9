//! The sites that may show a form in a frame: hosts, as the policy of its page names them.

use base::limits::{FORM_SITE_CHARS, FORM_SITES};

/// Sites as they are kept, or the first that is none: `shop.example`, `*.shop.example` or, to try it at
/// home, `http://localhost:3000`.
pub fn parse_sites(lines: &[String]) -> Result<Vec<String>, String> {
    let mut sites: Vec<String> = Vec::new();
    for line in lines.iter().map(|line| line.trim().trim_end_matches('/')) {
        if line.is_empty() {
            continue;
        }
        let site = site(line).ok_or_else(|| line.to_owned())?;
        if !sites.contains(&site) {
            sites.push(site);
        }
    }
    if sites.len() > FORM_SITES { Err(sites.swap_remove(FORM_SITES)) } else { Ok(sites) }
}

fn site(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, place) = match text.split_once("://") {
        Some((scheme @ ("http" | "https"), place)) => (scheme, place),
        Some(_) => return None,
        None => ("https", text.as_str()),
    };
    let (host, port) =
        place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port)));
    let is_port = port.is_none_or(|port| {
        (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
    };
    // A star alone would be every site.
    let is_host = name.split('.').all(is_label) && (name.contains('.') || host == "localhost");
    let is_short = text.len() <= FORM_SITE_CHARS;
    (is_short && is_port && is_host).then(|| format!("{scheme}://{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_host_and_never_everybody() {
        for (typed, kept) in [
            ("Shop.Example", "https://shop.example"),
            ("https://shop.example/", "https://shop.example"),
            ("*.shop.example", "https://*.shop.example"),
            ("http://localhost:3000", "http://localhost:3000"),
        ] {
            assert_eq!(parse_sites(&[typed.to_owned()]), Ok(vec![kept.to_owned()]));
        }
        let wrong = [
            "*",
            "*.",
            "shop",
            "shop.example; script-src *",
            "'self'",
            "shop.example/help",
            "ftp://a.b",
            "a..b",
            "https://shop.example:x",
            "*.example *.com",
        ];
        for wrong in wrong {
            assert_eq!(parse_sites(&[wrong.to_owned()]), Err(wrong.to_owned()));
        }
        assert_eq!(parse_sites(&[String::new()]), Ok(Vec::new()));
    }
}
