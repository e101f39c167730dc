//! Functions that are large in some way: long, deep, with many branches, calls, lists or
//! constants. Whatever a source says, defining it must end soon and take little memory.

use arrow::datatypes::DataType;
use exuvia_engine::{Definition, Function, Parameter, Settings, Work};
use std::fmt::Write;

/// A function with one parameter.
#[derive(Debug)]
pub struct Large {
    /// What it is.
    pub name: &'static str,
    /// The type of the parameter.
    pub param: DataType,
    /// The type of the result.
    pub returns: DataType,
    /// The body.
    pub source: String,
}

impl Large {
    /// Defines it, which lifts and compiles it; the arguments are never NULL if `strict`.
    ///
    /// # Errors
    /// What is wrong with the source.
    pub fn define(&self, strict: bool) -> anyhow::Result<Function> {
        let param = Parameter { name: "x".to_string(), ty: self.param.clone() };
        let definition = Definition { strict, ..crate::definition(&self.source, vec![param], self.returns.clone()) };
        Function::define(definition, &Settings::default()).map_err(|error| anyhow::anyhow!("{}", error.message))
    }
}

/// What may be exceeded by nothing.
///
/// # Errors
/// What is exceeded.
pub fn within_bounds(work: &Work) -> Result<(), String> {
    let bounds = [
        ("steps of lifting", work.steps, exuvia_lift::MAX_STEPS + 100_000),
        ("lifted instructions", work.lifted as u64, 45_000),
        ("optimised instructions", work.optimized as u64, 45_000),
        ("native instructions", work.instructions as u64, 150_000),
    ];
    match bounds.into_iter().find(|(_, found, most)| found > most) {
        Some((what, found, most)) => Err(format!("{found} {what}, at most {most}")),
        None => Ok(()),
    }
}

/// A line for each of `count` numbers.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "{}", line(at));
        text
    })
}

/// Pieces for each of `count` numbers, joined.
fn joined(count: usize, by: &str, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(by)
}

/// A function of about so many lines in the manner of those that clean records: it splits, searches, counts in
/// dicts, fills lists, calls helpers, raises and catches. Two seeds give two functions.
#[must_use]
pub fn ordinary(length: usize, seed: u64) -> Large {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut parts = vec![String::new()];
    let mut written = 0;
    while written < length {
        let (kind, c) = (draw(14), draw(90));
        let n = written;
        let block = match kind {
            0 => format!("parts{n} = s.split(',')\ntotal += len(parts{n}) * {c}\n"),
            1 => format!("if len(s) > {c}:\n    total += {c}\nelif s.startswith('a{c}'):\n    total -= 1\nelse:\n    total ^= {c}\n"),
            2 => "for word in s.split():\n    if word.isdigit() and len(word) < 6:\n        total += int(word)\n    else:\n        \
                  seen[word] = seen.get(word, 0) + 1\n"
                .to_string(),
            3 => format!("m{n} = re.search(r'(\\d+)-{c}(\\w+)', s)\nif m{n} is not None and len(m{n}.group(1)) < 9:\n    total += int(m{n}.group(1))\n"),
            4 => format!("try:\n    total += int(s[{c}:{c} + 3])\nexcept ValueError:\n    total += 1\n"),
            5 => format!("rows.append(total % {c}7)\nif len(rows) > {c}:\n    rows.pop()\n"),
            6 => format!("label{n} = f'{{total}}:{c}:{{len(rows)}}'\ntotal += len(label{n})\n"),
            7 => format!("t{n} = s.strip().lower().replace('x', '{c}')\nif t{n} in WORDS:\n    total += WORDS[t{n}]\n"),
            8 => "while total > 1000000:\n    total //= 7\n".to_string(),
            9 => format!("total += max(rows, default={c})\n"),
            10 => format!("rate{n} = total / {c}.5 if total > {c} else 0.0\ntotal += round(rate{n} * 100) % 1000\n"),
            11 => format!("if s[:1] == '{c}':\n    raise ValueError(f'no {{s}} of {c}')\n"),
            12 => format!("head{n}, _, tail{n} = s.partition(':')\ntotal += len(head{n}) - len(tail{n})\n"),
            _ => {
                // What follows is a helper of its own, which the function calls.
                parts.push(String::new());
                continue;
            }
        };
        written += block.lines().count();
        if let Some(part) = parts.last_mut() {
            part.push_str(&block);
        }
    }
    let mut source = "import re\nWORDS = {'a': 1, 'bc': 2, 'déjà': 3}\n".to_string();
    let last = parts.len() - 1;
    for (at, part) in parts.iter().enumerate() {
        let name = if at == last { "f(s)".to_string() } else { format!("step{at}(s, total)") };
        let start = if at == last { "    total = 0\n" } else { "" };
        let _ = writeln!(source, "def {name}:\n{start}    rows = []\n    seen = {{}}");
        for line in part.lines() {
            let _ = writeln!(source, "    {line}");
        }
        if at == last {
            source.push_str(&lines(last, |at| format!("    total = step{at}(s, total)")));
        }
        source.push_str("    return total + len(seen)\n");
    }
    Large { name: "an ordinary function", param: DataType::Utf8, returns: DataType::Int64, source }
}

