//! The files inside the binary: the stylesheet, the icons and the scripts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Files;

/// Changes whenever a file does, so that browsers may keep the files for good.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    use sha2::{Digest, Sha256};
    let mut names: Vec<_> = Files::iter().collect();
    names.sort();
    let mut all = Sha256::new();
    for file in names.iter().filter_map(|name| Files::get(name)) {
        all.update(file.metadata.sha256_hash());
    }
    all.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// Each file compressed once. The files hold no data of anybody, so compressing them reveals
/// nothing; pages do hold such data and are sent uncompressed (BREACH).
static COMPRESSED: LazyLock<HashMap<String, Vec<u8>>> = LazyLock::new(|| {
    let compressed = |name: Cow<'static, str>| {
        let file = Files::get(&name)?;
        Some((name.into_owned(), zstd::bulk::compress(&file.data, ZSTD_LEVEL).ok()?))
    };
    Files::iter().filter_map(compressed).collect()
});

const ZSTD_LEVEL: i32 = 19;

pub fn file(name: &str) -> Option<Cow<'static, [u8]>> {
    Files::get(name).map(|file| file.data)
}

/// The same file for browsers that accept zstd.
pub fn compressed_file(name: &str) -> Option<&'static [u8]> {
    COMPRESSED.get(name).map(Vec::as_slice)
}
