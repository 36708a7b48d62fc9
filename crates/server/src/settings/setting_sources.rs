//! Where settings come from, flag or variable before the file, and what is wrong with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use document_reader::ReaderEndpoint;
use transport::mail_out::RelayTarget;
use transport::net::bucket::BucketConfig;
use transport::net::listen_address::{SocketAccess, SocketMode, SystemGroup};
use transport::reply_model::ModelEndpoint;

use super::environment::nearest;
use super::{Flags, S3};

/// The settings of the file, and the mistakes found so far.
pub(super) struct SettingSources {
    file: BTreeMap<String, String>,
    /// What is wrong with the settings, a sentence each.
    pub(super) mistakes: Vec<String>,
}

impl SettingSources {
    /// With the settings of the file in the data folder.
    pub(super) fn of_folder(data: &Path) -> SettingSources {
        let mut mistakes = Vec::new();
        let file = read_file(&data.join("mailroom.toml"), &mut mistakes);
        SettingSources { file, mistakes }
    }

    pub(super) fn bucket(&mut self, flag: &Option<String>) -> Option<BucketConfig> {
        let place = self.text("blobs", flag).filter(|place| place.starts_with(S3))?;
        match BucketConfig::parse(&place, &|name| std::env::var(name).ok()) {
            Ok(config) => Some(config),
            Err(mistake) => {
                self.mistakes.push(format!("blobs: {mistake}"));
                None
            }
        }
    }

    pub(super) fn text(&mut self, name: &str, flag: &Option<String>) -> Option<String> {
        flag.clone().or_else(|| self.file.get(name).cloned())
    }

    pub(super) fn parse<T: FromStr>(
        &mut self,
        name: &str,
        flag: &Option<String>,
        wanted: &str,
    ) -> Option<T> {
        let text = self.text(name, flag)?;
        let parsed = text.trim().parse().ok();
        if parsed.is_none() {
            self.mistakes.push(format!("{name}: must be {wanted}, not {text:?}"));
        }
        parsed
    }

    /// The name of a server; an empty one would be that of whoever leaves it out.
    pub(super) fn trusted_results(&mut self, flag: &Option<String>) -> Option<String> {
        let name = self.text("trusted_results", flag)?;
        if name.trim().is_empty() {
            self.mistakes.push("trusted_results: must be the name of a server; it is empty".into());
        }
        Some(name)
    }

    pub(super) fn lmtp_socket(&mut self, flags: &Flags) -> SocketAccess {
        let mode = self.parse("lmtp_socket_mode", &flags.lmtp_socket_mode, "a mode such as 660");
        let group = self.parse(
            "lmtp_socket_group",
            &flags.lmtp_socket_group,
            "a group of this system, by name or number",
        );
        SocketAccess {
            mode: mode.map_or(SocketAccess::default().mode, |SocketMode(mode)| mode),
            group: group.map(|SystemGroup(number)| number),
        }
    }

    /// The files of a certificate and its key: both or neither.
    pub(super) fn tls_files(
        &mut self,
        cert: &Option<String>,
        key: &Option<String>,
    ) -> Option<(PathBuf, PathBuf)> {
        match (self.text("tls_cert", cert), self.text("tls_key", key)) {
            (Some(cert), Some(key)) => {
                for (name, file) in [("tls_cert", &cert), ("tls_key", &key)] {
                    if file.trim().is_empty() {
                        self.mistakes.push(format!("{name}: must name a PEM file; it is empty"));
                    }
                }
                Some((cert.into(), key.into()))
            }
            (None, None) => None,
            _ => {
                self.mistakes.push("tls_cert, tls_key: must be given together".into());
                None
            }
        }
    }

    pub(super) fn relay(&mut self, flag: &Option<String>) -> RelayTarget {
        match self.text("relay", flag).map(|text| text.trim().parse()) {
            None => RelayTarget::Nowhere,
            Some(Ok(target)) => target,
            Some(Err(sentence)) => {
                self.mistakes.push(format!("relay: {sentence}"));
                RelayTarget::Nowhere
            }
        }
    }

