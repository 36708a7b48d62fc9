//! A bucket of an object store that speaks the S3 protocol: reading, writing and removing objects, each
//! call signed with AWS Signature Version 4.

mod objects;
mod signature;

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::files::blob_files::BlobFiles;
use hyper::body::Bytes;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{CONTENT_RANGE, ETAG, IF_NONE_MATCH, RANGE};
use reqwest::{Client, Method, StatusCode};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::net::http_client::api_client;
use signature::signed_headers;

pub use objects::PART_BYTES;

/// A call that takes longer has failed; writing has more time for each megabyte, reading does not say
/// beforehand how much there is.
const CALL: Duration = Duration::from_secs(10);
const WRITE_EACH_MEGABYTE: Duration = Duration::from_secs(1);
const READ: Duration = Duration::from_secs(30);
/// After a call without an answer the store is left alone for so long, and calls fail at once: those
/// who wait for it must not all wait for its silence.
const REST: Duration = Duration::from_secs(3);
/// Attempts of a call that fails in passing.
const ATTEMPTS: u32 = 2;
/// The pause between them.
const PAUSE: Duration = Duration::from_millis(300);
/// The characters that a query keeps (RFC 3986, section 2.3), and those of a path.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const PATH: &AsciiSet = &QUERY.remove(b'/');

/// What stores say that know no conditions of writing.
const NO_CONDITIONS: StatusCode = StatusCode::NOT_IMPLEMENTED;

/// Where a bucket is, and who may use it.
#[derive(Clone)]
pub struct BucketConfig {
    pub bucket: String,
    /// Leads every name; empty, or with a slash at its end.
    pub prefix: String,
    /// Without a slash at the end; buckets are the first part of its paths.
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
    pub session_token: Option<String>,
}

/// Keys are never printed.
impl std::fmt::Debug for BucketConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "s3://{}/{}", self.bucket, self.prefix)
    }
}

impl BucketConfig {
    /// Reads `s3://BUCKET/PREFIX`, and the rest from the usual variables.
    pub fn parse(
        url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<BucketConfig, String> {
        let place = url.strip_prefix("s3://").ok_or("must be s3://BUCKET/PREFIX")?;
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let is_named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        if bucket.is_empty() || !bucket.chars().all(is_named) {
            return Err("must be s3://BUCKET/PREFIX".into());
        }
        let prefix = prefix.trim_matches('/');
        let named = |name: &str| variable(name).filter(|value| !value.is_empty());
        let needed = |name: &str| named(name).ok_or_else(|| format!("needs the variable {name}"));
        Ok(BucketConfig {
            bucket: bucket.into(),
            prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}/") },
            endpoint: named("AWS_ENDPOINT_URL_S3")
                .or_else(|| named("AWS_ENDPOINT_URL"))
                .map(|url| url.trim_end_matches('/').to_owned()),
            region: named("AWS_REGION")
                .or_else(|| named("AWS_DEFAULT_REGION"))
                .unwrap_or_else(|| "us-east-1".into()),
            access_key: needed("AWS_ACCESS_KEY_ID")?,
            secret_key: needed("AWS_SECRET_ACCESS_KEY")?,
            session_token: named("AWS_SESSION_TOKEN"),
        })
    }

    fn object_url(&self, name: &str) -> String {
        let key = utf8_percent_encode(&format!("{}{name}", self.prefix), PATH).to_string();
        format!("{}/{key}", self.bucket_url())
    }

    /// Where the bucket itself is asked; without a slash at the end.
    fn bucket_url(&self) -> String {
        match &self.endpoint {
            Some(endpoint) => format!("{endpoint}/{}", self.bucket),
            None => format!("https://{}.s3.{}.amazonaws.com", self.bucket, self.region),
        }
    }
}

/// A bucket in use. Calls run on a thread of their own, so that code that blocks may wait for them.
pub struct Bucket {
    config: BucketConfig,
    calls: UnboundedSender<SentCall>,
    /// Set from a call without an answer to the next answer.
    silence: Mutex<Option<Silence>>,
}

/// A store that does not answer.
struct Silence {
    /// Until then it is left alone.
    rests_until: Instant,
    /// One call asks whether it is back; the others fail at once meanwhile, instead of waiting together.
    is_asked: bool,
}

