#include "invoke.h"

#include <errno.h>
#include <ffi.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_side.h"
#include "json.h"
#include "net_relay.h"

uint64_t now_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ------------------------------------------------------------------------------------------------ arguments */

static bool to_integer(const struct value *value, int *integer) {
  long long number = value->integer;
  if (value->kind == VALUE_STRING) {
    char *end = NULL;
    errno = 0;
    number = strtoll(value->string, &end, 10);
    if (errno != 0 || end == value->string || *end != '\0') return false;
  } else if (value->kind != VALUE_INTEGER) {
    return false;
  }
  if (number < INT_MIN || number > INT_MAX) return false;
  *integer = (int)number;
  return true;
}

/* A script may pass an integer as a handle: garbage that the library must detect. */
static void *to_handle(const struct value *value) {
  return value->kind == VALUE_INTEGER ? (void *)(uintptr_t)value->integer : value->handle;
}

static bool fits(enum kind kind, const struct value *value) {
  int ignored;
  switch (kind) {
    case KIND_INTEGER:
    case KIND_PHASE: return to_integer(value, &ignored);
    case KIND_STRING:
    case KIND_OWNED_STRING: return value->kind == VALUE_STRING || value->kind == VALUE_NULL;
    case KIND_HANDLE: return value->kind != VALUE_STRING;
    case KIND_RELAY: return value->kind == VALUE_NULL || host_relay(value->string) != NULL ||
                            net_relay_is_address(value->string);
    case KIND_LOG_SINK: return value->kind == VALUE_NULL || host_log_sink(value->string) != NULL;
    case KIND_OUT_HANDLE:
    case KIND_OUT_STEP:
    case KIND_CONTEXT: return value->kind == VALUE_NULL;
    default: return false;
  }
}

static const char *wanted(enum kind kind) {
  switch (kind) {
    case KIND_INTEGER:
    case KIND_PHASE: return "an integer of 32 bits";
    case KIND_STRING:
    case KIND_OWNED_STRING: return "a string or null";
    case KIND_HANDLE: return "a variable holding a controller, an integer or null";
    case KIND_RELAY: return "one of \"offline\", \"silent\", \"empty\", \"garbage\", a relay's https address, or null";
    case KIND_LOG_SINK: return "\"output\" or null";
    default: return "null, or nothing at all";
  }
}

static size_t argument_count(const struct function *function, bool with_out) {
  size_t count = 0;
  for (const enum kind *kind = function->arguments; *kind != KIND_NONE; kind++)
    if (with_out || !kind_is_out(*kind)) count++;
  return count;
}

