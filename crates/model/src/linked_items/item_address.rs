//! The address of an issue, merge request or ticket: which tracker it is of, and its short name.

use base::limits::LINK_URL_CHARS;
use url::Url;

use super::Tracker;

const GITLAB: &str = "gitlab.com";
const LINEAR: &str = "linear.app";
/// Digits of a number, and characters before it in a key such as `PROJ-4`.
const NUMBER_DIGITS: usize = 10;
const PREFIX_CHARS: usize = 20;

/// An item that a conversation can be linked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemAddress {
    pub tracker: Tracker,
    /// Such as `acme/shop#12`, `acme/shop!3` or `PROJ-4`.
    pub name: String,
    /// Its page, without what does not name it.
    pub url: String,
    /// Host and path in lower case, as [`item_key`] makes it of what the tracker tells.
    pub item: String,
}

impl ItemAddress {
    /// The item at an address; `None` for any other page. Trackers of one's own are recognised by their paths.
    pub fn parse(text: &str) -> Option<ItemAddress> {
        let text = text.trim();
        if text.chars().count() > LINK_URL_CHARS {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let is_page = matches!(url.scheme(), "https" | "http")
            && url.username().is_empty()
            && url.password().is_none();
        let path: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
        if !is_page || !path.iter().all(|part| is_plain(part)) {
            return None;
        }
        let site = Site { scheme: url.scheme(), host: host_of(&url)? };
        match site.host.as_str() {
            LINEAR => site.linear_issue(&path),
            GITLAB => site.gitlab_item(&path),
            _ => site
                .gitlab_item(&path)
                .or_else(|| site.github_item(&path))
                .or_else(|| site.jira_issue(&path)),
        }
    }
}

/// What an item is found by when its tracker tells of it: the page of its project, and the rest of its name. `None`
/// for what is no page.
pub fn item_key(page: &str, rest: &str) -> Option<String> {
    let url = Url::parse(page).ok()?;
    let key = format!("{}{}{rest}", host_of(&url)?, url.path().trim_end_matches('/'));
    let is_plain = key.bytes().all(|b| b.is_ascii_graphic());
    is_plain.then(|| key.to_lowercase())
}

/// Where a tracker is.
struct Site<'a> {
    scheme: &'a str,
    host: String,
}

impl Site<'_> {
    /// `/acme/issue/ENG-7/words-of-its-title`
    fn linear_issue(&self, path: &[&str]) -> Option<ItemAddress> {
        let [workspace, "issue", key, ..] = path else { return None };
        let name = key_of(key)?;
        let page = format!("{workspace}/issue/{name}");
        let item = format!("{}/{name}", self.host);
        Some(self.item(Tracker::Linear, name, &page, &item))
    }

    /// `/group/project/-/issues/12`, as merge request too; without the dash in earlier versions.
    fn gitlab_item(&self, path: &[&str]) -> Option<ItemAddress> {
        let is_earlier =
            |part: &&str| *part == "merge_requests" || *part == "issues" && self.host == GITLAB;
        let (project, rest) = match path.iter().position(|part| *part == "-") {
            Some(dash) => (&path[..dash], &path[dash + 1..]),
            None => path.split_at(path.iter().position(is_earlier)?),
        };
        let [kind, number, ..] = rest else { return None };
        let (sign, kind) = match *kind {
            "issues" | "work_items" => ('#', "issues"),
            "merge_requests" => ('!', "merge_requests"),
            _ => return None,
        };
        if project.len() < 2 || !is_number(number) {
            return None;
        }
        let project = project.join("/");
        let name = format!("{project}{sign}{number}");
        let (page, item) =
            (format!("{project}/-/{kind}/{number}"), format!("{}/{name}", self.host));
        Some(self.item(Tracker::GitLab, name, &page, &item))
    }

    /// `/acme/shop/issues/12` or `/acme/shop/pull/12`
    fn github_item(&self, path: &[&str]) -> Option<ItemAddress> {
        let [owner, repository, kind, number, ..] = path else { return None };
        if !matches!(*kind, "issues" | "pull") || !is_number(number) {
            return None;
        }
        let name = format!("{owner}/{repository}#{number}");
        let page = format!("{owner}/{repository}/{kind}/{number}");
        let item = format!("{}/{name}", self.host);
        Some(self.item(Tracker::GitHub, name, &page, &item))
    }

    /// `/browse/PROJ-4`, below any path
    fn jira_issue(&self, path: &[&str]) -> Option<ItemAddress> {
        let at = path.iter().position(|part| *part == "browse")?;
        let name = key_of(path.get(at + 1)?)?;
        let base: String = path[..at].iter().map(|part| format!("{part}/")).collect();
        let page = format!("{base}browse/{name}");
        let item = format!("{}/{base}{name}", self.host);
        Some(self.item(Tracker::Jira, name, &page, &item))
    }

    fn item(&self, tracker: Tracker, name: String, page: &str, item: &str) -> ItemAddress {
        let url = format!("{}://{}/{page}", self.scheme, self.host);
        ItemAddress { tracker, name, url, item: item.to_lowercase() }
    }
}

