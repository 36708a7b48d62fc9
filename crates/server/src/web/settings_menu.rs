//! The menu of the settings.

/// An entry of the menu. A page below one, such as that of a single inbox, belongs to it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsPage {
    You,
    People,
    Inboxes,
    Tags,
    Replies,
    Keys,
    Webhooks,
    Audit,
    Plan,
}

impl SettingsPage {
    /// In the order of the menu.
    pub const ALL: &[SettingsPage] = &[
        SettingsPage::You,
        SettingsPage::People,
        SettingsPage::Inboxes,
        SettingsPage::Tags,
        SettingsPage::Replies,
        SettingsPage::Keys,
        SettingsPage::Webhooks,
        SettingsPage::Audit,
        SettingsPage::Plan,
    ];

    pub fn title(self) -> &'static str {
        match self {
            SettingsPage::You => "You",
            SettingsPage::People => "People",
            SettingsPage::Inboxes => "Inboxes",
            SettingsPage::Tags => "Tags",
            SettingsPage::Replies => "Saved replies",
            SettingsPage::Keys => "Agents and keys",
            SettingsPage::Webhooks => "Webhooks",
            SettingsPage::Audit => "Audit log",
            SettingsPage::Plan => "Plan",
        }
    }

    pub fn href(self) -> &'static str {
        match self {
            SettingsPage::You => "/settings/you",
            SettingsPage::People => "/settings/people",
            SettingsPage::Inboxes => "/settings/inboxes",
            SettingsPage::Tags => "/settings/tags",
            SettingsPage::Replies => "/settings/replies",
            SettingsPage::Keys => "/settings/keys",
            SettingsPage::Webhooks => "/settings/webhooks",
            SettingsPage::Audit => "/settings/audit",
            SettingsPage::Plan => "/settings/plan",
        }
    }

    /// True for what only owners and admins see.
    pub fn is_for_admins(self) -> bool {
        matches!(self, SettingsPage::Keys | SettingsPage::Webhooks | SettingsPage::Audit)
    }
}
