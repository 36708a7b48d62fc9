//! Reads which file of a crate imports which other, from `use` lines and from paths inside the
//! code, and holds the direction between layers and the absence of circles between files.
//!
//! A layer is an entry of the source folder: `model/` with all its files, or `app.rs` alone. A name
//! that a file re-exports counts as an import of the file that defines it. What macros generate is
//! not seen.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::{fs, io};

/// A layer and the layers it may import beside itself.
pub type LayerRule<'a> = (&'a str, &'a [&'a str]);
/// An import that is allowed against the rules: the file, the file it imports, and why.
pub type LayerException<'a> = (&'a str, &'a str, &'a str);

/// The imports of one crate.
pub struct Imports {
    /// Files by the path of their module.
    files: BTreeMap<Vec<String>, String>,
    edges: Vec<Import>,
}

#[derive(Clone)]
struct Import {
    from: Vec<String>,
    to: Vec<String>,
    line: usize,
    /// The path as it is written.
    path: String,
}

impl Imports {
    pub fn of_folder(folder: &Path) -> io::Result<Imports> {
        let mut sources = Vec::new();
        read_folder(folder, "", &mut sources)?;
        Ok(Imports::of(&sources))
    }

    /// Reads files by their name in the source folder, such as `model/mod.rs`, and their text.
    pub fn of(sources: &[(String, String)]) -> Imports {
        let mut files = BTreeMap::new();
        let mut read = BTreeMap::new();
        for (name, text) in sources {
            let module = module_of(name);
            read.insert(module.clone(), read_paths(&tokens(text)));
            files.insert(module, name.clone());
        }
        let mut edges = Vec::new();
        for (module, paths) in &read {
            for path in paths {
                let Some(target) = absolute(&read, module, path) else { continue };
                let to = defining_file(&read, &target, REEXPORTS_FOLLOWED);
                if to != *module {
                    let (from, line) = (module.clone(), path.line);
                    edges.push(Import { from, to, line, path: path.segments.join("::") });
                }
            }
        }
        Imports { files, edges }
    }

    /// Imports that a layer may not have, files without a layer, and exceptions nobody needs.
    pub fn breaches(
        &self,
        layers: &[LayerRule<'_>],
        exceptions: &[LayerException<'_>],
    ) -> Vec<String> {
        let rules: BTreeMap<&str, &[&str]> = layers.iter().copied().collect();
        let mut breaches = Vec::new();
        for (module, file) in &self.files {
            if module.first().is_some_and(|layer| !rules.contains_key(layer.as_str())) {
                breaches.push(format!("{file}: belongs to no layer of the table"));
            }
        }
        let mut needed = BTreeSet::new();
        for import in &self.edges {
            let Some(from) = import.from.first() else { continue };
            let to = import.to.first().map_or("the crate's root", String::as_str);
            let allowed = rules.get(from.as_str()).copied().unwrap_or_default();
            if from == to || allowed.contains(&to) {
                continue;
            }
            let ends = (self.name(&import.from), self.name(&import.to));
            match exceptions.iter().position(|(from, to, _)| (*from, *to) == ends) {
                Some(exception) => drop(needed.insert(exception)),
                None => breaches.push(format!(
                    "{}:{}: `{from}` may not import `{to}` ({}); it may import {}",
                    ends.0,
                    import.line,
                    import.path,
                    if allowed.is_empty() { "nothing".into() } else { allowed.join(", ") },
                )),
            }
        }
        for (number, (from, to, _)) in exceptions.iter().enumerate() {
            if !needed.contains(&number) {
                breaches.push(format!("{from}: the exception for {to} is not needed any more"));
            }
        }
        breaches
    }

    /// Files that import one another in a circle, each circle as its imports. A folder's `mod.rs`
    /// and the files below it belong together: such imports alone make no circle.
    pub fn circles(&self) -> Vec<String> {
        let mut found: BTreeMap<BTreeSet<&[String]>, String> = BTreeMap::new();
        let inward = |import: &Import| import.to.starts_with(&import.from);
        let outward = |import: &Import| import.from.starts_with(&import.to);
        let without_inward: Vec<&Import> = self.edges.iter().filter(|i| !inward(i)).collect();
        let without_outward: Vec<&Import> = self.edges.iter().filter(|i| !outward(i)).collect();
        for edges in [without_inward, without_outward] {
            let mut imports: BTreeMap<&[String], Vec<&Import>> = BTreeMap::new();
            for import in edges {
                imports.entry(&import.from).or_default().push(import);
            }
            for file in self.files.keys() {
                let Some(circle) = shortest_circle(&imports, file) else { continue };
                let files = circle.iter().map(|import| import.from.as_slice()).collect();
                found.entry(files).or_insert_with(|| self.describe(&circle));
            }
        }
        found.into_values().collect()
    }

    fn describe(&self, circle: &[&Import]) -> String {
        let steps = circle.iter().map(|import| {
            let (from, to) = (self.name(&import.from), self.name(&import.to));
            format!("{from}:{} imports {to} ({})", import.line, import.path)
        });
        format!("a circle: {}", steps.collect::<Vec<_>>().join(", "))
    }

    fn name(&self, module: &[String]) -> &str {
        self.files.get(module).map_or("", String::as_str)
    }
}

/// The shortest way from a file back to it.
fn shortest_circle<'a>(
    imports: &BTreeMap<&[String], Vec<&'a Import>>,
    start: &[String],
) -> Option<Vec<&'a Import>> {
    let mut reached_by: BTreeMap<&[String], &'a Import> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(file) = next.pop_front() {
        for import in imports.get(file).into_iter().flatten().copied() {
            if reached_by.contains_key(import.to.as_slice()) {
                continue;
            }
            reached_by.insert(&import.to, import);
            if import.to == start {
                let mut circle = vec![import];
                while circle[0].from != start {
                    circle.insert(0, reached_by[circle[0].from.as_slice()]);
                }
                return Some(circle);
            }
            next.push_back(&import.to);
        }
    }
    None
}

