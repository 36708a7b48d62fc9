//! People at the command line: links for those who are there, and taking somebody off the team.

use super::{Operator, SETUP};

#[test]
fn an_owner_who_cannot_sign_in_gets_another_link() {
    let operator = Operator::set_up();
    let served = operator.serve(&[]);
    let said = operator.text(&["user", "link", "olive@acme.example"]);
    let url = said.lines().find(|line| line.starts_with("http")).unwrap();
    let path = url.strip_prefix(&format!("http://{}", served.address)).expect("the port in use");
    let (status, page) = served.get(path);
    assert!(status == 200 && page.contains("Olive"), "{page}");
    let nobody = operator.run(&["user", "link", "nobody@acme.example"]);
    assert_eq!(nobody.status, Some(1));
}

#[test]
fn somebody_is_removed_with_their_keys_and_the_last_owner_stays() {
    let operator = Operator::set_up();
    operator.text(&["user", "add", "ann@acme.example", "--name=Ann", "--role=owner"]);
    let key = ["key", "create", "--name=Robo", "--scopes=read"];
    operator.text(&[&key[..], &["--by=olive@acme.example"]].concat());
    let said = operator.text(&["user", "remove", "olive@acme.example"]);
    assert!(said.starts_with("Olive is removed. Their sessions are over"), "{said}");
    let people = operator.json(&["user", "list"]);
    let people = people["people"].as_array().unwrap();
    assert_eq!(people.len(), 1);
    assert_eq!(people[0]["email"], "ann@acme.example");
    assert!(operator.json(&["key", "list"])["keys"][0]["revokedAt"].is_string());
    let last = operator.run(&["user", "remove", "ann@acme.example"]);
    assert_eq!(last.status, Some(1));
    assert!(last.err.contains("The last owner cannot be removed."), "{}", last.err);
}

#[test]
fn a_key_administers_only_when_that_is_named() {
    let operator = Operator::set_up();
    for (name, scopes) in [("--name=Robo", "--scopes=read,write"), ("--name=Ops", "--scope=admin")]
    {
        operator.text(&["key", "create", name, scopes, "--by=olive@acme.example"]);
    }
    let listed = operator.json(&["key", "list"]);
    let keys = listed["keys"].as_array().unwrap();
    let scopes_of = |name: &str| {
        let key = keys.iter().find(|key| key["name"] == name).expect("the key");
        key["scopes"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (scopes_of("Robo").as_str(), scopes_of("Ops").as_str()),
        ("read write", "read admin")
    );
}

#[test]
fn the_link_of_setup_names_the_port_in_use() {
    let link = |operator: &Operator, args: &[&str]| {
        let setup: Vec<&str> = SETUP.iter().chain(args).copied().collect();
        operator.json(&setup)["signInUrl"].as_str().unwrap().to_owned()
    };
    let configured = link(&Operator::new(), &["--listen=0.0.0.0:9099"]);
    assert!(configured.starts_with("http://127.0.0.1:9099/sign-in/"), "{configured}");
    let public = link(&Operator::new(), &["--public-url=https://mail.acme.example"]);
    assert!(public.starts_with("https://mail.acme.example/sign-in/"), "{public}");
    let usual = link(&Operator::new(), &[]);
    assert!(usual.starts_with("http://127.0.0.1:8080/sign-in/"), "{usual}");
    let running = Operator::new();
    let served = running.serve(&[]);
    let url = link(&running, &[]);
    assert!(url.starts_with(&format!("http://{}/sign-in/", served.address)), "{url}");
}

#[test]
fn set_up_says_when_links_cannot_be_mailed_to_the_owner() {
    let said = |owner: &str| {
        let operator = Operator::new();
        let owner = format!("--owner-email={owner}");
        operator.text(&[
            "setup",
            "--workspace=Acme",
            &owner,
            "--owner-name=Olive",
            "--inbox=support@acme.example",
            "--inbox-name=Support",
        ])
    };
    let own = said("Support@acme.example");
    assert!(own.contains("sign-in links cannot be mailed there"), "{own}");
    assert!(own.contains("mailroom user link"), "{own}");
    assert!(!said("olive@acme.example").contains("cannot be mailed"));
}

#[test]
fn every_sending_service_is_connected_at_the_command_line() {
    let operator = Operator::set_up();
    let file = |name: &str, text: &str| {
        let path = operator.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let key = format!("--api-key-file={}", file("key.txt", "a-key-of-a-service"));
    let arn = file("arn.txt", "arn:aws:sns:eu-central-1:123456789012:mail");
    let by = "--by=olive@acme.example";
    for service in ["resend", "postmark", "mailgun"] {
        let said = operator.json(&["service", "add", service, by, &key]);
        assert!(said["address"].as_str().unwrap().contains(service), "{said}");
        let without = operator.run(&["service", "add", service, by]);
        assert!(without.err.contains("api-key-file: "), "{}", without.err);
    }
    for service in ["sendgrid", "ses"] {
        operator.json(&["service", "add", service, by]);
        let with = operator.run(&["service", "add", service, by, &key]);
        assert!(with.err.contains("hands out no text for a key"), "{}", with.err);
    }
    let services = operator.json(&["service", "list"]);
    let services = services["services"].as_array().unwrap();
    assert_eq!(services.len(), 5);
    let ses = services.iter().find(|one| one["service"] == "ses").unwrap();
    let id = ses["id"].as_str().unwrap();
    let wrong = operator.run(&["service", "secret", id, &key.replace("api-key", "secret")]);
    assert!(wrong.err.contains("not the ARN of the topic"), "{}", wrong.err);
    operator.text(&["service", "secret", id, &format!("--secret-file={arn}")]);
    assert!(operator.text(&["service", "list"]).contains("; 0 mails noted"));
}
