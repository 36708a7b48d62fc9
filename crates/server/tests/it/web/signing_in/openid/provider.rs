//! A scripted OpenID provider on a port of its own: it checks codes as a provider does, and says whatever a
//! test wants it to say.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use actions::sign_in::provider_rules::{LocalSignInPolicy, ProviderRules};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use transport::oidc::{OidcConfig, ProviderSecondStep, issuer_address};
use url::{Url, form_urlencoded};

pub const CLIENT_ID: &str = "mailroom:test";
pub const CLIENT_SECRET: &str = "client secret & more";

pub struct ScriptedProvider {
    pub address: SocketAddr,
    script: Arc<Mutex<Script>>,
}

/// What the provider knows and does.
pub struct Script {
    address: SocketAddr,
    keys: Ed25519KeyPair,
    /// The keys of somebody else.
    other_keys: Ed25519KeyPair,
    /// The time of its tokens, in milliseconds.
    pub now: i64,
    pub subject: String,
    /// Merged over the usual claims; `null` leaves one out.
    pub claims: Value,
    /// Merged over the usual document.
    pub document: Value,
    /// The header of tokens.
    pub header: Value,
    /// The name of its key in the list.
    pub key_id: String,
    pub signs: Signs,
    /// What the userinfo says.
    pub userinfo: Value,
    /// A status instead of an answer, by path.
    pub fails: HashMap<&'static str, u16>,
    /// Bytes that follow each document.
    pub padding: usize,
    /// Requests by path.
    pub asked: HashMap<String, usize>,
    codes: HashMap<String, HashMap<String, String>>,
    issued: usize,
}

/// Who signs tokens, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    Own,
    Other,
    Nobody,
    /// HMAC with the public key as its secret.
    WithPublicKey,
}

impl ScriptedProvider {
    pub fn start(now: i64) -> ScriptedProvider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Mutex::new(Script {
            address,
            keys: new_keys(),
            other_keys: new_keys(),
            now,
            subject: "owner-1".into(),
            claims: json!({ "email": "owner@acme.example", "email_verified": true }),
            document: json!({}),
            header: json!({ "alg": "EdDSA", "typ": "JWT", "kid": "one" }),
            key_id: "one".into(),
            signs: Signs::Own,
            userinfo: json!({}),
            fails: HashMap::new(),
            padding: 0,
            asked: HashMap::new(),
            codes: HashMap::new(),
            issued: 0,
        }));
        let served = Arc::clone(&script);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let script = Arc::clone(&served);
                thread::spawn(move || serve(stream, &script));
            }
        });
        ScriptedProvider { address, script }
    }

    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    pub fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script());
    }

    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The settings of an operator who changed nothing but the address.
    pub fn config(&self) -> OidcConfig {
        OidcConfig {
            issuer: issuer_address(&self.issuer()).unwrap(),
            client_id: CLIENT_ID.into(),
            client_secret: Some(CLIENT_SECRET.into()),
            second_step: ProviderSecondStep::Ours,
            rules: ProviderRules {
                name: "Acme Login".into(),
                issuer: self.issuer(),
                domains: Vec::new(),
                trusts_email: false,
                joins: None,
                other_ways: LocalSignInPolicy::ForEverybody,
            },
        }
    }

    /// Somebody signs in at this address: the path that they are sent back to.
    pub fn sign_in(&self, url: &str, public_url: &str) -> String {
        let url = Url::parse(url).unwrap();
        let back = self.script().authorize(&url.query_pairs().into_owned().collect());
        back.strip_prefix(public_url).expect("our own address").to_owned()
    }

    /// Who signs in from now on.
    pub fn is(&self, subject: &str, claims: Value) {
        let mut script = self.script();
        (script.subject, script.claims) = (subject.into(), claims);
    }
}

fn new_keys() -> Ed25519KeyPair {
    let keys = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(keys.as_ref()).unwrap()
}

fn merge(mut usual: Value, over: &Value) -> Value {
    for (name, value) in over.as_object().unwrap() {
        match value {
            Value::Null => drop(usual.as_object_mut().unwrap().remove(name)),
            value => usual[name] = value.clone(),
        }
    }
    usual
}

