"""Tables: files of rows, read into a data frame or written whole."""

from __future__ import annotations

import csv
import io
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from anymetric.cli.faults import UserError, all_or_nothing, first_line, need
from anymetric.errors import MissingExtra

TEXT = {".csv": ",", ".tsv": "\t", ".txt": ",", ".data": ","}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}
COLUMNAR = {".parquet": "parquet", ".pq": "parquet", ".arrow": "feather", ".feather": "feather"}
KINDS = "CSV or TSV (also .gz, .bz2, .xz, .zip, .zst), Parquet, Arrow or Feather"
# How an Arrow file begins, and a Feather file of old; a stream begins otherwise.
FILED = (b"ARRO", b"FEA1")
SEPARATORS = ",;\t|"
# Readers take these for gaps; a label or a group may be called so.
WORDS = ("None", "NA", "N/A", "n/a")


def read_table(path: Path, words: Sequence[str] = ()) -> Any:
    """Return the rows of a file as a data frame with text for column names.

    In columns of `words`, labels and groups, a word such as None or NA is a word.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rows.csv").write_text("a;b\\n1;x\\n2;\\n")
    ...     table = read_table(Path(folder) / "rows.csv")
    >>> table.columns.tolist(), table.shape
    (['a', 'b'], (2, 2))
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder; a file was expected: {KINDS}.")
    reader, what = _reader(path, words)
    with open(path, "rb"):  # a file that is not there, or not ours to read, says so itself
        pass
    try:
        table = reader(path)
    except (MissingExtra, MemoryError, UserError):
        raise
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: save it as UTF-8, or as Parquet.") from error
    except Exception as error:  # readers raise what they like about a damaged file
        if type(error).__name__ == "EmptyDataError":
            raise UserError(f"{path} is empty.") from error
        message = f"{path} cannot be read as {what}: {first_line(error)}."
        raise UserError(message) from error
    return _checked(table, path)


def _reader(path: Path, words: Sequence[str] = ()) -> tuple[Any, str]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    if last in COLUMNAR:
        kind = COLUMNAR[last]
        need("pyarrow")
        reader = _read_arrow if kind == "feather" else need("pandas").read_parquet
        return reader, kind.capitalize()
    packed = PACKED.get(last)
    inner = suffixes[-2] if packed and len(suffixes) > 1 else last
    if packed or inner in TEXT:
        separator = TEXT.get(inner, ",")
        return lambda path: _read_text(path, packed, separator, words), "CSV"
    raise UserError(f"{path}: files may be {KINDS}; {last or 'no suffix'!r} is none of them.")


def _read_arrow(path: Path) -> Any:
    """Read an Arrow file, or an Arrow stream: both go by the same name."""
    with open(path, "rb") as raw:
        if raw.read(4) in FILED:
            return need("pandas").read_feather(path)
        raw.seek(0)
        return need("pyarrow.ipc").open_stream(raw).read_pandas()


def _read_text(path: Path, packed: str | None, separator: str, words: Sequence[str]) -> Any:
    pd = need("pandas")
    with _opened(path, packed) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        head = text.readline()
        rest = io.StringIO(head + text.read())
    if separator == ",":
        separator = separator_of(head)
    check_header(head, separator, path)
    numeric = pd.api.types.is_numeric_dtype
    # Where rows end in a separator, the first column must not be taken for their names.
    ways = {"sep": separator, "skipinitialspace": True, "low_memory": False, "index_col": False}
    with _every_field_named(path):
        table = pd.read_csv(rest, **ways)
    for name in words:
        gaps = name in table and table[name].isna()
        if np.any(gaps) and (np.all(gaps) or not numeric(table[name])):
            rest.seek(0)
            raw = pd.read_csv(rest, usecols=[name], dtype=str, keep_default_na=False, **ways)[name]
            table[name] = table[name].astype(object).where(~raw.isin(WORDS), raw)
    if separator != ";":
        return table
    # Where a semicolon stands between columns, a comma may stand in numbers.
    rest.seek(0)
    other = pd.read_csv(rest, decimal=",", **ways)
    numbers = [name for name in table if numeric(other[name]) and not numeric(table[name])]
    return table.assign(**{name: other[name] for name in numbers})


def check_header(head: str, separator: str, path: Path) -> None:
    """Refuse a header that names a column twice: a reader would call one of them otherwise.

    Examples
    --------
    >>> check_header("a,b,a", ",", Path("rows.csv"))
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: rows.csv has the column 'a' twice: rename one of them.
    """
    if head.count('"') % 2:  # a name that goes on in the next line
        return
    names = next(csv.reader([head], delimiter=separator, skipinitialspace=True), [])
    for place, name in enumerate(names):
        if name and name in names[:place]:
            raise UserError(f"{path} has the column {name!r} twice: rename one of them.")


@contextmanager
def _every_field_named(path: Path) -> Iterator[None]:
    """Refuse rows with more fields than the header has names, unless the last is always empty."""
    longer = need("pandas").errors.ParserWarning
    with warnings.catch_warnings():
        warnings.simplefilter("error", longer)
        try:
            yield
        except longer as error:
            raise UserError(
                f"{path} has more fields in its rows than names in its header: name every column."
            ) from error


@contextmanager
def _opened(path: Path, packed: str | None) -> Iterator[Any]:
    """Open a file for reading bytes, unpacked."""
    if packed == "zstd":
        pa = need("pyarrow")
        with pa.input_stream(str(path), compression="zstd") as raw:
            yield io.BytesIO(raw.read())
    elif packed == "zip":
        from zipfile import ZipFile

        with ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if len(names) != 1:
                raise UserError(f"{path} has {len(names)} files; one table was expected.")
            yield io.BytesIO(archive.read(names[0]))
    else:
        import bz2
        import gzip
        import lzma

        openers: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
        with openers.get(packed, open)(path, "rb") as raw:
            yield raw


def separator_of(head: str) -> str:
    """Return the separator that a header line uses, outside quotes.

    Examples
    --------
    >>> separator_of('"a,b";c;d'), separator_of("a")
    (';', ',')
    """
    bare = "".join(head.split('"')[::2])
    return max(SEPARATORS, key=bare.count)


def _checked(table: Any, path: Path) -> Any:
    pd = need("pandas")
    table.columns = [str(name) for name in table.columns]
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise UserError(f"{path} has the column {twice[0]!r} twice: rename one of them.")
    if not len(table):
        raise UserError(f"{path} has a header and no rows.")
    for name in table.columns:
        if pd.api.types.is_object_dtype(table[name].dtype):
            table[name] = _simple(table[name])
    return table.reset_index(drop=True)


def _simple(column: Any) -> Any:
    """Return a column of Python objects as numbers or text; lists and the like stay as they are."""
    from decimal import Decimal

    seen = {type(value) for value in column.dropna()}
    if any(map(nested, seen)):
        return column
    if seen == {Decimal}:
        return column.astype(float)
    if seen <= {bool}:
        return column.astype("boolean")
    # None stays missing.
    return column.map(str, na_action="ignore").astype("str")


def nested(kind: type) -> bool:
    """Whether values of a type are no single number and no text.

    Examples
    --------
    >>> nested(list), nested(str)
    (True, False)
    """
    return kind in (bytes, dict, list, set, tuple) or hasattr(kind, "__array__")


def check_plain(table: Any, columns: Iterable[str], name: str) -> None:
    """Refuse lists and the like in columns that are read; others may hold what they like.

    Examples
    --------
    >>> table = need("pandas").DataFrame({"x": [1], "tags": [["a", "b"]]})
    >>> check_plain(table, ["x"], "rows.parquet")
    >>> check_plain(table, ["x", "tags"], "rows.parquet")
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: Column 'tags' of rows.parquet holds list values: ...
    """
    for column in columns:
        if not need("pandas").api.types.is_object_dtype(table[column].dtype):
            continue
        for kind in {type(value) for value in table[column].dropna()}:
            if nested(kind):
                raise UserError(
                    f"Column {column!r} of {name} holds {kind.__name__} values: give a file in "
                    "which it is a number or text, or is left out."
                )


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a name to write to; only what was written to the end appears at `path`.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "a.txt") as scratch:
    ...         _ = scratch.write_text("all")
    ...     os.listdir(folder)
    ['a.txt']
    """
    if path.exists() and not path.is_file():  # a pipe or a device takes what it is given
        if path.is_dir():
            raise UserError(f"{path} is a folder; name a file in it.")
        with all_or_nothing():
            yield path
        return
    writable(path.parent)
    made = tempfile.TemporaryDirectory(prefix=".anymetric-", dir=path.parent)
    with all_or_nothing(), made as folder:
        scratch = Path(folder) / path.name
        yield scratch
        os.replace(scratch, path)


