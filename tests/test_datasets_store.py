"""Where files are looked for, and what a download leaves behind; the only net is loopback."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from anymetric.datasets import load_kdd_cup_2008
from anymetric.datasets.similarities import similarities
from anymetric.datasets.sites import Site
from anymetric.datasets.store import SOURCES, Source, cache_folder, fetch, read, sha256
from anymetric.errors import DataError, MissingExtra

RAW = b"1,2\n3,4\n" * 1000


def archive(name: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as members:
        entry = tarfile.TarInfo(name)
        entry.size = len(RAW)
        members.addfile(entry, io.BytesIO(RAW))
    return packed.getvalue()


PAGES = {
    "/good": RAW,
    "/wrong": RAW + b"5,6\n",
    "/whole.tar.gz": archive("data/rows.csv"),
    "/other.tar.gz": archive("data/else.csv"),
    "/torn.tar.gz": archive("data/rows.csv")[:60],
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/cut"):
            # The server promises all (or says nothing of the length), sends half, and leaves.
            self.send_response(200)
            if self.path == "/cut":
                self.send_header("Content-Length", str(len(RAW)))
            self.end_headers()
            self.wfile.write(RAW[: len(RAW) // 2])
        elif self.path in PAGES:
            self.send_response(200)
            self.send_header("Content-Length", str(len(PAGES[self.path])))
            self.end_headers()
            self.wfile.write(PAGES[self.path])
        else:
            self.send_error(404)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("pooch")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYMETRIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ANYMETRIC_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "cache"


def files(folder) -> list[str]:
    return [str(f.relative_to(folder)) for f in sorted(folder.rglob("*")) if f.is_file()]


def a_source(server: str, page: str, member: str | None = None) -> Source:
    return Source("mine/rows.csv", sha256(RAW), server + page, member)


@pytest.mark.parametrize(("page", "member"), [("/good", None), ("/whole.tar.gz", "rows.csv")])
def test_a_good_file_is_fetched_once_and_kept(server, cache, page, member):
    assert read(a_source(server, page, member)) == RAW
    assert files(cache) == ["mine/rows.csv"]
    assert read(a_source("http://127.0.0.1:1", page, member)) == RAW  # nobody listens there


@pytest.mark.parametrize(
    ("page", "member", "says"),
    [
        ("/wrong", None, "SHA-256"),
        ("/cut", None, "could not be downloaded"),
        ("/cut-without-a-length", None, "cut short"),
        ("/missing", None, "404"),
        ("/other.tar.gz", "rows.csv", "was to contain rows.csv"),
        ("/torn.tar.gz", "rows.csv", "not a whole tar archive"),
        ("/good", "rows.csv", "not a whole tar archive"),
    ],
)
def test_a_bad_download_is_explained_and_leaves_nothing(server, cache, page, member, says):
    with pytest.raises(DataError, match=says) as caught:
        read(a_source(server, page, member))
    assert server + page in str(caught.value)
    assert files(cache) == []


def test_nobody_listening_is_explained(cache):
    pytest.importorskip("pooch")
    with pytest.raises(DataError, match="could not be downloaded"):
        fetch(a_source("http://127.0.0.1:1", "/good"))
    assert files(cache) == []


def test_a_bad_download_does_not_harm_the_file_that_was_there(server, cache):
    read(a_source(server, "/good"))
    with pytest.raises(DataError, match="SHA-256"):
        fetch(a_source(server, "/wrong"))
    assert (cache / "mine" / "rows.csv").read_bytes() == RAW


def test_a_damaged_cache_is_fetched_again(server, cache):
    read(a_source(server, "/good"))
    (cache / "mine" / "rows.csv").write_bytes(RAW[:100])
    assert read(a_source(server, "/good")) == RAW


def test_the_data_folder_comes_before_the_package(cache, tmp_path, monkeypatch):
    path = "compas/compas_two_years.csv"
    shipped = read(SOURCES[path])
    (tmp_path / "compas").mkdir()
    (tmp_path / f"{path}.gz").write_bytes(gzip.compress(b"mine"))
    monkeypatch.setenv("ANYMETRIC_DATA", str(tmp_path))
    assert read(SOURCES[path]) == b"mine"
    (tmp_path / f"{path}.gz").unlink()
    assert read(SOURCES[path]) == shipped
    (tmp_path / path).write_bytes(b"plain")
    assert read(SOURCES[path]) == b"plain"


def test_the_package_comes_before_the_cache(cache):
    path = "compas/compas_two_years.csv"
    (cache / "compas").mkdir(parents=True)
    (cache / path).write_bytes(b"other")
    assert sha256(read(SOURCES[path])) == SOURCES[path].sha256


def test_a_file_published_in_no_such_form_is_not_downloaded(cache):
    with pytest.raises(DataError, match=r"nor published in this form.*ANYMETRIC_DATA"):
        read(SOURCES["business_sites/early_childhood_sites.csv"])


def test_a_data_folder_that_is_none_is_refused(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("ANYMETRIC_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="no folder"):
        read(SOURCES["adult/adult.data"])


def test_a_damaged_gzip_is_explained(cache, tmp_path, monkeypatch):
    (tmp_path / "adult").mkdir()
    (tmp_path / "adult" / "adult.data.gz").write_bytes(gzip.compress(RAW)[:20])
    monkeypatch.setenv("ANYMETRIC_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"adult\.data\.gz is damaged"):
        read(SOURCES["adult/adult.data"])


def test_the_cache_is_in_the_home_unless_named(monkeypatch, tmp_path):
    monkeypatch.delenv("ANYMETRIC_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "anymetric"


def test_a_download_without_pooch_names_the_extra(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtra, match=r"needs pooch: pip install 'anymetric\[paper\]'"):
        fetch(a_source("http://127.0.0.1:1", "/good"))
    assert files(cache) == []


def test_pairs_without_rapidfuzz_name_the_extra(monkeypatch):
    for name in ("rapidfuzz", "rapidfuzz.fuzz", "rapidfuzz.distance"):
        monkeypatch.setitem(sys.modules, name, None)
    sites = [Site("1", "7", "a", ("cole",), ("412",))] * 2
    message = r"^load_business_pairs needs rapidfuzz: pip install 'anymetric\[paper\]'\.$"
    with pytest.raises(MissingExtra, match=message):
        similarities(sites, np.array([[0, 1]]))


def write_kdd(folder, rows=5, features=117, label="1"):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, features))
    info = np.arange(rows * 11).reshape(rows, 11).astype(str)
    info[:, 0] = "-1"
    info[0, 0] = label
    info[1, 9] = "NaN"
    np.savetxt(folder / "Features.txt", X, fmt="%.7e")
    (folder / "Info.txt").write_text("\n".join("\t".join(row) for row in info) + "\n")
    return X


def test_kdd_cup_2008_is_read_from_its_two_files(tmp_path):
    X = write_kdd(tmp_path)
    data = load_kdd_cup_2008(tmp_path)
    np.testing.assert_allclose(data.X, X, rtol=1e-6)
    assert data.y.tolist() == [1, 0, 0, 0, 0]
    assert data.side["patient"].tolist() == [4, 15, 26, 37, 48]
    assert np.isnan(data.side["nipple_x"][1])
    assert len(data.side) == 10


def test_kdd_cup_2008_files_that_do_not_fit_are_explained(tmp_path):
    with pytest.raises(DataError, match=r"Features\.txt was not found"):
        load_kdd_cup_2008(tmp_path)
    write_kdd(tmp_path, label="0")
    with pytest.raises(DataError, match="Labels must be -1 or"):
        load_kdd_cup_2008(tmp_path)
    write_kdd(tmp_path, features=116)
    with pytest.raises(DataError, match=r"Features\.txt is not as expected"):
        load_kdd_cup_2008(tmp_path)
    write_kdd(tmp_path)
    np.savetxt(tmp_path / "Features.txt", np.ones((4, 117)))
    with pytest.raises(DataError, match="same rows; got 4 and 5"):
        load_kdd_cup_2008(tmp_path)
