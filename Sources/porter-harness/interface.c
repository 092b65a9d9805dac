#include "interface.h"

#include <string.h>

#include "json.h"
#include "nightporter.h"

/*
 * Each row is checked by the C compiler: if the header declares another type, _Generic finds no association and the
 * build fails. A test reads the header to check that no row is missing.
 */
#define TYPE_VOID void
#define TYPE_INTEGER int
#define TYPE_PHASE np_phase
#define TYPE_ERROR np_error
#define TYPE_STRING const char *
#define TYPE_OWNED_STRING char *
#define TYPE_STATIC_STRING const char *
#define TYPE_HANDLE chat_ctrl
#define TYPE_OUT_HANDLE chat_ctrl *
#define TYPE_OUT_STEP np_step *
#define TYPE_RELAY const np_relay *
#define TYPE_LOG_SINK np_log_sink
#define TYPE_CONTEXT void *

#define ADDRESS(name, ...) (void (*)(void)) _Generic(&name, __VA_ARGS__: &name)

#define CALL0(result, name) {#name, ADDRESS(name, TYPE_##result (*)(void)), KIND_##result, {KIND_NONE}}
#define CALL1(result, name, a) {#name, ADDRESS(name, TYPE_##result (*)(TYPE_##a)), KIND_##result, {KIND_##a, KIND_NONE}}
#define CALL2(result, name, a, b)                                       \
  {#name, ADDRESS(name, TYPE_##result (*)(TYPE_##a, TYPE_##b)), KIND_##result, {KIND_##a, KIND_##b, KIND_NONE}}
#define CALL3(result, name, a, b, c)                                    \
  {#name,                                                               \
   ADDRESS(name, TYPE_##result (*)(TYPE_##a, TYPE_##b, TYPE_##c)),      \
   KIND_##result,                                                       \
   {KIND_##a, KIND_##b, KIND_##c, KIND_NONE}}
#define CALL4(result, name, a, b, c, d)                                        \
  {#name,                                                                      \
   ADDRESS(name, TYPE_##result (*)(TYPE_##a, TYPE_##b, TYPE_##c, TYPE_##d)),   \
   KIND_##result,                                                              \
   {KIND_##a, KIND_##b, KIND_##c, KIND_##d, KIND_NONE}}
#define CALL6(result, name, a, b, c, d, e, f)                                                                \
  {#name,                                                                                                    \
   ADDRESS(name, TYPE_##result (*)(TYPE_##a, TYPE_##b, TYPE_##c, TYPE_##d, TYPE_##e, TYPE_##f)),             \
   KIND_##result,                                                                                            \
   {KIND_##a, KIND_##b, KIND_##c, KIND_##d, KIND_##e, KIND_##f, KIND_NONE}}

const struct function interface_functions[] = {
    CALL0(STATIC_STRING, np_version),
    CALL0(INTEGER, np_abi_version),
    CALL1(STATIC_STRING, np_error_name, INTEGER),

    CALL4(OWNED_STRING, chat_migrate_init, STRING, STRING, STRING, OUT_HANDLE),
    CALL6(OWNED_STRING, chat_migrate_init_key, STRING, STRING, INTEGER, STRING, INTEGER, OUT_HANDLE),
    CALL1(OWNED_STRING, chat_close_store, HANDLE),
    CALL1(OWNED_STRING, chat_reopen_store, HANDLE),
    CALL1(ERROR, np_ctrl_free, HANDLE),
    CALL2(OWNED_STRING, np_derive_key, STRING, STRING),
    CALL3(ERROR, np_set_key, HANDLE, STRING, INTEGER),
    CALL1(ERROR, np_set_cipher, STRING),
    CALL3(OWNED_STRING, np_change_key, HANDLE, STRING, STRING),
    CALL1(VOID, np_string_free, OWNED_STRING),

    CALL2(OWNED_STRING, chat_send_cmd, HANDLE, STRING),
    CALL3(OWNED_STRING, chat_send_cmd_retry, HANDLE, STRING, INTEGER),
    CALL1(OWNED_STRING, chat_recv_msg, HANDLE),
    CALL2(OWNED_STRING, chat_recv_msg_wait, HANDLE, INTEGER),
    CALL1(INTEGER, np_event_fd, HANDLE),

    CALL3(OWNED_STRING, np_receive_push, HANDLE, STRING, INTEGER),
    CALL1(ERROR, np_expire_push, HANDLE),
    CALL2(OWNED_STRING, np_background_refresh, HANDLE, INTEGER),
    CALL4(OWNED_STRING, np_receive_push_id, HANDLE, STRING, STRING, INTEGER),
    CALL2(ERROR, np_expire_push_id, HANDLE, STRING),
    CALL2(INTEGER, np_push_is_silent, STRING, STRING),
    CALL1(OWNED_STRING, np_categories, HANDLE),
    CALL2(OWNED_STRING, np_notification_response, HANDLE, STRING),

    CALL2(OWNED_STRING, np_set_strings, HANDLE, STRING),

    CALL2(ERROR, np_set_phase, HANDLE, PHASE),
    CALL1(OWNED_STRING, np_state, HANDLE),

    CALL2(ERROR, np_set_relay, HANDLE, RELAY),
    CALL1(ERROR, np_relay_ready, HANDLE),

    CALL1(OWNED_STRING, chat_parse_markdown, STRING),
    CALL1(OWNED_STRING, chat_parse_server, STRING),
    CALL2(OWNED_STRING, chat_parse_uri, STRING, INTEGER),
    CALL2(OWNED_STRING, chat_password_hash, STRING, STRING),
    CALL1(OWNED_STRING, chat_valid_name, STRING),
    CALL1(INTEGER, chat_json_length, STRING),

    CALL0(INTEGER, np_machine_count),
    CALL1(INTEGER, np_machine_find, STRING),
    CALL1(STATIC_STRING, np_machine_name, INTEGER),
    CALL1(INTEGER, np_machine_state_count, INTEGER),
    CALL1(INTEGER, np_machine_event_count, INTEGER),
    CALL1(INTEGER, np_machine_effect_count, INTEGER),
    CALL2(STATIC_STRING, np_machine_state_name, INTEGER, INTEGER),
    CALL2(STATIC_STRING, np_machine_event_name, INTEGER, INTEGER),
    CALL2(STATIC_STRING, np_machine_effect_name, INTEGER, INTEGER),
    CALL1(INTEGER, np_machine_initial, INTEGER),
    CALL4(ERROR, np_machine_step, INTEGER, INTEGER, INTEGER, OUT_STEP),

    CALL3(ERROR, np_set_log, LOG_SINK, CONTEXT, INTEGER),
};

const size_t interface_count = sizeof interface_functions / sizeof interface_functions[0];

const struct function *interface_find(const char *name) {
  for (size_t index = 0; index < interface_count; index++)
    if (strcmp(interface_functions[index].name, name) == 0) return &interface_functions[index];
  return NULL;
}

#define SPELLING(type) #type
#define SPELL(type) SPELLING(type)

const char *kind_type(enum kind kind) {
  switch (kind) {
    case KIND_NONE: break;
    case KIND_VOID: return SPELL(TYPE_VOID);
    case KIND_INTEGER: return SPELL(TYPE_INTEGER);
    case KIND_PHASE: return SPELL(TYPE_PHASE);
    case KIND_ERROR: return SPELL(TYPE_ERROR);
    case KIND_STRING: return SPELL(TYPE_STRING);
    case KIND_OWNED_STRING: return SPELL(TYPE_OWNED_STRING);
    case KIND_STATIC_STRING: return SPELL(TYPE_STATIC_STRING);
    case KIND_HANDLE: return SPELL(TYPE_HANDLE);
    case KIND_OUT_HANDLE: return SPELL(TYPE_OUT_HANDLE);
    case KIND_OUT_STEP: return SPELL(TYPE_OUT_STEP);
    case KIND_RELAY: return SPELL(TYPE_RELAY);
    case KIND_LOG_SINK: return SPELL(TYPE_LOG_SINK);
    case KIND_CONTEXT: return SPELL(TYPE_CONTEXT);
  }
  return "";
}

int kind_is_out(enum kind kind) { return kind == KIND_OUT_HANDLE || kind == KIND_OUT_STEP; }

void interface_write(struct text *out) {
  for (size_t index = 0; index < interface_count; index++) {
    const struct function *function = &interface_functions[index];
    text_add_string(out, "{\"name\":");
    json_write_string(out, function->name);
    text_add_string(out, ",\"result\":");
    json_write_string(out, kind_type(function->result));
    text_add_string(out, ",\"arguments\":[");
    for (const enum kind *kind = function->arguments; *kind != KIND_NONE; kind++) {
      if (kind != function->arguments) text_add_string(out, ",");
      json_write_string(out, kind_type(*kind));
    }
    text_add_string(out, "]}\n");
  }
}
