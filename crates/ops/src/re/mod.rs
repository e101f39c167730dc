//! Python's regular expressions, on automata.
//!
//! [`Regex::new`] takes a pattern for `str` that `re.compile` would take and refuses
//! every one whose matches might not be CPython 3.11's; so does a search refuse a text
//! ([`Leave`]). Both then are CPython's to handle. Parsing (`parse`) follows CPython's
//! parser, sets of characters (`classes`) its tables, and the translation
//! (`translate`) yields the form that the crate `regex-automata` compiles. Groups are found
//! by trying one way after the other (`backtrack`), where that ends soon, and so is all of a
//! pattern with what automata cannot say: references, look-around, conditional, atomic and
//! possessive parts.
//!
//! Left out: repetitions of what may be empty and groups in parts that are tried once, which sre
//! handles in its own way, references where case is ignored, patterns for `bytes`, and `LOCALE`.

mod backtrack;
mod classes;
mod parse;
mod translate;

use parse::Node;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, meta};
use std::fmt;
use std::sync::OnceLock;
use translate::{Needs, Part, Variant};

/// How many groups a pattern may have; so many fit in a buffer on the stack.
const MOST_GROUPS: usize = 127;

/// The memory that an automaton may take, in bytes.
pub const MAX_AUTOMATON: usize = 10 << 20;

/// The memory that a search may keep for states met before, in bytes.
const CACHE_SIZE: usize = 2 << 20;

/// Why a pattern is left to CPython; also where CPython raises `re.error`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// It has something that is not matched here.
    #[error("{0}")]
    Construct(String),
    /// Its automaton would take more than [`MAX_AUTOMATON`].
    #[error("a pattern that takes much memory")]
    TooLarge,
}

/// A text that CPython must search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a text that CPython must search")]
pub struct Leave;

/// What of a text must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Some part, as of `Pattern.search`: the first.
    Search,
    /// A part from where the search begins, as of `Pattern.match`.
    Match,
    /// All from where the search begins, as of `Pattern.fullmatch`.
    FullMatch,
}

/// A compiled pattern.
///
/// ```
/// use exuvia_ops::re::{Anchor, Regex};
/// let regex = Regex::new(r"(\d+)(?:-(\d+))?$", 0).unwrap();
/// let mut spans = [0; 6];
/// assert_eq!(regex.find(Anchor::Search, "tel 12\n", 0, &mut spans), Ok(true));
/// assert_eq!(spans, [4, 6, 4, 6, -1, -1]);
/// assert!(regex.always(1) && !regex.always(2));
/// let twice = Regex::new(r"\b(\w+) \1\b", 0).unwrap();
/// assert_eq!(twice.find_span(Anchor::Search, "so so", 0), Ok(Some((0, 5))));
/// assert!(Regex::new(r"(a*)*", 0).is_err());
/// ```
pub struct Regex {
    pattern: String,
    node: Node,
    flags: u32,
    names: Vec<(String, usize)>,
    /// For each group, the whole match first, whether it takes part in every match.
    always: Vec<bool>,
    /// The groups in the order in which matches close them, if that is always the same.
    closing: Option<Vec<usize>>,
    needs: Needs,
    /// The automata of the variants, by [`Regex::automaton`]'s number; `None` inside is
    /// one that would take too much memory.
    automata: [OnceLock<Option<Automata>>; 8],
}

/// A pattern compiled for certain texts.
enum Automata {
    /// Automata, what finds groups sooner, and what finds the match after an empty one.
    Both(meta::Regex, Option<backtrack::Program>, Option<backtrack::Program>),
    /// What automata cannot say.
    Alone(backtrack::Program),
}

