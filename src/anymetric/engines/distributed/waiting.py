"""Waiting: tasks that are given to the workers of a Dask cluster, and waited for with limits."""

from __future__ import annotations

import time
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from anymetric.engines.rows import RowsLost

# How often a part is given to the workers before its error is raised.
TRIES = 4
# Seconds between two checks of what is awaited, for which a scheduler may be out of reach, and for
# which a cluster may be without workers.
TICK, GRACE, DESERTED = 1.0, 20.0, 120.0


@dataclass(eq=False)
class Awaited:
    """Tasks that are given to workers and waited for, never for ever.

    Parameters
    ----------
    client : distributed.Client
    timeout : float

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     Awaited(client, 60.0).each(lambda part, factor: factor * part, [1, 2], 10)
    [10, 20]
    """

    client: Any
    timeout: float

    def each(self, task: Callable[..., Any], parts: Iterable[Any], *arguments: Any) -> list[Any]:
        """Return what the task makes of each part, in their order."""
        parts = list(parts)
        futures = self._given(task, parts, arguments)
        tries = [1] * len(parts)
        try:
            for attempt in range(TRIES):
                for k, error in self._failed(futures):
                    if tries[k] >= TRIES or not passing(error):
                        raise error
                    tries[k] += 1
                    (futures[k],) = self._given(task, [parts[k]], arguments)
                found = self._gathered(futures, last=attempt == TRIES - 1)
                if found is not None:
                    return found
        finally:
            for future in futures:
                future.release()
        raise AssertionError("the last attempt returns or raises")

    def _given(
        self, task: Callable[..., Any], parts: list[Any], arguments: tuple[Any, ...]
    ) -> list[Any]:
        """Give out all parts in one message."""
        self.check()
        # Not as keywords of `map`: large ones would have the same key in every pass.
        work = partial(done, task=task, arguments=arguments)
        return list(self.client.map(work, parts, pure=False, retries=TRIES))

    def _failed(self, futures: list[Any]) -> Iterator[tuple[int, Exception]]:
        """Wait for all; yield those that fail, in the place of which the caller puts others."""
        waiting = set(range(len(futures)))
        limits = Limits(self)
        while waiting:
            ended = [k for k in waiting if futures[k].done()]
            for k in ended:
                error = self._error(futures[k])
                if error is None:
                    waiting.remove(k)
                else:
                    yield k, error
            limits.wait(bool(ended))

    def _error(self, future: Any) -> Exception | None:
        """Return why a task failed; None if it did not."""
        if future.status == "finished":
            return None
        try:
            future.result(timeout=self.timeout)
        except Exception as error:  # the task's own, or that of a lost worker
            return error
        return None

    def _gathered(self, futures: list[Any], *, last: bool) -> list[Any] | None:
        """Fetch all results at once: one by one each takes some milliseconds of four processes.

        None if some were lost with their worker, which are computed again, unless it was the last
        attempt.
        """
        loop = self.client.loop.asyncio_loop
        gathering = self.client.gather(futures, asynchronous=True)
        found, limits = run_coroutine_threadsafe(gathering, loop), Limits(self)
        try:
            while not found.done():
                limits.wait(False)
            return list(found.result())
        except RowsLost:
            found.cancel()
            raise
        except Exception as error:
            if last or not passing(error):
                raise
            return None

    def has_workers(self) -> bool:
        """Return whether the cluster has workers; what cannot be asked is left to other limits."""
        try:
            return bool(self.client.scheduler_info(n_workers=1)["workers"])
        except (OSError, TimeoutError, RuntimeError, KeyError):
            return True

    def check(self, waited: float = 0.0, deserted: float = 0.0) -> None:
        """Refuse to wait for what will not come.

        Parameters
        ----------
        waited : float
            Seconds since a part was done.
        deserted : float
            Seconds for which there have been no workers.
        """
        if self.client.status not in ("running", "connecting"):
            raise RowsLost(f"The Dask scheduler is gone (client: {self.client.status}). {AGAIN}")
        if self.client.status == "connecting" and waited > GRACE:
            raise RowsLost(f"The Dask scheduler is out of reach for {waited:.0f} s. {AGAIN}")
        if deserted > DESERTED:
            raise RowsLost(f"The cluster has had no workers for {deserted:.0f} s. {AGAIN}")
        if waited > self.timeout:
            raise RowsLost(f"No part was done by any worker in {waited:.0f} s. {AGAIN}")


@dataclass(eq=False)
class Limits:
    """The limits of one wait, from now on.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> Limits(Awaited(SimpleNamespace(status="running"), 60.0)).wait(True)
    """

    of: Awaited
    last: float = field(default_factory=time.monotonic)
    crewed: float = field(default_factory=time.monotonic)

    def wait(self, ended: bool) -> None:
        """Wait a moment, a little longer each time; not where something has ended."""
        now = time.monotonic()
        self.last = now if ended else self.last
        there = now - self.last <= GRACE or self.of.has_workers()
        self.crewed = now if there else self.crewed
        self.of.check(now - self.last, now - self.crewed)
        if not ended:
            time.sleep(min(TICK, 0.002 + 0.05 * (now - self.last)))


AGAIN = "The model of the sample is in the error's `best`; fit again to have that of all rows."


def done(part: Any, task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Do a task.

    Examples
    --------
    >>> done(3, pow, (2,))
    9
    """
    return task(part, *arguments)


def passing(error: Exception) -> bool:
    """Return whether a task that ended so may well succeed elsewhere: its worker was lost.

    Examples
    --------
    >>> passing(ValueError("X contains NaN.")), passing(OSError("connection lost"))
    (False, True)
    """
    names = {type(error).__name__, *(one.__name__ for one in type(error).__mro__)}
    lost = {"KilledWorker", "FutureCancelledError", "FuturesCancelledError", "CommClosedError"}
    return bool(names & lost) or isinstance(error, CancelledError | OSError | TimeoutError)
