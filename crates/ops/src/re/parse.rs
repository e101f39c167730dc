//! The syntax of `re`'s patterns, as Lib/re/_parser.py of CPython 3.11 reads it.
//!
//! What CPython refuses is refused here, since CPython raises its own error; and so is
//! what makes CPython warn, and groups where sre leaves their offsets as a failed try has
//! set them (in what must not match, in atomic and possessive parts). Flags are kept with the group that sets them: they take
//! effect in the translation, as in CPython's compiler.

use super::Unsupported;
use crate::unicode;

/// How deep groups may nest: what walks a pattern calls itself for each.
const DEEPEST: usize = 30;

/// The greatest bound of a repetition.
const MOST_ROUNDS: u32 = 1000;

/// `re.IGNORECASE`.
pub const IGNORECASE: u32 = 2;
/// `re.MULTILINE`.
pub const MULTILINE: u32 = 8;
/// `re.DOTALL`.
pub const DOTALL: u32 = 16;
/// `re.UNICODE`.
pub const UNICODE: u32 = 32;
/// `re.VERBOSE`.
pub const VERBOSE: u32 = 64;
/// `re.ASCII`.
pub const ASCII: u32 = 256;

/// A pattern in parts.
#[derive(Debug)]
pub enum Node {
    /// One certain character.
    Char(char),
    /// One character of a set, or outside it.
    Set {
        /// Whether the set is what must not match.
        negated: bool,
        /// The set's parts.
        items: Vec<Item>,
    },
    /// `.`
    Any,
    /// A place.
    At(At),
    /// A part several times.
    Repeat {
        /// The fewest rounds.
        min: u32,
        /// The most rounds, if there is a most.
        max: Option<u32>,
        /// Whether more rounds are tried first.
        greedy: bool,
        /// Whether no fewer rounds are tried then, nor other ways in a round.
        possessive: bool,
        /// What is repeated.
        body: Box<Node>,
    },
    /// What must match here, or must not, and is no part of the match.
    Around {
        /// So many characters before this place; `None` for what follows.
        behind: Option<usize>,
        /// Whether it must not match.
        negated: bool,
        /// What matches.
        body: Box<Node>,
    },
    /// The first way in which a part matches, and no other.
    Atomic(Box<Node>),
    /// The text of a group once more.
    Same(usize),
    /// One part where a group took part, another where it did not.
    If {
        /// The group.
        group: usize,
        /// What must match if it took part.
        then: Box<Node>,
        /// What must match if not.
        otherwise: Box<Node>,
    },
    /// A part in parentheses.
    Group {
        /// The number of a group that captures.
        index: Option<usize>,
        /// The flags set inside.
        add: u32,
        /// The flags cleared inside.
        remove: u32,
        /// What stands in the parentheses.
        body: Box<Node>,
    },
    /// One part after the other.
    Concat(Vec<Node>),
    /// The first part that leads to a match.
    Alternate(Vec<Node>),
}

/// A part of a set.
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// One character.
    Char(char),
    /// The characters from one to another.
    Range(char, char),
    /// The characters of a kind, or all others.
    Category {
        /// The kind.
        category: Category,
        /// Whether all others are meant.
        negated: bool,
    },
}

/// A kind of characters that a letter stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// `\d`
    Digit,
    /// `\s`
    Space,
    /// `\w`
    Word,
}

/// An assertion about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// `^`
    Begin,
    /// `$`
    End,
    /// `\A`
    BeginText,
    /// `\Z`
    EndText,
    /// `\b`
    Boundary,
    /// `\B`
    NotBoundary,
}

/// A pattern that was parsed.
#[derive(Debug)]
pub struct Parsed {
    /// Its parts.
    pub node: Node,
    /// Its flags, with those that it sets itself and `UNICODE`.
    pub flags: u32,
    /// How many groups capture.
    pub groups: usize,
    /// The named groups.
    pub names: Vec<(String, usize)>,
}