impl Regex {
    /// Compiles a pattern, with flags in the bits that `re` gives them.
    ///
    /// # Errors
    ///
    /// [`Unsupported`] where a match might not be CPython's, and where CPython raises.
    pub fn new(pattern: &str, flags: u32) -> Result<Regex, Unsupported> {
        let parsed = parse::parse(pattern, flags)?;
        if parsed.groups > MOST_GROUPS {
            return Err(Unsupported::Construct("very many groups".to_string()));
        }
        let (_, needs) = translate::translate(&parsed.node, parsed.flags, Variant::default())?;
        let mut always = vec![false; parsed.groups + 1];
        always[0] = true;
        translate::mark_always(&parsed.node, &mut always);
        let regex = Regex {
            closing: translate::closing_order(&parsed.node),
            pattern: pattern.to_string(),
            node: parsed.node,
            flags: parsed.flags,
            names: parsed.names,
            always,
            needs,
            automata: [const { OnceLock::new() }; 8],
        };
        // No variant is larger by much than this one.
        match regex.automaton(Variant::default()) {
            Some(_) => Ok(regex),
            None => Err(Unsupported::TooLarge),
        }
    }

    /// The memory that the automaton takes, in bytes, before searches add to it.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.automaton(Variant::default()).map_or(0, |automata| match automata {
            Automata::Both(all, ..) => all.memory_usage(),
            Automata::Alone(program) => program.memory(),
        })
    }

    /// `Pattern.pattern`.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// `Pattern.flags`: with those that the pattern sets at its start, and `UNICODE`.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// `Pattern.groups`: how many groups capture.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.always.len() - 1
    }

    /// `Pattern.groupindex`, in its order.
    #[must_use]
    pub fn names(&self) -> &[(String, usize)] {
        &self.names
    }

    /// Whether it is certain that a group took part where the pattern matched; group 0 is
    /// the whole match.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    #[must_use]
    pub fn always(&self, group: usize) -> bool {
        self.always[group]
    }

    /// The groups in the order in which a match closes them (`Match.lastindex` is the last of those that took
    /// part); `None` where that differs from match to match.
    #[must_use]
    pub fn closing(&self) -> Option<&[usize]> {
        self.closing.as_deref()
    }

    /// Whether the pattern may match the empty text.
    #[must_use]
    pub fn can_be_empty(&self) -> bool {
        translate::min_len(&self.node) == 0
    }

    /// The search of one text, for several calls of [`Matcher::find`].
    ///
    /// # Errors
    ///
    /// [`Leave`] for a text that CPython must search.
    #[inline]
    pub fn over<'r, 't>(&'r self, anchor: Anchor, text: &'t str) -> Result<Matcher<'r, 't>, Leave> {
        self.over_known(anchor, text, || text.is_ascii())
    }

    /// The same of a text of which somebody may know whether it is ASCII, which takes a look at all of it.
    ///
    /// # Errors
    ///
    /// [`Leave`] for a text that CPython must search.
    #[inline]
    pub fn over_known<'r, 't>(
        &'r self,
        anchor: Anchor,
        text: &'t str,
        is_ascii: impl Fn() -> bool,
    ) -> Result<Matcher<'r, 't>, Leave> {
        // Trying knows CPython's words.
        let alone = || matches!(self.automaton(Variant::default()), Some(Automata::Alone(_)));
        let ascii = self.needs.wide && is_ascii();
        let newline = self.needs.dollar && text.ends_with('\n');
        // The automata know no place before a last newline, but those before any newline.
        if newline && memchr::memchr(b'\n', &text.as_bytes()[..text.len() - 1]).is_some()
            || self.needs.not_boundary && text.is_empty()
            || self.needs.splits && !is_ascii() && !alone()
            || self.needs.word && !ascii && !alone() && classes::has_disputed(text)
        {
            return Err(Leave);
        }
        let (anchored, full) = match anchor {
            Anchor::Search => (Anchored::No, false),
            Anchor::Match => (Anchored::Yes, false),
            Anchor::FullMatch => (Anchored::Yes, true),
        };
        let automaton = self.automaton(Variant { ascii, newline, full }).ok_or(Leave)?;
        Ok(Matcher { automaton, groups: self.groups(), anchored, text })
    }

    /// Finds the first match that begins at byte `at` or later, and writes the byte
    /// offsets of its begin and end, then those of each group, -1 twice for a group that
    /// took no part. Assertions see the text before `at`, as with `Pattern.search(s, pos)`.
    ///
    /// # Errors
    ///
    /// [`Leave`] for a text that CPython must search.
    ///
    /// # Panics
    ///
    /// If `spans` has not two places for each group and two for the match, or `at` lies
    /// beyond the text. `at` must stand between two characters.
    #[inline]
    pub fn find(&self, anchor: Anchor, text: &str, at: usize, spans: &mut [i64]) -> Result<bool, Leave> {
        assert_eq!(spans.len(), 2 * self.always.len(), "two places for each group");
        self.over(anchor, text)?.find(at, spans)
    }

    /// As [`Regex::find`], without the groups, which costs less.
    ///
    /// # Errors
    ///
    /// [`Leave`] for a text that CPython must search.
    #[inline]
    pub fn find_span(&self, anchor: Anchor, text: &str, at: usize) -> Result<Option<(usize, usize)>, Leave> {
        self.over(anchor, text)?.find_span(at)
    }

    /// Whether there is a match, which costs least.
    ///
    /// # Errors
    ///
    /// [`Leave`] for a text that CPython must search.
    #[inline]
    pub fn is_match(&self, anchor: Anchor, text: &str) -> Result<bool, Leave> {
        self.over(anchor, text)?.is_match()
    }

    fn automaton(&self, variant: Variant) -> Option<&Automata> {
        let at = usize::from(variant.ascii) | usize::from(variant.newline) << 1 | usize::from(variant.full) << 2;
        self.automata[at].get_or_init(|| self.compile(variant)).as_ref()
    }

    #[cold]
    fn compile(&self, variant: Variant) -> Option<Automata> {
        let (part, _) = translate::translate(&self.node, self.flags, variant).ok()?;
        let Part::Plain(hir) = &part else { return backtrack::Program::new(&part, true).map(Automata::Alone) };
        let config = meta::Config::new().nfa_size_limit(Some(MAX_AUTOMATON)).hybrid_cache_capacity(CACHE_SIZE);
        let all = meta::Builder::new().configure(config).build_from_hir(hir).ok()?;
        let after = self.can_be_empty().then(|| backtrack::Program::new(&part, true)).flatten();
        Some(Automata::Both(all, backtrack::Program::new(&part, false), after))
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The automata would fill pages.
        f.debug_struct("Regex").field("pattern", &self.pattern).field("flags", &self.flags).finish_non_exhaustive()
    }
}

