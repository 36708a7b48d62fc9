//! The files inside the binary: the stylesheet, the icons and the scripts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use rust_embed::RustEmbed;

use crate::compression::Encoding;

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

/// Each file compressed once, in each way. The files hold no data of anybody, so their size reveals
/// nothing.
static COMPRESSED: LazyLock<HashMap<String, CompressedFile>> = LazyLock::new(|| {
    let compressed = |name: Cow<'static, str>| {
        let file = Files::get(&name)?;
        let zstd = zstd::bulk::compress(&file.data, ZSTD_LEVEL).ok()?;
        let gzip = Encoding::Gzip.compress(&file.data).ok()?;
        Some((name.into_owned(), CompressedFile { zstd, gzip }))
    };
    Files::iter().filter_map(compressed).collect()
});

struct CompressedFile {
    zstd: Vec<u8>,
    gzip: Vec<u8>,
}

const ZSTD_LEVEL: i32 = 19;

pub fn names() -> impl Iterator<Item = Cow<'static, str>> {
    Files::iter()
}

pub fn file(name: &str) -> Option<Cow<'static, [u8]>> {
    Files::get(name).map(|file| file.data)
}

/// The same file, compressed.
pub fn compressed_file(name: &str, encoding: Encoding) -> Option<&'static [u8]> {
    let file = COMPRESSED.get(name)?;
    Some(match encoding {
        Encoding::Zstd => &file.zstd,
        Encoding::Gzip => &file.gzip,
    })
}
