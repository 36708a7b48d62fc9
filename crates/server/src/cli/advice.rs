//! What to do next, for errors that come from the machine and not from the command.

/// What a message says, and what helps.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &["No space left on device", "database or disk is full", "Disk quota exceeded", "(53100)"],
        "The disk is full: make room there and repeat the command. What it had done is not done twice.",
    ),
    (
        &["database disk image is malformed", "file is not a database"],
        "The database is damaged: `mailroom check` says where, and `mailroom restore` puts a backup into a new \
         data folder.",
    ),
    (
        &["Read-only file system", "readonly database"],
        "Repeat the command where the disk can be written, as the user that the data belongs to.",
    ),
    (&["Permission denied"], "Repeat the command as the user that the data belongs to."),
];

/// The message, with advice where there is any.
pub fn with_advice(message: &str) -> String {
    let fits = |(signs, _): &&(&[&str], &str)| signs.iter().any(|sign| message.contains(sign));
    match ADVICE.iter().find(fits) {
        Some((_, advice)) if message.ends_with('.') => format!("{message} {advice}"),
        Some((_, advice)) => format!("{message}. {advice}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_advice;

    #[test]
    fn a_full_disk_is_told_with_what_to_do_and_other_messages_stay_as_they_are() {
        let full = std::io::Error::from_raw_os_error(28);
        let told = with_advice(&format!("The backup could not be written: {full}"));
        assert!(told.contains("(os error 28). The disk is full: make room"), "{told}");
        let told = with_advice("the database cannot be opened: database disk image is malformed");
        assert!(told.contains("`mailroom check`"), "{told}");
        assert_eq!(with_advice("There is no workspace yet."), "There is no workspace yet.");
    }
}
