//! A private Dovecot: it listens on ports of its own, keeps its mail in a folder of its own, and goes
//! with the test.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::RootCertStore;
use tempfile::TempDir;

use crate::waiting::becomes_true;

pub const MAILBOX_USER: &str = "ann";
pub const MAILBOX_PASSWORD: &str = "open \"sesame\" \\ 1";
/// The names that its certificate is for.
const NAMES: [&str; 2] = ["localhost", "mail.acme.example"];
/// The user and group that Dovecot reads mail as when tests run as root, which it does not do.
const NOBODY: u32 = 65_534;

pub struct Dovecot {
    folder: TempDir,
    process: Option<Child>,
    pub tls_port: u16,
    pub port: u16,
    pub roots: RootCertStore,
    capability: &'static str,
    /// Where it asks whose an access token is; empty where it takes passwords alone.
    token_info: String,
}

impl Dovecot {
    pub fn start() -> Dovecot {
        Dovecot::with_capability("")
    }

    /// A server that takes access tokens too (XOAUTH2), and asks here whose they are.
    pub fn with_tokens(token_info: String) -> Dovecot {
        Dovecot::with("", token_info)
    }

    /// A server that says it can do just this.
    pub fn with_capability(capability: &'static str) -> Dovecot {
        Dovecot::with(capability, String::new())
    }

    fn with(capability: &'static str, token_info: String) -> Dovecot {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(NAMES.map(str::to_owned)).unwrap();
        fs::write(folder.path().join("cert.pem"), cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).unwrap();
        let (tls_port, port) = (free_port(), free_port());
        let process = None;
        let mut dovecot =
            Dovecot { folder, process, tls_port, port, roots, capability, token_info };
        for place in ["mail", "mail/ann", "mail/ann/new", "mail/ann/cur", "mail/ann/tmp"] {
            let place = dovecot.path(place);
            fs::create_dir(&place).unwrap();
            dovecot.give(&place);
        }
        dovecot.begin();
        dovecot
    }

    /// The files of its certificate and its key.
    pub fn certificate(&self) -> (PathBuf, PathBuf) {
        (self.path("cert.pem"), self.path("key.pem"))
    }

