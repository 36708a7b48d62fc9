//! How this server is known at a provider, and where the provider is.

use std::fmt;
use std::sync::Arc;

use actions::inboxes::mailbox_sign_in::{SignInChoice, SignInPlan};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use inbound::imap::Security;
use model::mailboxes::mailbox_grants::SignInProvider;
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use sha2::{Digest, Sha256};
use url::Url;

use crate::net::token_address::token_address;

/// Where the browser comes back to, below the public address.
pub const CALLBACK: &str = "/settings/inboxes/connect/callback";
/// Scopes that concern the sign-in and not the mailbox.
const OF_SIGN_IN: &[&str] = &["openid", "email", "profile", "offline_access"];
/// What is asked for at Microsoft Graph. Shared mailboxes need not be granted: personal accounts have none.
const OF_GRAPH: &[&str] = &["Mail.ReadWrite", "Mail.Send"];
const OF_SHARED_GRAPH: &[&str] = &["Mail.ReadWrite.Shared", "Mail.Send.Shared"];

/// The clients that the operator registered.
#[derive(Clone, Debug, Default)]
pub struct OAuthClients(Arc<Vec<OAuthClient>>);

/// A client that the operator registered at a provider.
#[derive(Clone)]
pub struct OAuthClient {
    pub provider: SignInProvider,
    pub id: String,
    pub secret: Option<String>,
    authorize_url: Url,
    pub token_url: Url,
    scopes: Vec<String>,
    pub imap: MailPlace<Security>,
    pub smtp: MailPlace<SubmissionSecurity>,
    /// Microsoft Graph, where the provider has it.
    pub graph: Option<Url>,
}

/// A mail server of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailPlace<S> {
    pub host: String,
    pub port: u16,
    pub security: S,
}

/// Secrets are in no log.
impl fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} client {}", self.provider.name(), self.id)
    }
}

impl OAuthClients {
    pub fn new(clients: Vec<OAuthClient>) -> OAuthClients {
        OAuthClients(Arc::new(clients))
    }

    pub fn of(&self, provider: SignInProvider) -> Option<&OAuthClient> {
        self.0.iter().find(|client| client.provider == provider)
    }

    /// Whom people can sign in with.
    pub fn providers(&self) -> Vec<SignInProvider> {
        self.0.iter().map(|client| client.provider).collect()
    }
}

impl OAuthClient {
    /// A client at Google.
    pub fn google(id: String, secret: Option<String>) -> OAuthClient {
        OAuthClient {
            provider: SignInProvider::Google,
            id,
            secret,
            authorize_url: parse_constant("https://accounts.google.com/o/oauth2/v2/auth"),
            token_url: parse_constant("https://oauth2.googleapis.com/token"),
            scopes: words("openid email https://mail.google.com/"),
            imap: MailPlace { host: "imap.gmail.com".into(), port: 993, security: Security::Tls },
            smtp: MailPlace {
                host: "smtp.gmail.com".into(),
                port: 465,
                security: SubmissionSecurity::Tls,
            },
            graph: None,
        }
    }

