//! Operands: nasty and random values for each kind of parameter.

use exuvia_ir::{Int, Object, Pattern};
use exuvia_ops::def::{Kind, OpDef};
use num_bigint::BigInt;
use std::sync::Arc;

/// A small generator of pseudo-random numbers (SplitMix64), so that a failure repeats.
pub struct Random(u64);

impl Random {
    pub fn new(seed: &str) -> Random {
        Random(
            seed.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    pub fn pick_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

#[rustfmt::skip]
const NASTY_STRINGS: &[&str] = &[
    "", " ", "a", "A", "é", "ß", "ı", "İ", "ŉ", "ǰ", "ǅ", "Ǆ", "ﬁ", "ﬃ", "Σ", "ΑΣ", "ΑΣ Σ", "ΣΑ", "Α.Σ", "Α\u{301}Σ", "ΑΣ\u{301}",
    "ᾳ", "ᾼ", "ὖ", "\u{345}", "\0", "a\0b", "\n", "\r\n", "a\nb\r\nc\rd", "\x0b\x0c\x1c\x1d\x1e\x1f", "\u{85}", "\u{a0}",
    "\u{1680}", "\u{2028}x\u{2029}", "\u{3000}", "\u{200b}", "\u{feff}", "\t", "a\tb\t\tc", "\ta\n\tb", "é\tü\t", "𝄞", "a𝄞b",
    "👩\u{200d}👧", "e\u{301}", "\u{301}", "٣", "１２", "𝟗", "²", "½", "Ⅷ", "〇", "一", "漢字", "ไทย", "עברית", "العربية",
    "हिन्दी", "한국어", "Ω", "Å", "ﬀ", "Ａｂ", "𐐀𐐨", "ა", "Ა", "ꭰ", "Ꭰ", "\u{10ffff}", "\u{e000}", "\u{fffd}", "\u{d7ff}",
    "'", "\"", "'\"", "\\", "\\n", "\x7f", "\u{ad}", "\u{600}", "_", "_a1", "1a", "+", "-", "+5", "-5", "--5", "+é", "True", "None",
    "hello world", "Hello World", "HELLO", "they're bill's", "3 bds , 1 ba , 1,560 sqft", "Price/sqft: $335 , Studio",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "abababababababababababababababababababab", "  leading", "trailing  ",
    " \u{2003}both\u{a0} ", ",", ",,", ",a,,b,", "a,b", "a, b", "1,234,567", "www.example.com", "/index.html?q=1", "::", "a::b::c",
];

#[rustfmt::skip]
const ALPHABETS: &[&str] = &[
    "ab", "abcABC ", "0123456789", " \t\n\r\x0b\x0c\x1c\x1f", "aé€𝄞", "aA1 ,.-", "ΑΣσςα .\u{301}", "ßſıİiIǅǆǄ", "٠١٢٣ ", "אבגד ",
    "\u{2028}\u{2029}\u{85}\n\ra", "ᾳᾼὖΰﬁﬂ", "漢字かなカナ", "𐐀𐐨𝟎𝟡", "'\"\\\n\u{7f}\u{a0}é\u{200b}", "abcdefghijklmnopqrstuvwxyz0123456789",
];

/// A string: a nasty one, a random one over some alphabet, or one of random characters.
pub fn string(random: &mut Random) -> String {
    match random.below(10) {
        0..3 => random.pick(NASTY_STRINGS).to_string(),
        3..8 => {
            let alphabet: Vec<char> = random.pick(ALPHABETS).chars().collect();
            let len = [0, 1, 2, 3, 5, 8, 13, 17, 33, 70, 200][random.below(11)];
            let len = random.below(len + 1);
            (0..len).map(|_| random.pick_of(&alphabet)).collect()
        }
        8 => format!("{}{}", string(random), string(random)),
        _ => (0..random.below(8)).map(|_| character(random)).collect(),
    }
}

/// A character of any plane, the lower ones more often.
fn character(random: &mut Random) -> char {
    let limit = random.pick_of(&[0x80, 0x100, 0x250, 0x600, 0x2000, 0x3000, 0x1_0000, 0x2_0000, 0x11_0000]);
    char::from_u32(random.below(limit) as u32).unwrap_or('\u{fffd}')
}

/// A part of a text, so that searches find something.
fn part(random: &mut Random, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return String::new();
    }
    let start = random.below(chars.len());
    let len = 1 + random.below(4.min(chars.len() - start));
    chars[start..start + len].iter().collect()
}

#[rustfmt::skip]
const NASTY_FLOATS: &[f64] = &[
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, 0.2, 0.3, 0.15, 0.25, 0.35, 2.675, 1.005, 1e-5, 9.999e-5, 1e-4, 0.00012345,
    123456.789, 1e15, 1e16, 1e17, 123456789012345680.0, 1e21, 1e22, 1e23, 1e100, -1e100, 1e300, 1e308, 1.7976931348623157e308,
    2.2250738585072014e-308, 5e-324, 1e-310, 1e-7, 9007199254740992.0, 9007199254740993.0, 9007199254740991.0, 4503599627370496.5,
    9.223372036854775e18, 9.223372036854776e18, -9.223372036854776e18, 1.8446744073709552e19, f64::INFINITY, f64::NEG_INFINITY, f64::NAN,
    99.995, 999999.5, 9.5, 10.5, 99999.5, 0.99999, 1e-20, 1e-200, 709.78, 710.0, -745.2, 171.6, 170.6, -170.5, 3.0, 4.0, 24.0, 100.0,
    999999999999999.9, 0.045, 12.345, 1234567.891, 50.0, 150.0, 250.0, 1e5, 123.456,
];

/// A float: a nasty one, a plain decimal, or any bits.
pub fn float(random: &mut Random) -> f64 {
    match random.below(6) {
        0 | 1 => random.pick_of(NASTY_FLOATS),
        2 => (random.next() as i32 as f64) / random.pick_of(&[1.0, 10.0, 100.0, 1000.0, 1e6]),
        3 => (random.next() >> 11) as f64 / (1u64 << 53) as f64 * random.pick_of(&[1.0, -1.0, 10.0, -3.0, 700.0]),
        4 => random.below(400) as f64 / 8.0 - 25.0,
        _ => f64::from_bits(random.next()),
    }
}

#[rustfmt::skip]
const NASTY_INTS: &[i64] = &[
    0, 1, -1, 2, -2, 3, 5, 7, 8, 9, 10, 15, 16, 17, 32, 63, 64, 65, 97, 100, 127, 128, 255, 256, 999, 1000, 1024, 12345, 65535, 0xd7ff, 0xd800,
    0xdfff, 0xe000, 0x10ffff, 0x110000, i32::MAX as i64, i32::MIN as i64, i32::MAX as i64 + 1, i32::MIN as i64 - 1, 1 << 53, (1 << 53) + 1,
    -(1 << 53) - 1, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 2, i64::MAX / 2, 1_000_000_007, 10_i64.pow(18), -(10_i64.pow(18)),
];

/// An integer: mostly small, sometimes at the edges of 64 bits or beyond.
pub fn int(random: &mut Random) -> Int {
    match random.below(12) {
        0..5 => Int::Small(random.below(41) as i64 - 20),
        5..8 => Int::Small(random.pick_of(NASTY_INTS)),
        8 => Int::Small(random.next() as i64),
        9 => Int::Small((random.next() >> random.below(64)) as i64),
        10 => Int::from_big(
            (BigInt::from(1) << random.below(200)) * random.pick_of(&[1, -1]) + random.pick_of(&[-1, 0, 1]),
        ),
        _ => {
            let digits =
                (0..1 + random.below(60)).map(|_| char::from(b'0' + random.below(10) as u8)).collect::<String>();
            Int::from_big(digits.parse().expect("digits"))
        }
    }
}

/// An integer with which no result grows beyond what a test can bear.
fn tame_int(random: &mut Random) -> Int {
    match random.below(8) {
        0..6 => Int::Small(random.below(90) as i64 - 25),
        6 => Int::Small(random.below(700) as i64 - 100),
        _ => Int::from_big(BigInt::from(random.pick_of(&[-1, 1])) << 70),
    }
}

/// A text that looks like a number.
fn number_text(random: &mut Random) -> String {
    let mut text = String::new();
    #[rustfmt::skip]
    let pieces = [
        "", " ", "\t\n", "\u{2003}", "\u{a0}", "\x1c", "+", "-", "0", "00", "1", "7", "9", "12", "345", "_", "__", "0x", "0X", "0b", "0o", "ff", "z", "e",
        "E", ".", "e5", "e-3", "E+400", "inf", "INFINITY", "nan", "٣", "１", "𝟗", "²", "½", "x", "9223372036854775807",
        "9223372036854775808", "99999999999999999999", "\0", "é", "1e308", "0.1", ",", "infinit", "5e-324",
    ];
    match random.below(4) {
        0 => format!("{}", random.next() as i64 >> random.below(64)),
        1 => format!("{}{}", random.pick(&["", "-", " ", "+"]), float(random)),
        2 => format!("{}{}{}", random.pick(&pieces), random.pick(&pieces), random.pick(&pieces)),
        _ => {
            for _ in 0..random.below(6) {
                text.push_str(random.pick(&pieces));
            }
            if random.one_in(60) {
                text.push_str(&random.pick(&["1", "0", "9_9"]).repeat(4000 + random.below(400)));
                text.push_str(random.pick(&["", "x", "_", "é"]));
            }
            text
        }
    }
}

/// A format specification: mostly a legal one, with characters mixed in at times.
fn spec(random: &mut Random) -> String {
    let mut spec = String::new();
    if random.one_in(3) {
        if random.one_in(2) {
            spec.push_str(random.pick(&["*", " ", "0", "é", "𝄞", "<", "x", "-"]));
        }
        spec.push_str(random.pick(&["<", ">", "^", "="]));
    }
    spec.push_str(random.pick(&["", "", "", "+", "-", " "]));
    spec.push_str(if random.one_in(20) { "z" } else { "" });
    spec.push_str(if random.one_in(8) { "#" } else { "" });
    spec.push_str(if random.one_in(6) { "0" } else { "" });
    spec.push_str(random.pick(&["", "", "5", "10", "1", "20", "3", "4", "33", "٣"]));
    spec.push_str(random.pick(&["", "", "", "", ",", "_", ",_", "_,", ",,"]));
    spec.push_str(random.pick(&["", "", "", ".2", ".0", ".1", ".3", ".10", ".25", ".17", ".", ".400"]));
    spec.push_str(random.pick(&[
        "", "d", "b", "o", "x", "X", "c", "n", "e", "E", "f", "F", "g", "G", "%", "s", "f", "f", "q", "é", "ff", "\x01",
    ]));
    if random.one_in(60) {
        spec.push_str(random.pick(&["}", "99999999999999999999", ".99999999999", " "]));
    }
    spec
}

/// One conversion of `%` formatting.
fn percent(random: &mut Random) -> String {
    let mut spec = "%".to_string();
    for _ in 0..random.below(3) {
        spec.push_str(random.pick(&["", "-", "+", " ", "#", "0"]));
    }
    spec.push_str(random.pick(&["", "", "5", "10", "1", "20", "33"]));
    spec.push_str(random.pick(&["", "", "", ".2", ".0", ".1", ".3", ".10", ".25", ".", ".100"]));
    spec.push_str(random.pick(&["", "", "", "l", "h"]));
    spec.push_str(
        random.pick(&["d", "i", "u", "x", "X", "o", "e", "E", "f", "F", "g", "G", "s", "r", "a", "c", "f", "d", "s"]),
    );
    spec
}

/// Operations whose results grow with their integers.
fn is_tame(def: &OpDef) -> bool {
    matches!(
        def.name,
        "str.repeat"
            | "str.repeated"
            | "str.zfill"
            | "str.ljust"
            | "str.rjust"
            | "str.center"
            | "str.expandtabs"
            | "int.shl"
    ) || ["math.factorial", "math.perm", "math.comb"].iter().any(|name| def.name.starts_with(name))
}

/// An operand for a parameter of an operation.
pub fn operand(random: &mut Random, def: &OpDef, at: usize, before: &[Object]) -> Object {
    let kind = def.params[at].kind;
    match (def.name, kind) {
        ("int.of_str" | "float.of_str", Kind::Str) | ("int.of_str_base", Kind::Str) => {
            Object::str(&number_text(random))
        }
        ("int.of_str_base", Kind::Int) => Object::int(random.pick_of(&[0, 0, 2, 8, 10, 16, 16, 36, 7, 1, 37, -1])),
        ("int.pow" | "int.pow_call", Kind::Int) if at == 1 => Object::int(random.below(80) as i64 - 3),
        ("int.shl", Kind::Int) if at == 0 => Object::Int(int(random)),
        ("int.shr", Kind::Int) if at == 1 => Object::Int(tame_int(random)),
        ("int.round_digits", Kind::Int) if at == 1 => Object::int(random.below(45) as i64 - 40),
        ("float.round_digits", _) if at == 1 => match random.below(3) {
            0 => Object::int(random.below(700) as i64 - 350),
            _ => Object::int(random.below(12) as i64 - 4),
        },
        ("str.ord" | "unicodedata.category" | "unicodedata.combining", Kind::Str) if !random.one_in(4) => {
            Object::str(&character(random).to_string())
        }
        ("unicodedata.normalize" | "unicodedata.is_normalized", Kind::Str) if at == 0 && !random.one_in(10) => {
            Object::str(random.pick(&["NFC", "NFD", "NFKC", "NFKD"]))
        }
        // Lone surrogates and what surrounds them, which `c` formats.
        ("int.format" | "percent.int", Kind::Int) if random.one_in(40) => {
            Object::int(0xd7ff + random.below(0x802) as i64)
        }
        ("str.chr", Kind::Int) if !random.one_in(3) => Object::int(random.below(0x11_0000) as i64),
        (_, Kind::Str) if def.spelling == "format" && at == 1 => Object::str(&spec(random)),
        (name, Kind::Str) if name.starts_with("percent.") && at == 0 => Object::str(&percent(random)),
        (_, Kind::Bool) => Object::Bool(random.one_in(2)),
        (_, Kind::Int) if is_tame(def) => Object::Int(tame_int(random)),
        (_, Kind::Int) => Object::Int(int(random)),
        (_, Kind::Index) if def.params[at].default.is_some() && random.one_in(4) => Object::None,
        (_, Kind::Index) => Object::Int(int(random)),
        (_, Kind::Float | Kind::Number) => match before.first() {
            // Near what stands before it, for comparisons.
            Some(Object::Int(value)) if random.one_in(2) => {
                Object::Float(value.to_string().parse::<f64>().unwrap_or(0.0) + random.pick_of(&[0.0, 0.5, -0.5, 1.0]))
            }
            _ => Object::Float(float(random)),
        },
        (_, Kind::Str) => match before.last() {
            Some(Object::Str(text)) if random.one_in(2) => Object::str(&part(random, text)),
            _ => Object::str(&string(random)),
        },
        (_, Kind::StrList) => Object::list((0..random.below(6)).map(|_| Object::str(&string(random))).collect()),
        (_, Kind::IntList) => Object::list((0..random.below(9)).map(|_| Object::Int(int(random))).collect()),
        (_, Kind::FloatList) => Object::list((0..random.below(9)).map(|_| Object::Float(float(random))).collect()),
        (_, Kind::None) => Object::None,
        (_, Kind::List | Kind::OrderedList | Kind::KeyList) => {
            Object::list((0..random.below(6)).map(|_| Object::Int(int(random))).collect())
        }
        (_, Kind::Pattern) => {
            let sources = ["a", r"(\d+)|(é?b)", r"(?P<x>[^,\s]+)", "x*", r"\bü(.)?"];
            Object::Pattern(Arc::new(Pattern::new(random.pick_of(&sources).into(), 0)))
        }
        (_, Kind::Any | Kind::Key | Kind::Exc) => Object::Int(int(random)),
    }
}
