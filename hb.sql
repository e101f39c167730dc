CREATE TABLE t AS SELECT arrow_cast(value,'Int64') AS n, 'x' AS s FROM generate_series(0, 1) AS g(value);
CREATE FUNCTION h0(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __eq__(self, other):
        return self.x == other.x
def f(s, n):
    return str({B(n): 1}[B(n)])
$$;
SELECT h0(s,n) FROM t;
CREATE FUNCTION h1(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __eq__(self, other):
        return self.x == other.x
def f(s, n):
    return str(hash(B(n)))
$$;
SELECT h1(s,n) FROM t;
CREATE FUNCTION h2(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __eq__(self, other):
        return self.x == other.x
def f(s, n):
    d = {}
    d[B(n)] = 1
    return str(len(d))
$$;
SELECT h2(s,n) FROM t;
CREATE FUNCTION h3(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __eq__(self, other):
        return self.x == other.x
def f(s, n):
    try:
        return str({B(n): 1}[B(n)])
    except Exception as e:
        return str(e)
$$;
SELECT h3(s,n) FROM t;
CREATE FUNCTION h4(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __init__(self, x):
        self.x = x + 1
def f(s, n):
    return str(len({A(n)} | {B(n - 1)}))
$$;
SELECT h4(s,n) FROM t;
CREATE FUNCTION h5(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __init__(self, x):
        self.x = x + 1
def f(s, n):
    d = {}
    for at in range(3):
        d[A(at)] = at
        d[B(at)] = -at
    return str(list(d.values()))
$$;
SELECT h5(s,n) FROM t;
CREATE FUNCTION h6(s TEXT, n BIGINT) RETURNS TEXT LANGUAGE python OPTIONS (on_error 'null') AS $$
class A:
    def __init__(self, x):
        self.x = x
    def __eq__(self, other):
        return self.x == other.x
    def __hash__(self):
        return hash(self.x)
class B(A):
    def __init__(self, x):
        self.x = x + 1
def f(s, n):
    d = {}
    d[A(n)] = n
    d[B(n)] = -n
    return str(list(d.values()))
$$;
SELECT h6(s,n) FROM t;
SELECT name, placement, reason FROM exuvia.functions;
