/* The values of a script's words and variables. */
#ifndef PORTER_VALUE_H
#define PORTER_VALUE_H

#include <stdbool.h>

#include "text.h"

enum value_kind { VALUE_NULL, VALUE_INTEGER, VALUE_STRING, VALUE_HANDLE };

struct value {
  enum value_kind kind;
  long long integer;
  void *handle;
  char *string; /* of VALUE_STRING; owned */
};

struct variable {
  char *name;
  struct value value;
  struct variable *next;
};

/* A script's variables. Used by one thread: calls on other threads get their arguments before they start. */
struct variables {
  struct variable *first;
};

struct value value_copy(const struct value *value);
void value_free(struct value *value);

/* Writes it as in a string: a handle as "handle". */
void value_write(struct text *out, const struct value *value);

/* Takes ownership of the value. */
void variable_set(struct variables *variables, const char *name, struct value value);
void variables_free(struct variables *variables);

/*
 * Looks up `name`, or `name.path` if the variable holds JSON: a string there becomes a string, a number an integer,
 * anything else its JSON. False if there is no such variable, or nothing at the path.
 */
bool variable_look_up(const struct variables *variables, const char *name, size_t length, struct value *found);

#endif
