//! Settings that cannot be used: the sentence names the setting and the thing, and nothing is served.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rcgen::generate_simple_self_signed;

use super::{Operator, Said, command};

/// `serve` with what every start needs, and more.
fn serve(operator: &Operator, more: &[&str]) -> Said {
    let usual = ["serve", "--listen=127.0.0.1:0", "--smtp-listen=off"];
    let named = |setting: &&&str| {
        let flag = setting.split('=').next().unwrap();
        !more.iter().any(|other| other.split('=').next() == Some(flag))
    };
    let args: Vec<&str> = usual.iter().filter(named).chain(more).copied().collect();
    operator.run(&args)
}

/// The command fails, and says all of these words.
fn refused(said: &Said, words: &[&str]) {
    assert!(matches!(said.status, Some(1 | 2)), "{:?} {}", said.status, said.err);
    for word in words {
        assert!(said.err.contains(word), "{word:?} in {}", said.err);
    }
}

#[test]
fn a_variable_that_is_no_setting_is_refused_with_the_one_that_was_meant() {
    let operator = Operator::set_up();
    let run = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = command(&operator.data(), args);
        Said::of(command.envs(variables.iter().copied()).output().unwrap())
    };
    let wrong = [("MAILROOM_LISTN", "127.0.0.1:0"), ("MAILROOM_COLOUR", "red")];
    let said = run(&wrong, &["serve", "--dns=nonsense"]);
    refused(
        &said,
        &[
            "MAILROOM_LISTN: there is no such setting; did you mean MAILROOM_LISTEN?",
            "MAILROOM_COLOUR: there is no such setting; `mailroom help serve` lists them all",
            "dns: must be an address and port such as 127.0.0.1:53, not \"nonsense\"",
        ],
    );
    let said = run(&wrong[..1], &["workspace", "list", "--json"]);
    assert!(said.out.starts_with("{\"error\":\"the settings cannot be used: MAILROOM_LISTN: "));
    // What the documentation has people export for clients.
    let clients = [("MAILROOM_KEY", "rk_live_x"), ("MAILROOM_URL", "http://127.0.0.1:8080")];
    let said = run(&clients, &["workspace", "list"]);
    assert_eq!(said.status, Some(0), "{}", said.err);
}

#[test]
fn a_port_that_is_taken_is_named_with_its_setting() {
    let operator = Operator::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let (cert, key) = certificate(operator.folder.path());
    let tls = [format!("--tls-cert={}", cert.display()), format!("--tls-key={}", key.display())];
    for flag in ["listen", "smtp-listen", "lmtp-listen", "metrics-listen", "https-listen"] {
        let flag_text = format!("--{flag}={place}");
        let said = serve(&operator, &[&flag_text, &tls[0], &tls[1]]);
        let name = flag.replace('-', "_");
        let sentence = format!("{name}: cannot listen on {place}: ");
        refused(&said, &[&sentence, "another program listens there"]);
    }
    let redirect = format!("--redirect-listen={place}");
    let said = serve(&operator, &[&redirect, "--public-url=https://mail.acme.example"]);
    refused(&said, &[&format!("redirect_listen: cannot listen on {place}: ")]);
    let elsewhere = serve(&operator, &["--metrics-listen=192.0.2.1:9090"]);
    refused(&elsewhere, &["metrics_listen: cannot listen on 192.0.2.1:9090", "no such address"]);
}

