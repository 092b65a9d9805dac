/* Reads and writes JSON (RFC 8259), as far as the harness needs it: whole texts, as a tree. */
#ifndef PORTER_JSON_H
#define PORTER_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
  enum json_kind kind;
  char *key;          /* its name in the containing object, decoded; else NULL */
  char *string;       /* a string decoded, or a number as it was written; else NULL */
  struct json *child; /* first element of an array or object */
  struct json *next;  /* next element of its container */
};

/*
 * NULL if the text is not JSON, is nested deeper than 64, or has a string that contains a NUL. Freed with json_free().
 */
struct json *json_parse(const char *bytes, size_t length);
void json_free(struct json *value);

/* The value at a path such as "result.user.userId" or "notifications.0.title"; NULL if there is none. */
const struct json *json_at(const struct json *value, const char *path);

/* The string at a path; NULL if there is none. Belongs to the value. */
const char *json_string_at(const struct json *value, const char *path);
long long json_integer_at(const struct json *value, const char *path, long long fallback);
size_t json_count(const struct json *value);

/* Writes a value, without white space. */
void json_write(struct text *out, const struct json *value);

/* Writes a string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void json_write_string(struct text *out, const char *string);

/*
 * Decodes one JSON string that begins with its quote at `*cursor`, and moves `*cursor` behind it. False if it is
 * malformed. With `expand`, each unescaped `${name}` in it is passed on for replacement.
 */
typedef bool (*json_expander)(void *context, const char *name, size_t length, struct text *out);
bool json_read_string(const char **cursor, const char *end, struct text *out, json_expander expand, void *context);

#endif
