#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "invoke.h"
#include "json.h"
#include "locks.h"
#include "page_template.h"

static double milliseconds(const struct record *record, uint64_t at) {
  return at < record->started_at ? 0 : (double)(at - record->started_at) / 1000;
}

void record_event(struct record *record, const char *json) {
  if (!record->on) return;
  if (record->events.length > 0) text_add_string(&record->events, ",\n");
  text_add_string(&record->events, json);
}

/* ------------------------------------------------------------------------------------------------ processes */

void record_started(struct record *record, const char *actor, pid_t pid, uint64_t started_at) {
  if (!record->on) return;
  struct recorded_process *grown = allocate((record->count + 1) * sizeof *grown);
  if (record->count > 0) memcpy(grown, record->processes, record->count * sizeof *grown);
  grown[record->count++] = (struct recorded_process){.actor = actor, .pid = pid, .started_at = started_at};
  free(record->processes);
  record->processes = grown;
}

static struct recorded_process *running(const struct record *record, pid_t pid) {
  for (size_t index = 0; index < record->count; index++)
    if (record->processes[index].pid == pid && record->processes[index].ended_at == 0)
      return &record->processes[index];
  return NULL;
}

pid_t record_running(const struct record *record, const char *actor) {
  for (size_t index = record->count; index > 0; index--) {
    const struct recorded_process *process = &record->processes[index - 1];
    if (strcmp(process->actor, actor) == 0) return process->ended_at == 0 ? process->pid : 0;
  }
  return 0;
}

static void record_holding(struct record *record, struct recorded_process *process, unsigned locks, unsigned open_files,
                           uint64_t at) {
  if (locks == process->locks && open_files == process->open_files) return;
  struct text line = {0};
  text_format(&line,
              "{\"event\":\"locks\",\"actor\":\"%s\",\"ms\":%.3f,\"process\":%d,\"locks\":%u,\"openFiles\":%u}",
              process->actor, milliseconds(record, at), (int)process->pid, locks, open_files);
  record_event(record, text_string(&line));
  text_free(&line);
  process->locks = locks;
  process->open_files = open_files;
}

void record_locks(struct record *record, pid_t pid, const char *store) {
  struct recorded_process *process = record->on ? running(record, pid) : NULL;
  struct holding holding;
  if (process == NULL || !holding_of(pid, store, &holding)) return;
  record_holding(record, process, holding.locks, holding.open_files, now_microseconds());
  text_free(&holding.description);
}

void record_ended(struct record *record, pid_t pid) {
  struct recorded_process *process = record->on ? running(record, pid) : NULL;
  if (process == NULL) return;
  process->ended_at = now_microseconds();
  record_holding(record, process, 0, 0, process->ended_at);
}

/* ------------------------------------------------------------------------------------------------ steps */

/* The actor's process that ran at this moment; 0 if none is known. */
static pid_t process_at(const struct record *record, const char *actor, uint64_t at) {
  for (size_t index = 0; index < record->count; index++) {
    const struct recorded_process *process = &record->processes[index];
    if (strcmp(process->actor, actor) == 0 && process->started_at <= at &&
        (process->ended_at == 0 || at <= process->ended_at))
      return process->pid;
  }
  return 0;
}

/* Converts a time of day in a line of porter-push by the current difference of the system's clocks. */
static uint64_t from_time_of_day(const char *text) {
  struct tm day = {0};
  unsigned milliseconds;
  if (sscanf(text, "%d-%d-%dT%d:%d:%d.%3u", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour, &day.tm_min,
             &day.tm_sec, &milliseconds) != 7)
    return 0;
  day.tm_year -= 1900;
  day.tm_mon -= 1;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t ago = ((int64_t)now.tv_sec - timegm(&day)) * 1000000 + now.tv_nsec / 1000 - (int64_t)milliseconds * 1000;
  return now_microseconds() - (uint64_t)ago;
}

/*
 * The time before a step in a log line: microseconds, or the time of day; 0 for neither. MICROSECONDS LEVEL step …
 *   apps, extensions and porter-server time=TIME level=LEVEL message="step …" porter-push
 */
