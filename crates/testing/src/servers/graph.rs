//! A Microsoft Graph on a port of its own, with the part of it that a mailbox is read and sent from by:
//! delta listings in pages and in no order, mails as they came, sending, and the folder of sent mail.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use base::time::Moment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::Url;

use super::oauth_provider::OAuthProviderServer;

/// Mails on one page, whatever a client prefers.
const PAGE_MAILS: usize = 2;
/// The largest body of a request, in bytes.
const REQUEST_BYTES: usize = 4 * 1024 * 1024;
const FIRST_QUERY: &str = "$select=id,receivedDateTime,internetMessageId&changeType=created";

pub struct GraphServer {
    pub address: SocketAddr,
    shared: Arc<GraphShared>,
}

struct GraphShared {
    state: Mutex<GraphState>,
    /// Notified when requests need not be held any more, and when one is.
    changed: Condvar,
    provider: Arc<OAuthProviderServer>,
    base: String,
}

/// What the server has and does.
#[derive(Default)]
pub struct GraphState {
    mailboxes: HashMap<String, GraphMailbox>,
    faults: VecDeque<(String, GraphServerFault)>,
    /// Requests with this in their path wait.
    holds: Option<&'static str>,
    held: usize,
    /// Delta links of an earlier generation are not known any more.
    generation: usize,
    next_id: usize,
    /// The method and path of each request, without its query.
    pub requests: Vec<String>,
    /// Every page names the last mail of the page before it again.
    pub repeats: bool,
    drafts: HashMap<String, GraphDraft>,
    /// The names and bytes of the files that drafts were sent with.
    pub sent_files: Vec<(String, Vec<u8>)>,
}

/// A draft, and the files that were attached to it.
#[derive(Default)]
struct GraphDraft {
    raw: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
    /// The size of the file that is being uploaded, which is the last.
    uploads: usize,
}

#[derive(Default)]
struct GraphMailbox {
    inbox: Vec<GraphServerMail>,
    sent: Vec<GraphServerMail>,
}

struct GraphServerMail {
    id: String,
    received_at: i64,
    raw: Vec<u8>,
    is_gone: bool,
}

/// What happens to one request.
#[derive(Clone, Copy)]
pub enum GraphServerFault {
    /// It is not done, and answered with this status. 429 asks to wait for no time.
    Status(u16),
    /// The same, with the code of the error.
    Code(u16, &'static str),
    /// The same with this status, and it asks to wait so many seconds.
    RetryAfter(u16, u64),
    /// It is done, and nothing is answered.
    HangUp,
}

impl GraphServer {
    /// A server that takes the access tokens of this provider.
    pub fn start(provider: Arc<OAuthProviderServer>) -> GraphServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let base = format!("http://{address}/v1.0");
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(GraphShared { state, changed, provider, base });
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&served);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        GraphServer { address, shared }
    }

    /// The settings that lead a client of Microsoft's here.
    pub fn endpoints(&self) -> String {
        let (provider, base) = (self.shared.provider.address, &self.shared.base);
        format!("authorize=http://{provider}/authorize token=http://{provider}/token graph={base}")
    }

    pub fn state(&self) -> MutexGuard<'_, GraphState> {
        self.shared.state.lock().unwrap()
    }

    /// The account that signs in may use this mailbox.
    pub fn add_mailbox(&self, address: &str) {
        self.state().mailboxes.entry(address.to_owned()).or_default();
    }

    /// Puts a mail into the inbox, taken at this time; its id.
    pub fn deliver(&self, address: &str, mail: &str, at: i64) -> String {
        self.state().put(address, "inbox", mail.as_bytes().to_vec(), at)
    }

    /// Puts a mail into the folder of sent mail, as a mail program that sent it does.
    pub fn put_sent(&self, address: &str, mail: &str, at: i64) {
        self.state().put(address, "sentitems", mail.as_bytes().to_vec(), at);
    }

    /// Deletes a mail of the inbox.
    pub fn delete(&self, address: &str, id: &str) {
        let mut state = self.state();
        let inbox = &mut state.mailboxes.get_mut(address).unwrap().inbox;
        inbox.iter_mut().find(|mail| mail.id == id).unwrap().is_gone = true;
    }

    /// The mails of the folder of sent mail.
    pub fn sent_mails(&self, address: &str) -> Vec<String> {
        let state = self.state();
        let text = |mail: &GraphServerMail| String::from_utf8_lossy(&mail.raw).into_owned();
        state.mailboxes[address].sent.iter().map(text).collect()
    }

    /// The number of drafts that were neither sent nor removed.
    pub fn count_drafts(&self) -> usize {
        self.state().drafts.len()
    }

    /// The next request with this in its path fails so.
    pub fn fail_once(&self, part: &str, fault: GraphServerFault) {
        self.state().faults.push_back((part.to_owned(), fault));
    }

    /// No delta link is known any more.
    pub fn forget_links(&self) {
        self.state().generation += 1;
    }

    /// Lets requests with this in their path wait from now on.
    pub fn hold(&self, part: &'static str) {
        self.state().holds = Some(part);
    }

    /// True while a request waits.
    pub fn is_holding(&self) -> bool {
        self.state().held > 0
    }

    /// Lets all requests go on.
    pub fn release(&self) {
        self.state().holds = None;
        self.shared.changed.notify_all();
    }

    /// The methods and paths since the last call that have this in them.
    pub fn take_requests(&self, part: &str) -> Vec<String> {
        let all = std::mem::take(&mut self.state().requests);
        all.into_iter().filter(|request| request.contains(part)).collect()
    }
}

