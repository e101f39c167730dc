CREATE FUNCTION q00(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
def f(n):
    return (0,) * n if False else tuple([0] * n)
$$;
CREATE FUNCTION q01(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
def f(n):
    return str((0,) * n)
$$;
CREATE FUNCTION q02(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
def f(n):
    return str([0] * n)
$$;
CREATE FUNCTION q03(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(sorted(set(x * 0.5 for x in l)))
$$;
CREATE FUNCTION q04(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str({1: "a", 2: "b"}.get(l[0] / 2))
$$;
CREATE FUNCTION q05(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return '%.*f' % (2, float(len(s)))
$$;
CREATE FUNCTION q06(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python AS $$
def f(s, n):
    return f'{s:>{n}}'
$$;
CREATE FUNCTION q07(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python AS $$
def f(s, n):
    return f'{n:0{len(s)}d}'
$$;
CREATE FUNCTION q08(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import re
def f(s):
    return re.sub(r'(?i)(a)\1', 'x', s)
$$;
CREATE FUNCTION q09(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return str(bytearray(s.encode())[0:2])
$$;
CREATE FUNCTION q10(s TEXT) RETURNS TEXT LANGUAGE python AS $$
X = {"a": 1}
X |= {"b": 2}
def f(s):
    return X.get(s, 0)
$$;
CREATE FUNCTION q11(s TEXT) RETURNS TEXT LANGUAGE python AS $$
X = [1]
X += [2]
X.append(3)
def f(s):
    return str(X)
$$;
CREATE FUNCTION q12(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
from functools import partial
FS = [partial(pow, 2), lambda x: x + 1]
def f(l):
    return str(list(map(lambda f: f(l[0]), FS)))
$$;
CREATE FUNCTION q13(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(max(l, default=None))
$$;
CREATE FUNCTION q14(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str([*range(5)][::-1][:len(l)])
$$;
CREATE FUNCTION q15(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(list(range(len(l)))[::-1])
$$;
CREATE FUNCTION q16(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(list(range(len(l))[::-1]))
$$;
CREATE FUNCTION q17(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(range(10).index(l[0]))
$$;
CREATE FUNCTION q18(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(list(reversed(l)))
$$;
CREATE FUNCTION q19(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
def f(l):
    return str(list(zip(l, l[1:], l[2:])))
$$;
CREATE FUNCTION q20(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return str(dict(zip(s, range(len(s)))))
$$;
CREATE FUNCTION q21(s TEXT) RETURNS TEXT LANGUAGE python AS $$
from collections import Counter
def f(s):
    return str(Counter(s).most_common(2))
$$;
CREATE FUNCTION q22(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return str(sorted(s.split(), key=lambda w: (-len(w), w)))
$$;
CREATE FUNCTION q23(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return '%s ' * 2 % (s, s)
$$;
CREATE FUNCTION q24(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import unicodedata
def f(s):
    return str(unicodedata.name(s[0], ''))
$$;
CREATE FUNCTION q25(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import unicodedata
def f(s):
    return str(unicodedata.category(s[0]))
$$;
CREATE FUNCTION q26(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
from decimal import Decimal
def f(n):
    return str(Decimal(n).sqrt())
$$;
CREATE FUNCTION q27(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
from decimal import Decimal
def f(n):
    return str(max(Decimal(n), Decimal('1.5')))
$$;
CREATE FUNCTION q28(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
from decimal import Decimal
def f(n):
    return str(Decimal(n).max(Decimal(3)))
$$;
CREATE FUNCTION q29(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
from fractions import Fraction
def f(n):
    return str(Fraction(n, 3) + 1)
$$;
CREATE FUNCTION q30(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
import statistics
def f(l):
    return str(statistics.harmonic_mean(l))
$$;
CREATE FUNCTION q31(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
import statistics
def f(l):
    return str(statistics.fmean(l, l))
$$;
CREATE FUNCTION q32(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return str(s.__len__())
$$;
CREATE FUNCTION q33(s TEXT) RETURNS TEXT LANGUAGE python AS $$
from typing import NamedTuple
class P(NamedTuple):
    a: str
    b: str
def f(s):
    return str(P._make(s.split('-')[:2]))
$$;
CREATE FUNCTION q34(s TEXT) RETURNS TEXT LANGUAGE python AS $$
from typing import NamedTuple
class P(NamedTuple):
    a: str
    b: str
def f(s):
    return str(P(*s.split('-')[:2]))
$$;
CREATE FUNCTION q35(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo
def f(n):
    return str(datetime(2024,1,1,tzinfo=ZoneInfo('Europe/Berlin')) + timedelta(n))
$$;
CREATE FUNCTION q36(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return s.encode('latin-1', 'replace').decode('ascii', 'ignore')
$$;
CREATE FUNCTION q37(s TEXT) RETURNS TEXT LANGUAGE python AS $$
T = str.maketrans({"a": "b", "c": None})
def f(s):
    return s.translate(T)
$$;
CREATE FUNCTION q38(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import re
P = "[,;]"
def f(s):
    return str(re.split(P, s))
$$;
CREATE FUNCTION q39(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python AS $$
import re
def f(s, n):
    return str(re.findall(r'\d{%d}' % n, s))
$$;
CREATE FUNCTION q40(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python AS $$
import re
def f(s, n):
    return str(re.findall('a' * n, s))
$$;
CREATE FUNCTION q41(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return str(int(s, 36)) if s.isalnum() and s.isascii() else ''
$$;
CREATE FUNCTION q42(n BIGINT) RETURNS TEXT LANGUAGE python AS $$
import numpy as np
def f(n):
    return np.base_repr(n, 36)
$$;
CREATE FUNCTION q43(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import hashlib
def f(s):
    return hashlib.blake2b(s.encode()).hexdigest()
$$;
CREATE FUNCTION q44(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import hashlib
def f(s):
    return hashlib.sha256(s.encode()).hexdigest()[:8]
$$;
CREATE FUNCTION q45(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import zlib
def f(s):
    return str(zlib.crc32(s.encode()))
$$;
CREATE FUNCTION q46(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import json
def f(s):
    return str(json.loads(s)) if s.startswith('{') else ''
$$;
CREATE FUNCTION q47(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import textwrap
def f(s):
    return textwrap.shorten(s, 10)
$$;
CREATE FUNCTION q48(s TEXT) RETURNS TEXT LANGUAGE python AS $$
import difflib
def f(s):
    return str(difflib.get_close_matches(s, ['abc','abd']))
$$;
CREATE FUNCTION q49(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
import numpy as np
def f(l):
    return str(np.linalg.det(np.array([[1.0, 2.0],[3.0, float(l[0])]])))
$$;
CREATE FUNCTION q50(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
import functools
def f(l):
    return str(functools.reduce(lambda a, b: a | b, ({x} for x in l), set()))
$$;
CREATE FUNCTION q51(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
import itertools
def f(l):
    return str(any(a == b for a, b in itertools.pairwise(l)))
$$;
CREATE FUNCTION q52(l BIGINT[]) RETURNS TEXT LANGUAGE python AS $$
import itertools
def f(l):
    return str(list(itertools.batched(l, 2)))
$$;
CREATE FUNCTION q53(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return str(s.split()[0][0].upper() if s.split() else None)
$$;
CREATE FUNCTION q54(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return '{:{}}'.format(s, 10)
$$;
CREATE FUNCTION q55(s TEXT) RETURNS TEXT LANGUAGE python AS $$
def f(s):
    return '{0[1]}'.format(s) if len(s) > 1 else ''
$$;
CREATE FUNCTION q56(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python AS $$
def f(s, n):
    return str(divmod(n, len(s) or 1))
$$;
SELECT name, reason FROM exuvia.functions WHERE placement <> 'native' ORDER BY name;
