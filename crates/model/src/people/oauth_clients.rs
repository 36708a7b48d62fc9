//! The programs that ask for access by OAuth: what they say about themselves, and the rows.

use base::error::Result;
use base::limits::{CLIENT_NAME_CHARS, REDIRECT_URIS_PER_CLIENT};
use base::security::redirect_uri::RedirectUri;
use base::string_enum::string_enum;
use db::Tx;
use serde_json::Value;
use url::Url;

string_enum! {
    /// Where the facts about a client come from.
    ClientKind { Document = "document", Registered = "registered" }
}

/// A program that asks for access.
#[derive(Clone, Debug)]
pub struct OauthClient {
    pub id: String,
    pub kind: ClientKind,
    /// What it calls itself.
    pub name: String,
    pub redirect_uris: Vec<RedirectUri>,
    pub created_at: i64,
    /// When the document is to be fetched again, or a client that nobody let in is forgotten.
    pub expires_at: Option<i64>,
}

impl OauthClient {
    /// True if the client may be answered there.
    pub fn may_be_answered_at(&self, asked: &RedirectUri) -> bool {
        self.redirect_uris.iter().any(|own| own.admits(asked))
    }

    /// The site that a document is proof of.
    pub fn host(&self) -> Option<String> {
        match self.kind {
            ClientKind::Document => Url::parse(&self.id).ok()?.host_str().map(str::to_owned),
            ClientKind::Registered => None,
        }
    }
}

/// What a client says about itself, in a registration or in its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMetadata {
    pub name: Option<String>,
    pub redirect_uris: Vec<RedirectUri>,
}

/// Why what a client says cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataProblem {
    /// It names no address that anybody may be sent to.
    RedirectUris,
    /// It is not what such a text looks like.
    Other,
}

impl ClientMetadata {
    /// Addresses that nobody may be sent to are left out: clients name several, for each of their
    /// platforms.
    pub fn of(json: &Value) -> Result<ClientMetadata, MetadataProblem> {
        let told = json.as_object().ok_or(MetadataProblem::Other)?;
        let uris = told.get("redirect_uris").and_then(Value::as_array);
        let uris = uris.ok_or(MetadataProblem::RedirectUris)?;
        let redirect_uris: Vec<RedirectUri> = uris
            .iter()
            .filter_map(Value::as_str)
            .filter_map(RedirectUri::parse)
            .take(REDIRECT_URIS_PER_CLIENT)
            .collect();
        if redirect_uris.is_empty() || uris.len() > REDIRECT_URIS_PER_CLIENT {
            return Err(MetadataProblem::RedirectUris);
        }
        let name = match told.get("client_name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => shown_name(name),
            Some(_) => return Err(MetadataProblem::Other),
        };
        Ok(ClientMetadata { name, redirect_uris })
    }

    /// The metadata in the document at `address`, which must say that it is about that address.
    pub fn of_document(address: &str, bytes: &[u8]) -> Option<ClientMetadata> {
        let json: Value = serde_json::from_slice(bytes).ok()?;
        let has_secret = json.get("client_secret").is_some()
            || json["token_endpoint_auth_method"]
                .as_str()
                .is_some_and(|how| how.contains("secret"));
        if json["client_id"].as_str() != Some(address) || has_secret {
            return None;
        }
        ClientMetadata::of(&json).ok()
    }
}

