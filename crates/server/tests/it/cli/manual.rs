//! `mailroom docs`: the manual as a static site in a folder.

use std::fs;

use super::Operator;

#[test]
fn the_manual_is_written_to_a_folder_and_over_an_earlier_one_alone() {
    let operator = Operator::new();
    let folder = operator.folder.path().join("site");
    let to = format!("--to={}", folder.display());
    let written = operator.json(&["docs", &to]);
    let pages = fs::read_dir(&folder).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".html")
    });
    assert_eq!(written["pages"].as_u64(), Some(pages.count() as u64), "{written}");
    let pictures = ["pictures/inbox.png", "pictures/inbox-dark.png"];
    for file in ["index.html", "search.html", "style.css"].into_iter().chain(pictures) {
        assert!(folder.join(file).is_file(), "{file}");
    }

    // What an earlier version wrote goes; what somebody put there stays.
    let (old, own) = (folder.join("old.html"), folder.join("own.txt"));
    fs::write(&old, "x").unwrap();
    fs::write(&own, "x").unwrap();
    let list = folder.join(".mailroom-docs");
    let known = fs::read_to_string(&list).unwrap();
    fs::write(&list, format!("old.html\n../outside\n{known}")).unwrap();
    let outside = operator.folder.path().join("outside");
    fs::write(&outside, "x").unwrap();
    assert!(operator.text(&["docs", &to]).contains("Begin with "));
    assert!(!old.exists() && own.exists() && outside.exists());
    assert!(folder.join("index.html").is_file());
}

#[test]
fn a_folder_with_other_files_is_left_as_it_is() {
    let operator = Operator::new();
    let folder = operator.folder.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("letter.txt"), "Dear").unwrap();
    let said = operator.run(&["docs", "--to", &folder.display().to_string()]);
    assert_eq!(said.status, Some(1), "{}", said.err);
    assert!(said.err.contains("is not empty"), "{}", said.err);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
