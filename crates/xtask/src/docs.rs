//! The pages of `docs/` that are generated from the code: the operations, and the reasons
//! for which something is not lifted.

use crate::root;
use exuvia_lift::Code;
use exuvia_ops::def::{Bails, Default, Kind, OpDef};
use exuvia_ops::prelude;
use std::fmt::Write as _;
use std::path::PathBuf;

const HEADER: &str = "<!-- Written by `cargo xtask docs`; change the source instead. -->\n";

fn pages() -> Vec<(PathBuf, String)> {
    let folder = root().join("docs");
    vec![(folder.join("operations.md"), operations()), (folder.join("bailouts.md"), bailouts())]
}

/// Writes the pages.
///
/// # Errors
/// Where a file cannot be written.
pub fn write() -> anyhow::Result<()> {
    for (path, text) in pages() {
        std::fs::write(&path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

/// The names of pages that differ from what would be written.
///
/// # Errors
/// Never so far.
pub fn stale() -> anyhow::Result<Vec<String>> {
    let differs = |(path, text): &(PathBuf, String)| std::fs::read_to_string(path).ok().as_ref() != Some(text);
    Ok(pages().iter().filter(|page| differs(page)).map(|(path, _)| path.display().to_string()).collect())
}

/// The coverage page: every operation that Python source can reach.
fn operations() -> String {
    let mut page = format!(
        "{HEADER}\n# Operations\n\nWhat is lifted, operation by operation. Of several with one spelling the \
         first whose parameters accept the arguments is taken; where none does, the function runs in CPython.\n"
    );
    let mut groups: Vec<(&str, Vec<&OpDef>)> = Vec::new();
    for def in exuvia_ops::all().filter(|def| !def.spelling.is_empty()) {
        let group = def.name.split_once('.').map_or(def.name, |(group, _)| group);
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, defs)) => defs.push(def),
            None => groups.push((group, vec![def])),
        }
    }
    for (group, defs) in groups {
        let _ = write!(page, "\n## {group}\n");
        for def in defs {
            operation(def, &mut page);
        }
    }
    page.push_str("\n## In Python\n\nThese are Python functions, lifted like a user's own.\n");
    for (module, source) in prelude::modules() {
        let _ = write!(page, "\n### {module}\n\n");
        for line in source.lines() {
            if let Some(signature) = line.strip_prefix("def ").and_then(|rest| rest.strip_suffix(':'))
                && !signature.starts_with('_')
            {
                let _ = writeln!(page, "- `{signature}`");
            }
        }
    }
    page
}

fn operation(def: &OpDef, page: &mut String) {
    let _ = write!(page, "\n### `{}`\n\n", signature(def));
    let (example, text): (Vec<&str>, Vec<&str>) = {
        let lines: Vec<&str> = def.doc.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let first = lines.iter().position(|line| line.starts_with(">>>")).unwrap_or(lines.len());
        (lines[first..].to_vec(), lines[..first].to_vec())
    };
    let text = text.join("\n").trim().to_string();
    if !text.is_empty() {
        let _ = writeln!(page, "{text}");
    }
    if !example.is_empty() {
        let _ = write!(page, "\n```pycon\n{}\n```\n", example.join("\n").trim_end());
    }
    if !def.raises.is_empty() {
        let raises: Vec<String> = def.raises.iter().map(|kind| format!("`{}`", kind.name())).collect();
        let _ = write!(page, "\nRaises {}.\n", raises.join(", "));
    }
    page.push_str(match def.bails {
        Bails::Never => "",
        Bails::Memory => "\nRows leave native code where their memory is full.\n",
        Bails::Range => "\nRows with numbers out of range leave native code.\n",
        Bails::Operands => "\nRows leave native code for operands that only CPython reads.\n",
    });
}

/// How Python source writes the operation, with the types of its operands.
fn signature(def: &OpDef) -> String {
    let types: Vec<String> = def.params.iter().map(|param| kind(param.kind).to_string()).collect();
    let spelling = def.spelling;
    if let Some(method) = spelling.strip_prefix('.') {
        let receiver = types.first().cloned().unwrap_or_default();
        return format!("{receiver}.{method}({})", parameters(def, 1));
    }
    match (types.as_slice(), spelling) {
        ([a, b], "a[b]") => format!("{a}[{b}]"),
        ([a, b], _) if spelling.len() > 2 && spelling.starts_with('a') && spelling.ends_with('b') => {
            format!("{a} {} {b}", spelling[1..spelling.len() - 1].trim())
        }
        ([a], _) if spelling.len() == 2 && spelling.ends_with('a') => format!("{}{a}", &spelling[..1]),
        _ => format!("{spelling}({})", parameters(def, 0)),
    }
}

fn parameters(def: &OpDef, skip: usize) -> String {
    let mut shown = Vec::new();
    for param in def.params.iter().skip(skip) {
        let name = param.name.trim_start_matches('_');
        let ty = kind(param.kind);
        shown.push(match param.default {
            Some(Default::None) => format!("{name}: {ty} = None"),
            None => format!("{name}: {ty}"),
            Some(Default::Int(i64::MAX)) => format!("{name}: {ty} = …"),
            Some(Default::Int(value)) => format!("{name}: {ty} = {value}"),
            Some(Default::Bool(value)) => format!("{name}: {ty} = {}", if value { "True" } else { "False" }),
            Some(Default::Str(text)) => format!("{name}: {ty} = {text:?}"),
            Some(Default::Float(value)) => format!("{name}: {ty} = {value:?}"),
        });
    }
    shown.join(", ")
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Int | Kind::Index => "int",
        Kind::Float => "float",
        Kind::Number => "float or int",
        Kind::Str => "str",
        Kind::StrList => "list[str]",
        Kind::IntList => "list[int]",
        Kind::Pattern => "Pattern",
        Kind::FloatList => "list[float]",
        Kind::Any | Kind::Key => "any",
        Kind::None => "None",
        Kind::List | Kind::OrderedList | Kind::KeyList => "list",
        Kind::Exc => "exception",
    }
}

/// The page of reasons that EXPLAIN shows by code.
fn bailouts() -> String {
    let mut page = format!(
        "{HEADER}\n# Why a function is not native\n\nEXPLAIN and `exuvia.functions` show a code, a sentence and \
         the line of the source. The function then runs in CPython, with the same results; in a session without an \
         interpreter it is refused.\n"
    );
    for code in Code::ALL {
        let doc: Vec<&str> = code.doc().lines().map(str::trim).collect();
        let _ = write!(page, "\n## {}: {}\n\n{}\n", code.code(), code.title(), doc.join("\n").trim());
    }
    page
}
