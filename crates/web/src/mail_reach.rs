//! Whether mail reaches people: through the operator's relay, or through servers that were set up in
//! the app.

use base::ids::MailboxId;
use db::Tx;
use model::mailboxes::outgoing_servers;

use crate::Web;

/// The part of the answer that is not in the database.
#[derive(Clone, Copy)]
pub struct MailReach {
    relay: bool,
    quiet: bool,
}

impl MailReach {
    /// True if mail of the service itself reaches the team, so that links are mailed instead of
    /// shown.
    pub fn to_team(self, tx: &mut Tx<'_>, ws: i64) -> base::error::Result<bool> {
        Ok(self.relay || (!self.quiet && outgoing_servers::carries_notices(tx, ws)?))
    }

    /// True if mail of the service itself takes the operator's relay, where nobody of a workspace
    /// can read it on the way.
    pub fn by_operator(self) -> bool {
        self.relay
    }

    /// True if mail of an inbox leaves.
    pub fn leaves_inbox(
        self,
        tx: &mut Tx<'_>,
        ws: i64,
        mailbox: &MailboxId,
    ) -> base::error::Result<bool> {
        Ok(self.relay || (!self.quiet && outgoing_servers::carries(tx, ws, mailbox)?))
    }
}

impl Web {
    pub fn mail_reach(&self) -> MailReach {
        MailReach { relay: self.outgoing.reaches_people, quiet: self.quiet.is_quiet() }
    }

    /// True if a sign-in link can be mailed to somebody, in whichever workspace.
    pub async fn mails_somebody(&self) -> base::error::Result<bool> {
        let MailReach { relay, quiet } = self.mail_reach();
        if relay || quiet {
            return Ok(relay);
        }
        self.app.store.read(outgoing_servers::any).await
    }
}
