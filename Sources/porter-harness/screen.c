#include "screen.h"

#include <stdlib.h>
#include <string.h>

static char *copy_at(const struct json *value, const char *path) {
  const char *found = json_string_at(value, path);
  return copy_string(found == NULL ? "" : found);
}

static char *copy_json(const struct json *value) {
  if (value == NULL) return copy_string("{}");
  struct text text = {0};
  json_write(&text, value);
  return text.bytes;
}

static void shown_free(struct shown *shown) {
  free(shown->identifier);
  free(shown->title);
  free(shown->body);
  free(shown->category);
  free(shown->target);
  free(shown->user_info);
  free(shown);
}

/* Removes the notification with this identifier from the list; NULL if there is none. */
static struct shown *take(struct screen *screen, const char *identifier) {
  struct shown **place = &screen->first;
  while (*place != NULL && strcmp((*place)->identifier, identifier) != 0) place = &(*place)->next;
  struct shown *shown = *place;
  if (shown != NULL) *place = shown->next;
  return shown;
}

static void report(const struct timeline *timeline, const char *event, const struct shown *shown, long long badge) {
  struct text fields = {0};
  struct text said = {0};
  text_add_string(&fields, "\"identifier\":");
  json_write_string(&fields, shown->identifier);
  text_add_string(&fields, ",\"title\":");
  json_write_string(&fields, shown->title);
  text_add_string(&fields, ",\"body\":");
  json_write_string(&fields, shown->body);
  text_format(&fields, ",\"badge\":%lld,\"sound\":%s", badge, shown->sound ? "true" : "false");
  if (strcmp(event, "withdrawn") == 0) text_format(&said, "withdrawn: %s %s", shown->title, shown->body);
  else text_format(&said, "%s %s   (badge %lld)", shown->title, shown->body, badge);
  timeline_tell(timeline, "notification", event, text_string(&fields), text_string(&said));
  text_free(&fields);
  text_free(&said);
}

static void withdraw(struct screen *screen, const struct timeline *timeline, const char *identifier) {
  struct shown *old = take(screen, identifier);
  if (old == NULL) return;
  screen->withdrawn++;
  report(timeline, "withdrawn", old, screen->badge);
  shown_free(old);
}

static void show(struct screen *screen, const struct timeline *timeline, const struct json *notification) {
  struct shown *shown = allocate(sizeof *shown);
  shown->identifier = copy_at(notification, "identifier");
  shown->title = copy_at(notification, "title");
  shown->body = copy_at(notification, "body");
  shown->category = copy_at(notification, "categoryIdentifier");
  shown->target = copy_at(notification, "targetContentIdentifier");
  shown->user_info = copy_json(json_at(notification, "userInfo"));
  shown->sound = json_string_at(notification, "sound") != NULL;
  struct shown *old = take(screen, shown->identifier);
  if (old == NULL) screen->shown++;
  else screen->replaced++;
  if (old != NULL && strcmp(old->title, shown->title) == 0 && strcmp(old->body, shown->body) == 0) screen->repeated++;
  if (shown->sound) screen->sounds++;
  report(timeline, old == NULL ? "notification" : "replaced", shown, screen->badge);
  if (old != NULL) shown_free(old);
  shown->next = screen->first;
  screen->first = shown;
}

void screen_apply(struct screen *screen, const struct timeline *timeline, const struct json *answer) {
  const struct json *withdrawals = json_at(answer, "withdrawals");
  const struct json *notifications = json_at(answer, "notifications");
  screen->badge = json_integer_at(answer, "badge", screen->badge);
  for (const struct json *one = withdrawals == NULL ? NULL : withdrawals->child; one != NULL; one = one->next)
    if (one->string != NULL) withdraw(screen, timeline, one->string);
  for (const struct json *one = notifications == NULL ? NULL : notifications->child; one != NULL; one = one->next)
    show(screen, timeline, one);
}

const struct shown *screen_find(const struct screen *screen, const char *title, const char *body) {
  for (const struct shown *shown = screen->first; shown != NULL; shown = shown->next)
    if ((title == NULL || strstr(shown->title, title) != NULL) && (body == NULL || strstr(shown->body, body) != NULL))
      return shown;
  return NULL;
}

const struct shown *screen_find_category(const struct screen *screen, const char *category) {
  for (const struct shown *shown = screen->first; shown != NULL; shown = shown->next)
    if (strcmp(shown->category, category) == 0) return shown;
  return NULL;
}

unsigned screen_count(const struct screen *screen) {
  unsigned count = 0;
  for (const struct shown *shown = screen->first; shown != NULL; shown = shown->next) count++;
  return count;
}

bool screen_contains(const struct screen *screen, const char *text) {
  return screen_find(screen, text, NULL) != NULL || screen_find(screen, NULL, text) != NULL;
}

void screen_dismiss(struct screen *screen, const struct shown *shown) {
  struct shown *taken = take(screen, shown->identifier);
  if (taken != NULL) shown_free(taken);
}

void screen_free(struct screen *screen) {
  while (screen->first != NULL) {
    struct shown *next = screen->first->next;
    shown_free(screen->first);
    screen->first = next;
  }
}
