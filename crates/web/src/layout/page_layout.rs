//! The layout of every page: the sidebar, the flash message about what just happened, and the
//! message that can still be stopped.

use actions::conversations::sidebar::Sidebar;
use actions::conversations::undo_triage;
use actions::sign_in::sessions::SignedIn;
use actions::workspace::limits;
use actions::writing::approvals::{self, ScheduledMessage};
use base::app::Cx;
use base::ids::UserId;
use base::limits::UNDO_LIVE_MS;
use db::Tx;
use quotas::warning_sentence;
use translation::{msg, t};

use crate::layout::flash::Flash;
use crate::layout::wording::{
    Avatar, DisplayTime, TimeFormat, act_words, count, undo_words, undo_words_of_software,
};
use crate::page_version::{PageVersion, PartVersion};
use crate::visitor::{CsrfToken, TOASTS, Visitor};

/// A page's title, and which entries of the menus are current on it.
#[derive(Clone, Default)]
pub struct PageLocation {
    pub title: String,
    /// The address of the navigation's current entry.
    pub current: String,
    /// The menu of the settings; empty on other pages.
    pub menu: Vec<MenuGroup>,
}

/// A group of pages in the menu of the settings.
#[derive(Clone)]
pub struct MenuGroup {
    pub title: &'static str,
    pub entries: Vec<MenuEntry>,
}

/// An entry of the menu of the settings.
#[derive(Clone)]
pub struct MenuEntry {
    pub href: &'static str,
    pub title: &'static str,
    /// What can be set on the page.
    pub holds: &'static [&'static str],
    /// Other words that people look for it by.
    pub also: &'static str,
    pub current: bool,
    /// True for what only owners and admins see; `Web::page` refuses others.
    pub for_admins: bool,
}

impl MenuGroup {
    /// In the reader's language.
    pub fn title(&self) -> &str {
        match self.title {
            // Elsewhere the word stands for a person.
            "You" => translation::text_in_context("settings", "You"),
            title => translation::text(title),
        }
    }

    /// True when the page that is shown is one of the group.
    pub fn is_current(&self) -> bool {
        self.entries.iter().any(|entry| entry.current)
    }
}

impl MenuEntry {
    /// In the reader's language.
    pub fn title(&self) -> &str {
        translation::text(self.title)
    }

    /// What can be set on the page, each in the reader's language.
    pub fn things(&self) -> impl Iterator<Item = &str> {
        self.holds.iter().map(|thing| translation::text(thing))
    }

    /// The same in one line.
    pub fn about(&self) -> String {
        self.things().collect::<Vec<_>>().join(" · ")
    }

    /// Other words for the page, in the reader's language.
    pub fn also(&self) -> &str {
        translation::text(self.also)
    }

    /// What a script compares with what is typed, beside the title.
    pub fn words(&self) -> String {
        format!("{} {}", self.also(), self.about()).to_lowercase()
    }
}

impl PageLocation {
    pub fn new(title: &str) -> PageLocation {
        PageLocation { title: title.into(), ..PageLocation::default() }
    }

    pub fn at(title: &str, current: &str) -> PageLocation {
        PageLocation { current: current.into(), ..PageLocation::new(title) }
    }

    /// True on the pages of a menu entry that only owners and admins see.
    pub fn is_for_admins(&self) -> bool {
        let mut entries = self.menu.iter().flat_map(|group| &group.entries);
        entries.any(|entry| entry.current && entry.for_admins)
    }
}

