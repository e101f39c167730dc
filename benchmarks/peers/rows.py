"""The contenders that run one function over columns in memory.

Each takes a function and its columns and prepares itself (conversions to the engine's own
tables, registration, compilation); what it returns is then timed, and its result is held
in memory in the form that is natural for it. `values` turns such a result into a list.
"""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import sqltypes
from datafusion import SessionConfig, SessionContext, udf


def plain_loop(function, columns):
    """The loop itself, over lists that are already Python objects: the policies are
    written into it, so that nothing is called but the function."""
    call, strict, quiet = function.call, function.strict, function.on_error_null

    def one_strict(column):
        out = []
        for value in column:
            out.append(None if value is None else call(value))
        return out

    def one_quiet(column):
        out = []
        for value in column:
            try:
                out.append(call(value))
            except Exception:
                out.append(None)
        return out

    def one_plain(column):
        return [call(value) for value in column]

    def many_strict(*columns):
        out = []
        for values in zip(*columns):
            out.append(None if None in values else call(*values))
        return out

    def many_quiet(*columns):
        out = []
        for values in zip(*columns):
            try:
                out.append(call(*values))
            except Exception:
                out.append(None)
        return out

    def many_plain(*columns):
        return [call(*values) for values in zip(*columns)]

    if strict and quiet:
        guarded = function.guarded()
        return (lambda column: [guarded(value) for value in column]) if len(columns) == 1 else (
            lambda *columns: [guarded(*values) for values in zip(*columns)]
        )
    if len(columns) == 1:
        return one_strict if strict else one_quiet if quiet else one_plain
    return many_strict if strict else many_quiet if quiet else many_plain


def loop(function, columns):
    """CPython over lists of Python objects."""
    body = plain_loop(function, columns)
    lists = [column.to_pylist() for column in columns]
    return lambda: body(*lists)


def loop_arrow(function, columns):
    """The same from Arrow columns and to an Arrow column, a batch at a time, as an engine
    that calls CPython must do."""
    body = plain_loop(function, columns)
    to = sqltypes.arrow(function.returns)
    batches = [list(batch.itercolumns()) for batch in pa.table(
        columns, names=[str(index) for index in range(len(columns))]
    ).to_batches(8192)]

    def run():
        return pa.chunked_array(
            [pa.array(body(*[column.to_pylist() for column in batch]), type=to) for batch in batches]
        )

    return run


def pandas_apply(function, columns):
    """`Series.apply`, or `Series.map` that leaves out missing values where the function is
    STRICT; `DataFrame.apply` by rows where it has several parameters."""
    quiet = function.on_error_null
    call = function.call
    if len(columns) == 1:
        nested = pa.types.is_nested(columns[0].type)
        # Lists and dicts, not arrays of NumPy's.
        series = pd.Series(columns[0].to_pylist(), dtype=object) if nested else columns[0].to_pandas()
        if series.dtype != "float64":
            series = series.astype(object)
            series[series.isna()] = None
        if function.strict:
            wrapped = function.guarded() if quiet else call
            return lambda: series.map(wrapped, na_action="ignore")
        return lambda: series.apply(function.guarded())
    names = [str(index) for index in range(len(columns))]
    frame = pd.DataFrame({name: pd.Series(column.to_pylist(), dtype=object) for name, column in zip(names, columns)})
    guarded = function.guarded()
    return lambda: frame.apply(lambda row: guarded(*row), axis=1)


def polars_map_elements(function, columns):
    """`map_elements` with the function as it is; a wrapper only where it may raise."""
    to = sqltypes.polars(function.returns)
    if len(columns) == 1:
        series = pl.Series(pl.from_arrow(columns[0]))
        wrapped = function.guarded() if function.on_error_null else function.call
        skip = function.strict or function.on_error_null
        return lambda: series.map_elements(wrapped, return_dtype=to, skip_nulls=skip)
    names = [str(index) for index in range(len(columns))]
    frame = pl.DataFrame({name: pl.from_arrow(column) for name, column in zip(names, columns)})
    guarded = function.guarded()
    packed = pl.struct(names)

    def run():
        return frame.select(
            packed.map_elements(lambda row: guarded(*row.values()), return_dtype=to, skip_nulls=False)
        ).to_series()

    return run