/// The functions.
#[must_use]
pub fn programs() -> Vec<Large> {
    let int = |name, source: String| Large { name, param: DataType::Int64, returns: DataType::Int64, source };
    let text = |name, source: String| Large { name, param: DataType::Utf8, returns: DataType::Utf8, source };
    let indent = |depth: usize| "    ".repeat(depth);
    vec![
        int("a list of 40,000 tuples", "T = [(a, a) for a in range(40000)]\ndef f(x):\n    return T[x % 40000][0]\n".into()),
        int(
            "a table of 100 lists of 100",
            "T = [[0] * 100 for _ in range(100)]\nfor i in range(100):\n    for j in range(100):\n        T[i][j] = i ^ j\n\
             def f(x):\n    return T[x % 100][x % 7]\n"
                .into(),
        ),
        int(
            "a list whose items change their type",
            "T = [0] * 10000\nfor a in range(10000):\n    T[a] = (a, a)\ndef f(x):\n    return T[x % 10000][1]\n".into(),
        ),
        int(
            "lists of lists of lists",
            "T = [[[] for _ in range(60)] for _ in range(60)]\nfor i in range(60):\n    for j in range(60):\n        \
             for k in range(10):\n            T[i][j].append([i, j, k])\ndef f(x):\n    return T[x % 60][0][1][2]\n"
                .into(),
        ),
        int(
            "a large text that is normalised often",
            "import unicodedata\nN = '\u{e9}' * 200000\nM = [len(unicodedata.normalize('NFKD', N)) for i in range(2000)]\n\
             def f(x):\n    return M[x % 2000]\n"
                .into(),
        ),
        int(
            "powers of a large int",
            "N = 10 ** 4000\nM = [N ** 50 % 7 for i in range(2000)]\ndef f(x):\n    return M[x % 2000]\n".into(),
        ),
        int(
            "a list of 1,500 patterns",
            "import re\nP = [re.compile('a' + str(i)) for i in range(1500)]\n\
             def f(x):\n    return 1 if P[7].match(str(x)) else 0\n"
                .into(),
        ),
        int(
            "a list of 20,000 patterns that come and go",
            "import re\nP = []\nfor i in range(20000):\n    P.append(re.compile('a' + str(i)))\n    \
             if i % 1000 > 500:\n        P.pop()\ndef f(x):\n    return len(P)\n"
                .into(),
        ),
        int(
            "a substitution in a constant that takes as long as its square",
            "import re\nT = 'x' * 250000\nP = re.compile('x[^y]*y|x')\ndef f(x):\n    return len(P.sub('z', T)) + x\n".into(),
        ),
        int(
            "50 modular powers of 10,000 bits",
            format!(
                "n = 0\n{}return n + x",
                lines(50, |at| format!("n += pow(3, (1 << 10000) + {at}, (1 << 10000) + {})", 2 * at + 1))
            ),
        ),
        int(
            "a list that is held 20,000 times, and then filled",
            "A = []\nL = [A] * 20000\nfor i in range(20000):\n    A.append(i)\ndef f(x):\n    return L[x][x]\n".into(),
        ),
        int("a list that is written anew", "T = []\nfor i in range(20000):\n    T = [i, *T]\ndef f(x):\n    return T[x]\n".into()),
        int("parts of a large text", "N = str(10 ** 4000) * 1000\nM = [N[i:] for i in range(2000)]\ndef f(x):\n    return len(M[x])\n".into()),
        int("40 doublings", lines(40, |_| "x = x + x".into()) + "return x"),
        int("38 sums of the last two", format!("a, b = x, x\n{}return a", lines(38, |_| "a, b = b, a + b".into()))),
        int("4,000 straight lines", lines(4000, |at| format!("x = x * {} + {at}", at % 7 + 1)) + "return x"),
        text("an f-string of 5,000 parts", format!("return f'{}'", "a{x}".repeat(5000))),
        text("30,000 fields of str.format", format!("return '{}'.format(x)", "{0}".repeat(30_000))),
        text("30,000 fields of %", format!("return '{}' % ({})", "%s".repeat(30_000), "x, ".repeat(30_000))),
        text("2,000 formats joined by +", format!("return {}", joined(2000, " + ", |_| "'%s' % x".into()))),
        int("5,000 terms of and", format!("return 1 if {} else 0", joined(5000, " and ", |at| format!("x > {at}")))),
        text(
            "5,000 comparisons of text",
            format!("return 'a' if {} else 'b'", joined(5000, " and ", |at| format!("x != '{at}'"))),
        ),
        int("a chain of 3,000 comparisons", format!("return 1 if {} else 0", joined(3000, " < ", |_| "x".into()))),
        int("2,000 ifs", lines(2000, |at| format!("if x > {at}: x = x + {at}")) + "return x"),
        int(
            "2,500 elifs",
            format!("if x == 0: return 0\n{}return x", lines(2500, |at| format!("elif x == {}: return {at}", at + 1))),
        ),
        int("1,000 ternaries", format!("return {} else x", joined(1000, " else ", |at| format!("{at} if x == {at}")))),
        int(
            "ifs nested 90 deep",
            lines(90, |at| format!("{}if x > {at}:", indent(at))) + &format!("{}return 1\nreturn 0", indent(90)),
        ),
        int(
            "a comprehension of 500 loops",
            format!("return len([x {}])", joined(500, " ", |_| "for i in range(1)".into())),
        ),
        int(
            "40 calls of sorted",
            format!(
                "{}return {}",
                lines(40, |at| format!("l{at} = sorted([x, {at}, 3])")),
                joined(40, " + ", |at| format!("l{at}[0]"))
            ),
        ),
        int(
            "500 lists",
            format!(
                "n = 0\n{}return n",
                lines(500, |at| format!("l{at} = [x, {at}]\nl{at}.append(x)\nn += l{at}[0]"))
            ),
        ),
        int(
            "helpers that call each other twice, 24 deep",
            "def h0(x): return x + 1\n".to_string()
                + &lines(24, |at| format!("def h{}(x): return h{at}(x) + h{at}(x + 1)", at + 1))
                + "def f(x): return h24(x)",
        ),
        int(
            "arguments that each call doubles, 30 deep",
            "def h0(*a): return len(a)\n".to_string()
                + &lines(30, |at| format!("def h{}(*a): return h{at}(*a, *a)", at + 1))
                + "def f(x): return h30(x)",
        ),
        int(
            "helpers whose sums are one call, 22 deep",
            "def h0(x): return x\n".to_string()
                + &lines(22, |at| format!("def h{}(x): return h{at}(x) + h{at}(x)", at + 1))
                + "def f(x): return h22(x)",
        ),
        int(
            "a dict of the module that doubles, 14 times",
            "D = {0: 'a'}\n".to_string()
                + &lines(14, |_| "D = {**D, **{k + len(D): v + v[:1] for k, v in D.items()}}".into())
                + "def f(x): return len(D) + x",
        ),
        int(
            "lambdas that call each other twice, 25 deep",
            "f = lambda v: v + 1\n".to_string()
                + &lines(25, |at| format!("def g{at}(v, f=f): return f(f(v))\nf = g{at}"))
                + "return f(x)",
        ),
        int(
            "two closures that share a list, as a tuple",
            "s = [0]\ndef a(): return s[0]\ndef b(): return s[0]\nreturn a, b".to_string(),
        ),
        int("a tuple nested 40 deep", format!("t = (x, x)\n{}return t[1]", lines(40, |_| "t = (t, x)".into()))),
        int(
            "a table that 20,000 appends fill",
            "T = []\nfor i in range(20000):\n    T.append(i)\ndef f(x): return T[x]".to_string(),
        ),
        int(
            "a table that 16,000 sums of tuples fill",
            "T = ()\nfor i in range(16000):\n    T += (i,)\ndef f(x): return T[x]".to_string(),
        ),
        int(
            "lists that 20,000 appends fill, in a dict",
            "T = {}\nfor i in range(20000):\n    T.setdefault(i % 97, []).append(i)\ndef f(x): return T[1][x]"
                .to_string(),
        ),
        int(
            "tuples of tuples, 30 deep",
            format!("t = (x, x)\n{}return t[0][0][0]", lines(30, |_| "t = (t, t)".into())),
        ),
        int(
            "Church numerals, five twos",
            "two = lambda g: lambda y: g(g(y))\nreturn two(two)(two)(two)(two)(lambda y: y + 1)(x)".into(),
        ),
        int(
            "tables of tables, 40 deep",
            format!("def f(x):\n    t = [abs]\n{}    return t[0][x]", lines(40, |_| "    t = [t, t]".into())),
        ),
        int(
            "tables of the module, 40 deep",
            format!("T = [abs]\n{}def f(x):\n    return T[x % 2] is T", lines(40, |_| "T = [T, T]".into())),
        ),
        int(
            "a table of 5,000 functions",
            format!(
                "T = {{\n{}}}\ndef f(x):\n    return T[x](x)",
                lines(5000, |at| format!("    {at}: lambda x: x + {at},"))
            ),
        ),
        int(
            "a list of 3,000 objects of the module",
            format!(
                "class C:\n    def __init__(self, n):\n        self.n = n\nT = [\n{}]\ndef f(x):\n    return T[x].n",
                lines(3000, |at| format!("    C({at}),"))
            ),
        ),
        int("a tuple doubled 25 times", format!("t = (x, x)\n{}return len(t)", lines(25, |_| "t = t + t".into()))),
        int("a list doubled 25 times", format!("t = [1, 2]\n{}return len(t) + x", lines(25, |_| "t = t + t".into()))),
        int("a tuple nested 4,000 deep", format!("t = (x,)\n{}return len(t)", lines(4000, |_| "t = (t,)".into()))),
        int("a list nested 4,000 deep", format!("t = [x]\n{}return len(t)", lines(4000, |_| "t = [t]".into()))),
        int("300 loops", lines(300, |at| format!("for i in range(x): x = x + {at}")) + "return x"),
        text("a dict nested 45 deep", format!("return str({}x{})", "{'a': ".repeat(45), "}".repeat(45))),
        text("a list nested 45 deep", format!("return str({}x{})", "[".repeat(45), "]".repeat(45))),
        int(
            "loops nested 18 deep",
            lines(18, |at| format!("{}for i{at} in range(x):", indent(at)))
                + &format!("{}x = x + i0 + i17\nreturn x", indent(18)),
        ),
        text(
            "400 tries",
            format!(
                "{}return str({})",
                lines(400, |at| format!("try: y{at} = int(x)\nexcept ValueError: y{at} = {at}")),
                joined(400, " + ", |at| format!("y{at}"))
            ),
        ),
        int(
            "200 assignments in a try",
            format!(
                "{}try:\n{}except ZeroDivisionError: pass\nreturn {}",
                lines(200, |at| format!("v{at} = x")),
                lines(200, |at| format!("  v{at} = 100 // (v{} - {at})", (at * 7 + 3) % 200)),
                joined(200, " + ", |at| format!("v{at}"))
            ),
        ),
        text("1,000 calls of replace", format!("return x{}", ".replace('a', 'b')".repeat(1000))),
        int(
            "a dict of 10,000 entries",
            format!("D = {{{}}}\ndef f(x): return D.get(str(x))", joined(10_000, ", ", |at| format!("'{at}': {at}"))),
        ),
        int("4,000 names of the module", lines(4000, |at| format!("N{at} = {at}")) + "def f(x): return x + N0 + N3999"),
        int(
            "variables of many types",
            format!(
                "y = 1\n{}return len(str(y))",
                lines(60, |at| format!(
                    "if x > {at}: y = {}",
                    ["1", "1.5", "'a'", "None", "True", "(1, 2)", "(1, 'a')"][at % 7]
                ))
            ),
        ),
        int(
            "a constant of 2^40 characters",
            format!("t = 'ab'\n{}return x + len(t)", lines(40, |_| "t = t + t".into())),
        ),
        int("9,000 sums in an f-string", format!("return len(f'{}')", joined(9000, "", |at| format!("{{x+{at}}}")))),
        int("a list of 4,000 sums", format!("l = [{}]\nreturn sum(l)", joined(4000, ", ", |at| format!("x+{at}")))),
        int(
            "a list of 3,000 objects",
            format!(
                "class P:\n    def __init__(self, a): self.a = a\ndef f(x):\n    l = [{}]\n    return sum(p.a for p in l)",
                joined(3000, ", ", |at| format!("P(x+{at})"))
            ),
        ),
        int(
            "50 dicts put into a dict",
            format!("p = {{}}\n{}return len(p)", lines(50, |at| format!("if x > {at}: p['k{at}'] = {{'z': x}}"))),
        ),
        int(
            "3,000 statements of a module that are not lifted, each with the one before",
            format!(
                "from decimal import Decimal\nt = {{'a': 1}}\nd0 = Decimal(1)\n{}def f(x):\n    return x + t['a']",
                lines(3000, |at| format!("d{} = Decimal(d{at})", at + 1))
            ),
        ),
        int(
            "a pattern of 4,096 alternatives within each other",
            format!(
                "match (x, (x, x)):\n    case {}:\n        return 1\nreturn 0",
                (0..12).fold("(a, 0)".to_string(), |inner, at| format!("({inner} | ({inner}, {at}))"))
            ),
        ),
        int(
            "24 functions that call each other twice",
            lines(24, |at| {
                format!(
                    "def g{at}(x): return {at} if x <= 0 else g{}(x - 1) + g{}(x - 2)",
                    (at + 1) % 24,
                    (at * 7 + 3) % 24
                )
            }) + "def f(x): return g0(x)",
        ),
        int(
            "24 functions of which each calls all",
            lines(24, |at| {
                let calls = joined(24, " + ", |other| format!("g{other}(x - {})", other + 1));
                format!("def g{at}(x): return {at} if x <= 0 else {calls}")
            }) + "def f(x): return g0(x)",
        ),
        int(
            "12 classes whose objects hold each other",
            lines(12, |at| {
                format!(
                    "class C{at}:\n    def __init__(self, a, b): self.a, self.b = a, b\n    def total(self): return {at} + \
                     (self.a.total() if self.a else 0) + (self.b.total() if self.b else 0)"
                )
            }) + "def f(x):\n    node = None\n    for i in range(x):\n"
                + &lines(12, |at| format!("        node = C{at}(node, C{}(None, node))", (at + 1) % 12))
                + "    return node.total() if node else 0",
        ),
        int(
            "a dict of dicts that 30 places fill",
            "def f(x):\n    root = {}\n    for i in range(x):\n        node = root\n".to_string()
                + &lines(30, |at| format!("        node = node.setdefault(str(i % {}), {{}})", at + 2))
                + "    return len(root)",
        ),
        int("a constant to its 2^40th power", format!("t = 3\n{}return x + t % 7", lines(40, |_| "t = t * t".into()))),
    ]
}
