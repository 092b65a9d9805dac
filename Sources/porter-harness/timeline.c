#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "invoke.h"
#include "json.h"

void timeline_start(struct timeline *timeline, bool json) {
  const char *none = getenv("NO_COLOR");
  const char *terminal = getenv("TERM");
  timeline->json = json;
  timeline->colours = !json && isatty(1) && (none == NULL || *none == '\0') &&
                      (terminal == NULL || strcmp(terminal, "dumb") != 0);
  timeline->started_at = now_microseconds();
}

static const char *colour_of(const char *actor) {
  static const char *const colours[][2] = {
      {"device", "\033[2m"},     {"server", "\033[33m"},    {"alice", "\033[36m"},
      {"bob", "\033[34m"},       {"extension", "\033[35m"}, {"failed", "\033[1;31m"},
      {"held", "\033[32m"},     {"relay", "\033[31m"},     {"share", "\033[35m"},
      {"notification", "\033[1;32m"},
  };
  for (size_t index = 0; index < sizeof colours / sizeof colours[0]; index++)
    if (strcmp(colours[index][0], actor) == 0) return colours[index][1];
  return "";
}

static void put(const char *line) {
  fputs(line, stdout);
  putc('\n', stdout);
  fflush(stdout);
}

void timeline_tell(const struct timeline *timeline, const char *actor, const char *event, const char *fields,
                   const char *said) {
  double milliseconds = (double)(now_microseconds() - timeline->started_at) / 1000;
  struct text line = {0};
  if (timeline->record != NULL && timeline->record->on) {
    text_format(&line, "{\"event\":\"%s\",\"actor\":\"%s\",\"ms\":%.3f%s%s,\"said\":", event, actor, milliseconds,
                *fields == '\0' ? "" : ",", fields);
    json_write_string(&line, said);
    text_add_string(&line, "}");
    record_event(timeline->record, text_string(&line));
    text_clear(&line);
  }
  if (timeline->json) {
    text_format(&line, "{\"event\":\"%s\",\"actor\":\"%s\",\"ms\":%.3f%s%s}", event, actor, milliseconds,
                *fields == '\0' ? "" : ",", fields);
  } else {
    const char *colour = timeline->colours ? colour_of(actor) : "";
    text_format(&line, "%9.1f ms  %s%-12s  %s%s", milliseconds, colour, actor, said, *colour == '\0' ? "" : "\033[0m");
  }
  put(text_string(&line));
  text_free(&line);
}

void timeline_json_line(const struct timeline *timeline, const char *line) {
  if (timeline->json) put(line);
}

void timeline_text_line(const struct timeline *timeline, const char *line) {
  if (!timeline->json) put(line);
}
