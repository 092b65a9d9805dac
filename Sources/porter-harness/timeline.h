/* Reports what happens as it happens: a readable timeline, or one JSON object per line. */
#ifndef PORTER_TIMELINE_H
#define PORTER_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"
#include "text.h"

struct timeline {
  bool json;
  bool colours;
  uint64_t started_at;
  struct record *record; /* NULL: nothing is kept */
};

/* Colours are for terminals, and only when NO_COLOR is not set (no-color.org). */
void timeline_start(struct timeline *timeline, bool json);

/*
 * Reports one event. `actor` is its originator, `event` its name in JSON, `fields` further JSON members ("" or
 * `"a":1,"b":2`), and `said` the readable sentence.
 */
void timeline_tell(const struct timeline *timeline, const char *actor, const char *event, const char *fields,
                   const char *said);

/* Writes a separate line, in JSON only or in text only. */
void timeline_json_line(const struct timeline *timeline, const char *line);
void timeline_text_line(const struct timeline *timeline, const char *line);

#endif
