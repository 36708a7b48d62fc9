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
