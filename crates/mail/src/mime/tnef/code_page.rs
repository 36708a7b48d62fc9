//! The character sets that Windows has numbers for.

use encoding_rs::{Encoding, WINDOWS_1252};

/// The character set with this number; that of western Europe for an unknown one.
pub(super) fn encoding_of(number: u32) -> &'static Encoding {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        20_866 => "koi8-r".to_owned(),
        20_932 | 51_932 => "euc-jp".to_owned(),
        21_866 => "koi8-u".to_owned(),
        // iso-8859-1 to -16
        28_591..=28_606 => format!("iso-8859-{}", number - 28_590),
        50_220..=50_222 => "iso-2022-jp".to_owned(),
        54_936 => "gb18030".to_owned(),
        65_001 => "utf-8".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label_no_replacement(label.as_bytes()).unwrap_or(WINDOWS_1252)
}
