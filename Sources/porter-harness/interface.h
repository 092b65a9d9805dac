/*
 * The table of the C interface: every function of nightporter.h with its result and its arguments, for calls by name.
 */
#ifndef PORTER_INTERFACE_H
#define PORTER_INTERFACE_H

#include <stddef.h>

#include "text.h"

#define MAXIMUM_ARGUMENTS 8

/* The type of an argument or a result, in C and in a script. */
enum kind {
  KIND_NONE,
  KIND_VOID,
  KIND_INTEGER,
  KIND_PHASE,
  KIND_ERROR,
  KIND_STRING,        /* const char *, owned by the caller */
  KIND_OWNED_STRING,  /* char *, to be freed */
  KIND_STATIC_STRING, /* const char *, owned by the library */
  KIND_HANDLE,
  KIND_OUT_HANDLE,
  KIND_OUT_STEP,
  KIND_RELAY,
  KIND_LOG_SINK,
  KIND_CONTEXT
};

struct function {
  const char *name;
  void (*address)(void);
  enum kind result;
  enum kind arguments[MAXIMUM_ARGUMENTS]; /* ends with KIND_NONE */
};

extern const struct function interface_functions[];
extern const size_t interface_count;

/* NULL if the interface has no such function. */
const struct function *interface_find(const char *name);

/* The C type of a kind, as the header spells it. */
const char *kind_type(enum kind kind);

/* Whether a script omits arguments of this kind, since the call fills them. */
int kind_is_out(enum kind kind);

/* Writes one line with a JSON object per function: {"name", "result", "arguments"}, types as the header spells them. */
void interface_write(struct text *out);

#endif
