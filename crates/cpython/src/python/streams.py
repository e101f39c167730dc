"""Runs a handler over streams of Arrow batches: tables, whole columns, iterators.

A `port` is the way to the engine: `pull(input)` gives the next batch of an input or None,
`push(batch)` hands a batch of the result over, `scalars()` gives the scalar arguments, `fields`
describes the declared result, `convert(values, field)` makes an Arrow column of Python objects
by the rules of row functions. What becomes of a DataFrame follows from `Table.to_pandas()` and
`pandas.Series` to Arrow; both are pyarrow's.
"""

import sys
import typing

import exuvia_arguments as arguments

COLUMNS, ITERATOR, TABLE, ROWS = 2, 3, 4, 5


class Misfit(Exception):
    """A result that its declaration cannot hold."""


def require_pyarrow():
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError as error:
        raise ImportError(
            f"tables and columns reach Python through pyarrow, which cannot be imported ({error}); "
            "install it beside pandas: pip install pyarrow pandas"
        ) from None
    return pyarrow


def run(form, handler, port, parameters):
    """Runs a handler of a form; parameters: of each its name and whether it is a table."""
    pa = require_pyarrow()
    output = Output(pa, port)
    if form == TABLE:
        table(pa, handler, port, parameters, output)
    else:
        hints = arguments.hints_of(handler)
        if form == ITERATOR:
            iterator(pa, handler, port, parameters, arguments.hint(hints, 0), output)
        else:
            shapes = [column_shape(arguments.hint(hints, index), port.dtypes[index]) for index in range(len(parameters))]
            columns(pa, handler, port, parameters, shapes, output)


# Tables


def read(pa, port, index):
    """An input as a table."""
    schema = pa.schema(port.schema(index))
    batches = []
    while (batch := port.pull(index)) is not None:
        batches.append(pa.record_batch(batch))
    table = pa.Table.from_batches(batches, schema)
    # What lists and structs become depends on the NULLs of their chunk: batches must not show.
    for position, field in enumerate(schema):
        if pa.types.is_nested(field.type) and table.column(position).num_chunks > 1:
            table = table.set_column(position, field, table.column(position).combine_chunks())
    return table


def frame_of(table):
    """`Table.to_pandas()`, in memory that the function may write into."""
    frame = table.to_pandas()
    # A lone column of its dtype may be the Arrow buffer itself, which is read-only.
    for position, column in enumerate(table.columns):
        if column.num_chunks == 1 and not column.null_count and frame.dtypes.iloc[position].kind in "iufmM":
            frame = frame.copy()
            break
    return frame


def table(pa, handler, port, parameters, output):
    scalars = iter(port.scalars())
    index = 0
    hints = arguments.hints_of(handler)
    given = []
    for position, (_, is_table) in enumerate(parameters):
        if not is_table:
            given.append(next(scalars))
            continue
        whole = read(pa, port, index)
        index += 1
        as_arrow = arguments.shape_of(arguments.hint(hints, position))[0] == "table"
        given.append(whole if as_arrow else frame_of(whole))
        del whole
    result = handler(*given)
    del given
    if hasattr(result, "__next__"):
        parts(result, port, output)
    else:
        output.emit(result)
    output.end()


# Rows of large texts and lists make smaller batches: the bytes that a batch has, by every so many of its rows.
BATCH_BYTES = 32 << 20
LOOKS = 16


def size_of(part):
    """The bytes of a row's texts and lists, at least 1, with eight for each item of a list."""
    values = part.values() if isinstance(part, dict) else part if isinstance(part, (tuple, list)) else (part,)
    size = 1
    for value in values:
        if isinstance(value, (str, bytes)):
            size += len(value)
        elif isinstance(value, (tuple, list)):
            size += 8 * len(value)
    return size