    /// A client at Microsoft; `tenant` is a directory's name or id, or `common`. The error is a
    /// sentence without its subject.
    pub fn microsoft(
        id: String,
        secret: Option<String>,
        tenant: &str,
    ) -> Result<OAuthClient, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        if tenant.is_empty() || !tenant.chars().all(plain) {
            return Err("must be common, organizations, or a directory's name or id".into());
        }
        let base = format!("https://login.microsoftonline.com/{tenant}/oauth2/v2.0");
        Ok(OAuthClient {
            provider: SignInProvider::Microsoft,
            id,
            secret,
            authorize_url: parse_constant(&format!("{base}/authorize")),
            token_url: parse_constant(&format!("{base}/token")),
            scopes: words(
                "openid email profile offline_access \
                 https://outlook.office.com/IMAP.AccessAsUser.All \
                 https://outlook.office.com/SMTP.Send",
            ),
            imap: MailPlace {
                host: "outlook.office365.com".into(),
                port: 993,
                security: Security::Tls,
            },
            smtp: MailPlace {
                host: "smtp.office365.com".into(),
                port: 587,
                security: SubmissionSecurity::StartTls,
            },
            graph: Some(parse_constant("https://graph.microsoft.com/v1.0")),
        })
    }

    /// The same elsewhere: words such as `token=https://…`, of which each replaces one place and
    /// `scope=` all scopes of IMAP and SMTP. The error is a sentence without its subject.
    pub fn with_endpoints(mut self, text: &str) -> Result<OAuthClient, String> {
        let mut scopes = Vec::new();
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some(("authorize", url)) => self.authorize_url = token_address(url)?,
                Some(("token", url)) => self.token_url = token_address(url)?,
                Some(("imap", url)) => self.imap = imap_place(url)?,
                Some(("smtp", url)) => self.smtp = smtp_place(url)?,
                Some(("graph", url)) if self.graph.is_some() => {
                    self.graph = Some(token_address(url)?);
                }
                Some(("scope", scope)) if !scope.is_empty() => scopes.push(scope.to_owned()),
                _ => {
                    let graph = if self.graph.is_some() { "graph=URL, " } else { "" };
                    return Err(format!(
                        "takes authorize=URL, token=URL, imap=URL, smtp=URL, {graph}and scope=WORD, \
                         with spaces between them"
                    ));
                }
            }
        }
        if !scopes.is_empty() {
            self.scopes = scopes;
        }
        Ok(self)
    }

    /// The address at the provider where somebody signs in.
    pub fn sign_in_url(&self, plan: &SignInPlan, state: &str, public_url: &str) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&plan.verifier));
        let mut url = self.authorize_url.clone();
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.id)
            .append_pair("redirect_uri", &redirect_uri(public_url))
            .append_pair("scope", &self.scopes_for(&plan.choice).join(" "))
            .append_pair("state", state)
            .append_pair("nonce", &plan.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        match self.provider {
            // Without both, Google gives a refresh token at the first consent only.
            SignInProvider::Google => {
                query.append_pair("access_type", "offline").append_pair("prompt", "consent");
                if !plan.choice.address.is_empty() {
                    query.append_pair("login_hint", &plan.choice.address);
                }
            }
            // The mailbox may be a shared one, which its address does not sign in to.
            SignInProvider::Microsoft => {
                query.append_pair("response_mode", "query").append_pair("prompt", "select_account");
            }
        }
        drop(query);
        url.into()
    }

    /// The scopes of the mailbox that are missing in what the provider granted. A provider that
    /// grants all of them may leave the list out (RFC 6749, 5.1).
    pub fn lacks(&self, choice: &SignInChoice, granted: Option<&str>) -> bool {
        let Some(granted) = granted else { return false };
        if choice.by_graph && self.graph.is_some() {
            return !has_graph_scopes(granted);
        }
        let has = |scope: &String| {
            granted.split_whitespace().any(|given| given.eq_ignore_ascii_case(scope))
        };
        let mut of_mail = self.scopes.iter().filter(|scope| !OF_SIGN_IN.contains(&scope.as_str()));
        !of_mail.all(has)
    }

    fn scopes_for(&self, choice: &SignInChoice) -> Vec<String> {
        match &self.graph {
            Some(graph) if choice.by_graph => {
                let at = graph.origin().ascii_serialization();
                let of_mail = OF_GRAPH.iter().chain(OF_SHARED_GRAPH);
                let of_mail = of_mail.map(|scope| format!("{at}/{scope}"));
                OF_SIGN_IN.iter().map(|scope| (*scope).to_owned()).chain(of_mail).collect()
            }
            _ => self.scopes.clone(),
        }
    }
}

/// Graph names its scopes with its address or without.
fn has_graph_scopes(granted: &str) -> bool {
    let name_of = |given: &str| given.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let granted: Vec<String> = granted.split_whitespace().map(name_of).collect();
    OF_GRAPH.iter().all(|scope| granted.contains(&scope.to_ascii_lowercase()))
}