/// Parses a pattern.
pub fn parse(pattern: &str, flags: u32) -> Result<Parsed, Unsupported> {
    if flags & !(IGNORECASE | MULTILINE | DOTALL | UNICODE | VERBOSE | ASCII) != 0 {
        return refuse("flags other than A, I, M, S, U and X");
    }
    let mut parser = Parser {
        tokens: tokens(pattern)?,
        at: 0,
        flags,
        groups: 0,
        closed: Vec::new(),
        names: Vec::new(),
        depth: 0,
        behind: 0,
    };
    let node = parser.alternation(flags & VERBOSE != 0)?;
    if parser.at < parser.tokens.len() {
        return refuse("an unbalanced parenthesis");
    }
    if parser.flags & ASCII == 0 {
        parser.flags |= UNICODE;
    } else if parser.flags & UNICODE != 0 {
        return refuse("ASCII together with UNICODE");
    }
    Ok(Parsed { node, flags: parser.flags, groups: parser.groups, names: parser.names })
}

fn refuse<T>(reason: &str) -> Result<T, Unsupported> {
    Err(Unsupported::Construct(reason.to_string()))
}

/// A character of the pattern, or a backslash with the character after it: CPython's
/// parser never parts the two, not even in comments.
#[derive(Clone, Copy, PartialEq)]
enum Token {
    Plain(char),
    Escaped(char),
}

use Token::{Escaped, Plain};

fn tokens(pattern: &str) -> Result<Vec<Token>, Unsupported> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars();
    while let Some(ch) = chars.next() {
        tokens.push(match (ch, ch == '\\') {
            (_, true) => match chars.next() {
                Some(ch) => Escaped(ch),
                None => return refuse("a backslash at the end"),
            },
            (ch, false) => Plain(ch),
        });
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// The flags of the whole pattern.
    flags: u32,
    groups: usize,
    /// The groups whose end was read.
    closed: Vec<usize>,
    names: Vec<(String, usize)>,
    depth: usize,
    /// How many look-behinds are around the place.
    behind: usize,
}

impl Parser {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    /// Takes that character if it comes next.
    fn take(&mut self, ch: char) -> bool {
        let found = self.peek() == Some(Plain(ch));
        self.at += usize::from(found);
        found
    }

    /// Takes plain characters, at most so many, while they belong.
    fn take_while(&mut self, most: usize, belongs: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while text.len() < most
            && let Some(Plain(ch)) = self.peek()
            && belongs(ch)
        {
            text.push(ch);
            self.at += 1;
        }
        text
    }