pub struct PageLayout {
    pub title: String,
    pub csrf: CsrfToken,
    /// Who reads the page.
    pub person: UserId,
    pub name: String,
    pub avatar: Avatar,
    pub workspace: String,
    pub administers: bool,
    /// For how many seconds the reader can stop what they wrote.
    pub undo_seconds: i64,
    pub views: Vec<NavEntry>,
    /// Views of what is done with, folded.
    pub more_views: Vec<NavEntry>,
    pub inboxes: Vec<NavEntry>,
    pub tags: Vec<NavEntry>,
    /// Today's next appointments.
    pub bookings: Vec<NavEntry>,
    pub calendar_current: bool,
    /// Saved searches.
    pub saved_views: Vec<NavEntry>,
    pub settings_current: bool,
    /// True while the first steps of the workspace are shown to the reader.
    pub first_steps: bool,
    pub first_steps_current: bool,
    /// The menu of the settings, with what the reader may open.
    pub menu: Vec<MenuGroup>,
    /// True while this server sends and fetches nothing.
    pub quiet: bool,
    /// What the page says above all else in a workspace with made-up mail.
    pub sample: Option<SampleLine>,
    /// What owners and admins are warned of: limits that are near, and that the workspace is a quiet copy.
    pub warnings: Vec<String>,
    pub documents_current: bool,
    pub answers_current: bool,
    pub reports_current: bool,
    pub flash: Option<Flash>,
    /// Messages that were just sent and can be stopped, the newest last.
    pub leaving: Vec<LeavingToast>,
    /// The act that the flash is about, while it can be undone: its id and what was done.
    pub act: Option<(String, String)>,
    pub times: TimeFormat,
    pub sidebar: Sidebar,
    /// What the live connection watches; empty on pages that do not change.
    pub live: String,
    /// The version of what is shown, by which a live page learns of what changed meanwhile.
    pub mark: String,
    /// The query of the list that is shown, to return to: `view=waiting`.
    pub from: String,
}

/// A look around in a sample.
pub struct SampleLine {
    /// When a demo ends.
    pub ends: Option<DisplayTime>,
    /// This browser has a session of its own to return to.
    pub leads_back: bool,
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

/// A message that was just sent, which can be stopped or let go at once.
pub struct LeavingToast {
    pub message: String,
    pub conversation: String,
    pub contact: String,
    pub leaves: String,
    pub seconds: i64,
    /// The seconds that it could be stopped in when it was sent.
    pub of: i64,
    pub iso: String,
    /// The reader may let it leave at once.
    pub may_send_now: bool,
}

/// Tags that are not folded in the navigation.
const TAGS_UNFOLDED: usize = 5;

/// How long after sending pages show that a message leaves; then it stands under *Leaving soon*.
const TOAST_MS: i64 = 8_000;

impl PageLayout {
    pub fn read(
        tx: &mut Tx<'_>,
        cx: &Cx<'_>,
        me: &SignedIn,
        visitor: &Visitor,
        location: &PageLocation,
    ) -> base::error::Result<PageLayout> {
        let sidebar = actions::conversations::sidebar::sidebar(tx, cx)?;
        let times = TimeFormat::new(cx.now, visitor.zone.clone());
        let mut leaving = Vec::new();
        for id in &visitor.undo {
            leaving.extend(approvals::under_way(tx, cx, id)?);
        }
        // The stack has a place for the flash, too.
        leaving
            .drain(..(leaving.len() + usize::from(visitor.flash.is_some())).saturating_sub(TOASTS));
        let act = match visitor.flash {
            Some(Flash::Triaged) => undo_triage::undo_offer(tx, cx)?,
            _ => None,
        };
        let name = cx.actor.name().to_owned();
        let sample = me.sample.map(|sample| SampleLine {
            ends: sample.ends_at.map(|at| times.long(at)),
            leads_back: visitor.home.is_some(),
        });
        Ok(PageLayout {
            sample,
            act: act.map(|offer| (offer.id.to_string(), act_words(&offer))),
            title: location.title.clone(),
            csrf: visitor.csrf.clone(),
            person: me.id.clone(),
            avatar: Avatar::person(&name),
            name,
            workspace: me.workspace_name.clone(),
            administers: me.administers(),
            undo_seconds: me.undo_seconds,
            views: views(VIEWS, &sidebar, &location.current),
            more_views: views(MORE_VIEWS, &sidebar, &location.current),
            inboxes: inboxes(&sidebar, &location.current),
            tags: tags(&sidebar, &location.current),
            bookings: bookings(
                &actions::conversation_bookings::next_bookings(tx, cx, times.end_of_today())?,
                &times,
            ),
            calendar_current: location.current == "/calendar",
            saved_views: saved_views(
                &actions::conversations::saved_views::list_views(tx, cx)?,
                &location.current,
            ),
            quiet: false,
            warnings: warnings(tx, cx, me)?,
            settings_current: location.current == "/settings",
            first_steps: me.is_new && me.administers(),
            first_steps_current: location.current == "/welcome",
            menu: menu(me, location),
            documents_current: location.current == "/documents",
            answers_current: location.current == "/answers",
            reports_current: location.current == "/reports",
            flash: visitor.flash,
            leaving: leaving.into_iter().filter_map(|one| toast(one, &times)).collect(),
            times,
            sidebar,
            live: String::new(),
            mark: String::new(),
            from: String::new(),
        })
    }
}

/// What is said above every page.
fn warnings(tx: &mut Tx<'_>, cx: &Cx<'_>, me: &SignedIn) -> base::error::Result<Vec<String>> {
    let mut warnings = Vec::new();
    if me.is_quiet {
        warnings.push(
            t!("This is a quiet copy: nothing is sent from it, and no mail is fetched.").into(),
        );
    }
    if me.administers() {
        for near in limits::limits_near(tx, cx)? {
            let sentence = warning_sentence(near.what, near.used.unwrap_or(0), near.hard);
            warnings.push(translation::sentence(&sentence).into_owned());
        }
    }
    Ok(warnings)
}

/// What a page shows of a message that was just sent.
fn toast(message: ScheduledMessage, times: &TimeFormat) -> Option<LeavingToast> {
    let (sends_at, waits) = (message.sends_at?, message.waits?);
    if sends_at - waits + TOAST_MS < times.now {
        return None;
    }
    Some(LeavingToast {
        message: message.id.to_string(),
        conversation: message.conversation.to_string(),
        contact: message.contact,
        leaves: match waits {
            ..=UNDO_LIVE_MS => times.leaving_to_the_second(sends_at),
            _ => times.leaving(sends_at),
        },
        seconds: (sends_at - times.now) / 1_000,
        of: waits / 1_000,
        iso: base::time::Moment(sends_at).iso(),
        may_send_now: message.may_send_now,
    })
}

fn menu(me: &SignedIn, location: &PageLocation) -> Vec<MenuGroup> {
    let groups = location.menu.iter().map(|group| {
        let entries = group.entries.iter().filter(|entry| me.administers() || !entry.for_admins);
        MenuGroup { title: group.title, entries: entries.cloned().collect() }
    });
    groups.filter(|group| !group.entries.is_empty()).collect()
}

/// How much waits for the reader: conversations that are theirs and open, and unread notes that name
/// them. Empty for nothing.
pub fn waiting_words(sidebar: &Sidebar) -> String {
    count(sidebar.mine + sidebar.mentions)
}

impl PageLayout {
    /// How much waits for the reader; empty for nothing.
    pub fn waiting(&self) -> String {
        waiting_words(&self.sidebar)
    }

