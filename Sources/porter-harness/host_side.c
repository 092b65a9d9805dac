#include "host_side.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "invoke.h"
#include "json.h"

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

void write_line(const char *line) {
  pthread_mutex_lock(&output);
  fputs(line, stdout);
  putc('\n', stdout);
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

/* ------------------------------------------------------------------------------------------------ transports */

enum behaviour { OFFLINE, SILENT, EMPTY, GARBAGE };

static np_error exchange(void *context, const uint8_t *request, size_t request_length, uint8_t **answer,
                         size_t *answer_length, int timeout_ms) {
  (void)request;
  (void)request_length;
  switch (*(const enum behaviour *)context) {
    case OFFLINE: return NP_ERROR_SYSTEM;
    case SILENT: {
      struct timespec pause = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
      nanosleep(&pause, NULL);
      return NP_ERROR_TIMEOUT;
    }
    case EMPTY:
      *answer = NULL;
      *answer_length = 0;
      return NP_OK;
    case GARBAGE:
      *answer_length = 64;
      *answer = malloc(*answer_length);
      if (*answer == NULL) return NP_ERROR_SYSTEM;
      memset(*answer, 0xA5, *answer_length);
      return NP_OK;
  }
  return NP_ERROR_SYSTEM;
}

const np_relay *host_relay(const char *name) {
  static enum behaviour behaviours[] = {OFFLINE, SILENT, EMPTY, GARBAGE};
  static const char *const names[] = {"offline", "silent", "empty", "garbage"};
  static const np_relay relays[] = {
      {.size = sizeof(np_relay), .context = &behaviours[0], .exchange = exchange},
      {.size = sizeof(np_relay), .context = &behaviours[1], .exchange = exchange},
      {.size = sizeof(np_relay), .context = &behaviours[2], .exchange = exchange},
      {.size = sizeof(np_relay), .context = &behaviours[3], .exchange = exchange},
  };
  for (size_t index = 0; name != NULL && index < sizeof names / sizeof names[0]; index++)
    if (strcmp(names[index], name) == 0) return &relays[index];
  return NULL;
}

/* ------------------------------------------------------------------------------------------------ log */

static void log_to_output(void *context, int level, const char *line) {
  (void)context;
  struct text text = {0};
  text_add_string(&text, "{\"log\":");
  json_write_string(&text, line);
  text_format(&text, ",\"level\":%d}", level);
  write_line(text_string(&text));
  text_free(&text);
}

static void log_to_error(void *context, int level, const char *line) {
  (void)context;
  fprintf(stderr, "%llu %d %s\n", (unsigned long long)now_microseconds(), level, line);
}

np_log_sink host_log_sink(const char *name) {
  if (name == NULL) return NULL;
  if (strcmp(name, "output") == 0) return log_to_output;
  return strcmp(name, "error") == 0 ? log_to_error : NULL;
}