/// The host, with the port where it is not the usual one.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str().filter(|host| !host.is_empty())?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

fn is_plain(part: &str) -> bool {
    part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_number(text: &str) -> bool {
    (1..=NUMBER_DIGITS).contains(&text.len())
        && !text.starts_with('0')
        && text.bytes().all(|b| b.is_ascii_digit())
}

/// A key such as `PROJ-4`, in upper case.
fn key_of(text: &str) -> Option<String> {
    let (prefix, number) = text.rsplit_once('-')?;
    let is_prefix = (1..=PREFIX_CHARS).contains(&prefix.len())
        && prefix.starts_with(|first: char| first.is_ascii_alphabetic())
        && prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_prefix && is_number(number)).then(|| text.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_the_tracker_and_the_short_name() {
        use Tracker::*;
        for (text, tracker, name, url) in [
            ("https://github.com/acme/shop/issues/12", GitHub, "acme/shop#12", ""),
            (
                " https://github.com/acme/shop/pull/12/files?w=1#diff-1 ",
                GitHub,
                "acme/shop#12",
                "https://github.com/acme/shop/pull/12",
            ),
            ("https://git.acme.example:8443/acme/shop/issues/1", GitHub, "acme/shop#1", ""),
            ("https://gitlab.com/acme/web/shop/-/issues/7", GitLab, "acme/web/shop#7", ""),
            (
                "https://gitlab.com/acme/shop/-/work_items/7",
                GitLab,
                "acme/shop#7",
                "https://gitlab.com/acme/shop/-/issues/7",
            ),
            (
                "https://gitlab.com/acme/shop/issues/7",
                GitLab,
                "acme/shop#7",
                "https://gitlab.com/acme/shop/-/issues/7",
            ),
            ("https://code.acme.example/acme/shop/-/merge_requests/3", GitLab, "acme/shop!3", ""),
            (
                "https://acme.atlassian.net/browse/proj-4?focusedCommentId=1",
                Jira,
                "PROJ-4",
                "https://acme.atlassian.net/browse/PROJ-4",
            ),
            ("http://tickets.acme.example/jira/browse/A1_B-40", Jira, "A1_B-40", ""),
            (
                "https://linear.app/acme/issue/ENG-7/the-lamp-flickers",
                Linear,
                "ENG-7",
                "https://linear.app/acme/issue/ENG-7",
            ),
        ] {
            let found = ItemAddress::parse(text).expect(text);
            let url = if url.is_empty() { text } else { url };
            assert_eq!((found.tracker, found.name.as_str()), (tracker, name), "{text}");
            assert_eq!(found.url, url);
        }
    }

    #[test]
    fn what_is_no_page_of_an_item_has_no_name() {
        for text in [
            "",
            "acme/shop#12",
            "javascript:alert(1)",
            "ftp://github.com/acme/shop/issues/12",
            "https://ann:secret@github.com/acme/shop/issues/12",
            "https://github.com/acme/shop",
            "https://github.com/acme/shop/issues",
            "https://github.com/acme/shop/issues/new",
            "https://github.com/acme/shop/issues/012",
            "https://github.com/acme/shop/issues/12345678901",
            "https://github.com/acme/%22shop/issues/12",
            "https://gitlab.com/shop/-/issues/12",
            "https://gitlab.com/acme/shop/-/pipelines/12",
            "https://acme.atlassian.net/browse/PROJ",
            "https://acme.atlassian.net/browse/4-4",
            "https://linear.app/acme/browse/ENG-7",
            "https://linear.app/acme/issue/ENG",
        ] {
            assert_eq!(ItemAddress::parse(text), None, "{text}");
        }
        let long = format!("https://github.com/{}/shop/issues/12", "a".repeat(LINK_URL_CHARS));
        assert_eq!(ItemAddress::parse(&long), None);
    }

    #[test]
    fn what_a_tracker_tells_names_the_item_of_the_address() {
        for (text, page, rest) in [
            ("https://github.com/Acme/Shop/pull/12", "https://github.com/acme/shop", "#12"),
            (
                "http://code.acme.example/git/acme/shop/-/merge_requests/3",
                "http://code.acme.example/git/acme/shop/",
                "!3",
            ),
            ("https://acme.atlassian.net/browse/PROJ-4", "https://acme.atlassian.net", "/PROJ-4"),
            ("https://x.example:8443/jira/browse/PROJ-4", "https://x.example:8443/jira", "/PROJ-4"),
            ("https://linear.app/acme/issue/eng-7", "https://linear.app", "/ENG-7"),
        ] {
            let found = ItemAddress::parse(text).expect(text);
            assert_eq!(Some(found.item), item_key(page, rest), "{text}");
        }
        assert_eq!(item_key("github.com", "#1"), None);
        assert_eq!(item_key("https://linear.app", "/ENG\0-7"), None);
    }
}
