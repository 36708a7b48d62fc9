//! The groups and pages of the settings, declared once: navigation, overview, search and titles follow.

use translation::{msg, t};

use crate::layout::page_layout::{MenuEntry, MenuGroup, PageLocation};

macro_rules! settings {
    ($($group:expr => {
        $($page:ident: $title:expr, $href:literal, for_admins: $for_admins:literal,
            holds: $holds:expr, also: $also:expr;)*
    })*) => {
        /// A page of the settings. One below it, such as that of a single inbox, belongs to it.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub enum SettingsPage {
            $($($page,)*)*
        }

        impl SettingsPage {
            /// Every page with its address, and whether it refuses everybody but owners and admins.
            pub const ALL: &'static [(SettingsPage, &'static str, bool)] =
                &[$($((SettingsPage::$page, $href, $for_admins),)*)*];
        }

        /// The menu as a page shows it, or the overview, which is no page of a group.
        pub fn settings_menu(current: Option<SettingsPage>) -> Vec<MenuGroup> {
            vec![$(MenuGroup {
                title: $group,
                entries: vec![$(MenuEntry {
                    href: $href,
                    title: $title,
                    holds: &$holds,
                    also: $also,
                    current: current == Some(SettingsPage::$page),
                    for_admins: $for_admins,
                }),*],
            }),*]
        }
    };
}

