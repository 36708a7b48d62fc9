//! The settings of the OpenID provider at which people sign in.

use actions::sign_in::provider_rules::{LocalSignInPolicy, ProviderRules};
use clap::Args;
use transport::oidc::{OidcConfig, issuer_address};

use super::mail_providers::secret_in;
use super::setting_sources::SettingSources;

/// Characters of the name on the button.
const NAME_CHARS: usize = 40;

/// The flags, as they were typed.
#[derive(Args, Clone, Debug, Default)]
pub struct OidcFlags {
    /// The OpenID provider at which people sign in, by its https address [default: none]
    #[arg(long, env = "MAILROOM_OIDC_ISSUER", global = true, value_name = "URL")]
    pub oidc_issuer: Option<String>,
    /// The client registered there
    #[arg(long, env = "MAILROOM_OIDC_CLIENT_ID", global = true, value_name = "ID")]
    pub oidc_client_id: Option<String>,
    /// The file that holds that client's secret [default: none, a public client]
    #[arg(long, env = "MAILROOM_OIDC_CLIENT_SECRET_FILE", global = true, value_name = "FILE")]
    pub oidc_client_secret_file: Option<String>,
    /// What the button calls the provider [default: the issuer's host]
    #[arg(long, env = "MAILROOM_OIDC_NAME", global = true, value_name = "NAME")]
    pub oidc_name: Option<String>,
    /// The domains whose addresses may sign in there, such as example.com, example.org [default: all]
    #[arg(long, env = "MAILROOM_OIDC_DOMAINS", global = true, value_name = "DOMAINS")]
    pub oidc_domains: Option<String>,
    /// Link accounts to teammates by the addresses that the provider gives [default: false]
    #[arg(long, env = "MAILROOM_OIDC_TRUST_EMAIL", global = true, value_name = "BOOLEAN")]
    pub oidc_trust_email: Option<String>,
    /// The slug of the workspace that people of these domains join whom nobody has added [default: none]
    #[arg(long, env = "MAILROOM_OIDC_JOIN", global = true, value_name = "SLUG")]
    pub oidc_join: Option<String>,
    /// Let only owners sign in otherwise, by passkey, password or link [default: false]
    #[arg(long, env = "MAILROOM_OIDC_ONLY", global = true, value_name = "BOOLEAN")]
    pub oidc_only: Option<String>,
    /// Who asks for the second step: ours, provider, or amr (ours unless its token says mfa)
    /// [default: ours]
    #[arg(long, env = "MAILROOM_OIDC_SECOND_STEP", global = true, value_name = "WHO")]
    pub oidc_second_step: Option<String>,
}

/// The names that `mailroom.toml` may hold.
pub(super) const NAMES: &[&str] = &[
    "oidc_issuer",
    "oidc_client_id",
    "oidc_client_secret_file",
    "oidc_name",
    "oidc_domains",
    "oidc_trust_email",
    "oidc_join",
    "oidc_only",
    "oidc_second_step",
];