def duckdb_table(columns):
    """A DuckDB with one thread and the columns in a table of its own."""
    connection = duckdb.connect(config={"threads": 1})
    names = [f"c{index}" for index in range(len(columns))]
    source = pa.table([plain(column) for column in columns], names=names)
    connection.register("source", source)
    connection.execute("CREATE TABLE memory AS SELECT * FROM source")
    connection.unregister("source")
    return connection, names


def plain(column):
    """Text in the layout that every engine knows."""
    ty = sqltypes.plain(column.type)
    return column if ty == column.type else column.cast(ty)


def create_duckdb_native(connection, function, call, null_handling):
    """Makes a UDF that is called a row at a time."""
    connection.create_function(
        function.name,
        call,
        [sqltypes.duckdb(ty) for ty in function.params],
        sqltypes.duckdb(function.returns),
        type="native",
        null_handling=null_handling,
        exception_handling="return_null" if function.on_error_null else "default",
    )


def create_duckdb_arrow(connection, function):
    """Makes a UDF over Arrow columns, with the loop inside."""
    names = [f"c{index}" for index in range(len(function.params))]
    # DuckDB counts the parameters of what it is given.
    call = eval(
        f"lambda {', '.join(names)}: array(body({', '.join(name + '.to_pylist()' for name in names)}), type=to)",
        {"array": pa.array, "body": plain_loop(function, names), "to": sqltypes.arrow(function.returns)},
    )
    connection.create_function(
        function.name,
        call,
        [sqltypes.duckdb(ty) for ty in function.params],
        sqltypes.duckdb(function.returns),
        type="arrow",
        null_handling="special",
    )


def duckdb_native(function, columns):
    """A Python UDF of DuckDB, called a row at a time."""
    connection, names = duckdb_table(columns)
    query = f"SELECT {function.name}({', '.join(names)}) AS result FROM memory"
    run = lambda: connection.sql(query).to_arrow_table()["result"]

    if function.strict or len(columns) == 1:
        create_duckdb_native(connection, function, function.call, "default")
        try:
            run()
            return run
        except duckdb.InvalidInputException:
            # With the default treatment of NULL a function must not return None.
            connection.remove_function(function.name)
    call = function.guarded() if function.strict else function.call
    create_duckdb_native(connection, function, call, "special")
    return run


def duckdb_arrow(function, columns):
    """A Python UDF of DuckDB over Arrow columns, with the loop inside."""
    connection, names = duckdb_table(columns)
    create_duckdb_arrow(connection, function)
    query = f"SELECT {function.name}({', '.join(names)}) AS result FROM memory"
    return lambda: connection.sql(query).to_arrow_table()["result"]


def datafusion_udf(function, columns):
    """A scalar UDF of datafusion-python: Arrow columns, with the loop inside."""
    context = SessionContext(SessionConfig().with_target_partitions(1))
    names = [f"c{index}" for index in range(len(columns))]
    table = pa.table(columns, names=names)
    context.register_record_batches("memory", [table.to_batches(8192)])
    body = plain_loop(function, columns)
    to = sqltypes.arrow(function.returns)
    call = udf(
        lambda *columns: pa.array(body(*[column.to_pylist() for column in columns]), type=to),
        [column.type for column in columns],
        to,
        "immutable",
        function.name,
    )
    context.register_udf(call)
    query = f"SELECT {function.name}({', '.join(names)}) AS result FROM memory"
    return lambda: pa.chunked_array(
        [batch.to_pyarrow().column(0) if hasattr(batch, "to_pyarrow") else batch.column(0)
         for batch in context.sql(query).collect()], type=to
    )


