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
