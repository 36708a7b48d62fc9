//! The layout of every page: the sidebar, the flash message about what just happened, and the
//! message that can still be stopped.

use db::Tx;
use inbox::Cx;
use inbox::actions::{self, Sidebar, SignedIn};

use crate::web::layout::wording::{Avatar, TimeFormat, count};
use crate::web::page_version::{PageVersion, PartVersion};
use crate::web::visitor::Visitor;

/// Where a page stands.
#[derive(Clone, Default)]
pub struct PageLocation {
    pub title: String,
    /// The address of the navigation's entry that is current.
    pub current: String,
}

impl PageLocation {
    pub fn new(title: &str) -> PageLocation {
        PageLocation { title: title.into(), current: String::new() }
    }

    pub fn at(title: &str, current: &str) -> PageLocation {
        PageLocation { title: title.into(), current: current.into() }
    }
}

pub struct PageLayout {
    pub title: String,
    pub csrf: String,
    pub name: String,
    pub avatar: Avatar,
    pub workspace: String,
    pub administers: bool,
    pub views: Vec<NavEntry>,
    pub inboxes: Vec<NavEntry>,
    pub tags: Vec<NavEntry>,
    pub settings_current: bool,
    /// True while this server sends and fetches nothing.
    pub quiet: bool,
    pub documents_current: bool,
    pub flash: Option<Flash>,
    pub undo: Option<Undo>,
    pub watch: TimeFormat,
    pub sidebar: Sidebar,
    /// What the live connection watches; empty on pages that do not change.
    pub live: String,
    /// The mark of what is shown, by which a live page hears of what changed meanwhile.
    pub mark: String,
    /// The list that is shown, to come back to: `view=waiting`.
    pub from: String,
}

pub struct NavEntry {
    pub href: String,
    pub icon: &'static str,
    /// Two letters where there is no icon.
    pub abbr: String,
    pub label: String,
    pub count: String,
    pub hot: bool,
    pub current: bool,
}

/// A letter that every page offers to stop.
pub struct Undo {
    pub message: String,
    pub conversation: String,
    pub contact: String,
    pub clock: String,
    pub seconds: i64,
    pub iso: String,
}

pub struct Flash {
    pub icon: &'static str,
    pub text: &'static str,
    /// True when something did not happen.
    pub alert: bool,
}

impl PageLayout {
    pub fn read(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        me: &SignedIn,
        visitor: &Visitor,
        location: &PageLocation,
    ) -> inbox::Result<PageLayout> {
        let sidebar = actions::sidebar(tx, cx)?;
        let watch = TimeFormat::new(cx.now, visitor.zone.clone());
        let undo = match &visitor.undo {
            Some(id) => actions::under_way(tx, cx, id)?,
            None => None,
        };
        let name = cx.actor.name().to_owned();
        Ok(PageLayout {
            title: location.title.clone(),
            csrf: visitor.csrf.clone(),
            avatar: Avatar::person(&name),
            name,
            workspace: me.workspace_name.clone(),
            administers: me.administers(),
            views: views(&sidebar, &location.current),
            inboxes: inboxes(&sidebar, &location.current),
            tags: tags(&sidebar, &location.current),
            quiet: false,
            settings_current: location.current == "/settings",
            documents_current: location.current == "/documents",
            flash: visitor.flash.as_deref().and_then(flash),
            undo: undo.map(|message| Undo {
                message: message.id.to_string(),
                conversation: message.conversation.to_string(),
                contact: message.contact,
                clock: watch.clock(message.sends_at),
                seconds: (message.sends_at - cx.now) / 1_000,
                iso: inbox::base::time::Moment(message.sends_at).iso(),
            }),
            watch,
            sidebar,
            live: String::new(),
            mark: String::new(),
            from: String::new(),
        })
    }
}

impl PageLayout {
    /// Makes the page a live one: what it watches, and the mark of what it shows.
    pub fn watch_live(&mut self, live: String, shown: PartVersion, present: PartVersion) {
        self.live = live;
        self.mark = PageVersion::new(&self.sidebar, shown, present).hex();
    }
}

/// The views, in the order of a day's work.
const VIEWS: &[(&str, &str, &str)] = &[
    ("/inbox?view=mine", "you", "For you"),
    ("/mentions", "bell", "Mentions"),
    ("/approvals", "approve", "To approve"),
    ("/inbox?view=unassigned", "none", "Unassigned"),
    ("/inbox?view=open", "tray", "All open"),
    ("/leaving", "leaving", "Leaving soon"),
    ("/inbox?view=waiting", "wait", "Waiting on customer"),
    ("/inbox?view=snoozed", "snooze", "Snoozed"),
    ("/inbox?view=held", "held", "Held"),
    ("/inbox?view=closed", "closed", "Closed"),
];