    pub(super) fn reader(&mut self, flags: &Flags) -> Option<ReaderEndpoint> {
        let key_file = self.text("reader_key_file", &flags.reader_key_file).map(PathBuf::from);
        let url = ("reader_url", &flags.reader_url);
        let model = ("reader_model", &flags.reader_model);
        let (url, model) = self.endpoint(url, model, key_file.is_some())?;
        Some(ReaderEndpoint { url, key_file, model })
    }

    pub(super) fn model(&mut self, flags: &Flags) -> Option<ModelEndpoint> {
        let key_file = self.text("model_key_file", &flags.model_key_file).map(PathBuf::from);
        let url = ("model_url", &flags.model_url);
        let (url, model) = self.endpoint(url, ("model", &flags.model), key_file.is_some())?;
        Some(ModelEndpoint { url, key_file, model })
    }

    /// The address of an endpoint, without a slash at its end, and its model: both or neither.
    pub(super) fn endpoint(
        &mut self,
        url: (&str, &Option<String>),
        model: (&str, &Option<String>),
        has_key: bool,
    ) -> Option<(String, String)> {
        let (url_name, model_name) = (url.0, model.0);
        let (url, model) = match (self.text(url_name, url.1), self.text(model_name, model.1)) {
            (None, None) if !has_key => return None,
            (Some(url), Some(model)) => (url, model),
            _ => {
                self.mistakes.push(format!("{url_name}, {model_name}: one needs the other"));
                return None;
            }
        };
        let url = url.trim().trim_end_matches('/').to_owned();
        let web = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if !url.parse().is_ok_and(|url| web(&url)) {
            self.mistakes.push(format!("{url_name}: must be an address such as https://host/v1"));
            return None;
        }
        Some((url, model))
    }

    /// An `http` or `https` address without a path, as `scheme://host[:port]`.
    pub(super) fn web_address(&mut self, name: &str, flag: &Option<String>) -> Option<String> {
        let text = self.text(name, flag)?;
        let text = text.trim().trim_end_matches('/');
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if rest.is_some_and(|host| !host.is_empty() && host.chars().all(plain)) {
            return Some(text.to_ascii_lowercase());
        }
        self.mistakes.push(format!(
            "{name}: must be an address without a path such as https://mail.example.com, not {text:?}"
        ));
        None
    }
}

/// The file's settings as text; a missing file has none.
fn read_file(path: &Path, mistakes: &mut Vec<String>) -> BTreeMap<String, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return BTreeMap::new(),
        Err(error) => {
            mistakes.push(format!("{}: {error}", path.display()));
            return BTreeMap::new();
        }
    };
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            let line = error.span().map_or(1, |span| {
                1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count()
            });
            mistakes.push(format!("{}, line {line}: {}", path.display(), error.message()));
            return BTreeMap::new();
        }
    };
    let mut settings = BTreeMap::new();
    for (name, value) in table {
        match value {
            _ if !super::names().any(|known| known == name) => {
                let file = path.display();
                let meant = nearest(&name, super::names().map(str::to_owned));
                mistakes.push(match meant {
                    Some(meant) => {
                        format!("{file}: there is no setting {name}; did you mean {meant}?")
                    }
                    None => format!(
                        "{file}: there is no setting {name}; there are {}",
                        super::names().collect::<Vec<_>>().join(", ")
                    ),
                });
            }
            toml::Value::String(text) => drop(settings.insert(name, text)),
            toml::Value::Integer(number) => drop(settings.insert(name, number.to_string())),
            toml::Value::Boolean(flag) => drop(settings.insert(name, flag.to_string())),
            _ => mistakes
                .push(format!("{}: {name} must be text, a number or a boolean", path.display())),
        }
    }
    settings
}
