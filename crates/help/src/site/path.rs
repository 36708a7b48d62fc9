//! The addresses below `/help`.

use knowledge::help_site::RESERVED_PARTS;
use knowledge::slugs::is_slug;
use model::messages::answers::is_language;

/// Characters of an address that can lead somewhere.
const PATH_CHARS: usize = 300;

/// What an address below `/help` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpRequest {
    /// The first page, in the language of the address or of the reader.
    Home(Option<String>),
    Article(String, String),
    Section(String, String),
    Search,
    Sitemap,
    Feed(Option<String>),
    Guide,
}

/// The part of the address that names a workspace, empty where none does, and what is asked of it. `None` for an
/// address that leads nowhere in any workspace.
pub fn parse(path: &str) -> Option<(String, HelpRequest)> {
    if path.len() > PATH_CHARS {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let has_part = parts.first().is_some_and(|first| {
        is_slug(first) && !is_language(first) && !RESERVED_PARTS.contains(first)
    });
    let part = if has_part { parts.remove(0).to_owned() } else { String::new() };
    let own = |text: &str| text.to_owned();
    let request = match parts.as_slice() {
        [] => HelpRequest::Home(None),
        ["search"] => HelpRequest::Search,
        ["sitemap.xml"] => HelpRequest::Sitemap,
        ["feed.xml"] => HelpRequest::Feed(None),
        ["llms.txt"] => HelpRequest::Guide,
        [language] if is_language(language) => HelpRequest::Home(Some(own(language))),
        [language, "feed.xml"] if is_language(language) => HelpRequest::Feed(Some(own(language))),
        [language, slug] if is_language(language) && is_slug(slug) => {
            HelpRequest::Article(own(language), own(slug))
        }
        [language, "sections", slug] if is_language(language) && is_slug(slug) => {
            HelpRequest::Section(own(language), own(slug))
        }
        _ => return None,
    };
    Some((part, request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_workspace_a_language_and_a_page() {
        let article =
            |language: &str, slug: &str| HelpRequest::Article(language.into(), slug.into());
        for (path, part, request) in [
            ("", "", HelpRequest::Home(None)),
            ("de", "", HelpRequest::Home(Some("de".into()))),
            ("de/rueckgabe", "", article("de", "rueckgabe")),
            ("acme", "acme", HelpRequest::Home(None)),
            ("acme/de/rueckgabe", "acme", article("de", "rueckgabe")),
            ("search", "", HelpRequest::Search),
            ("acme/search", "acme", HelpRequest::Search),
            ("en/sections/paying", "", HelpRequest::Section("en".into(), "paying".into())),
            ("llms.txt", "", HelpRequest::Guide),
            ("acme/sitemap.xml", "acme", HelpRequest::Sitemap),
        ] {
            assert_eq!(parse(path), Some((part.into(), request)), "{path}");
        }
        for nowhere in ["acme/de/a/b", "de/A", "de/../x", "en/a b", "a.b", &"a".repeat(301)] {
            assert_eq!(parse(nowhere), None, "{nowhere}");
        }
    }
}