fn views(sidebar: &Sidebar, current: &str) -> Vec<NavEntry> {
    let entry = |(href, icon, label): &(&str, &'static str, &str)| NavEntry {
        count: match *icon {
            "you" => count(sidebar.mine),
            "bell" => count(sidebar.mentions),
            "approve" => count(sidebar.drafts.len() as i64),
            "none" => count(sidebar.unassigned),
            "tray" if sidebar.open > 0 => sidebar.open.to_string(),
            "leaving" => count(sidebar.leaving.len() as i64),
            "wait" => count(sidebar.waiting),
            "snooze" => count(sidebar.snoozed),
            "held" => count(sidebar.held),
            _ => String::new(),
        },
        href: (*href).to_owned(),
        icon,
        abbr: String::new(),
        label: (*label).to_owned(),
        hot: matches!(*icon, "approve" | "bell"),
        current: *href == current,
    };
    VIEWS.iter().map(entry).collect()
}

fn inboxes(sidebar: &Sidebar, current: &str) -> Vec<NavEntry> {
    let entry = |inbox: &actions::SidebarInbox| {
        let href = format!("/inbox?mailbox={}", inbox.id);
        NavEntry {
            current: href == current,
            href,
            icon: if inbox.private { "lock" } else { "" },
            abbr: inbox.name.chars().take(2).collect(),
            label: inbox.name.clone(),
            count: if inbox.open > 0 { inbox.open.to_string() } else { String::new() },
            hot: false,
        }
    };
    sidebar.inboxes.iter().map(entry).collect()
}

fn tags(sidebar: &Sidebar, current: &str) -> Vec<NavEntry> {
    let entry = |tag: &actions::SidebarTag| {
        let href = format!("/inbox?tag={}", tag.id);
        NavEntry {
            current: href == current,
            href,
            icon: "tag",
            abbr: String::new(),
            label: tag.name.clone(),
            count: String::new(),
            hot: false,
        }
    };
    sidebar.tags.iter().map(entry).collect()
}

/// The lines that follow a form, by the code in the cookie.
fn flash(code: &str) -> Option<Flash> {
    let (icon, text, alert) = match code {
        "stopped" => ("stop", "Stopped. It is a draft again, nothing was sent.", false),
        "too-late" => ("warn", "Too late: it has left already.", true),
        "kept" => ("approve", "Kept as a draft. It waits under To approve.", false),
        "noted" => ("note", "Noted. Only the team sees it.", false),
        "discarded" => ("x", "Discarded. The customer never saw it.", false),
        "saved" => ("check", "Saved.", false),
        "closed" => ("closed", "Closed.", false),
        "snoozed" => ("snooze", "Snoozed. It comes back by itself.", false),
        "released" => ("check", "Released to the inbox.", false),
        "gone" => ("warn", "Somebody else was faster: this draft is decided already.", true),
        "signed-out" => ("check", "You are signed out.", false),
        "role" => ("check", "The role is changed.", false),
        "revoked" => ("check", "Revoked. The key stopped working at once.", false),
        "ended" => ("check", "That session is over.", false),
        "password" => ("check", "The password is set. Your other sessions are over.", false),
        "private-opened" => ("check", "Your private inboxes are open in this session.", false),
        "plan" => ("check", "The plan is changed.", false),
        "webhook-paused" => ("pause", "Paused. What is meant for it is kept in the log.", false),
        "webhook-resumed" => ("check", "Resumed. Events are delivered again.", false),
        "webhook-tested" => ("check", "A test event is on its way.", false),
        "webhook-deleted" => ("check", "Deleted, with its log.", false),
        "again" => ("again", "It is on its way once more, with the same id.", false),
        "resume-first" => ("warn", "Nothing was sent: resume the webhook first.", true),
        "reply-saved" => ("check", "Saved. Everyone on the team can use it.", false),
        "reply-deleted" => ("check", "Deleted.", false),
        "request-closed" => ("closed", "Closed. The customer is not reminded any more.", false),
        "request-reopened" => ("check", "Open again. The customer can add documents.", false),
        "request-revoked" => ("lock", "Taken back. The link leads nowhere from now on.", false),
        "corrected" => ("check", "Corrected. What you wrote stays.", false),
        "mail-choice" => ("check", "Changed.", false),
        "invited" => ("leaving", "The link is on its way to them by e-mail.", false),
        "tag-renamed" => ("check", "Renamed on every conversation that has it.", false),
        "inbox-renamed" => ("check", "Renamed.", false),
        "signing-key" => {
            ("key", "The key is made. Publish its record, so that others see it.", false)
        }
        "removed" => ("check", "Removed. They can do nothing here any more.", false),
        "inbox-added" => ("check", "The inbox is there.", false),
        _ => return None,
    };
    Some(Flash { icon, text, alert })
}
