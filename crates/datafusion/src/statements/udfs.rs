//! Python files whose functions declare their SQL signature in a comment.
//!
//! The comment is read here; how its declaration is read is the business of
//! [`crate::statements::statement`]. The file is not executed to find its functions.

use crate::statements::create;
use crate::statements::settings::ExuviaOptions;
use crate::statements::statement;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::prelude::SessionContext;
use exuvia_engine::DefineError;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Creates the functions of a file or folder; their names.
pub(crate) fn load(ctx: &SessionContext, path: &Path) -> Result<Vec<String>> {
    let mut names = vec![];
    // So that it can be cancelled between two functions.
    let running = ExuviaOptions::of_session(ctx).queries.begin();
    for file in files(path)? {
        let text = std::fs::read_to_string(&file)
            .map_err(|error| DataFusionError::Execution(format!("cannot read {}: {error}", file.display())))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let in_file = |message: String| DataFusionError::Plan(format!("{}: {message}", file.display()));
        for declaration in declarations(text).map_err(|error| in_file(error.to_string()))? {
            if running.cancelled.load(Ordering::Relaxed) {
                return Err(in_file("cancelled".to_string()));
            }
            let parsed = statement::parse_declaration(text, &declaration.text, &declaration.handler);
            let create = parsed.map_err(|error| in_file(error.to_string()))?;
            if names.contains(&create.name) {
                return Err(in_file(format!("the function {} is declared twice", create.name)));
            }
            names.push(create.name.clone());
            let created = create::create_function(&ctx.state(), create);
            if let Some(created) = created.map_err(|error| in_file(crate::message(&error)))? {
                create::register(ctx, created)?;
            }
        }
    }
    if names.is_empty() {
        return plan_err!(
            "{} declares no function: a line `# sql: name(arg TYPE, …) RETURNS TYPE` stands above its def",
            path.display()
        );
    }
    Ok(names)
}

/// The `.py` files that a path names, in the order of their names.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let unreadable =
        |error: std::io::Error| DataFusionError::Execution(format!("cannot read {}: {error}", path.display()));
    if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = vec![];
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|extension| extension == "py") {
            files.push(file);
        }
    }
    if files.is_empty() {
        return plan_err!("{} has no .py files", path.display());
    }
    files.sort();
    Ok(files)
}

/// A declaration in a file.
#[derive(Debug)]
struct Declaration {
    /// The file's text with all but the declaration blanked out.
    text: String,
    /// The function below it.
    handler: String,
}

/// What stands behind `sql:` in a comment.
fn declared(comment: &str) -> Option<&str> {
    let (tag, rest) = comment.trim_start().split_at_checked(4)?;
    tag.eq_ignore_ascii_case("sql:").then_some(rest)
}

fn declarations(text: &str) -> Result<Vec<Declaration>, DefineError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut declarations = vec![];
    let mut at = 0;
    while at < lines.len() {
        let Some(first) = lines[at].strip_prefix('#').and_then(declared) else {
            at += 1;
            continue;
        };
        let mut declaration = "\n".repeat(at);
        declaration.push_str(&" ".repeat(lines[at].chars().count() - first.chars().count()));
        declaration.push_str(first);
        let line = at;
        at += 1;
        while let Some(rest) = lines.get(at).and_then(|line| line.strip_prefix('#')) {
            declaration.push_str("\n ");
            declaration.push_str(rest);
            at += 1;
        }
        // Decorators stand between the comment and the def.
        while lines.get(at).is_some_and(|line| line.starts_with('@')) {
            at += 1;
        }
        let below = lines.get(at).copied().unwrap_or_default();
        let defined = below.strip_prefix("def ").or_else(|| below.strip_prefix("class "));
        let handler = match defined {
            Some(rest) => rest.split(['(', ':']).next(),
            // A name that is bound to a lambda, or to what a call gives.
            None => below.split_once('=').map(|(name, _)| name.split(':').next().unwrap_or(name)),
        };
        let is_name = |name: &&str| {
            let name = name.trim();
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        let Some(handler) = handler.filter(is_name) else {
            return Err(DefineError {
                function: first.split('(').next().unwrap_or_default().trim().to_string(),
                message: "the line below its declaration is no def, no class and no name = lambda".to_string(),
                place: Some(exuvia_engine::Place {
                    line: u32::try_from(line + 1).unwrap_or(u32::MAX),
                    text: lines[line].to_string(),
                    columns: None,
                }),
            });
        };
        declarations.push(Declaration { text: declaration, handler: handler.trim().to_string() });
    }
    Ok(declarations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_stand_above_their_def() {
        let text = "A = 1\n\n# sql: f(x BIGINT)\n#   RETURNS BIGINT\ndef f(x):\n    return x\n#sql: G() RETURNS TEXT\n@cache\ndef g():\n    pass\n# sql: h(x INT) RETURNS INT\nh = lambda x: x\n";
        let declarations = declarations(text).expect("both have a def");
        let found: Vec<_> = declarations.iter().map(|d| (d.handler.as_str(), d.text.as_str())).collect();
        assert_eq!(
            found,
            [
                ("f", "\n\n       f(x BIGINT)\n    RETURNS BIGINT"),
                ("g", "\n\n\n\n\n\n      G() RETURNS TEXT"),
                ("h", "\n\n\n\n\n\n\n\n\n\n       h(x INT) RETURNS INT")
            ]
        );
    }

    #[test]
    fn a_declaration_without_def_is_an_error() {
        let error = declarations("# sql: f() RETURNS TEXT\nprint(1)\n").expect_err("no def");
        assert_eq!(
            error.to_string(),
            "cannot create function f: the line below its declaration is no def, no class and no name = lambda\n  |\n1 | # sql: f() RETURNS TEXT"
        );
    }
}
