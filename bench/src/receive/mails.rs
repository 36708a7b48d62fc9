//! Mail as customers write it: two kinds of text, histories, files, signatures.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mail_auth::common::crypto::Ed25519Key;
use mail_auth::common::headers::HeaderWriter;
use mail_auth::dkim::DkimSigner;
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use test_dns::{DnsAnswer, DnsRecord, DnsServer};

use crate::fill::words::Vocabulary;

/// The smallest and the largest mail, in bytes; sizes between are as frequent as their logarithm.
const SMALLEST: f64 = 2_000.0;
const LARGEST: f64 = 60_000.0;
/// The largest mail of a thread.
const LONGEST_ANSWER: f64 = 30_000.0;
/// Mails from this size on carry a file for most of it.
const WITH_FILE: usize = 20_000;
/// Domains that customers write from.
const DOMAINS: usize = 500;
const SELECTOR: &str = "s1";

/// A mail but for its Message-ID, which is not signed and which each copy gets anew.
pub struct SampleMail {
    pub sender: String,
    bytes: Vec<u8>,
}

impl SampleMail {
    pub fn with_id(&self, id: &str) -> Vec<u8> {
        let mut mail = format!("Message-ID: <{id}@bench.invalid>\r\n").into_bytes();
        mail.extend_from_slice(&self.bytes);
        mail
    }

    /// The same, as an answer to another.
    pub fn with_id_in_thread(&self, id: &str, answers: &str) -> Vec<u8> {
        let named = format!("In-Reply-To: <{answers}@bench.invalid>\r\n").into_bytes();
        [named, self.with_id(id)].concat()
    }
}

/// Who writes: their letters, and what their domains publish.
pub struct Customers {
    /// One key signs for all of them.
    key: Vec<u8>,
    words: Vocabulary,
    chance: StdRng,
}

impl Customers {
    pub fn new(seed: u64) -> Result<Customers, String> {
        let mut chance = StdRng::seed_from_u64(seed);
        let key = Ed25519Key::generate_pkcs8().map_err(|error| error.to_string())?;
        Ok(Customers { key, words: Vocabulary::new(chance.next_u64()), chance })
    }

    /// A DNS server with the records that prove their mail.
    pub fn names(&self) -> Result<DnsServer, String> {
        let public = STANDARD.encode(self.key()?.public_key());
        let key = format!("v=DKIM1; k=ed25519; p={public}");
        DnsServer::start(move |name| {
            let text = |text: &str| DnsAnswer::Records(vec![DnsRecord::Txt(text.to_owned())]);
            match name.split('.').collect::<Vec<_>>()[..] {
                [SELECTOR, "_domainkey", _, "example"] => text(&key),
                ["_dmarc", _, "example"] => text("v=DMARC1; p=reject"),
                [_, "example"] => text("v=spf1 ip4:127.0.0.1 -all"),
                _ => DnsAnswer::Nothing,
            }
        })
    }

    pub fn write(&mut self, number: usize, to: &str) -> Result<SampleMail, String> {
        let share: f64 = self.chance.random();
        let size = (SMALLEST * (LARGEST / SMALLEST).powf(share)) as usize;
        let domain = format!("customer{}.example", self.chance.random_range(0..DOMAINS));
        let sender = format!("person{number}@{domain}");
        let subject = self.words(5);
        let body = self.body(size);
        self.sign(&format!("Person {number}"), sender, domain, (to, &subject, &body))
    }

    /// So many mails of one customer about one thing, each an answer to the one before. The first brings an
    /// invoice that can be read, if it is asked for.
    pub(super) fn write_thread(
        &mut self,
        number: usize,
        to: &str,
        length: usize,
        has_invoice: bool,
    ) -> Result<Vec<SampleMail>, String> {
        let domain = format!("customer{}.example", self.chance.random_range(0..DOMAINS));
        let sender = format!("person{number}@{domain}");
        let subject = self.words(5);
        let mails = (0..length).map(|place| {
            let share: f64 = self.chance.random();
            let size = (SMALLEST * (LONGEST_ANSWER / SMALLEST).powf(share)) as usize;
            let (subject, body) = match place {
                0 if has_invoice => (subject.clone(), self.with_invoice(number, size)),
                0 => (subject.clone(), self.body(size)),
                _ => (format!("Re: {subject}"), self.body(size)),
            };
            let (name, domain) = (format!("Person {number}"), domain.clone());
            self.sign(&name, sender.clone(), domain, (to, &subject, &body))
        });
        mails.collect()
    }

