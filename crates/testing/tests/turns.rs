//! Loops that make new texts and lists in each turn: what they give back of the row's memory is what nobody
//! uses any more. Random programs of such loops run natively, with every turn's memory given back, against
//! CPython.

use exuvia_engine::Rung;
use exuvia_testing::case::{self, Case};
use exuvia_testing::check::{Counts, check, expect, rung};
use exuvia_testing::oracle::Oracle;
use exuvia_testing::random::Random;
use exuvia_testing::report;
use exuvia_testing::seeds::{self, Seeds};
use exuvia_testing::variation::Variation;
use std::fmt::Write;
use std::process::ExitCode;

/// What a variable holds, and expressions that make such a value of others: `T` a text, `I` an int, `L` a
/// list of texts, `N` one of ints, `P` a tuple of a text and such a list, `O` a text or None, `G` a list of
/// lists of texts.
const KINDS: &[(char, &str, &[&str])] = &[
    (
        'T',
        "s",
        &[
            "T + T[:5]",
            "T[:20] + T[-5:]",
            "T.upper()[:30]",
            "T[1:]",
            "(T * 3)[:30]",
            "' '.join(L)[:40]",
            "str(N)[:30]",
            "P[0]",
            "(O or T)",
            "f'{T[:9]}{I}'",
            "T.replace('a', 'é')[:30]",
            "T[::-1][:30]",
            "L[I % len(L)]",
        ],
    ),
    ('I', "i", &["len(T)", "I + 1", "len(L) + len(N)", "sum(N) % 97", "ord((T + 'x')[0])", "-I"]),
    (
        'L',
        "[s, 'b']",
        &[
            "[T, T]",
            "L[:4] + [T]",
            "[x + 'q' for x in L[:4]]",
            "(T + ',a').split(',')[:4]",
            "L[::-1]",
            "P[1]",
            "sorted(L)",
            "[T[:9]] * 2",
            "G[I % len(G)]",
            "L",
        ],
    ),
    (
        'N',
        "[1, 2]",
        &[
            "[I, len(T)]",
            "N[:4] + [I]",
            "[x + 1 for x in N[:5]]",
            "N[::-1]",
            "[0] * (I % 4)",
            "sorted(N)",
            "[len(x) for x in L]",
        ],
    ),
    ('P', "(s, ['c'])", &["(T, L)", "(P[0] + 'z', P[1])", "(P[0][:9], [T])"]),
    ('O', "None", &["(T if I % 2 else None)", "(None if O else T)", "(O + 'k' if O else O)"]),
    ('G', "[['d'], [s]]", &["[L, L]", "[L, [T]]", "G[:3] + [L]", "[x[:3] for x in G]"]),
];

fn main() -> ExitCode {
    seeds::main(Seeds { name: "turns", share: 100, native: 95 }, one)
}

fn one(seed: u64, oracle: &mut Oracle) -> anyhow::Result<Option<Rung>> {
    let source = program(&mut Random::new(seed));
    let text = format!(
        "# Turns\n`sql: f(s TEXT, i BIGINT) RETURNS TEXT` `rung: native`\n\n## Seed {seed}\n```py\n{source}```\n\n```json\n[[\"añb,c\", 3], [\"\", 0], [\"x\", -2]]\n```\n"
    );
    let cases: Vec<Case> = case::parse("turns", &text)?;
    let mut placed = None;
    for mut case in cases {
        let expected = expect(&case, oracle)?;
        let (at, reason) = rung(&case).map_err(anyhow::Error::msg)?;
        if at != Rung::Native {
            println!("seed {seed} is not native: {reason}");
        }
        case.rung = at;
        placed = Some(at);
        let differences = check(&case, &expected, &[Variation::Native, Variation::Turns], &mut Counts::default());
        anyhow::ensure!(differences.is_empty(), "{}\n{source}", report::failure(&case, &differences));
    }
    Ok(placed)
}

/// A function of loops, some within others, that assign to variables of every kind.
fn program(random: &mut Random) -> String {
    let mut source = String::from("def f(s, i):\n    s = s or ''\n    i = i or 0\n");
    let mut names: Vec<(char, String)> = Vec::new();
    for (kind, first, _) in KINDS {
        for at in 0..1 + random.below(2) {
            let name = format!("{}{at}", kind.to_ascii_lowercase());
            let _ = writeln!(source, "    {name} = {first}");
            names.push((*kind, name));
        }
    }
    for _ in 0..2 {
        turns(random, &mut source, &names, 1);
        // Lists that several variables held stay one.
        let _ = writeln!(source, "    {}.append('m')", filled("L", random, &names));
    }
    let all: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    let _ = writeln!(source, "    return repr(({}))", all.join(", "));
    source
}

fn turns(random: &mut Random, source: &mut String, names: &[(char, String)], depth: usize) {
    let indent = "    ".repeat(depth);
    let _ = writeln!(source, "{indent}for k{depth} in range({}):", 1 + random.below(5));
    for _ in 0..2 + random.below(5) {
        match random.below(8) {
            0 if depth < 3 => turns(random, source, names, depth + 1),
            1 => {
                let _ = writeln!(source, "{indent}    own = [{}]", filled("T", random, names));
                let _ = writeln!(source, "{indent}    own.append({})", filled("T", random, names));
                let _ = writeln!(source, "{indent}    l0 = own");
            }
            // What is older may be written to as well.
            2 if random.one_in(6) => {
                let _ = writeln!(source, "{indent}    l0.append({})", filled("T[:3]", random, names));
                let _ = writeln!(source, "{indent}    l0 = l0[-4:]");
            }
            3 if random.one_in(3) => {
                let _ = writeln!(
                    source,
                    "{indent}    if {} % 3 == 0:\n{indent}        continue",
                    filled("I", random, names)
                );
            }
            _ => {
                let (kind, name) = random.pick(names);
                let rules = KINDS.iter().find(|(known, ..)| known == kind).map_or(&[][..], |(.., rules)| rules);
                let rule = random.pick::<&str>(rules);
                let value = filled(rule, random, names);
                let _ = writeln!(source, "{indent}    {name} = {value}");
            }
        }
    }
}

/// A rule with names of variables for the kinds.
fn filled(rule: &str, random: &mut Random, names: &[(char, String)]) -> String {
    let mut text = String::new();
    for ch in rule.chars() {
        let known: Vec<&str> = names.iter().filter(|(kind, _)| *kind == ch).map(|(_, name)| name.as_str()).collect();
        match known.is_empty() {
            true => text.push(ch),
            false => text.push_str(random.pick::<&str>(&known)),
        }
    }
    text
}