/// A name without invisible characters, which could make it look like another.
fn shown_name(name: &str) -> Option<String> {
    let is_shown = |c: &char| {
        !c.is_control()
            && !matches!(*c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            && !matches!(*c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
            && !matches!(*c, '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}')
            && !matches!(*c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}')
    };
    let shown: String = name.chars().filter(is_shown).take(CLIENT_NAME_CHARS).collect();
    Some(shown.trim().to_owned()).filter(|name| !name.is_empty())
}

/// True for an address that names a client by the document there: `https` at the usual port, with a
/// path, in the one spelling that it has.
pub fn is_document_address(client_id: &str) -> bool {
    let Ok(url) = Url::parse(client_id) else { return false };
    url.scheme() == "https"
        && url.as_str() == client_id
        && url.host_str().is_some_and(|host| host.contains('.') && !host.ends_with('.'))
        && url.port().is_none()
        && url.path() != "/"
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && !client_id.contains('@')
}

db::row! {
    struct ClientRow from "c" {
        client_id: String,
        kind: ClientKind,
        name: String,
        redirect_uris: db::Json<Vec<String>>,
        created_at: i64,
        expires_at: Option<i64>,
    }
}

/// A client that is known, even if its document is to be fetched again.
pub fn find_client(tx: &mut Tx<'_>, client_id: &str) -> Result<Option<OauthClient>> {
    let found: Option<ClientRow> = tx.opt(
        &format!("SELECT {} FROM oauth_clients c WHERE c.client_id = ?1", ClientRow::COLUMNS),
        &[&client_id],
    )?;
    Ok(found.map(|row| OauthClient {
        id: row.client_id,
        kind: row.kind,
        name: row.name,
        redirect_uris: row
            .redirect_uris
            .0
            .iter()
            .filter_map(|uri| RedirectUri::parse(uri))
            .collect(),
        created_at: row.created_at,
        expires_at: row.expires_at,
    }))
}

/// Writes a client, or what its document says now.
pub fn write_client(tx: &mut Tx<'_>, client: &OauthClient) -> Result<()> {
    let uris: Vec<String> = client.redirect_uris.iter().map(ToString::to_string).collect();
    tx.exec(
        "INSERT INTO oauth_clients (client_id, kind, name, redirect_uris, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (client_id) DO UPDATE
         SET name = excluded.name, redirect_uris = excluded.redirect_uris,
             expires_at = excluded.expires_at",
        &[
            &client.id,
            &client.kind,
            &client.name,
            &serde_json::Value::from(uris).to_string(),
            &client.created_at,
            &client.expires_at,
        ],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_keeps_the_addresses_that_are_accepted() {
        let told = json!({
            "client_name": "  Cur\u{202e}sor\u{200b} ",
            "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "http://evil.example/"],
            "application_type": "web",
        });
        let metadata = ClientMetadata::of(&told).expect("metadata");
        assert_eq!(metadata.name.as_deref(), Some("Cursor"));
        assert_eq!(metadata.redirect_uris.len(), 1);
        for bad in
            [json!({}), json!({"redirect_uris": []}), json!({"redirect_uris": ["http://a.b/"]})]
        {
            assert_eq!(ClientMetadata::of(&bad), Err(MetadataProblem::RedirectUris), "{bad}");
        }
        assert_eq!(ClientMetadata::of(&json!([])), Err(MetadataProblem::Other));
    }

    #[test]
    fn a_document_is_about_the_address_it_is_at() {
        let address = "https://claude.ai/oauth/claude-code-client-metadata";
        let document = json!({
            "client_id": address,
            "client_name": "Claude Code",
            "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "none",
        });
        let found = ClientMetadata::of_document(address, document.to_string().as_bytes());
        assert_eq!(found.expect("a client").redirect_uris.len(), 2);
        let other = "https://evil.example/oauth/claude-code-client-metadata";
        assert!(ClientMetadata::of_document(other, document.to_string().as_bytes()).is_none());
        let mut secret = document.clone();
        secret["token_endpoint_auth_method"] = json!("client_secret_post");
        assert!(ClientMetadata::of_document(address, secret.to_string().as_bytes()).is_none());
    }

    #[test]
    fn a_client_is_named_by_one_spelling_of_its_documents_address() {
        for good in ["https://claude.ai/oauth/client.json", "https://vscode.dev/a?b=c"] {
            assert!(is_document_address(good), "{good}");
        }
        for bad in [
            "https://claude.ai",
            "https://claude.ai/",
            "http://claude.ai/a",
            "https://claude.ai:8443/a",
            "https://CLAUDE.ai/a",
            "https://claude.ai/../a",
            "https://a@claude.ai/a",
            "https://claude.ai/a#b",
            "https://localhost/a",
            "ocl_1234",
        ] {
            assert!(!is_document_address(bad), "{bad}");
        }
    }
}