    fn alternation(&mut self, mut verbose: bool) -> Result<Node, Unsupported> {
        let mut branches = Vec::new();
        loop {
            let first = self.depth == 0 && branches.is_empty();
            branches.push(self.sequence(verbose, first)?);
            if !self.take('|') {
                break;
            }
            if self.depth == 0 {
                verbose = self.flags & VERBOSE != 0;
            }
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alternate(branches) })
    }

    fn sequence(&mut self, mut verbose: bool, first: bool) -> Result<Node, Unsupported> {
        let mut nodes: Vec<Node> = Vec::new();
        while let Some(token) = self.peek() {
            if matches!(token, Plain('|' | ')')) {
                break;
            }
            self.at += 1;
            let ch = match token {
                Escaped(ch) => {
                    nodes.push(self.escape(ch)?);
                    continue;
                }
                Plain(ch) => ch,
            };
            match ch {
                ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c' if verbose => {}
                '#' if verbose => while !matches!(self.next(), None | Some(Plain('\n'))) {},
                '[' => nodes.push(self.set()?),
                '?' | '*' | '+' | '{' => match self.rounds(ch)? {
                    None => nodes.push(Node::Char('{')),
                    Some((min, max)) => {
                        let node = self.repeat(nodes.pop(), min, max)?;
                        nodes.push(node);
                    }
                },
                '.' => nodes.push(Node::Any),
                '^' => nodes.push(Node::At(At::Begin)),
                '$' => nodes.push(Node::At(At::End)),
                '(' => {
                    if let Some(node) = self.group(verbose, first && nodes.is_empty())? {
                        nodes.push(node);
                    }
                    // Flags for the whole pattern stand only where nothing was parsed yet.
                    if first && nodes.is_empty() {
                        verbose = self.flags & VERBOSE != 0;
                    }
                }
                ch => nodes.push(Node::Char(ch)),
            }
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Concat(nodes) })
    }

    /// An escape outside sets.
    fn escape(&mut self, ch: char) -> Result<Node, Unsupported> {
        if let Some(category) = category(ch) {
            return Ok(Node::Set { negated: false, items: vec![category] });
        }
        Ok(match ch {
            'A' => Node::At(At::BeginText),
            'Z' => Node::At(At::EndText),
            'b' => Node::At(At::Boundary),
            'B' => Node::At(At::NotBoundary),
            '0' => {
                let digits = self.take_while(2, |ch| ch.is_digit(8));
                Node::Char(code(&format!("0{digits}"), 8)?)
            }
            '1'..='9' => {
                let digits: Vec<char> = std::iter::once(ch)
                    .chain(self.tokens[self.at..].iter().take(2).map_while(|token| match token {
                        Plain(ch) => Some(*ch),
                        Escaped(_) => None,
                    }))
                    .take_while(|ch| ch.is_digit(8))
                    .collect();
                if digits.len() < 3 {
                    let more = self.take_while(1, |ch| ch.is_ascii_digit());
                    return self.reference(format!("{ch}{more}").parse().ok());
                }
                self.at += 2;
                Node::Char(octal(&digits.into_iter().collect::<String>())?)
            }
            ch => Node::Char(self.char_escape(ch)?),
        })
    }

    /// An escape in a set.
    fn set_escape(&mut self, ch: char) -> Result<Item, Unsupported> {
        if let Some(category) = category(ch) {
            return Ok(category);
        }
        match ch {
            'b' => Ok(Item::Char('\x08')),
            '0'..='7' => {
                let digits = self.take_while(2, |ch| ch.is_digit(8));
                Ok(Item::Char(octal(&format!("{ch}{digits}"))?))
            }
            ch => Ok(Item::Char(self.char_escape(ch)?)),
        }
    }

    /// An escape that means one character in sets and outside.
    fn char_escape(&mut self, ch: char) -> Result<char, Unsupported> {
        let mut hexadecimal = |len| {
            let digits = self.take_while(len, |ch| ch.is_ascii_hexdigit());
            if digits.len() == len { code(&digits, 16) } else { refuse("an incomplete escape") }
        };
        match ch {
            'a' => Ok('\x07'),
            'f' => Ok('\x0c'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\x0b'),
            'x' => hexadecimal(2),
            'u' => hexadecimal(4),
            'U' => hexadecimal(8),
            ch if ch.is_ascii_alphanumeric() => Err(Unsupported::Construct(format!("the escape \\{ch}"))),
            ch => Ok(ch),
        }
    }

    /// A set, after its bracket.
    fn set(&mut self) -> Result<Node, Unsupported> {
        if self.peek() == Some(Plain('[')) {
            return refuse("a set that looks nested");
        }
        let negated = self.take('^');
        let mut items = Vec::new();
        loop {
            let low = match self.next() {
                None => return refuse("an unterminated set"),
                Some(Plain(']')) if !items.is_empty() => break,
                Some(Escaped(ch)) => self.set_escape(ch)?,
                Some(Plain(ch)) => {
                    if !items.is_empty() && matches!(ch, '-' | '&' | '~' | '|') && self.peek() == Some(Plain(ch)) {
                        return refuse("a set that looks like set arithmetic");
                    }
                    Item::Char(ch)
                }
            };
            if !self.take('-') {
                items.push(low);
                continue;
            }
            let high = match self.next() {
                None => return refuse("an unterminated set"),
                Some(Plain(']')) => {
                    items.extend([low, Item::Char('-')]);
                    break;
                }
                Some(Plain('-')) => return refuse("a set that looks like set arithmetic"),
                Some(Escaped(ch)) => self.set_escape(ch)?,
                Some(Plain(ch)) => Item::Char(ch),
            };
            match (low, high) {
                (Item::Char(low), Item::Char(high)) if low <= high => items.push(Item::Range(low, high)),
                _ => return refuse("a bad range of characters"),
            }
        }
        Ok(Node::Set { negated, items })
    }

    /// The bounds of a repetition, after its first character; `None` for a brace that
    /// means itself.
    fn rounds(&mut self, ch: char) -> Result<Option<(u32, Option<u32>)>, Unsupported> {
        match ch {
            '?' => return Ok(Some((0, Some(1)))),
            '*' => return Ok(Some((0, None))),
            '+' => return Ok(Some((1, None))),
            _ if self.peek() == Some(Plain('}')) => return Ok(None),
            _ => {}
        }
        let here = self.at;
        let low = self.take_while(usize::MAX, |ch| ch.is_ascii_digit());
        let high = if self.take(',') { self.take_while(usize::MAX, |ch| ch.is_ascii_digit()) } else { low.clone() };
        if !self.take('}') {
            self.at = here;
            return Ok(None);
        }
        let bound = |digits: &str| match digits.parse::<u32>() {
            Ok(bound) if bound <= MOST_ROUNDS => Ok(Some(bound)),
            _ if digits.is_empty() => Ok(None),
            _ => refuse("a repetition of very many rounds"),
        };
        let (min, max) = (bound(&low)?.unwrap_or(0), bound(&high)?);
        if max.is_some_and(|max| max < min) {
            return refuse("a repetition whose bounds are exchanged");
        }
        Ok(Some((min, max)))
    }

    fn repeat(&mut self, body: Option<Node>, min: u32, max: Option<u32>) -> Result<Node, Unsupported> {
        let body = match body {
            None | Some(Node::At(_)) => return refuse("nothing to repeat"),
            Some(Node::Repeat { .. }) => return refuse("a multiple repetition"),
            Some(body) => Box::new(body),
        };
        let greedy = !self.take('?');
        let possessive = greedy && self.take('+');
        if possessive {
            without_groups(&body)?;
        }
        Ok(Node::Repeat { min, max, greedy, possessive, body })
    }

    fn group_named(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, group)| *group)
    }

    /// A reference to a group, which must have ended; what stands before a place has no reference,
    /// whose width nobody knows.
    fn reference(&self, group: Option<usize>) -> Result<Node, Unsupported> {
        match group {
            Some(group) if self.closed.contains(&group) && self.behind == 0 => Ok(Node::Same(group)),
            _ => refuse("a reference to a group that is not known there"),
        }
    }

    /// Look-around, after its last sign.
    fn around(&mut self, behind: bool, negated: bool, verbose: bool) -> Result<Node, Unsupported> {
        self.behind += usize::from(behind);
        let body = self.inner(verbose)?;
        self.behind -= usize::from(behind);
        if negated || behind {
            without_groups(&body)?;
        }
        let behind = match width(&body) {
            _ if !behind => None,
            Some(width) => Some(width),
            None => return refuse("a look-behind of several widths"),
        };
        Ok(Node::Around { behind, negated, body: Box::new(body) })
    }

    /// A conditional part, after its second parenthesis.
    fn conditional(&mut self, verbose: bool) -> Result<Node, Unsupported> {
        let name = self.take_while(usize::MAX, |ch| ch != ')');
        if !self.take(')') || self.behind > 0 {
            return refuse("a conditional part that is not known there");
        }
        let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let group = if digits { name.parse().ok() } else { self.group_named(&name) };
        let Some(group) = group.filter(|group| self.closed.contains(group)) else {
            return refuse("a condition on a group that is not known there");
        };
        self.deeper()?;
        let then = Box::new(self.sequence(verbose, false)?);
        let otherwise = Box::new(if self.take('|') { self.sequence(verbose, false)? } else { Node::Concat(vec![]) });
        self.depth -= 1;
        if self.take(')') { Ok(Node::If { group, then, otherwise }) } else { refuse("a group without its end") }
    }

    /// What stands up to the closing parenthesis.
    fn inner(&mut self, verbose: bool) -> Result<Node, Unsupported> {
        self.deeper()?;
        let body = self.alternation(verbose)?;
        self.depth -= 1;
        if self.take(')') { Ok(body) } else { refuse("a group without its end") }
    }

    fn deeper(&mut self) -> Result<(), Unsupported> {
        self.depth += 1;
        if self.depth > DEEPEST { refuse("groups nested very deep") } else { Ok(()) }
    }

    /// A group, after its parenthesis; `None` for comments and flags of the whole pattern.
    fn group(&mut self, verbose: bool, first: bool) -> Result<Option<Node>, Unsupported> {
        let (mut captures, mut name, mut add, mut remove) = (true, None, 0, 0);
        if self.take('?') {
            match self.next() {
                Some(Plain('P')) if self.take('<') => name = Some(self.name()?),
                Some(Plain(':')) => captures = false,
                Some(Plain('#')) => {
                    while let Some(token) = self.next() {
                        if token == Plain(')') {
                            return Ok(None);
                        }
                    }
                    return refuse("an unterminated comment");
                }
                Some(Plain('=')) => return self.around(false, false, verbose).map(Some),
                Some(Plain('!')) => return self.around(false, true, verbose).map(Some),
                Some(Plain('<')) => {
                    return match self.next() {
                        Some(Plain('=')) => self.around(true, false, verbose).map(Some),
                        Some(Plain('!')) => self.around(true, true, verbose).map(Some),
                        _ => refuse("an unknown kind of group"),
                    };
                }
                Some(Plain('P')) if self.take('=') => {
                    let name = self.take_while(usize::MAX, |ch| ch != ')');
                    if !self.take(')') {
                        return refuse("a bad name of a group");
                    }
                    return self.reference(self.group_named(&name)).map(Some);
                }
                Some(Plain('(')) => return self.conditional(verbose).map(Some),
                Some(Plain('>')) => {
                    let body = self.inner(verbose)?;
                    without_groups(&body)?;
                    return Ok(Some(Node::Atomic(Box::new(body))));
                }
                Some(Plain(ch)) => match self.group_flags(ch)? {
                    (flags, None) if first => {
                        self.flags |= flags;
                        return Ok(None);
                    }
                    (_, None) => return refuse("flags of the whole pattern that are not at its start"),
                    (set, Some(cleared)) => (captures, add, remove) = (false, set, cleared),
                },
                Some(Escaped(_)) | None => return refuse("an unknown kind of group"),
            }
        }
        let index = captures.then(|| {
            self.groups += 1;
            self.groups
        });
        if let (Some(name), Some(index)) = (name, index) {
            if self.group_named(&name).is_some() {
                return refuse("two groups of the same name");
            }
            self.names.push((name, index));
        }
        let body = self.inner((verbose || add & VERBOSE != 0) && remove & VERBOSE == 0)?;
        self.closed.extend(index);
        Ok(Some(Node::Group { index, add, remove, body: Box::new(body) }))
    }

    /// A group's name, with the `>` after it.
    fn name(&mut self) -> Result<String, Unsupported> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(Plain('>')) => break,
                Some(Plain(ch)) => name.push(ch),
                Some(Escaped(_)) | None => return refuse("a bad name of a group"),
            }
        }
        let mut chars = name.chars();
        let begins = chars.next().is_some_and(|ch| ch == '_' || unicode::is_xid_start(ch));
        if begins && chars.all(unicode::is_xid_continue) { Ok(name) } else { refuse("a bad name of a group") }
    }

    /// The flags that a group sets and clears, from the first letter to the colon; or,
    /// up to a parenthesis, those that the whole pattern is to have.
    fn group_flags(&mut self, mut ch: char) -> Result<(u32, Option<u32>), Unsupported> {
        let (mut set, mut cleared) = (0, 0);
        let mut clearing = false;
        let mut letters = 0;
        loop {
            match (ch, clearing) {
                (')', false) if letters > 0 => {
                    return if set & UNICODE != 0 && set & ASCII != 0 { refuse("bad flags") } else { Ok((set, None)) };
                }
                ('-', false) => (clearing, letters) = (true, 0),
                (':', _) if letters > 0 => break,
                ('a' | 'u', true) => return refuse("bad flags"),
                (_, false) => set |= flag(ch)?,
                (_, true) => cleared |= flag(ch)?,
            }
            letters += u32::from(ch != '-');
            ch = match self.next() {
                Some(Plain(ch)) => ch,
                Some(Escaped(_)) | None => return refuse("bad flags"),
            };
        }
        if set & cleared != 0 {
            return refuse("bad flags");
        }
        // CPython (Lib/re/_compiler.py, _compile_info) looks for the set of a match's first
        // characters with the categories of the whole pattern: it overlooks matches.
        if set & (ASCII | UNICODE) != 0 { refuse("the flags a and u of a group") } else { Ok((set, Some(cleared))) }
    }
}

