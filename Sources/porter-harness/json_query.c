#include <stdlib.h>
#include <string.h>

#include "json.h"

static const struct json *element(const struct json *value, const char *name, size_t length) {
  if (value->kind == JSON_OBJECT) {
    for (const struct json *child = value->child; child != NULL; child = child->next)
      if (strncmp(child->key, name, length) == 0 && child->key[length] == '\0') return child;
  } else if (value->kind == JSON_ARRAY && length > 0) {
    char *end = NULL;
    unsigned long index = strtoul(name, &end, 10);
    if (end != name + length) return NULL;
    const struct json *child = value->child;
    while (child != NULL && index-- > 0) child = child->next;
    return child;
  }
  return NULL;
}

const struct json *json_at(const struct json *value, const char *path) {
  while (value != NULL && *path != '\0') {
    size_t length = strcspn(path, ".");
    value = element(value, path, length);
    path += length;
    if (*path == '.') path++;
  }
  return value;
}

const char *json_string_at(const struct json *value, const char *path) {
  const struct json *found = json_at(value, path);
  return found != NULL && found->kind == JSON_STRING ? found->string : NULL;
}

long long json_integer_at(const struct json *value, const char *path, long long fallback) {
  const struct json *found = json_at(value, path);
  if (found == NULL || found->kind != JSON_NUMBER) return fallback;
  char *end = NULL;
  long long number = strtoll(found->string, &end, 10);
  return *end == '\0' ? number : fallback;
}

size_t json_count(const struct json *value) {
  size_t count = 0;
  if (value == NULL) return 0;
  for (const struct json *child = value->child; child != NULL; child = child->next) count++;
  return count;
}

void json_write(struct text *out, const struct json *value) {
  switch (value->kind) {
    case JSON_NULL: text_add_string(out, "null"); return;
    case JSON_FALSE: text_add_string(out, "false"); return;
    case JSON_TRUE: text_add_string(out, "true"); return;
    case JSON_NUMBER: text_add_string(out, value->string); return;
    case JSON_STRING: json_write_string(out, value->string); return;
    case JSON_ARRAY:
    case JSON_OBJECT: break;
  }
  text_add_string(out, value->kind == JSON_ARRAY ? "[" : "{");
  for (const struct json *child = value->child; child != NULL; child = child->next) {
    if (child != value->child) text_add_string(out, ",");
    if (value->kind == JSON_OBJECT) {
      json_write_string(out, child->key);
      text_add_string(out, ":");
    }
    json_write(out, child);
  }
  text_add_string(out, value->kind == JSON_ARRAY ? "]" : "}");
}

/* The length of the UTF-8 sequence at `bytes` (RFC 3629); 0 if there is none. */
static size_t sequence_length(const unsigned char *bytes) {
  unsigned char first = bytes[0];
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  size_t length;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  else if (first >= 0xE0 && first <= 0xEF) length = 3;
  else if (first >= 0xF0 && first <= 0xF4) length = 4;
  else return 0;
  if (first == 0xE0) lowest = 0xA0;
  if (first == 0xED) highest = 0x9F;
  if (first == 0xF0) lowest = 0x90;
  if (first == 0xF4) highest = 0x8F;
  if (bytes[1] < lowest || bytes[1] > highest) return 0;
  for (size_t index = 2; index < length; index++)
    if (bytes[index] < 0x80 || bytes[index] > 0xBF) return 0;
  return length;
}

void json_write_string(struct text *out, const char *string) {
  text_add_string(out, "\"");
  while (*string != '\0') {
    unsigned char byte = (unsigned char)*string;
    if (byte == '"' || byte == '\\') {
      text_add_string(out, "\\");
      text_add(out, string++, 1);
    } else if (byte == '\n') {
      text_add_string(out, "\\n");
      string++;
    } else if (byte < 0x20 || byte == 0x7F) {
      text_format(out, "\\u%04x", (unsigned)byte);
      string++;
    } else {
      size_t length = sequence_length((const unsigned char *)string);
      if (length == 0) text_add_string(out, "\xEF\xBF\xBD");
      else text_add(out, string, length);
      string += length == 0 ? 1 : length;
    }
  }
  text_add_string(out, "\"");
}