    /// For how long the reader can stop what they wrote.
    pub fn undo_words(&self) -> String {
        undo_words(self.undo_seconds)
    }

    /// For how long a draft that the reader approves can be stopped.
    pub fn undo_words_after(&self, is_by_software: &bool) -> String {
        if *is_by_software { undo_words_of_software() } else { self.undo_words() }
    }

    /// The tags that the navigation names without being asked.
    pub fn first_tags(&self) -> &[NavEntry] {
        &self.tags[..self.tags.len().min(TAGS_UNFOLDED)]
    }

    /// The tags that are folded.
    pub fn more_tags(&self) -> &[NavEntry] {
        &self.tags[self.tags.len().min(TAGS_UNFOLDED)..]
    }

    /// True when one of these entries is the page that is shown.
    pub fn is_current(&self, entries: &[NavEntry]) -> bool {
        entries.iter().any(|entry| entry.current)
    }

    /// Makes the page a live one: what it watches, and the version of what it shows.
    pub fn watch_live(&mut self, live: String, shown: PartVersion, present: PartVersion) {
        self.live = live;
        self.mark = PageVersion::new(&self.sidebar, shown, present).hex();
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
    Scheduled,
    Waiting,
    Snoozed,
    Held,
    Closed,
    Spam,
    Trash,
}

/// The views with address, icon and label, in the order of a day's work.
const VIEWS: &[(SidebarView, &str, &str, &str)] = &[
    (SidebarView::Mine, "/inbox?view=mine", "you", msg!("For you")),
    (SidebarView::Mentions, "/mentions", "bell", msg!("Mentions")),
    (SidebarView::Approvals, "/approvals", "approve", msg!("To approve")),
    (SidebarView::Unassigned, "/inbox?view=unassigned", "none", msg!("Unassigned")),
    (SidebarView::Open, "/inbox?view=open", "tray", msg!("All open")),
    (SidebarView::Scheduled, "/leaving", "leaving", msg!("Leaving soon")),
    (SidebarView::Waiting, "/inbox?view=waiting", "wait", msg!("Waiting on customer")),
    (SidebarView::Snoozed, "/inbox?view=snoozed", "snooze", msg!("Snoozed")),
    (SidebarView::Held, "/inbox?view=held", "held", msg!("Held")),
];

/// The views of what is done with.
const MORE_VIEWS: &[(SidebarView, &str, &str, &str)] = &[
    (SidebarView::Closed, "/inbox?view=closed", "closed", msg!("Closed")),
    (SidebarView::Spam, "/inbox?view=spam", "spam", msg!("Spam")),
    (SidebarView::Trash, "/inbox?view=trash", "trash", msg!("Trash")),
];

fn views(
    shown: &[(SidebarView, &str, &'static str, &str)],
    sidebar: &Sidebar,
    current: &str,
) -> Vec<NavEntry> {
    let entry = |(view, href, icon, label): &(SidebarView, &str, &'static str, &str)| NavEntry {
        count: match view {
            SidebarView::Mine => count(sidebar.mine),
            SidebarView::Mentions => count(sidebar.mentions),
            SidebarView::Approvals => count(sidebar.drafts.len() as i64),
            SidebarView::Unassigned => count(sidebar.unassigned),
            SidebarView::Open if sidebar.open > 0 => sidebar.open.to_string(),
            SidebarView::Scheduled => count(sidebar.leaving.len() as i64),
            SidebarView::Waiting => count(sidebar.waiting),
            SidebarView::Snoozed => count(sidebar.snoozed),
            SidebarView::Held => count(sidebar.held),
            SidebarView::Spam => count(sidebar.spam),
            SidebarView::Open | SidebarView::Closed | SidebarView::Trash => String::new(),
        },
        href: (*href).to_owned(),
        icon,
        abbr: String::new(),
        label: translation::text(label).to_owned(),
        hot: matches!(view, SidebarView::Approvals | SidebarView::Mentions),
        current: *href == current,
    };
    shown.iter().map(entry).collect()
}

fn inboxes(sidebar: &Sidebar, current: &str) -> Vec<NavEntry> {
    let entry = |inbox: &actions::conversations::sidebar::SidebarInbox| {
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

/// The address of a search.
pub fn search_href(q: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("q", q).finish();
    format!("/search?{query}")
}

fn saved_views(
    views: &[actions::conversations::saved_views::SavedView],
    current: &str,
) -> Vec<NavEntry> {
    let entry = |view: &actions::conversations::saved_views::SavedView| {
        let href = search_href(&view.q);
        NavEntry {
            current: href == current,
            href,
            icon: if view.is_team { "search" } else { "you" },
            abbr: String::new(),
            label: view.name.clone(),
            count: String::new(),
            hot: false,
        }
    };
    views.iter().map(entry).collect()
}

fn bookings(
    next: &[actions::conversation_bookings::SidebarBooking],
    times: &TimeFormat,
) -> Vec<NavEntry> {
    let entry = |one: &actions::conversation_bookings::SidebarBooking| NavEntry {
        href: format!("/calendar/{}", one.id),
        icon: "wait",
        abbr: String::new(),
        label: format!("{} {}", times.clock(one.starts_at), one.guest_name),
        count: String::new(),
        hot: false,
        current: false,
    };
    next.iter().map(entry).collect()
}

fn tags(sidebar: &Sidebar, current: &str) -> Vec<NavEntry> {
    let entry = |tag: &actions::conversations::sidebar::SidebarTag| {
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
