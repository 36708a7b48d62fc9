//! The team's answers at the command line.

use super::Operator;

#[test]
fn answers_are_imported_from_a_file_and_listed() {
    let operator = Operator::set_up();
    let file = operator.data().join("answers.md");
    let text = "# Opening hours\nlanguage: en\n\nWe open at nine.\n";
    std::fs::write(&file, text).unwrap();
    let path = file.display().to_string();
    let import = ["answer", "import", path.as_str(), "--by", "olive@acme.example"];
    let first = operator.json(&import);
    assert_eq!((&first["added"], &first["unchanged"]), (&1.into(), &0.into()), "{first}");
    std::fs::write(&file, text.replace("nine", "ten")).unwrap();
    assert_eq!(operator.json(&import)["changed"], 1);
    assert_eq!(operator.json(&import)["unchanged"], 1);
    let listed = operator.json(&["answer", "list"]);
    assert_eq!(listed["answers"][0]["title"], "Opening hours");
    assert_eq!(listed["answers"][0]["text"], "We open at ten.");
    assert!(listed["answers"][0]["id"].as_str().unwrap().starts_with("ans_"));
    assert_eq!(listed["answers"].as_array().unwrap().len(), 1);
}

#[test]
fn answers_go_public_into_files_and_back() {
    let operator = Operator::set_up();
    let by = ["--by", "olive@acme.example"];
    let run = |args: &[&str]| operator.json(&[args, &by[..]].concat());
    let folder = operator.data().join("faq");
    std::fs::create_dir_all(folder.join("de")).unwrap();
    std::fs::create_dir_all(folder.join("en")).unwrap();
    let english =
        "---\ntitle: Opening hours\nsection: Visits\nlanguage: en\n---\nWe open at nine.\n";
    std::fs::write(folder.join("en/hours.md"), english).unwrap();
    let german = "---\ntitle: Zeiten\nlanguage: de\ntranslates: en/hours.md\n---\nAb neun.\n";
    std::fs::write(folder.join("de/zeiten.md"), german).unwrap();
    let path = folder.display().to_string();
    assert_eq!(run(&["answer", "import", &path])["added"], 2);
    assert_eq!(run(&["answer", "import", &path])["unchanged"], 2);
    let listed = operator.json(&["answer", "list", "--section", "Visits"]);
    let id = listed["answers"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["answers"][0]["public"], false);
    assert_eq!(
        operator.json(&["answer", "list", "--public"])["answers"].as_array().unwrap().len(),
        0
    );
    let set = run(&["answer", "public", &id]);
    assert_eq!((&set["state"], &set["url"]), (&"public".into(), &serde_json::Value::Null));
    let site = run(&["answer", "site", "on", "--language", "en"]);
    assert_eq!((&site["open"], &site["language"]), (&true.into(), &"en".into()));
    let url = run(&["answer", "public", &id])["url"].as_str().unwrap().to_owned();
    assert!(url.ends_with("/help/en/opening-hours"), "{url}");
    run(&["answer", "section", &id, "Hours"]);
    assert_eq!(operator.json(&["answer", "list", "--public"])["answers"][0]["section"], "Hours");
    let out = operator.data().join("export");
    assert_eq!(run(&["answer", "export", &out.display().to_string()])["answers"], 2);
    let file = std::fs::read_to_string(out.join("de/zeiten.md")).unwrap();
    assert!(file.contains("translates: \"en/opening-hours.md\""), "{file}");
    assert_eq!(run(&["answer", "import", &out.display().to_string()])["unchanged"], 2);
    let again =
        operator.run(&[&["answer", "export", &out.display().to_string()][..], &by[..]].concat());
    assert!(again.err.contains("is not empty"), "{}", again.err);
    assert_eq!(run(&["answer", "public", &id, "--state", "draft"])["url"], serde_json::Value::Null);
    assert_eq!(run(&["answer", "site", "off"])["open"], false);
}

#[test]
fn articles_of_a_help_desk_wait_for_a_review() {
    let operator = Operator::set_up();
    let folder = operator.data().join("chatwoot");
    std::fs::create_dir_all(&folder).unwrap();
    let page = serde_json::json!({ "payload": [{
        "id": 7, "title": "Refunds", "content": "The money comes within five days.", "status": "published",
        "category": { "name": "Paying", "locale": "en" },
    }] });
    std::fs::write(folder.join("articles-1.json"), page.to_string()).unwrap();
    let path = folder.display().to_string();
    let import = ["answer", "import", &path, "--from", "chatwoot", "--by", "olive@acme.example"];
    assert_eq!(operator.json(&import)["added"], 1);
    let listed = operator.json(&["answer", "list"]);
    let answer = &listed["answers"][0];
    assert_eq!((&answer["state"], &answer["section"]), (&"review".into(), &"Paying".into()));
    let id = answer["id"].as_str().unwrap();
    operator.json(&["answer", "public", id, "--by", "olive@acme.example"]);
    assert_eq!(operator.json(&import)["unchanged"], 1);
    assert_eq!(operator.json(&["answer", "list"])["answers"][0]["public"], true);
    let wrong = ["answer", "import", &path, "--from", "zammad", "--by", "olive@acme.example"];
    assert!(operator.run(&wrong).err.contains("has no articles"));
}
