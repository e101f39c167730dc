//! Random patterns, right and wrong ones, and texts of their characters.

/// Numbers that look random (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as usize
    }

    pub fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// Characters that patterns and texts are made of.
const CHARS: &[char] = &[
    'a', 'a', 'a', 'b', 'b', 'c', 'A', 'i', 'I', 's', 'k', '1', '7', '_', '-', ' ', '\n', '\n', '\r', '\t', '\u{1c}',
    '\u{85}', 'é', 'É', 'ß', 'ẞ', '²', '٣', 'ſ', '\u{212a}', 'İ', 'ı', 'µ', 'μ', 'ς', 'σ', 'Σ', '\u{345}', 'ι',
    '\u{301}', '\u{203f}', '½', 'ﬅ', 'ﬆ', '😀', '𐐀', '𐐨', 'Ⅷ', '€', ',', '.', '{', '}',
];

/// How many letters narrow patterns have.
const NARROW: usize = 2;

/// Parts of patterns that stand for one character.
const ONE: &[&str] = &[
    ".",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    "[ab]",
    "[^ab]",
    "[a-c]",
    "[^a-c]",
    r"[\w-]",
    r"[^\W\d]",
    r"[\s,]",
    r"[^\n]",
    "[]a]",
    "[^]a]",
    "[a-]",
    "[-a]",
    "[^-a]",
    r"[\]a]",
    r"[\ba]",
    "[i-k]",
    "[à-ï]",
    "[A-z]",
    "[ſ-ƀ]",
    "[😀-😂]",
    "[!-~]",
    r"[\x61\u0062\U00000063]",
    r"[\141b]",
    r"\x61",
    r"\u00e9",
    r"\U0001f600",
    r"\141",
    r"\07",
    r"\0",
    r"\n",
    r"\.",
    r"\-",
    r"\_",
    r"\é",
    r"\t",
    "[^a]",
    "[é]",
    "[^é]",
    "[.]",
    "[a^]",
    "[^^]",
    "[µ-¶]",
    "[ab{}]",
    r"[\D\d]",
    r"[\d\s_]",
    "[\u{10400}a]",
    "[K-z]",
];

const PLACES: &[&str] = &["^", "$", "$", r"\A", r"\Z", r"\b", r"\b", r"\B"];

const ROUNDS: &[&str] = &[
    "?", "*", "+", "??", "*?", "+?", "{2}", "{1,2}", "{,2}", "{1,}", "{0}", "{0,1}", "{1}", "{2,3}?", "{,}", "{2,}?",
    "{,1}?", "{0,}", "{3}", "*+", "++", "?+", "{1,2}+", "{2}+",
];

/// What is a mistake almost everywhere, or means itself.
const STRANGE: &[&str] = &[
    "{",
    "}",
    "{}",
    "{a}",
    "{1",
    "{1,2",
    "{,",
    "*",
    "**",
    "+*",
    "?+",
    "*+",
    "(",
    ")",
    "[",
    "]",
    "(?i)",
    "(?x)",
    "(?i:",
    "(?P<n>",
    "(?P=n)",
    r"\1",
    r"\8",
    r"\q",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?>a)",
    "(?#c)",
    "(?#",
    "#",
    " ",
    "(?-i:a)",
    "(?a:\\w)",
    "[[a]",
    "[a--b]",
    "[a&&b]",
    "[b-a]",
    r"[\d-a]",
    r"\N{DIGIT ONE}",
    "{3,2}",
    "|",
    "||",
    r"\x6",
    r"\400",
    "(?:)",
    "()",
    "(?ii)",
    "(?",
    "(?P",
    "\\",
    "^*",
    "{2}{3}",
    "(?u)",
    "(?L)",
    "(?)",
    "(?-)",
    "(?im-s:",
    "(?s-:a)",
    "(?P<1>a)",
    "(?P<é>a)",
];

/// A random pattern.
pub struct Patterns<'a> {
    random: &'a mut Random,
    chars: &'a [char],
    pattern: String,
    groups: usize,
    /// How many parts of a thousand are strange.
    strange: usize,
    /// Whether there are but letters, groups and repetitions, which ask most of
    /// backtracking.
    narrow: bool,
}

/// A pattern over those characters.
pub fn pattern(random: &mut Random, chars: &[char]) -> String {
    let strange = random.of(&[0, 0, 0, 0, 60]);
    let narrow = chars.len() == NARROW;
    let mut patterns = Patterns { random, chars, pattern: String::new(), groups: 0, strange, narrow };
    if patterns.random.below(8) == 0 {
        let flags =
            patterns.random.of(&["(?i)", "(?m)", "(?s)", "(?x)", "(?a)", "(?im)", "(?u)", "(?#x)(?i)", " (?x)"]);
        patterns.pattern.push_str(flags);
    }
    if patterns.narrow && patterns.random.below(2) == 0 {
        patterns.literals();
    } else {
        let depth = patterns.random.below(5);
        patterns.alternation(depth);
    }
    patterns.pattern
}