struct GraphRequest {
    method: String,
    url: Url,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl GraphRequest {
    fn header(&self, name: &str) -> String {
        let values = self.headers.iter().filter(|(known, _)| known == name);
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn query(&self, name: &str) -> Option<String> {
        self.url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }
}

impl GraphState {
    fn put(&mut self, address: &str, folder: &str, raw: Vec<u8>, received_at: i64) -> String {
        self.next_id += 1;
        let id = format!("AAkALg-{}=", self.next_id);
        let mail = GraphServerMail { id: id.clone(), received_at, raw, is_gone: false };
        self.folder(address, folder).unwrap().push(mail);
        id
    }

    fn folder(&mut self, address: &str, folder: &str) -> Option<&mut Vec<GraphServerMail>> {
        let mailbox = self.mailboxes.get_mut(address)?;
        match folder {
            "inbox" => Some(&mut mailbox.inbox),
            "sentitems" => Some(&mut mailbox.sent),
            _ => None,
        }
    }

    /// The status and the body.
    fn answer(&mut self, request: &GraphRequest, base: &str) -> (u16, Vec<u8>) {
        let path = request.url.path().to_owned();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let ["v1.0", "users", address, rest @ ..] = parts.as_slice() else {
            return error(404, "BadRequest");
        };
        if !self.mailboxes.contains_key(*address) {
            return error(404, "ErrorInvalidUser");
        }
        match (request.method.as_str(), rest) {
            ("GET", ["mailFolders", folder, "messages", "delta"]) => {
                self.delta(request, address, folder, base)
            }
            ("GET", ["mailFolders", "sentitems", "messages"]) => self.find_sent(request, address),
            ("GET", ["mailFolders", "drafts", "messages"]) => self.find_drafts(request),
            ("GET", ["mailFolders", folder]) => match self.folder(address, folder) {
                Some(mails) => json_of(&json!({ "totalItemCount": mails.len() })),
                None => error(404, "ErrorFolderNotFound"),
            },
            ("GET", ["messages", id, "$value"]) => {
                let mailbox = &self.mailboxes[*address];
                let mut all = mailbox.inbox.iter().chain(&mailbox.sent);
                match all.find(|mail| mail.id == *id && !mail.is_gone) {
                    Some(mail) => (200, mail.raw.clone()),
                    None => error(404, "ErrorItemNotFound"),
                }
            }
            ("POST", ["sendMail"]) => match decode_mail(request) {
                Ok(mail) => self.send(address, mail),
                Err(error) => error,
            },
            ("POST", ["messages"]) => match decode_mail(request) {
                Ok(raw) => {
                    self.next_id += 1;
                    let id = format!("AAkDraft-{}=", self.next_id);
                    self.drafts.insert(id.clone(), GraphDraft { raw, ..GraphDraft::default() });
                    (201, json!({ "id": id }).to_string().into_bytes())
                }
                Err(error) => error,
            },
            (method, ["messages", id, rest @ ..]) if self.drafts.contains_key(*id) => {
                self.change_draft(request, address, id, (method, rest), base)
            }
            (_, ["messages", _, ..]) => error(404, "ErrorItemNotFound"),
            _ => error(400, "BadRequest"),
        }
    }

    /// A page of a listing, from the newest to the oldest. Its links say from and up to which mail the
    /// listing goes, and what of it was told.
    fn delta(
        &mut self,
        request: &GraphRequest,
        address: &str,
        folder: &str,
        base: &str,
    ) -> (u16, Vec<u8>) {
        if !request.header("prefer").contains(r#"IdType="ImmutableId""#) {
            return error(400, "ErrorIdsAreNotStable");
        }
        let (generation, repeats) = (self.generation, self.repeats);
        let Some(mails) = self.folder(address, folder) else {
            return error(404, "ErrorFolderNotFound");
        };
        let token = request.query("$skiptoken").or_else(|| request.query("$deltatoken"));
        let numbers: Vec<usize> = match &token {
            None if request.url.query() != Some(FIRST_QUERY) => return error(400, "BadRequest"),
            None => vec![generation, 0, mails.len(), 0],
            Some(token) => token.split('.').map(|number| number.parse().unwrap()).collect(),
        };
        let (from, upto, offset) = match numbers.as_slice() {
            [of, ..] if *of != generation => return error(410, "syncStateNotFound"),
            [_, from, upto, offset] => (*from, *upto, *offset),
            [_, from] => (*from, mails.len(), 0),
            _ => return error(400, "BadRequest"),
        };
        let listed: Vec<&GraphServerMail> = mails[from..upto].iter().rev().collect();
        let end = (offset + PAGE_MAILS).min(listed.len());
        let begin = offset.saturating_sub(usize::from(repeats));
        let items: Vec<Value> = listed[begin..end].iter().map(|mail| mail.item()).collect();
        let place = format!("{base}/users/{address}/mailFolders/{folder}/messages/delta");
        let mut page = json!({ "@odata.context": "x", "value": items });
        if end < listed.len() {
            let link = format!("{place}?$skiptoken={generation}.{from}.{upto}.{end}");
            page["@odata.nextLink"] = json!(link);
        } else {
            let link = format!("{place}?$deltatoken={generation}.{upto}");
            page["@odata.deltaLink"] = json!(link);
        }
        json_of(&page)
    }

    fn find_drafts(&self, request: &GraphRequest) -> (u16, Vec<u8>) {
        let Some(wanted) = wanted_message_id(request) else {
            return error(400, "ErrorInvalidUrlQueryFilter");
        };
        let found = self.drafts.iter();
        let found = found.filter(|(_, draft)| field(&draft.raw, "Message-ID").trim() == wanted);
        let found: Vec<Value> = found.map(|(id, _)| json!({ "id": id })).collect();
        json_of(&json!({ "value": found }))
    }

    fn find_sent(&self, request: &GraphRequest, address: &str) -> (u16, Vec<u8>) {
        let Some(wanted) = wanted_message_id(request) else {
            return error(400, "ErrorInvalidUrlQueryFilter");
        };
        let sent = self.mailboxes[address].sent.iter();
        let found: Vec<Value> = sent
            .filter(|mail| field(&mail.raw, "Message-ID").trim() == wanted)
            .map(|mail| {
                let of = |name: &str| -> Vec<Value> {
                    let all = addresses(&field(&mail.raw, name));
                    all.iter().map(|to| json!({ "emailAddress": { "address": to } })).collect()
                };
                json!({ "id": mail.id, "toRecipients": of("To"), "ccRecipients": of("Cc"),
                    "bccRecipients": of("Bcc") })
            })
            .collect();
        json_of(&json!({ "value": found }))
    }

    fn change_draft(
        &mut self,
        request: &GraphRequest,
        address: &str,
        id: &str,
        (method, rest): (&str, &[&str]),
        base: &str,
    ) -> (u16, Vec<u8>) {
        let mut draft = self.drafts.remove(id).unwrap();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let answer = match (method, rest) {
            ("DELETE", []) => return (204, Vec::new()),
            ("POST", ["send"]) => {
                self.sent_files.extend(draft.files);
                return self.send(address, draft.raw);
            }
            ("POST", ["attachments"]) => {
                let bytes = STANDARD.decode(text(&body["contentBytes"])).unwrap();
                draft.files.push((text(&body["name"]), bytes));
                (201, b"{}".to_vec())
            }
            ("POST", ["attachments", "createUploadSession"]) => {
                let item = &body["AttachmentItem"];
                draft.files.push((text(&item["name"]), Vec::new()));
                draft.uploads = usize::try_from(item["size"].as_u64().unwrap()).unwrap();
                let place = base.trim_end_matches("/v1.0");
                let url = json!({ "uploadUrl": format!("{place}/upload/{id}") });
                (201, url.to_string().into_bytes())
            }
            _ => error(400, "BadRequest"),
        };
        self.drafts.insert(id.to_owned(), draft);
        answer
    }

    /// A piece of a file; the address is the key, and a token must not come along.
    fn upload(&mut self, request: &GraphRequest) -> (u16, Vec<u8>) {
        let id = request.url.path().trim_start_matches("/upload/").to_owned();
        let Some(draft) = self.drafts.get_mut(&id) else { return error(404, "itemNotFound") };
        let (_, bytes) = draft.files.last_mut().unwrap();
        let end = bytes.len() + request.body.len();
        let range = format!("bytes {}-{}/{}", bytes.len(), end - 1, draft.uploads);
        if !request.header("authorization").is_empty() || request.header("content-range") != range {
            return error(400, "invalidRequest");
        }
        bytes.extend_from_slice(&request.body);
        match bytes.len() == draft.uploads {
            true => (201, Vec::new()),
            false => json_of(&json!({ "nextExpectedRanges": [end.to_string()] })),
        }
    }

    fn send(&mut self, address: &str, mail: Vec<u8>) -> (u16, Vec<u8>) {
        let everyone = ["To", "Cc", "Bcc"].map(|name| addresses(&field(&mail, name)));
        if everyone.iter().all(Vec::is_empty) {
            return error(400, "ErrorInvalidRecipients");
        }
        // It is sent at the time of the newest mail.
        let at = self.mailboxes[address].inbox.iter().map(|mail| mail.received_at).max();
        self.put(address, "sentitems", mail, at.unwrap_or_default());
        (202, Vec::new())
    }
}

impl GraphServerMail {
    fn item(&self) -> Value {
        if self.is_gone {
            return json!({ "id": self.id, "@removed": { "reason": "deleted" } });
        }
        json!({
            "@odata.etag": "W/\"x\"",
            "id": self.id,
            "receivedDateTime": Moment(self.received_at).iso(),
            "internetMessageId": field(&self.raw, "Message-ID").trim(),
        })
    }
}

/// The Message-ID, in angle brackets, that a search is for.
fn wanted_message_id(request: &GraphRequest) -> Option<String> {
    let filter = request.query("$filter")?;
    let quoted = filter.strip_prefix("internetMessageId eq '")?.strip_suffix('\'')?;
    Some(quoted.replace("''", "'"))
}

/// The mail in the body of a request.
fn decode_mail(request: &GraphRequest) -> Result<Vec<u8>, (u16, Vec<u8>)> {
    if request.header("content-type") != "text/plain" {
        return Err(error(415, "UnsupportedMediaType"));
    }
    STANDARD.decode(&request.body).map_err(|_| error(400, "ErrorMimeContentInvalidBase64String"))
}

fn error(status: u16, code: &str) -> (u16, Vec<u8>) {
    let body = json!({ "error": { "code": code, "message": "Something is not right." } });
    (status, body.to_string().into_bytes())
}

fn json_of(body: &Value) -> (u16, Vec<u8>) {
    (200, body.to_string().into_bytes())
}

/// A field of a mail's header, unfolded; empty where there is none.
fn field(mail: &[u8], name: &str) -> String {
    let mail = String::from_utf8_lossy(mail).replace("\r\n", "\n");
    let header = mail.split("\n\n").next().unwrap_or_default();
    let header = header.replace("\n ", " ").replace("\n\t", " ");
    let found = header.lines().filter_map(|line| line.split_once(':'));
    let mut found = found.filter(|(known, _)| known.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.to_owned()).unwrap_or_default()
}

/// The addresses of a field, which stand in angle brackets.
fn addresses(field: &str) -> Vec<String> {
    let parts = field.split('<').skip(1).filter_map(|part| part.split_once('>'));
    parts.map(|(address, _)| address.to_owned()).collect()
}

/// Answers one request and hangs up.
fn serve(mut stream: TcpStream, shared: &GraphShared) {
    let Some(request) = read_request(&stream) else { return };
    let path = request.url.path().to_owned();
    let bearer = request.header("authorization");
    let is_known = bearer.strip_prefix("Bearer ").is_some_and(|token| shared.provider.knows(token));
    let mut state = shared.state.lock().unwrap();
    state.requests.push(format!("{} {path}", request.method));
    while state.holds.is_some_and(|part| path.contains(part)) {
        state.held += 1;
        state = shared.changed.wait(state).unwrap();
        state.held -= 1;
    }
    let place = state.faults.iter().position(|(part, _)| path.contains(part.as_str()));
    let fault = place.and_then(|place| state.faults.remove(place)).map(|(_, fault)| fault);
    let (status, body) = match fault {
        Some(GraphServerFault::Code(status, code)) => error(status, code),
        Some(GraphServerFault::Status(status) | GraphServerFault::RetryAfter(status, _)) => {
            error(status, "TestFault")
        }
        _ if request.body.len() > REQUEST_BYTES => error(413, "RequestBodyTooLarge"),
        _ if path.starts_with("/upload/") => state.upload(&request),
        _ if !is_known => error(401, "InvalidAuthenticationToken"),
        _ => state.answer(&request, &shared.base),
    };
    drop(state);
    if matches!(fault, Some(GraphServerFault::HangUp)) {
        return;
    }
    let wait = match fault {
        Some(GraphServerFault::RetryAfter(_, seconds)) => seconds,
        _ => 0,
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nRetry-After: {wait}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn read_request(stream: &TcpStream) -> Option<GraphRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let url = Url::parse(&format!("http://graph{target}")).ok()?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut request = GraphRequest { method, url, headers, body: Vec::new() };
    let bytes = request.header("content-length").parse().unwrap_or(0);
    request.body.resize(bytes, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}
