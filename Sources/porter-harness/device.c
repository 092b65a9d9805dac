#include "device.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "invoke.h"
#include "stage.h"

const char device_usage[] =
    "porter-harness device [--scenario NAME] [--json] [--page FILE] [--messages N] [--keep DIR] [--log]\n"
    "                      [--server FILE] [--network DIR] [--memory-limit MB] [--time-limit MS]\n"
    "                      [--kill-extension-after STAGE] [--freeze-without-suspending] [--plain]\n"
    "  Plays a device: a server, two apps and notification extensions as processes, pushes, freezing, phone limits.\n"
    "  --scenario NAME     play another night than the story; `porter-harness scenarios` lists them\n"
    "  --json              one JSON object per line; the last is the summary\n"
    "  --page FILE         write the night as a page for a browser, which needs no network\n"
    "  --messages N        messages sent while the app is frozen (1 to 50, default 1)\n"
    "  --keep DIR          work in DIR and keep it, with the processes' logs\n"
    "  --log               write the library's log of each process to DIR/log.NAME\n"
    "  --server FILE       the notification server (default: porter-server beside this program)\n"
    "  --network DIR       a relay on the network (DIR/porter-relay), a server that reaches it (DIR/porter-push) and\n"
    "                      two phones, in four network namespaces; at the loopback address if the system allows none\n"
    "  --memory-limit MB   memory limit of an extension (default 24)\n"
    "  --time-limit MS     time limit of an extension (default 30000)\n"
    "  --kill-extension-after STAGE\n"
    "                      kill the first extension at beforeFetch, afterFetch, insideCommit, afterCommit,\n"
    "                      beforeAcknowledge or afterAcknowledge, and hand the push to a second one\n"
    "                      (debug builds)\n"
    "  --freeze-without-suspending\n"
    "                      skip what an app must do before it is frozen, to see how a phone reacts\n"
    "  --plain             do not seal the stores, to measure what sealing costs\n"
    "  Exit status: 0 if the story held, 1 if it did not, 2 for wrong options, 130 if interrupted.\n";

char *device_path(const struct device *device, const char *name) {
  struct text path = {0};
  text_format(&path, "%s/%s", device->directory, name);
  return path.bytes;
}

char *device_log_path(const struct device *device, const char *name) {
  struct text path = {0};
  text_format(&path, "%s/log.%s", device->directory, name);
  return path.bytes;
}

bool device_fail(struct device *device, const char *expected, const char *came) {
  if (device->expected.length > 0) return false;
  text_add_string(&device->expected, expected);
  text_add_string(&device->came, came);
  return false;
}

/* ------------------------------------------------------------------------------------------------ options */

static bool read_count(const char *word, int most, int *count) {
  char *end = NULL;
  long number = strtol(word, &end, 10);
  if (*word == '\0' || *end != '\0' || number < 1 || number > most) return false;
  *count = (int)number;
  return true;
}

static bool read_options(int count, char **words, struct options *options) {
  *options = (struct options){.messages = 1, .megabytes = EXTENSION_MEGABYTES, .milliseconds = EXTENSION_MILLISECONDS};
  for (int index = 0; index < count; index++) {
    const char *word = words[index];
    const char *next = index + 1 < count ? words[index + 1] : NULL;
    if (strcmp(word, "--json") == 0) options->json = true;
    else if (strcmp(word, "--log") == 0) options->log = true;
    else if (strcmp(word, "--freeze-without-suspending") == 0) options->freeze_without_suspending = true;
    else if (strcmp(word, "--plain") == 0) options->plain = true;
    else if (next == NULL) return false;
    else if (strcmp(word, "--scenario") == 0) options->scenario = words[++index];
    else if (strcmp(word, "--page") == 0) options->page = words[++index];
    else if (strcmp(word, "--keep") == 0) options->keep = words[++index];
    else if (strcmp(word, "--server") == 0) options->server_program = words[++index];
    else if (strcmp(word, "--network") == 0) options->network = words[++index];
    else if (strcmp(word, "--kill-extension-after") == 0) options->kill_stage = words[++index];
    else if (strcmp(word, "--messages") == 0 && read_count(next, 50, &options->messages)) index++;
    else if (strcmp(word, "--memory-limit") == 0 && read_count(next, 1024, &options->megabytes)) index++;
    else if (strcmp(word, "--time-limit") == 0 && read_count(next, 600000, &options->milliseconds)) index++;
    else return false;
  }
  return options->scenario == NULL || scenario_find(options->scenario) != NULL;
}

/* ------------------------------------------------------------------------------------------------ start and end */

