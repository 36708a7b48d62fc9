//! A help desk on a port of its own: it answers what a fixture says, to whoever has the key.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Map, Value};

/// Serves a JSON object whose names are paths with their queries. `{"$bytes": …}` is a file, and
/// `{"$redirect": …}` leads on; `ADDRESS` in a text is the server's own.
pub struct HelpDeskServer {
    pub address: SocketAddr,
    state: Arc<Mutex<DeskState>>,
}

struct DeskState {
    /// A header and what it has to be.
    key: (String, String),
    pages: Map<String, Value>,
    requests: Vec<String>,
    /// The header that says how long to wait.
    retry_header: String,
    /// The status that the next request of a path is answered with.
    failures: HashMap<String, u16>,
}

impl HelpDeskServer {
    pub fn start((header, value): (&str, &str), fixture: &str) -> HelpDeskServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let fixture = fixture.replace("ADDRESS", &format!("http://{address}"));
        let state = Arc::new(Mutex::new(DeskState {
            key: (header.to_owned(), value.to_owned()),
            pages: serde_json::from_str(&fixture).unwrap(),
            requests: Vec::new(),
            retry_header: "Retry-After".to_owned(),
            failures: HashMap::new(),
        }));
        let served = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&served);
                thread::spawn(move || serve(stream, &state));
            }
        });
        HelpDeskServer { address, state }
    }

    /// Answers the next request of a path with this status; 429 asks to wait for no time.
    pub fn fail_once(&self, path: &str, status: u16) {
        self.state.lock().unwrap().failures.insert(path.to_owned(), status);
    }

    /// Has another header say how long to wait.
    pub fn retry_by(&self, header: &str) {
        self.state.lock().unwrap().retry_header = header.to_owned();
    }

    /// Everything that it answers with, by path.
    pub fn pages(&self) -> Map<String, Value> {
        self.state.lock().unwrap().pages.clone()
    }

    /// Puts something else at a path.
    pub fn put(&self, path: &str, page: Value) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    pub fn page(&self, path: &str) -> Value {
        self.state.lock().unwrap().pages[path].clone()
    }

    /// The paths that were asked for since the last call.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

impl DeskState {
    /// The status, a header and the body.
    fn answer(&mut self, path: &str, headers: &HashMap<String, String>) -> (u16, String, Vec<u8>) {
        self.requests.push(path.to_owned());
        let (name, value) = &self.key;
        if headers.get(name) != Some(value) {
            return (401, String::new(), b"{}".to_vec());
        }
        if let Some(status) = self.failures.remove(path) {
            return (status, format!("{}: 0\r\n", self.retry_header), Vec::new());
        }
        let Some(page) = self.pages.get(path) else {
            return (404, String::new(), b"{}".to_vec());
        };
        match (page["$bytes"].as_str(), page["$redirect"].as_str()) {
            (Some(bytes), _) => (200, String::new(), bytes.as_bytes().to_vec()),
            (_, Some(to)) => (302, format!("Location: {to}\r\n"), Vec::new()),
            _ => (200, "Content-Type: application/json\r\n".into(), page.to_string().into_bytes()),
        }
    }
}

/// Answers one request and hangs up.
fn serve(mut stream: TcpStream, state: &Mutex<DeskState>) {
    let Some((path, headers)) = request(&stream) else { return };
    let (status, header, body) = state.lock().unwrap().answer(&path, &headers);
    let head = format!(
        "HTTP/1.1 {status} X\r\n{header}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// The path with its query, and the headers by their names in lower case.
fn request(stream: &TcpStream) -> Option<(String, HashMap<String, String>)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    Some((path, headers))
}