/// The search of one text: what depends on the text alone was chosen.
#[derive(Clone, Copy)]
pub struct Matcher<'r, 't> {
    automaton: &'r Automata,
    /// How many groups the pattern has.
    groups: usize,
    anchored: Anchored,
    text: &'t str,
}

impl fmt::Debug for Matcher<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher").field("text", &self.text).finish_non_exhaustive()
    }
}

impl Matcher<'_, '_> {
    /// As [`Regex::find`]; `spans` may also hold fewer groups, the first.
    ///
    /// # Errors
    ///
    /// [`Leave`] for a search that takes too long.
    ///
    /// # Panics
    ///
    /// If `at` lies beyond the text.
    #[inline]
    pub fn find(&self, at: usize, spans: &mut [i64]) -> Result<bool, Leave> {
        match self.automaton {
            Automata::Both(all, tries, _) => Ok(self.find_both(all, tries.as_ref(), at, spans)),
            Automata::Alone(program) => self.find_alone(program, at, false, spans),
        }
    }

    /// As [`Matcher::find`], but a match at byte `at` itself is not empty: what is found after an empty
    /// match that stood there (Modules/_sre/sre.c, `must_advance`).
    ///
    /// # Errors
    ///
    /// [`Leave`] for a search that takes too long.
    ///
    /// # Panics
    ///
    /// If `at` lies beyond the text.
    pub fn find_after_empty(&self, at: usize, spans: &mut [i64]) -> Result<bool, Leave> {
        let program = match self.automaton {
            Automata::Both(_, _, after) => after.as_ref().ok_or(Leave)?,
            Automata::Alone(program) => program,
        };
        self.find_alone(program, at, true, spans)
    }