struct Call {
    method: Method,
    /// The name of an object; `None` asks the bucket itself.
    name: Option<String>,
    /// In the order of their names.
    query: Vec<(&'static str, String)>,
    /// The first and the last byte that are wanted.
    range: Option<(u64, u64)>,
    /// Writes nothing where an object of this name is.
    only_new: bool,
    body: Bytes,
}

impl Call {
    fn of(method: Method, name: &str) -> Call {
        Call {
            method,
            name: Some(name.to_owned()),
            query: Vec::new(),
            range: None,
            only_new: false,
            body: Bytes::new(),
        }
    }

    fn time(&self) -> Duration {
        if self.method == Method::GET {
            return READ;
        }
        CALL + WRITE_EACH_MEGABYTE * (self.body.len() / (1024 * 1024)) as u32
    }

    fn url(&self, config: &BucketConfig) -> Result<reqwest::Url, String> {
        let url = match &self.name {
            Some(name) => config.object_url(name),
            None => format!("{}/", config.bucket_url()),
        };
        let mut target = reqwest::Url::parse(&url).map_err(|_| format!("{url} is no address"))?;
        if !self.query.is_empty() {
            let encoded = |text: &str| utf8_percent_encode(text, QUERY).to_string();
            let parts = self.query.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
            target.set_query(Some(&parts.collect::<Vec<_>>().join("&")));
        }
        Ok(target)
    }
}

/// A call on its way to the thread that makes it.
struct SentCall {
    call: Call,
    answer: std::sync::mpsc::Sender<io::Result<Answer>>,
}

/// What the store said.
#[derive(Default)]
struct Answer {
    status: StatusCode,
    bytes: Vec<u8>,
    etag: Option<String>,
    /// The size of the whole object, where a part of it was asked for.
    size: Option<u64>,
}

impl Answer {
    fn is_found(&self) -> bool {
        self.status.is_success()
    }
}

impl Bucket {
    pub fn open(config: &BucketConfig) -> Result<Bucket, String> {
        let client = api_client(READ)?;
        let (calls, mut queue) = unbounded_channel::<SentCall>();
        let own = config.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let serve = move || {
            runtime.block_on(async move {
                while let Some(SentCall { call, answer }) = queue.recv().await {
                    let (client, config) = (client.clone(), own.clone());
                    tokio::spawn(async move {
                        let said = attempt(&client, &config, &call).await;
                        // Whoever asked may have given up.
                        let _ = answer.send(said);
                    });
                }
            });
        };
        std::thread::Builder::new()
            .name("bucket".into())
            .spawn(serve)
            .map_err(|error| error.to_string())?;
        Ok(Bucket { config: config.clone(), calls, silence: Mutex::default() })
    }

    fn call(&self, call: Call) -> io::Result<Answer> {
        let silence = || self.silence.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(silence) = &mut *silence() {
            if silence.is_asked || Instant::now() < silence.rests_until {
                return Err(no_answer_error());
            }
            silence.is_asked = true;
        }
        let answer = self.ask(call);
        if answer.is_err() {
            metrics::counter!("mailroom_blob_store_errors_total").increment(1);
        }
        let is_silent = answer.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut);
        let rests_until = Instant::now() + REST;
        *silence() = is_silent.then_some(Silence { rests_until, is_asked: false });
        answer
    }

    fn ask(&self, call: Call) -> io::Result<Answer> {
        let (answer, answered) = std::sync::mpsc::channel();
        let patience = (call.time() + PAUSE) * (ATTEMPTS + 1);
        self.calls
            .send(SentCall { call, answer })
            .map_err(|_| io::Error::other("the bucket is closed"))?;
        answered.recv_timeout(patience).unwrap_or_else(|_| Err(no_answer_error()))
    }
}

