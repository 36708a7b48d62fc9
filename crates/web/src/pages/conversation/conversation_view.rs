//! What the page of a conversation shows of it.

use actions::conversations::open_conversation::OpenConversation;
use base::states::{Removal, Status, View};
use contact_forms::posts::FormSource;
use model::conversations::Conversation;
use translation::t;

use crate::layout::hrefs::contact_href;
use crate::layout::wording::{
    Avatar, DisplayTime, StatusLabel, TimeFormat, first_name, leaving_label, status_label,
};
use crate::pages::conversation::event_words::risk_word;
use crate::pages::conversation::snooze_times::snoozes;
use crate::pages::conversation::sorting::SortingView;
use crate::pages::conversation::targets::{TargetView, target};
use crate::pages::conversation::timeline::{self, TimelineChoice, TimelineRow};
use crate::pages::lists::conversation_list::{ConversationFilter, subject};
use crate::pages::writing::schedule_options::ScheduleOptions;
use crate::pages::writing::ways_to_write::{ComposerTab, WaysToWrite};

pub struct ConvoView {
    /// True while somebody chooses the message that is split off.
    pub is_splitting: bool,
    /// What is shown as it is.
    pub row: Conversation,
    pub id: String,
    pub subject: String,
    pub contact: String,
    pub contact_first: String,
    pub contact_href: String,
    /// The act of each button, and its words.
    pub pin: (&'static str, &'static str),
    pub follow: (&'static str, &'static str),
    pub inbox: String,
    pub status: StatusLabel,
    pub is_open: bool,
    pub is_waiting: bool,
    pub is_closed: bool,
    /// What takes it back out of the spam or the trash, when it is there.
    pub removed: Option<&'static str>,
    /// What the scam check takes it for; empty for nothing.
    pub risk: &'static str,
    pub snoozed_until: Option<DisplayTime>,
    pub snoozes: Vec<(String, String)>,
    pub assignee: Option<(Avatar, String)>,
    pub team: Vec<AssigneeChoice>,
    pub items: Vec<TimelineRow>,
    /// The part before this one.
    pub older: Option<String>,
    /// The newest part, where another is shown.
    pub newest: Option<String>,
    pub others: Vec<OtherView>,
    pub seen: i64,
    /// Its own address, beside the list.
    pub here: String,
    pub back: String,
    pub others_here: Vec<OtherHere>,
    pub ways: WaysToWrite,
    pub sorting: SortingView,
    /// The contact form that it came by.
    pub form: Option<FormSource>,
    /// The response target that is due first.
    pub target: Option<TargetView>,
    /// When a draft that is approved can leave.
    pub later: ScheduleOptions,
    /// The draft that somebody stopped while it waited for its time.
    pub stopped: String,
}

/// Somebody else who has this conversation open.
pub struct OtherHere {
    pub avatar: Avatar,
    pub does: String,
}

pub struct AssigneeChoice {
    pub to: String,
    pub name: String,
    pub avatar: Avatar,
}

pub struct OtherView {
    pub href: String,
    pub subject: String,
    pub status: &'static str,
    pub time: DisplayTime,
}

impl ConvoView {
    /// The ways of writing in it, of which one is current.
    pub fn modes(&self, current: &str, from: &str) -> Vec<ComposerTab> {
        let place = format!("/conversations/{}", self.id);
        let mut tabs = self.ways.tabs(&place, current);
        for tab in &mut tabs {
            tab.href = format!("{}&{from}", tab.href);
        }
        tabs
    }

    pub fn new(
        open: OpenConversation,
        times: &TimeFormat,
        filter: &ConversationFilter,
        choice: TimelineChoice<'_>,
    ) -> ConvoView {
        let items = timeline::items(&open, times, choice);
        let here = format!("/conversations/{}?{}", open.conversation.id, filter.full_query());
        let ways = WaysToWrite::of(&open);
        let sorting = SortingView::of(&open);
        let conversation = open.conversation;
        let contact = conversation.contact_name.clone().filter(|name| !name.is_empty());
        let contact = contact.unwrap_or_else(|| conversation.contact_email.to_string());
        let people = open.team.people.iter().map(|member| AssigneeChoice {
            to: member.id.clone(),
            avatar: Avatar::person(&member.name),
            name: member.name.clone(),
        });
        let agents = open.team.agents.iter().map(|member| AssigneeChoice {
            to: member.id.clone(),
            avatar: Avatar::agent(&member.name),
            name: member.name.clone(),
        });
        let team = people.chain(agents).collect();
        let others = open.others.iter().map(|other| OtherView {
            href: format!("/conversations/{}", other.id),
            subject: subject(&other.subject),
            status: status_label(other.status, false).text,
            time: times.short(other.last_message_at),
        });
        ConvoView {
            is_splitting: choice.is_splitting,
            id: conversation.id.to_string(),
            subject: subject(&conversation.subject),
            contact_first: first_name(&contact).to_owned(),
            contact_href: contact_href(&conversation.contact_email),
            contact,
            pin: if open.is_pinned {
                ("unpin", t!("Unpin"))
            } else {
                ("pin", t!("Pin to the top"))
            },
            follow: if open.is_followed {
                ("unfollow", t!("Unfollow"))
            } else {
                ("follow", t!("Follow"))
            },
            inbox: open.mailbox.name.clone(),
            status: match conversation.view {
                View::Leaving => leaving_label(),
                _ => status_label(conversation.status, conversation.snoozed_until.is_some()),
            },
            is_open: conversation.status == Status::Open,
            is_waiting: conversation.status == Status::Waiting,
            is_closed: conversation.status == Status::Closed,
            removed: conversation.removed.map(|removal| match removal {
                Removal::Spam => t!("Take it out of the spam"),
                Removal::Trash => t!("Take it out of the trash"),
            }),
            risk: conversation.risk.map_or("", risk_word),
            snoozed_until: conversation.snoozed_until.map(|until| times.long(until)),
            snoozes: snoozes(times),
            assignee: open.assignee.as_ref().map(|assignee| {
                let avatar = Avatar::of(Some(assignee.id.as_str()), &assignee.name);
                (avatar, assignee.name.clone())
            }),
            team,
            items,
            older: open.older.map(|cursor| format!("{here}&before={cursor}")),
            newest: choice.is_older.then_some(here.clone()),
            here,
            others: others.collect(),
            seen: open.seen.next_number,
            back: format!("/inbox?{}", filter.full_query()),
            others_here: Vec::new(),
            ways,
            sorting,
            form: open.form,
            target: target(conversation.answer_due_at, conversation.resolve_due_at, times),
            later: ScheduleOptions::default(),
            stopped: String::new(),
            row: conversation,
        }
    }
}

/// What is known of the address that somebody typed into a contact form.
pub fn proof_words(form: &FormSource) -> &'static str {
    if form.is_proven() {
        t!("By a contact form; the address is proven by a code.")
    } else {
        t!("By a contact form; nobody has proven the address.")
    }
}