bool call_check(const struct call *call, struct text *problem) {
  const struct function *function = call->function;
  size_t least = argument_count(function, false);
  if (call->argument_count != least && call->argument_count != argument_count(function, true)) {
    text_format(problem, "%s takes %zu arguments, not %zu", function->name, least, call->argument_count);
    return false;
  }
  for (size_t index = 0; index < call->argument_count; index++) {
    if (fits(function->arguments[index], &call->arguments[index])) continue;
    text_format(problem, "argument %zu of %s must be %s", index + 1, function->name,
                wanted(function->arguments[index]));
    return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------ the call */

static ffi_type *ffi_type_of(enum kind kind) {
  switch (kind) {
    case KIND_NONE:
    case KIND_VOID: return &ffi_type_void;
    case KIND_INTEGER: return &ffi_type_sint;
    case KIND_PHASE:
    case KIND_ERROR: return &ffi_type_uint;
    default: return &ffi_type_pointer;
  }
}

/* Where libffi finds one argument. */
union slot {
  int integer;
  const void *pointer;
  void (*function)(void);
};

/* A script's controller listens to the news of a relay on the network, as an app's does. */
static const np_relay *relay_for(struct call *call, const char *name) {
  if (!net_relay_is_address(name)) return host_relay(name);
  chat_ctrl listener = to_handle(&call->arguments[0]);
  return net_relay_make(name, listener, &call->relay) == NP_OK ? &call->relay : NULL;
}

static void fill(union slot *slot, enum kind kind, const struct value *value, struct call *call) {
  switch (kind) {
    case KIND_INTEGER:
    case KIND_PHASE: to_integer(value, &slot->integer); break;
    case KIND_STRING: slot->pointer = value->string; break;
    case KIND_OWNED_STRING: slot->pointer = value->string == NULL ? NULL : copy_string(value->string); break;
    case KIND_HANDLE: slot->pointer = to_handle(value); break;
    case KIND_RELAY: slot->pointer = relay_for(call, value->string); break;
    case KIND_LOG_SINK: slot->function = (void (*)(void))host_log_sink(value->string); break;
    default: slot->pointer = NULL; break;
  }
}

/* The call fills in the arguments that the script omits. */
static void fill_in(union slot *slot, enum kind kind, struct call *call) {
  if (kind == KIND_OUT_HANDLE) slot->pointer = &call->handle;
  else if (kind == KIND_OUT_STEP) slot->pointer = &call->step;
}

static void take_result(struct call *call, ffi_arg integer, void *pointer) {
  switch (call->function->result) {
    case KIND_INTEGER:
    case KIND_ERROR: call->integer = (int)integer; break;
    case KIND_OWNED_STRING:
      if (pointer != NULL) call->string = copy_string(pointer);
      np_string_free(pointer);
      break;
    case KIND_STATIC_STRING:
      if (pointer != NULL) call->string = copy_string(pointer);
      break;
    default: break;
  }
}

void call_run(struct call *call) {
  const enum kind *kinds = call->function->arguments;
  ffi_type *types[MAXIMUM_ARGUMENTS];
  union slot slots[MAXIMUM_ARGUMENTS] = {{0}};
  void *addresses[MAXIMUM_ARGUMENTS];
  unsigned count = 0;
  for (; kinds[count] != KIND_NONE; count++) {
    types[count] = ffi_type_of(kinds[count]);
    if (count < call->argument_count) fill(&slots[count], kinds[count], &call->arguments[count], call);
    else fill_in(&slots[count], kinds[count], call);
    addresses[count] = &slots[count];
  }
  ffi_cif interface;
  if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, count, ffi_type_of(call->function->result), types) != FFI_OK) abort();
  union {
    ffi_arg integer;
    void *pointer;
  } result = {0};
  uint64_t start = now_microseconds();
  ffi_call(&interface, call->function->address, &result, addresses);
  call->microseconds = now_microseconds() - start;
  take_result(call, result.integer, result.pointer);
  if (call->relay.exchange != NULL && call->integer != NP_OK) net_relay_free(&call->relay);
}

/* ------------------------------------------------------------------------------------------------ its result */

/* A JSON object or array stays what it is; any other text is a string. */
static void write_string_result(struct text *out, const char *string) {
  struct json *json = *string == '{' || *string == '[' ? json_parse(string, strlen(string)) : NULL;
  if (json != NULL) json_write(out, json);
  else json_write_string(out, string);
  json_free(json);
}

static void write_step(struct text *out, const np_step *step) {
  text_format(out, ",\"step\":{\"state\":%d,\"kind\":%d,\"effects\":[", step->state, step->kind);
  for (int index = 0; index < step->effect_count && index < NP_STEP_MAX_EFFECTS; index++)
    text_format(out, index == 0 ? "%d" : ",%d", step->effects[index]);
  text_add_string(out, "],\"reason\":");
  json_write_string(out, step->reason == NULL ? "" : step->reason);
  text_add_string(out, "}");
}

void call_write(struct text *out, const struct call *call) {
  enum kind result = call->function->result;
  text_add_string(out, "{\"call\":");
  json_write_string(out, call->function->name);
  text_add_string(out, ",\"result\":");
  if (result == KIND_INTEGER) text_format(out, "%d", call->integer);
  else if (result == KIND_ERROR) json_write_string(out, np_error_name(call->integer));
  else if (call->string != NULL) write_string_result(out, call->string);
  else text_add_string(out, "null");
  if (call->step.reason != NULL) write_step(out, &call->step);
  text_format(out, ",\"us\":%llu}", (unsigned long long)call->microseconds);
}

struct value call_value(const struct call *call) {
  struct value value = {0};
  for (const enum kind *kind = call->function->arguments; *kind != KIND_NONE; kind++)
    if (*kind == KIND_OUT_HANDLE) {
      value.kind = VALUE_HANDLE;
      value.handle = call->handle;
      return value;
    }
  if (call->function->result == KIND_ERROR) {
    value.kind = VALUE_STRING;
    value.string = copy_string(np_error_name(call->integer));
  } else if (call->function->result == KIND_INTEGER) {
    value.kind = VALUE_INTEGER;
    value.integer = call->integer;
  } else if (call->string != NULL) {
    value.kind = VALUE_STRING;
    value.string = copy_string(call->string);
  }
  return value;
}

void call_free(struct call *call) {
  for (size_t index = 0; index < call->argument_count; index++) value_free(&call->arguments[index]);
  free(call->string);
  *call = (struct call){0};
}
