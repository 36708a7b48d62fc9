//! Scores SPF against a file of test cases.

use std::net::IpAddr;

use test_dns::DnsRecord;

use super::{Bench, Score, Zone};

/// Scores a file of cases: documents of records and, behind them, questions with their answers.
pub fn score(bench: &Bench, text: &str) -> Result<Score, String> {
    let mut score = Score::default();
    for document in text.split("---\n") {
        let mut case = Case::default();
        for line in document.lines() {
            let line = line.trim().trim_start_matches('-').trim();
            let Some((field, value)) = line.split_once(':') else { continue };
            case.read(bench, field, value.trim(), &mut score)?;
        }
    }
    Ok(score)
}

#[derive(Default)]
struct Case {
    name: String,
    zone: Zone,
    helo: String,
    sender: String,
    ip: Option<IpAddr>,
}

impl Case {
    fn read(
        &mut self,
        bench: &Bench,
        field: &str,
        value: &str,
        score: &mut Score,
    ) -> Result<(), String> {
        match field {
            "name" => self.name = value.to_owned(),
            "domain" => self.helo = value.to_owned(),
            "sender" => self.sender = value.to_owned(),
            "ip" => self.ip = value.parse().ok(),
            "expect" => {
                let expected = value.split(' ').next().unwrap_or_default();
                score.note(&self.name, expected, &self.ask(bench)?);
            }
            _ => {
                if let Some((name, record)) = value.split_once(' ') {
                    self.learn(field, name, record.trim());
                }
            }
        }
        Ok(())
    }

    fn learn(&mut self, kind: &str, name: &str, value: &str) {
        let ips = || value.split(',').filter_map(|ip| ip.trim().parse::<IpAddr>().ok());
        match kind {
            "spf" | "exp" => self.put(name, vec![DnsRecord::Txt(value.to_owned())]),
            "a" | "aaaa" => self.put(name, ips().map(address).collect()),
            "mx" => {
                let hosts: Vec<(String, IpAddr)> = ips()
                    .enumerate()
                    .map(|(place, ip)| (format!("mx{place}.{name}.hosts.example"), ip))
                    .collect();
                let mx = |(place, (host, _)): (usize, &(String, IpAddr))| {
                    DnsRecord::Mx(place as u16 + 1, host.clone())
                };
                self.put(name, hosts.iter().enumerate().map(mx).collect());
                hosts.into_iter().for_each(|(host, ip)| self.put(&host, vec![address(ip)]));
            }
            "ptr" => {
                let hosts = value.split(',').map(|host| DnsRecord::Ptr(host.trim().to_owned()));
                if let Ok(ip) = name.parse() {
                    self.put(&reverse_name(ip), hosts.collect());
                }
            }
            _ => {}
        }
    }

    /// What stands under a name, in place of what stood there of the same kind.
    fn put(&mut self, name: &str, records: Vec<DnsRecord>) {
        let known = self.zone.entry(name.to_lowercase()).or_default();
        known.retain(|record| {
            records.iter().all(|new| std::mem::discriminant(new) != std::mem::discriminant(record))
        });
        known.extend(records);
    }

    fn ask(&self, bench: &Bench) -> Result<String, String> {
        let authenticator = bench.authenticator(&self.zone)?;
        let ip = self.ip.unwrap_or(IpAddr::from([127, 0, 0, 1]));
        let checked = authenticator.check_spf(ip, &self.helo, &self.sender);
        Ok(bench.runtime.block_on(checked).result().to_string().to_lowercase())
    }
}

fn address(ip: IpAddr) -> DnsRecord {
    match ip {
        IpAddr::V4(ip) => DnsRecord::A(ip),
        IpAddr::V6(ip) => DnsRecord::Aaaa(ip),
    }
}

/// The name under which the names of an address stand.
fn reverse_name(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(ip) => {
            let digits = format!("{:032x}", ip.to_bits());
            let digits: Vec<String> = digits.chars().rev().map(String::from).collect();
            format!("{}.ip6.arpa", digits.join("."))
        }
    }
}
