/* What the phone's user sees: notifications by their identifiers, as in a notification centre. */
#ifndef PORTER_SCREEN_H
#define PORTER_SCREEN_H

#include <stdbool.h>

#include "json.h"
#include "timeline.h"

struct shown {
  char *identifier;
  char *title;
  char *body;
  char *category;
  char *target;    /* targetContentIdentifier */
  char *user_info; /* JSON; returned by a tap */
  bool sound;
  struct shown *next; /* an older one */
};

struct screen {
  struct shown *first; /* the newest */
  unsigned shown;      /* notifications in a new place */
  unsigned replaced;   /* notifications that replaced one with their identifier */
  unsigned repeated;   /* of these, those with the same text */
  unsigned withdrawn;
  unsigned sounds;
  long long badge; /* -1 while unknown */
};

/*
 * Does what an answer conforming to push-answer.schema.json asks for: withdraws, shows, replaces, sets the badge.
 * Reports each.
 */
void screen_apply(struct screen *screen, const struct timeline *timeline, const struct json *answer);

/* The newest notification whose title and body contain these; NULL matches any. */
const struct shown *screen_find(const struct screen *screen, const char *title, const char *body);
const struct shown *screen_find_category(const struct screen *screen, const char *category);
unsigned screen_count(const struct screen *screen);

/* Whether any text on the screen contains this. */
bool screen_contains(const struct screen *screen, const char *text);

/* Removes the notification, as a tap does. */
void screen_dismiss(struct screen *screen, const struct shown *shown);
void screen_free(struct screen *screen);

#endif