fn read_folder(folder: &Path, prefix: &str, into: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            read_folder(&path, &format!("{name}/"), into)?;
        } else if name.ends_with(".rs") {
            into.push((name, fs::read_to_string(&path)?));
        }
    }
    into.sort();
    Ok(())
}

fn module_of(name: &str) -> Vec<String> {
    let mut module: Vec<String> =
        name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    let last = module.last().map(String::as_str);
    if last == Some("mod") || (module.len() == 1 && matches!(last, Some("lib" | "main"))) {
        module.pop();
    }
    module
}

/// How many re-exports in a row lead to a name.
const REEXPORTS_FOLLOWED: usize = 4;

type PathsByModule = BTreeMap<Vec<String>, Vec<WrittenPath>>;

/// A path as it stands in a file.
struct WrittenPath {
    segments: Vec<String>,
    line: usize,
    /// The modules inside the file that it stands in.
    inside: Vec<String>,
    /// The name under which `pub use` offers it.
    offered_as: Option<String>,
    is_use: bool,
}

/// The path from the crate's root, for a path that leads into this crate.
fn absolute(read: &PathsByModule, module: &[String], path: &WrittenPath) -> Option<Vec<String>> {
    let mut at: Vec<String> = module.iter().chain(&path.inside).cloned().collect();
    let mut rest = path.segments.as_slice();
    match rest.first()?.as_str() {
        "crate" => {
            at.clear();
            rest = &rest[1..];
        }
        "self" | "super" => {
            while let Some(step @ ("self" | "super")) = rest.first().map(String::as_str) {
                if step == "super" {
                    at.pop()?;
                }
                rest = &rest[1..];
            }
        }
        child => {
            let below: Vec<String> = at.iter().cloned().chain([child.to_owned()]).collect();
            if !read.contains_key(&below) {
                return None;
            }
        }
    }
    at.extend_from_slice(rest);
    Some(at)
}

/// The file in which a path ends, after the re-exports that lead to it.
fn defining_file(read: &PathsByModule, path: &[String], follow: usize) -> Vec<String> {
    let mut file = Vec::new();
    for (place, segment) in path.iter().enumerate() {
        file.push(segment.clone());
        if read.contains_key(&file) {
            continue;
        }
        file.pop();
        let offered = read.get(&file).into_iter().flatten();
        let found = offered
            .filter(|offer| offer.inside.is_empty() && offer.offered_as.as_ref() == Some(segment))
            .find_map(|offer| absolute(read, &file, offer));
        return match found {
            Some(target) if follow > 0 => {
                let target = [&target, &path[place + 1..]].concat();
                defining_file(read, &target, follow - 1)
            }
            _ => file,
        };
    }
    file
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Into,
    Sign(char),
}

/// The words and signs of a source text with their lines, without comments, strings and lifetimes.
fn tokens(text: &str) -> Vec<(Token, usize)> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let start = at;
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => at = skip_until(&chars, at, |c| c == '\n'),
            ('/', Some('*')) => at = skip_comment(&chars, at),
            ('"', _) => at = skip_string(&chars, at),
            ('r', Some('"' | '#')) if is_raw_string(&chars, at) => at = skip_raw(&chars, at),
            ('\'', _) => at = skip_quote(&chars, at),
            (':', Some(':')) => {
                tokens.push((Token::Into, line));
                at += 2;
            }
            (c, _) if c.is_alphanumeric() || c == '_' => {
                at = skip_until(&chars, at, |c| !c.is_alphanumeric() && c != '_');
                tokens.push((Token::Word(chars[start..at].iter().collect()), line));
            }
            (c, _) => {
                if !c.is_whitespace() {
                    tokens.push((Token::Sign(c), line));
                }
                at += 1;
            }
        }
        line += chars[start..at].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

fn skip_until(chars: &[char], from: usize, end: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|c| end(*c)).map_or(chars.len(), |length| from + length)
}

