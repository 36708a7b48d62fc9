//! Text whose lines were broken only for the way (RFC 3676).

/// Joins lines that end with a space with the next of the same quote depth. `closed` drops that
/// space, for scripts that write without spaces (`DelSp=yes`).
pub fn unwrap(text: &str, closed: bool) -> String {
    let mut unwrapped = String::with_capacity(text.len());
    let mut open: Option<usize> = None;
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let rest = line.trim_start_matches('>');
        let depth = line.len() - rest.len();
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let signature = rest == "-- ";
        if open == Some(depth) && !signature {
            unwrapped.push_str(rest);
        } else {
            if open.is_some() {
                unwrapped.push('\n');
            }
            if depth > 0 {
                unwrapped.push_str(&">".repeat(depth));
                unwrapped.push(' ');
            }
            unwrapped.push_str(rest);
        }
        if rest.ends_with(' ') && !signature {
            if closed {
                unwrapped.pop();
            }
            open = Some(depth);
        } else {
            unwrapped.push('\n');
            open = None;
        }
    }
    unwrapped.truncate(unwrapped.trim_end_matches('\n').len());
    unwrapped
}

#[cfg(test)]
mod tests {
    use super::unwrap;

    #[test]
    fn soft_breaks_are_joined_and_hard_ones_stay() {
        assert_eq!(unwrap("one \ntwo\nthree\n", false), "one two\nthree");
        assert_eq!(unwrap("> old \n> text\n own\n-- \nAnn", false), "> old text\nown\n-- \nAnn");
        assert_eq!(unwrap("> old \nnew", false), "> old \nnew");
        assert_eq!(unwrap("日本 \n語", true), "日本語");
    }
}
