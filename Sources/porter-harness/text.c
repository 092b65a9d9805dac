#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_end(void *memory) {
  if (memory == NULL) {
    fputs("porter-harness: out of memory\n", stderr);
    exit(70);
  }
  return memory;
}

void *allocate(size_t size) { return or_end(calloc(1, size)); }

char *copy_string(const char *string) { return or_end(strdup(string)); }

void text_add(struct text *text, const char *bytes, size_t length) {
  size_t needed = text->length + length + 1;
  if (needed > text->capacity) {
    size_t capacity = text->capacity == 0 ? 256 : text->capacity;
    while (capacity < needed) capacity *= 2;
    text->bytes = or_end(realloc(text->bytes, capacity));
    text->capacity = capacity;
  }
  if (length > 0) memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
  text->bytes[text->length] = '\0';
}

void text_add_string(struct text *text, const char *string) { text_add(text, string, strlen(string)); }

void text_format(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *formatted = NULL;
  int length = vasprintf(&formatted, format, arguments);
  va_end(arguments);
  if (length < 0) or_end(NULL);
  text_add(text, formatted, (size_t)length);
  free(formatted);
}

void text_clear(struct text *text) {
  text->length = 0;
  if (text->bytes != NULL) text->bytes[0] = '\0';
}

void text_free(struct text *text) {
  free(text->bytes);
  *text = (struct text){0};
}

const char *text_string(const struct text *text) { return text->bytes == NULL ? "" : text->bytes; }
