//! The scopes of API keys.

use crate::string_enum::string_enum;

string_enum! {
    Scope {
        Read = "read",
        Write = "write",
        Draft = "draft",
        Send = "send",
        Record = "record",
        Admin = "admin",
    }
}

impl Scope {
    /// What a key may be given without asking for it by name, and all that an app may be given: administering
    /// is for keys that somebody makes for it.
    pub const USUAL: &'static [Scope] =
        &[Scope::Read, Scope::Write, Scope::Draft, Scope::Send, Scope::Record];
}

/// A scope of a key. Every other scope includes `read`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scopes(Vec<Scope>);

impl Scopes {
    pub fn new(chosen: &[Scope]) -> Scopes {
        let mut scopes = vec![Scope::Read];
        scopes.extend_from_slice(chosen);
        scopes.sort_unstable();
        scopes.dedup();
        Scopes(scopes)
    }

    /// Those of an app, which never administers.
    pub fn of_app(chosen: &[Scope]) -> Scopes {
        let usual = chosen.iter().filter(|scope| Scope::USUAL.contains(scope));
        Scopes::new(&usual.copied().collect::<Vec<_>>())
    }

    /// The scopes of a caller without a key.
    pub const fn none() -> Scopes {
        Scopes(Vec::new())
    }

    pub fn has(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    pub fn as_slice(&self) -> &[Scope] {
        &self.0
    }

    /// As kept in a row: names with spaces between.
    pub fn to_row(&self) -> String {
        self.0.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub fn from_stored(text: &str) -> Scopes {
        Scopes::new(&text.split(' ').filter_map(Scope::parse).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_comes_with_every_other_scope_and_order_is_fixed() {
        let scopes = Scopes::new(&[Scope::Send, Scope::Write]);
        assert_eq!(scopes.to_row(), "read write send");
        assert_eq!(Scopes::from_stored("send write read"), scopes);
    }
}
