//! The CSS of a mail, written anew: only properties that lay out and colour, only conditions on the
//! width and theme of the window, and addresses of pictures only as the page names them.
//!
//! Everything is put together from recognised tokens, so that whatever a browser would read
//! otherwise than this does is not in the result. No result has a `<` in it.

mod media;
mod selector;
mod sheet;
mod token;
mod value;

pub(super) use sheet::clean_sheet;
pub(super) use value::{DeclaredSize, clean_declarations, declared_size};

/// What becomes of the address of a picture in a style: the address to ask for, if it may be.
pub(super) trait PictureAddresses {
    fn background(&mut self, address: &str) -> Option<String>;
}

/// What class and id names of ours begin with. No element of a mail has it, and no selector.
pub(super) const RESERVED_PREFIX: &str = "mailroom-";
