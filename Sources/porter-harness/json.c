#include "json.h"

#include <stdlib.h>
#include <string.h>

#define MAXIMUM_DEPTH 64

struct reader {
  const char *cursor;
  const char *end;
};

static void skip_space(struct reader *reader) {
  while (reader->cursor < reader->end && strchr(" \t\r\n", *reader->cursor) != NULL && *reader->cursor != '\0')
    reader->cursor++;
}

static bool take(struct reader *reader, char byte) {
  if (reader->cursor >= reader->end || *reader->cursor != byte) return false;
  reader->cursor++;
  return true;
}

static bool take_word(struct reader *reader, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(reader->end - reader->cursor) < length || memcmp(reader->cursor, word, length) != 0) return false;
  reader->cursor += length;
  return true;
}

/* ------------------------------------------------------------------------------------------------ strings */

static bool read_four_digits(struct reader *reader, unsigned *code) {
  if (reader->end - reader->cursor < 4) return false;
  *code = 0;
  for (int digit = 0; digit < 4; digit++) {
    char byte = *reader->cursor++;
    unsigned value;
    if (byte >= '0' && byte <= '9') value = (unsigned)(byte - '0');
    else if (byte >= 'a' && byte <= 'f') value = (unsigned)(byte - 'a') + 10;
    else if (byte >= 'A' && byte <= 'F') value = (unsigned)(byte - 'A') + 10;
    else return false;
    *code = *code * 16 + value;
  }
  return true;
}