impl BlobFiles for Bucket {
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let answer = self.call(Call::of(Method::GET, name))?;
        if answer.is_found() { Ok(answer.bytes) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn write(&self, name: &str, bytes: Vec<u8>) -> io::Result<()> {
        let answer = self.call(Call { body: bytes.into(), ..Call::of(Method::PUT, name) })?;
        if answer.is_found() { Ok(()) } else { Err(io::Error::other("there is no such bucket")) }
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        Ok(self.call(Call::of(Method::HEAD, name))?.is_found())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.call(Call::of(Method::DELETE, name)).map(drop)
    }

    fn names(&self, each: &mut dyn FnMut(String)) -> io::Result<()> {
        self.list("", false, each)
    }

    fn label(&self) -> String {
        format!("{:?}", self.config)
    }
}

/// Calls the store, a second time where the first failed in passing.
async fn attempt(client: &Client, config: &BucketConfig, call: &Call) -> io::Result<Answer> {
    let mut last = no_answer_error();
    for number in 0..ATTEMPTS {
        if number > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        match send(client, config, call, Timestamp::now()).await {
            Ok(answer) => return Ok(answer),
            Err(Failure::Refused(error)) => return Err(error),
            Err(Failure::Passing(error)) => last = error,
        }
    }
    Err(last)
}

enum Failure {
    Passing(io::Error),
    Refused(io::Error),
}

async fn send(
    client: &Client,
    config: &BucketConfig,
    call: &Call,
    now: Timestamp,
) -> Result<Answer, Failure> {
    let refused = |what: String| Failure::Refused(io::Error::other(what));
    let target = call.url(config).map_err(refused)?;
    let mut request = client.request(call.method.clone(), target.clone());
    // The client writes the host itself.
    let headers = signed_headers(config, call, &target, now);
    for (name, value) in headers.into_iter().filter(|(name, _)| *name != "host") {
        request = request.header(name, value);
    }
    if let Some((first, last)) = call.range {
        request = request.header(RANGE, format!("bytes={first}-{last}"));
    }
    if call.only_new {
        request = request.header(IF_NONE_MATCH, "*");
    }
    // Errors of the client name the address, which holds no secret.
    let passing = |error: reqwest::Error| {
        let is_silent = error.is_timeout() || error.is_connect();
        let kind = if is_silent { io::ErrorKind::TimedOut } else { io::ErrorKind::Other };
        Failure::Passing(io::Error::new(kind, error.to_string()))
    };
    let request = request.timeout(call.time()).body(call.body.clone());
    let answer = request.send().await.map_err(passing)?;
    let status = answer.status();
    if status.is_success() {
        let header = |name| {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
            value.map(str::to_owned)
        };
        let (etag, range) = (header(ETAG), header(CONTENT_RANGE));
        let size = range.and_then(|range| range.rsplit_once('/')?.1.parse().ok());
        let bytes = answer.bytes().await.map_err(passing)?.to_vec();
        return Ok(Answer { status, bytes, etag, size });
    }
    let is_answer = status == StatusCode::NOT_FOUND
        || (call.only_new && [StatusCode::PRECONDITION_FAILED, NO_CONDITIONS].contains(&status));
    if is_answer {
        return Ok(Answer { status, ..Answer::default() });
    }
    let sentence = format!("the object store answered {status}");
    let is_passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    Err(match is_passing {
        true => Failure::Passing(io::Error::new(io::ErrorKind::ResourceBusy, sentence)),
        false => Failure::Refused(io::Error::other(sentence)),
    })
}

fn no_answer_error() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the object store does not answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str, endpoint: &str) -> Result<BucketConfig, String> {
        BucketConfig::parse(url, &|name| match name {
            "AWS_ACCESS_KEY_ID" => Some("AKIAIOSFODNN7EXAMPLE".into()),
            "AWS_SECRET_ACCESS_KEY" => Some("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into()),
            "AWS_ENDPOINT_URL" => Some(endpoint.into()),
            _ => None,
        })
    }

    /// The signature was made with Amazon's own library.
    #[test]
    fn a_call_is_signed_as_amazon_does() {
        let config = config("s3://mail/a/b", "http://127.0.0.1:5000").unwrap();
        let call = Call { body: Bytes::from("hello"), ..Call::of(Method::PUT, "ab/c d") };
        let url = call.url(&config).unwrap();
        let at: Timestamp = "2026-11-16T17:11:35Z".parse().unwrap();
        let headers = signed_headers(&config, &call, &url, at);
        let signature = headers.last().unwrap().1.rsplit_once('=').unwrap().1.to_owned();
        assert_eq!(signature, "2f74380506f066f21134ba0ae1bca01e728d5304065ccb3e41147ad02f985d96");
    }

    #[test]
    fn a_bucket_is_named_and_found() {
        let there = |url, endpoint| config(url, endpoint).map(|config| config.object_url("ab/c d"));
        assert_eq!(
            there("s3://mail", "").as_deref(),
            Ok("https://mail.s3.us-east-1.amazonaws.com/ab/c%20d")
        );
        assert_eq!(
            there("s3://mail/a/b/", "http://127.0.0.1:5000/").as_deref(),
            Ok("http://127.0.0.1:5000/mail/a/b/ab/c%20d")
        );
        for bad in ["s3://", "s3:///a", "s3://Big", "https://x"] {
            assert!(config(bad, "").is_err(), "{bad}");
        }
        let keyless = BucketConfig::parse("s3://mail", &|_| None).err().unwrap();
        assert!(keyless.contains("AWS_ACCESS_KEY_ID"), "{keyless}");
    }
}