impl SettingSources {
    /// The provider, if its settings are there and right.
    pub(super) fn oidc(&mut self, flags: &OidcFlags) -> Option<OidcConfig> {
        let typed: [(&str, &Option<String>); 9] = [
            ("oidc_issuer", &flags.oidc_issuer),
            ("oidc_client_id", &flags.oidc_client_id),
            ("oidc_client_secret_file", &flags.oidc_client_secret_file),
            ("oidc_name", &flags.oidc_name),
            ("oidc_domains", &flags.oidc_domains),
            ("oidc_trust_email", &flags.oidc_trust_email),
            ("oidc_join", &flags.oidc_join),
            ("oidc_only", &flags.oidc_only),
            ("oidc_second_step", &flags.oidc_second_step),
        ];
        if typed.iter().all(|(name, flag)| self.text(name, flag).is_none()) {
            return None;
        }
        let mut word = |name: &str, flag: &Option<String>| {
            let text = self.text(name, flag).map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        let issuer = word("oidc_issuer", &flags.oidc_issuer);
        let client_id = word("oidc_client_id", &flags.oidc_client_id);
        let joins = word("oidc_join", &flags.oidc_join);
        let secret_file = word("oidc_client_secret_file", &flags.oidc_client_secret_file);
        let (Some(issuer), Some(client_id)) = (issuer, client_id) else {
            self.mistakes.push("oidc_issuer, oidc_client_id: must be given together".into());
            return None;
        };
        let secret = secret_file.map(|file| secret_in("oidc_client_secret_file", &file));
        let client_secret = secret.transpose().map_err(|mistake| self.mistakes.push(mistake));
        let address = issuer_address(&issuer);
        let address = address.map_err(|rule| self.mistakes.push(format!("oidc_issuer: {rule}")));
        let name = self.oidc_name(&flags.oidc_name, &issuer);
        let domains = self.oidc_domains(&flags.oidc_domains);
        let mut switch = |name: &str, flag: &Option<String>| {
            self.parse(name, flag, "true or false").unwrap_or(false)
        };
        let trusts_email = switch("oidc_trust_email", &flags.oidc_trust_email);
        let only = switch("oidc_only", &flags.oidc_only);
        let second_step = self
            .parse("oidc_second_step", &flags.oidc_second_step, "ours, provider or amr")
            .unwrap_or_default();
        if joins.is_some() && domains.is_empty() {
            let rule =
                "oidc_join: needs oidc_domains, or everybody with an account there could join";
            self.mistakes.push(rule.into());
        }
        if only && !trusts_email {
            let rule = "oidc_only: needs oidc_trust_email = true, or people who have signed in before \
                        could not link their account";
            self.mistakes.push(rule.into());
        }
        let other_ways =
            if only { LocalSignInPolicy::ForOwners } else { LocalSignInPolicy::ForEverybody };
        Some(OidcConfig {
            issuer: address.ok()?,
            client_id,
            client_secret: client_secret.ok()?,
            second_step,
            rules: ProviderRules { name, issuer, domains, trusts_email, joins, other_ways },
        })
    }

    fn oidc_name(&mut self, flag: &Option<String>, issuer: &str) -> String {
        let host = url::Url::parse(issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        let Some(name) = self.text("oidc_name", flag) else { return host.unwrap_or_default() };
        let name = name.trim().to_owned();
        let chars = name.chars().count();
        if chars == 0 || chars > NAME_CHARS || name.contains(char::is_control) {
            self.mistakes.push(format!("oidc_name: must be 1 to {NAME_CHARS} characters"));
        }
        name
    }

    /// In the form in which the domains of addresses are compared.
    fn oidc_domains(&mut self, flag: &Option<String>) -> Vec<String> {
        let text = self.text("oidc_domains", flag).unwrap_or_default();
        let words = text.split(|c: char| c == ',' || c.is_whitespace());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        if !words.iter().all(|word| mail::is_address(&format!("a@{word}"))) {
            let rule = "oidc_domains: must be domains such as example.com, example.org";
            self.mistakes.push(rule.into());
        }
        let normal = |word: &&str| mail::normal_address(&format!("a@{word}"))[2..].to_owned();
        words.iter().map(normal).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use actions::sign_in::provider_rules::LocalSignInPolicy;

    use crate::settings::{Flags, Settings};
    use transport::oidc::ProviderSecondStep;

    fn load(lines: &str) -> Result<Settings, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mailroom.toml"), lines).unwrap();
        Settings::load(&Flags { data: Some(folder.path().into()), ..Flags::default() })
    }

    const PROVIDER: &str = "oidc_issuer = 'https://login.acme.example/'\noidc_client_id = 'ours'\n";

    #[test]
    fn a_provider_needs_an_issuer_and_a_client_and_has_careful_defaults() {
        assert!(load("").unwrap().oidc.is_none());
        let config = load(PROVIDER).unwrap().oidc.expect("a provider");
        assert_eq!(config.rules.issuer, "https://login.acme.example/", "character by character");
        assert_eq!(config.rules.name, "login.acme.example");
        assert_eq!(config.second_step, ProviderSecondStep::Ours);
        assert_eq!(config.rules.other_ways, LocalSignInPolicy::ForEverybody);
        assert!(config.rules.joins.is_none() && !config.rules.trusts_email);
        let all = "oidc_name = 'Acme'\noidc_domains = 'Acme.example, acme.test'\noidc_join = 'acme'\n\
                   oidc_trust_email = true\noidc_only = true\noidc_second_step = 'amr'";
        let config = load(&format!("{PROVIDER}{all}")).unwrap().oidc.expect("a provider");
        assert_eq!(config.rules.domains, ["acme.example", "acme.test"]);
        assert_eq!(config.rules.other_ways, LocalSignInPolicy::ForOwners);
        assert_eq!(config.second_step, ProviderSecondStep::WhereSaid);
    }

    #[test]
    fn settings_that_would_let_in_too_many_or_nobody_are_mistakes() {
        for (lines, mistake) in [
            ("oidc_client_id = 'ours'", "oidc_issuer, oidc_client_id:"),
            ("oidc_only = true", "oidc_issuer, oidc_client_id:"),
            ("oidc_issuer = 'http://login.acme.example'\noidc_client_id = 'a'", "oidc_issuer:"),
            ("oidc_issuer = 'https://a.example/?x=1'\noidc_client_id = 'a'", "oidc_issuer:"),
            ("oidc_issuer = 'https://u@a.example'\noidc_client_id = 'a'", "oidc_issuer:"),
            (&format!("{PROVIDER}oidc_join = 'acme'"), "oidc_join: needs oidc_domains"),
            (&format!("{PROVIDER}oidc_only = true"), "oidc_only: needs oidc_trust_email"),
            (&format!("{PROVIDER}oidc_domains = 'a b@c'"), "oidc_domains:"),
            (&format!("{PROVIDER}oidc_second_step = 'none'"), "oidc_second_step:"),
            (&format!("{PROVIDER}oidc_name = ''"), "oidc_name:"),
            (
                &format!("{PROVIDER}oidc_client_secret_file = '/nowhere'"),
                "oidc_client_secret_file:",
            ),
        ] {
            let mistakes = load(lines).err().unwrap_or_default();
            assert!(mistakes.iter().any(|it| it.starts_with(mistake)), "{lines}: {mistakes:?}");
        }
        assert!(load("oidc_issuer = 'http://127.0.0.1:9'\noidc_client_id = 'a'").is_ok());
    }
}
