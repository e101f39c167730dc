"""Runs every recorded case in plain CPython and compares with what it expects.

    python tests/recorded/check.py [FILE …]

The inputs are built as the SQL side hands them over. The command fails if a case differs.
"""

import argparse
import gzip
import json
import pathlib
import sys

import replay

FOLDER = pathlib.Path(__file__).parent


def cases(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def differs(case):
    """What is wrong with a case, or nothing."""
    try:
        found = replay.outcome(case)
    except replay.tables.Unfit as reason:
        return f"the result does not fit: {reason}"
    return None if replay.agrees(case, found) else f"gives {json.dumps(found, ensure_ascii=False)[:500]}"


def main():
    parser = argparse.ArgumentParser(description="Run the recorded cases in plain CPython.")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="case files; all by default")
    files = parser.parse_args().files or sorted(FOLDER.glob("*.jsonl.gz"))
    failed = 0
    for path in files:
        read = cases(path)
        wrong = [(case, text) for case in read if (text := differs(case)) is not None]
        for case, text in wrong:
            print(f"{case['id']}\n{case['source']}  expects {json.dumps(case['expect'], ensure_ascii=False)[:500]}\n  {text}")
        print(f"{path.name}: {len(read) - len(wrong)} of {len(read)} cases agree")
        failed += len(wrong)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
