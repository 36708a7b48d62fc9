//! Conversations of other help desks, read by their APIs or from saved answers of these: Zammad, Chatwoot,
//! FreeScout and Help Scout.

mod api;
pub mod articles;
mod chatwoot;
mod conversation;
mod help_scout;
mod pictures;
mod source;
mod transfer;
mod zammad;

use std::path::PathBuf;

use serde_json::Value;
use transport::net::ssrf_guard::SsrfGuard;
use url::Url;

use crate::serve::net_config;
use crate::settings::Settings;
use api::{ApiFault, base_address};
use chatwoot::Chatwoot;
use conversation::{DeskConversation, DeskPage, id};
use help_scout::{HelpScout, HelpScoutKind};
use source::DeskSource;
use zammad::Zammad;

pub use transfer::DeskTransfer;

/// The schemes of sources that are help desks.
const SCHEMES: [&str; 4] = ["zammad", "chatwoot", "freescout", "helpscout"];

/// True for a source such as `zammad://help.acme.example`.
pub fn is_help_desk(source: &str) -> bool {
    let scheme = source.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    SCHEMES.contains(&scheme.strip_suffix("+http").unwrap_or(scheme))
}

/// How a help desk is read.
pub enum DeskAccess {
    /// By its API, with this token.
    Token(String),
    /// From a folder of saved answers.
    Saved(PathBuf),
}

/// A help desk that conversations are taken over from.
pub enum HelpDesk {
    Zammad(Zammad),
    Chatwoot(Chatwoot),
    HelpScout(HelpScout),
}

impl HelpDesk {
    /// `only` names the group, inbox or mailbox there whose conversations are wanted.
    pub fn open(
        settings: &Settings,
        source: &str,
        access: &DeskAccess,
        only: Option<String>,
    ) -> Result<HelpDesk, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if only.as_ref().is_some_and(|only| only.is_empty() || !only.chars().all(is_plain)) {
            return Err("--only: must be the id of a group, inbox or mailbox there.".into());
        }
        let (name, mut base) = base_address(source)?;
        let mut account = String::new();
        if name == "chatwoot" {
            (base, account) = account_of(base)?;
        }
        // The header that the token stands in, and what stands before it.
        let (header, before) = match name.as_str() {
            "chatwoot" => ("api_access_token", ""),
            "freescout" => ("x-freescout-api-key", ""),
            "helpscout" => ("authorization", "Bearer "),
            _ => ("authorization", "Token token="),
        };
        let source = match access {
            DeskAccess::Token(token) => {
                let guard = SsrfGuard::of(&net_config(settings))?;
                DeskSource::api(base, (header, &format!("{before}{token}")), guard)?
            }
            DeskAccess::Saved(folder) => DeskSource::from_folder(base, folder)?,
        };
        Ok(match name.as_str() {
            "chatwoot" => HelpDesk::Chatwoot(Chatwoot::new(source, account, only)),
            "freescout" => {
                HelpDesk::HelpScout(HelpScout::new(source, HelpScoutKind::FreeScout, only))
            }
            "helpscout" => {
                HelpDesk::HelpScout(HelpScout::new(source, HelpScoutKind::HelpScout, only))
            }
            _ => HelpDesk::Zammad(Zammad::new(source, only)),
        })
    }

    fn name(&self) -> &'static str {
        match self {
            HelpDesk::Zammad(_) => "zammad",
            HelpDesk::Chatwoot(_) => "chatwoot",
            HelpDesk::HelpScout(scout) => scout.name(),
        }
    }

    fn source(&self) -> &DeskSource {
        match self {
            HelpDesk::Zammad(zammad) => &zammad.source,
            HelpDesk::Chatwoot(chatwoot) => &chatwoot.source,
            HelpDesk::HelpScout(scout) => &scout.source,
        }
    }

    /// A page of its conversations, the first being 1.
    async fn page(&self, number: usize) -> Result<DeskPage, ApiFault> {
        match self {
            HelpDesk::Zammad(zammad) => zammad.page(number).await,
            HelpDesk::Chatwoot(chatwoot) => chatwoot.page(number).await,
            HelpDesk::HelpScout(scout) => scout.page(number).await,
        }
    }

    /// A listed conversation with all that is in it; `None` where it is not wanted. The error says why
    /// this one is passed over.
    async fn read(&mut self, listed: &Value) -> Result<Option<DeskConversation>, String> {
        match self {
            HelpDesk::Zammad(zammad) => zammad.read(listed).await,
            HelpDesk::Chatwoot(chatwoot) => chatwoot.read(listed).await,
            HelpDesk::HelpScout(scout) => scout.read(listed).await,
        }
    }

    /// What the report calls a listed conversation.
    fn label(&self, listed: &Value) -> String {
        let id = id(listed, "id").unwrap_or_else(|| "without an id".to_owned());
        format!("{} conversation {id}", self.name())
    }
}

/// The account is the end of a Chatwoot's path: `chatwoot://app.chatwoot.com/3`.
fn account_of(base: Url) -> Result<(Url, String), String> {
    let told = "chatwoot://: must end in the number of the account, as in chatwoot://HOST/3";
    let path = base.path().trim_end_matches('/');
    let (before, account) = path.rsplit_once('/').ok_or(told)?;
    if account.is_empty() || !account.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(told.into());
    }
    let (before, account) = (format!("{before}/"), account.to_owned());
    let mut base = base;
    base.set_path(&before);
    Ok((base, account))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_desks_are_told_from_files_and_accounts() {
        assert!(is_help_desk("zammad://help.x.example") && is_help_desk("helpscout+http://h"));
        assert!(!is_help_desk("imaps://me@h") && !is_help_desk("old-mail"));
    }

    #[test]
    fn the_account_of_a_chatwoot_is_the_end_of_its_path() {
        let read = |text: &str| account_of(Url::parse(text).unwrap());
        let (base, account) = read("https://c.x.example/desk/3/").unwrap();
        assert_eq!((base.as_str(), account.as_str()), ("https://c.x.example/desk/", "3"));
        assert_eq!(read("https://c.x.example/3/").unwrap().0.as_str(), "https://c.x.example/");
        assert!(read("https://c.x.example/").is_err());
    }
}
