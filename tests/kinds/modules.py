"""What the statements of a module leave behind: functions see what they would in CPython by itself.

    python modules.py [EXUVIA]
"""

import json
import subprocess
import sys

# The module, and what the function says of it.
CASES = [
    ("""from decimal import Decimal, getcontext
getcontext().prec = 3""", "Decimal(1) / Decimal(3)"),
    ("""from decimal import Decimal, getcontext
first = Decimal(1) / Decimal(7)
getcontext().prec = 5""", "(first, Decimal(1) / Decimal(7))"),
    ("""B={'a':1}
C=dict(B)
C['b']=2""", 'len(B)'),
    ("""B={'a':1}
C=dict(B)
B['b']=2""", 'len(C)'),
    ("""a={'x':1}
b=type(a)(a)
b['y']=2""", 'len(a)'),
    ("""T=[1]
for v in T:
  if len(T)<10: T.append(v+1)""", 'len(T)'),
    ("""t=[1,2,3,4]
for v in t: t.remove(v)""", 'len(t)'),
    ("""S=['a']
for w in S:
  for c in 'bc':
    if len(w)<3: S.append(w+c)""", 'len(S)'),
    ("""t=[1]
u=[v for v in t if len(t)>5 or t.append(v+1) is None]""", 'str(u)'),
    ("""l=[1,2]
l.extend(v for v in l if len(l)<6)""", 'str(l)'),
    ("""L=[4,3]
R=','.join(str(v) for v in L if len(L)>5 or L.append(v) is None)""", 'R'),
    ("""L=[1,2,3]
for v in L: L.clear()""", 'v'),
    ("""L=[1,2,3]
for v in L: L[-1]=v*10""", 'str((v,L))'),
    ("""L=[3,2,1];R=[]
for v in L:
  L.sort()
  R.append(v)""", 'str(R)'),
    ("""D={1:[1]}
for k in D[1]:
  if k<6: D[1].append(k+1)""", 'str(D)'),
    ("""def g(l): return [v for v in l if v>8 or l.append(v+1) is None]
U=g([1])""", 'str(U)'),
    ("""l=[1];n=0
for v,w in zip(l,range(5)):
  l.append(v)
  n+=1""", 'n'),
    ("""t=[1]
for i,v in enumerate(t):
  if len(t)<10: t.append(v+1)""", 'len(t)'),
    ("""l=[1,2]
for v in filter(None,l):
  if len(l)<6: l.append(v)""", 'str(l)'),
    ("""t=[3,1,2]
t.sort(key=lambda v:(t.append(v),v)[1])""", 'str(t)'),
    ("""import itertools
l=[1]
for v in itertools.chain(l,l):
  if len(l)<6: l.append(v)""", 'str(l)'),
    ("""T=[1,2,3]
U=[]
for v in T: U.append(v*2)""", 'str(U)'),
    ("""T=[3,1,2]
T.sort()
for a in list(T): T.append(a)""", 'str(T)'),
    ("""T=[1,2]
for a in T[:]: T.append(a)""", 'str(T)'),
    ("""class K:
  def __init__(s,a): s.a=dict(a)
T={1:2}
b=K(T)
T[7]=3""", 'len(b.a)'),
    ("""def h(a): return dict(a)
T={1:2}
b=h(T)
T[7]=3""", 'len(b)'),
    ("""T=[1,2]
for a in reversed(T):
  if len(T)<5: T.append(a)""", 'str(T)'),
    ("__builtins__ = {'len': lambda x: 5, 'str': str}", "len('ab')"),
    ("if (__builtins__ := {'len': lambda x: 5, 'str': str}): pass", "len('ab')"),
    ("for __builtins__ in [{'len': lambda x: 5, 'str': str}]: pass", "len('ab')"),
    ("import math as __builtins__", "floor(2.5)"),
    ("len = lambda x: 5\ndel len", "len('ab')"),
    ("len = lambda x: 5\na = len('ab')\ndel len\nb = len('ab')", "a * 10 + b"),
    ("len = lambda x: 5\ndel len\ndel len", "1"),
    ("del len", "1"),
    ("from decimal import (Decimal, getcontext\n    as ctx)\nctx().prec = 3", "Decimal(1) / 7"),
    ("import decimal\ngetattr(decimal, 'get' + 'context')().prec = 3", "decimal.Decimal(1) / 7"),
    ("from decimal import (Decimal, getcontext,\n    ROUND_UP)", "Decimal(1) / 7"),
    ("y = 3\ndel y", "y"),
    ("try:\n    del zip\nexcept NameError:\n    zip = 7", "zip"),
    ("try:\n    raise ValueError\nexcept ValueError as len:\n    pass", "len('ab')"),
]


def ours(binary, lift, body, shown):
    """The function's result, else the first line of the error."""
    script = (f"SET exuvia.lift = {lift};\nCREATE FUNCTION f(x BIGINT) RETURNS TEXT LANGUAGE python AS $$\n"
              f"{body}\n\ndef f(x):\n    return str({shown})\n$$;\nSELECT f(3) AS r;")
    ran = subprocess.run([binary, "--format", "json", "-c", script], capture_output=True, text=True)
    return json.loads(ran.stdout)[0]["r"] if ran.stdout else ran.stderr.splitlines()[0]


def pythons(body, shown):
    """The same of CPython by itself."""
    program = f"{body}\n\ndef f(x):\n    return str({shown})\n\nprint(f(3))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return ran.stdout.rstrip("\n") or ran.stderr.splitlines()[-1]


def main():
    binary = (sys.argv[1:] or ["exuvia"])[0]
    failed = 0
    for body, shown in CASES:
        expected = pythons(body, shown)
        for lift in ("on", "off"):
            found = ours(binary, lift, body, shown)
            if found != expected and not (found.startswith("error") and found.endswith(expected)):
                failed += 1
                print(f"{body}\n{shown}: {found}, not {expected}, where exuvia.lift is {lift}")
    print(f"{2 * len(CASES) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 1))
