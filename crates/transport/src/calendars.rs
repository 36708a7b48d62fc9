//! Reads hosts' calendars: an ICS feed by its address, or a CalDAV calendar with an app password (RFC
//! 4791), through the same guard as webhooks.

use std::time::Duration;

use bookings::calendars::{CalendarAnswer, CalendarKind, CalendarSource};
use jobs::{BoxFuture, CalendarReader};
use reqwest::header::{ETAG, IF_NONE_MATCH, LOCATION};
use reqwest::{Method, Response};
use roxmltree::Node;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use crate::net::config::NetConfig;
use crate::net::failures;
use crate::net::http_client::{WebhookClient, system_roots};
use crate::net::pins::DnsPins;
use crate::net::ssrf_guard::{Allowed, Blocked, SsrfGuard};
use crate::net::xml::parse_xml;

/// Time for one calendar, all its requests included.
const DEADLINE: Duration = Duration::from_secs(30);
/// Redirects that are followed.
const REDIRECTS: usize = 3;
/// Calendars of one CalDAV account.
const CALENDARS: usize = 20;
/// Bytes of an answer.
const ANSWER_BYTES: usize = calendar::limits::FEED_BYTES;
/// Elements and texts of an answer of CalDAV.
const ANSWER_NODES: u32 = 500_000;

const DAV: &str = "DAV:";
const CALDAV: &str = "urn:ietf:params:xml:ns:caldav";
const CALENDAR_SERVER: &str = "http://calendarserver.org/ns/";

const FIND: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<d:propfind xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/">
<d:prop><d:resourcetype/><d:current-user-principal/><c:calendar-home-set/><s:getctag/></d:prop>
</d:propfind>"#;

const EVENTS: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">
<d:prop><c:calendar-data/></d:prop>
<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"/></c:comp-filter></c:filter>
</c:calendar-query>"#;

/// The calendar reader over HTTPS.
pub struct HttpCalendarReader {
    ssrf_guard: SsrfGuard,
    pins: DnsPins,
    line: WebhookClient,
}

impl HttpCalendarReader {
    pub fn of(config: &NetConfig) -> Result<HttpCalendarReader, String> {
        HttpCalendarReader::new(SsrfGuard::of(config)?)
    }

    pub fn new(ssrf_guard: SsrfGuard) -> Result<HttpCalendarReader, String> {
        let pins = DnsPins::default();
        let allow_http = ssrf_guard.rules().allow_private;
        let line = WebhookClient::new(system_roots(), pins.clone(), DEADLINE, allow_http)?;
        Ok(HttpCalendarReader { ssrf_guard, pins, line })
    }
}

impl CalendarReader for HttpCalendarReader {
    fn read<'a>(&'a self, source: &'a CalendarSource) -> BoxFuture<'a, CalendarAnswer> {
        Box::pin(async move {
            let until = Instant::now() + DEADLINE;
            let reading = async {
                match source.kind {
                    CalendarKind::Ics => self.read_feed(source).await,
                    CalendarKind::CalDav => self.read_account(source).await,
                }
            };
            let read = timeout_at(until, reading).await;
            let read = read.unwrap_or_else(|_| Err(failures::too_slow(DEADLINE)));
            read.unwrap_or_else(CalendarAnswer::Failed)
        })
    }
}

/// What is asked of a calendar's server.
struct CalendarRequest<'a> {
    method: Method,
    url: &'a str,
    /// `Depth` and body of a CalDAV request.
    query: Option<(&'a str, &'a str)>,
    source: &'a CalendarSource,
}

struct ServerAnswer {
    url: Url,
    etag: String,
    is_unchanged: bool,
    body: Vec<u8>,
}

impl HttpCalendarReader {
    async fn read_feed(&self, source: &CalendarSource) -> Result<CalendarAnswer, String> {
        let asked =
            CalendarRequest { method: Method::GET, url: &source.address, query: None, source };
        let answer = self.ask(&asked).await?;
        Ok(match answer.is_unchanged {
            true => CalendarAnswer::Unchanged,
            false => CalendarAnswer::Feed { bytes: answer.body, etag: answer.etag },
        })
    }

