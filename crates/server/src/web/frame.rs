//! What stands around every page: the navigation, the line about what just happened, and the
//! letter that can still be stopped.

use db::Tx;
use inbox::Cx;
use inbox::people::{self, Shelves, SignedIn};

use super::flash::Flash;
use super::mark::{PageMark, PartMark};
use super::settings_menu::SettingsPage;
use super::visitor::Visitor;
use super::wording::{Seal, Watch, count};

/// Where a page stands.
#[derive(Clone, Default)]
pub struct Spot {
    pub title: String,
    /// The address of the navigation's entry that is current.
    pub current: String,
    /// The entry of the settings' menu that is current.
    pub settings: Option<SettingsPage>,
}

impl Spot {
    pub fn new(title: &str) -> Spot {
        Spot { title: title.into(), ..Spot::default() }
    }

    pub fn at(title: &str, current: &str) -> Spot {
        Spot { title: title.into(), current: current.into(), settings: None }
    }
}

pub struct Frame {
    pub title: String,
    pub csrf: String,
    pub name: String,
    pub seal: Seal,
    pub workspace: String,
    pub administers: bool,
    pub views: Vec<NavEntry>,
    pub inboxes: Vec<NavEntry>,
    pub tags: Vec<NavEntry>,
    pub settings_current: bool,
    pub settings_page: Option<SettingsPage>,
    /// True while this server sends and fetches nothing.
    pub quiet: bool,
    pub documents_current: bool,
    pub flash: Option<Flash>,
    pub undo: Option<Undo>,
    pub watch: Watch,
    pub shelves: Shelves,
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

impl Frame {
    pub fn read(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        me: &SignedIn,
        visitor: &Visitor,
        spot: &Spot,
    ) -> inbox::Result<Frame> {
        let shelves = people::shelves(tx, cx)?;
        let watch = Watch::new(cx.now, visitor.zone.clone());
        let undo = match &visitor.undo {
            Some(id) => people::under_way(tx, cx, id)?,
            None => None,
        };
        let name = cx.actor.name().to_owned();
        Ok(Frame {
            title: spot.title.clone(),
            csrf: visitor.csrf.clone(),
            seal: Seal::person(&name),
            name,
            workspace: me.workspace_name.clone(),
            administers: me.administers(),
            views: views(&shelves, &spot.current),
            inboxes: inboxes(&shelves, &spot.current),
            tags: tags(&shelves, &spot.current),
            quiet: false,
            settings_current: spot.current == "/settings",
            settings_page: spot.settings,
            documents_current: spot.current == "/documents",
            flash: visitor.flash,
            undo: undo.map(|letter| Undo {
                message: letter.id.to_string(),
                conversation: letter.conversation.to_string(),
                contact: letter.contact,
                clock: watch.clock(letter.sends_at),
                seconds: (letter.sends_at - cx.now) / 1_000,
                iso: inbox::time::Moment(letter.sends_at).iso(),
            }),
            watch,
            shelves,
            live: String::new(),
            mark: String::new(),
            from: String::new(),
        })
    }
}

impl Frame {
    /// Makes the page a live one: what it watches, and the mark of what it shows.
    pub fn watch_live(&mut self, live: String, shown: PartMark, present: PartMark) {
        self.live = live;
        self.mark = PageMark::new(&self.shelves, shown, present).hex();
    }
}

/// An entry of the sidebar that shows conversations or messages by what they wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SidebarView {
    Mine,
    Mentions,
    Approvals,
    Unassigned,
    Open,
    Leaving,
    Waiting,
    Snoozed,
    Held,
    Closed,
}

/// The views with address, icon and label, in the order of a day's work.
const VIEWS: &[(SidebarView, &str, &str, &str)] = &[
    (SidebarView::Mine, "/inbox?view=mine", "you", "For you"),
    (SidebarView::Mentions, "/mentions", "bell", "Mentions"),
    (SidebarView::Approvals, "/approvals", "approve", "To approve"),
    (SidebarView::Unassigned, "/inbox?view=unassigned", "none", "Unassigned"),
    (SidebarView::Open, "/inbox?view=open", "tray", "All open"),
    (SidebarView::Leaving, "/leaving", "leaving", "Leaving soon"),
    (SidebarView::Waiting, "/inbox?view=waiting", "wait", "Waiting on customer"),
    (SidebarView::Snoozed, "/inbox?view=snoozed", "snooze", "Snoozed"),
    (SidebarView::Held, "/inbox?view=held", "held", "Held"),
    (SidebarView::Closed, "/inbox?view=closed", "closed", "Closed"),
];

fn views(shelves: &Shelves, current: &str) -> Vec<NavEntry> {
    let entry = |(view, href, icon, label): &(SidebarView, &str, &'static str, &str)| NavEntry {
        count: match view {
            SidebarView::Mine => count(shelves.mine),
            SidebarView::Mentions => count(shelves.mentions),
            SidebarView::Approvals => count(shelves.drafts.len() as i64),
            SidebarView::Unassigned => count(shelves.unassigned),
            SidebarView::Open if shelves.open > 0 => shelves.open.to_string(),
            SidebarView::Leaving => count(shelves.leaving.len() as i64),
            SidebarView::Waiting => count(shelves.waiting),
            SidebarView::Snoozed => count(shelves.snoozed),
            SidebarView::Held => count(shelves.held),
            SidebarView::Open | SidebarView::Closed => String::new(),
        },
        href: (*href).to_owned(),
        icon,
        abbr: String::new(),
        label: (*label).to_owned(),
        hot: matches!(view, SidebarView::Approvals | SidebarView::Mentions),
        current: *href == current,
    };
    VIEWS.iter().map(entry).collect()
}

fn inboxes(shelves: &Shelves, current: &str) -> Vec<NavEntry> {
    let entry = |inbox: &people::InboxShelf| {
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
    shelves.inboxes.iter().map(entry).collect()
}

fn tags(shelves: &Shelves, current: &str) -> Vec<NavEntry> {
    let entry = |tag: &people::TagShelf| {
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
    shelves.tags.iter().map(entry).collect()
}
