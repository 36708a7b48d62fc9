//! A provider that people sign in at (OAuth 2.0), on a port of its own: it checks codes as RFC 6749 and
//! RFC 7636 ask, replaces the refresh token at each use, and tells mail servers whose a token is.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;
use url::form_urlencoded;

pub const OAUTH_CLIENT_ID: &str = "mailroom-test";
pub const OAUTH_CLIENT_SECRET: &str = "client secret & more";
/// 2100-01-01, in seconds.
const FAR: i64 = 4_102_444_800;

pub struct OAuthProviderServer {
    pub address: SocketAddr,
    state: Arc<Mutex<ProviderState>>,
}

/// What the provider knows and does.
pub struct ProviderState {
    /// Who signs in.
    pub account: String,
    /// What it grants, where that is not what was asked for.
    pub scope: Option<String>,
    /// It refuses every refresh from now on, as after somebody withdrew the permission.
    pub withdrawn: bool,
    /// It says that it cannot answer.
    pub is_down: bool,
    codes: HashMap<String, HashMap<String, String>>,
    access_token: String,
    refresh_token: String,
    issued: usize,
    /// Refresh tokens that were redeemed.
    pub refreshes: usize,
    /// Refresh tokens that had been replaced before: a client that lost the new one.
    pub reused: usize,
}

impl OAuthProviderServer {
    pub fn start(account: &str) -> OAuthProviderServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(ProviderState {
            account: account.into(),
            scope: None,
            withdrawn: false,
            is_down: false,
            codes: HashMap::new(),
            access_token: String::new(),
            refresh_token: String::new(),
            issued: 0,
            refreshes: 0,
            reused: 0,
        }));
        let served = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&served);
                thread::spawn(move || serve(stream, &state));
            }
        });
        OAuthProviderServer { address, state }
    }

    pub fn state(&self) -> MutexGuard<'_, ProviderState> {
        self.state.lock().unwrap()
    }

    /// The settings that lead a client of Google's or Microsoft's here.
    pub fn endpoints(&self, imap_port: u16, smtp_port: u16) -> String {
        format!(
            "authorize=http://{at}/authorize token=http://{at}/token imap=imaps://localhost:{imap_port} \
             smtp=smtps://localhost:{smtp_port}",
            at = self.address
        )
    }

    /// Where a mail server asks whose a token is; the token is appended.
    pub fn token_info(&self) -> String {
        format!("http://{}/tokeninfo?access_token=", self.address)
    }

    /// Somebody opens this address, signs in and allows everything: where they are sent back to.
    pub fn sign_in(&self, url: &str) -> String {
        let url = Url::parse(url).unwrap();
        self.state().authorize(&url.query_pairs().into_owned().collect())
    }

    /// True for the token that is valid now.
    pub fn knows(&self, token: &str) -> bool {
        let state = self.state();
        !token.is_empty() && state.access_token == token
    }

    /// A token that was good is good no more, before its time.
    pub fn forget_access_token(&self) {
        self.state().access_token = String::new();
    }

    /// The secrets that it gave last.
    pub fn secrets(&self) -> [String; 2] {
        let state = self.state();
        [state.access_token.clone(), state.refresh_token.clone()]
    }
}

impl ProviderState {
    fn authorize(&mut self, asked: &HashMap<String, String>) -> String {
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], OAUTH_CLIENT_ID);
        assert_eq!(asked["code_challenge_method"], "S256");
        self.issued += 1;
        let code = format!("code-{}", self.issued);
        let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &asked["state"]);
        self.codes.insert(code, asked.clone());
        back.into()
    }

    fn token(&mut self, form: &HashMap<String, String>) -> (u16, Value) {
        let refused = |error: &str| (400, json!({ "error": error }));
        if self.is_down {
            return (503, json!({ "error": "temporarily_unavailable" }));
        }
        if form["client_id"] != OAUTH_CLIENT_ID || form["client_secret"] != OAUTH_CLIENT_SECRET {
            return (401, json!({ "error": "invalid_client" }));
        }
        match form["grant_type"].as_str() {
            "authorization_code" => {
                let Some(asked) = self.codes.remove(&form["code"]) else {
                    return refused("invalid_grant");
                };
                let hash = Sha256::digest(&form["code_verifier"]);
                if URL_SAFE_NO_PAD.encode(hash) != asked["code_challenge"]
                    || form["redirect_uri"] != asked["redirect_uri"]
                {
                    return refused("invalid_grant");
                }
                self.withdrawn = false;
                let mut given = self.issue();
                given["scope"] = json!(self.scope.clone().unwrap_or(asked["scope"].clone()));
                given["id_token"] = json!(self.id_token(&asked["nonce"]));
                (200, given)
            }
            "refresh_token" if self.withdrawn => refused("invalid_grant"),
            "refresh_token" if form["refresh_token"] != self.refresh_token => {
                self.reused += 1;
                refused("invalid_grant")
            }
            "refresh_token" => {
                self.refreshes += 1;
                (200, self.issue())
            }
            _ => refused("unsupported_grant_type"),
        }
    }

    fn issue(&mut self) -> Value {
        self.issued += 1;
        self.access_token = format!("ya29.access-{}", self.issued);
        self.refresh_token = format!("1//refresh-{}", self.issued);
        json!({
            "access_token": self.access_token,
            "refresh_token": self.refresh_token,
            "token_type": "Bearer",
            "expires_in": 3_600,
        })
    }

    fn id_token(&self, nonce: &str) -> String {
        let claims = json!({
            "aud": OAUTH_CLIENT_ID,
            "exp": FAR,
            "nonce": nonce,
            "email": self.account,
            "preferred_username": self.account,
        });
        format!("e30.{}.none", URL_SAFE_NO_PAD.encode(claims.to_string()))
    }
}

/// Answers one request and hangs up.
fn serve(mut stream: TcpStream, state: &Mutex<ProviderState>) {
    let Some((path, body)) = request(&stream) else { return };
    let url = Url::parse(&format!("http://provider{path}")).unwrap();
    let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
    let mut state = state.lock().unwrap();
    let (status, location, answer) = match url.path() {
        "/authorize" => (302, state.authorize(&query), json!({})),
        "/token" => {
            let form = form_urlencoded::parse(&body).into_owned().collect();
            let (status, answer) = state.token(&form);
            (status, String::new(), answer)
        }
        "/tokeninfo" => {
            let token = query.get("access_token").cloned().unwrap_or_default();
            match !token.is_empty() && token == state.access_token {
                true => (200, String::new(), json!({ "email": state.account })),
                false => (401, String::new(), json!({ "error": "invalid_token" })),
            }
        }
        _ => (404, String::new(), json!({})),
    };
    let answer = answer.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nLocation: {location}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
}

/// The path with its query, and the body.
fn request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut bytes = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            bytes = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}
