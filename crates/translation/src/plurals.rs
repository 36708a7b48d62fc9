//! The forms of a word beside a number: `{n|plik|pliki|plików}` in a translation.

/// The name of a place, and the forms of a word that stand in it.
pub(crate) fn split_place(place: &str) -> (&str, Option<&str>) {
    match place.split_once('|') {
        Some((name, forms)) => (name, Some(forms)),
        None => (place, None),
    }
}

/// The form that a number takes. The first is for one, the last for many; of three, the second is for numbers that end
/// in 2 to 4 but not in 12 to 14, as in Polish. A value that is no plain number takes the last.
pub(crate) fn form_for<'a>(number: &str, forms: &'a str) -> &'a str {
    let forms: Vec<&str> = forms.split('|').collect();
    let last = forms.len() - 1;
    let form = match number.parse::<u64>() {
        Ok(1) => 0,
        Ok(n) if last == 2 && (2..=4).contains(&(n % 10)) && !(12..=14).contains(&(n % 100)) => 1,
        _ => last,
    };
    forms[form]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_takes_the_form_of_its_last_figures() {
        for (number, polish, french) in [
            ("1", "plik", "fichier"),
            ("2", "pliki", "fichiers"),
            ("4", "pliki", "fichiers"),
            ("5", "plików", "fichiers"),
            ("0", "plików", "fichiers"),
            ("12", "plików", "fichiers"),
            ("22", "pliki", "fichiers"),
            ("112", "plików", "fichiers"),
            ("21", "plików", "fichiers"),
            ("2.5", "plików", "fichiers"),
        ] {
            assert_eq!(form_for(number, "plik|pliki|plików"), polish, "{number}");
            assert_eq!(form_for(number, "fichier|fichiers"), french, "{number}");
        }
    }

    #[test]
    fn a_place_has_a_name_and_may_have_forms() {
        assert_eq!(split_place("n"), ("n", None));
        assert_eq!(split_place("n|file|files"), ("n", Some("file|files")));
    }
}
