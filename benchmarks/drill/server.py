"""A PostgreSQL server of one's own: on a socket in a private folder, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Where Debian keeps the programs.
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/bin", "/usr/bin")


def programs() -> Path | None:
    """Return the folder of `initdb` and `postgres`; None where no server is installed."""
    for pattern in PLACES:
        for folder in sorted(Path("/").glob(pattern[1:]), reverse=True):
            if (folder / "initdb").exists() and (folder / "postgres").exists():
                return folder
    return None


def why_not() -> str | None:
    """Return why no server can be started here; None if one can."""
    try:
        import psycopg  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError as error:
        return f"the extra 'postgres' is not installed ({error})"
    if programs() is None:
        return "no PostgreSQL server is installed (Debian: apt-get install postgresql)"
    if os.getuid() == 0 and _user() is None:
        return "PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody'"
    return None


def _user() -> pwd.struct_passwd | None:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


class Server:
    """A running server; `address(name)` is a new, empty database."""

    def __init__(self, home: Path) -> None:
        self.home, self.folder = home, programs()
        self.user = _user() if os.getuid() == 0 else None
        self.process: subprocess.Popen[bytes] | None = None
        self.made = 0

    def initialise(self) -> None:
        if self.user is not None:
            os.chown(self.home, self.user.pw_uid, self.user.pw_gid)
        words = ["initdb", "-D", self.home / "data", "-U", "drill", "-A", "trust", "-E", "UTF8"]
        self._run([*words, "--no-locale", "--no-sync"])

    def start(self) -> None:
        words = ["postgres", "-D", self.home / "data", "-k", self.home, "-h", "", "-F"]
        self.process = self._popen(words)
        ends = time.monotonic() + 60.0
        while self._sql("SELECT 1", check=False) != 0:
            if time.monotonic() > ends or self.process.poll() is not None:
                raise RuntimeError((self.home / "log").read_text(errors="replace"))
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End it: at once as a crash would, or with SIGINT in good order."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)

    def address(self) -> str:
        self.made += 1
        self._sql(f"CREATE DATABASE run{self.made}")
        return f"postgresql://drill@/run{self.made}?host={self.home}"

    def _sql(self, text: str, check: bool = True) -> int:
        import psycopg

        try:
            where = f"host={self.home} user=drill dbname=postgres"
            with psycopg.connect(where, autocommit=True) as connection:
                connection.execute(text)
            return 0
        except psycopg.OperationalError:
            if check:
                raise
            return 1

    def _run(self, words: list[object]) -> None:
        code = self._popen(words).wait(120)
        if code:
            raise RuntimeError((self.home / "log").read_text(errors="replace"))

    def _popen(self, words: list[object]) -> subprocess.Popen[bytes]:
        assert self.folder is not None
        first, *rest = map(str, words)
        as_whom = {} if self.user is None else {"user": self.user.pw_uid, "group": self.user.pw_gid}
        with (self.home / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self.folder / first), *rest],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
                start_new_session=True,
                **as_whom,
            )


@contextmanager
def server() -> Iterator[Server]:
    """Give a server that ends with the block."""
    fast = Path("/dev/shm")  # a disk adds nothing to what is tried
    where = fast if fast.is_dir() and os.access(fast, os.W_OK) else Path("/tmp")
    home = Path(tempfile.mkdtemp(prefix="drill-pg-", dir=where))
    found = Server(home)
    try:
        found.initialise()
        found.start()
        yield found
    finally:
        found.stop()
        shutil.rmtree(home, ignore_errors=True)