impl Script {
    fn authorize(&mut self, asked: &HashMap<String, String>) -> String {
        assert_eq!(asked["response_type"], "code");
        assert_eq!(asked["client_id"], CLIENT_ID);
        assert_eq!(asked["code_challenge_method"], "S256");
        assert_eq!(asked["scope"], "openid email profile");
        assert!(asked["code_challenge"].len() == 43 && asked["state"].len() >= 26);
        self.issued += 1;
        let code = format!("code-{}", self.issued);
        let mut back = Url::parse(&asked["redirect_uri"]).unwrap();
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &asked["state"]);
        self.codes.insert(code, asked.clone());
        back.into()
    }

    fn document(&self) -> Value {
        let at = format!("http://{}", self.address);
        let usual = json!({
            "issuer": at,
            "authorization_endpoint": format!("{at}/authorize?tenant=acme"),
            "token_endpoint": format!("{at}/token"),
            "jwks_uri": format!("{at}/keys"),
            "userinfo_endpoint": format!("{at}/userinfo"),
        });
        merge(usual, &self.document)
    }

    fn key_list(&self) -> Value {
        let x = URL_SAFE_NO_PAD.encode(self.keys.public_key());
        json!({ "keys": [
            { "kty": "EC", "crv": "P-521", "kid": "none of ours" },
            { "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": self.key_id, "x": x },
        ] })
    }

    fn token(&mut self, form: &HashMap<String, String>, credentials: &str) -> (u16, Value) {
        let part =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let both = format!("{}:{}", part(CLIENT_ID), part(CLIENT_SECRET));
        let in_header = credentials == format!("Basic {}", STANDARD.encode(both));
        let in_form = form.get("client_secret").is_some_and(|secret| secret == CLIENT_SECRET);
        if in_header == in_form {
            return (401, json!({ "error": "invalid_client" }));
        }
        let Some(asked) = self.codes.remove(&form["code"]) else {
            return (400, json!({ "error": "invalid_grant" }));
        };
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
        let is_his =
            hash == asked["code_challenge"] && form["redirect_uri"] == asked["redirect_uri"];
        if !is_his || form["grant_type"] != "authorization_code" {
            return (400, json!({ "error": "invalid_grant" }));
        }
        let id_token = self.id_token(&asked["nonce"]);
        let access_token = format!("access-{}", self.subject);
        (200, json!({ "id_token": id_token, "access_token": access_token, "token_type": "Bearer" }))
    }

    fn id_token(&self, nonce: &str) -> String {
        let usual = json!({
            "iss": format!("http://{}", self.address),
            "sub": self.subject,
            "aud": CLIENT_ID,
            "exp": self.now / 1_000 + 300,
            "iat": self.now / 1_000,
            "nonce": nonce,
            "name": "Olive Owner",
        });
        let claims = merge(usual, &self.claims).to_string();
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let signed = format!("{}.{}", part(&self.header.to_string()), part(&claims));
        let signature = match self.signs {
            Signs::Own => self.keys.sign(signed.as_bytes()).as_ref().to_vec(),
            Signs::Other => self.other_keys.sign(signed.as_bytes()).as_ref().to_vec(),
            Signs::Nobody => Vec::new(),
            Signs::WithPublicKey => {
                let key =
                    ring::hmac::Key::new(ring::hmac::HMAC_SHA256, self.keys.public_key().as_ref());
                ring::hmac::sign(&key, signed.as_bytes()).as_ref().to_vec()
            }
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn answer(&mut self, path: &str, credentials: &str, body: &[u8]) -> (u16, String) {
        *self.asked.entry(path.to_owned()).or_default() += 1;
        if let Some(status) = self.fails.get(path) {
            return (*status, "{}".into());
        }
        let (status, answer) = match path {
            "/.well-known/openid-configuration" => (200, self.document()),
            "/keys" => (200, self.key_list()),
            "/token" => {
                let form = form_urlencoded::parse(body).into_owned().collect();
                self.token(&form, credentials)
            }
            "/userinfo" if credentials == format!("Bearer access-{}", self.subject) => {
                (200, self.userinfo.clone())
            }
            _ => (404, json!({})),
        };
        (status, format!("{answer}{}", " ".repeat(self.padding)))
    }
}

/// Answers one request and hangs up.
fn serve(mut stream: TcpStream, script: &Mutex<Script>) {
    let Some((path, credentials, body)) = request(&stream) else { return };
    let (status, answer) = script.lock().unwrap().answer(&path, &credentials, &body);
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nLocation: /elsewhere\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
}

/// The path, the credentials in the header, and the body.
fn request(stream: &TcpStream) -> Option<(String, String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut bytes, mut credentials) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => bytes = value.trim().parse().ok()?,
            "authorization" => credentials = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    Some((path, credentials, body))
}