static char *make_directory(const char *keep) {
  struct text path = {0};
  if (keep != NULL) {
    if (mkdir(keep, 0700) != 0 && errno != EEXIST) return NULL;
    return realpath(keep, NULL);
  }
  const char *parent = getenv("TMPDIR");
  text_format(&path, "%s/nightporter-XXXXXX", parent == NULL || *parent == '\0' ? "/tmp" : parent);
  if (mkdtemp(path.bytes) != NULL) return path.bytes;
  text_free(&path);
  return NULL;
}

static bool prepare(struct device *device) {
  device->directory = make_directory(device->options.keep);
  device->program = own_path();
  if (device->directory == NULL || device->program == NULL) {
    fprintf(stderr, "porter-harness: cannot create a working directory: %s\n", strerror(errno));
    return false;
  }
  struct text server = {0};
  const char *slash = strrchr(device->program, '/');
  if (device->options.server_program != NULL) text_add_string(&server, device->options.server_program);
  else if (device->options.network != NULL) text_format(&server, "%s/porter-push", device->options.network);
  else text_format(&server, "%.*s/porter-server", (int)(slash - device->program), device->program);
  device->server_program = server.bytes;
  /* A relay on the network has an address once it is running. */
  if (device->options.network == NULL) device->relay = device_path(device, "relay");
  return true;
}

bool device_start(struct device *device, struct process *process, const char *actor, char *const *arguments,
                  const char *extra) {
  char *log = device_log_path(device, actor);
  int network = device->options.network == NULL ? -1 : device->network.namespaces[network_place(actor)];
  bool started = process_start(process, arguments, log, extra, network);
  free(log);
  if (started) record_started(&device->record, actor, process->pid, process->started_at);
  return started;
}

void device_end(struct device *device, struct process *process) {
  record_ended(&device->record, process->pid);
  process_end(process);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place) {
  (void)status;
  (void)type;
  (void)place;
  return remove(path);
}

static void end_host(struct host *host) {
  process_end(&host->process);
  free(host->store);
  free(host->key_file);
}

