"""Waiting: tasks that are given to the workers of a Dask cluster, and waited for with limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
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
        futures = dict(enumerate(self._given(task, parts, arguments)))
        tries = dict.fromkeys(futures, 1)
        found: dict[int, Any] = {}
        try:
            for k, result, error in self._finished(futures):
                if error is None:
                    found[k] = result
                    continue
                if tries[k] >= TRIES or not passing(error):
                    raise error
                tries[k] += 1
                (futures[k],) = self._given(task, [parts[k]], arguments)
        finally:
            for future in futures.values():
                future.release()
        return [found[k] for k in range(len(parts))]

    def _given(
        self, task: Callable[..., Any], parts: list[Any], arguments: tuple[Any, ...]
    ) -> list[Any]:
        """Give out all parts in one message."""
        self._check()
        # Not as keywords of `map`: large ones would have the same key in every pass.
        work = partial(done, task=task, arguments=arguments)
        return list(self.client.map(work, parts, pure=False, retries=TRIES))

    def _finished(self, futures: dict[int, Any]) -> Iterator[tuple[int, Any, Exception | None]]:
        """Yield tasks as they end; the caller may put another future in the place of one."""
        last = crewed = time.monotonic()
        while futures:
            ended = [k for k, future in futures.items() if future.done()]
            for k in ended:
                future = futures.pop(k)
                yield k, *self._result(future)
            now = time.monotonic()
            last = now if ended else last
            crewed = now if now - last <= GRACE or self._has_workers() else crewed
            self._check(now - last, now - crewed)
            if not ended:
                time.sleep(min(TICK, 0.002 + 0.05 * (now - last)))

    def _result(self, future: Any) -> tuple[Any, Exception | None]:
        try:
            return future.result(timeout=self.timeout), None
        except Exception as error:  # the task's own, or that of a lost worker
            return None, error

    def _has_workers(self) -> bool:
        """Return whether the cluster has workers; what cannot be asked is left to other limits."""
        try:
            return bool(self.client.scheduler_info(n_workers=1)["workers"])
        except (OSError, TimeoutError, RuntimeError, KeyError):
            return True

    def _check(self, waited: float = 0.0, deserted: float = 0.0) -> None:
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
