//! The layers of the domain: which folder may import which, and no circle between files.

mod imports;

use std::path::Path;

use imports::{Imports, LayerException, LayerRule};

/// The table of ARCHITECTURE.md, "Layers of the domain".
const LAYERS: &[LayerRule<'_>] = &[
    ("api", &["app", "inbound", "model", "search", "base"]),
    ("actions", &["app", "inbound", "model", "search", "base"]),
    ("jobs", &["app", "inbound", "model", "search", "base"]),
    ("maintenance", &["app", "inbound", "model", "search", "base"]),
    ("inbound", &["app", "model", "search", "base"]),
    ("model", &["app", "search", "base"]),
    ("search", &["app", "base"]),
    ("app", &["base"]),
    ("base", &[]),
    ("schema", &[]),
];

const EXCEPTIONS: &[LayerException<'_>] = &[];

fn domain() -> Imports {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    Imports::of_folder(&sources).expect("the sources can be read")
}

#[test]
fn imports_of_the_domain_run_one_way_between_layers() {
    let breaches = domain().breaches(LAYERS, EXCEPTIONS);
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn files_of_the_domain_import_one_another_in_no_circle() {
    let circles = domain().circles();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

fn imports_of(sources: &[(&str, &str)]) -> Imports {
    let owned = sources.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Imports::of(&owned.collect::<Vec<_>>())
}

const TWO_LAYERS: &[LayerRule<'_>] = &[("top", &["low"]), ("low", &[])];

#[test]
fn an_import_against_the_direction_is_named_with_file_line_and_rule() {
    let written = [
        "//! use crate::top::T;\nuse crate::top::{self, T};",
        "fn f() {\n    crate::top::run(\"crate::top\")\n}",
        "mod inner {\n    use super::super::top::T;\n}",
        "use {crate::low::x,\n    crate::top::T as U};",
    ];
    for text in written {
        let imports = imports_of(&[("low/mod.rs", text), ("low/x.rs", ""), ("top.rs", "")]);
        let breaches = imports.breaches(TWO_LAYERS, &[]);
        assert!(
            breaches[0].starts_with("low/mod.rs:2: `low` may not import `top`"),
            "{breaches:?}"
        );
    }
    let quoted = [
        "// crate::top::T\n/* use crate::top::T; /* */ use crate::top::T; */",
        "const A: &str = r#\"crate::top::T\"\"#; const B: char = '\"'; fn f<'a>(x: &'a u8) {}",
        "const C: &str = \"\\\" crate::top::T\";",
    ];
    for text in quoted {
        let imports = imports_of(&[("low/mod.rs", text), ("top.rs", "use crate::low;")]);
        assert_eq!(imports.breaches(TWO_LAYERS, &[]), [""; 0], "{text}");
    }
}

#[test]
fn a_reexported_name_counts_as_an_import_of_its_file() {
    let imports = imports_of(&[
        ("lib.rs", "pub use top::T;"),
        ("top.rs", "pub struct T;"),
        ("low/mod.rs", "mod x;\npub(crate) use x::X as Y;"),
        ("low/x.rs", "use crate::T;"),
        ("low/y.rs", "use super::Y;"),
    ]);
    let breaches = imports.breaches(TWO_LAYERS, &[("low/x.rs", "top.rs", "a test")]);
    assert_eq!(breaches, [""; 0]);
    let breaches = imports.breaches(TWO_LAYERS, &[("low/y.rs", "low/x.rs", "a test")]);
    assert_eq!(breaches.len(), 2, "{breaches:?}");
    assert!(breaches[1].ends_with("the exception for low/x.rs is not needed any more"));
}

#[test]
fn a_circle_is_named_and_a_folder_may_share_with_its_own_files() {
    let imports = imports_of(&[
        ("low/mod.rs", "mod a; mod b; mod c;\nfn f() { a::run(); }"),
        ("low/a.rs", "use super::f;\nuse crate::low::b::B;"),
        ("low/b.rs", "\n\nuse super::c;"),
        ("low/c.rs", "fn g(a: super::a::A) {}"),
    ]);
    let circles = imports.circles();
    assert_eq!(circles.len(), 1, "{circles:?}");
    assert!(circles[0].contains("low/b.rs:3 imports low/c.rs (super::c)"), "{circles:?}");
    let shared = [("low/mod.rs", "mod a;\nfn f() { a::run(); }"), ("low/a.rs", "use super::f;")];
    assert_eq!(imports_of(&shared).circles(), [""; 0]);
}
