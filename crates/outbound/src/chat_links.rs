//! The links under a message of a chat: each leads to one act on one conversation, for a while. A link alone does
//! nothing: its page asks whoever opens it to sign in, and then to press a button.

use base::app::Cx;
use base::error::{Error, Result};
use base::limits::CHAT_LINK_MS;
use base::string_enum::string_enum;
use db::Tx;
use model::guests::guest_tokens::{keyed_digest, known_keyed_digest};
use model::webhooks::webhook_signing::are_same;
use serde::Deserialize;

string_enum! {
    /// What a link leads to.
    ChatAct { Approve = "approve", Assign = "assign", Close = "close" }
}

/// A link that this workspace signed.
#[derive(Clone, Debug)]
pub struct ChatLink {
    pub act: ChatAct,
    /// The id of the conversation, or of the draft that is to be approved.
    pub target: String,
    pub expires_at: i64,
}

/// The parts of a link's address, not verified yet.
#[derive(Clone, Deserialize)]
pub struct ChatLinkAddress {
    act: String,
    target: String,
    until: String,
    signature: String,
}

base::debug_without_secrets!(ChatLinkAddress { act, target, until });

impl ChatLinkAddress {
    pub fn path(&self) -> String {
        let ChatLinkAddress { act, target, until, signature } = self;
        format!("/from-chat/{act}/{target}/{until}/{signature}")
    }
}

/// The address of a link that works from now on for a while.
pub fn make(tx: &mut Tx<'_>, cx: &Cx<'_>, act: ChatAct, target: &str) -> Result<String> {
    let link = ChatLink { act, target: target.to_owned(), expires_at: cx.now + CHAT_LINK_MS };
    let address = ChatLinkAddress {
        act: act.as_str().to_owned(),
        signature: hex(keyed_digest(tx, cx, &link.signed_text())?),
        until: link.expires_at.to_string(),
        target: link.target,
    };
    Ok(format!("{}{}", cx.public_url, address.path()))
}

impl ChatLink {
    /// The link with an address. Every one that the workspace of the reader did not sign gives the same error.
    pub fn find(tx: &mut Tx<'_>, cx: &Cx<'_>, address: &ChatLinkAddress) -> Result<ChatLink> {
        let known = ChatAct::parse(&address.act).zip(address.until.parse::<i64>().ok());
        let (act, expires_at) = known.ok_or(Error::NotFound("page"))?;
        let link = ChatLink { act, target: address.target.clone(), expires_at };
        let signed = known_keyed_digest(tx, cx, &link.signed_text())?.map(hex);
        let given = address.signature.as_bytes();
        let is_ours = signed.is_some_and(|signed| are_same(signed.as_bytes(), given));
        if is_ours { Ok(link) } else { Err(Error::NotFound("page")) }
    }

    pub fn has_run_out(&self, now: i64) -> bool {
        self.expires_at <= now
    }

    fn signed_text(&self) -> String {
        format!("chat link {} {} {}", self.act.as_str(), self.target, self.expires_at)
    }
}

fn hex(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