fn skip_comment(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn skip_string(chars: &[char], from: usize) -> usize {
    let mut at = from + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn is_raw_string(chars: &[char], at: usize) -> bool {
    let begins = at == 0 || !(chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    let opens = skip_until(chars, at + 1, |c| c != '#');
    (begins || chars[at - 1] == 'b') && chars.get(opens) == Some(&'"')
}

fn skip_raw(chars: &[char], from: usize) -> usize {
    let opens = skip_until(chars, from + 1, |c| c != '#');
    let hashes = opens - from - 1;
    let mut at = opens + 1;
    while at < chars.len() {
        at = skip_until(chars, at, |c| c == '"') + 1;
        let closing = chars.iter().skip(at).take_while(|c| **c == '#').count();
        if closing >= hashes {
            return (at + hashes).min(chars.len());
        }
    }
    chars.len()
}

/// A character such as `'x'` or `'\n'`, or a lifetime, of which only the quote is skipped.
fn skip_quote(chars: &[char], from: usize) -> usize {
    match (chars.get(from + 1), chars.get(from + 2)) {
        (Some('\\'), _) => skip_until(chars, from + 3, |c| c == '\'') + 1,
        (Some(_), Some('\'')) => from + 3,
        _ => from + 1,
    }
}

fn read_paths(tokens: &[(Token, usize)]) -> Vec<WrittenPath> {
    let word = |at: usize| match tokens.get(at) {
        Some((Token::Word(word), _)) => Some(word.as_str()),
        _ => None,
    };
    let sign = |at: usize| match tokens.get(at) {
        Some((Token::Sign(sign), _)) => Some(*sign),
        _ => None,
    };
    let mut paths = Vec::new();
    let (mut at, mut depth) = (0, 0);
    let mut inside: Vec<(String, usize)> = Vec::new();
    while at < tokens.len() {
        let names = || inside.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match (word(at), sign(at)) {
            (Some("mod"), _) if sign(at + 2) == Some('{') => {
                inside.push((word(at + 1).unwrap_or_default().to_owned(), depth));
                at += 2;
            }
            (Some("use"), _) => {
                let public = at > 0 && (word(at - 1) == Some("pub") || sign(at - 1) == Some(')'));
                let before = paths.len();
                at = read_use(tokens, at + 1, &[], &mut paths);
                for path in &mut paths[before..] {
                    path.inside = names();
                    if !public {
                        path.offered_as = None;
                    }
                }
            }
            (Some(first), _) if tokens.get(at + 1).is_some_and(|(t, _)| *t == Token::Into) => {
                let line = tokens[at].1;
                let mut segments = vec![first.to_owned()];
                while let (Some((Token::Into, _)), Some(next)) = (tokens.get(at + 1), word(at + 2))
                {
                    segments.push(next.to_owned());
                    at += 2;
                }
                let (inside, offered_as) = (names(), None);
                paths.push(WrittenPath { segments, line, inside, offered_as, is_use: false });
                at += 1;
            }
            (_, Some('{')) => {
                depth += 1;
                at += 1;
            }
            (_, Some('}')) => {
                depth = depth.saturating_sub(1);
                inside.pop_if(|(_, outside)| *outside == depth);
                at += 1;
            }
            _ => at += 1,
        }
    }
    hide_shadowed(&mut paths);
    paths
}

/// Drops paths that begin with a name which a `use` line of the file brought in: that line counts.
fn hide_shadowed(paths: &mut Vec<WrittenPath>) {
    let brought_in: BTreeSet<String> = paths
        .iter()
        .filter(|path| path.is_use && path.segments.len() > 1)
        .filter_map(|path| path.segments.last().cloned())
        .collect();
    paths.retain(|path| path.is_use || !brought_in.contains(&path.segments[0]));
}

/// Reads one tree of a `use` line and returns where it ends.
fn read_use(
    tokens: &[(Token, usize)],
    mut at: usize,
    prefix: &[String],
    paths: &mut Vec<WrittenPath>,
) -> usize {
    let mut segments = prefix.to_vec();
    let line = tokens.get(at).map_or(0, |(_, line)| *line);
    let mut alias = None;
    while let Some((token, _)) = tokens.get(at) {
        at += 1;
        match token {
            Token::Word(word) if word == "as" => {
                if let Some((Token::Word(name), _)) = tokens.get(at) {
                    alias = Some(name.clone());
                    at += 1;
                }
            }
            Token::Word(word) => segments.push(word.clone()),
            Token::Into | Token::Sign('*') => {}
            Token::Sign('{') => {
                while !matches!(tokens.get(at), None | Some((Token::Sign('}'), _))) {
                    at = read_use(tokens, at, &segments, paths);
                }
                at += 1;
                if matches!(tokens.get(at), Some((Token::Sign(',' | ';'), _))) {
                    at += 1;
                }
                return at;
            }
            Token::Sign('}') => {
                at -= 1;
                break;
            }
            Token::Sign(_) => break,
        }
    }
    if segments.len() > 1 && segments.last().is_some_and(|last| last == "self") {
        segments.pop();
    }
    if segments.len() > prefix.len() || !prefix.is_empty() {
        let offered_as = alias.or_else(|| segments.last().cloned());
        paths.push(WrittenPath { segments, line, inside: Vec::new(), offered_as, is_use: true });
    }
    at
}
