//! The line that the next page shows after a form was sent. A cookie carries its code there.

macro_rules! flashes {
    ($($name:ident: $code:literal, $icon:literal, $text:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Flash {
            $($name),*
        }

        impl Flash {
            pub const ALL: &[Flash] = &[$(Flash::$name),*];

            /// The word that the cookie holds.
            pub fn code(self) -> &'static str {
                match self {
                    $(Flash::$name => $code),*
                }
            }

            pub fn icon(self) -> &'static str {
                match self {
                    $(Flash::$name => $icon),*
                }
            }

            pub fn text(self) -> &'static str {
                match self {
                    $(Flash::$name => $text),*
                }
            }
        }
    };
}

// Name, code in the cookie, icon, what the page says.
flashes! {
    Stopped: "stopped", "stop", "Stopped. It is a draft again, nothing was sent.";
    TakenBack: "taken-back", "stop", "Stopped, nothing was sent. You can go on writing it.";
    LeavesNow: "leaves-now", "leaving", "It leaves now.";
    NotSentNow: "not-sent-now", "warn", "It does not leave: it was stopped, is held in the queue, or failed.";
    HasLeft: "has-left", "check", "It has left already.";
    StoppedBefore: "stopped-before", "stop", "It was stopped already. Nothing was sent.";
    MayNotSend: "may-not-send", "warn", "It was not sent now: you may not send from this inbox.";
    TooLate: "too-late", "warn", "Too late: it has left already.";
    Kept: "kept", "approve", "Kept as a draft. It waits under To approve.";
    TextKept: "text-kept", "warn", "You were signed out, so nothing was sent. Your text is here.";
    Noted: "noted", "note", "Noted. Only the team sees it.";
    Discarded: "discarded", "x", "Discarded. The customer never saw it.";
    Saved: "saved", "check", "Saved.";
    ViewSaved: "view-saved", "check", "Saved. It stands in the sidebar.";
    ViewRemoved: "view-removed", "check", "Removed from the sidebar.";
    Triaged: "triaged", "check", "Done.";
    NothingTriaged: "nothing-triaged", "warn", "Nothing was changed: it was so already, or does not fit.";
    Undone: "undone", "undo", "Undone.";
    NothingToUndo: "nothing-to-undo", "warn", "There is nothing left to undo.";
    WarningRemoved: "warning-removed", "check", "The warning is removed. The scam check learns from it.";
    Released: "released", "check", "Released to the inbox.";
    ContactNoteDeleted: "contact-note-deleted", "check", "The note is deleted.";
    ContactsMerged: "contacts-merged", "check", "Merged. The addresses are one contact now.";
    ContactSeparated: "contact-separated", "check", "Separated. They are two contacts again.";
    SenderBlocked: "sender-blocked", "check", "Blocked. New mail of theirs goes to the spam.";
    SenderUnblocked: "sender-unblocked", "check", "Unblocked. New mail of theirs comes to the inbox again.";
    Gone: "gone", "warn", "Somebody else was faster: this draft is decided already.";
    AgentPaused: "agent-paused", "pause", "Paused. What it had scheduled are drafts again.";
    AgentResumed: "agent-resumed", "check", "It works again. What was stopped stays a draft.";
    AgentsStopped: "agents-stopped", "stop", "Stopped. What agents had under way are drafts again.";
    BookingStopped: "booking-stopped", "stop", "Stopped. The booking stays as it was.";
    SignedOut: "signed-out", "check", "You are signed out.";
    Role: "role", "check", "The role is changed.";
    Revoked: "revoked", "check", "Revoked. The key stopped working at once.";
    AppDisconnected: "app-disconnected", "check", "Disconnected. Its next request is refused.";
    AppScopes: "app-scopes", "check", "Changed. It applies from its next request on.";
    AppRule: "app-rule", "check", "Changed.";
    PasskeyAdded: "passkey-added", "key", "Added. It signs you in from now on.";
    PasskeyRemoved: "passkey-removed", "check", "Removed. It does not sign you in any more.";
    ProviderLinked: "provider-linked", "key", "Linked. You can sign in with it from now on.";
    ProviderUnlinked: "provider-unlinked", "check", "Unlinked. It does not sign you in any more.";
    InvitedToProvider: "invited-to-provider", "leaving", "Added. They sign in with the sign-in provider.";
    SecondStepOff: "second-step-off", "check", "Switched off. No code is asked for any more.";
    TwoSteps: "two-steps", "check", "Changed. It counts from the next sign-in on.";
    SignInReset: "sign-in-reset", "check", "Reset. Their sessions are over, and they are told by e-mail.";
    Ended: "ended", "check", "That session is over.";
    Password: "password", "check", "The password is set. Your other sessions are over.";
    PrivateOpened: "private-opened", "check", "Your private inboxes are open in this session.";
    Plan: "plan", "check", "The plan is changed.";
    ChatWebhookAdded: "chat-webhook-added", "check", "Added. Send a test to see it in the chat.";
    WebhookEvents: "webhook-events", "check", "Saved. It applies from the next event on.";
    WebhookPaused: "webhook-paused", "pause", "Paused. What is meant for it is kept in the log.";
    WebhookResumed: "webhook-resumed", "check", "Resumed. Events are delivered again.";
    WebhookTested: "webhook-tested", "check", "A test event is on its way.";
    PanelRemoved: "panel-removed", "check", "It is asked no more.";
    ItemLinked: "item-linked", "check", "Linked.";
    ItemUnlinked: "item-unlinked", "check", "The link is removed.";
    TrackerRemoved: "tracker-removed", "check", "Disconnected. Its calls are refused.";
    WebhookDeleted: "webhook-deleted", "check", "Deleted, with its log.";
    Again: "again", "again", "It is on its way once more, with the same id.";
    ResumeFirst: "resume-first", "warn", "Nothing was sent: resume the webhook first.";
    QueueHeld: "queue-held", "pause", "Held. It stays until somebody releases it.";
    QueueReleased: "queue-released", "check", "Released. It leaves when its turn comes.";
    QueueRetried: "queue-retried", "again", "It is tried again now.";
    QueueDiscarded: "queue-discarded", "x", "Discarded. It stands with the failed ones, where Retry now brings it back.";
    QueueUnchanged: "queue-unchanged", "warn", "Nothing was changed: it is being sent at this moment, is done, or does not fit.";
    ReplySaved: "reply-saved", "check", "Saved. Everyone on the team can use it.";
    ReplyDeleted: "reply-deleted", "check", "Deleted.";
    AnswerSaved: "answer-saved", "check", "Saved. Helpers and agents use it from now on.";
    AnswerChecked: "answer-checked", "check", "Looked at today: it still holds.";
    BrandingSaved: "branding-saved", "check", "Saved. Pages and mail look so from now on.";
    BrandingDarkened: "branding-darkened", "check", "Saved. The colour is darkened, so that words on it can be read.";
    HelpPagesSet: "help-pages-set", "check", "Saved. The help pages follow it now.";
    AnswerRetired: "answer-retired", "closed", "Retired. It is kept and can be used again.";
    AnswerRestored: "answer-restored", "check", "In use again.";
    DraftingSet: "drafting-set", "check", "Saved. It applies from the next mail on.";
    CustomerPageSet: "customer-page-set", "check", "Saved. It applies at once.";
    SatisfactionSet: "satisfaction-set", "check", "Saved. It applies to what is closed from now on.";
    ReportsSaved: "reports-saved", "check", "Saved. Reports follow it from now on.";
    ReportMailed: "report-mailed", "leaving", "The report is on its way to your address.";
    ReportUnderWay: "report-under-way", "warn", "A report is on its way to you already.";
    ReportUnread: "report-unread", "warn", "No report was mailed: your address is an inbox here, or nobody reads it.";
    RequestClosed: "request-closed", "closed", "Closed. The customer is not reminded any more.";
    SecureRevoked: "secure-revoked", "check", "Taken back. Its page is closed.";
    SecureExtended: "secure-extended", "check", "The page stays open for longer.";
    SecureSentAgain: "secure-sent-again", "check", "A new link is on its way. The one before it leads nowhere.";
    BookingsSaved: "bookings-saved", "check", "Saved. It counts for the next booking.";
    BookingMoved: "booking-moved", "check", "Moved. Guest and host are told.";
    BookingCancelled: "booking-cancelled", "check", "Cancelled. Guest and host are told.";
    BookingUnchanged: "booking-unchanged", "warn", "Nothing was changed: that time is not free, or it has begun.";
    FormSaved: "form-saved", "check", "Saved. The page shows it from now on.";
    FormRemoved: "form-removed", "check", "Removed. What came by it stays.";
    CaseSaved: "case-saved", "check", "Saved. The next run plays it.";
    CaseRemoved: "case-removed", "check", "Removed. What came of it stays with its runs.";
    CasesRun: "cases-run", "check", "Done. This is what came of it.";
    CasesRunning: "cases-running", "check", "The agent is at work. Each case is here when it has ended.";
    SecureSaved: "secure-saved", "check", "Saved. It applies to the next message.";
    RequestReopened: "request-reopened", "check", "Open again. The customer can add documents.";
    RequestRevoked: "request-revoked", "lock", "Taken back. The link leads nowhere from now on.";
    Corrected: "corrected", "check", "Corrected. What you wrote stays.";
    Duty: "duty", "check", "Saved. Your team and its agents can read it.";
    FollowingChoice: "following-choice", "check", "Changed.";
    NoticesSaved: "notices-saved", "check", "Saved. It applies from now on.";
    BrowserSubscribed: "browser-subscribed", "check", "This browser gets notices from now on.";
    BrowserRemoved: "browser-removed", "check", "Removed. That browser gets no more notices.";
    TestNotice: "test-notice", "check", "A test notice is on its way to your address and your browsers.";
    TooManyNotices: "too-many-notices", "warn", "Nothing was sent: too many notices within a minute. Try again.";
    Invited: "invited", "leaving", "The link is on its way to them by e-mail.";
    TagRenamed: "tag-renamed", "check", "Renamed on every conversation that has it.";
    RuleAdded: "rule-added", "check", "Saved, and switched off. See what it would have done, then switch it on.";
    RuleOn: "rule-on", "check", "Switched on. It acts from the next mail on.";
    RuleOff: "rule-off", "check", "Switched off.";
    RuleMoved: "rule-moved", "check", "Moved.";
    RuleDeleted: "rule-deleted", "check", "Deleted.";
    HoursSaved: "hours-saved", "check", "Saved. It counts from the next mail on.";
    FieldsSaved: "fields-saved", "check", "The fields are saved.";
    FieldAdded: "field-added", "check", "Added. Conversations and contacts show it.";
    FieldRemoved: "field-removed", "check", "Removed, with all its values.";
    TopicSaved: "topic-saved", "check", "Saved. New conversations are sorted by it.";
    TopicRemoved: "topic-removed", "check", "Removed, with what was learned about it.";
    TopicsMade: "topics-made", "check", "The topics are made, with the conversations as examples.";
    SortingForgotten: "sorting-forgotten", "check", "Forgotten. It learns from the next decision on.";
    AccessSaved: "access-saved", "check", "Saved. It counts from now on.";
    TeamSaved: "team-saved", "check", "Saved.";
    TeamRemoved: "team-removed", "check", "Removed.";
    InboxRenamed: "inbox-renamed", "check", "Renamed.";
    SigningKey: "signing-key", "key", "The key is made. Publish its record, so that others see it.";
    Removed: "removed", "check", "Removed. They can do nothing here any more.";
    PicturesShown: "pictures-shown", "check", "You always see the pictures of this sender from now on.";
    PicturesHidden: "pictures-hidden", "check", "Pictures of this sender are shown only when you ask for them.";
    ServiceSecret: "service-secret", "check", "Saved. Calls that it signs are taken from now on.";
    ServiceRemoved: "service-removed", "check", "Disconnected, with its key and secret.";
    SampleDeleted: "sample-deleted", "check", "Deleted. The made-up mail in it is being erased.";
    SampleLeft: "sample-left", "check", "You are back in your own workspace.";
    StepsOver: "steps-over", "check", "Put away. Everything in it is under Settings too.";
    MailboxConnected: "mailbox-connected", "check", "Connected. Its mail is being fetched now.";
    SignedInAgain: "signed-in-again", "check", "Signed in. Its mail is being fetched and sent again.";
    MailboxDisconnected: "mailbox-disconnected", "check", "Disconnected. What was fetched stays.";
    PlusTagsTested: "plus-tags-tested", "check", "The test mail left. This page says when it came back.";
    PlusTagsRefused: "plus-tags-refused", "warn", "The test mail was refused: addresses with a plus tag do not arrive there.";
    PlusTagsUntested: "plus-tags-untested", "warn", "Nothing was tested: mail of this inbox cannot leave now.";
    OutgoingSaved: "outgoing-saved", "check", "It works and is saved. Waiting mail leaves now.";
    OutgoingRemoved: "outgoing-removed", "check", "Removed, with its password.";
    InboxDeleted: "inbox-deleted", "check", "Deleted. What was in it is being erased.";
    WorkspaceDeleted: "workspace-deleted", "check", "The workspace is deleted, and is being erased.";
    RetentionSaved: "retention-saved", "check", "Saved.";
    InboxAdded: "inbox-added", "check", "The inbox is there.";
}

impl Flash {
    pub fn parse(code: &str) -> Option<Flash> {
        Flash::ALL.iter().copied().find(|flash| flash.code() == code)
    }

    /// True when something did not happen.
    pub fn is_alert(self) -> bool {
        matches!(
            self,
            Flash::TooLate
                | Flash::NotSentNow
                | Flash::MayNotSend
                | Flash::Gone
                | Flash::ResumeFirst
                | Flash::NothingTriaged
                | Flash::PlusTagsRefused
                | Flash::PlusTagsUntested
                | Flash::QueueUnchanged
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_leads_back_to_its_line() {
        for flash in Flash::ALL {
            assert_eq!(Flash::parse(flash.code()), Some(*flash));
        }
        assert_eq!(Flash::parse("nonsense"), None);
    }
}