def numba_njit(function, columns):
    """Numba, given the function as it is written and its input already in Numba's own
    containers; rows with NULL, which these cannot hold, are left out beforehand."""
    import numba

    call = with_compiled_callees(function.call, numba)
    lists = [column.to_pylist() for column in columns]
    rows = [values for values in zip(*lists) if None not in values]
    typed = []
    for index, ty in enumerate(function.params):
        values = [row[index] for row in rows]
        if ty == "TEXT":
            column = numba.typed.List.empty_list(numba.types.unicode_type)
            for value in values:
                column.append(value)
        else:
            column = np.array(values, dtype=np.int64 if ty == "BIGINT" else np.float64)
        typed.append(column)
    out_type = numba.types.unicode_type if function.returns == "TEXT" else numba.types.int64
    if function.returns == "DOUBLE":
        out_type = numba.types.float64
    optional = numba.types.Optional(out_type)
    zero = "" if function.returns == "TEXT" else 0
    quiet = function.on_error_null
    names = ", ".join(f"c{index}" for index in range(len(columns)))
    items = ", ".join(f"c{index}[i]" for index in range(len(columns)))
    body = f"value = call({items})"
    source = [f"def run({names}):", " out = List.empty_list(ty)", " missing = np.zeros(len(c0), np.bool_)",
              " for i in range(len(c0)):", "  result = zero", "  good = True"]
    if quiet:
        source += ["  try:", f"   {body}", "   if value is None:", "    good = False", "   else:", "    result = value",
                   "  except Exception:", "   good = False"]
    else:
        source += [f"  {body}", "  if value is None:", "   good = False", "  else:", "   result = value"]
    source += ["  out.append(result)", "  missing[i] = not good", " return out, missing"]
    scope = {"List": numba.typed.List, "ty": out_type, "np": np, "call": call, "zero": zero, "optional": optional}
    exec("\n".join(source), scope)
    compiled = numba.njit(scope["run"])
    compiled(*typed)
    index = [None not in values for values in zip(*lists)]
    # A result of Numba goes back to the places of its rows when it is compared.
    return lambda: NumbaResult(*compiled(*typed), index)


class NumbaResult:
    """What a compiled loop gives, and which rows it was given."""

    def __init__(self, values, missing, given):
        self.values, self.missing, self.given = values, missing, given

    def to_pylist(self):
        """The results in the places of their rows."""
        pairs = zip(self.values, self.missing)
        values = iter([None if missing else value for value, missing in pairs])
        return [next(values) if given else None for given in self.given]


def with_compiled_callees(call, numba):
    """The function compiled, and before it the functions of its module that it names:
    what a user would do by decorating each."""
    scope = dict(call.__globals__)
    for name in call.__code__.co_names:
        value = scope.get(name)
        if callable(value) and hasattr(value, "__code__"):
            scope[name] = with_compiled_callees(value, numba)
    copy = type(call)(call.__code__, scope, call.__name__, call.__defaults__, call.__closure__)
    return numba.njit(copy)


CONTENDERS = {
    "loop": loop,
    "loop arrow": loop_arrow,
    "pandas apply": pandas_apply,
    "polars map_elements": polars_map_elements,
    "duckdb native": duckdb_native,
    "duckdb arrow": duckdb_arrow,
    "datafusion-python": datafusion_udf,
    "numba": numba_njit,
}


def values(result, returns):
    """A result as a list of Python objects of the declared type."""
    if isinstance(result, list):
        out = result
    elif isinstance(result, pd.Series):
        out = [None if value is None or value is pd.NA or value != value else value for value in result.tolist()]
    elif isinstance(result, pl.Series):
        out = result.to_list()
    else:
        out = result.to_pylist()
    if returns == "BIGINT":
        # pandas makes numbers with missing ones into floats.
        return [None if value is None else int(value) for value in out]
    return out
