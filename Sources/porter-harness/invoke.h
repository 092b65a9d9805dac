/* One call of a function of the interface, through libffi. */
#ifndef PORTER_INVOKE_H
#define PORTER_INVOKE_H

#include <stdbool.h>
#include <stdint.h>

#include "interface.h"
#include "nightporter.h"
#include "value.h"

struct call {
  const struct function *function;
  struct value arguments[MAXIMUM_ARGUMENTS]; /* as given by the script, without those the call fills; owned */
  size_t argument_count;

  /* Set by call_run(). */
  int integer;
  char *string;       /* owned; NULL when the library returned NULL */
  void *handle;       /* what the call wrote through its chat_ctrl *; NULL when it wrote nothing */
  np_step step;
  np_relay relay;     /* a transport made for the call */
  uint64_t microseconds;
};

/* Whether the arguments fit the function. Otherwise `problem` says why not. */
bool call_check(const struct call *call, struct text *problem);

/* Calls, after call_check(). May be used on any thread. */
void call_run(struct call *call);

/* Writes {"call","result","us"} and any other results, without an end of line. */
void call_write(struct text *out, const struct call *call);

/* The value for a variable: the handle if the function returns one, else the result. */
struct value call_value(const struct call *call);

void call_free(struct call *call);

/* Microseconds of a monotonic clock. */
uint64_t now_microseconds(void);

#endif
