//! From a parsed pattern to the automata's own form.
//!
//! Leftmost-first automata prefer what a backtracking engine tries first, so that the
//! parts go over one by one. Two assertions depend on the text: `$`, which also matches
//! before a last newline, and `\b`, whose words are others in Python. For them, and to
//! keep sets small, a pattern is translated in variants, each for certain texts.

use super::Unsupported;
use super::classes;
use super::parse::{ASCII, At, DOTALL, IGNORECASE, Item, MULTILINE, Node, has_groups};
use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

/// The texts that a translation is for, and what of them must match.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variant {
    /// Texts of ASCII only.
    pub ascii: bool,
    /// Texts that end in a newline and hold no other.
    pub newline: bool,
    /// The match must end where the text ends.
    pub full: bool,
}

/// What a pattern makes of a text that asks for care.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// There is a `$` that only matches at the end.
    pub dollar: bool,
    /// There is a `\b` or `\B` for Unicode's words.
    pub word: bool,
    /// There is a `\B`, which never matches in an empty text (in CPython 3.11).
    pub not_boundary: bool,
    /// There is a `\B` for ASCII's words, which automata find inside of other characters.
    pub splits: bool,
    /// The translation for ASCII is another.
    pub wide: bool,
}

/// A translated part.
#[derive(Debug)]
pub enum Part {
    /// What automata can say.
    Plain(Hir),
    /// One part after the other.
    Concat(Vec<Part>),
    /// The first part that leads to a match.
    Alternate(Vec<Part>),
    /// A part several times.
    Repeat {
        /// The fewest rounds.
        min: u32,
        /// The most rounds, if there is a most.
        max: Option<u32>,
        /// Whether more rounds are tried first.
        greedy: bool,
        /// What is repeated.
        body: Box<Part>,
    },
    /// A group that captures.
    Capture(usize, Box<Part>),
    /// As [`Node::Around`].
    Around {
        /// So many characters before this place; `None` for what follows.
        behind: Option<usize>,
        /// Whether it must not match.
        negated: bool,
        /// What matches.
        body: Box<Part>,
    },
    /// The first way in which a part matches, and no other.
    Atomic(Box<Part>),
    /// The text of a group once more.
    Same(usize),
    /// As [`Node::If`]: the group, what must match if it took part and if not.
    If(usize, Box<Part>, Box<Part>),
}

/// Translates for a variant.
pub fn translate(node: &Node, flags: u32, variant: Variant) -> Result<(Part, Needs), Unsupported> {
    let mut groups = Vec::new();
    lengths(node, &mut groups);
    let mut translator = Translator { variant, needs: Needs::default(), groups };
    let part = translator.part(node, flags)?;
    let part = if variant.full { in_a_row(vec![part, Part::Plain(Hir::look(Look::End))]) } else { part };
    Ok((part, translator.needs))
}

/// Refuses a repetition that sre or the translation treats in a way of its own.
fn check_repetition(max: Option<u32>, body: &Node, groups: &[usize]) -> Result<(), Unsupported> {
    // sre ends a repetition at the first empty round, with the groups as they then
    // are; automata try the round's other ways first.
    if max.is_none_or(|max| max > 1) && least(body, groups) == 0 {
        return Err(Unsupported::Construct("a repetition of what may be empty".to_string()));
    }
    // The translation would lose the group.
    if max == Some(0) && has_groups(body) {
        return Err(Unsupported::Construct("a group that is never reached".to_string()));
    }
    Ok(())
}

struct Translator {
    variant: Variant,
    needs: Needs,
    /// The least lengths of the groups.
    groups: Vec<usize>,
}

