"""Reading: files of rows as a data frame; text stays text until a schema reads it."""

from __future__ import annotations

import codecs
import csv
import io
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anymetric.cli.faults import UserError, first_line, need
from anymetric.errors import MissingExtra, import_extra

TEXT = {".csv": ",", ".tsv": "\t", ".txt": ",", ".data": ","}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}
COLUMNAR = {".parquet": "parquet", ".pq": "parquet", ".arrow": "feather", ".feather": "feather"}
JSON = {".jsonl": True, ".ndjson": True, ".json": False}
EXCEL = (".xlsx", ".xlsm")
READ_ONLY = (*JSON, *EXCEL)
KINDS = (
    "CSV or TSV (also .gz, .bz2, .xz, .zip, .zst), JSON lines, Excel (.xlsx), Parquet, Arrow or "
    "Feather"
)
# How an Arrow file begins, and a Feather file of old; a stream begins otherwise.
FILED = (b"ARRO", b"FEA1")
SEPARATORS = ",;\t|"
# How text begins that says its encoding; the longer mark first.
BEGINS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_table(path: Path, encoding: str = "") -> Any:
    """Return the rows of a file as a data frame with text for column names.

    Columns of a text file are text, as they are written. Of a file that says nothing of its
    encoding and is no UTF-8, the guess is in ``attrs["encoding"]``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rows.csv").write_text("a;b\\n007;x\\n2;\\n")
    ...     table = read_table(Path(folder) / "rows.csv")
    >>> table.columns.tolist(), table.a.tolist()
    (['a', 'b'], ['007', '2'])
    """
    if any(mark in path.name for mark in "*?") and not path.exists():
        from anymetric.cli.stored import read_pattern

        return _checked(read_pattern(path), path)
    if path.is_dir():
        raise UserError(f"{path} is a folder; a file was expected: {KINDS}.")
    reader, what = reader_of(path, encoding)
    with open(path, "rb"):  # a file that is not there, or not ours to read, says so itself
        pass
    try:
        table = reader(path)
    except (MissingExtra, MemoryError, UserError):
        raise
    except Exception as error:  # readers raise what they like about a damaged file
        if type(error).__name__ == "EmptyDataError":
            raise UserError(f"{path} is empty.") from error
        message = f"{path} cannot be read as {what}: {first_line(error)}."
        raise UserError(message) from error
    return _checked(table, path)


def reader_of(path: Path, encoding: str = "") -> tuple[Callable[[Path], Any], str]:
    """Return what reads a file of this name, and what it takes it for."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    last = suffixes[-1] if suffixes else ""
    if last in COLUMNAR:
        kind = COLUMNAR[last]
        need("pyarrow")
        reader = _read_arrow if kind == "feather" else need("pandas").read_parquet
        return reader, kind.capitalize()
    if last in EXCEL:
        return _read_excel, "Excel"
    packed = PACKED.get(last)
    inner = suffixes[-2] if packed and len(suffixes) > 1 else last
    if inner in JSON:
        return lambda path: _read_json(path, packed, encoding, JSON[inner]), "JSON"
    if packed or inner in TEXT:
        separator = TEXT.get(inner, ",")
        return lambda path: _read_text(path, packed, encoding, separator), "CSV"
    raise UserError(f"{path}: files may be {KINDS}; {last or 'no suffix'!r} is none of them.")


def decoded(raw: bytes, encoding: str, path: Path) -> tuple[str, str]:
    """Return text, and the encoding where it had to be guessed.

    Examples
    --------
    >>> decoded("Zürich".encode("utf-16"), "", Path("a.csv"))
    ('Zürich', '')
    >>> decoded("Zürich".encode("latin-1"), "", Path("a.csv"))
    ('Zürich', 'cp1252')
    """
    known = encoding or next((BEGINS[mark] for mark in BEGINS if raw.startswith(mark)), "")
    try:
        return raw.decode(known or "utf-8"), ""
    except LookupError as error:
        raise UserError(f"No encoding is called {encoding!r}: utf-8, latin-1 are.") from error
    except UnicodeError as error:
        if known:
            raise UserError(f"{path} is no {known} text: say --encoding.") from error
    if b"\0" in raw:
        raise UserError(f"{path} is no text that says its encoding: say --encoding.")
    try:
        return raw.decode("cp1252"), "cp1252"
    except UnicodeError:
        return raw.decode("latin-1"), "latin-1"


def _read_excel(path: Path) -> Any:
    import_extra("openpyxl", needed_by="Reading Excel files", extra="excel")
    table = need("pandas").read_excel(path, dtype=object, engine="openpyxl")
    return table.dropna(how="all")


def _read_json(path: Path, packed: str | None, encoding: str, lines: bool) -> Any:
    with _opened(path, packed) as raw:
        text, guessed = decoded(raw.read(), encoding, path)
    found = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else None
    records = json.loads(text) if found is None else found
    if not isinstance(records, list) or not all(isinstance(one, dict) for one in records):
        raise UserError(f"{path}: a list of objects was expected, one a row.")
    table = need("pandas").DataFrame(records)
    table.attrs["encoding"] = guessed
    return table


def _read_arrow(path: Path) -> Any:
    """Read an Arrow file, or an Arrow stream: both go by the same name."""
    with open(path, "rb") as raw:
        if raw.read(4) in FILED:
            return need("pandas").read_feather(path)
        raw.seek(0)
        return need("pyarrow.ipc").open_stream(raw).read_pandas()


def _read_text(path: Path, packed: str | None, encoding: str, separator: str) -> Any:
    pd = need("pandas")
    with _opened(path, packed) as raw:
        text, guessed = decoded(raw.read(), encoding, path)
    head = text.partition("\n")[0]
    if separator == ",":
        separator = separator_of(head)
    check_header(head, separator, path)
    # Where rows end in a separator, the first column must not be taken for their names.
    ways: dict[str, Any] = {
        "sep": separator,
        "skipinitialspace": True,
        "low_memory": False,
        "index_col": False,
    }
    with _every_field_named(path):
        # An empty cell is missing; every other word is the schema's to read.
        ways |= {"low_memory": False, "dtype": str, "keep_default_na": False, "na_values": [""]}
        table = pd.read_csv(io.StringIO(text), **ways)
    table.attrs["encoding"] = guessed
    return table


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
