//! Makes a failing program smaller: fewer rows, statements and operands.

use super::{Clause, Expr, Part, Program, Stmt, Ty};

/// The smallest program found in `attempts` tries for which `fails` still holds.
pub fn shrink(program: Program, attempts: usize, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program;
    let mut left = attempts;
    let mut at = 0;
    // Each edit has a number; one that helps is tried again at the same place, since the
    // program behind it has moved up.
    while left > 0 {
        let mut smaller = best.clone();
        if !edit(&mut smaller, at) {
            if at == 0 {
                break;
            }
            // One more round finds what became possible, until a round changes nothing.
            let mut again = false;
            for index in 0..at {
                let mut smaller = best.clone();
                if left == 0 || !edit(&mut smaller, index) {
                    break;
                }
                left -= 1;
                if fails(&smaller) {
                    best = smaller;
                    again = true;
                    break;
                }
            }
            if !again {
                break;
            }
            at = 0;
            continue;
        }
        left -= 1;
        if fails(&smaller) {
            best = smaller;
        } else {
            at += 1;
        }
    }
    best
}

/// Makes the edit of that number; false if there are fewer.
fn edit(program: &mut Program, number: usize) -> bool {
    let mut left = number;
    // Rows: the first half, the second half, each single one.
    let rows = program.rows.len();
    if rows > 1 {
        if left < 2 {
            let second = program.rows.split_off(rows / 2);
            if left == 1 {
                program.rows = second;
            }
            return true;
        }
        left -= 2;
        if left < rows {
            program.rows = vec![program.rows.swap_remove(left)];
            return true;
        }
        left -= rows;
    }
    edit_block(&mut program.module, &mut left)
}

fn edit_block(block: &mut Vec<Stmt>, left: &mut usize) -> bool {
    for at in 0..block.len() {
        if take(left) {
            block.remove(at);
            return true;
        }
        let clauses = block[at].clauses.len();
        // A clause's body in place of the whole statement.
        for clause in 0..clauses {
            if block[at].clauses[clause].body.is_some() && take(left) {
                let body = block[at].clauses[clause].body.take().unwrap_or_default();
                block.splice(at..=at, body);
                return true;
            }
        }
        for clause in 1..clauses {
            if take(left) {
                block[at].clauses.remove(clause);
                return true;
            }
        }
        for Clause { line, body } in &mut block[at].clauses {
            if edit_parts(line, left) || body.as_mut().is_some_and(|body| edit_block(body, left)) {
                return true;
            }
        }
    }
    false
}

fn edit_parts(parts: &mut [Part], left: &mut usize) -> bool {
    parts.iter_mut().any(|part| match part {
        Part::Text(_) => false,
        Part::Expr(expr) => edit_expr(expr, left),
    })
}

fn edit_expr(expr: &mut Expr, left: &mut usize) -> bool {
    let simplest = match expr.ty {
        Ty::Int => "1",
        Ty::Float => "0.5",
        Ty::Bool => "True",
        Ty::Str => "'a'",
        Ty::Ints => "[1]",
        Ty::Strs => "['a']",
        Ty::Any => "None",
    };
    let operands: Vec<usize> = (0..expr.parts.len())
        .filter(|at| matches!(&expr.parts[*at], Part::Expr(operand) if operand.ty == expr.ty || expr.ty == Ty::Any))
        .collect();
    if expr.parts.len() > 1 && take(left) {
        *expr = Expr::leaf(expr.ty, simplest);
        return true;
    }
    for at in operands {
        if take(left) {
            if let Part::Expr(operand) = expr.parts.swap_remove(at) {
                *expr = Expr { ty: expr.ty, parts: operand.parts };
            }
            return true;
        }
    }
    edit_parts(&mut expr.parts, left)
}

fn take(left: &mut usize) -> bool {
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            false
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::generate;
    use super::*;

    #[test]
    fn only_what_is_needed_stays() {
        let contains = |program: &Program| program.source().contains("def f(") && program.source().contains("%");
        let program = (0..).map(generate).find(contains).unwrap();
        let small = shrink(program.clone(), 5000, contains);
        assert!(contains(&small));
        assert!(small.source().len() < program.source().len().min(120), "{}", small.source());
        assert_eq!(small.rows.len().min(1), small.rows.len());
    }
}