impl Translator {
    fn part(&mut self, node: &Node, flags: u32) -> Result<Part, Unsupported> {
        Ok(match node {
            Node::Char(ch) if flags & IGNORECASE == 0 => {
                Part::Plain(Hir::literal(ch.encode_utf8(&mut [0; 4]).as_bytes()))
            }
            Node::Char(ch) => self.class(classes::set(&[Item::Char(*ch)], false, flags)?),
            Node::Set { negated, items } => self.class(classes::set(items, *negated, flags)?),
            Node::Any => {
                let mut set = ClassUnicode::empty();
                if flags & DOTALL == 0 {
                    set.push(ClassUnicodeRange::new('\n', '\n'));
                }
                set.negate();
                self.class(set)
            }
            Node::At(at) => Part::Plain(Hir::look(self.look(*at, flags))),
            Node::Repeat { min, max, greedy, possessive, body } => {
                check_repetition(*max, body, &self.groups)?;
                let (min, max, greedy) = (*min, *max, *greedy);
                match self.part(body, flags)? {
                    body if *possessive => {
                        let round = Box::new(Part::Atomic(Box::new(body)));
                        Part::Atomic(Box::new(Part::Repeat { min, max, greedy, body: round }))
                    }
                    Part::Plain(sub) => {
                        Part::Plain(Hir::repetition(Repetition { min, max, greedy, sub: Box::new(sub) }))
                    }
                    body => Part::Repeat { min, max, greedy, body: Box::new(body) },
                }
            }
            Node::Group { index, add, remove, body } => {
                let body = self.part(body, (flags | add) & !remove)?;
                match (index, body) {
                    (None, body) => body,
                    (Some(index), Part::Plain(hir)) => {
                        let capture = Capture { index: *index as u32, name: None, sub: Box::new(hir) };
                        Part::Plain(Hir::capture(capture))
                    }
                    (Some(index), body) => Part::Capture(*index, Box::new(body)),
                }
            }
            Node::Concat(nodes) => in_a_row(self.parts(nodes, flags)?),
            Node::Alternate(nodes) => match plain(self.parts(nodes, flags)?) {
                Ok(mut branches) => {
                    if would_lift(&branches) {
                        branches.push(Hir::fail());
                    }
                    Part::Plain(Hir::alternation(branches))
                }
                Err(branches) => Part::Alternate(branches),
            },
            Node::Around { behind, negated, body } => {
                Part::Around { behind: *behind, negated: *negated, body: Box::new(self.part(body, flags)?) }
            }
            Node::Atomic(body) => Part::Atomic(Box::new(self.part(body, flags)?)),
            Node::Same(_) if flags & IGNORECASE != 0 => {
                return Err(Unsupported::Construct("a reference where case is ignored".to_string()));
            }
            Node::Same(group) => Part::Same(*group),
            Node::If { group, then, otherwise } => {
                Part::If(*group, Box::new(self.part(then, flags)?), Box::new(self.part(otherwise, flags)?))
            }
        })
    }

    fn parts(&mut self, nodes: &[Node], flags: u32) -> Result<Vec<Part>, Unsupported> {
        nodes.iter().map(|node| self.part(node, flags)).collect()
    }

    fn class(&mut self, mut set: ClassUnicode) -> Part {
        if !set.is_ascii() {
            self.needs.wide = true;
            if self.variant.ascii {
                set.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')]));
            }
        }
        Part::Plain(Hir::class(Class::Unicode(set)))
    }

    fn look(&mut self, at: At, flags: u32) -> Look {
        match at {
            At::Begin if flags & MULTILINE != 0 => Look::StartLF,
            At::Begin | At::BeginText => Look::Start,
            At::End if flags & MULTILINE != 0 => Look::EndLF,
            At::End => {
                self.needs.dollar = true;
                if self.variant.newline { Look::EndLF } else { Look::End }
            }
            At::EndText => Look::End,
            At::Boundary if self.unicode_word(flags) => Look::WordUnicode,
            At::Boundary => Look::WordAscii,
            At::NotBoundary => {
                self.needs.not_boundary = true;
                if self.unicode_word(flags) {
                    Look::WordUnicodeNegate
                } else {
                    self.needs.splits |= flags & ASCII != 0;
                    Look::WordAsciiNegate
                }
            }
        }
    }

    fn unicode_word(&mut self, flags: u32) -> bool {
        if flags & ASCII != 0 {
            return false;
        }
        self.needs.word = true;
        self.needs.wide = true;
        !self.variant.ascii
    }
}

/// Parts that automata can say, or the parts where one is none.
fn plain(parts: Vec<Part>) -> Result<Vec<Hir>, Vec<Part>> {
    if !parts.iter().all(|part| matches!(part, Part::Plain(_))) {
        return Err(parts);
    }
    let hir = |part| if let Part::Plain(hir) = part { Some(hir) } else { None };
    Ok(parts.into_iter().filter_map(hir).collect())
}

/// One part after the other; what automata can say in a row is one for them, whose literals are then long.
fn in_a_row(parts: Vec<Part>) -> Part {
    let mut row: Vec<Part> = Vec::new();
    let mut run = Vec::new();
    let end_run = |run: &mut Vec<Hir>, row: &mut Vec<Part>| {
        if !run.is_empty() {
            row.push(Part::Plain(Hir::concat(std::mem::take(run))));
        }
    };
    for part in parts {
        match part {
            Part::Plain(hir) => run.push(hir),
            part => {
                end_run(&mut run, &mut row);
                row.push(part);
            }
        }
    }
    if row.is_empty() {
        return Part::Plain(Hir::concat(run));
    }
    end_run(&mut run, &mut row);
    Part::Concat(row)
}