    /// The word at a place of the order by frequency.
    pub fn word_at(&self, rank: usize) -> &str {
        self.words.word_at(rank)
    }

    fn with_invoice(&mut self, number: usize, size: usize) -> String {
        let text = self.text(size / 2);
        let about = self.words(30);
        format!(
            "Content-Type: multipart/mixed; boundary=mix\r\n\r\n\
             --mix\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n\
             --mix\r\nContent-Type: text/plain; charset=utf-8; name=invoice-{number}.txt\r\n\
             Content-Disposition: attachment; filename=invoice-{number}.txt\r\n\r\n\
             Lumen Wood Ltd\r\nInvoice R-{number}\r\nDate 2026-11-02\r\n{about}\r\n\
             Total 1{number}.50 EUR\r\n--mix--\r\n"
        )
    }

    fn sign(
        &self,
        name: &str,
        sender: String,
        domain: String,
        (to, subject, body): (&str, &str, &str),
    ) -> Result<SampleMail, String> {
        let mail = format!(
            "From: \"{name}\" <{sender}>\r\nTo: Support <{to}>\r\nSubject: {subject}\r\n\
             Date: Sun, 15 Nov 2026 09:00:00 +0000\r\nMIME-Version: 1.0\r\n{body}"
        );
        let signer = DkimSigner::from_key(self.key()?)
            .domain(domain)
            .selector(SELECTOR)
            .headers(["From", "To", "Subject", "Date"]);
        let signature = signer.sign(mail.as_bytes()).map_err(|error| error.to_string())?;
        let bytes = format!("{}{mail}", signature.to_header()).into_bytes();
        Ok(SampleMail { sender, bytes })
    }

    fn key(&self) -> Result<Ed25519Key, String> {
        Ed25519Key::from_pkcs8_der(&self.key).map_err(|error| error.to_string())
    }

    /// A text and its HTML twin; behind them, in a large mail, a file.
    fn body(&mut self, size: usize) -> String {
        let written = if size >= WITH_FILE { size / 6 } else { size };
        let text = self.text(written * 2 / 5);
        let html = text.replace("\r\n\r\n", "</p>\r\n<p>");
        let both = format!(
            "--alt\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n\
             --alt\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
             <html><body><p>{html}</p></body></html>\r\n--alt--\r\n"
        );
        if size < WITH_FILE {
            return format!("Content-Type: multipart/alternative; boundary=alt\r\n\r\n{both}");
        }
        let mut file = vec![0; (size - written) * 3 / 4];
        self.chance.fill_bytes(&mut file);
        let coded = STANDARD.encode(&file);
        let lines: Vec<&str> =
            coded.as_bytes().chunks(76).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        format!(
            "Content-Type: multipart/mixed; boundary=mix\r\n\r\n\
             --mix\r\nContent-Type: multipart/alternative; boundary=alt\r\n\r\n{both}\
             --mix\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\
             Content-Disposition: attachment; filename=papers.pdf\r\n\r\n{}\r\n--mix--\r\n",
            lines.join("\r\n")
        )
    }

    /// Paragraphs, the last half of them quoted.
    fn text(&mut self, size: usize) -> String {
        let mut text = String::with_capacity(size + 200);
        while text.len() < size / 2 {
            text.push_str(&self.words(12));
            text.push_str(".\r\n");
            if self.chance.random_range(0..4) == 0 {
                text.push_str("\r\n");
            }
        }
        text.push_str(
            "\r\nOn Sat, 14 Nov 2026 at 10:12, Support <support@bench.example> wrote:\r\n",
        );
        while text.len() < size {
            text.push_str("> ");
            text.push_str(&self.words(12));
            text.push_str("\r\n");
        }
        text
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| self.words.draw(&mut self.chance)).collect();
        words.join(" ")
    }
}