/* Leaves no process and no file behind, whatever happened. */
static void clear_up(struct device *device) {
  process_end(&device->extension);
  end_host(&device->alice);
  end_host(&device->bob);
  process_end(&device->server);
  process_end(&device->relay_server);
  network_close(&device->network);
  push_socket_close(&device->pushes);
  if (device->directory != NULL && device->options.keep == NULL)
    nftw(device->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  free(device->directory);
  free(device->program);
  free(device->server_program);
  free(device->relay);
  free(device->server_link);
  text_free(&device->expected);
  text_free(&device->came);
  screen_free(&device->screen);
  record_free(&device->record);
}

/* ------------------------------------------------------------------------------------------------ summary */

static void tell_failure(struct device *device) {
  struct text fields = {0};
  struct text said = {0};
  text_add_string(&fields, "\"step\":");
  json_write_string(&fields, device->step);
  text_add_string(&fields, ",\"expected\":");
  json_write_string(&fields, text_string(&device->expected));
  text_add_string(&fields, ",\"came\":");
  json_write_string(&fields, text_string(&device->came));
  text_format(&said, "%s: expected that %s; got: %s", device->step, text_string(&device->expected),
              text_string(&device->came));
  timeline_tell(&device->timeline, "failed", "failed", text_string(&fields), text_string(&said));
  text_free(&fields);
  text_free(&said);
}

/* Values that were not measured are null. */
static void add_number(struct text *line, const char *name, bool known, int decimals, double value) {
  if (known) text_format(line, ",\"%s\":%.*f", name, decimals, value);
  else text_format(line, ",\"%s\":null", name);
}

static void tell_summary(struct device *device, bool held) {
  const struct summary *summary = &device->summary;
  struct text line = {0};
  text_format(&line,
              "{\"event\":\"summary\",\"notifications\":%u,\"messages\":%u,\"duplicates\":%u,"
              "\"locksHeldWhenFrozen\":%u",
              summary->notifications, summary->messages, summary->duplicates, summary->locks_held_when_frozen);
  add_number(&line, "badge", summary->badge >= 0, 0, (double)summary->badge);
  add_number(&line, "coldStartMs", summary->cold_start_ms >= 0, 3, summary->cold_start_ms);
  add_number(&line, "peakMemoryBytes", summary->peak_memory > 0, 0, (double)summary->peak_memory);
  text_add_string(&line, ",\"outcome\":");
  json_write_string(&line, *summary->outcome == '\0' ? "none" : summary->outcome);
  text_add_string(&line, "}");
  timeline_json_line(&device->timeline, text_string(&line));

  text_clear(&line);
  text_format(&line, "\n%s: %u shown, %u in the chat, %u twice, %u locks held when frozen, badge %lld at the end",
              held ? "The story held" : "The story did not hold", summary->notifications, summary->messages,
              summary->duplicates, summary->locks_held_when_frozen, summary->badge);
  if (summary->cold_start_ms >= 0)
    text_format(&line, ";\nextension: %.1f ms from exec to content, %.1f MB at its peak", summary->cold_start_ms,
                (double)summary->peak_memory / 1e6);
  timeline_text_line(&device->timeline, text_string(&line));
  text_free(&line);
}

/* A scenario's last line: what held, and the measurements of the phone's rules. */
static void tell_scenario(struct device *device, const struct scenario *scenario, bool held) {
  const struct summary *summary = &device->summary;
  struct text line = {0};
  text_format(&line,
              "{\"event\":\"summary\",\"scenario\":\"%s\",\"held\":%s,\"statements\":%u,\"shown\":%u,\"replaced\":%u,"
              "\"withdrawn\":%u,\"locksHeldWhenFrozen\":%u",
              scenario->name, held ? "true" : "false", summary->held, device->screen.shown, device->screen.replaced,
              device->screen.withdrawn, summary->locks_held_when_frozen);
  add_number(&line, "badge", device->screen.badge >= 0, 0, (double)device->screen.badge);
  add_number(&line, "peakMemoryBytes", summary->peak_memory > 0, 0, (double)summary->peak_memory);
  text_add_string(&line, "}");
  timeline_json_line(&device->timeline, text_string(&line));
  text_clear(&line);
  text_format(&line, "\n%s: %s. %u statements held; %u shown, %u replaced, %u withdrawn.",
              scenario->name, held ? "held" : "DID NOT HOLD", summary->held, device->screen.shown,
              device->screen.replaced, device->screen.withdrawn);
  timeline_text_line(&device->timeline, text_string(&line));
  text_free(&line);
}

static bool play(struct device *device, const struct scenario *scenario) {
  if (scenario == NULL) return story_run(device);
  device->step = scenario->name;
  timeline_text_line(&device->timeline, scenario->sentence);
  bool held = scenario->play(device);
  if (device_interrupted()) return device_fail(device, "the scenario ends", "the harness was interrupted");
  return held || device_fail(device, "the step succeeds", "it failed");
}

static bool write_page(struct device *device, const struct scenario *scenario, bool held) {
  /* Each started process has its log under its actor's name. */
  for (size_t index = 0; index < device->record.count; index++) {
    if (!record_is_first(&device->record, index)) continue;
    const char *actor = device->record.processes[index].actor;
    char *log = device_log_path(device, actor);
    record_steps(&device->record, actor, log);
    free(log);
  }
  return record_write_page(
      &device->record, device->options.page, scenario == NULL ? "A phone's night" : scenario->name,
      scenario == NULL ? "A message comes while the app is frozen; it is shown once, and read in the morning."
                       : scenario->sentence,
      held);
}

int device_main(int argument_count, char **arguments) {
  struct device device = {
      .extension = {.input = -1, .output = -1},
      .server = {.input = -1, .output = -1},
      .relay_server = {.input = -1, .output = -1},
      .network.namespaces = {-1, -1, -1, -1},
      .alice.process = {.input = -1, .output = -1},
      .bob.process = {.input = -1, .output = -1},
      .pushes.listener = -1,
      .summary = {.badge = -1, .cold_start_ms = -1},
      .screen.badge = -1,
  };
  if (!read_options(argument_count, arguments, &device.options)) {
    fputs(device_usage, stderr);
    return 2;
  }
  for (int index = 0; index < MAXIMUM_CONNECTIONS; index++) device.pushes.connections[index] = -1;
  device_watch_signals();
  timeline_start(&device.timeline, device.options.json);
  device.record = (struct record){.on = device.options.page != NULL, .started_at = device.timeline.started_at};
  device.timeline.record = &device.record;
  /* The bands of the page are read from the logs. */
  device.options.log = device.options.log || device.record.on;
  bool ready = prepare(&device);
  const struct scenario *scenario = device.options.scenario == NULL ? NULL : scenario_find(device.options.scenario);
  bool held = ready && play(&device, scenario);
  if (ready && !held) tell_failure(&device);
  if (ready && scenario == NULL) tell_summary(&device, held);
  if (ready && scenario != NULL) tell_scenario(&device, scenario, held);
  if (ready && device.options.page != NULL && !write_page(&device, scenario, held)) {
    fprintf(stderr, "porter-harness: %s: %s\n", device.options.page, strerror(errno));
    held = false;
  }
  clear_up(&device);
  if (device_interrupted()) return 130;
  return held ? 0 : 1;
}
