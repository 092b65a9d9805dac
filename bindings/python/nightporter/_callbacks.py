"""The library's callbacks: a host's transport and its log. One C function each for the whole process.

A callback owned by one controller would have to outlive its own last call. These are never released; the number in
`context` identifies the Python function.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._interface import ErrorCode, LogSink, Relay, RelayExchange
from ._library import library
from .errors import check

# Carries one request to the relay and returns its answer. Raises TimeoutError if the time, in seconds, runs out.
Exchange = Callable[[bytes, float], bytes]

# The maximum length of a relay's answer, as in the header.
LONGEST_ANSWER = 65_536

_exchanges: dict[int, Exchange] = {}
_numbers = itertools.count(1)
_libc = ctypes.CDLL(None)
_libc.malloc.restype, _libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

log = logging.getLogger("nightporter")


def _exchange(context: int, request: Any, length: int, answer: Any, answer_length: Any, timeout_ms: int) -> int:
    try:
        result = bytes(_exchanges[context](ctypes.string_at(request, length), timeout_ms / 1000))
    except TimeoutError:
        return ErrorCode.TIMEOUT
    except Exception:
        log.exception("the host's relay transport failed")
        return ErrorCode.SYSTEM
    memory = _libc.malloc(max(1, len(result))) if len(result) <= LONGEST_ANSWER else None
    if not memory:
        return ErrorCode.SYSTEM
    ctypes.memmove(memory, result, len(result))
    answer[0] = ctypes.cast(memory, type(answer[0]))
    answer_length[0] = len(result)
    return ErrorCode.OK


def _release(context: int) -> None:
    _exchanges.pop(context, None)


_EXCHANGE = RelayExchange(_exchange)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_release)


@contextmanager
def relay(exchange: Exchange) -> Iterator[Relay]:
    """The C structure for a transport. Removes the transport again if the block fails."""
    number = next(_numbers)
    _exchanges[number] = exchange
    try:
        yield Relay(ctypes.sizeof(Relay), number, _EXCHANGE, _RELEASE)
    except BaseException:
        _exchanges.pop(number, None)
        raise


def forget(relay: Relay) -> None:
    """Removes the transport of a closed controller: it belongs to a program's objects, which may hold the controller."""
    _exchanges.pop(relay.context, None)


# The library's log levels, mapped to those of `logging`.
LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_sink_lock = threading.Lock()


def _sink(context: int, level: int, line: bytes) -> None:
    log.log(LEVELS[min(max(level, 0), len(LEVELS) - 1)], "%s", line.decode(errors="replace"))


_SINK = LogSink(_sink)


def enable_logging(minimum: int = logging.INFO) -> None:
    """Sends the log of controllers opened afterwards to the logger `nightporter`."""
    level = sum(minimum > known for known in LEVELS[:-1])
    with _sink_lock:
        check(library().functions.np_set_log(_SINK, None, level), "np_set_log")


def disable_logging() -> None:
    """Turns the log off, which is the default, for controllers opened afterwards."""
    with _sink_lock:
        check(library().functions.np_set_log(LogSink(), None, 0), "np_set_log")