/// Refuses groups where sre does not set their offsets back: what must not match, or is tried once,
/// leaves those of a try that failed.
fn without_groups(node: &Node) -> Result<(), Unsupported> {
    if has_groups(node) { refuse("a group in a part that is tried once") } else { Ok(()) }
}

/// Whether a part has groups that capture.
pub fn has_groups(node: &Node) -> bool {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any | Node::At(_) | Node::Same(_) => false,
        Node::Repeat { body, .. } | Node::Around { body, .. } | Node::Atomic(body) => has_groups(body),
        Node::Group { index, body, .. } => index.is_some() || has_groups(body),
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().any(has_groups),
        Node::If { then, otherwise, .. } => has_groups(then) || has_groups(otherwise),
    }
}

/// How many characters a part matches, if that is certain.
fn width(node: &Node) -> Option<usize> {
    match node {
        Node::Char(_) | Node::Set { .. } | Node::Any => Some(1),
        Node::At(_) | Node::Around { .. } => Some(0),
        Node::Repeat { min, max, body, .. } => {
            let rounds = (*max == Some(*min)).then_some(*min as usize);
            match width(body)? {
                0 => Some(0),
                width => width.checked_mul(rounds?),
            }
        }
        Node::Group { body, .. } | Node::Atomic(body) => width(body),
        Node::Concat(nodes) => nodes.iter().try_fold(0usize, |sum, node| sum.checked_add(width(node)?)),
        Node::Alternate(nodes) => {
            let mut widths = nodes.iter().map(width);
            let first = widths.next()??;
            widths.all(|width| width == Some(first)).then_some(first)
        }
        Node::Same(_) | Node::If { .. } => None,
    }
}