static void add_code_point(struct text *out, unsigned code) {
  char bytes[4];
  size_t length;
  if (code < 0x80) {
    bytes[0] = (char)code;
    length = 1;
  } else if (code < 0x800) {
    bytes[0] = (char)(0xC0 | (code >> 6));
    bytes[1] = (char)(0x80 | (code & 0x3F));
    length = 2;
  } else if (code < 0x10000) {
    bytes[0] = (char)(0xE0 | (code >> 12));
    bytes[1] = (char)(0x80 | ((code >> 6) & 0x3F));
    bytes[2] = (char)(0x80 | (code & 0x3F));
    length = 3;
  } else {
    bytes[0] = (char)(0xF0 | (code >> 18));
    bytes[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    bytes[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    bytes[3] = (char)(0x80 | (code & 0x3F));
    length = 4;
  }
  text_add(out, bytes, length);
}

/* Behind "\u". A lone surrogate becomes U+FFFD. A NUL cannot be in a C string and is refused. */
static bool read_unicode_escape(struct reader *reader, struct text *out) {
  unsigned code;
  if (!read_four_digits(reader, &code) || code == 0) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    struct reader ahead = *reader;
    unsigned low;
    if (take_word(&ahead, "\\u") && read_four_digits(&ahead, &low) && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      *reader = ahead;
    } else {
      code = 0xFFFD;
    }
  } else if (code >= 0xDC00 && code < 0xE000) {
    code = 0xFFFD;
  }
  add_code_point(out, code);
  return true;
}

static bool read_escape(struct reader *reader, struct text *out) {
  static const char names[] = "\"\\/bfnrt";
  static const char bytes[] = "\"\\/\b\f\n\r\t";
  if (reader->cursor >= reader->end) return false;
  char name = *reader->cursor++;
  if (name == 'u') return read_unicode_escape(reader, out);
  const char *found = name == '\0' ? NULL : strchr(names, name);
  if (found == NULL) return false;
  text_add(out, &bytes[found - names], 1);
  return true;
}

bool json_read_string(const char **cursor, const char *end, struct text *out, json_expander expand, void *context) {
  struct reader reader = {*cursor, end};
  if (!take(&reader, '"')) return false;
  text_add(out, "", 0);
  while (reader.cursor < reader.end) {
    char byte = *reader.cursor++;
    if (byte == '"') {
      *cursor = reader.cursor;
      return true;
    }
    if (byte == '\\') {
      if (!read_escape(&reader, out)) return false;
    } else if (byte == '$' && expand != NULL && reader.cursor < reader.end && *reader.cursor == '{') {
      const char *name = reader.cursor + 1;
      const char *close = memchr(name, '}', (size_t)(reader.end - name));
      if (close == NULL || !expand(context, name, (size_t)(close - name), out)) return false;
      reader.cursor = close + 1;
    } else if ((unsigned char)byte < 0x20) {
      return false;
    } else {
      text_add(out, &byte, 1);
    }
  }
  return false;
}

/* ------------------------------------------------------------------------------------------------ values */

static struct json *read_value(struct reader *reader, int depth);

static struct json *make(enum json_kind kind) {
  struct json *value = allocate(sizeof *value);
  value->kind = kind;
  return value;
}

static struct json *read_number(struct reader *reader) {
  const char *start = reader->cursor;
  while (reader->cursor < reader->end && *reader->cursor != '\0' && strchr("+-.0123456789eE", *reader->cursor) != NULL)
    reader->cursor++;
  struct text written = {0};
  text_add(&written, start, (size_t)(reader->cursor - start));
  char *end = NULL;
  strtod(text_string(&written), &end);
  if (written.length == 0 || *start == '+' || *start == '.' || *end != '\0') {
    text_free(&written);
    return NULL;
  }
  struct json *value = make(JSON_NUMBER);
  value->string = written.bytes;
  return value;
}

static char *read_owned_string(struct reader *reader) {
  struct text decoded = {0};
  if (!json_read_string(&reader->cursor, reader->end, &decoded, NULL, NULL)) {
    text_free(&decoded);
    return NULL;
  }
  return decoded.bytes;
}

/* Reads the elements of an array or object, after its opening bracket. */
static bool read_elements(struct reader *reader, struct json *parent, char close, int depth) {
  struct json **last = &parent->child;
  skip_space(reader);
  if (take(reader, close)) return true;
  for (;;) {
    char *key = NULL;
    skip_space(reader);
    if (parent->kind == JSON_OBJECT) {
      key = read_owned_string(reader);
      if (key == NULL) return false;
      skip_space(reader);
      if (!take(reader, ':')) {
        free(key);
        return false;
      }
    }
    struct json *element = read_value(reader, depth + 1);
    if (element == NULL) {
      free(key);
      return false;
    }
    element->key = key;
    *last = element;
    last = &element->next;
    skip_space(reader);
    if (take(reader, close)) return true;
    if (!take(reader, ',')) return false;
  }
}

static struct json *read_value(struct reader *reader, int depth) {
  if (depth > MAXIMUM_DEPTH) return NULL;
  skip_space(reader);
  if (take_word(reader, "null")) return make(JSON_NULL);
  if (take_word(reader, "true")) return make(JSON_TRUE);
  if (take_word(reader, "false")) return make(JSON_FALSE);
  if (reader->cursor < reader->end && *reader->cursor == '"') {
    char *string = read_owned_string(reader);
    if (string == NULL) return NULL;
    struct json *value = make(JSON_STRING);
    value->string = string;
    return value;
  }
  bool array = take(reader, '[');
  if (array || take(reader, '{')) {
    struct json *value = make(array ? JSON_ARRAY : JSON_OBJECT);
    if (read_elements(reader, value, array ? ']' : '}', depth)) return value;
    json_free(value);
    return NULL;
  }
  return read_number(reader);
}

struct json *json_parse(const char *bytes, size_t length) {
  struct reader reader = {bytes, bytes + length};
  struct json *value = read_value(&reader, 0);
  skip_space(&reader);
  if (reader.cursor == reader.end) return value;
  json_free(value);
  return NULL;
}

void json_free(struct json *value) {
  while (value != NULL) {
    struct json *next = value->next;
    json_free(value->child);
    free(value->key);
    free(value->string);
    free(value);
    value = next;
  }
}
