//! The files of help pages for programs: sitemap, feed, guide for language models, structured data.

use std::collections::BTreeMap;

use base::time::Moment;
use knowledge::help_pages::{HelpLink, HelpPage};
use knowledge::help_site::HelpSite;
use knowledge::page_text::summary;
use serde_json::json;

/// Characters of an answer in structured data.
const STRUCTURED_CHARS: usize = 1_000;

/// The addresses of all pages, each with its other languages (sitemaps.org, with `xhtml:link`).
pub fn sitemap(site: &HelpSite, links: &[HelpLink], base: &str) -> String {
    let mut languages: BTreeMap<&str, Vec<&HelpLink>> = BTreeMap::new();
    for link in links {
        languages.entry(&link.original).or_default().push(link);
    }
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n",
    );
    let mut homes: Vec<&str> = links.iter().map(|link| link.language.as_str()).collect();
    homes.sort_unstable();
    homes.dedup();
    for code in homes {
        xml.push_str(&format!(
            "<url><loc>{}</loc></url>\n",
            escape(&format!("{base}{}/{code}", site.root()))
        ));
    }
    for link in links {
        let url = |link: &HelpLink| {
            escape(&format!("{base}{}", site.page_path(&link.language, &link.slug)))
        };
        xml.push_str(&format!(
            "<url><loc>{}</loc><lastmod>{}</lastmod>",
            url(link),
            Moment(link.changed_at).day()
        ));
        let others = &languages[link.original.as_str()];
        if others.len() > 1 {
            for other in others {
                xml.push_str(&format!(
                    "<xhtml:link rel=\"alternate\" hreflang=\"{}\" href=\"{}\"/>",
                    escape(&other.language),
                    url(other),
                ));
            }
        }
        xml.push_str("</url>\n");
    }
    xml.push_str("</urlset>\n");
    xml
}

/// The pages that changed last (Atom, RFC 4287).
pub fn feed(site: &HelpSite, pages: &[HelpPage], base: &str) -> String {
    let root = format!("{base}{}", site.root());
    let changed = pages.first().map_or(0, |page| page.changed_at);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>{}</title><id>{}</id><updated>{}</updated><link href=\"{}\"/>\
         <link rel=\"self\" href=\"{}/feed.xml\"/><author><name>{}</name></author>\n",
        escape(&site.firm),
        escape(&root),
        Moment(changed).iso(),
        escape(&root),
        escape(&root),
        escape(&site.firm),
    );
    for page in pages {
        let url = escape(&format!("{base}{}", site.page_path(&page.language, &page.slug)));
        xml.push_str(&format!(
            "<entry xml:lang=\"{}\"><title>{}</title><id>{url}</id><link href=\"{url}\"/>\
             <published>{}</published><updated>{}</updated><summary>{}</summary></entry>\n",
            escape(&page.language),
            escape(&page.title),
            Moment(page.published_at).iso(),
            Moment(page.changed_at).iso(),
            escape(&summary(&page.plain)),
        ));
    }
    xml.push_str("</feed>\n");
    xml
}

/// The pages as Markdown for language models (llmstxt.org).
pub fn guide(site: &HelpSite, links: &[HelpLink], base: &str) -> String {
    let mut text = format!(
        "# {}\n\n> What customers of {} ask, and its answers.\n",
        line(&site.firm),
        line(&site.firm)
    );
    let mut heading = String::new();
    for link in links {
        let section = if link.section.is_empty() { "More" } else { &link.section };
        let wanted = format!("\n## {} ({})\n\n", line(section), link.language);
        if wanted != heading {
            text.push_str(&wanted);
            heading = wanted;
        }
        let url = format!("{base}{}", site.page_path(&link.language, &link.slug));
        text.push_str(&format!("- [{}]({url})\n", line(&link.title)));
    }
    text
}

/// What search engines read of a page (schema.org). It stands in a `script` element that no browser runs, so it
/// has no `<`.
pub fn structured_page(page: &HelpPage, url: &str) -> String {
    let text: String = page.plain.chars().take(STRUCTURED_CHARS).collect();
    let value = json!({
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "url": url,
        "inLanguage": page.language,
        "dateModified": Moment(page.changed_at),
        "mainEntity": [{
            "@type": "Question",
            "name": page.title,
            "acceptedAnswer": { "@type": "Answer", "text": text },
        }],
    });
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A text on one line that begins no link.
fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('[', "(").replace(']', ")")
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() && c != '\n' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