def parts(result, port, output):
    """Hands over what a generator yields: tables, or rows of one, which are tuples or dicts."""
    rows = []
    most = port.batch_rows
    for part in result:
        if is_row(part, output):
            if len(rows) % LOOKS == 0:
                most = min(most, max(BATCH_BYTES // size_of(part), 1))
            rows.append(part)
            if len(rows) < most:
                continue
        if rows:
            output.emit(rows)
            rows = []
            most = port.batch_rows
        if not is_row(part, output):
            output.emit(part)
    if rows:
        output.emit(rows)


def is_row(part, output):
    """Whether what was yielded is a row: a tuple, or a dict whose values are single ones where the
    declared columns are."""
    if not isinstance(part, dict):
        return isinstance(part, tuple)
    nested = {field.name for field in output.fields or () if output.pa.types.is_nested(field.type)}
    return is_record({name: value for name, value in part.items() if name not in nested} or {None: None})


def is_record(value):
    """Whether a dict has single values, and is a row; else it has columns."""
    return bool(value) and not any(hasattr(item, "__len__") and not isinstance(item, (str, bytes)) or hasattr(item, "index")
                                   and hasattr(item, "dtype") for item in value.values())


class Output:
    """The declared result, or what the function gives where nothing is declared."""

    def __init__(self, pa, port):
        self.pa, self.port = pa, port
        # The type of each as pyarrow has it, its name in SQL, and whether it may be NULL.
        schema = None if port.output is None else pa.schema(port.output)
        self.fields = None if schema is None else list(schema)
        self.pushed = False
        # The columns of a sample are all that there may be.
        self.sampled = bool(self.fields) and any(b"exuvia:sampled" in (field.metadata or {}) for field in self.fields)

    def emit(self, result):
        """Hands a table over."""
        table = self.table_of(result)
        for batch in table.to_batches(max_chunksize=self.port.batch_rows):
            if batch.num_rows:
                self.pushed = True
                self.port.push(batch)
        if not self.pushed and self.fields is None:
            self.pushed = True
            self.port.push(self.pa.RecordBatch.from_pylist([], schema=table.schema))

    def end(self):
        if not self.pushed and self.fields is None:
            raise Misfit("it gave no table, so that its columns are not known; declare RETURNS TABLE (…)")

    def table_of(self, result):
        pa = self.pa
        if result is None:
            raise Misfit("it returned None; a table function returns a DataFrame, a Series, a value or a list of rows")
        if isinstance(result, pa.RecordBatch):
            result = pa.Table.from_batches([result])
        if isinstance(result, pa.Table):
            # Before anything reads what the user may have told pyarrow not to check.
            result.validate(full=True)
            columns = {name: [result.column(i)] for i, name in enumerate(result.column_names)}
            return self.by_name(columns, result.column_names, len(result))
        pd = sys.modules.get("pandas")
        if pd is not None and isinstance(result, pd.DataFrame):
            return self.of_frame(result)
        if pd is not None and isinstance(result, pd.Series):
            return self.of_series(result)
        if pd is not None and isinstance(result, pd.Index):
            return self.of_series(result.to_series(index=range(len(result))))
        if type(result).__module__.partition(".")[0] == "polars" and hasattr(result, "to_arrow"):
            return self.table_of(result.to_arrow() if hasattr(result, "columns") else pa.table([result.to_arrow()], names=[result.name or "value"]))
        np = sys.modules.get("numpy")
        if np is not None and isinstance(result, np.ndarray) and result.ndim:
            return self.of_array(result)
        if isinstance(result, dict):
            import pandas as pd

            return self.of_rows([result]) if is_record(result) else self.of_frame(pd.DataFrame(result))
        if isinstance(result, (list, tuple)):
            if all(isinstance(row, (list, tuple, dict)) for row in result):
                return self.of_rows(result)
            if self.fields is not None and len(self.fields) == 1:
                return self.pa.table([self.objects(list(result), 0)], schema=self.schema())
        return self.of_scalar(result)

    def of_frame(self, frame):
        labels = list(frame.columns)
        columns = {}
        for position, label in enumerate(labels):
            columns.setdefault(label, []).append(frame.iloc[:, position])
        levels = []
        for level, name in enumerate(frame.index.names):
            if name is None or name in columns:
                continue
            levels.append(name)
            columns[name] = [frame.index.get_level_values(level).to_series(index=frame.index)]
        return self.by_name(columns, levels + labels, len(frame))

    def of_series(self, series):
        named = [name for name in series.index.names if name is not None]
        name = series.name
        if self.fields is not None:
            free = [field.name for field in self.fields if field.name not in named]
            if len(self.fields) == 1:
                name = self.fields[0].name
            elif name is None or not any(same(field, name) for field in free):
                name = free[0] if len(free) == 1 else name
        elif name is None:
            name = "value"
        return self.of_frame(series.to_frame(name))

    def of_array(self, array):
        pd = __import__("pandas")
        if array.dtype.names:
            return self.of_frame(pd.DataFrame(array))
        if array.ndim > 2:
            raise Misfit(f"it returned an array of rank {array.ndim}; a table has rank 2")
        if array.ndim == 1:
            array = array[:, None] if len(array) or self.fields is None else array.reshape(0, len(self.fields))
        if self.fields is None:
            raise Misfit("it returned an array, which has no column names; declare RETURNS TABLE (…)")
        if array.shape[1] != len(self.fields):
            raise Misfit(f"it returned an array of {array.shape[1]} columns, and {len(self.fields)} are declared")
        frame = pd.DataFrame(array, columns=[field.name for field in self.fields])
        return self.of_frame(frame)

    def of_rows(self, rows):
        if self.fields is None:
            pd = __import__("pandas")
            return self.of_frame(pd.DataFrame(rows))
        return self.pa.table([self.objects([row_item(row, field.name, position, len(self.fields)) for row in rows], position)
                              for position, field in enumerate(self.fields)], schema=self.schema())

    def of_scalar(self, value):
        pd = __import__("pandas")
        name = "value" if self.fields is None else self.fields[0].name
        if self.fields is not None and len(self.fields) != 1:
            raise Misfit(f"it returned {shown(value)} of type {type(value).__name__}, and "
                         f"{len(self.fields)} columns are declared: {self.names()}")
        if self.fields is None:
            return self.of_frame(pd.DataFrame({name: [value]}))
        # Of a list a Series would make rows.
        column = self.objects([value], 0) if isinstance(value, (list, tuple, dict)) else self.column(pd.Series([value]), 0)
        return self.pa.table([column], schema=self.schema())

    def schema(self):
        return self.pa.schema(self.fields)

    def names(self):
        return ", ".join(field.name for field in self.fields)

    def by_name(self, columns, order, rows):
        """The declared columns of those that there are, or all in this order."""
        if self.fields is None:
            arrays, names = [], []
            for label in order:
                if not isinstance(label, str):
                    raise Misfit(f"its column {label!r} has no name that is text; rename it, or declare RETURNS TABLE (…)")
                if len(columns[label]) > 1:
                    raise Misfit(f"it has several columns {label!r}")
                names.append(label)
                arrays.append(self.inferred(label, columns[label][0]))
            if not names:
                raise Misfit("its result has no columns")
            return self.pa.table(arrays, names=names)
        arrays = []
        if self.sampled:
            for label in order:
                if not any(field.name == label for field in self.fields):
                    raise Misfit(f"its result has the column {label}, which it had not for the first rows of its tables; "
                                 "declare RETURNS TABLE (…)")
        for position, field in enumerate(self.fields):
            found = columns.get(field.name)
            if found is None:
                close = [label for label in columns if same(field.name, label)]
                if len(close) > 1:
                    raise Misfit(f"its result has several columns {field.name}: {', '.join(close)}")
                found = columns[close[0]] if close else None
            if found is None:
                have = ", ".join(str(label) for label in order) or "none"
                raise Misfit(f"its result has no column {field.name}; it has {have}")
            if len(found) > 1:
                raise Misfit(f"its result has several columns {field.name}")
            arrays.append(self.column(found[0], position))
        return self.pa.table(arrays, schema=self.schema())

    def inferred(self, label, series):
        pa = self.pa
        try:
            array = series if isinstance(series, (pa.Array, pa.ChunkedArray)) else pa.array(series, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise Misfit(f"its column {label} of dtype {series.dtype} has values of several types ({error}); "
                         "declare RETURNS TABLE (…)") from None
        if pa.types.is_dictionary(array.type):
            array = array.cast(array.type.value_type)
        if pa.types.is_null(array.type):
            raise Misfit(f"the type of its column {label} is not known, since all its values are missing; "
                         "declare RETURNS TABLE (…)")
        return array

    def column(self, values, position, missing=True):
        """A Series, an ndarray or an Arrow array as the declared column; where `missing`, a
        float NaN is a missing value, which is NULL."""
        pa, field = self.pa, self.fields[position]
        array = None
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            array = values
        elif convertible(values.dtype):
            try:
                array = pa.array(values, from_pandas=missing)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
                # Such as sparse columns: value by value.
                array = None
        if array is not None:
            fitted = fit(pa, array, field.type)
            if fitted is not None:
                if not field.nullable and fitted.null_count:
                    raise Misfit(f"column {field.name} is declared NOT NULL, and a value of it is missing")
                return fitted
            if pa.types.is_dictionary(array.type):
                array = array.cast(array.type.value_type)
            # What fits together, as whole floats do, is not to blame.
            self.objects(first_misfit(pa, array, field.type).to_pylist(), position)
            if not missing or isinstance(values, (pa.Array, pa.ChunkedArray)):
                return self.objects(array.to_pylist(), position)
        items = list(values.astype(object)) if hasattr(values, "astype") else list(values)
        if missing:
            isna = __import__("pandas").isna
            items = [None if not isinstance(item, (list, tuple, dict, str)) and is_missing(isna, item) else item
                     for item in items]
        return self.objects(items, position)

    def objects(self, items, position):
        """Python objects as the declared column, by the rules of row functions."""
        return self.pa.record_batch(self.port.convert(items, position)).column(0)


def is_missing(isna, item):
    missing = isna(item)
    return missing is True or getattr(missing, "ndim", 1) == 0 and bool(missing)


def same(name, label):
    return isinstance(label, str) and name.lower() == label.lower()


def shown(value):
    try:
        text = repr(value)
    except Exception:
        text = f"<unprintable {type(value).__name__} object>"
    return text if len(text) <= 100 else text[:100] + "..."


def row_item(row, name, position, count):
    if isinstance(row, dict):
        if name not in row:
            raise Misfit(f"the row {shown(row)} has no {name}")
        return row[name]
    if len(row) != count:
        raise Misfit(f"the row {shown(row)} has {len(row)} values, and {count} columns are declared")
    return row[position]


def convertible(dtype):
    """Whether pyarrow knows the values from their dtype, without a look at each."""
    kind = getattr(dtype, "kind", "O")
    if kind in "biufmMU":
        return True
    # Strings, categories and the extension dtypes of pandas.
    return kind == "O" and type(dtype).__module__.startswith("pandas")


def fit(pa, array, wanted):
    """The array as the wanted type, where that loses nothing; else None."""
    types, compute = pa.types, pa.compute
    if types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    own = array.type
    if own == wanted:
        return array
    if types.is_null(own):
        return array.cast(wanted)
    try:
        if types.is_integer(own) and types.is_floating(wanted):
            return array.cast(wanted, safe=False)
        if types.is_floating(own) and types.is_floating(wanted):
            return array.cast(wanted, safe=False)
        if types.is_integer(own) and types.is_integer(wanted):
            return array.cast(wanted)
        if types.is_floating(own) and types.is_integer(wanted):
            # A float dtype stands for integers with gaps, if each is whole.
            return compute.if_else(compute.is_nan(array), None, array).cast(wanted)
        if is_text(types, own) and is_text(types, wanted) or is_bytes(types, own) and is_bytes(types, wanted):
            return array.cast(wanted)
        if types.is_timestamp(own) and types.is_timestamp(wanted) and (own.tz is None) == (wanted.tz is None):
            return array.cast(wanted)
        if types.is_timestamp(own) and own.tz is None and types.is_date(wanted):
            days = array.cast(wanted, safe=False)
            return days if days.cast(own).equals(array) else None
        if types.is_duration(own) and types.is_duration(wanted):
            return array.cast(wanted)
    except pa.ArrowInvalid:
        return None
    return None


def first_misfit(pa, array, wanted):
    """The first value, as an array, of an array that does not fit."""
    start, end = 0, len(array)
    while end - start > 1:
        middle = (start + end) // 2
        if fit(pa, array.slice(start, middle - start), wanted) is None:
            end = middle
        else:
            start = middle
    return array.slice(start, end - start)


def is_text(types, own):
    return types.is_string(own) or types.is_large_string(own) or types.is_string_view(own)


def is_bytes(types, own):
    return types.is_binary(own) or types.is_large_binary(own) or types.is_binary_view(own)


# Columns


def column_shape(hint, dtype):
    """How a parameter gets its column: `arguments.Values`, or None for one value."""
    shape, own = arguments.shape_of(hint)
    if shape in ("series", "ndarray", "arrow"):
        return arguments.Values(shape, dtype, own)
    if shape == "frame":
        return "frame"
    return None


def argument(pa, port, column, position, shape, name):
    """A column of a batch as an argument."""
    if shape is None:
        # A parameter that is not annotated as a column takes the one value that all rows have.
        try:
            several = len(pa.compute.unique(column)) != 1
        except pa.ArrowNotImplementedError:
            items = column.to_pylist()
            several = any(item != items[0] for item in items)
        if several:
            raise Misfit(f"the parameter {name} takes one value, and the rows have several; annotate it as pd.Series "
                         "to take them all")
        return port.value(position)
    if shape == "frame":
        return pa.Table.from_struct_array(column).to_pandas()
    return shape.of(column)


def columns(pa, handler, port, parameters, shapes, output):
    """One call for each batch."""
    while (batch := port.pull(0)) is not None:
        batch = pa.record_batch(batch)
        rows = batch.num_rows
        given = [argument(pa, port, batch.column(position), position, shape, parameters[position][0])
                 for position, shape in enumerate(shapes)]
        result = handler(*given)
        del given
        port.push(pa.record_batch([column_of(pa, result, rows, output)], schema=output.schema()))


def column_of(pa, result, rows, output):
    """A result as the declared column, of the right length if `rows` says which."""
    pd, np = sys.modules.get("pandas"), sys.modules.get("numpy")
    if isinstance(result, (pa.Array, pa.ChunkedArray)):
        # Before anything reads what the user may have told pyarrow not to check.
        result.validate(full=True)
    if isinstance(result, pa.ChunkedArray):
        result = result.combine_chunks()
    if pd is not None and isinstance(result, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        result = aligned(pd, result)
        array = lambda: output.column(pd.Series(result, copy=False), 0)
    elif pd is not None and isinstance(result, pd.DataFrame):
        array = lambda: output.objects(result.to_dict("records"), 0)
    elif isinstance(result, pa.Array):
        array = lambda: output.column(result, 0)
    elif np is not None and isinstance(result, np.ndarray) and result.ndim:
        array = lambda: output.column(result, 0, missing=False) if result.ndim == 1 else output.objects(result.tolist(), 0)
    elif isinstance(result, (list, tuple)):
        array = lambda: output.objects(list(result), 0)
    elif type(result).__module__.partition(".")[0] == "polars" and hasattr(result, "to_arrow"):
        array = lambda: output.column(result.to_arrow(), 0)
    else:
        raise Misfit(f"it returned {shown(result)} of type {type(result).__name__}, and a column function returns a "
                     "value for each row; for one value a group, annotate the result, as in `-> float`")
    if rows is not None and len(result) != rows:
        raise Misfit(f"it returned {len(result)} values for {rows} rows")
    array = array()
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def aligned(pd, result):
    """A Series whose labels are those of the rows in another order, in the order of the rows,
    as an assignment to a column of the frame would put it."""
    if not isinstance(result, pd.Series):
        return result
    rows = pd.RangeIndex(len(result))
    index = result.index
    if index.dtype.kind == "i" and index.is_unique and not index.equals(rows) and len(index.difference(rows)) == 0:
        return result.reindex(rows)
    return result


def iterator(pa, handler, port, parameters, hint, output):
    """One call for the whole stream: `(Iterator[pd.Series]) -> Iterator[pd.Series]`, or of
    tuples of Series where there are several parameters."""
    first = port.pull(0)
    if first is None:
        # Without rows there is nothing to call for.
        return
    item = next(iter(typing.get_args(hint)), None)
    items = typing.get_args(item) if typing.get_origin(item) is tuple else (item,) * len(parameters)
    shapes = []
    for position in range(len(parameters)):
        asked, own = arguments.shape_of(items[position] if position < len(items) else None)
        shape = asked if asked in ("ndarray", "arrow") else "series"
        shapes.append(arguments.Values(shape, port.dtypes[position], own))

    def batches():
        batch = first
        while batch is not None:
            columns = pa.record_batch(batch).columns
            given = tuple(shape.of(column) for shape, column in zip(shapes, columns))
            yield given[0] if len(given) == 1 else given
            batch = port.pull(0)

    result = handler(batches())
    if not hasattr(result, "__iter__"):
        raise Misfit(f"it returned {shown(result)} of type {type(result).__name__}, and not an iterator")
    for column in result:
        port.push(pa.record_batch([column_of(pa, column, None, output)], schema=output.schema()))
