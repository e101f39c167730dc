"""What both recorders share: the outermost calls that test files make, written as candidates.

A candidate is a case without its result. Only calls whose caller is a test file of a library
are looked at, and none that happens within another one, so a library that calls itself is
not recorded. Every call that is left out is counted under its reason.
"""

import collections
import hashlib
import json
import os
import random
import re

import numpy as np

from tables import Unfit

IMPORTS = ("datetime", "re", "numpy as np", "pandas as pd")
CANDIDATES_PER_METHOD = 400
CANDIDATES_PER_TEST = 8
PARAMETERS_PER_TEST = 24


class Recorder:
    def __init__(self, folder):
        self.depth = 0
        self.folder = folder
        self.test = ""
        self.test_files = {}
        self.calls = 0
        self.seen = set()
        self.per_method = collections.Counter()
        self.per_test = collections.Counter()
        self.skipped = collections.Counter()
        self.outcomes = collections.Counter()
        self.file = open(os.path.join(folder, "candidates.jsonl"), "w", encoding="utf-8")

    def wanted(self, frame):
        """Whether a call from this frame is an outermost call of a test."""
        if self.depth:
            return False
        path = frame.f_code.co_filename
        known = self.test_files.get(path)
        if known is None:
            known = self.test_files[path] = "site-packages" in path and f"{os.sep}tests{os.sep}" in path
        return known

    def call(self, method, describe, original, args, kwargs):
        """Calls the original and notes the call; returns its result and its description."""
        self.calls += 1
        self.depth += 1
        case = None
        raised = None
        try:
            try:
                case = describe(args, kwargs)
            except Unfit as reason:
                self.skipped[method, str(reason)] += 1
            except Exception as error:
                self.skipped[method, f"no text: {type(error).__name__}"] += 1
            try:
                return original(*args, **kwargs), case
            except BaseException as error:
                raised = type(error).__name__
                raise
        finally:
            self.depth -= 1
            if case is not None:
                self.note(method, case, raised)

    def note(self, method, case, raised):
        written = json.dumps([case["source"], case["inputs"]])
        key = hashlib.sha256(written.encode()).hexdigest()
        if key in self.seen:
            self.skipped[method, "equal to an earlier case"] += 1
            return
        if self.per_method[method] >= CANDIDATES_PER_METHOD or self.per_test[method, self.test] >= CANDIDATES_PER_TEST:
            self.skipped[method, "more than enough candidates"] += 1
            return
        self.seen.add(key)
        self.per_method[method] += 1
        self.per_test[method, self.test] += 1
        kept = {"kind": case["kind"], "method": method, "source": case["source"], "inputs": case["inputs"]}
        json.dump({**kept, "key": key, "test": self.test, "raised": raised}, self.file, ensure_ascii=False)
        self.file.write("\n")

    # The hooks of pytest.

    def pytest_collection_modifyitems(self, config, items):
        """Keeps a spread of the parameters of a test that has many."""
        groups = collections.defaultdict(list)
        for item in items:
            groups[item.nodeid.split("[")[0]].append(item)
        kept = set()
        for group in groups.values():
            step = max(1, len(group) / PARAMETERS_PER_TEST)
            kept.update(id(group[int(place * step)]) for place in range(min(len(group), PARAMETERS_PER_TEST)))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = [item for item in items if id(item) in kept]

    def pytest_runtest_logstart(self, nodeid):
        self.test = nodeid.split("[")[0]
        random.seed(0)
        np.random.seed(0)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed or report.skipped:
            self.outcomes[report.outcome] += 1

    def pytest_sessionfinish(self):
        self.file.close()
        counts = {
            "calls": self.calls,
            "tests": dict(self.outcomes),
            "skipped": [[method, reason, count] for (method, reason), count in self.skipped.items()],
        }
        with open(os.path.join(self.folder, "counts.json"), "w", encoding="utf-8") as file:
            json.dump(counts, file)


def function_source(parameters, statements):
    """The text of a case's function with the imports that it needs."""
    text = "".join(f"    {statement}\n" for statement in statements)
    imports = [name for name in IMPORTS if re.search(rf"\b{name.split()[-1]}\.", text + parameters)]
    return "".join(f"import {name}\n" for name in imports) + f"def f({parameters}):\n{text}"
