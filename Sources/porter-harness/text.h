/*
 * A growing text, and memory allocation that ends the process with a message on failure: the best a harness can do.
 */
#ifndef PORTER_TEXT_H
#define PORTER_TEXT_H

#include <stddef.h>

struct text {
  char *bytes; /* NUL-terminated once something was added; NULL before */
  size_t length;
  size_t capacity;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_add_string(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the memory. */
void text_clear(struct text *text);
void text_free(struct text *text);

/* Never NULL; belongs to the text. */
const char *text_string(const struct text *text);

/* Zeroed; released with free(). */
void *allocate(size_t size);
char *copy_string(const char *string);

#endif
