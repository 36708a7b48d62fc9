//! A push service with browsers that read what they are sent, and the pages that people have open.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use actions::people::notifications;
use actions::sign_in::sessions;
use base::actor::Actor;
use base::ids::{ConversationId, SessionId, SubscriptionId, UserId};
use base::security::web_push::PushTarget;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jobs::{BoxFuture, OpenPages, PushRequest, PushResponse, PushSender};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;
use serde_json::Value;

use crate::{TestApp, user};

/// The header of a message (RFC 8188, 2.1): salt, record size, length of the key and the key.
const HEADER_BYTES: usize = 16 + 4 + 1 + 65;

/// Takes every message and answers 201 unless it was told otherwise for that address.
#[derive(Default)]
pub struct TestPushService {
    requests: Mutex<Vec<PushRequest>>,
    answers: Mutex<HashMap<String, PushResponse>>,
}

impl TestPushService {
    /// Every attempt so far.
    pub fn requests(&self) -> Vec<PushRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub fn answers(&self, endpoint: &str, answer: PushResponse) {
        self.answers.lock().unwrap().insert(endpoint.to_owned(), answer);
    }

    pub fn answers_status(&self, endpoint: &str, code: u16) {
        self.answers(endpoint, PushResponse::Status { code, retry_after: None });
    }
}

impl PushSender for TestPushService {
    fn push<'a>(&'a self, request: &'a PushRequest) -> BoxFuture<'a, PushResponse> {
        self.requests.lock().unwrap().push(request.clone());
        let taken = PushResponse::Status { code: 201, retry_after: None };
        let answer = self.answers.lock().unwrap().get(&request.endpoint).cloned();
        Box::pin(async move { answer.unwrap_or(taken) })
    }
}

/// The conversations that people have open, as a test says.
#[derive(Default)]
pub struct TestOpenPages(Mutex<HashSet<(String, String)>>);

impl TestOpenPages {
    pub fn open(&self, person: &Actor, conversation: &ConversationId) {
        self.0.lock().unwrap().insert((user(person).to_string(), conversation.to_string()));
    }

    pub fn close_all(&self) {
        self.0.lock().unwrap().clear();
    }
}

impl OpenPages for TestOpenPages {
    fn has_open(&self, _: i64, conversation: &ConversationId, person: &UserId, _: i64) -> bool {
        self.0.lock().unwrap().contains(&(person.to_string(), conversation.to_string()))
    }
}

/// A browser that takes notices. Its key is used once: the test reads one message of it.
pub struct TestBrowser {
    pub id: SubscriptionId,
    pub session: SessionId,
    pub endpoint: String,
    key: Mutex<Option<EphemeralPrivateKey>>,
    public_key: Vec<u8>,
}

const AUTH: [u8; 16] = [9; 16];

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl TestApp {
    /// A session of a person whose browser takes notices.
    pub async fn subscribe(&self, person: &Actor, name: &str) -> TestBrowser {
        self.subscribed_in(person, name, true).await
    }

    /// The same in a session in which private inboxes are open, or are not.
    pub async fn subscribed_in(&self, person: &Actor, name: &str, private: bool) -> TestBrowser {
        let (ws, id, ids, now) = (person.ws, user(person), self.app.ids.clone(), self.now());
        let begin = move |tx: &mut db::Tx<'_>| {
            sessions::begin_session(tx, &ids, now, ws, &id, "A browser", private)
        };
        let token = self.app.store.write(begin).await.unwrap();
        let hash = sessions::TokenHash::of(&token).unwrap();
        let signed_in = self.app.store.read(move |tx| sessions::signed_in(tx, &hash, now)).await;
        let session = signed_in.unwrap().session;
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public_key = key.compute_public_key().unwrap().as_ref().to_vec();
        let target = PushTarget {
            endpoint: format!("https://push.example/{name}"),
            p256dh: URL_SAFE_NO_PAD.encode(&public_key),
            auth: URL_SAFE_NO_PAD.encode(AUTH),
        };
        let (endpoint, of_session) = (target.endpoint.clone(), session.clone());
        let id = self
            .act(person, move |tx, cx| {
                notifications::subscribe_browser(tx, cx, &of_session, "A browser", &target)
            })
            .await;
        TestBrowser { id, session, endpoint, key: Mutex::new(Some(key)), public_key }
    }

    /// The messages that were sent to a browser, still encrypted.
    pub fn pushed_to(&self, browser: &TestBrowser) -> Vec<PushRequest> {
        let all = self.outside.push_service.requests().into_iter();
        all.filter(|request| request.endpoint == browser.endpoint).collect()
    }

    /// The newest message to a browser, as it reads it.
    pub fn read_push(&self, browser: &TestBrowser) -> Value {
        browser.read(&self.pushed_to(browser).last().expect("a message").body)
    }
}

impl TestBrowser {
    fn read(&self, body: &[u8]) -> Value {
        let (header, sealed) = body.split_at(HEADER_BYTES);
        let (salt, sender) = (&header[..16], &header[21..]);
        let key = self.key.lock().unwrap().take().expect("a browser reads one message");
        let sender_key = UnparsedPublicKey::new(&ECDH_P256, sender);
        let shared = agree_ephemeral(key, &sender_key, <[u8]>::to_vec).unwrap();
        let info: [&[u8]; 3] = [b"WebPush: info\0", &self.public_key, sender];
        let mut input = [0; 32];
        let combined = Salt::new(HKDF_SHA256, &AUTH).extract(&shared);
        combined.expand(&info, Length(32)).unwrap().fill(&mut input).unwrap();
        let secret = Salt::new(HKDF_SHA256, salt).extract(&input);
        let (mut content_key, mut nonce) = ([0; 16], [0; 12]);
        let info: [&[u8]; 1] = [b"Content-Encoding: aes128gcm\0"];
        secret.expand(&info, Length(16)).unwrap().fill(&mut content_key).unwrap();
        let info: [&[u8]; 1] = [b"Content-Encoding: nonce\0"];
        secret.expand(&info, Length(12)).unwrap().fill(&mut nonce).unwrap();
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &content_key).unwrap());
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let opened = key.open_in_place(nonce, Aad::empty(), &mut sealed).unwrap();
        let end = opened.iter().rposition(|byte| *byte != 0).unwrap();
        assert_eq!(opened[end], 2, "the last record");
        serde_json::from_slice(&opened[..end]).unwrap()
    }
}
