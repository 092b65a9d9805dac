/* Everything that happened in a night, kept for the page: events, steps of machines, and when processes ran. */
#ifndef PORTER_RECORD_H
#define PORTER_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

/* A process, from its start to its end. */
struct recorded_process {
  const char *actor; /* belongs to the caller, and must outlive the record */
  pid_t pid;
  uint64_t started_at; /* microseconds, as now_microseconds() */
  uint64_t ended_at;   /* 0: it is running */
  unsigned locks;      /* last seen held by it */
  unsigned open_files;
};

struct record {
  bool on; /* else nothing is kept */
  uint64_t started_at;
  struct text events; /* JSON objects, separated by commas */
  struct recorded_process *processes;
  size_t count;
};

/* Adds one JSON object. */
void record_event(struct record *record, const char *json);

void record_started(struct record *record, const char *actor, pid_t pid, uint64_t started_at);
/* Records that it no longer holds anything: the system has released everything, even if it was killed. */
void record_ended(struct record *record, pid_t pid);

/* The actor's last process, if running; else 0. */
pid_t record_running(const struct record *record, const char *actor);

/* Adds what a running process holds of the store's files, if it has changed. */
void record_locks(struct record *record, pid_t pid, const char *store);

/* Whether a process was the first of its actor to start. */
bool record_is_first(const struct record *record, size_t process);

/* Adds the steps of machines from a log written with `--log`. A missing log has none. */
void record_steps(struct record *record, const char *actor, const char *log);

/* Writes the page, which needs no other file and no network. False with errno. */
bool record_write_page(const struct record *record, const char *path, const char *name, const char *sentence,
                       bool held);

void record_free(struct record *record);

#endif
