//! From a parsed pattern to the automata's own form.
//!
//! Leftmost-first automata prefer what a backtracking engine tries first, so that the
//! parts go over one by one. Two assertions depend on the text: `$`, which also matches
//! before a last newline, and `\b`, whose words are others in Python. For them, and to
//! keep sets small, a pattern is translated in variants, each for certain texts.

use super::Unsupported;
use super::classes;
use super::parse::{ASCII, At, DOTALL, IGNORECASE, Item, MULTILINE, Node};
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

/// Translates for a variant.
pub fn translate(node: &Node, flags: u32, variant: Variant) -> Result<(Hir, Needs), Unsupported> {
    let mut translator = Translator { variant, needs: Needs::default() };
    let hir = translator.node(node, flags)?;
    let hir = if variant.full { Hir::concat(vec![hir, Hir::look(Look::End)]) } else { hir };
    Ok((hir, translator.needs))
}

struct Translator {
    variant: Variant,
    needs: Needs,
}

impl Translator {
    fn node(&mut self, node: &Node, flags: u32) -> Result<Hir, Unsupported> {
        Ok(match node {
            Node::Char(ch) if flags & IGNORECASE == 0 => Hir::literal(ch.encode_utf8(&mut [0; 4]).as_bytes()),
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
            Node::At(at) => Hir::look(self.look(*at, flags)),
            Node::Repeat { min, max, greedy, body } => {
                // sre ends a repetition at the first empty round, with the groups as they then
                // are; automata try the round's other ways first.
                if max.is_none_or(|max| max > 1) && min_len(body) == 0 {
                    return Err(Unsupported::Construct("a repetition of what may be empty".to_string()));
                }
                // The translation would lose the group.
                if *max == Some(0) && has_groups(body) {
                    return Err(Unsupported::Construct("a group that is never reached".to_string()));
                }
                let sub = Box::new(self.node(body, flags)?);
                Hir::repetition(Repetition { min: *min, max: *max, greedy: *greedy, sub })
            }
            Node::Group { index, add, remove, body } => {
                let hir = self.node(body, (flags | add) & !remove)?;
                match index {
                    Some(index) => Hir::capture(Capture { index: *index as u32, name: None, sub: Box::new(hir) }),
                    None => hir,
                }
            }
            Node::Concat(nodes) => Hir::concat(self.nodes(nodes, flags)?),
            Node::Alternate(nodes) => {
                let mut branches = self.nodes(nodes, flags)?;
                if would_lift(&branches) {
                    branches.push(Hir::fail());
                }
                Hir::alternation(branches)
            }
        })
    }

    fn nodes(&mut self, nodes: &[Node], flags: u32) -> Result<Vec<Hir>, Unsupported> {
        nodes.iter().map(|node| self.node(node, flags)).collect()
    }

    fn class(&mut self, mut set: ClassUnicode) -> Hir {
        if !set.is_ascii() {
            self.needs.wide = true;
            if self.variant.ascii {
                set.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')]));
            }
        }
        Hir::class(Class::Unicode(set))
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
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any => 1,
        Node::At(_) => 0,
        Node::Repeat { min, body, .. } => min_len(body).saturating_mul(*min as usize),
        Node::Group { body, .. } => min_len(body),
        Node::Concat(nodes) => nodes.iter().fold(0, |sum, node| sum.saturating_add(min_len(node))),
        Node::Alternate(nodes) => nodes.iter().map(min_len).min().unwrap_or(0),
    }
}

fn has_groups(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) => false,
        Node::Repeat { body, .. } => has_groups(body),
        Node::Group { index, body, .. } => index.is_some() || has_groups(body),
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().any(has_groups),
    }
}

/// Marks the groups that take part in every match.
pub fn mark_always(node: &Node, always: &mut [bool]) {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) | Node::Alternate(_) => {}
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
