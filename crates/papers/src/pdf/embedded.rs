//! Finds XML files embedded in a PDF.

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Object, Stream};

use crate::limits::{EMBEDDED_FILES, NAME_TREE_DEPTH, XML_BYTES};

/// The files inside a PDF that may be XML: those that the catalogue names (`EmbeddedFiles`), those
/// that belong to it (`AF`), and, where a program forgot to name its file, any other.
pub fn files(pdf: &Pdf) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    if let Some(catalogue) = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()) {
        if let Some(tree) = catalogue
            .get::<Dict<'_>>("Names")
            .and_then(|names| names.get::<Dict<'_>>("EmbeddedFiles"))
        {
            walk(&tree, NAME_TREE_DEPTH, &mut files);
        }
        for file in catalogue.get::<Array<'_>>("AF").iter().flat_map(|af| af.iter::<Dict<'_>>()) {
            add(&file, &mut files);
        }
    }
    if files.is_empty() {
        for object in pdf.objects() {
            if let Object::Dict(dict) = object {
                add(&dict, &mut files);
            }
        }
    }
    files
}

fn walk(tree: &Dict<'_>, depth: usize, files: &mut Vec<Vec<u8>>) {
    if depth == 0 || files.len() >= EMBEDDED_FILES {
        return;
    }
    for kid in tree.get::<Array<'_>>("Kids").iter().flat_map(|kids| kids.iter::<Dict<'_>>()) {
        walk(&kid, depth - 1, files);
    }
    // Names and files take turns.
    for entry in tree.get::<Array<'_>>("Names").iter().flat_map(|names| names.iter::<Object<'_>>())
    {
        if let Object::Dict(file) = entry {
            add(&file, files);
        }
    }
}

fn add(file: &Dict<'_>, files: &mut Vec<Vec<u8>>) {
    if files.len() >= EMBEDDED_FILES {
        return;
    }
    let Some(streams) = file.get::<Dict<'_>>("EF") else { return };
    let stream = ["F", "UF"].iter().find_map(|key| streams.get::<Stream<'_>>(key));
    let Some(bytes) = stream.and_then(|stream| stream.decoded().ok()) else { return };
    if bytes.len() <= XML_BYTES {
        files.push(bytes.into_owned());
    }
}