impl Patterns<'_> {
    fn alternation(&mut self, depth: usize) {
        let count = self.random.of(&[1, 1, 1, 2, 3]);
        for at in 0..count {
            if at > 0 {
                self.pattern.push('|');
            }
            for _ in 0..self.random.of(&[0, 1, 1, 2, 2, 3, 4]) {
                self.part(depth);
            }
        }
    }

    /// Letters among repeated sets that hold them or not: where automata look for the
    /// letters first.
    fn literals(&mut self) {
        for at in 0..self.random.of(&[1, 1, 2]) {
            if at > 0 {
                self.pattern.push('|');
            }
            for _ in 0..1 + self.random.below(4) {
                if self.random.below(2) == 0 {
                    for _ in 0..1 + self.random.below(3) {
                        let ch = self.random.of(self.chars);
                        self.pattern.push(ch);
                    }
                    continue;
                }
                let set = self.random.of(&[
                    ".", r"\w", r"\d", "[ab]", "[^a]", "[^b]", "[bc]", "(?:ab|b)", "(a|bc)", "(b|ba)", r"\b", "($)?",
                ]);
                let rounds = self.random.of(&["", "+", "*", "?", "+?", "*?", "{2}", "{1,2}", "{,3}?"]);
                self.pattern.push_str(set);
                if set != r"\b" && set != "($)?" {
                    self.pattern.push_str(rounds);
                }
            }
        }
    }

    fn part(&mut self, depth: usize) {
        if self.random.below(1000) < self.strange {
            let strange = self.random.of(STRANGE);
            return self.pattern.push_str(strange);
        }
        let kind = match (self.narrow, depth) {
            (false, 0) => self.random.below(7),
            (false, _) => self.random.below(12),
            (true, 0) => 0,
            (true, _) => self.random.of(&[0, 0, 11]),
        };
        match kind {
            0..=3 => {
                let ch = self.random.of(self.chars);
                if "\\[]{}()*+?.^$|# \n\r\t\u{1c}".contains(ch) {
                    self.pattern.push('\\');
                }
                self.pattern.push(ch);
            }
            4 | 5 => {
                let one = self.random.of(ONE);
                self.pattern.push_str(one);
            }
            6 if self.groups > 0 && self.random.below(3) == 0 => {
                let group = 1 + self.random.below(self.groups);
                let (then, otherwise) = (self.random.of(ONE), self.random.of(ONE));
                match self.random.below(4) {
                    0 => self.pattern.push_str(&format!("(?({group}){then}|{otherwise})")),
                    1 => self.pattern.push_str(&format!("(?({group}){then})")),
                    _ => self.pattern.push_str(&format!("\\{group}")),
                }
                return;
            }
            6 => {
                let place = self.random.of(PLACES);
                return self.pattern.push_str(place);
            }
            _ => {
                let kind = self.random.below(18);
                if kind >= 12 {
                    let around = self.random.of(&["(?=", "(?!", "(?<=", "(?<!", "(?>"]);
                    self.pattern.push_str(around);
                    if around.starts_with("(?<") {
                        // Those of several widths are errors.
                        for _ in 0..1 + self.random.below(2) {
                            let one = self.random.of(ONE);
                            self.pattern.push_str(one);
                        }
                    } else {
                        self.alternation(depth - 1);
                    }
                    return self.pattern.push(')');
                }
                self.groups += usize::from(matches!(kind, 0..=5 | 9));
                match kind {
                    0..=5 => self.pattern.push('('),
                    6..=8 => self.pattern.push_str("(?:"),
                    9 => {
                        let name = format!("(?P<g{}>", self.groups);
                        self.pattern.push_str(&name);
                    }
                    _ => {
                        let flags = self.random.of(&["i", "-i", "m", "s", "x", "-s", "im-x", "i-m", "-mx"]);
                        self.pattern.push_str(&format!("(?{flags}:"));
                    }
                }
                self.alternation(depth - 1);
                self.pattern.push(')');
            }
        }
        if self.random.below(if self.narrow { 2 } else { 3 }) == 0 {
            let rounds = self.random.of(ROUNDS);
            self.pattern.push_str(rounds);
        }
    }
}

/// Some characters, for a pattern and its texts.
pub fn chars(random: &mut Random) -> Vec<char> {
    if random.below(3) == 0 {
        return vec!['a', 'b', 'c'][..NARROW].to_vec();
    }
    (0..3 + random.below(4)).map(|_| random.of(CHARS)).collect()
}

/// A text over those characters, and where a search in it is to begin.
pub fn text(random: &mut Random, chars: &[char]) -> (String, usize) {
    let len = random.of(&[0, 1, 2, 3, 4, 5, 6, 8, 12, 20]);
    let mut text: String = (0..len)
        .map(|_| {
            if random.below(if chars.len() == NARROW { 40 } else { 6 }) == 0 {
                random.of(CHARS)
            } else {
                random.of(chars)
            }
        })
        .collect();
    if random.below(6) == 0 {
        text.push('\n');
    }
    let at = if random.below(4) == 0 { random.below(text.chars().count() + 1) } else { 0 };
    (text, at)
}
