//! The lock of a composer: whether the message is read on a protected page.

use actions::conversations::open_conversation::OpenConversation;

/// The lock as the composer shows it.
#[derive(Clone, Debug, Default)]
pub struct ComposerLock {
    pub is_locked: bool,
    /// The inbox sends protected messages only.
    pub is_always: bool,
    /// The customer's newest message came in on a protected page.
    pub is_sticky: bool,
    /// What stays visible.
    pub subject: String,
}

impl ComposerLock {
    /// `None` where the writer may not protect this reply.
    pub fn of(open: &OpenConversation) -> Option<ComposerLock> {
        let (is_always, is_sticky) = (open.writing.always_secure, open.conversation.secure_answer);
        let is_shown = open.writing.may_protect || is_always || is_sticky;
        is_shown.then(|| ComposerLock {
            is_locked: is_always || is_sticky,
            is_always,
            is_sticky,
            subject: open.conversation.subject.clone(),
        })
    }

    /// As it was left.
    pub fn set(&mut self, is_locked: bool) {
        self.is_locked = is_locked || self.is_always;
    }
}
