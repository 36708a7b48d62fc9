//! The protocol versions that are served.

/// In the modern era each request carries its version; in the legacy one a handshake settles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolVersion {
    Modern,
    Legacy,
}

/// Every version that is served, newest first.
pub const VERSIONS: [&str; 5] = [MODERN, LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3]];
/// The one in which each request carries its version.
pub const MODERN: &str = "2026-07-28";
/// Those that begin with `initialize`, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Those that have structured content. Clients of the others read the text of a result alone.
pub const WITH_STRUCTURED_CONTENT: [&str; 3] = [MODERN, LEGACY[0], LEGACY[1]];