    /// One calendar by its own address, or every calendar of an account.
    async fn read_account(&self, source: &CalendarSource) -> Result<CalendarAnswer, String> {
        let found = self.find_calendars(source).await?;
        if found.is_empty() {
            return Err("There is no calendar at this address.".into());
        }
        let etag: Vec<&str> = found.iter().map(|calendar| calendar.ctag.as_str()).collect();
        let is_tagged = etag.iter().all(|ctag| !ctag.is_empty());
        let etag = if is_tagged { etag.join(" ") } else { String::new() };
        if is_tagged && etag == source.etag {
            return Ok(CalendarAnswer::Unchanged);
        }
        let mut bytes = Vec::new();
        for calendar in &found {
            let asked = CalendarRequest {
                method: method("REPORT"),
                url: calendar.url.as_str(),
                query: Some(("1", EVENTS)),
                source,
            };
            let answer = self.ask(&asked).await?;
            let text = String::from_utf8_lossy(&answer.body);
            let document = parse_xml(&text, ANSWER_NODES).ok_or_else(unreadable)?;
            let is_data = |node: &Node<'_, '_>| node.has_tag_name((CALDAV, "calendar-data"));
            for data in document.descendants().filter(is_data).filter_map(|node| node.text()) {
                bytes.extend_from_slice(data.trim().as_bytes());
                bytes.extend_from_slice(b"\r\n");
                if bytes.len() > ANSWER_BYTES {
                    return Err(too_large());
                }
            }
        }
        if bytes.is_empty() {
            bytes = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n".to_vec();
        }
        Ok(CalendarAnswer::Feed { bytes, etag })
    }

    /// The address itself if it is a calendar; else the calendars of the account behind it.
    async fn find_calendars(&self, source: &CalendarSource) -> Result<Vec<DavResource>, String> {
        let mut at = source.address.clone();
        // From any address to the person, from there to the home of their calendars.
        for _ in 0..REDIRECTS {
            let found = self.properties(&at, "0", source).await?;
            let first = found.into_iter().next().ok_or_else(unreadable)?;
            if first.is_calendar {
                return Ok(vec![first]);
            }
            match (first.home, first.principal) {
                (Some(home), _) => {
                    let inside = self.properties(home.as_str(), "1", source).await?;
                    let calendars = inside.into_iter().filter(|one| one.is_calendar);
                    return Ok(calendars.take(CALENDARS).collect());
                }
                (None, Some(principal)) if principal.as_str() != at => at = principal.into(),
                (None, _) => {
                    let inside = self.properties(&at, "1", source).await?;
                    let calendars = inside.into_iter().filter(|one| one.is_calendar);
                    return Ok(calendars.take(CALENDARS).collect());
                }
            }
        }
        Ok(Vec::new())
    }

    async fn properties(
        &self,
        url: &str,
        depth: &str,
        source: &CalendarSource,
    ) -> Result<Vec<DavResource>, String> {
        let query = Some((depth, FIND));
        let asked = CalendarRequest { method: method("PROPFIND"), url, query, source };
        let answer = self.ask(&asked).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let document = parse_xml(&text, ANSWER_NODES).ok_or_else(unreadable)?;
        let is_response = |node: &Node<'_, '_>| node.has_tag_name((DAV, "response"));
        let responses = document.descendants().filter(is_response);
        Ok(responses.filter_map(|node| DavResource::of(node, &answer.url)).collect())
    }

