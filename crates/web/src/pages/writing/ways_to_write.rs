//! The ways of writing in a conversation, which are the tabs of every sheet.

use actions::conversations::open_conversation::OpenConversation;
use actions::writing::autosaves::AutosaveKind;
use translation::t;

/// A way of writing.
pub struct ComposerTab {
    pub href: String,
    /// The field that it begins at.
    pub field: &'static str,
    pub label: &'static str,
    pub current: bool,
}

/// Which ways of writing a conversation has.
#[derive(Clone, Copy)]
pub struct WaysToWrite {
    /// True when a reply to all goes to more than one.
    pub has_others: bool,
    /// True when there is a message to pass on.
    pub has_mail: bool,
    /// The tab of the reply that the reader has begun, or else would begin.
    reply: &'static str,
}

impl WaysToWrite {
    pub fn of(open: &OpenConversation) -> WaysToWrite {
        let begun = open.autosave.as_ref().filter(|saved| saved.kind == AutosaveKind::Reply);
        let reply = match begun {
            Some(saved) => reply_tab(open, &saved.cc),
            None if open.has_others() => "all",
            None => "sender",
        };
        WaysToWrite { has_others: open.has_others(), has_mail: open.has_mail(), reply }
    }

    /// The tabs, of which one is current. That of the reply leads back to its own recipients.
    pub fn tabs(self, place: &str, current: &str) -> Vec<ComposerTab> {
        let mut ways = Vec::new();
        if self.has_others {
            ways.push(("all", t!("Reply all")));
        }
        ways.push(("sender", t!("Reply")));
        if self.has_mail {
            ways.push(("forward", t!("Forward")));
        }
        ways.extend([("note", t!("Note")), ("ask", t!("Documents")), ("times", t!("Times"))]);
        let reply = if matches!(current, "all" | "sender") { current } else { self.reply };
        let tab = |(way, label): (&'static str, &'static str)| ComposerTab {
            href: format!("{place}?write={}", if way == reply { "reply" } else { way }),
            field: match way {
                "forward" => "to",
                "ask" => "ask-message",
                _ => "body",
            },
            label,
            current: way == current,
        };
        ways.into_iter().map(tab).collect()
    }
}

/// The tab of a reply with these copies: to all, unless nobody of the others gets one.
pub fn reply_tab(open: &OpenConversation, cc: &str) -> &'static str {
    let others = &open.everybody.cc;
    let is_to_all = others.is_empty() || others.iter().any(|other| cc.contains(&other.email));
    if is_to_all && open.has_others() { "all" } else { "sender" }
}
