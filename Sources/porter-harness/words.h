/* One line of a script, parsed. */
#ifndef PORTER_WORDS_H
#define PORTER_WORDS_H

#include "interface.h"
#include "value.h"

#define MAXIMUM_WORDS (MAXIMUM_ARGUMENTS + 1)

/*
 *   line     = [ "&" ] [ name "=" ] verb { word }      "&name = …" starts the call on its own thread
 *   word     = string | integer | "null" | "$" name [ "." path ]
 *   string   = as in JSON; an unescaped ${name.path} in it is replaced by its value
 *   comment  = from "#" to the end of the line
 */
struct line {
  char *variable; /* NULL when nothing is assigned */
  bool thread;
  char *verb; /* NULL for an empty line */
  struct value words[MAXIMUM_WORDS];
  size_t word_count;
};

/* False if the line is malformed: `problem` says why. Free the line either way. */
bool line_read(const char *text, const struct variables *variables, struct line *line, struct text *problem);
void line_free(struct line *line);

#endif
