//! The pages: their links lead somewhere, the book has all of them, and their statements run.
//!
//! Blocks of `sql` on a page are run in one session, in their order. What a page's examples
//! need and a reader does not stands in a comment, `<!-- sql … -->`. A block of `sql error` is
//! run behind those before it and must fail; one of `sql fragment` is not run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace").to_path_buf()
}

/// Every page, by its path from the root.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|page| root().join(page)).into();
    let mut folders = vec![root().join("docs"), root().join("benchmarks")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A page's text without its blocks of code.
fn prose(text: &str) -> String {
    let mut within = false;
    let is_prose = |line: &&str| {
        let fence = line.trim_start().starts_with("```");
        within ^= fence;
        !within && !fence
    };
    text.lines().filter(is_prose).collect::<Vec<_>>().join("\n")
}

/// The anchor that renderers give a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().replace(' ', "-")
}

/// The targets of `[text](target)`.
fn links(prose: &str) -> impl Iterator<Item = &str> {
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = vec![];
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page");
        let prose = prose(&text);
        for link in links(&prose).filter(|link| !link.contains("://") && !link.contains(' ')) {
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().expect("a folder").join(path) };
            let Ok(found) = std::fs::metadata(&target) else {
                wrong.push(format!("{}: {link}", page.display()));
                continue;
            };
            if place.is_empty() || found.is_dir() {
                continue;
            }
            let there = std::fs::read_to_string(&target).expect("a page");
            if !there.lines().any(|line| line.starts_with('#') && anchor(line) == place) {
                wrong.push(format!("{}: {link}: no such heading", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files below a folder, as paths from it.
fn files(folder: &Path, within: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder.join(within)).expect("a folder").flatten() {
        let path = within.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(folder, &path, found),
            _ => found.push(format!("/{}", path.display())),
        }
    }
}

#[test]
fn files_that_pages_name_exist() {
    let mut there = vec![];
    ["crates", "tests"].iter().for_each(|folder| files(&root(), Path::new(folder), &mut there));
    let is_file = |name: &&str| {
        [".rs", ".py", ".cl"].iter().any(|end| name.ends_with(end))
            && !name.contains([' ', '*', '('])
            && *name == name.to_lowercase()
    };
    let mut wrong = vec![];
    let internals =
        pages().into_iter().filter(|page| page.parent().is_some_and(|folder| folder.ends_with("internals")));
    for page in internals.chain([root().join("ARCHITECTURE.md")]) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let prose = prose(&text);
        for name in prose.split('`').skip(1).step_by(2).filter(is_file) {
            // Also as `lift/objects/heap.rs`.
            let spelled = [format!("/{name}"), format!("/{}", name.replacen('/', "/src/", 1))];
            if !there.iter().any(|path| spelled.iter().any(|spelled| path.ends_with(spelled))) {
                wrong.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_book_has_every_page() {
    let folder = root().join("docs");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).expect("the book's contents");
    let listed: HashSet<PathBuf> = links(&summary).map(|link| folder.join(link)).collect();
    let there: HashSet<PathBuf> = pages()
        .into_iter()
        .filter(|page| {
            page.starts_with(&folder) && !page.ends_with("SUMMARY.md") && !page.starts_with(folder.join("book"))
        })
        .collect();
    assert_eq!(listed, there);
}

#[cfg(feature = "python")]
mod examples {
    use super::{pages, root};
    use std::io::Write;
    use std::process::{Command, Output, Stdio};

    fn run(script: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_exuvia"))
            .args(["-q", "-f", "-"])
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    }

    /// The statements of a page: how each block is marked, and what it says.
    fn blocks(text: &str) -> Vec<(&str, String)> {
        let mut found: Vec<(&str, String)> = vec![];
        let mut ends: Option<&str> = None;
        for line in text.lines() {
            match ends {
                Some(end) if line == end => ends = None,
                Some(_) => {
                    if let Some((_, block)) = found.last_mut() {
                        block.push_str(line);
                        block.push('\n');
                    }
                }
                None => {
                    let begun = [("```", "```"), ("<!-- ", "-->")].into_iter().find_map(|(begin, end)| {
                        let mark = line.strip_prefix(begin)?;
                        Some((mark, end))
                    });
                    let Some((mark, end)) = begun else { continue };
                    if mark.contains(end) {
                        continue;
                    }
                    ends = Some(end);
                    found.push((mark, String::new()));
                }
            }
        }
        found.retain(|(mark, _)| matches!(*mark, "sql" | "sql error"));
        found
    }

    #[test]
    fn statements_of_pages_run() {
        let mut wrong = vec![];
        let mut ran = 0;
        for page in pages() {
            let text = std::fs::read_to_string(&page).expect("a page");
            let name = page.strip_prefix(root()).unwrap_or(&page).display().to_string();
            let mut before = String::new();
            for (mark, block) in blocks(&text) {
                ran += 1;
                if mark == "sql" {
                    before.push_str(block.trim_end());
                    // A block may end in a statement without its semicolon, or in a comment.
                    before.push_str("\n;\n");
                } else {
                    let output = run(&format!("{before}{block}"));
                    if output.status.code() != Some(1) {
                        wrong.push(format!("{name}: this does not fail:\n{block}"));
                    }
                }
            }
            if before.is_empty() {
                continue;
            }
            let output = run(&before);
            if !output.status.success() {
                wrong.push(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
        assert!(ran > 30, "only {ran} blocks were found");
    }
}
