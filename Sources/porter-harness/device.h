/* A device as the harness plays it: its processes, what has happened, and their shared waiting. */
#ifndef PORTER_DEVICE_H
#define PORTER_DEVICE_H

#include "json.h"
#include "network.h"
#include "process.h"
#include "push_socket.h"
#include "screen.h"
#include "timeline.h"

/* A phone's default limit for a notification extension; the device kills one that exceeds it. */
#define EXTENSION_MEGABYTES 24
#define EXTENSION_MILLISECONDS 30000

struct options {
  bool json;
  bool log;                   /* extensions write the library's log */
  bool freeze_without_suspending;
  bool plain;                 /* the stores are not sealed */
  int messages;
  int megabytes;              /* limits of an extension, of 1024 * 1024 bytes each */
  int milliseconds;
  const char *keep;           /* a working directory to keep; NULL: a temporary one */
  const char *kill_stage;     /* where to kill the first extension; NULL: nowhere */
  const char *server_program; /* NULL: porter-server next to this program; on the network porter-push */
  const char *network;        /* location of porter-relay and porter-push; NULL: the embedded relay */
  const char *scenario;       /* NULL: the story */
  const char *page;           /* where to write the night as a page; NULL: nowhere */
};

/* A process driven by script lines, with the store it opens. */
struct host {
  const char *name;
  struct process process;
  char *store;         /* a prefix */
  char *key_file;      /* where the device keeps the store's key; NULL: the store is plain */
  const char *environment; /* one "NAME=value" for its process, or NULL */
  long long user_id;
  long long contact_id; /* the other app's contact, in this host's store */
};

/* The figures for the last line, counted as things happen. */
struct summary {
  unsigned notifications;
  unsigned messages;
  unsigned duplicates;
  unsigned locks_held_when_frozen;
  unsigned held;             /* a scenario's statements that were checked and held */
  long long badge;           /* at the end; -1 while unknown */
  double cold_start_ms;      /* the slowest; below 0 until there is one */
  uint64_t peak_memory;      /* the highest */
  char outcome[32];
};

struct device {
  struct options options;
  struct timeline timeline;
  struct record record;
  struct summary summary;
  struct screen screen;
  char *directory;
  char *program;
  char *server_program;
  char *relay;                /* the embedded relay's file, or the address of the one on the network */
  char *server_link;
  char token[65];
  struct push_socket pushes;
  struct network network;
  struct process relay_server;
  struct process server;
  struct host alice;
  struct host bob;
  struct process extension;
  const char *step;      /* the current step of the story */
  struct text expected;  /* set by device_fail() */
  struct text came;
};

/* A path in the device's directory, to be freed. */
char *device_path(const struct device *device, const char *name);

/* The log of a process; apart from the stores, whose files are found by the beginning of their paths. To be freed. */
char *device_log_path(const struct device *device, const char *name);

/* Records what was expected and what happened instead; the first failure counts. Always returns false. */
bool device_fail(struct device *device, const char *expected, const char *came);

/* Like device_fail(), for a process that did not answer: records how it ended, and the last line of its log. */
bool device_fail_silent(struct device *device, struct process *process, const char *name, const char *expected);

/* Starts a process that logs to the directory, and records that it runs. `actor` is a constant. */
bool device_start(struct device *device, struct process *process, const char *actor, char *const *arguments,
                  const char *extra);

/* Kills the process if it is still running, and records its end. */
void device_end(struct device *device, struct process *process);

/* Set by SIGINT, SIGTERM and SIGHUP, which end every wait. */
bool device_interrupted(void);
void device_watch_signals(void);

/* The moment `milliseconds` from now, as the waits below take it. */
uint64_t deadline_after(int milliseconds);

/* WAITED_NOTHING: the deadline passed, or something arrived for another caller. */
enum waited { WAITED_READY, WAITED_NOTHING, WAITED_INTERRUPTED };

/*
 * Waits until `process` (or NULL: only pushes) has something to read, or a push has arrived. Serves pushes while
 * waiting.
 */
enum waited device_wait(struct device *device, struct process *process, uint64_t deadline);

/* The next line of a process; NULL after the deadline, at its end, or when interrupted. To be freed. */
char *device_line(struct device *device, struct process *process, uint64_t deadline);

/* The next push, or NULL after the deadline. */
struct push *device_push(struct device *device, uint64_t deadline);

/* Starts a host process and opens its store; the controller is `$c` in its script. */
bool host_start(struct device *device, struct host *host, const char *name);

/* Like host_start(), for an existing store and a role other than the app's (enum np_role). */
bool host_start_role(struct device *device, struct host *host, int role);

/* Starts the host again after its process has ended, on the same store with the same key. */
bool host_restart(struct device *device, struct host *host);

/*
 * Sends one script line and takes its answer, to be freed; NULL, with the failure recorded, if none arrived in time.
 */
struct json *host_line(struct device *device, struct host *host, int milliseconds, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/*
 * Sends one API command, and checks the type of its result, unless that is NULL. In two halves, for things that must
 * happen between them: host_ask() does not wait, host_answer() takes the answer.
 */
bool host_ask(struct device *device, struct host *host, const char *command);
struct json *host_answer(struct device *device, struct host *host, const char *command, const char *expected_type);
struct json *host_command(struct device *device, struct host *host, const char *command, const char *expected_type);

/* Waits for an event of this type. */
struct json *host_event(struct device *device, struct host *host, const char *type, int milliseconds);

/* Runs the story, from the start of the server until the badge is clear again. */
bool story_run(struct device *device);

/* The circumstances in which an extension gets a push. */
struct presenting {
  const char *kill_stage; /* where to kill it (debug builds); NULL: nowhere */
  const char *relay;      /* its own transport, see host_relay(); NULL: the device's relay */
  bool locked;            /* before the device's first unlock: the keychain withholds the key */
  bool dozes;             /* its store keeps its files open between two pushes */
};

/*
 * Starts an extension for a push, within a phone's limits, and shows its answer. The answer, to be freed, is NULL if
 * the extension was killed as intended.
 */
bool present_push(struct device *device, const struct push *push, const struct presenting *how, struct json **answer);

/* Like present_push(), with only a stage, and without the answer. */
bool present(struct device *device, const struct push *push, const char *kill_stage);

/*
 * Starts an extension that stays, and whose store dozes between two pushes; hands it one push after another. After a
 * push it holds no lock on the store, and has its files open if it `dozes`. After the first push it closes the store,
 * which it opened before it was asked to doze. device_end() ends it.
 */
bool present_stay(struct device *device);
bool present_again(struct device *device, const struct push *push, bool dozes, struct json **answer);

/* `porter-harness device …` */
int device_main(int argument_count, char **arguments);

extern const char device_usage[];

#endif
