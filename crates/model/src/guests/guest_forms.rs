//! The id of a form on a customer's page. Each page that is shown has an id of its own, and the back button,
//! a reload or a second click send it again: what one form sends is stored once.

use base::files::blobs::hex;
use base::ids::Ids;
use sha2::{Digest, Sha256};

use crate::guests::guest_tokens::GuestTokenHash;

/// Characters of an id, almost 6 bits each.
const ID_CHARS: usize = 26;

/// The id of a form that was shown: a random word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestFormId(String);

impl GuestFormId {
    pub fn new(ids: &Ids) -> GuestFormId {
        GuestFormId(ids.secret(ID_CHARS))
    }

    /// `None` for what no form carries.
    pub fn parse(text: &str) -> Option<GuestFormId> {
        let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
        (text.len() == ID_CHARS && is_plain).then(|| GuestFormId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of what the form sends with this content, where it has sent other content before: the same for the same.
    pub fn with_content(&self, content: &str) -> GuestFormId {
        let digest = Sha256::digest(format!("{} {content}", self.0));
        GuestFormId(hex(&digest[..ID_CHARS / 2]))
    }

    /// What is kept of it. The id counts for one purpose: a form of one page says nothing on another.
    pub fn hash(&self, purpose: &str) -> GuestTokenHash {
        GuestTokenHash::of(&format!("{purpose} {}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_form_carries_is_its_id() {
        let id = GuestFormId::new(&Ids::with_seed(1));
        assert_eq!(GuestFormId::parse(id.as_str()), Some(id.clone()));
        assert_ne!(GuestFormId::new(&Ids::with_seed(2)), id);
        for bad in ["", "a1", &id.as_str()[1..], &format!("{}a", id.as_str()), &"é".repeat(13)] {
            assert!(GuestFormId::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn other_content_has_an_id_of_its_own() {
        let id = GuestFormId::new(&Ids::with_seed(1));
        let other = id.with_content("a");
        assert_eq!(GuestFormId::parse(other.as_str()), Some(other.clone()));
        assert_eq!(id.with_content("a"), other);
        assert!(other != id && id.with_content("b") != other);
    }

    #[test]
    fn an_id_counts_for_one_purpose() {
        let id = GuestFormId::new(&Ids::with_seed(1));
        assert_eq!(id.hash("upload form"), id.hash("upload form"));
        assert_ne!(id.hash("upload form"), id.hash("answer form"));
    }
}