/// What the operator registers at the provider.
pub fn redirect_uri(public_url: &str) -> String {
    format!("{public_url}{CALLBACK}")
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn parse_constant(url: &str) -> Url {
    Url::parse(url).expect("the address of a provider is one")
}

fn imap_place(text: &str) -> Result<MailPlace<Security>, String> {
    let (scheme, host, port) = place(text)?;
    let (security, usual) = match scheme.as_str() {
        "imaps" => (Security::Tls, 993),
        "imap" => (Security::StartTls, 143),
        _ => return Err("must name an imaps:// or imap:// server".into()),
    };
    Ok(MailPlace { host, port: port.unwrap_or(usual), security })
}

fn smtp_place(text: &str) -> Result<MailPlace<SubmissionSecurity>, String> {
    let (scheme, host, port) = place(text)?;
    let (security, usual) = match scheme.as_str() {
        "smtps" => (SubmissionSecurity::Tls, 465),
        "smtp" => (SubmissionSecurity::StartTls, 587),
        _ => return Err("must name an smtps:// or smtp:// server".into()),
    };
    Ok(MailPlace { host, port: port.unwrap_or(usual), security })
}

fn place(text: &str) -> Result<(String, String, Option<u16>), String> {
    let wrong = || format!("has no server in {text}");
    let url = Url::parse(text).map_err(|_| wrong())?;
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
    Ok((url.scheme().to_owned(), host.to_ascii_lowercase(), url.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_elsewhere_where_the_operator_says_so() {
        let client = OAuthClient::google("id".into(), None);
        let moved = client.clone().with_endpoints(
            "token=http://127.0.0.1:9/token imap=imaps://localhost:1993 smtp=smtp://mail.example scope=mail",
        );
        let moved = moved.expect("a client");
        assert_eq!(moved.token_url.as_str(), "http://127.0.0.1:9/token");
        assert_eq!((moved.imap.host.as_str(), moved.imap.port), ("localhost", 1993));
        assert_eq!((moved.smtp.port, moved.smtp.security), (587, SubmissionSecurity::StartTls));
        assert_eq!(moved.authorize_url, client.authorize_url);
        for bad in ["token=http://evil.example/", "imap=pop3://x", "x=y", "token", "smtp=smtps:"] {
            assert!(client.clone().with_endpoints(bad).is_err(), "{bad}");
        }
        assert!(OAuthClient::microsoft("id".into(), None, "a/b").is_err());
    }

    #[test]
    fn a_scope_that_somebody_did_not_tick_is_noticed() {
        let (client, choice) = (OAuthClient::google("id".into(), None), SignInChoice::default());
        assert!(!client.lacks(&choice, None));
        assert!(!client.lacks(&choice, Some("https://mail.google.com/ openid email")));
        assert!(client.lacks(&choice, Some("openid email")));
    }

    #[test]
    fn graph_has_scopes_of_its_own_which_follow_its_address() {
        let client = OAuthClient::microsoft("id".into(), None, "common").expect("a client");
        let client = client.with_endpoints("graph=https://graph.microsoft.us/v1.0").expect("one");
        let by_graph = SignInChoice { by_graph: true, ..SignInChoice::default() };
        let scopes = client.scopes_for(&by_graph).join(" ");
        assert!(scopes.contains("https://graph.microsoft.us/Mail.ReadWrite "), "{scopes}");
        assert!(!scopes.contains("IMAP") && scopes.contains("offline_access"), "{scopes}");
        assert!(!client.scopes_for(&SignInChoice::default()).join(" ").contains("graph"));
        assert!(!client.lacks(&by_graph, Some(&scopes)));
        assert!(!client.lacks(&by_graph, Some("openid mail.readwrite Mail.Send")));
        assert!(client.lacks(&by_graph, Some("openid Mail.ReadWrite")));
        let google = OAuthClient::google("id".into(), None);
        assert!(google.with_endpoints("graph=https://graph.example").is_err());
        assert!(client.with_endpoints("graph=http://graph.example").is_err());
    }
}
