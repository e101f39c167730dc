"""A result that depends on an order that is not given must have been flagged by EXPLAIN.

    python orders.py [EXUVIA]

Each query of the .sql files beside this folder, and those below, runs over its tables with their rows shuffled. One
whose rows change as a bag must be flagged; those below that give the order of a unique key must be the same each
time, and not flagged.
"""

import json
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import compare
import oracle
from harness import execute

SHUFFLES = 4
FLAG = "may depend on the order"

# Small, so that the tables have several batches in several partitions.
BATCH = 5

TABLE = """CREATE TABLE t (id BIGINT, g TEXT, x DOUBLE, s TEXT) AS VALUES
""" + ",\n".join(f"  ({n}, '{'abc'[n % 3]}', {n * n % 17}.5, '{'pqrst'[n * n % 5]}{n % 4}')" for n in range(23)) + ";\n\n"

# What takes the rows of `t` in their order, as tables, columns and aggregates.
TABLES = {
    "cumulated": "t.assign(x=t['x'].cumsum())",
    "shifted": "t.assign(s=t['s'].shift(1))",
    "first_of_all": "t.head(1)",
    "kept_first": "t.drop_duplicates('s', keep='first')",
    "first_of_each": "t.groupby('g', as_index=False).first()",
    "joined_texts": "t.groupby('g', as_index=False).agg(id=('id', 'size'), x=('x', 'size'), s=('s', ' '.join))",
}
COLUMNS = {
    "running": "x.cumsum()",
    "previous": "x.shift(1)",
    "against_first": "x - x.iloc[0]",
    "smoothed": "x.ewm(alpha=0.5).mean()",
    "numbered": "pd.Series(range(len(x)), dtype='float64')",
}
AGGREGATES = {"text_of": "' '.join(map(str, x))", "first_x": "str(x[0])", "last_change": "str(x[-1] - x[0])"}

CLASS = """CREATE FUNCTION seen(x DOUBLE) RETURNS TEXT LANGUAGE python AS $$
class seen:
    def __init__(self):
        self.text = ''

    def accumulate(self, x):
        self.text += f'{x} '
MERGE
    def finish(self):
        return self.text
$$;
"""
MERGE = """
    def merge(self, other):
        self.text += other.text
"""


def functions():
    out = CLASS.replace("MERGE", "") + CLASS.replace("seen", "merged").replace("MERGE", MERGE)
    for name, body in TABLES.items():
        out += (f"CREATE FUNCTION {name}(t TABLE) RETURNS TABLE (id BIGINT, g TEXT, x DOUBLE, s TEXT) LANGUAGE python AS $$\n"
                f"import pandas as pd\ndef {name}(t):\n    return {body}\n$$;\n")
    for name, body in COLUMNS.items():
        out += (f"CREATE FUNCTION {name}(x DOUBLE) RETURNS DOUBLE LANGUAGE python AS $$\nimport pandas as pd\n"
                f"def {name}(x: pd.Series):\n    return {body}\n$$;\n")
    for name, body in AGGREGATES.items():
        out += (f"CREATE FUNCTION {name}(x DOUBLE) RETURNS TEXT LANGUAGE python OPTIONS (kind 'aggregate') AS $$\n"
                f"def {name}(x):\n    return {body}\n$$;\n")
    return out


def own():
    """Queries of two kinds: (name, SQL, whether the order is given)."""
    for name in TABLES:
        yield name, f"SELECT * FROM {name}(TABLE t)", False
        yield f"{name}, ordered", f"SELECT * FROM {name}((SELECT * FROM t ORDER BY id))", True
        yield f"{name}, ordered rows", f"SELECT * FROM {name}((SELECT * FROM t WHERE id > 2 ORDER BY id DESC LIMIT 15))", True
    for name in COLUMNS:
        yield name, f"SELECT id, {name}(x) FROM t", False
        yield f"{name}, partitions", f"SELECT id, {name}(x) OVER (PARTITION BY g) FROM t", False
        yield f"{name}, ordered", f"SELECT id, {name}(x) OVER (ORDER BY id) FROM t", True
        yield f"{name}, ordered partitions", f"SELECT id, {name}(x) OVER (PARTITION BY g ORDER BY id) FROM t", True
    for name in (*AGGREGATES, "seen", "merged"):
        yield name, f"SELECT {name}(x) FROM t", False
        yield f"{name}, groups", f"SELECT g, {name}(x) FROM t GROUP BY g", False
        yield f"{name}, ordered", f"SELECT {name}(x ORDER BY id) FROM t", True
        yield f"{name}, ordered groups", f"SELECT g, {name}(x ORDER BY id DESC) FROM t GROUP BY g", True
        yield f"{name}, window", f"SELECT id, {name}(x) OVER (PARTITION BY g ORDER BY id ROWS 3 PRECEDING) FROM t", True
        yield f"{name}, partitions", f"SELECT id, {name}(x) OVER (PARTITION BY g) FROM t", False


