//! Passwords: argon2id with the crate's defaults (OWASP's: 19 MB, two passes), a few at a time.

use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use inbox::base::blocking::spawn_blocking;
use inbox::base::limits::{PASSWORD_CHARS, PASSWORD_CHARS_MIN};
use inbox::{Error, Result};

use crate::web::Web;

const SALT_BYTES: usize = 16;
/// The hash that a password is compared with if the address is unknown, so that the response takes
/// as long.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bWFpbHJvb21ub2JvZHkh$\
                      m1OBEhVJqCDXOgtfGKuYBHl0sNo0vJ/iHRbXLh2wtl4";

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
    pub async fn hashed(&self, password: String) -> Result<String> {
        let chars = password.chars().count();
        if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS).contains(&chars) {
            let rule = format!("Use {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS} characters.");
            return Err(Error::invalid("password", rule));
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
}
