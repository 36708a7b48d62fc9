//! Finds XML files embedded in a PDF.

use std::collections::VecDeque;

use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Object, Stream};

use crate::limits::{EMBEDDED_FILES, NAME_TREE_ENTRIES, NAME_TREE_NODES, XML_BYTES};

/// The files inside a PDF that may be XML: those that the catalogue names (`EmbeddedFiles`), those
/// that belong to it (`AF`), and, where a program forgot to name its file, any other.
pub fn files(pdf: &Pdf) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    if let Some(catalogue) = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()) {
        if let Some(tree) = catalogue
            .get::<Dict<'_>>("Names")
            .and_then(|names| names.get::<Dict<'_>>("EmbeddedFiles"))
        {
            walk(tree, &mut files);
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

/// Goes through the tree level by level. Its nodes may name one another in circles, so what counts is how
/// many are looked at, and not how deep they are.
fn walk(tree: Dict<'_>, files: &mut Vec<Vec<u8>>) {
    let (mut nodes, mut entries) = (VecDeque::from([tree]), 0);
    let mut left = NAME_TREE_NODES;
    while let Some(node) = nodes.pop_front() {
        let kids = node.get::<Array<'_>>("Kids");
        for kid in kids.iter().flat_map(|kids| kids.iter::<Dict<'_>>()).take(left) {
            left -= 1;
            nodes.push_back(kid);
        }
        // Names and files take turns.
        let names = node.get::<Array<'_>>("Names");
        for entry in names.iter().flat_map(|names| names.iter::<Object<'_>>()) {
            entries += 1;
            if entries > NAME_TREE_ENTRIES || files.len() >= EMBEDDED_FILES {
                return;
            }
            if let Object::Dict(file) = entry {
                add(&file, files);
            }
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