#[test]
fn a_socket_in_the_file_system_replaces_no_file() {
    let operator = Operator::new();
    let file = operator.folder.path().join("precious");
    fs::write(&file, "kept").unwrap();
    let said = serve(&operator, &[&format!("--lmtp-listen=unix:{}", file.display())]);
    refused(&said, &["lmtp_listen: ", "precious", "there is a file or folder of this name"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    let socket = operator.folder.path().join("lmtp");
    let _taken = UnixListener::bind(&socket).unwrap();
    let said = serve(&operator, &[&format!("--lmtp-listen=unix:{}", socket.display())]);
    refused(&said, &["lmtp_listen: ", "another program listens there"]);
}

#[test]
fn a_certificate_that_is_none_is_said_with_its_file() {
    let operator = Operator::new();
    let folder = operator.folder.path();
    let (cert, key) = certificate(folder);
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let (_, other_key) = certificate(&other);
    let (text, empty) = (folder.join("text.pem"), folder.join("empty.pem"));
    fs::write(&text, "this is no certificate\n").unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(&empty, broken).unwrap();
    let cases: [(&Path, &Path, &[&str]); 8] = [
        (Path::new("/nowhere.pem"), &key, &["tls_cert: /nowhere.pem cannot be read: No such file"]),
        (&cert, Path::new("/nowhere.pem"), &["tls_key: /nowhere.pem cannot be read: No such file"]),
        (folder, &key, &["tls_cert: ", "cannot be read: Is a directory"]),
        (&text, &key, &["tls_cert: ", "text.pem has no certificate in it", "BEGIN CERTIFICATE"]),
        (&key, &key, &["tls_cert: ", "key.pem has no certificate in it"]),
        (&cert, &cert, &["tls_key: ", "cert.pem has no private key in it"]),
        (
            &cert,
            &other_key,
            &["tls_cert, tls_key: the key in ", "is not that of the certificate in"],
        ),
        (&empty, &key, &["tls_cert", "empty.pem"]),
    ];
    for (cert, key, words) in cases {
        let flags =
            [format!("--tls-cert={}", cert.display()), format!("--tls-key={}", key.display())];
        refused(&serve(&operator, &[&flags[0], &flags[1]]), words);
    }
    refused(
        &serve(&operator, &["--tls-cert=", "--tls-key="]),
        &["tls_cert: must name", "tls_key:"],
    );
    refused(&serve(&operator, &["--tls-cert=x"]), &["tls_cert, tls_key: must be given together"]);
}

#[test]
fn a_self_signed_certificate_is_said_to_be_one() {
    let operator = Operator::set_up();
    let (cert, key) = certificate(operator.folder.path());
    let flags = [format!("--tls-cert={}", cert.display()), format!("--tls-key={}", key.display())];
    let said = operator.run(&["self-check", &flags[0], &flags[1]]);
    let sentence = format!("tls_cert: the certificate in {} is self-signed", cert.display());
    assert!(said.out.contains(&sentence), "{}", said.out);
}

#[test]
fn a_database_that_is_away_is_named_with_the_cause_and_without_its_password() {
    let operator = Operator::new();
    let url = "postgres://ann:hush@127.0.0.1:1/mailroom";
    for args in [&["serve"][..], &["workspace", "list"], &["self-check"], &["migrate"]] {
        let mut args = args.to_vec();
        args.extend(["--listen=127.0.0.1:0", "--smtp-listen=off", "--database-url", url]);
        let said = operator.run(&args);
        let told = format!("{}{}", said.out, said.err);
        assert_eq!(said.status, Some(1), "{told}");
        for word in ["PostgreSQL at 127.0.0.1:1, database mailroom: ", "Connection refused"] {
            assert!(told.contains(word), "{args:?}: {word} in {told}");
        }
        assert!(!told.contains("hush"), "{told}");
    }
    let said = serve(&operator, &["--database-url=postgres://ann:hush@db:port/x"]);
    refused(&said, &["database_url: ", "port"]);
    assert!(!said.err.contains("hush"), "{}", said.err);
    let missing = "sqlite:/nowhere/at/all/mailroom.db";
    let said = serve(&operator, &["--database-url", missing]);
    refused(&said, &["the database cannot be opened: the file /nowhere/at/all/mailroom.db: "]);
}

#[test]
fn wrong_values_are_named_with_their_setting() {
    let operator = Operator::new();
    let file = operator.folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let file = file.display().to_string();
    let folder = operator.folder.path().display().to_string();
    let cases: [(&str, &str, &str); 37] = [
        ("trusted-results", "", "trusted_results: must be the name of a server; it is empty"),
        (
            "listen",
            "8080",
            "listen: must be an address and port such as 127.0.0.1:8080, not \"8080\"",
        ),
        ("listen", "", "listen: must be an address and port"),
        ("listen", "localhost:8080", "listen: must be an address and port"),
        ("smtp-listen", "25", "smtp_listen: must be an address and port, or off, not \"25\""),
        ("smtp-listen", "unix:/run/x", "smtp_listen: must be an address and port, or off"),
        ("lmtp-listen", "unix:", "lmtp_listen: must be"),
        ("lmtp-socket-mode", "rw", "lmtp_socket_mode: must be a mode such as 660, not \"rw\""),
        ("lmtp-socket-group", "nobody here", "lmtp_socket_group: must be a group of this system"),
        ("https-listen", "443", "https_listen: must be an address and port such as 0.0.0.0:443"),
        ("https-listen", "0.0.0.0:443", "https_listen: needs a certificate"),
        ("redirect-listen", "0.0.0.0:80", "redirect_listen: needs public_url"),
        ("hsts", "-1", "hsts: must be a number of seconds such as 31536000, or off, not \"-1\""),
        ("metrics-listen", "9090", "metrics_listen: must be an address and port"),
        (
            "dns",
            "9.9.9.9",
            "dns: must be an address and port such as 127.0.0.1:53, not \"9.9.9.9\"",
        ),
        ("trusted-networks", "10.0.0.0/33", "trusted_networks: must be networks such as"),
        ("trusted-proxies", "proxy", "trusted_proxies: must be networks such as"),
        (
            "public-url",
            "mail.acme.example",
            "public_url: must be an address without a path such as",
        ),
        ("public-url", "ftp://mail.acme.example", "public_url: must be an address without a path"),
        (
            "public-url",
            "https://mail.acme.example/app",
            "public_url: must be an address without a path",
        ),
        ("developer-site", "", "developer_site: must be an address"),
        ("oauth-registration", "yes", "oauth_registration: must be true or false, not \"yes\""),
        ("rate-per-minute", "0", "rate_per_minute: must be a whole number from 1, not \"0\""),
        ("rate-per-minute", "-5", "rate_per_minute: must be a whole number from 1, not \"-5\""),
        ("commit-batch", "1.5", "commit_batch: must be a whole number from 1, not \"1.5\""),
        ("quiet", "maybe", "quiet: must be true or false, not \"maybe\""),
        ("relay", "http://x", "relay: must be smtp://HOST, smtps://HOST, mx: or file:FOLDER"),
        ("relay", "", "relay: must be smtp://HOST"),
        ("clamd", "x", "clamd: must be unix: and a path, or a host and port"),
        ("reader-url", "https://x.example/v1", "reader_url, reader_model: one needs the other"),
        ("model-url", "ftp://x", "model_url, model: one needs the other"),
        ("database-url", "", "database_url: a database URL starts with sqlite: or postgres://"),
        ("database-url", "mysql://x", "database_url: a database URL starts with"),
        ("blobs", "", "blobs: must name a folder; it is empty"),
        (
            "backup-at",
            "25:00",
            "backup_at: must be a time in UTC such as 03:00, or hours such as 6h",
        ),
        ("backup-keep", "-3", "backup_keep: "),
        (
            "backup-to",
            "ftp://x",
            "backup_to: ftp://x: backups go to a folder or to s3://BUCKET/PREFIX",
        ),
    ];
    for (flag, value, sentence) in cases {
        refused(&serve(&operator, &[&format!("--{flag}={value}")]), &[sentence]);
    }
    for (flag, value, words) in [
        ("blobs", &file, &["blobs: ", "is a file, and must be a folder"][..]),
        ("relay", &format!("file:{file}"), &["relay: ", "is a file, and must be a folder"]),
        ("backup-to", &file, &["backup_to: ", "is a file, and must be a folder"]),
        ("reader-key-file", &folder, &["reader_url, reader_model: one needs the other"]),
    ] {
        refused(&serve(&operator, &[&format!("--{flag}={value}")]), words);
    }
    let sealed =
        [format!("--backup-to={folder}/backups"), "--backup-passphrase-file=/nowhere".to_owned()];
    let said = serve(&operator, &[&sealed[0], &sealed[1]]);
    refused(&said, &["backup_passphrase_file: /nowhere: No such file"]);
    let keys = ["--model-url=https://x.example/v1", "--model=m", "--model-key-file=/nowhere"];
    refused(&serve(&operator, &keys), &["model_key_file", "/nowhere"]);
}

#[test]
fn the_settings_file_is_named_with_the_line_and_the_setting() {
    let operator = Operator::new();
    fs::create_dir_all(operator.data()).unwrap();
    let file = operator.data().join("mailroom.toml");
    for (text, words) in [
        ("quiet = true\nlisten = \n", &["mailroom.toml, line 2: "][..]),
        ("lisen = '127.0.0.1:0'", &["there is no setting lisen; did you mean listen?"]),
        ("colour = 'red'", &["there is no setting colour; there are database_url, listen, "]),
        ("listen = ['127.0.0.1:0']", &["listen must be text, a number or a boolean"]),
    ] {
        fs::write(&file, text).unwrap();
        refused(&operator.run(&["serve"]), words);
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused(&operator.run(&["serve"]), &["mailroom.toml: Is a directory"]);
}

fn certificate(folder: &Path) -> (PathBuf, PathBuf) {
    let made = generate_simple_self_signed(["mail.acme.example".to_owned()]).unwrap();
    let paths = (folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&paths.0, made.cert.pem()).unwrap();
    fs::write(&paths.1, made.signing_key.serialize_pem()).unwrap();
    paths
}