def check_out(path: Path, *inputs: Path | None) -> None:
    """Refuse, before any work, an output that cannot be written or would replace an input.

    Examples
    --------
    >>> check_out(Path("rows.csv"), Path("rows.csv"), None)
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: rows.csv is read, and would be overwritten: name another file.
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder; name a file in it.")
    writable(path.parent)
    if device(path):
        return
    if any(path.resolve() == one.resolve() for one in inputs if one is not None):
        raise UserError(f"{path} is read, and would be overwritten: name another file.")


def writable(folder: Path) -> None:
    """Refuse a folder that is not there or cannot be written to, before any work."""
    if not folder.is_dir():
        raise UserError(f"The folder {folder} does not exist: make it, or name another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UserError(f"The folder {folder} cannot be written to: name another.")


def device(path: Path) -> bool:
    """Return whether this is no file but something to write to, such as /dev/stdout."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_kind(path: Path) -> None:
    """Refuse a file whose name says no kind that tables are written in.

    Examples
    --------
    >>> check_kind(Path("scores.json"))
    Traceback (most recent call last):
    anymetric.cli.faults.UserError: scores.json: files may be ...; '.json' is none of them.
    """
    if device(path):
        return
    _reader(path)
    if path.suffix.lower() == ".zst":
        raise UserError(f"{path}: tables are not written as .zst; .gz will do.")


def write_table(table: Any, path: Path) -> None:
    """Write a data frame to a file, in the kind that its name says: CSV, TSV, Parquet or Arrow.

    Examples
    --------
    >>> pd = need("pandas")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pd.DataFrame({"a": [1]}), Path(folder) / "a.csv")
    ...     (Path(folder) / "a.csv").read_text()
    'a\\n1\\n'
    """
    check_kind(path)
    suffixes = [".csv"] if device(path) else [suffix.lower() for suffix in path.suffixes]
    with whole(path) as scratch:
        if suffixes[-1] in COLUMNAR:
            getattr(table, f"to_{COLUMNAR[suffixes[-1]]}")(scratch)
            return
        separator = TEXT.get(next((s for s in reversed(suffixes) if s in TEXT), ".csv"), ",")
        packed = PACKED.get(suffixes[-1])
        table.to_csv(scratch, index=False, sep=separator, compression=packed)
