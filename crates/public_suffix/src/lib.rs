//! The registered part of a domain name, by the public suffix list.
//!
//! The list is code: a function for each of its nodes, generic over the labels, so every crate that
//! asks it compiles all of it. This crate asks for all others.

/// The part of a name that somebody registered: `shop.co.uk` of `mail.shop.co.uk`. `None` for a
/// suffix itself.
pub fn registered_domain(name: &str) -> Option<&str> {
    psl::domain_str(name)
}

/// True for a name under a suffix that the list has, and for such a suffix itself.
pub fn has_known_suffix(name: &str) -> bool {
    psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registered_part_is_one_label_below_the_suffix() {
        assert_eq!(registered_domain("mail.shop.co.uk"), Some("shop.co.uk"));
        assert_eq!(registered_domain("shop.example"), Some("shop.example"));
        assert_eq!(registered_domain("co.uk"), None);
    }

    #[test]
    fn only_suffixes_of_the_list_are_known() {
        assert!(has_known_suffix("shop.co.uk") && has_known_suffix("co.uk"));
        assert!(!has_known_suffix("shop.example"));
    }
}
