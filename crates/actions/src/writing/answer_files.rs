//! Files of answers: Markdown with a heading for each, or CSV with a header line.

use base::error::{Error, Result};
use base::limits::{ANSWER_FILE_BYTES, ANSWERS, megabytes, thousands};

use crate::writing::answers::AnswerInput;

/// Lines below a heading that say something about the answer, and the columns of a CSV file.
const LANGUAGE: &str = "language";
const VALID_UNTIL: &str = "valid until";
const TITLE: &str = "title";
const TEXT: &str = "text";

/// Reads a file of answers. What begins with a line that names the columns title and text is CSV,
/// everything else Markdown.
pub fn read_answer_file(bytes: &[u8]) -> Result<Vec<AnswerInput>> {
    if bytes.len() > ANSWER_FILE_BYTES {
        let most = megabytes(ANSWER_FILE_BYTES as i64);
        return Err(wrong(format!("The file is larger than {most} MB.")));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|_| wrong("The file is not UTF-8 text. Save it as Markdown or CSV in UTF-8."))?;
    let text = text.trim_start_matches('\u{feff}');
    let answers = match csv_header(text) {
        Some((columns, separator)) => from_csv(text, &columns, separator)?,
        None => from_markdown(text),
    };
    if answers.is_empty() {
        return Err(wrong(
            "The file has no answers. Markdown has a heading (# Title) before each answer; CSV begins \
             with the columns title and text.",
        ));
    }
    if answers.len() > ANSWERS as usize {
        let most = thousands(ANSWERS as usize);
        return Err(wrong(format!("The file has more than {most} answers.")));
    }
    Ok(answers)
}

fn wrong(sentence: impl Into<String>) -> Error {
    Error::invalid("file", sentence)
}

/// A heading begins an answer; `language:` and `valid until:` may follow it.
fn from_markdown(text: &str) -> Vec<AnswerInput> {
    let mut answers: Vec<AnswerInput> = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        let marks = line.len() - heading.len();
        if !in_code && (1..=6).contains(&marks) && heading.starts_with(' ') {
            answers
                .push(AnswerInput { title: heading.trim().to_owned(), ..AnswerInput::default() });
            continue;
        }
        let Some(answer) = answers.last_mut() else { continue };
        if answer.body.trim().is_empty() && take_fact(answer, line) {
            continue;
        }
        answer.body.push_str(line);
        answer.body.push('\n');
    }
    for answer in &mut answers {
        answer.body = answer.body.trim().to_owned();
    }
    answers.retain(|answer| !answer.body.is_empty());
    answers
}

/// True for a line that says something about the answer.
fn take_fact(answer: &mut AnswerInput, line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    let field = match name.trim().to_lowercase().replace('_', " ").as_str() {
        LANGUAGE => &mut answer.language,
        VALID_UNTIL => &mut answer.valid_until,
        _ => return false,
    };
    *field = value.trim().to_lowercase();
    true
}

/// The columns of a CSV file and what separates them.
fn csv_header(text: &str) -> Option<(Vec<String>, char)> {
    let line = text.lines().next()?;
    let separator = [',', ';', '\t'].into_iter().max_by_key(|sign| line.matches(*sign).count())?;
    let columns = csv_rows(line, separator).into_iter().next()?;
    let columns: Vec<String> =
        columns.iter().map(|name| name.trim().to_lowercase().replace('_', " ")).collect();
    let has = |name: &str| columns.iter().any(|column| column == name);
    (has(TITLE) && has(TEXT)).then_some((columns, separator))
}

fn from_csv(text: &str, columns: &[String], separator: char) -> Result<Vec<AnswerInput>> {
    let mut answers = Vec::new();
    for (place, row) in csv_rows(text, separator).into_iter().enumerate().skip(1) {
        if row.iter().all(|value| value.trim().is_empty()) {
            continue;
        }
        if row.len() > columns.len() {
            return Err(wrong(format!(
                "Row {} has more values than there are columns.",
                place + 1
            )));
        }
        let mut answer = AnswerInput::default();
        for (column, value) in columns.iter().zip(row) {
            match column.as_str() {
                TITLE => answer.title = value,
                TEXT => answer.body = value,
                LANGUAGE => answer.language = value.trim().to_lowercase(),
                VALID_UNTIL => answer.valid_until = value,
                _ => {}
            }
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// The rows of a CSV text (RFC 4180); a quoted value may have line ends and doubled quotes.
fn csv_rows(text: &str, separator: char) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("there is always a row");
        let value = row.last_mut().expect("a row has a value");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                value.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if value.is_empty() => quoted = true,
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => rows.push(vec![String::new()]),
            c if c == separator && !quoted => row.push(String::new()),
            c => value.push(c),
        }
    }
    rows.retain(|row| row.len() > 1 || !row[0].is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_has_a_heading_for_each_answer() {
        let file = "Our answers\n\n# Opening hours\nLanguage: en\nvalid until: 2026-12-31\n\nWe open at \
                    nine.\n\n```\n# not a heading\n```\n## Rückgabe\nSie haben 14 Tage.\n# Empty\n";
        let answers = read_answer_file(file.as_bytes()).unwrap();
        assert_eq!(answers.len(), 2);
        assert_eq!(
            (answers[0].title.as_str(), answers[0].language.as_str()),
            ("Opening hours", "en")
        );
        assert_eq!(answers[0].valid_until, "2026-12-31");
        assert_eq!(answers[0].body, "We open at nine.\n\n```\n# not a heading\n```");
        assert_eq!(
            (answers[1].title.as_str(), answers[1].body.as_str()),
            ("Rückgabe", "Sie haben 14 Tage.")
        );
    }

    #[test]
    fn csv_has_columns_in_any_order_and_quoted_values() {
        for file in [
            "title,language,text\r\nHours,en,\"Nine to five,\nevery \"\"day\"\"\"\r\n\r\n",
            "\u{feff}Text;Title;Valid_until\n\"Nine to five,\nevery \"\"day\"\"\";Hours;\n",
        ] {
            let answers = read_answer_file(file.as_bytes()).unwrap();
            assert_eq!(answers.len(), 1, "{file}");
            assert_eq!(answers[0].title, "Hours");
            assert_eq!(answers[0].body, "Nine to five,\nevery \"day\"");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        for (file, said) in [
            (&b"just words"[..], "no answers"),
            (&b"title,text\n"[..], "no answers"),
            (&b"title,text\na,b,c\n"[..], "Row 2"),
            (&b"\xff\xfe"[..], "UTF-8"),
        ] {
            let sentence = read_answer_file(file).unwrap_err().to_string();
            assert!(sentence.contains(said), "{sentence}");
        }
    }
}
