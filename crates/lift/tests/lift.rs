//! Functions lifted and evaluated, compared with what CPython says of the same source.

use exuvia_ir::{Object, Raise};
use exuvia_lift::{Calls, Param, Source, SqlClass, SqlReturn, lift};
use exuvia_ops::cx::Cx;
use std::process::Command;

/// Runs `f` of the source in CPython: the `repr` of the result, or class and message of
/// the exception.
fn cpython(source: &str, args: &[&str]) -> String {
    let script = format!(
        "{source}\ntry:\n    print(repr(f({})))\nexcept Exception as e:\n    print(type(e).__name__ + ': ' + str(e))\n",
        args.join(", ")
    );
    let python = std::env::var("EXUVIA_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let output = Command::new(python).arg("-c").arg(script).output().expect("python runs");
    String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_string()
}

fn object(literal: &str) -> (Object, SqlClass) {
    if literal == "None" {
        (Object::None, SqlClass::Str)
    } else if let Ok(int) = literal.parse() {
        (Object::int(int), SqlClass::Int)
    } else if let Ok(float) = literal.parse() {
        (Object::Float(float), SqlClass::Float)
    } else {
        (Object::str(&literal[1..literal.len() - 1]), SqlClass::Str)
    }
}

#[track_caller]
fn check(source: &str, returns: SqlClass, rows: &[&[&str]]) {
    for call in rows {
        let (objects, classes): (Vec<Object>, Vec<SqlClass>) = call.iter().map(|arg| object(arg)).unzip();
        let params: Vec<Param> =
            classes.iter().map(|class| Param { class: class.clone(), nullable: true, inner: true }).collect();
        let names: Vec<String> = (0..params.len()).map(|index| format!("p{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let source_of = Source::resolve(source, "f", None, &names).unwrap_or_else(|error| panic!("{error:?}"));
        let returns = SqlReturn { class: returns.clone(), name: "T".to_string(), errors_are_null: false, whole: false };
        let expected = cpython(source, call);
        for calls in [Calls::Large, Calls::All] {
            let module = match lift(&source_of, &params, &returns, calls) {
                Ok(lifted) => lifted.module,
                Err(bailout) => panic!(
                    "{bailout} at {:?}\n{source}",
                    source.get(bailout.span.start as usize..bailout.span.end as usize)
                ),
            };
            let mut fuel = 10_000_000;
            let mut cx = Cx::for_folding();
            let got = match exuvia_eval::call(&module, &objects, &mut cx, &mut fuel) {
                Ok(object) => exuvia_ops::show::repr(&object),
                Err(failure) => match failure.raise {
                    raise @ (Raise::Exception { .. } | Raise::Bailout(_) | Raise::Result(_) | Raise::Interrupted) => {
                        exuvia_ops::show::raise(&raise)
                    }
                },
            };
            assert_eq!(got, expected, "f({})\n{source}\n{module}", call.join(", "));
        }
    }
}

#[test]
fn arithmetic_and_branches() {
    check(
        "def f(a, b):\n    if a > b:\n        return a - b\n    elif a == b:\n        return 0\n    return a * b + 7 // b\n",
        SqlClass::Int,
        &[&["5", "3"], &["3", "3"], &["2", "9"], &["-4", "0"], &["None", "1"]],
    );
    check("def f(a):\n    x = a or 5\n    return x if x < 10 else -x\n", SqlClass::Int, &[&["0"], &["12"], &["3"]]);
    check("def f(a):\n    return 1 < a <= 5 and not a == 3\n", SqlClass::Bool, &[&["0"], &["3"], &["5"]]);
}

#[test]
fn loops() {
    check(
        "def f(n):\n    t = 0\n    for i in range(n):\n        if i % 3 == 0:\n            continue\n        if i > 20:\n            break\n        t += i\n    else:\n        t = -t\n    return t\n",
        SqlClass::Int,
        &[&["0"], &["10"], &["100"]],
    );
    check(
        "def f(s):\n    n = 0\n    last = None\n    for c in s:\n        if c == last:\n            n += 1\n        last = c\n    return n\n",
        SqlClass::Int,
        &[&["'aabbb'"], &["''"], &["'éé'"]],
    );
    check(
        "def f(n):\n    a, b = 0, 1\n    while n > 0:\n        a, b = b, a + b\n        n -= 1\n    return a\n",
        SqlClass::Int,
        &[&["10"], &["90"], &["120"]],
    );
    check(
        "def f(n):\n    x = 1\n    for i in range(n):\n        if i == 3:\n            x = x / 2\n        else:\n            x = x * 2\n    return x\n",
        SqlClass::Float,
        &[&["8"]],
    );
}

#[test]
fn lists_and_comprehensions() {
    check(
        "def f(s):\n    parts = [p.strip() for p in s.split(',') if p]\n    out = []\n    for i, p in enumerate(parts):\n        out.append(p + str(i))\n    return '-'.join(out)\n",
        SqlClass::Str,
        &[&["'a, b,,c'"], &["''"]],
    );
    check(
        "def f(a, b):\n    prev = list(range(len(b) + 1))\n    for i, x in enumerate(a):\n        cur = [i + 1]\n        for j, y in enumerate(b):\n            cur.append(min(prev[j] + (x != y), prev[j + 1] + 1, cur[j] + 1))\n        prev = cur\n    return prev[-1]\n",
        SqlClass::Int,
        &[&["'kitten'", "'sitting'"], &["''", "'ab'"]],
    );
    check(
        "def f(s):\n    return sum(1 for c in s if c in 'aeiou') + max(len(w) for w in s.split())\n",
        SqlClass::Int,
        &[&["'hello world'"]],
    );
    check("def f(n):\n    return any(x > 3 for x in [1, 2, n]) and all([n, 1])\n", SqlClass::Bool, &[&["4"], &["0"]]);
}

#[test]
fn exceptions() {
    check(
        "def f(s):\n    try:\n        return int(s)\n    except ValueError:\n        return -1\n    finally:\n        s = ''\n",
        SqlClass::Int,
        &[&["'12'"], &["'x'"], &["None"]],
    );
    check(
        "def f(s):\n    if not s:\n        raise ValueError(f'bad {s!r}')\n    return s[0]\n",
        SqlClass::Str,
        &[&["''"], &["'ab'"]],
    );
    check(
        "def f(a, b):\n    try:\n        x = a // b\n    except ZeroDivisionError as e:\n        return str(e)\n    else:\n        return 'ok %d' % x\n",
        SqlClass::Str,
        &[&["1", "0"], &["7", "2"]],
    );
    check(
        "def f(n):\n    for i in range(5):\n        try:\n            if i == n:\n                break\n            if i == n + 1:\n                continue\n        finally:\n            n += 1\n    return n\n",
        SqlClass::Int,
        &[&["0"], &["3"], &["-1"]],
    );
}

#[test]
fn functions() {
    check(
        "RATES = {'EUR': 1.0, 'USD': 1.1}\nSTOP = {'the', 'a'}\ndef conv(x, c='EUR'):\n    return x * RATES[c]\ndef f(x, c):\n    g = lambda y: conv(y, c)\n    if c in STOP:\n        return conv(x)\n    return g(x) + conv(c='USD', x=1)\n",
        SqlClass::Float,
        &[&["2.5", "'USD'"], &["2.5", "'the'"], &["1.5", "'XXX'"]],
    );
    check(
        "def fact(n):\n    return 1 if n <= 1 else n * fact(n - 1)\ndef f(n):\n    return fact(n)\n",
        SqlClass::Int,
        &[&["5"], &["25"]],
    );
    check(
        "def f(n):\n    def add(k):\n        return n + k\n    m = add(1)\n    n = 100\n    return add(m)\n",
        SqlClass::Int,
        &[&["5"]],
    );
    check("def f(x):\n    if x > 0:\n        y = 1\n    return y\n", SqlClass::Int, &[&["5"], &["-5"]]);
}

#[test]
fn objects_of_classes() {
    check(
        "class P:
    unit = 'm'
    def __init__(self, x, y=2):
        self.x = x
        self.y = y
    def __add__(self, other):
        if isinstance(other, P):
            return P(self.x + other.x, self.y + other.y)
        return NotImplemented
    def __radd__(self, other):
        return P(other + self.x, self.y)
    def __eq__(self, other):
        return self.x == other.x and self.y == other.y
    def __repr__(self):
        return f'P({self.x!r}, {self.y}){self.unit}'
    @property
    def norm(self):
        return self.x * self.x + self.y * self.y
    @staticmethod
    def origin():
        return P(0, 0)
    @classmethod
    def of(cls, pair):
        return cls(pair[0], pair[1])
def f(a, b):
    p = P(a) + P(b, 3)
    q = 1 + P.of((a, b))
    if p == q:
        return 'same'
    p.x += 5
    return str(p) + repr(q) + f'{p.norm} {q == q} {p != q} {P.origin()}'
",
        SqlClass::Str,
        &[&["1", "2"], &["5", "-3"], &["0", "5"]],
    );
    check(
        "class Base:
    def __init__(self, start):
        self.total = start
        self.seen = []
    def add(self, x):
        self.total += x
        self.seen.append(x)
        return self
    def result(self):
        return self.total
class Twice(Base):
    def __init__(self, start):
        super().__init__(start * 2)
        self.calls = 0
    def add(self, x):
        self.calls += 1
        return super().add(x + x)
    def __len__(self):
        return self.calls
    def __call__(self, y):
        return y + self.result()
def f(n):
    acc = Twice(3)
    if acc:
        return -1
    for i in range(n):
        if i % 3 == 1:
            continue
        acc.add(i).add(1)
    if n > 3:
        acc.extra = 7
    return acc(len(acc)) * 1000 + len(acc.seen) + (acc.extra if n > 3 else 0)
",
        SqlClass::Int,
        &[&["0"], &["1"], &["10"]],
    );
    check(
        "class A:
    pass
def f(n):
    a = A()
    if n > 2:
        a.x = n
    return a.x
",
        SqlClass::Int,
        &[&["1"], &["5"]],
    );
    check("class A:\n    pass\ndef f(n):\n    return (A() + n)\n", SqlClass::Int, &[&["1"]]);
    check("class A:\n    pass\ndef f(n):\n    return A() < A()\n", SqlClass::Int, &[&["1"]]);
    check("class A:\n    pass\ndef f(n):\n    return A(n)\n", SqlClass::Int, &[&["1"]]);
    check("class A:\n    pass\ndef f(n):\n    return len(A()) + A()[n]\n", SqlClass::Int, &[&["1"]]);
    check("class A:\n    pass\ndef f(n):\n    a = A()\n    a += n\n    return n\n", SqlClass::Int, &[&["1"]]);
    check("class A:\n    pass\ndef f(n):\n    for x in A():\n        n += 1\n    return n\n", SqlClass::Int, &[&["1"]]);
}

#[test]
fn dataclasses() {
    check(
        "from dataclasses import dataclass
@dataclass
class Item:
    name: str
    price: float = 1.5
    count: int = 2
    def total(self):
        return self.price * self.count
@dataclass(order=True)
class Tagged(Item):
    tag: str = 'x'
    def __post_init__(self):
        self.tag = self.tag.upper()
def f(s, n):
    a = Item(s)
    b = Item(s, count=n)
    c, d = Tagged(s, tag='b'), Tagged(name=s, count=n)
    return f'{a} {b == a} {a != b} {c < d} {c >= d} {c} {b.total()} {a == c}'
",
        SqlClass::Str,
        &[&["'a'", "2"], &["'é b'", "3"]],
    );
}

#[test]
fn dicts_made_at_run_time() {
    check(
        "def f(s):
    counts = {}
    for word in s.split():
        counts[word] = counts.get(word, 0) + 1
    best = max(counts, key=counts.get) if counts else None
    out = [f'{k}={v}' for k, v in counts.items()]
    return f'{best} {out} {len(counts)} {sorted(counts)} {sum(counts.values())} {counts}'
",
        SqlClass::Str,
        &[&["'a b a é b a'"], &["''"], &["'q w e r t y u i o p a s d f g h j k l z x c v b n m q q'"]],
    );
    check(
        "def f(n):
    d = {1: 'a', 2: 'b'}
    d[n] = 'c'
    if n in d:
        del d[1]
    d.setdefault(7, 'x')
    e = {k: v * 2 for k, v in d.items()}
    x = d.pop(2)
    y = d.pop(99, 'none')
    try:
        d[99]
    except KeyError as error:
        y += str(error)
    d.update({5: 'five', 7: 'seven'})
    return f'{d} {e} {x} {y} {d == e} {list(d.keys())} {d.popitem()} {d}'
",
        SqlClass::Str,
        &[&["1"], &["2"], &["3"]],
    );
    check(
        "from collections import Counter, defaultdict
def f(s):
    c = Counter(s)
    groups = defaultdict(list)
    for ch in s:
        groups[ch.lower()].append(ch)
    totals = defaultdict(int)
    for k, v in groups.items():
        totals[k] += len(v)
    return f'{c.most_common(2)} {c[\"q\"]} {dict(totals)} {groups[\"a\"]} {list(groups.items())}'
",
        SqlClass::Str,
        &[&["'aAbBa é'"], &["''"]],
    );
    check(
        "def f(s):
    seen = set()
    twice = set()
    for ch in s:
        if ch in seen:
            twice.add(ch)
        seen.add(ch)
    vowels = {'a', 'e', 'i'}
    rest = seen - vowels
    return f'{sorted(seen)} {sorted(twice)} {len(rest)} {sorted(seen & vowels)} {vowels <= seen} {sorted(set(s))}'
",
        SqlClass::Str,
        &[&["'abracadabra'"], &["''"], &["'aeiéé'"]],
    );
    check(
        "def f(n):\n    d = {}\n    d[n] = 1\n    for k in d:\n        d[k + 1] = 2\n    return len(d)\n",
        SqlClass::Int,
        &[&["1"]],
    );
    check("def f(n):\n    d = {}\n    d[[n]] = 1\n    return len(d)\n", SqlClass::Int, &[&["1"]]);
    check(
        "def f(n):\n    d = {}\n    for i in range(n):\n        d[(i % 7, str(i % 3))] = i\n    return sum(k[0] * v for k, v in d.items()) + d.get((1, '1'), -1)\n",
        SqlClass::Int,
        &[&["0"], &["100"]],
    );
}

#[test]
fn objects_at_run_time() {
    use SqlClass::{Bool, Float, Int, Str};
    let classes = "
from dataclasses import dataclass
@dataclass
class Item:
    name: str
    price: float
    count: int = 1
    def total(self): return self.price * self.count
class P:
    def __init__(self, x, y):
        self.x = x
        self.y = y
    def __add__(self, o): return P(self.x + o.x, self.y + o.y)
    def __lt__(self, o): return (self.x, self.y) < (o.x, o.y)
    def move(self, d): self.x += d
";
    let c = |f: &str| format!("{classes}{f}");
    let check = |f: &str, ty, rows: &[&[&str]]| check(&c(f), ty, rows);
    let words: &[&[&str]] = &[&["'a:1.5:2,b:2.5:3,a:0.5:1'"], &["'é:1:1'"], &["'a:1:1,a:2:2,c:3:3,b:2:9'"]];
    check(
        "
def f(s):
    items = [Item(n, float(p), int(c)) for n, p, c in [part.split(':') for part in s.split(',')]]
    return sum(i.total() for i in items)",
        Float,
        words,
    );
    check(
        "
def f(s):
    items = []
    for part in s.split(','):
        n, p, c = part.split(':')
        items.append(Item(n, float(p), int(c)))
    items.sort(key=lambda i: (-i.price, i.name))
    return ' '.join(i.name + str(i.count) for i in items)",
        Str,
        words,
    );
    check(
        "
def f(s):
    best = None
    for part in s.split(','):
        n, p, c = part.split(':')
        item = Item(n, float(p), int(c))
        if best is None or item.price > best.price:
            best = item
    return best.name",
        Str,
        words,
    );
    check(
        "
def f(s):
    items = [Item(part.split(':')[0], 1.0) for part in s.split(',')]
    for i in items:
        i.count += len(items)
    return ','.join(f'{i.name}{i.count}' for i in items) + str(items[0])",
        Str,
        words,
    );
    check(
        "
def f(n):
    p = P(n, 1)
    q = p
    for i in range(3):
        if i % 2:
            q = P(i, i)
        q.move(10)
    return p.x * 1000 + q.x",
        Int,
        &[&["1"], &["5"], &["-7"]],
    );
    check(
        "
def f(n):
    points = [P(n - i, i * n % 3) for i in range(4)]
    low = min(points)
    points.sort()
    return f'{low.x} {low.y} ' + ';'.join(f'{p.x}/{p.y}' for p in points) + str(sum(points, P(0, 0)).x)",
        Str,
        &[&["1"], &["5"], &["-7"]],
    );
    check(
        "
def f(s):
    groups = {}
    for part in s.split(','):
        n, p, c = part.split(':')
        g = groups.setdefault(n, {'count': 0, 'sum': 0})
        g['count'] += 1
        g['sum'] += int(c)
    return ' '.join(f\"{k}:{v['count']}:{v['sum']}\" for k, v in groups.items())",
        Str,
        words,
    );
    check(
        "
from collections import defaultdict
def f(s):
    groups = defaultdict(dict)
    for part in s.split(','):
        n, p, c = part.split(':')
        groups[n][c] = p
    return str({k: len(v) for k, v in groups.items()}) + str(groups['zz'])",
        Str,
        words,
    );
    check(
        "
def f(s):
    rows = []
    for part in s.split(','):
        n, p, c = part.split(':')
        rows.append({'name': n, 'count': c})
    rows = sorted(rows, key=lambda r: r['count'], reverse=True)
    for r in rows: r['extra'] = 'x'
    return str(rows)",
        Str,
        words,
    );
    check(
        "
def f(s):
    seen = [set(), set()]
    for i, ch in enumerate(s):
        seen[i % 2].add(ch)
    return len(seen[0] & seen[1]) * 100 + len(seen[0] | seen[1])",
        Int,
        words,
    );
    check(
        "
def f(n):
    a = P(n, 0)
    pair = [a, a]
    pair[0].x += 1
    pair[1].x += 1
    a.y = 7
    return f'{a.x} {pair[0].y} {pair[1].x} {pair[0] is None} {isinstance(pair[0], P)} {isinstance(pair[1], Item)}'",
        Str,
        &[&["1"], &["-7"]],
    );
    check(
        "
def f(n):
    objects = [P(n, 1), Item('a', 2.0)]
    out = []
    for o in objects:
        if isinstance(o, P): out.append(o.x)
        else: out.append(o.count)
    return sum(out)",
        Int,
        &[&["1"], &["-7"]],
    );
    check(
        "
def walk(p, n):
    if n == 0: return p.x
    return walk(P(p.x + p.y, n), n - 1)
def f(n): return walk(P(n, 2), 5)",
        Int,
        &[&["1"], &["-7"]],
    );
    check(
        "
def build(n):
    if n == 0: return P(0, 0)
    p = build(n - 1)
    return P(p.x + n, p.y + 1)
def f(n): return build(n % 5).x",
        Int,
        &[&["4"], &["3"]],
    );
    check(
        "
def f(n):
    try:
        p = P(n, 2)
        q = [p]
        if n > 3: raise ValueError('x')
        p.x = 100
    except ValueError:
        p.y = 50
    return p.x * 1000 + p.y + q[0].x",
        Int,
        &[&["4"], &["3"]],
    );
    check(
        "
def f(n):
    p = P(n, 2)
    if n > 3:
        q = [p]
        q[0].x = 5
    p.y += 1
    return p.x * 1000 + p.y",
        Int,
        &[&["4"], &["3"]],
    );
    check(
        "
def f(n):
    items = [Item('a', 1.0), Item('b', 2.0, n)]
    return Item('b', 2.0, 3) in items",
        Bool,
        &[&["4"], &["3"]],
    );
}

#[test]
fn a_statement_of_the_module_that_takes_too_long_costs_what_reads_it() {
    // Thousands of steps for each number, in a loop that is unfolded while the module runs.
    let table = "TABLE = [[(i * j) % 7 for j in range(400)] for i in range(400)]\nRATE = 3\n";
    let lifted = |body: &str| {
        let source = format!("{table}def f(a):\n    return {body}\n");
        let source = Source::resolve(&source, "f", None, &["a"]).unwrap_or_else(|error| panic!("{error:?}"));
        let params = [Param { class: SqlClass::Int, nullable: true, inner: true }];
        let returns = SqlReturn { class: SqlClass::Int, name: "T".to_string(), errors_are_null: false, whole: false };
        lift(&source, &params, &returns, Calls::Large)
    };
    assert!(lifted("a * RATE").is_ok_and(|lifted| lifted.unchecked), "CPython must run the statement");
    let why = lifted("TABLE[a][0]").expect_err("it needs the table");
    assert_eq!(why.detail, "the statement takes more than half of the steps that lifting may take");
}

/// The attempts that lifting takes.
fn attempts(source: &str) -> u32 {
    let source = Source::resolve(source, "f", None, &["s"]).expect("a source");
    let returns = SqlReturn { class: SqlClass::Int, name: "T".to_string(), errors_are_null: false, whole: false };
    let params = [Param { class: SqlClass::Str, nullable: false, inner: false }];
    lift(&source, &params, &returns, Calls::Large).expect("is lifted").attempts
}

#[test]
fn lists_that_are_filled_take_one_attempt() {
    let filled = [
        "def f(s):\n    return len([len(w) for w in s.split() if w])\n",
        "def f(s):\n    out = []\n    for w in s.split():\n        out.append((w, len(w)))\n    return len(out)\n",
        "def f(s):\n    rows, n = [], 0\n    for w in s.split():\n        row = []\n        for c in w:\n            row.append(c)\n        rows.append(row)\n    return len(rows)\n",
        "def f(s):\n    return sum(sorted(list(len(w) for w in s.split())))\n",
        "def g(s):\n    for w in s.split():\n        yield w\ndef f(s):\n    return len(list(g(s)))\n",
        "import numpy as np\ndef f(s):\n    x = np.array([float(w) for w in s.split()])\n    y = np.sqrt(x - x.mean())\n    return int(np.cumsum(y)[-1])\n",
    ];
    for source in filled {
        assert_eq!(attempts(source), 1, "{source}");
    }
    // Looked at before it is full, and of two types.
    assert_eq!(
        attempts(
            "def f(s):\n    out = []\n    for w in s.split():\n        out.append(len(out))\n    return len(out)\n"
        ),
        2
    );
    assert_eq!(
        attempts("def f(s):\n    xs = [len(w) for w in s.split()]\n    xs.append('x')\n    return len(xs)\n"),
        2
    );
}