/// Whether `Hir::alternation` would take a common prefix out of the branches that matches
/// in several ways. Then the second branch's rest would come before the first branch with
/// a shorter prefix: `a*ab|a*c` is not `a*(?:ab|c)`. A further branch that is no sequence
/// keeps it from that.
fn would_lift(branches: &[Hir]) -> bool {
    let sequence = |hir| match Hir::kind(hir) {
        HirKind::Concat(parts) => Some(parts.as_slice()),
        HirKind::Empty
        | HirKind::Literal(_)
        | HirKind::Class(_)
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Capture(_)
        | HirKind::Alternation(_) => None,
    };
    let flat = branches.iter().flat_map(|hir| match hir.kind() {
        HirKind::Alternation(branches) => branches.as_slice(),
        _ => std::slice::from_ref(hir),
    });
    let Some(sequences) = flat.map(sequence).collect::<Option<Vec<_>>>() else { return false };
    let Some((first, others)) = sequences.split_first() else { return false };
    first
        .iter()
        .enumerate()
        .take_while(|(at, part)| others.iter().all(|other| other.get(*at) == Some(part)))
        .any(|(_, part)| !matches!(part.kind(), HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_)))
}

/// How many characters a part matches at least.
pub fn min_len(node: &Node) -> usize {
    least(node, &[])
}

/// As [`min_len`], where the least lengths of groups that a pattern may ask for again are known.
fn least(node: &Node, groups: &[usize]) -> usize {
    let all = |nodes: &[Node]| nodes.iter().fold(0, |sum: usize, node| sum.saturating_add(least(node, groups)));
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any => 1,
        Node::At(_) | Node::Around { .. } => 0,
        Node::Same(group) => groups.get(*group).copied().unwrap_or(0),
        Node::Repeat { min, body, .. } => least(body, groups).saturating_mul(*min as usize),
        Node::Group { body, .. } | Node::Atomic(body) => least(body, groups),
        Node::If { then, otherwise, .. } => least(then, groups).min(least(otherwise, groups)),
        Node::Concat(nodes) => all(nodes),
        Node::Alternate(nodes) => nodes.iter().map(|node| least(node, groups)).min().unwrap_or(0),
    }
}

/// The least lengths of the groups of a pattern, by their numbers.
fn lengths(node: &Node, groups: &mut Vec<usize>) {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) | Node::Same(_) => {}
        Node::Around { body, .. } | Node::Atomic(body) | Node::Repeat { body, .. } => lengths(body, groups),
        Node::Group { index, body, .. } => {
            lengths(body, groups);
            if let Some(index) = index {
                groups.resize(groups.len().max(index + 1), 0);
                groups[*index] = least(body, groups);
            }
        }
        Node::If { then, otherwise, .. } => {
            lengths(then, groups);
            lengths(otherwise, groups);
        }
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().for_each(|node| lengths(node, groups)),
    }
}

/// Lists the groups in the order in which they are closed; `None` where that differs from match to
/// match: a loop goes over groups beside each other.
pub fn closing_order(node: &Node) -> Option<Vec<usize>> {
    fn walk(node: &Node, out: &mut Vec<usize>) -> Option<()> {
        match node {
            Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) | Node::Same(_) => {}
            Node::Atomic(body) => walk(body, out)?,
            Node::If { then, otherwise, .. } => {
                walk(then, out)?;
                walk(otherwise, out)?;
            }
            Node::Around { body, .. } => {
                let before = out.len();
                walk(body, out)?;
                if out.len() > before {
                    return None;
                }
            }
            Node::Repeat { max, body, .. } => {
                let before = out.len();
                walk(body, out)?;
                if *max != Some(1) && out.len() - before > chain(body) {
                    return None;
                }
            }
            Node::Group { index, body, .. } => {
                walk(body, out)?;
                out.extend(index);
            }
            Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().try_for_each(|node| walk(node, out))?,
        }
        Some(())
    }
    let mut out = Vec::new();
    walk(node, &mut out)?;
    Some(out)
}

/// The most groups that stand within each other.
fn chain(node: &Node) -> usize {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) | Node::Same(_) => 0,
        Node::Atomic(body) | Node::Around { body, .. } | Node::Repeat { body, .. } => chain(body),
        Node::If { then, otherwise, .. } => chain(then).max(chain(otherwise)),
        Node::Group { index, body, .. } => usize::from(index.is_some()) + chain(body),
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().map(chain).max().unwrap_or(0),
    }
}

/// Marks the groups that take part in every match.
pub fn mark_always(node: &Node, always: &mut [bool]) {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) | Node::Alternate(_) => {}
        Node::Same(_) | Node::If { .. } | Node::Around { negated: true, .. } => {}
        Node::Around { body, .. } | Node::Atomic(body) => mark_always(body, always),
        Node::Repeat { min, body, .. } => {
            if *min > 0 {
                mark_always(body, always);
            }
        }
        Node::Group { index, body, .. } => {
            if let Some(index) = index {
                always[*index] = true;
            }
            mark_always(body, always);
        }
        Node::Concat(nodes) => nodes.iter().for_each(|node| mark_always(node, always)),
    }
}
