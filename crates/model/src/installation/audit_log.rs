//! Who changed what in the settings: written in the transaction of the change, and never changed.

use base::actor::Circle;
use base::app::Cx;
use base::error::Result;
use base::ids::AuditId;
use base::string_enum::string_enum;
use db::Tx;

macro_rules! actions {
    ($($action:ident: $word:literal, $did:literal;)*) => {
        string_enum! {
            /// What somebody did.
            Action { $($action = $word),* }
        }

        impl Action {
            /// What the log says between who did it and the thing.
            pub fn did(self) -> &'static str {
                match self {
                    $(Action::$action => $did),*
                }
            }
        }
    };
}

// Name, word in the database, what the log says.
actions! {
    KeyMade: "key-made", "made the key";
    KeyRevoked: "key-revoked", "revoked the key";
    KeyPolicyChanged: "key-policy-changed", "changed the limits of";
    AgentPaused: "agent-paused", "paused the agent";
    AgentResumed: "agent-resumed", "let the agent work again:";
    DraftApprovedByLink: "draft-approved-by-link", "approved by a mailed link the draft";
    DraftDiscardedByLink: "draft-discarded-by-link", "discarded by a mailed link the draft";
    AppConnected: "app-connected", "connected the app";
    AppScopesChanged: "app-scopes-changed", "changed what may be done by the app";
    AppDisconnected: "app-disconnected", "disconnected the app";
    AppTokensEnded: "app-tokens-ended", "ended the access of the app";
    AppRuleChanged: "app-rule-changed", "changed who may connect apps:";
    WebhookAdded: "webhook-added", "added the webhook";
    WebhookRotated: "webhook-rotated", "rotated the secret of the webhook";
    WebhookEventsChosen: "webhook-events-chosen", "chose the events of the webhook";
    WebhookPaused: "webhook-paused", "paused the webhook";
    WebhookResumed: "webhook-resumed", "resumed the webhook";
    WebhookDeleted: "webhook-deleted", "deleted the webhook";
    PanelRegistered: "panel-registered", "set the app of the customer panel:";
    PanelRotated: "panel-rotated", "rotated the secret of the customer panel:";
    PanelRemoved: "panel-removed", "removed the app of the customer panel:";
    TrackerConnected: "tracker-connected", "connected the issue tracker";
    TrackerSecretChanged: "tracker-secret-changed", "changed the secret of the issue tracker";
    TrackerDisconnected: "tracker-disconnected", "disconnected the issue tracker";
    ReopeningChanged: "reopening-changed", "chose whether closed items open conversations again:";
    SampleMade: "sample-made", "made the sample with made-up mail";
    SampleDeleted: "sample-deleted", "deleted the sample with made-up mail";
    PersonAdded: "person-added", "added";
    PersonRemoved: "person-removed", "removed";
    LinkMade: "link-made", "made a sign-in link for";
    RoleChanged: "role-changed", "changed the role of";
    TwoStepsChanged: "two-steps-changed", "changed who signs in with two steps:";
    SecondStepOn: "second-step-on", "set up the second step of";
    SecondStepReplaced: "second-step-replaced", "replaced the authenticator app of";
    SecondStepOff: "second-step-off", "switched off the second step of";
    RecoveryCodesMade: "recovery-codes-made", "made recovery codes for";
    RecoveryCodeUsed: "recovery-code-used", "used a recovery code of";
    PasskeyAdded: "passkey-added", "added a passkey of";
    PasskeyRemoved: "passkey-removed", "removed a passkey of";
    ProviderLinked: "provider-linked", "linked a sign-in provider to";
    ProviderUnlinked: "provider-unlinked", "unlinked the sign-in provider of";
    SignInReset: "sign-in-reset", "reset the sign-in of";
    InboxAdded: "inbox-added", "added the inbox";
    InboxRenamed: "inbox-renamed", "renamed the inbox";
    InboxAccessChanged: "inbox-access-changed", "changed who sees and sends in the inbox";
    InboxDeleted: "inbox-deleted", "deleted the inbox";
    InboxErased: "inbox-erased", "erased all of the inbox";
    RetentionChanged: "retention-changed", "changed how long mail is kept in";
    TeamMade: "team-made", "made the team";
    TeamChanged: "team-changed", "changed the team";
    TeamRemoved: "team-removed", "removed the team";
    SignatureChanged: "signature-changed", "changed the signature of";
    SendingRulesChanged: "sending-rules-changed", "changed how messages are sent:";
    SecureRulesChanged: "secure-rules-changed", "changed the rules of";
    TagRenamed: "tag-renamed", "renamed the tag";
    TagsMerged: "tags-merged", "merged the tag";
    TopicAdded: "topic-added", "added the topic";
    TopicChanged: "topic-changed", "changed the topic";
    TopicRemoved: "topic-removed", "removed the topic";
    FieldAdded: "field-added", "added the field";
    FieldRemoved: "field-removed", "removed the field";
    RuleAdded: "rule-added", "added the rule";
    RuleChanged: "rule-changed", "changed the rule";
    RuleSwitchedOn: "rule-on", "switched on the rule";
    RuleSwitchedOff: "rule-off", "switched off the rule";
    RuleMoved: "rule-moved", "moved the rule";
    RuleDeleted: "rule-deleted", "deleted the rule";
    HoursChanged: "hours-changed", "changed the office hours of";
    SortingForgotten: "sorting-forgotten", "had the sorting helper forget what it learned";
    BookingTypeAdded: "booking-type-added", "added the booking type";
    BookingTypeChanged: "booking-type-changed", "changed the booking type";
    BookingHoursChanged: "booking-hours-changed", "changed the booking hours of";
    CalendarAdded: "calendar-added", "added a calendar of";
    CalendarRemoved: "calendar-removed", "removed a calendar of";
    ContactFormAdded: "contact-form-added", "added the contact form";
    ContactFormChanged: "contact-form-changed", "changed the contact form";
    ContactFormRemoved: "contact-form-removed", "removed the contact form";
    AnswerPublished: "answer-published", "made the answer public:";
    AnswerUnpublished: "answer-unpublished", "took the answer off the help pages:";
    BrandingChanged: "branding-changed", "changed logo and colour:";
    HelpPagesChanged: "help-pages-changed", "changed the help pages:";
    PlanChanged: "plan-changed", "changed the plan to";
    WorkspaceSuspended: "workspace-suspended", "suspended the workspace";
    WorkspaceRestored: "workspace-restored", "restored the workspace from";
    WorkspaceResumed: "workspace-resumed", "resumed the workspace";
    WorkspaceLimitsChanged: "workspace-limits-changed", "changed the limits of the workspace";
    MailboxConnected: "mailbox-connected", "connected the mailbox";
    MailboxDisconnected: "mailbox-disconnected", "disconnected the mailbox";
    PlusTagsOn: "plus-tags-on", "switched on plus tags for";
    PlusTagsOff: "plus-tags-off", "switched off plus tags for";
    OutgoingServerSet: "outgoing-server-set", "set the outgoing server of";
    OutgoingServerRemoved: "outgoing-server-removed", "removed the outgoing server of";
    ServiceConnected: "service-connected", "connected the sending service";
    ServiceChanged: "service-changed", "changed the secret of the sending service";
    ServiceDisconnected: "service-disconnected", "disconnected the sending service";
    DraftingChanged: "drafting-changed", "changed the drafting of";
    SatisfactionChanged: "satisfaction-changed", "changed whether customers are asked how it was, in";
    ReportsChanged: "reports-changed", "changed the time zone and mails of reports:";
    CustomerPageChanged: "customer-page-changed", "changed the page of customers' own:";
    ContactForgotten: "contact-forgotten", "had a contact forgotten:";
    ContactsMerged: "contacts-merged", "merged the contact";
    ContactSeparated: "contact-separated", "separated the address";
    SenderBlocked: "sender-blocked", "blocked the sender";
    SenderUnblocked: "sender-unblocked", "unblocked the sender";
    QueueHeld: "queue-held", "held in the queue";
    QueueReleased: "queue-released", "released from the queue";
    QueueRetried: "queue-retried", "had tried again";
    QueueDiscarded: "queue-discarded", "discarded from the queue";
    SigningKeyMade: "signing-key-made", "made a key that signs the mail of";
}

/// Writes down that the actor did something to a thing, for those who may see the thing.
pub fn record(
    tx: &mut Tx<'_>,
    cx: &Cx<'_>,
    circle: &Circle,
    action: Action,
    thing: &str,
    detail: &str,
) -> Result<()> {
    // Sandbox things are the whole team's.
    let team = Circle::team();
    let circle = if circle.is_sandbox() { &team } else { circle };
    let actor = cx.actor.member();
    tx.exec(
        "INSERT INTO audit_log (ws, circle, id, at, actor, actor_name, action, thing, detail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            &cx.actor.ws,
            circle,
            &AuditId::new(cx.ids, cx.now),
            &cx.now,
            &actor.as_ref().map_or("", |actor| actor.as_str()),
            &cx.actor.name(),
            &action,
            &thing,
            &detail,
        ],
    )?;
    Ok(())
}
