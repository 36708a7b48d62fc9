//! The configuration file that a domain offers to mail programs (`config-v1.1.xml`).

use std::time::Duration;

use inbound::imap::Security;
use model::mailboxes::outgoing_servers::SubmissionSecurity;
use roxmltree::Node;

use super::discovery::{DiscoverySource, ServerDiscovery};
use super::servers::{IncomingServer, OutgoingServer};
use crate::net::https_fetch::Pages;
use crate::net::xml::parse_xml;

/// The largest file that is read, in bytes, and its elements.
pub const CONFIG_BYTES: usize = 64 * 1024;
const CONFIG_NODES: u32 = 2_000;
/// One deadline for name, connection and file.
pub const CONFIG_TIME: Duration = Duration::from_secs(5);

/// The servers that a domain's own file names; only HTTPS is asked, without redirects.
pub async fn find(pages: &Pages, address: &str, domain: &str) -> Option<ServerDiscovery> {
    let places = [
        format!("https://autoconfig.{domain}/mail/config-v1.1.xml"),
        format!("https://{domain}/.well-known/autoconfig/mail/config-v1.1.xml"),
    ];
    let [first, second] = places.map(|url| async move {
        let page = pages.get(&url, CONFIG_BYTES).await.ok()?;
        (page.status == 200).then_some(page.body)
    });
    let (first, second) = tokio::join!(first, second);
    let mut files = first.into_iter().chain(second);
    files.find_map(|file| read(&String::from_utf8_lossy(&file), address))
}

/// The first IMAP and SMTP servers of a file that encrypt.
pub fn read(file: &str, address: &str) -> Option<ServerDiscovery> {
    let file = file.trim_start_matches('\u{feff}').trim_start();
    let document = parse_xml(file, CONFIG_NODES)?;
    let root = document.root_element();
    let all = |name: &'static str, kind: &'static str| {
        let elements = root.descendants().filter(move |node| node.has_tag_name(name));
        elements.filter(move |node| node.attribute("type") == Some(kind))
    };
    let incoming = all("incomingServer", "imap").find_map(|node| {
        let (host, port) = place(node, address)?;
        let security = match text(node, "socketType")? {
            "SSL" => Security::Tls,
            "STARTTLS" => Security::StartTls,
            _ => return None,
        };
        Some((IncomingServer { host, port, security }, node))
    });
    let outgoing = all("outgoingServer", "smtp").find_map(|node| {
        let (host, port) = place(node, address)?;
        let security = match text(node, "socketType")? {
            "SSL" => SubmissionSecurity::Tls,
            "STARTTLS" => SubmissionSecurity::StartTls,
            _ => return None,
        };
        Some(OutgoingServer { host, port, security })
    });
    let (incoming, node) = incoming?;
    let username = text(node, "username").map(|name| fill(name, address));
    Some(ServerDiscovery {
        incoming: Some(incoming),
        outgoing,
        username: username.unwrap_or_else(|| address.to_owned()),
        source: DiscoverySource::Autoconfig,
        provider: None,
    })
}

fn place(node: Node<'_, '_>, address: &str) -> Option<(String, u16)> {
    let host = fill(text(node, "hostname")?, address).to_ascii_lowercase();
    let port = text(node, "port")?.parse().ok().filter(|port| *port > 0)?;
    mail::ascii_domain(&host).map(|host| (host, port))
}

fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let child = node.children().find(|child| child.has_tag_name(name))?;
    child.text().map(str::trim).filter(|text| !text.is_empty() && text.len() <= 255)
}

/// A value with its placeholders filled in.
fn fill(text: &str, address: &str) -> String {
    let (local, domain) = address.rsplit_once('@').unwrap_or((address, ""));
    text.replace("%EMAILADDRESS%", address)
        .replace("%EMAILLOCALPART%", local)
        .replace("%EMAILDOMAIN%", domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
        <clientConfig version="1.1"><emailProvider id="acme.example">
          <incomingServer type="pop3"><hostname>pop.acme.example</hostname><port>995</port>
            <socketType>SSL</socketType></incomingServer>
          <incomingServer type="imap"><hostname>plain.acme.example</hostname><port>143</port>
            <socketType>plain</socketType></incomingServer>
          <incomingServer type="imap"><hostname>imap.%EMAILDOMAIN%</hostname><port>993</port>
            <socketType>SSL</socketType><username>%EMAILLOCALPART%</username></incomingServer>
          <outgoingServer type="smtp"><hostname>SMTP.acme.example</hostname><port>587</port>
            <socketType>STARTTLS</socketType><username>%EMAILADDRESS%</username></outgoingServer>
        </emailProvider></clientConfig>"#;

    #[test]
    fn the_first_servers_that_encrypt_are_taken_with_their_placeholders_filled_in() {
        let found = read(FILE, "desk@acme.example").expect("servers");
        let incoming = found.incoming.expect("a server");
        assert_eq!((incoming.host.as_str(), incoming.port), ("imap.acme.example", 993));
        let outgoing = found.outgoing.expect("a server");
        assert_eq!((outgoing.host.as_str(), outgoing.port), ("smtp.acme.example", 587));
        assert_eq!(outgoing.security, SubmissionSecurity::StartTls);
        assert_eq!(found.username, "desk");
    }

    #[test]
    fn a_hostile_file_finds_nothing() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"c\">]><clientConfig>&b;</clientConfig>";
        let deep = "<a>".repeat(20_000);
        let page = "<html><body>Not found</body></html>";
        let words = FILE.replace("imap.%EMAILDOMAIN%", "imap.acme.example/../x y");
        for file in ["", bomb, &deep, page, &words, "{}"] {
            assert!(read(file, "desk@acme.example").is_none(), "{}", &file[..file.len().min(40)]);
        }
    }
}
