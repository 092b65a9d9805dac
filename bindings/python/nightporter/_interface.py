"""The C interface in Python's terms. Written by tools/generate_interface.py from Include/nightporter.h."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_size_t,
    c_uint8,
    c_void_p,
)
from enum import IntEnum
from typing import Any

VERSION = "0.1.0"
ABI_VERSION = 3
RELAY_CALLS = 71
STEP_MAX_EFFECTS = 8


class ErrorCode(IntEnum):
    """The C enum `np_error`."""

    OK = 0
    NULL = 1
    HANDLE = 2
    UTF8 = 3
    ARGUMENT = 4
    STATE = 5
    NOTHING_PENDING = 6
    SYSTEM = 7
    TIMEOUT = 8


class Role(IntEnum):
    """The C enum `np_role`."""

    APP = 0
    EXTENSION = 1
    SHARE = 2


class Phase(IntEnum):
    """The C enum `np_phase`."""

    ACTIVE = 0
    BACKGROUND = 1
    SUSPENDED = 2
    BACKGROUND_REFRESH = 3


class StepKind(IntEnum):
    """The C enum `np_step_kind`."""

    MOVED = 0
    STAYED = 1
    IGNORED = 2
    REFUSED = 3


RelayExchange = CFUNCTYPE(
    c_int,
    c_void_p,
    POINTER(c_uint8),
    c_size_t,
    POINTER(POINTER(c_uint8)),
    POINTER(c_size_t),
    c_int,
)


class Relay(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("context", c_void_p),
        ("exchange", RelayExchange),
        ("release", CFUNCTYPE(None, c_void_p)),
        ("suspend", CFUNCTYPE(None, c_void_p)),
        ("resume", CFUNCTYPE(None, c_void_p)),
    ]


class Step(Structure):
    _fields_ = [
        ("state", c_int32),
        ("kind", c_int32),
        ("effect_count", c_int32),
        ("effects", c_int32 * STEP_MAX_EFFECTS),
        ("reason", c_char_p),
    ]


LogSink = CFUNCTYPE(
    None,
    c_void_p,
    c_int,
    c_char_p,
)


# Each function's result and arguments.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "np_version": (c_char_p, []),
    "np_abi_version": (c_int, []),
    "np_error_name": (c_char_p, [c_int]),
    "chat_migrate_init": (c_void_p, [c_char_p, c_char_p, c_char_p, POINTER(c_void_p)]),
    "chat_migrate_init_key": (c_void_p, [c_char_p, c_char_p, c_int, c_char_p, c_int, POINTER(c_void_p)]),
    "chat_close_store": (c_void_p, [c_void_p]),
    "chat_reopen_store": (c_void_p, [c_void_p]),
    "np_derive_key": (c_void_p, [c_char_p, c_char_p]),
    "np_set_key": (c_int, [c_void_p, c_char_p, c_int]),
    "np_set_cipher": (c_int, [c_char_p]),
    "np_change_key": (c_void_p, [c_void_p, c_char_p, c_char_p]),
    "np_ctrl_free": (c_int, [c_void_p]),
    "np_string_free": (None, [c_void_p]),
    "chat_send_cmd": (c_void_p, [c_void_p, c_char_p]),
    "chat_send_cmd_retry": (c_void_p, [c_void_p, c_char_p, c_int]),
    "chat_recv_msg": (c_void_p, [c_void_p]),
    "chat_recv_msg_wait": (c_void_p, [c_void_p, c_int]),
    "np_event_fd": (c_int, [c_void_p]),
    "np_receive_push": (c_void_p, [c_void_p, c_char_p, c_int]),
    "np_expire_push": (c_int, [c_void_p]),
    "np_background_refresh": (c_void_p, [c_void_p, c_int]),
    "np_receive_push_id": (c_void_p, [c_void_p, c_char_p, c_char_p, c_int]),
    "np_expire_push_id": (c_int, [c_void_p, c_char_p]),
    "np_push_is_silent": (c_int, [c_char_p, c_char_p]),
    "np_set_strings": (c_void_p, [c_void_p, c_char_p]),
    "np_categories": (c_void_p, [c_void_p]),
    "np_notification_response": (c_void_p, [c_void_p, c_char_p]),
    "np_set_phase": (c_int, [c_void_p, c_int]),
    "np_state": (c_void_p, [c_void_p]),
    "np_set_relay": (c_int, [c_void_p, POINTER(Relay)]),
    "np_relay_ready": (c_int, [c_void_p]),
    "chat_parse_markdown": (c_void_p, [c_char_p]),
    "chat_parse_server": (c_void_p, [c_char_p]),
    "chat_parse_uri": (c_void_p, [c_char_p, c_int]),
    "chat_password_hash": (c_void_p, [c_char_p, c_char_p]),
    "chat_valid_name": (c_void_p, [c_char_p]),
    "chat_json_length": (c_int, [c_char_p]),
    "np_machine_count": (c_int, []),
    "np_machine_find": (c_int, [c_char_p]),
    "np_machine_name": (c_char_p, [c_int]),
    "np_machine_state_count": (c_int, [c_int]),
    "np_machine_event_count": (c_int, [c_int]),
    "np_machine_effect_count": (c_int, [c_int]),
    "np_machine_state_name": (c_char_p, [c_int, c_int]),
    "np_machine_event_name": (c_char_p, [c_int, c_int]),
    "np_machine_effect_name": (c_char_p, [c_int, c_int]),
    "np_machine_initial": (c_int, [c_int]),
    "np_machine_step": (c_int, [c_int, c_int, c_int, POINTER(Step)]),
    "np_set_log": (c_int, [LogSink, c_void_p, c_int]),
}
