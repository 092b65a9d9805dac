#include "words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

struct scanner {
  const char *cursor;
  const char *end;
  const struct variables *variables;
  struct text *problem;
};

static void skip_blanks(struct scanner *scanner) {
  while (*scanner->cursor == ' ' || *scanner->cursor == '\t' || *scanner->cursor == '\r' || *scanner->cursor == '\n')
    scanner->cursor++;
  if (*scanner->cursor == '#') scanner->cursor = scanner->end;
}

static bool in_name(char byte) { return isalnum((unsigned char)byte) || byte == '_'; }

/* Names, and what follows "$": paths may contain dots. */
static size_t name_length(const char *cursor, bool path) {
  size_t length = 0;
  while (in_name(cursor[length]) || (path && cursor[length] == '.' && in_name(cursor[length + 1]))) length++;
  return length;
}

static char *take_name(struct scanner *scanner) {
  size_t length = name_length(scanner->cursor, false);
  if (length == 0) return NULL;
  struct text name = {0};
  text_add(&name, scanner->cursor, length);
  scanner->cursor += length;
  return name.bytes;
}

static bool expand(void *context, const char *name, size_t length, struct text *out) {
  struct scanner *scanner = context;
  struct value value = {0};
  if (!variable_look_up(scanner->variables, name, length, &value)) {
    text_format(scanner->problem, "undefined: %.*s", (int)length, name);
    return false;
  }
  value_write(out, &value);
  value_free(&value);
  return true;
}

static bool read_string(struct scanner *scanner, struct value *word) {
  struct text decoded = {0};
  if (!json_read_string(&scanner->cursor, scanner->end, &decoded, expand, scanner)) {
    if (scanner->problem->length == 0) text_add_string(scanner->problem, "a string is malformed or unterminated");
    text_free(&decoded);
    return false;
  }
  word->kind = VALUE_STRING;
  word->string = decoded.bytes;
  return true;
}

static bool read_variable(struct scanner *scanner, struct value *word) {
  const char *name = ++scanner->cursor;
  size_t length = name_length(name, true);
  scanner->cursor += length;
  if (variable_look_up(scanner->variables, name, length, word)) return true;
  text_format(scanner->problem, "undefined: %.*s", (int)length, name);
  return false;
}

static bool read_integer(struct scanner *scanner, struct value *word) {
  char *end = NULL;
  errno = 0;
  word->kind = VALUE_INTEGER;
  word->integer = strtoll(scanner->cursor, &end, 0);
  if (errno == 0 && end != scanner->cursor && !in_name(*end)) {
    scanner->cursor = end;
    return true;
  }
  text_format(scanner->problem, "\"%.20s\" is not a string, integer, variable or null", scanner->cursor);
  return false;
}

static bool read_word(struct scanner *scanner, struct value *word) {
  *word = (struct value){0};
  if (*scanner->cursor == '"') return read_string(scanner, word);
  if (*scanner->cursor == '$') return read_variable(scanner, word);
  if (strncmp(scanner->cursor, "null", 4) == 0 && !in_name(scanner->cursor[4])) {
    scanner->cursor += 4;
    return true;
  }
  return read_integer(scanner, word);
}

bool line_read(const char *text, const struct variables *variables, struct line *line, struct text *problem) {
  struct scanner scanner = {text, text + strlen(text), variables, problem};
  *line = (struct line){0};
  skip_blanks(&scanner);
  if (*scanner.cursor == '\0') return true;
  if (*scanner.cursor == '&') {
    line->thread = true;
    scanner.cursor++;
  }
  line->verb = take_name(&scanner);
  skip_blanks(&scanner);
  if (*scanner.cursor == '=') {
    scanner.cursor++;
    skip_blanks(&scanner);
    line->variable = line->verb;
    line->verb = take_name(&scanner);
    skip_blanks(&scanner);
  }
  if (line->verb == NULL || (line->thread && line->variable == NULL)) {
    text_add_string(problem, line->thread ? "a call on a thread is written &name = call" : "a line begins with a name");
    return false;
  }
  while (*scanner.cursor != '\0') {
    if (line->word_count == MAXIMUM_WORDS) {
      text_add_string(problem, "too many arguments");
      return false;
    }
    if (!read_word(&scanner, &line->words[line->word_count])) return false;
    line->word_count++;
    skip_blanks(&scanner);
  }
  return true;
}

void line_free(struct line *line) {
  for (size_t index = 0; index < line->word_count; index++) value_free(&line->words[index]);
  free(line->variable);
  free(line->verb);
  *line = (struct line){0};
}
