"""Store: where data files are searched, and how a missing one is downloaded."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from anymetric.errors import DataError, import_extra

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"
_KDD = "https://kdd.org/cupfiles/KDDCupData/2004/data_kddcup04.tar.gz"
_LIGHTGBM = "https://raw.githubusercontent.com/microsoft/LightGBM/master/examples/lambdarank"


@dataclass(frozen=True)
class Source:
    """A file of data: its place in a data folder, its hash, and where it is published.

    Parameters
    ----------
    path : str
        ``folder/file`` in a data folder; there it may also be compressed as ``folder/file.gz``.
    sha256 : str
        Of the raw, uncompressed bytes.
    url : str, optional
        The public address of those bytes; None when they are published in another form only.
    member : str, optional
        The file's name when the address is that of a tar archive.

    Examples
    --------
    >>> SOURCES["compas/compas_two_years.csv"].url is None
    True
    """

    path: str
    sha256: str
    url: str | None = None
    member: str | None = None


# The hashes are those of the raw bytes; COMPAS, credit default and the business sites are
# derived files (columns dropped, or a spreadsheet written as CSV), so they have no address.
SOURCES: dict[str, Source] = {
    source.path: source
    for source in (
        Source(
            "adult/adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            f"{_UCI}/adult.data",
        ),
        Source(
            "adult/adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            f"{_UCI}/adult.test",
        ),
        Source(
            "compas/compas_two_years.csv",
            "48f4b9179ff1ab7221b7431b815ce2fcaeb5eef47e55aaa1667c1af038bf7cec",
        ),
        Source(
            "credit_default/default_of_credit_card_clients.csv",
            "9e5c04a4331d1e7b7d11b5ce881f550d55c1932292eacfe3734dd4546888ddec",
        ),
        Source(
            "protein_homology/bio_train.dat",
            "d36e01999cdb8e3f5005ad909c23060edc28363f590fa7ed664b56f9d6c06a6f",
            _KDD,
            member="bio_train.dat",
        ),
        Source(
            "business_sites/early_childhood_sites.csv",
            "ce3e2eea202f262b22876647e9a1aa81db9b2ee78921fb077273262a1129366b",
        ),
        Source(
            "letor_sample/rank.train",
            "a0c7201c89120879c14a5059e091f441cbf2a29b8aaef363885ccb1a530448df",
            f"{_LIGHTGBM}/rank.train",
        ),
        Source(
            "letor_sample/rank.test",
            "3b1219ce117a0a36d2f76c02de7e7831c1d79af0d40f5195c03178bbe26c824b",
            f"{_LIGHTGBM}/rank.test",
        ),
        Source(
            "letor_sample/rank.train.query",
            "40cb5fef637229311cd30fab13cb7fb633b023e86a87ff04ec55db420143d6af",
            f"{_LIGHTGBM}/rank.train.query",
        ),
        Source(
            "letor_sample/rank.test.query",
            "36dca82ba3bf99201bac3987b00a8fbf6fe5f563e9fa6d0da90e783710a32df4",
            f"{_LIGHTGBM}/rank.test.query",
        ),
    )
}


def read(source: Source) -> bytes:
    """Return a file's raw bytes: from ANYMETRIC_DATA, the package, the cache, or its address.

    Examples
    --------
    >>> read(SOURCES["compas/compas_two_years.csv"]).splitlines()[1]
    b'69,F,Other,Low,Male,0,-1,1,0,0'
    """
    for folder in _folders():
        raw = _read_from(folder, source.path)
        if raw is not None:
            return raw
    raw = _read_from(cache_folder(), source.path)
    if raw is not None and sha256(raw) == source.sha256:
        return raw
    return fetch(source)


def fetch(source: Source) -> bytes:
    """Download a file, check its hash, keep it in the cache folder and return its raw bytes.

    The file appears in the cache only when it is whole and right; a failure leaves nothing.
    A file that is published in no such form is refused.

    Examples
    --------
    >>> fetch(Source("mine/rows.csv", sha256=""))
    Traceback (most recent call last):
    ...
    anymetric.errors.DataError: mine/rows.csv is neither in a data folder nor published ...
    """
    if source.url is None:
        raise DataError(
            f"{source.path} is neither in a data folder nor published in this form. "
            f"Set ANYMETRIC_DATA to a folder that has {source.path} or {source.path}.gz."
        )
    target = cache_folder() / source.path
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        arrived = Path(scratch) / "arrived"
        _download(source.url, arrived)
        raw = arrived.read_bytes() if source.member is None else _unpack(arrived, source)
        _check(raw, source)
        arrived.write_bytes(raw)
        os.replace(arrived, target)
    return raw


def cache_folder() -> Path:
    """Return the folder of downloaded and parsed files: ANYMETRIC_CACHE, or one in the home.

    Examples
    --------
    >>> isinstance(cache_folder(), Path)
    True
    """
    named = os.environ.get("ANYMETRIC_CACHE")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "anymetric"


def sha256(raw: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal.

    Examples
    --------
    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(raw).hexdigest()


def _folders() -> Iterator[Traversable]:
    named = os.environ.get("ANYMETRIC_DATA")
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise DataError(
                f"ANYMETRIC_DATA is {named!r}, which is no folder. Correct or unset it."
            )
        yield folder
    yield resources.files("anymetric.datasets") / "files"


def _read_from(folder: Traversable, path: str) -> bytes | None:
    packed = folder.joinpath(f"{path}.gz")
    if packed.is_file():
        try:
            return gzip.decompress(packed.read_bytes())
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{packed} is damaged ({error}). Copy it again.") from error
    plain = folder.joinpath(path)
    return plain.read_bytes() if plain.is_file() else None


def _download(url: str, to: Path) -> None:
    pooch = import_extra("pooch", needed_by=f"Downloading {url}", extra="paper")
    try:
        pooch.HTTPDownloader(timeout=60)(url, str(to), None)
    except OSError as error:  # requests' own errors are all of this kind
        raise DataError(
            f"{url} could not be downloaded: {error}. Try again later, or put the file "
            f"in a folder of your own and set ANYMETRIC_DATA to it."
        ) from error


def _unpack(archive: Path, source: Source) -> bytes:
    try:
        with tarfile.open(archive) as members:
            for member in members:
                file = members.extractfile(member)
                if file is not None and Path(member.name).name == source.member:
                    return file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"{source.url} is not a whole tar archive: {error}.") from error
    raise DataError(f"{source.url} was to contain {source.member}, and does not.")


def _check(raw: bytes, source: Source) -> None:
    got = sha256(raw)
    if got != source.sha256:
        raise DataError(
            f"{source.url} gave {len(raw)} bytes with SHA-256 {got}; expected {source.sha256}. "
            f"The file has changed or was cut short; nothing was kept."
        )
