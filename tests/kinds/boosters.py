"""Models of xgboost and lightgbm, where these are installed, as `OPTIONS (models …)` serves them.

    python boosters.py [EXUVIA]

Each is fitted here, stored by pickle and by joblib, and serves what it predicts in plain Python.
"""

import importlib
import json
import pickle
import sys
import tempfile
from pathlib import Path

import joblib
import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "matrix"))

from harness import execute

# A library, how a model of it is fitted to x and y, and how it predicts.
MODELS = [
    ("xgboost", "xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(x, y)", "m.predict_proba(x)[:, 1]"),
    ("xgboost", "xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(x, x[:, 0])", "m.predict(x)"),
    ("xgboost", "xgboost.train({'nthread': 1}, xgboost.DMatrix(x, y), 5)", "m.predict(xgboost.DMatrix(x))"),
    ("lightgbm", "lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1).fit(x, y)", "m.predict_proba(x)[:, 1]"),
    ("lightgbm", "lightgbm.train({'num_threads': 1, 'verbose': -1}, lightgbm.Dataset(x, y), 5)", "m.predict(x)"),
]


def served(binary, library, path, predict, x):
    """What the command says, and the predictions."""
    rows = ",\n".join(f"({number}, {a!r}, {b!r})" for number, (a, b) in enumerate(x.tolist()))
    done = execute(binary, f"""CREATE TABLE t (id BIGINT, a DOUBLE, b DOUBLE) AS VALUES {rows};
CREATE FUNCTION f(a DOUBLE, b DOUBLE) RETURNS DOUBLE LANGUAGE python OPTIONS (models 'm={path}') AS $$
import numpy as np
import {library}

def f(a: np.ndarray, b: np.ndarray):
    x = np.column_stack([a, b])
    return {predict}
$$;
SELECT f(a, b) AS p FROM t ORDER BY id;
""")
    return done.stderr, [json.loads(line)["p"] for line in done.stdout.splitlines()]


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    x = np.random.default_rng(0).normal(size=(80, 2))
    y = (x.sum(axis=1) > 0).astype(int)
    space = {"x": x, "y": y}
    passed = failed = 0
    for library, fit, predict in MODELS:
        try:
            space[library] = importlib.import_module(library)
        except ImportError:
            print(f"skipped: {library} is not installed: {fit}")
            continue
        model = eval(fit, space)
        expected = eval(predict, {**space, "m": model}).astype(float).tolist()
        with tempfile.TemporaryDirectory() as folder:
            for store in (pickle, joblib):
                path = f"{folder}/model.{store.__name__}"
                with open(path, "wb") as file:
                    store.dump(model, file)
                said, found = served(binary, library, path, predict, x)
                if found == expected:
                    passed += 1
                else:
                    failed += 1
                    print(f"{fit} of {store.__name__}: {said}\n  got      {found}\n  expected {expected}")
    print(f"{passed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
