#include "value.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

struct value value_copy(const struct value *value) {
  struct value copy = *value;
  if (value->string != NULL) copy.string = copy_string(value->string);
  return copy;
}

void value_free(struct value *value) {
  free(value->string);
  *value = (struct value){0};
}

void value_write(struct text *out, const struct value *value) {
  switch (value->kind) {
    case VALUE_NULL: text_add_string(out, "null"); break;
    case VALUE_INTEGER: text_format(out, "%lld", value->integer); break;
    case VALUE_STRING: text_add_string(out, value->string); break;
    case VALUE_HANDLE: text_add_string(out, "handle"); break;
  }
}

static struct variable *find(const struct variables *variables, const char *name, size_t length) {
  struct variable *variable = variables->first;
  while (variable != NULL && (strncmp(variable->name, name, length) != 0 || variable->name[length] != '\0'))
    variable = variable->next;
  return variable;
}

void variable_set(struct variables *variables, const char *name, struct value value) {
  struct variable *variable = find(variables, name, strlen(name));
  if (variable == NULL) {
    variable = allocate(sizeof *variable);
    variable->name = copy_string(name);
    variable->next = variables->first;
    variables->first = variable;
  }
  value_free(&variable->value);
  variable->value = value;
}

void variables_free(struct variables *variables) {
  while (variables->first != NULL) {
    struct variable *next = variables->first->next;
    free(variables->first->name);
    value_free(&variables->first->value);
    free(variables->first);
    variables->first = next;
  }
}

static struct value from_json(const struct json *json) {
  struct value value = {0};
  if (json->kind == JSON_NUMBER) {
    char *end = NULL;
    value.integer = strtoll(json->string, &end, 10);
    if (*end == '\0') {
      value.kind = VALUE_INTEGER;
      return value;
    }
  }
  value.kind = VALUE_STRING;
  if (json->kind == JSON_STRING) {
    value.string = copy_string(json->string);
  } else {
    struct text written = {0};
    json_write(&written, json);
    value.string = written.bytes;
  }
  return value;
}

bool variable_look_up(const struct variables *variables, const char *name, size_t length, struct value *found) {
  const char *dot = memchr(name, '.', length);
  size_t name_length = dot == NULL ? length : (size_t)(dot - name);
  const struct variable *variable = find(variables, name, name_length);
  if (variable == NULL) return false;
  if (dot == NULL) {
    *found = value_copy(&variable->value);
    return true;
  }
  if (variable->value.kind != VALUE_STRING) return false;
  struct json *json = json_parse(variable->value.string, strlen(variable->value.string));
  struct text path = {0};
  text_add(&path, dot + 1, length - name_length - 1);
  const struct json *part = json == NULL ? NULL : json_at(json, text_string(&path));
  if (part != NULL) *found = from_json(part);
  text_free(&path);
  json_free(json);
  return part != NULL;
}
