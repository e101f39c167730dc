//! Work that is bounded whatever a source says, counted in units and not in time, and time that grows as the
//! input does.

use arrow::array::{ArrayRef, Int64Array};
use arrow::datatypes::DataType;
use exuvia_engine::{Invocation, Rung, Settings};
use exuvia_testing::large::{Large, programs, within_bounds};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn large_functions_stay_within_bounds() {
    let settings = Settings::default();
    let mut native = Vec::new();
    for program in programs() {
        for strict in [false, true] {
            let Ok(function) = program.define(strict) else { continue };
            // What an engine asks of it while it plans.
            let _ = (function.formula(!strict, &settings), function.partial_formula(&settings));
            let _ = function.is_total(&settings);
            if let Err(why) = within_bounds(&function.work(&settings)) {
                panic!("{}: {why}", program.name);
            }
            let placement = function.placement(&settings);
            match placement.rung {
                Rung::Native => native.push(program.name),
                rung => {
                    let reason =
                        placement.reason.unwrap_or_else(|| panic!("{}: {rung:?} without a reason", program.name));
                    // What takes all steps takes them in any case.
                    if reason.0 == "E009" {
                        break;
                    }
                }
            }
        }
    }
    // These are no larger than what people write, or become small: they must not be refused.
    for name in [
        "40 doublings",
        "40 calls of sorted",
        "2,000 ifs",
        "a dict of 10,000 entries",
        "300 loops",
        "a list of 40,000 tuples",
        "a table of 100 lists of 100",
        "a list whose items change their type",
    ] {
        assert_eq!(native.iter().filter(|other| **other == name).count(), 2, "{name} is not native");
    }
    // The code generator takes seconds for this one.
    assert!(!native.contains(&"200 assignments in a try"));
}

/// Loops over `x` turns whose time must grow as `x` does, as CPython's does.
const LOOPS: &[(&str, &str)] = &[
    (
        "searches from where the last one ended, beyond ASCII",
        "import re\np = re.compile('b(.)')\ndef f(x):\n    text = 'é日本 ab' * x\n    n = i = 0\n    while True:\n        m = \
         p.search(text, i)\n        if not m:\n            return n\n        n += 1\n        i = m.end()\n",
    ),
    (
        "starts of all matches, beyond ASCII",
        "import re\ndef f(x):\n    n = 0\n    for m in re.finditer('b(.)', 'é日本 ab' * x):\n        n += m.start() - m.end(1)\n    \
         return n\n",
    ),
    (
        "the length of a text that grows",
        "text, n = 'é', 0\nfor i in range(x):\n    text += 'é'\n    n += len(text)\nreturn n\n",
    ),
    (
        "characters of a text in a list",
        "texts = ['é日本ab' * x]\nn = 0\nfor i in range(x):\n    n += ord(texts[0][i])\nreturn n\n",
    ),
    (
        "a queue that goes round",
        "from collections import deque\ndef f(x):\n    queue, n = deque(range(x)), 0\n    while queue:\n        \
         queue.rotate(-2)\n        n += queue.pop()\n    return n\n",
    ),
    (
        "keys of an object of JSON",
        "import json\ndef f(x):\n    d = json.loads('{' + ','.join(f'\"k{i}\": {i}' for i in range(x)) + '}')\n    return \
         sum(d[key] for key in d)\n",
    ),
    (
        "a list that is appended to and taken from",
        "rest, n = list(range(x)), 0\nwhile rest:\n    n += rest.pop()\n    if n % 3:\n        rest.append(1)\n        \
         rest.pop()\nreturn n\n",
    ),
];

#[test]
fn time_grows_no_faster_than_cpython_s() {
    const TIMES: i64 = 32;
    let settings = Settings { row_memory: 256 << 20, ..Settings::default() };
    for (name, source) in LOOPS {
        let program = Large { name, param: DataType::Int64, returns: DataType::Int64, source: (*source).to_string() };
        let function = program.define(true).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(function.placement(&settings).rung, Rung::Native, "{name}");
        let time = |count: i64| {
            let arguments: [ArrayRef; 1] = [Arc::new(Int64Array::from(vec![count]))];
            let once = || {
                let invocation = Invocation { cancelled: Arc::default(), deadline: None, without_python: false };
                let start = Instant::now();
                function
                    .invoke(&arguments, 1, &settings, &invocation)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                start.elapsed()
            };
            (0..3).map(|_| once()).min().unwrap_or_default()
        };
        let (few, many) = (time(2_000), time(2_000 * TIMES));
        let most = few.max(Duration::from_micros(200)) * (TIMES * 3) as u32;
        assert!(many < most, "{name}: {few:?} for 2,000 turns, {many:?} for {TIMES} times as many");
    }
}