    fn find_both(&self, all: &meta::Regex, tries: Option<&backtrack::Program>, at: usize, spans: &mut [i64]) -> bool {
        let mut at = at;
        let span = |at| all.search(&self.input(at)).map(|found| (found.start(), found.end()));
        if spans.len() > 2
            && let Some(program) = tries
        {
            let anchored = self.anchored == Anchored::Yes;
            if let Some(found) = program.find(self.text, &mut at, anchored, spans) {
                return found;
            }
            // Where the match is, an automaton tells soonest; what its groups are, a try there.
            let Some((begin, _)) = span(at) else { return false };
            at = begin;
            if let Some(found) = program.find(self.text, &mut at, true, spans) {
                return found;
            }
        }
        // Few groups need not clear a large buffer, none need none.
        match spans.len() {
            2 => span(at).is_some_and(|(begin, end)| {
                spans.copy_from_slice(&[begin as i64, end as i64]);
                true
            }),
            0..=1 | 3..=8 => self.find_with::<8>(all, at, spans),
            9..=32 => self.find_with::<32>(all, at, spans),
            _ => self.find_with::<{ 2 * MOST_GROUPS + 2 }>(all, at, spans),
        }
    }

    /// The search for what may refer to its groups, whether they are asked for or not.
    fn find_alone(
        &self,
        program: &backtrack::Program,
        at: usize,
        advances: bool,
        spans: &mut [i64],
    ) -> Result<bool, Leave> {
        let mut all = [-1; 2 * MOST_GROUPS + 2];
        let all = &mut all[..2 * self.groups + 2];
        let found = program.find_alone(self.text, at, self.anchored == Anchored::Yes, advances, all)?;
        if found {
            spans.copy_from_slice(&all[..spans.len()]);
        }
        Ok(found)
    }

    #[inline]
    fn find_with<const N: usize>(&self, all: &meta::Regex, at: usize, spans: &mut [i64]) -> bool {
        let mut buffer = [None::<NonMaxUsize>; N];
        let slots = &mut buffer[..spans.len()];
        if all.search_slots(&self.input(at), slots).is_none() {
            return false;
        }
        for (span, slot) in spans.iter_mut().zip(slots) {
            *span = slot.map_or(-1, |slot| slot.get() as i64);
        }
        true
    }

    /// As [`Regex::find_span`].
    ///
    /// # Errors
    ///
    /// [`Leave`] for a search that takes too long.
    ///
    /// # Panics
    ///
    /// If `at` lies beyond the text.
    #[inline]
    pub fn find_span(&self, at: usize) -> Result<Option<(usize, usize)>, Leave> {
        let mut span = [0; 2];
        Ok(self.find(at, &mut span)?.then(|| (span[0] as usize, span[1] as usize)))
    }

    /// As [`Regex::is_match`].
    ///
    /// # Errors
    ///
    /// [`Leave`] for a search that takes too long.
    #[inline]
    pub fn is_match(&self) -> Result<bool, Leave> {
        match self.automaton {
            Automata::Both(all, ..) => Ok(all.is_match(self.input(0))),
            Automata::Alone(program) => self.find_alone(program, 0, false, &mut []),
        }
    }

    fn input(&self, at: usize) -> Input<'_> {
        Input::new(self.text).range(at..).anchored(self.anchored)
    }
}