fn flag(ch: char) -> Result<u32, Unsupported> {
    match ch {
        'i' => Ok(IGNORECASE),
        'm' => Ok(MULTILINE),
        's' => Ok(DOTALL),
        'x' => Ok(VERBOSE),
        'a' => Ok(ASCII),
        'u' => Ok(UNICODE),
        ch => Err(Unsupported::Construct(format!("(?{ch}"))),
    }
}

/// The character of a code. Surrogates, which no text of ours holds, are refused.
fn code(digits: &str, radix: u32) -> Result<char, Unsupported> {
    match u32::from_str_radix(digits, radix).ok().and_then(char::from_u32) {
        Some(ch) => Ok(ch),
        None => refuse("an escape that is no character"),
    }
}

fn octal(digits: &str) -> Result<char, Unsupported> {
    match code(digits, 8)? {
        ch if ch > '\u{ff}' => refuse("an octal escape beyond one byte"),
        ch => Ok(ch),
    }
}

/// The category that a letter behind a backslash stands for, in sets and outside.
fn category(ch: char) -> Option<Item> {
    let category = match ch.to_ascii_lowercase() {
        'd' => Category::Digit,
        's' => Category::Space,
        'w' => Category::Word,
        _ => return None,
    };
    Some(Item::Category { category, negated: ch.is_ascii_uppercase() })
}
