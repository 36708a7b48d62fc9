//! The results of a run as JUnit XML, which build servers show.

use std::fmt::Write;

use crate::runs::EvalResult;

/// The results as one suite. A failed check is a line of its case's failure.
pub fn junit(agent: &str, results: &[EvalResult]) -> String {
    let failures = results.iter().filter(|result| !result.passed).count();
    let took: i64 = results.iter().map(|result| result.took_ms).sum();
    let counts = format!(
        "name=\"mailroom evals\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" time=\"{}\"",
        results.len(),
        seconds(took),
    );
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite {counts}>\n"
    );
    for result in results {
        write_case(&mut xml, agent, result);
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn write_case(xml: &mut String, agent: &str, result: &EvalResult) {
    let (name, agent, took) = (escape(&result.name), escape(agent), seconds(result.took_ms));
    // Writing to a String cannot fail.
    let _ = write!(
        xml,
        "    <testcase name=\"{name}\" classname=\"mailroom.evals.{agent}\" time=\"{took}\""
    );
    let problems = result.problems();
    let Some(first) = problems.first() else {
        xml.push_str("/>\n");
        return;
    };
    let (first, all) = (escape(first), escape(&problems.join("\n")));
    let _ = write!(
        xml,
        ">\n      <failure message=\"{first}\" type=\"check\">{all}</failure>\n    </testcase>\n"
    );
}

fn seconds(millis: i64) -> String {
    format!("{}.{:03}", millis / 1_000, millis % 1_000)
}

/// Text of an element or a quoted attribute. XML 1.0 (2.2) has no way to write most control characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            character if character < ' ' => {}
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grading::EvalVerdict;
    use crate::outcome::EvalOutcome;

    fn result(name: &str, passed: bool) -> EvalResult {
        let verdict = EvalVerdict {
            expected: "must say “<b>” & \"c\"".into(),
            passed,
            seen: "a\u{1}b]]>\nc\u{ffff}".into(),
            judged: false,
        };
        EvalResult {
            name: name.into(),
            passed,
            idle: false,
            took_ms: 1_234,
            verdicts: vec![verdict],
            outcome: EvalOutcome::default(),
        }
    }

    #[test]
    fn the_xml_is_well_formed_whatever_was_said() {
        let xml = junit("Robo <1> & \"co\"", &[result("good", true), result("bad", false)]);
        let document = roxmltree::Document::parse(&xml).expect("well-formed XML");
        let root = document.root_element();
        assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some("2"), Some("1")));
        let cases: Vec<_> =
            document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
        assert_eq!(cases[0].attribute("classname"), Some("mailroom.evals.Robo <1> & \"co\""));
        assert_eq!(cases[0].attribute("time"), Some("1.234"));
        assert!(!cases[0].has_children());
        let failure = cases[1].first_element_child().expect("a failure");
        assert!(failure.attribute("message").expect("words").contains("say “<b>” & \"c\""));
        assert!(failure.text().expect("text").contains("ab]]>\nc"));
    }

    #[test]
    fn a_run_without_cases_is_a_suite_without_cases() {
        let xml = junit("Robo", &[]);
        let document = roxmltree::Document::parse(&xml).expect("well-formed XML");
        assert_eq!(document.root_element().attribute("tests"), Some("0"));
    }
}
