//! Passwords: argon2id with the crate's defaults (OWASP's: 19 MB, two passes), a few at a time.

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use base::concurrency::blocking::spawn_blocking;
use base::error::{Error, Result};
use base::limits::{PASSWORD_CHARS, PASSWORD_CHARS_MIN};

use crate::Web;

const SALT_BYTES: usize = 16;
/// The hash that a password is compared with if the address is unknown, so that the response takes
/// as long.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bWFpbHJvb21ub2JvZHkh$\
                      m1OBEhVJqCDXOgtfGKuYBHl0sNo0vJ/iHRbXLh2wtl4";

/// Why a password that is long enough is not taken.
const GUESSABLE: &str = "This is easy to guess: it repeats itself, runs along the keyboard or the \
                         alphabet, or is well known. Use a few words that do not belong together.";
/// Different characters that a password has at least.
const DIFFERENT_CHARS: usize = 5;
/// Rows that passwords run along, forwards or backwards.
const RUNS: &[&str] = &[
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "1qaz2wsx3edc4rfv5tgb6yhn",
    "azertyuiopqsdfghjklmwxcvbn",
];
/// Words that most guessed passwords consist of, with digits and signs around them.
const WELL_KNOWN: &[&str] = &[
    "password",
    "passwort",
    "motdepasse",
    "contrasena",
    "letmein",
    "welcome",
    "willkommen",
    "admin",
    "administrator",
    "iloveyou",
    "qwerty",
    "qwertz",
    "azerty",
    "mailroom",
    "changeme",
    "secret",
    "geheim",
    "hallo",
    "login",
    "master",
    "dragon",
    "monkey",
    "sunshine",
    "princess",
    "football",
];

/// True for what guessing programs try first. It asks for no kinds of characters: length counts more.
fn is_guessable(password: &str) -> bool {
    let letters: Vec<char> = password.to_lowercase().chars().collect();
    let mut different = letters.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < DIFFERENT_CHARS || repeats(&letters) {
        return true;
    }
    let plain: String = letters.iter().filter(|c| c.is_alphanumeric()).collect();
    let words: String = letters.iter().filter(|c| c.is_alphabetic()).collect();
    is_run(&plain) || is_run(&words) || is_well_known(&words)
}

/// True for letters that follow one another on the keyboard or in the alphabet.
fn is_run(letters: &str) -> bool {
    let back: String = letters.chars().rev().collect();
    letters.chars().count() >= DIFFERENT_CHARS
        && RUNS.iter().any(|row| row.contains(letters) || row.contains(&back))
}

/// True for a text that is one part said twice or more.
fn repeats(letters: &[char]) -> bool {
    (1..=letters.len() / 2).any(|part| {
        letters.len().is_multiple_of(part)
            && letters.chunks(part).all(|chunk| *chunk == letters[..part])
    })
}

/// True for letters that are nothing but well-known words.
fn is_well_known(letters: &str) -> bool {
    !letters.is_empty()
        && WELL_KNOWN.iter().any(|word| {
            letters.strip_prefix(word).is_some_and(|rest| rest.is_empty() || is_well_known(rest))
        })
}

impl Web {
    /// The index of the argon2 hash that a password matches, if any.
    pub async fn fitting(&self, password: String, hashes: Vec<String>) -> Option<usize> {
        if password.chars().count() > PASSWORD_CHARS {
            return None;
        }
        let _place = self.hashing.acquire().await.ok()?;
        let check = move || {
            let fits =
                |hash: &str| Argon2::default().verify_password(password.as_bytes(), hash).is_ok();
            if hashes.is_empty() {
                let _ = fits(NOBODY);
                return None;
            }
            hashes.iter().position(|hash| fits(hash))
        };
        spawn_blocking(check).await.ok().flatten()
    }

    /// The argon2 string to keep of a new password.
    pub async fn hash_password(&self, password: String) -> Result<String> {
        let chars = password.chars().count();
        if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS).contains(&chars) {
            let rule = format!("Use {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS} characters.");
            return Err(Error::invalid("password", rule));
        }
        if is_guessable(&password) {
            return Err(Error::invalid("password", GUESSABLE));
        }
        let salt = self.app.ids.bytes::<SALT_BYTES>();
        let failed = || Error::invalid("password", "The password could not be kept. Try again.");
        let _place = self.hashing.acquire().await.map_err(|_| failed())?;
        let hash = move || {
            Argon2::default()
                .hash_password_with_salt(password.as_bytes(), &salt)
                .map(|hash| hash.to_string())
        };
        spawn_blocking(hash).await.ok().and_then(Result::ok).ok_or_else(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_nobody_is_compared_at_the_same_cost() {
        let outcome = Argon2::default().verify_password(b"anything", NOBODY);
        assert!(
            matches!(outcome, Err(argon2::password_hash::Error::PasswordInvalid)),
            "{outcome:?}"
        );
        let made = Argon2::default().hash_password_with_salt(b"x", &[1; SALT_BYTES]).unwrap();
        let head = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(head(NOBODY), head(&made.to_string()));
    }

    #[test]
    fn a_password_that_guessing_programs_try_first_is_not_taken() {
        for bad in [
            "passwordpassword",
            "Password1234!",
            "aaaaaaaaaaaa",
            "abababababab",
            "abcabcabcabc",
            "123456789012",
            "abcdefghijkl",
            "qwertyuiop123",
            "qwertyuiopas",
            "zyxwvutsrqpo",
            "welcome-welcome",
            "AdminAdmin2026",
            "mailroom password",
        ] {
            assert!(is_guessable(bad), "{bad}");
        }
        for good in [
            "correct horse battery",
            "another long password",
            "tr0ub4dor&3xyz",
            "drei Lampen im Keller",
            "kQ7v-9mZp-2xWd",
            "Пароль длинный и свой",
        ] {
            assert!(!is_guessable(good), "{good}");
        }
    }
}