def shuffled(table, seed):
    """CREATE TABLE … AS VALUES with its rows in another order; as they are written for the first."""
    head, rows = table.strip().rstrip(";").split(" AS VALUES\n")
    rows = re.findall(r"\((?:'(?:[^']|'')*'|[^()'])*\)", rows)
    if seed:
        random.Random(seed).shuffle(rows)
    return f"{head} AS VALUES\n  {', '.join(rows)};\n"


def answers(binary, functions, tables, queries):
    """For each query whether it is flagged, and its rows for each shuffle."""
    script = functions
    for seed in range(SHUFFLES):
        for name, text in tables.items():
            script += (f"DROP TABLE {name};\n" if seed else "") + shuffled(text, seed)
        for query in queries:
            if not seed:
                script += f"SELECT 'next' AS marker;\nEXPLAIN {query};\n"
            script += f"SELECT 'next' AS marker;\n{query};\n"
    done = execute(binary, script, size=BATCH)
    if done.returncode:
        raise RuntimeError(done.stderr)
    parts = [[json.loads(line) for line in part.splitlines() if line] for part in done.stdout.split('{"marker":"next"}')[1:]]
    plans, runs = parts[: 2 * len(queries) : 2], [parts[1 : 2 * len(queries) : 2]]
    rest = parts[2 * len(queries) :]
    runs += [rest[at : at + len(queries)] for at in range(0, len(rest), len(queries))]
    flags = [any(row["plan_type"] == "exuvia_functions" and FLAG in row["plan"] for row in plan) for plan in plans]
    return [(flag, [run[at] for run in runs]) for at, flag in enumerate(flags)]


def changes(runs):
    """Whether rows differ as a bag, floats by more than what the order of a sum makes."""
    bags = [sorted((list(row.values()) for row in rows), key=compare.by_any) for rows in runs]
    return any(not compare.same(bags[0], bag, True) for bag in bags)


def judged_file(binary, path):
    file = oracle.read(path)
    of_kind = lambda wanted: {name: text for kind, name, text in file.statements if kind == wanted}
    functions = "\n".join(of_kind("function").values())
    judged = []
    for (name, query), (flag, runs) in zip(file.queries.items(), answers(binary, functions, of_kind("table"), list(file.queries.values()))):
        changed = changes(runs)
        problem = "changes, and is not flagged" if changed and not flag else None
        judged.append((f"{path.name}: {name}", problem, changed, flag))
    return judged


def judged_own(binary):
    queries = list(own())
    judged = []
    for (name, _, given), (flag, runs) in zip(queries, answers(binary, functions(), {"t": TABLE}, [query for _, query, _ in queries])):
        changed = changes(runs)
        if given:
            problem = "changes, though the order is given" if changed else "is flagged, though the order is given" if flag else None
        else:
            problem = None if flag else "is not flagged"
            problem = problem or (None if changed else "does not change, so that it says nothing of flags")
        judged.append((name, problem, changed, flag))
    return judged


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    # Models are of rows alone.
    paths = [path for path in sorted(HERE.parent.glob("*.sql")) if path.stem != "models"]
    with ThreadPoolExecutor(2) as pool:
        judged = [pool.submit(judged_own, binary), *(pool.submit(judged_file, binary, path) for path in paths)]
        judged = [line for future in judged for line in future.result()]
    wrong = [f"{name}: {problem}" for name, problem, _, _ in judged if problem]
    print(*wrong, sep="\n")
    changed, flagged = sum(line[2] for line in judged), sum(line[3] for line in judged)
    print(f"{len(judged) - len(wrong)} passed, {len(wrong)} failed; {changed} change, {flagged} are flagged")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