    /// Asks a calendar's server, and follows where it leads; each address is checked.
    async fn ask(&self, asked: &CalendarRequest<'_>) -> Result<ServerAnswer, String> {
        let mut url = asked.url.to_owned();
        for _ in 0..=REDIRECTS {
            let admitted = self.ssrf_guard.admit(&url).await;
            let Allowed { url: checked, addresses } = admitted.map_err(blocked_sentence)?;
            let _pinned = match checked.host() {
                Some(Host::Domain(name)) => Some(self.pins.hold(name, &addresses)),
                _ => None,
            };
            let response = self.send(asked, checked.clone()).await?;
            if response.status().is_redirection() && response.status().as_u16() != 304 {
                let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
                let next = location.and_then(|to| checked.join(to).ok()).ok_or_else(unreadable)?;
                // A password goes to the server that it was given for, and to no other.
                if asked.query.is_some() && next.origin() != checked.origin() {
                    return Err("The server leads to another one; use that one's address.".into());
                }
                url = next.into();
                continue;
            }
            return read_answer(response, checked).await;
        }
        Err("The address leads on and on.".into())
    }

    async fn send(&self, asked: &CalendarRequest<'_>, url: Url) -> Result<Response, String> {
        let client = self.line.client(Instant::now());
        let mut request = client.request(asked.method.clone(), url);
        request = match asked.query {
            Some((depth, body)) => request
                .basic_auth(&asked.source.user, Some(&asked.source.password))
                .header("Depth", depth)
                .header("Content-Type", "application/xml; charset=utf-8")
                .body(body.to_owned()),
            None if asked.source.etag.is_empty() => request,
            None => request.header(IF_NONE_MATCH, &asked.source.etag),
        };
        let sent = request.send().await;
        sent.map_err(|error| failures::of(&error.without_url(), DEADLINE))
    }
}

async fn read_answer(mut response: Response, url: Url) -> Result<ServerAnswer, String> {
    let status = response.status().as_u16();
    let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
    let etag = etag.unwrap_or_default().to_owned();
    match status {
        304 => return Ok(ServerAnswer { url, etag, is_unchanged: true, body: Vec::new() }),
        200..=299 => {}
        401 | 403 => return Err("The server refuses the address or the app password.".into()),
        404 | 410 => return Err("There is no calendar at this address any more.".into()),
        status => return Err(format!("The server answered with the status {status}.")),
    }
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| failures::of(&error.without_url(), DEADLINE))?;
        let Some(chunk) = chunk else { break };
        if body.len() + chunk.len() > ANSWER_BYTES {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(ServerAnswer { url, etag, is_unchanged: false, body })
}

/// What a server says of one address.
struct DavResource {
    url: Url,
    is_calendar: bool,
    /// Changes with every change of the calendar; empty where the server has none.
    ctag: String,
    principal: Option<Url>,
    home: Option<Url>,
}

impl DavResource {
    fn of(response: Node<'_, '_>, base: &Url) -> Option<DavResource> {
        let is_href = |node: &Node<'_, '_>| node.has_tag_name((DAV, "href"));
        let href = response.children().find(is_href)?.text()?.trim();
        let named = |namespace, name| {
            response.descendants().find(move |node| node.has_tag_name((namespace, name)))
        };
        let led_to = |namespace, name| {
            let mut inside = named(namespace, name)?.descendants();
            let href = inside.find(is_href)?.text()?;
            base.join(href.trim()).ok()
        };
        let kind = named(DAV, "resourcetype")?;
        Some(DavResource {
            url: base.join(href).ok()?,
            is_calendar: kind.descendants().any(|node| node.has_tag_name((CALDAV, "calendar"))),
            ctag: named(CALENDAR_SERVER, "getctag")
                .and_then(|node| node.text())
                .unwrap_or_default()
                .trim()
                .to_owned(),
            principal: led_to(DAV, "current-user-principal"),
            home: led_to(CALDAV, "calendar-home-set"),
        })
    }
}

fn method(name: &str) -> Method {
    Method::from_bytes(name.as_bytes()).unwrap_or(Method::GET)
}

fn blocked_sentence(blocked: Blocked) -> String {
    match blocked {
        Blocked::NotFound => failures::NOT_FOUND.to_owned(),
        Blocked::Refused(error) => error.to_string(),
    }
}

fn unreadable() -> String {
    "The server's answer cannot be read as a calendar.".into()
}

fn too_large() -> String {
    format!("The calendar is larger than {} MB.", ANSWER_BYTES / (1024 * 1024))
}
