//! A form that was posted when its session was over: what is kept of it, and the page that it is on.

use actions::sign_in::interrupted_forms::InterruptedForm;
use base::ids::UserId;

/// Fields that are no text of a person, or are secret.
const DROPPED: &[&str] = &["csrf", "writer", "code", "token"];
const SECRET_WORDS: &[&str] = &["password", "secret", "key"];
/// Fields that only programs read, buttons and choices from a list; they are not shown.
const HIDDEN: &[&str] = &[
    "from",
    "seen",
    "kind",
    "format",
    "revision",
    "next",
    "form",
    "lock",
    "secure",
    "mailbox",
    "inboxes",
    "forwards",
    "include",
    "insert",
    "drop",
    "remove",
    "found",
    "later",
    "follow_up",
    "first",
    "show",
    "type",
    "time",
    "zone",
    "place",
];
/// How the names of checkboxes begin that stand in each line of a list.
const CHECKBOX_OF_LINE: &str = "nice-";

/// A form as it was posted, with who wrote it and where.
pub struct LeftForm {
    pub writer: UserId,
    pub form: InterruptedForm,
    /// The page that it is on.
    pub page: String,
    /// The client network that it came from.
    pub network: String,
}

impl LeftForm {
    /// `None` for a form that does not say who wrote it, or in which nothing is typed.
    pub fn of(
        page: &str,
        network: &str,
        path: &str,
        fields: &[(String, String)],
    ) -> Option<LeftForm> {
        let (_, writer) = fields.iter().find(|(name, _)| name == "writer")?;
        let writer = UserId::parse(writer)?;
        let is_kept = |name: &str| {
            !DROPPED.contains(&name) && !SECRET_WORDS.iter().any(|word| name.contains(word))
        };
        let kept: Vec<_> = fields.iter().filter(|(name, _)| is_kept(name)).collect();
        kept.iter().find(|(name, text)| is_text(name) && !text.trim().is_empty())?;
        let pairs = kept.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let fields =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let form = InterruptedForm { path: path.to_owned(), fields };
        Some(LeftForm { writer, form, page: page.to_owned(), network: network.to_owned() })
    }
}

/// True for a field that a person reads.
pub fn is_text(name: &str) -> bool {
    !HIDDEN.contains(&name) && !name.starts_with(CHECKBOX_OF_LINE)
}

/// The page that a form is on, for an address that takes nothing else.
pub fn page_of_form(path: &str) -> String {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["conversations", id, "reply" | "autosave" | "pictures" | "answer"]
        | ["conversations", id, "saved", _] => format!("/conversations/{id}?write=reply"),
        ["conversations", id, write @ ("note" | "ask" | "times")] => {
            format!("/conversations/{id}?write={write}")
        }
        [first @ ("conversations" | "approvals" | "contacts" | "calendar"), id, ..] => {
            format!("/{first}/{id}")
        }
        ["answers", "import"] => "/answers".into(),
        ["answers", id, _] => format!("/answers/{id}"),
        ["settings", area @ ("inboxes" | "webhooks" | "teams"), thing, _, ..] => {
            format!("/settings/{area}/{thing}")
        }
        ["settings", area, _, ..] => format!("/settings/{area}"),
        // A customer's page; these have nothing to do with the team's.
        ["b", "m", token, ..] => format!("/b/m/{token}"),
        [first @ ("u" | "s" | "b" | "r"), token, _, ..] => format!("/{first}/{token}"),
        [first @ ("new" | "documents" | "mentions" | "welcome" | "developers"), _, ..] => {
            format!("/{first}")
        }
        ["views", ..] => "/search".into(),
        ["sign-in" | "sign-in-link", ..] => "/sign-in".into(),
        _ => "/".into(),
    }
}
