//! Variables of the environment that look like settings and are none.

use std::ffi::OsString;

use super::names;

/// How the variables of settings begin.
const PREFIX: &str = "MAILROOM_";
/// Variables that are read beside the settings.
const BESIDE: &[&str] = &["MAILROOM_DATA", "MAILROOM_LOG"];
/// Variables that the documentation has people export for clients and scripts. The server does not read them.
const FOR_CLIENTS: &[&str] =
    &["MAILROOM_BINARY", "MAILROOM_KEY", "MAILROOM_SECRET", "MAILROOM_URL"];
/// What tests and load tests are told with, and what Kubernetes gives every container beside a service that is
/// called mailroom.
const PREFIXES_OF_OTHERS: &[&str] =
    &["MAILROOM_BENCH_", "MAILROOM_PORT_", "MAILROOM_SERVICE_", "MAILROOM_TEST_"];
/// The address of such a service, which is a URL there.
const PORT: &str = "MAILROOM_PORT";
/// Letters in which a name may differ from the one that was meant.
const MOST_DIFFERENT: usize = 3;

/// The variables that begin like a setting and are none, a sentence each.
pub fn unknown_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<String> {
    let mut unknown: Vec<String> = variables
        .into_iter()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_unknown = name.starts_with(PREFIX) && !is_known(&name, &value);
            is_unknown.then(|| sentence(&name))
        })
        .collect();
    unknown.sort();
    unknown
}

fn is_known(name: &str, value: &OsString) -> bool {
    let is_setting = || names().any(|setting| variable(setting) == name);
    BESIDE.contains(&name)
        || FOR_CLIENTS.contains(&name)
        || PREFIXES_OF_OTHERS.iter().any(|prefix| name.starts_with(prefix))
        || (name == PORT && value.to_str().is_some_and(|value| value.contains("://")))
        || is_setting()
}

fn sentence(name: &str) -> String {
    let settings = names().map(variable);
    match nearest(name, settings.chain(BESIDE.iter().map(|name| (*name).to_owned()))) {
        Some(meant) => format!("{name}: there is no such setting; did you mean {meant}?"),
        None => format!("{name}: there is no such setting; `mailroom help serve` lists them all"),
    }
}

fn variable(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

/// The name that differs the least, if it differs in a few letters only.
pub(super) fn nearest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let distances = known.map(|known| (edit_distance(name, &known), known));
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= MOST_DIFFERENT).then_some(known)
}

/// Letters to add, leave out or replace to make one name of the other.
fn edit_distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.bytes().enumerate() {
        let mut before = row[0];
        row[0] = line + 1;
        for (column, wanted) in other.bytes().enumerate() {
            let replaced = before + usize::from(letter != wanted);
            before = row[column + 1];
            row[column + 1] = replaced.min(before + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(variables: &[(&str, &str)]) -> Vec<String> {
        unknown_variables(variables.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn a_misspelt_variable_is_named_with_the_one_that_was_meant() {
        assert_eq!(
            problems(&[("MAILROOM_LISTN", "x"), ("MAILROOM_COLOUR", "red"), ("PATH", "/bin")]),
            [
                "MAILROOM_COLOUR: there is no such setting; `mailroom help serve` lists them all",
                "MAILROOM_LISTN: there is no such setting; did you mean MAILROOM_LISTEN?",
            ]
        );
        // What `listen` takes is no port alone.
        assert_eq!(problems(&[("MAILROOM_PORT", "8080")]).len(), 1);
    }

    #[test]
    fn settings_and_what_clients_tests_and_kubernetes_export_are_let_pass() {
        let settings: Vec<String> = names().map(variable).collect();
        let settings: Vec<(&str, &str)> = settings.iter().map(|name| (&**name, "")).collect();
        assert_eq!(problems(&settings), [""; 0]);
        let others = [
            ("MAILROOM_DATA", "d"),
            ("MAILROOM_LOG", "json"),
            ("MAILROOM_KEY", "rk_live_x"),
            ("MAILROOM_TEST_POSTGRES", "postgres://"),
            ("MAILROOM_BENCH_POSTGRES", "postgres://"),
            ("MAILROOM_SERVICE_HOST", "10.0.0.1"),
            ("MAILROOM_SERVICE_PORT_HTTP", "8080"),
            ("MAILROOM_PORT", "tcp://10.0.0.1:8080"),
            ("MAILROOM_PORT_8080_TCP_ADDR", "10.0.0.1"),
            ("mailroom_listen", "x"),
        ];
        assert_eq!(problems(&others), [""; 0]);
    }

    #[test]
    fn a_distance_counts_letters() {
        assert_eq!(edit_distance("listen", "listen"), 0);
        assert_eq!(edit_distance("lisen", "listen"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
