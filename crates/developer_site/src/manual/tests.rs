//! What the manual as a static site promises: every link leads somewhere, no page is long, none has a script.

use std::collections::BTreeMap;

use super::{LONG_BYTES, Manual, free_anchor, headings, manual_files};

/// Bytes of the largest page.
const PAGE_BYTES: usize = 60_000;

/// The text of each page, by its path; other files are empty.
fn site() -> BTreeMap<String, String> {
    let files = manual_files().expect("a manual");
    let text = |path: &str, bytes: Vec<u8>| {
        let is_page = path.ends_with(".html");
        if is_page { String::from_utf8(bytes).expect("text") } else { String::new() }
    };
    files.into_iter().map(|file| (file.path.clone(), text(&file.path, file.bytes))).collect()
}

fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    let parts = page.match_indices(&begin).map(|(at, _)| &page[at + begin.len()..]);
    parts.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_link_and_picture_of_the_manual_leads_somewhere() {
    let site = site();
    let mut count = 0;
    for (path, page) in &site {
        for link in values(page, "href") {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { path } else { file };
            let target = site.get(file).unwrap_or_else(|| panic!("{path}: {link}"));
            let id = format!(" id=\"{anchor}\"");
            assert!(anchor.is_empty() || target.contains(&id), "{path}: {link}");
        }
        for source in values(page, "src").into_iter().chain(values(page, "srcset")) {
            assert!(site.contains_key(source), "{path}: {source}");
        }
    }
    assert!(count > 500, "the links were not found: {count}");
}

#[test]
fn a_picture_is_dark_for_readers_in_the_dark_and_has_words() {
    let mut count = 0;
    for (path, page) in site() {
        for (at, _) in page.match_indices("<img ") {
            count += 1;
            let (before, picture) = page.split_at(at);
            let light = values(picture, "src")[0];
            let dark = light.replace(".png", "-dark.png");
            let media = "media=\"(prefers-color-scheme: dark)\"";
            let source = format!("<picture><source srcset=\"{dark}\" {media}>");
            assert!(before.ends_with(&source), "{path}: {light}");
            assert!(values(picture, "alt")[0].ends_with('.'), "{path}: {light}");
        }
    }
    assert!(count >= 8, "the pictures were not found: {count}");
}

#[test]
fn a_page_of_the_manual_is_short_and_has_no_script() {
    let site = site();
    assert!(site.len() > 40, "{}", site.len());
    for (path, page) in &site {
        assert!(page.len() < PAGE_BYTES, "{path}: {} bytes", page.len());
        assert!(!page.contains("<script") && !page.contains(" style="), "{path}");
        assert!(!page.contains("javascript:"), "{path}");
    }
}

#[test]
fn every_text_is_in_the_index_and_every_heading_in_the_list() {
    let (site, manual) = (site(), Manual::read());
    let (index, list) = (&site["index.html"], &site["search.html"]);
    for text in &manual.texts {
        assert!(index.contains(&format!("href=\"{}.html\"", text.name)), "{}", text.name);
        assert!(!text.about.is_empty(), "README.md says nothing about docs/{}.md", text.name);
        for heading in &text.headings {
            let href = text.address(Some(&heading.anchor)).expect("an address");
            assert!(list.contains(&format!("href=\"{href}\"")), "{href}");
        }
    }
}

#[test]
fn a_long_text_has_a_page_for_each_section_and_a_table_of_contents() {
    let (site, manual) = (site(), Manual::read());
    let long = manual.texts.iter().find(|text| text.markdown.len() > LONG_BYTES);
    let long = long.expect("a long text");
    let whole = &site[&format!("{}.html", long.name)];
    let mut count = 0;
    for section in long.headings.iter().filter(|heading| heading.level == 2) {
        count += 1;
        let path = format!("{}.{}.html", long.name, section.anchor);
        assert!(whole.contains(&format!("href=\"{path}#{}\"", section.anchor)), "{path}");
        assert!(site[&path].contains(&format!("<h1 id=\"{}\">", section.anchor)), "{path}");
    }
    assert!(count > 3, "{}", long.name);
}

#[test]
fn headings_have_the_anchors_that_links_use() {
    let anchor = |words: &str| free_anchor(&[], words);
    assert_eq!(anchor("From a mailbox (IMAP)"), "from-a-mailbox-imap");
    assert_eq!(anchor("One person's data"), "one-persons-data");
    let found = headings("# A `b`\n\n## C\n\n```sh\n# no heading\n```\n\n## C\n");
    let anchors: Vec<&str> = found.iter().map(|heading| heading.anchor.as_str()).collect();
    assert_eq!(anchors, ["a-b", "c", "c-1"]);
}
