//! The pictures of the mails that were looked at last, so that each request for one of them does
//! not parse the whole mail again.
//!
//! Mails never change and are named by their hash, so nothing here grows stale. Who may see a mail
//! is checked before this is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use mail::MailPictures;

/// Mails whose pictures are kept.
const MAILS: usize = 64;
/// Bytes of all of them together.
const BYTES: usize = 32 * 1024 * 1024;
/// Bytes of the pictures that one mail brought; the others of a larger one are read from the mail.
pub const MAIL_BYTES: usize = 8 * 1024 * 1024;

#[derive(Default)]
pub struct PictureCache(Mutex<VecDeque<CachedMail>>);

struct CachedMail {
    key: String,
    pictures: Arc<MailPictures>,
}

impl PictureCache {
    pub fn get(&self, key: &str) -> Option<Arc<MailPictures>> {
        let mut mails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = mails.iter().position(|mail| mail.key == key)?;
        let found = mails.remove(place)?;
        let pictures = Arc::clone(&found.pictures);
        mails.push_front(found);
        Some(pictures)
    }

    /// Keeps the pictures of a mail in the place of those that were not asked for the longest.
    pub fn put(&self, key: &str, pictures: MailPictures) -> Arc<MailPictures> {
        let pictures = Arc::new(pictures);
        let mut mails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mails.retain(|mail| mail.key != key);
        mails.push_front(CachedMail { key: key.to_owned(), pictures: Arc::clone(&pictures) });
        let mut bytes = 0;
        let fits = |mail: &CachedMail| {
            bytes += mail.pictures.size();
            bytes <= BYTES
        };
        let kept = mails.iter().take(MAILS).map(fits).take_while(|fits| *fits).count();
        mails.truncate(kept);
        pictures
    }
}

#[cfg(test)]
mod tests {
    use mail::InlinePicture;

    use super::*;

    fn pictures(bytes: usize) -> MailPictures {
        let picture = InlinePicture { content_type: "image/png", bytes: vec![0; bytes] };
        MailPictures { inline: vec![(1, picture)], ..MailPictures::default() }
    }

    #[test]
    fn what_was_asked_for_last_stays_within_the_limits() {
        let cache = PictureCache::default();
        for number in 0..MAILS + 5 {
            cache.put(&number.to_string(), pictures(10));
            assert!(cache.get("0").is_some(), "it is asked for all the time");
        }
        assert!(cache.get("1").is_none() && cache.get("68").is_some());
        for number in 0..5 {
            cache.put(&format!("large {number}"), pictures(MAIL_BYTES - 1));
        }
        assert!(cache.get("large 0").is_none() && cache.get("68").is_none());
        assert!(cache.get("large 4").is_some() && cache.get("large 1").is_some());
    }
}
