//! The SASL mechanism XOAUTH2, which Google and Microsoft take access tokens by.

/// The initial response, before it is encoded. A server that refuses it explains itself in a challenge,
/// which is answered with an empty line.
pub fn xoauth2(username: &str, token: &str) -> String {
    format!("user={username}\u{1}auth=Bearer {token}\u{1}\u{1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_token_are_ended_by_control_a() {
        let said = xoauth2("ann@acme.example", "ya29.x");
        assert_eq!(said, "user=ann@acme.example\x01auth=Bearer ya29.x\x01\x01");
    }
}
