"""A process that runs what it is told to, one measurement a line; the twin of the Rust
side's (crates/bench/src/serve.rs), with the same requests and answers.

    python serve.py FOLDER TABLE FILE_OF_FUNCTIONS COLUMNS_AS_JSON Z1_SQL

`{"what": "bedrooms", "by": "loop"}` gives `{"seconds": 0.2, "rows": 1000000}`. What is run is
a function of the file, `z1`, or a query of placement.py. A contender
prepares itself at its first request, which is not timed. `{"what": …, "by": …, "compare":
PATH}` compares the contender's result, or that in an Arrow file for those of the Rust side
(`by` is null), with the CPython loop's and gives the rows that differ.
"""

import gc
import json
import sys
import time
import warnings
from functools import cached_property

import placement
import pyarrow as pa
import rows
import signatures
import z1

warnings.filterwarnings("ignore")


class Server:
    """The functions, their columns, and the contenders that are prepared."""

    def __init__(self, folder, table, source, columns, sql):
        self.functions = signatures.load(source)
        self.columns = json.loads(columns)
        self.parquet = f"{folder}/listings.parquet"
        with open(sql, encoding="utf-8") as file:
            self.sql = file.read()
        self.folder = folder
        self.table = pa.ipc.open_file(f"{folder}/{table}.arrow").read_all()
        self.ready = {}
        self.expected = {}

    def contender(self, what, by):
        """The function to time."""
        if (what, by) not in self.ready:
            if what == "z1":
                run = z1.CONTENDERS[by](self.functions, self.parquet, self.sql)
            elif what in placement.QUERIES:
                run = placement.CONTENDERS[by](what, self.tables)
            else:
                columns = [rows.plain(self.table[name]).combine_chunks() for name in self.columns[what]]
                run = rows.CONTENDERS[by](self.functions[what], columns)
            # One function's contenders at a time: their tables are large.
            self.ready = {key: value for key, value in self.ready.items() if key[0] == what}
            self.ready[what, by] = run
        return self.ready[what, by]

    @cached_property
    def tables(self):
        """The tables of the queries of placement."""
        return placement.Tables(self.folder, self.table)

    def values(self, what, result):
        """A result in Python's own objects."""
        if what in placement.QUERIES:
            return placement.values(result)
        return z1.values(result) if what == "z1" else rows.values(result, self.functions[what].returns)

    def run(self, what, by):
        """Runs something once."""
        run = self.contender(what, by)
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - start
        gc.enable()
        return {"seconds": seconds, "rows": len(result) if hasattr(result, "__len__") else None}

    def compare(self, what, by, path):
        """The rows in which a contender differs from the CPython loop."""
        if what not in self.expected:
            self.expected[what] = self.values(what, self.contender(what, "loop")())
        expected = self.expected[what]
        if path:
            table = pa.ipc.open_file(path).read_all()
            got = table["result"].to_pylist() if what in self.functions else self.values(what, table)
        else:
            got = self.values(what, self.contender(what, by)())
        if what in placement.QUERIES:
            return placement.differ(expected, got)
        if len(got) != len(expected):
            return {"differ": abs(len(got) - len(expected)), "example": f"{len(got)} rows, not {len(expected)}"}
        differ = [(index, a, b) for index, (a, b) in enumerate(zip(expected, got)) if a != b]
        example = "row {}: {!r}, not {!r}".format(differ[0][0], differ[0][2], differ[0][1]) if differ else None
        return {"differ": len(differ), "example": example}


def main():
    server = Server(*sys.argv[1:6])
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "compare" in request:
                answer = server.compare(request["what"], request["by"], request["compare"])
            else:
                answer = server.run(request["what"], request["by"])
        except Exception as error:
            text = str(error).strip().splitlines()
            first = next((line.strip() for line in text if line.strip()), "")
            answer = {"error": f"{type(error).__name__}: {first}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