static uint64_t time_of(const char *line) {
  unsigned long long at;
  if (strncmp(line, "time=", 5) == 0) return from_time_of_day(line + 5);
  return sscanf(line, "%llu ", &at) == 1 ? at : 0;
}

static void record_step(struct record *record, const char *actor, const char *line) {
  const char *step = strstr(line, "step machine=");
  uint64_t at = step == NULL ? 0 : time_of(line);
  char machine[48], subject[48], event[64], from[64], to[64], answer[64];
  if (at == 0 || sscanf(step,
                        "step machine=%47s subject=%47s event=%63s from=%63s to=%63s answer=%63[^\" \n]", machine,
                        subject, event, from, to, answer) != 6)
    return;
  struct text text = {0};
  text_format(&text,
              "{\"event\":\"step\",\"actor\":\"%s\",\"ms\":%.3f,\"process\":%d,\"machine\":\"%s\",\"subject\":\"%s\","
              "\"on\":\"%s\",\"from\":\"%s\",\"to\":\"%s\",\"answer\":\"%s\"}",
              actor, milliseconds(record, at), (int)process_at(record, actor, at), machine, subject, event, from, to,
              answer);
  record_event(record, text_string(&text));
  text_free(&text);
}

bool record_is_first(const struct record *record, size_t process) {
  for (size_t index = 0; index < process; index++)
    if (strcmp(record->processes[index].actor, record->processes[process].actor) == 0) return false;
  return true;
}

void record_steps(struct record *record, const char *actor, const char *log) {
  FILE *file = record->on ? fopen(log, "r") : NULL;
  char *line = NULL;
  size_t capacity = 0;
  while (file != NULL && getline(&line, &capacity, file) > 0) record_step(record, actor, line);
  free(line);
  if (file != NULL) fclose(file);
}

/* ------------------------------------------------------------------------------------------------ the page */

static void write_processes(const struct record *record, struct text *out) {
  for (size_t index = 0; index < record->count; index++) {
    const struct recorded_process *process = &record->processes[index];
    text_format(out, "%s{\"actor\":\"%s\",\"process\":%d,\"started\":%.3f,\"ended\":", index == 0 ? "" : ",",
                process->actor, (int)process->pid, milliseconds(record, process->started_at));
    if (process->ended_at == 0) text_add_string(out, "null}");
    else text_format(out, "%.3f}", milliseconds(record, process->ended_at));
  }
}

/* Inside a script element, "</script" and "<!--" would end or change it, so every "<" is escaped. */
static void write_safely(FILE *file, const char *json) {
  for (const char *c = json; *c != '\0'; c++) {
    if (*c == '<') fputs("\\u003c", file);
    else putc(*c, file);
  }
}

bool record_write_page(const struct record *record, const char *path, const char *name, const char *sentence,
                       bool held) {
  FILE *file = fopen(path, "w");
  if (file == NULL) return false;
  struct text night = {0};
  text_add_string(&night, "{\"name\":");
  json_write_string(&night, name);
  text_add_string(&night, ",\"sentence\":");
  json_write_string(&night, sentence);
  text_format(&night, ",\"held\":%s,\"processes\":[", held ? "true" : "false");
  write_processes(record, &night);
  text_add_string(&night, "],\"events\":[");
  text_add_string(&night, text_string(&record->events));
  text_add_string(&night, "]}");
  for (size_t index = 0; page_template[index] != NULL; index++) {
    const char *place = strstr(page_template[index], "@NIGHT@");
    if (place == NULL) {
      fputs(page_template[index], file);
      continue;
    }
    fwrite(page_template[index], 1, (size_t)(place - page_template[index]), file);
    write_safely(file, text_string(&night));
    fputs(place + strlen("@NIGHT@"), file);
  }
  text_free(&night);
  return fclose(file) == 0;
}

void record_free(struct record *record) {
  text_free(&record->events);
  free(record->processes);
}