// Title, address, whether the pages refuse everybody but owners and admins, what can be set there, and
// other words that people look for it by.
settings! {
    msg!("You") => {
        You: msg!("Profile and sessions"), "/settings/you", for_admins: false,
            holds: [
                msg!("What you look after"), msg!("Password"), msg!("Language"), msg!("Following"),
                msg!("After closing or snoozing"), msg!("Remote pictures"), msg!("Sessions"),
            ],
            also: msg!("account, duty, log out, devices, next conversation");
        SignIn: msg!("Signing in"), "/settings/sign-in", for_admins: false,
            holds: [msg!("Passkeys"), msg!("Authenticator app"), msg!("Recovery codes")],
            also: msg!("two steps, second factor, 2FA, fingerprint");
        Notifications: msg!("Notifications"), "/settings/notifications", for_admins: false,
            holds: [
                msg!("What you are told of"), msg!("In single inboxes"), msg!("Daily digest"),
                msg!("Quiet hours"), msg!("Browsers"),
            ],
            also: msg!("alerts, push, notices, mentions, approve by mail");
        Writing: msg!("Writing"), "/settings/writing", for_admins: false,
            holds: [
                msg!("Rich or plain text"), msg!("Time to stop a message"), msg!("Signatures"),
                msg!("Sending, for everybody"),
            ],
            also: msg!("undo, delay, footer, Markdown, send now");
    }
    msg!("Team") => {
        People: msg!("People"), "/settings/people", for_admins: false,
            holds: [msg!("Roles"), msg!("Invitations"), msg!("Two steps for everybody")],
            also: msg!("users, teammates, owners, admins, members, remove, reset sign-in");
        Teams: msg!("Teams"), "/settings/teams", for_admins: true,
            holds: [msg!("Who is in which team")],
            also: msg!("groups, departments");
        Fields: msg!("Fields"), "/settings/fields", for_admins: true,
            holds: [msg!("Fields of conversations, contacts and companies")],
            also: msg!("custom, attributes, facts, number, date, choice");
        Reports: msg!("Reports by mail"), "/settings/reports", for_admins: true,
            holds: [msg!("Time zone of the workspace"), msg!("Who gets it")],
            also: msg!("weekly, monthly, schedule, figures, statistics");
    }
    msg!("Inboxes and mail") => {
        Inboxes: msg!("Inboxes"), "/settings/inboxes", for_admins: false,
            holds: [
                msg!("Connect a mailbox"), msg!("Private inboxes"), msg!("Who sees and who sends"),
                msg!("DNS records"), msg!("How long mail is kept"),
            ],
            also: msg!("addresses, IMAP, DKIM, SPF, DMARC, retention, delete, plus addresses");
        Outgoing: msg!("Outgoing mail"), "/settings/outgoing", for_admins: true,
            holds: [msg!("Server that sends your mail")],
            also: msg!("SMTP, relay, test mail");
        Tags: msg!("Tags"), "/settings/tags", for_admins: false,
            holds: [msg!("Rename or merge tags")],
            also: msg!("labels, words");
        Replies: msg!("Saved replies"), "/settings/replies", for_admins: false,
            holds: [msg!("Replies of the team and your own")],
            also: msg!("templates, canned, snippets, macros");
        Blocked: msg!("Blocked senders"), "/settings/blocked", for_admins: false,
            holds: [msg!("Addresses whose mail is spam")],
            also: msg!("block, blacklist, junk");
    }
    msg!("Customers’ pages") => {
        Branding: msg!("Logo and colour"), "/settings/branding", for_admins: true,
            holds: [msg!("How mail and customers’ pages look")],
            also: msg!("branding, look, design, theme");
        Forms: msg!("Contact forms"), "/settings/forms", for_admins: true,
            holds: [msg!("Questions of a form"), msg!("Form on your site")],
            also: msg!("website, widget, embed");
        HelpPages: msg!("Help pages"), "/settings/help", for_admins: true,
            holds: [msg!("Public answers"), msg!("Languages of the help pages")],
            also: msg!("knowledge base, FAQ");
        Bookings: msg!("Bookings"), "/settings/bookings", for_admins: false,
            holds: [
                msg!("What customers can book"), msg!("Your hours"),
                msg!("Days off and other hours"), msg!("Calendars that say when you are busy"),
                msg!("Your bookings in your calendar"),
            ],
            also: msg!("appointments, holidays, vacation, time zone, feed, ICS");
        CustomerPage: msg!("Customers’ own page"), "/settings/customer-page", for_admins: true,
            holds: [msg!("Who may open it"), msg!("Link below replies")],
            also: msg!("portal, customer account, code, deletion");
        Secure: msg!("Protected messages"), "/settings/secure", for_admins: true,
            holds: [msg!("Rules and inboxes for protected messages")],
            also: msg!("secure, encrypted, code, confidential");
        Satisfaction: msg!("Satisfaction question"), "/settings/satisfaction", for_admins: true,
            holds: [msg!("Question after closing")],
            also: msg!("survey, rating, CSAT, feedback");
    }
    msg!("Helpers and rules") => {
        Rules: msg!("Rules and hours"), "/settings/rules", for_admins: false,
            holds: [msg!("Rules"), msg!("Office hours"), msg!("Holidays"), msg!("Targets")],
            also: msg!("automation, SLA, days off, closed, away reply, working hours");
        Helpers: msg!("Topics and sorting"), "/settings/helpers", for_admins: false,
            holds: [msg!("Topics"), msg!("Urgency"), msg!("What was learned")],
            also: msg!("classify, categories, train, forget");
        Drafting: msg!("Drafting"), "/settings/drafting", for_admins: true,
            holds: [msg!("Drafts of the helper"), msg!("Language model")],
            also: msg!("suggestions, budget, calls a day");
    }
    msg!("Agents and developers") => {
        Keys: msg!("Agents and keys"), "/settings/keys", for_admins: true,
            holds: [msg!("API keys"), msg!("Limits of an agent"), msg!("Activity")],
            also: msg!("token, scopes, pause, undo, MCP, policy");
        TestCases: msg!("Test cases"), "/settings/evals", for_admins: true,
            holds: [msg!("Runs of the test cases"), msg!("Save a conversation as a case")],
            also: msg!("evals, grading, check an agent");
        Apps: msg!("Connected apps"), "/settings/apps", for_admins: false,
            holds: [msg!("Connect an app"), msg!("Who may connect apps")],
            also: msg!("OAuth, MCP, assistant");
        Webhooks: msg!("Webhooks"), "/settings/webhooks", for_admins: true,
            holds: [msg!("Endpoints and their deliveries")],
            also: msg!("events, signing secret, integration, Slack, Mattermost, Teams");
        Panel: msg!("Customer panel"), "/settings/panel", for_admins: true,
            holds: [msg!("Your shop beside a conversation")],
            also: msg!("sidebar, orders, CRM");
        LinkedItems: msg!("Linked items"), "/settings/linked-items", for_admins: true,
            holds: [msg!("GitHub, GitLab, Jira and Linear"), msg!("Opening again when an item closes")],
            also: msg!("issues, tickets, bugs, tracker");
        Services: msg!("Sending services"), "/settings/services", for_admins: true,
            holds: [msg!("Mail that your app sends")],
            also: msg!("Mailgun, Postmark, Resend, bounces, complaints");
    }
    msg!("Data and operation") => {
        Data: msg!("Data"), "/settings/data", for_admins: true,
            holds: [
                msg!("Backups"), msg!("A sample to look around in"), msg!("Delete the workspace"),
            ],
            also: msg!("export, import, demo, restore");
        Queues: msg!("Queues"), "/settings/queues", for_admins: true,
            holds: [msg!("What waits and what failed")],
            also: msg!("jobs, retry, stuck");
        Audit: msg!("Audit log"), "/settings/audit", for_admins: true,
            holds: [msg!("Who changed what")],
            also: msg!("history, changes, log");
        Plan: msg!("Plan"), "/settings/plan", for_admins: false,
            holds: [msg!("What is used"), msg!("Limits of the workspace")],
            also: msg!("billing, quota, subscription, upgrade");
    }
}

/// A page of the settings, by its entry in the menu.
pub fn location(page: SettingsPage) -> PageLocation {
    let menu = settings_menu(Some(page));
    let mut entries = menu.iter().flat_map(|group| &group.entries);
    let title = entries.find(|entry| entry.current).map_or("", MenuEntry::title);
    let place = PageLocation::at(title, "/settings");
    PageLocation { menu, ..place }
}

/// The overview, which everybody may open: its menu has what they may open further.
pub fn overview_location() -> PageLocation {
    PageLocation { menu: settings_menu(None), ..PageLocation::at(t!("Settings"), "/settings") }
}
