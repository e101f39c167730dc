//! In how many files a type stands: those that name `bytes`, BYTEA included, stand for what a further type
//! of SQL with a class of its own would touch.
//!
//! Not counted are the files of the class itself, tests, and Arrow's layouts, which say nothing of a class.

use crate::root;
use anyhow::bail;
use std::path::Path;

/// The most files besides those of the class.
const MOST: usize = 8;

/// What names the class, its literals and its SQL type.
const NAMES: &[&str] =
    &["Class::Bytes", "BytesLiteral", "PyBytes", "bytes::", "\"bytes", "\"BYTEA\"", "DataType::Bytea"];

/// Where such a name means something else.
const OTHERS: &[(&str, &str)] = &[
    // The bytes that columns take.
    ("crates/datafusion/src/lib.rs", "running::bytes::"),
    // Pickles.
    ("crates/cpython/src/run/states.rs", "PyBytes"),
];

/// Crates that are no part of the engine and the plugin.
const TOOLS: &[&str] = &["bench", "datagen", "testing", "xtask"];

/// Counts the files.
///
/// # Errors
/// There are more than [`MOST`].
pub fn check() -> anyhow::Result<()> {
    let files = naming()?;
    if files.len() > MOST {
        bail!("bytes are named in {} files besides their own, of at most {MOST}: {}", files.len(), files.join(", "));
    }
    Ok(())
}

/// The files that name the class, besides its own.
fn naming() -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root().join("crates"))? {
        let entry = entry?;
        if !TOOLS.iter().any(|tool| entry.file_name() == *tool) {
            sources(&entry.path().join("src"), &mut files)?;
        }
    }
    let mut naming = Vec::new();
    for file in files {
        let source = std::fs::read_to_string(root().join(&file))?;
        if !file.starts_with("crates/ops/src/bytes") && names(&file, &source) {
            naming.push(file);
        }
    }
    naming.sort();
    Ok(naming)
}

/// The Rust files of a folder, by their paths from the root.
fn sources(folder: &Path, files: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path.strip_prefix(root())?.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}

/// Whether the code of a file names the class.
fn names(file: &str, source: &str) -> bool {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_other = |line: &str| OTHERS.iter().any(|(of, name)| *of == file && line.contains(name));
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//") && !is_other(line));
    lines.into_iter().any(|line| NAMES.iter().any(|name| line.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::{check, names};

    #[test]
    fn a_class_stands_in_few_files() {
        check().expect("few files");
    }

    #[test]
    fn code_is_looked_at_but_no_comment_and_no_test() {
        assert!(names("a.rs", "let class = Class::Bytes;"));
        assert!(!names("a.rs", "/// As `Class::Bytes`.\nlet class = Class::Date;"));
        assert!(!names("a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    const CLASS: &str = \"bytes\";\n}"));
    }
}