    /// Starts the server, or starts it again.
    pub fn begin(&mut self) {
        fs::write(self.path("dovecot.conf"), self.settings()).unwrap();
        let child = Command::new("dovecot")
            .arg("-F")
            .arg("-c")
            .arg(self.path("dovecot.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Dovecot is installed (dovecot-imapd); scripts/test installs it");
        self.process = Some(child);
        let listens = || TcpStream::connect(("127.0.0.1", self.tls_port)).is_ok();
        assert!(becomes_true(listens), "Dovecot did not start: {}", self.log());
    }

    /// Stops the server and cuts every connection to it.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let pid = process.id().to_string();
            Command::new("kill").args(["-TERM", &pid]).status().unwrap();
            process.wait().unwrap();
        }
    }

    fn settings(&self) -> String {
        let path = self.folder.path().display();
        let (user, own) = match is_root(self.folder.path()) {
            true => (NOBODY.to_string(), String::new()),
            false => {
                let user = name_of_user();
                let own = format!(
                    "default_internal_user = {user}\ndefault_internal_group = {user}\n\
                     default_login_user = {user}\n"
                );
                (fs::metadata(self.folder.path()).unwrap().uid().to_string(), own)
            }
        };
        let capability = match self.capability {
            "" => String::new(),
            capability => format!("imap_capability = {capability}\n"),
        };
        let (mechanisms, tokens) = self.token_settings();
        fs::write(self.path("users"), format!("{MAILBOX_USER}:{{PLAIN}}{MAILBOX_PASSWORD}\n"))
            .unwrap();
        format!(
            "base_dir = {path}/run\nstate_dir = {path}/state\nlog_path = {path}/log\n\
             protocols = imap\nlisten = 127.0.0.1\n{own}first_valid_uid = 1\n\
             auth_failure_delay = 0\nssl = yes\nssl_cert = <{path}/cert.pem\n\
             ssl_key = <{path}/key.pem\nmail_location = maildir:{path}/mail/%u\n{capability}\
             auth_mechanisms = plain login{mechanisms}\nauth_username_format = %Ln\n\
             namespace inbox {{\n inbox = yes\n\
             mailbox Outbox {{\n special_use = \\Sent\n}}\n}}\n\
             service anvil {{\n chroot =\n}}\n\
             service imap-login {{\n chroot =\n\
             inet_listener imap {{\n port = {port}\n}}\n\
             inet_listener imaps {{\n port = {tls_port}\n ssl = yes\n}}\n}}\n\
             passdb {{\n driver = passwd-file\n args = {path}/users\n}}\n{tokens}\
             userdb {{\n driver = static\n args = uid={user} gid={user} home={path}/home\n}}\n",
            port = self.port,
            tls_port = self.tls_port,
        )
    }

    /// The mechanisms for access tokens, and the database that knows them.
    fn token_settings(&self) -> (&'static str, String) {
        if self.token_info.is_empty() {
            return ("", String::new());
        }
        let asks = format!(
            "tokeninfo_url = {}\nusername_attribute = email\nusername_format = %Ln\n",
            self.token_info
        );
        fs::write(self.path("tokens"), asks).unwrap();
        let database = format!(
            "passdb {{\n driver = oauth2\n mechanisms = xoauth2 oauthbearer\n args = {}\n}}\n",
            self.path("tokens").display()
        );
        (" xoauth2 oauthbearer", database)
    }

    /// Puts a mail into the user's INBOX, as a mail server that receives it does.
    pub fn deliver(&self, mail: &str) {
        self.deliver_at(mail, SystemTime::now());
    }

    /// The same, taken by the server at this time.
    pub fn deliver_at(&self, mail: &str, at: SystemTime) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{:08}.test", COUNT.fetch_add(1, Ordering::SeqCst));
        let written = self.path("mail/ann/tmp").join(&name);
        fs::write(&written, mail).unwrap();
        fs::set_permissions(&written, fs::Permissions::from_mode(0o666)).unwrap();
        self.give(&written);
        fs::File::options().write(true).open(&written).unwrap().set_modified(at).unwrap();
        fs::rename(&written, self.path("mail/ann/new").join(&name)).unwrap();
    }

    /// Makes a folder.
    pub fn make_folder(&self, name: &str) {
        let base = self.path("mail/ann").join(format!(".{name}"));
        fs::create_dir(&base).unwrap();
        self.give(&base);
        for part in ["new", "cur", "tmp"] {
            fs::create_dir(base.join(part)).unwrap();
            self.give(&base.join(part));
        }
    }

    /// Puts a mail into a folder, as a mail program that sent it does.
    pub fn put(&self, folder: &str, mail: &str) {
        self.put_at(folder, mail, SystemTime::now());
    }

    /// The same, put there at this time.
    pub fn put_at(&self, folder: &str, mail: &str, at: SystemTime) {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{:08}.sent:2,S", COUNT.fetch_add(1, Ordering::SeqCst));
        let place = self.path("mail/ann").join(format!(".{folder}")).join("cur").join(name);
        fs::write(&place, mail).unwrap();
        fs::File::options().write(true).open(&place).unwrap().set_modified(at).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o666)).unwrap();
        self.give(&place);
    }

    /// Numbers all mails anew, as after a restore from a backup.
    pub fn number_anew(&mut self) {
        self.stop();
        for entry in fs::read_dir(self.path("mail/ann")).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with("dovecot") {
                fs::remove_file(path).unwrap();
            }
        }
        let list = self.path("mail/ann/dovecot-uidlist");
        fs::write(&list, "3 V777 N300 G0123456789abcdef0123456789abcdef\n").unwrap();
        self.give(&list);
        self.begin();
    }

    /// The names of the mails in a folder of the user, INBOX where it is empty.
    pub fn mails(&self, folder: &str) -> Vec<String> {
        let base = self.path("mail/ann").join(folder);
        let mut names = Vec::new();
        for part in ["new", "cur"] {
            let Ok(entries) = fs::read_dir(base.join(part)) else { continue };
            names.extend(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()));
        }
        names.sort();
        names
    }

    /// A mail of a folder.
    pub fn text(&self, folder: &str, name: &str) -> String {
        let base = self.path("mail/ann").join(folder);
        let found = ["new", "cur"].map(|part| base.join(part).join(name));
        let found = found.iter().find(|path| path.exists()).unwrap();
        String::from_utf8_lossy(&fs::read(found).unwrap()).into_owned()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn give(&self, path: &Path) {
        if is_root(self.folder.path()) {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        self.stop();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn is_root(own: &Path) -> bool {
    fs::metadata(own).unwrap().uid() == 0
}

fn name_of_user() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
