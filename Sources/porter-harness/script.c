#include "script.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_side.h"
#include "invoke.h"
#include "json.h"
#include "words.h"

const char script_usage[] =
    "porter-harness script [FILE|-]\n"
    "  Calls functions of nightporter.h by name; answers with one JSON object per line. With - (or no FILE) it reads\n"
    "  lines from standard input as they come, and continues after an invalid line.\n"
    "\n"
    "    a = chat_migrate_init_key \"/tmp/store\" \"\" 1 \"yesUp\" 0     the controller is now $a\n"
    "    user = chat_send_cmd $a \"/u\"                            the answer is now $user\n"
    "    chat_send_cmd $a \"/_user ${user.result.user.userId}\"    a part of it, in a string\n"
    "    &push = np_receive_push $a \"{}\" 30000                   on its own thread\n"
    "    np_expire_push $a\n"
    "    join push                                               waits for that thread, prints its answer\n"
    "    await $a \"chatSuspended\" 5000                           reads events until one has this type, at most 5 s\n"
    "    sleep 100                                               milliseconds\n"
    "    expect \"cmdOk\"                                          fail unless the last answer contains this\n"
    "    expect $user.result.type \"activeUser\"                   fail unless these are equal\n"
    "    echo \"text\"\n"
    "    quit\n";

/* A call on its own thread, from its start to its join. */
struct running {
  char *name;
  struct call call;
  pthread_t thread;
  struct running *next;
};

struct script {
  struct variables variables;
  struct running *running;
  struct text answer; /* the last one written */
  bool done;
  int status;
};

static void answer(struct script *script, struct text *text) {
  write_line(text_string(text));
  text_free(&script->answer);
  script->answer = *text;
  *text = (struct text){0};
}

/* Answers {"error": problem, "call": verb}; `status` is that of the whole script. */
static void answer_problem(struct script *script, const char *verb, const char *problem, int status) {
  struct text text = {0};
  text_add_string(&text, "{\"error\":");
  json_write_string(&text, problem);
  if (verb != NULL) {
    text_add_string(&text, ",\"call\":");
    json_write_string(&text, verb);
  }
  text_add_string(&text, "}");
  write_line(text_string(&text));
  text_free(&text);
  script->status = status;
}

static void answer_done(const char *verb, const char *name, const char *value) {
  struct text text = {0};
  text_add_string(&text, "{\"call\":");
  json_write_string(&text, verb);
  if (name != NULL) {
    text_format(&text, ",\"%s\":", name);
    json_write_string(&text, value);
  }
  text_add_string(&text, "}");
  write_line(text_string(&text));
  text_free(&text);
}

/* ------------------------------------------------------------------------------------------------ calls */

static void finish(struct script *script, struct call *call, const char *variable) {
  struct text text = {0};
  call_write(&text, call);
  answer(script, &text);
  if (variable != NULL) variable_set(&script->variables, variable, call_value(call));
  call_free(call);
}

static void *run_on_thread(void *running) {
  call_run(&((struct running *)running)->call);
  return NULL;
}

static struct running **find_running(struct script *script, const char *name) {
  struct running **place = &script->running;
  while (*place != NULL && strcmp((*place)->name, name) != 0) place = &(*place)->next;
  return place;
}

static void start_thread(struct script *script, struct line *line, struct call *call) {
  if (*find_running(script, line->variable) != NULL) {
    answer_problem(script, line->verb, "a call with this name is still running; join it first", 2);
    call_free(call);
    return;
  }
  struct running *running = allocate(sizeof *running);
  running->name = copy_string(line->variable);
  running->call = *call;
  int error = pthread_create(&running->thread, NULL, run_on_thread, running);
  if (error != 0) {
    answer_problem(script, line->verb, strerror(error), 2);
    call_free(&running->call);
    free(running->name);
    free(running);
    return;
  }
  running->next = script->running;
  script->running = running;
  answer_done(line->verb, "started", line->variable);
}

static void run_call(struct script *script, struct line *line, const struct function *function) {
  struct call call = {.function = function};
  struct text problem = {0};
  if (line->word_count > MAXIMUM_ARGUMENTS) line->word_count = MAXIMUM_ARGUMENTS;
  for (; call.argument_count < line->word_count; call.argument_count++)
    call.arguments[call.argument_count] = value_copy(&line->words[call.argument_count]);
  if (!call_check(&call, &problem)) {
    answer_problem(script, line->verb, text_string(&problem), 2);
    call_free(&call);
  } else if (line->thread) {
    start_thread(script, line, &call);
  } else {
    call_run(&call);
    finish(script, &call, line->variable);
  }
  text_free(&problem);
}

/* ------------------------------------------------------------------------------------------------ built-ins */

static void join(struct script *script, struct line *line) {
  char *name = line->words[0].string;
  struct running **place = find_running(script, name);
  struct running *running = *place;
  if (running == NULL) {
    answer_problem(script, "join", "no call with this name is running", 2);
    return;
  }
  pthread_join(running->thread, NULL);
  *place = running->next;
  finish(script, &running->call, running->name);
  free(running->name);
  free(running);
}

static void pause_script(struct script *script, struct line *line) {
  (void)script;
  long long milliseconds = line->words[0].integer;
  struct timespec pause = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
  while (nanosleep(&pause, &pause) != 0 && errno == EINTR) continue;
  answer_done("sleep", NULL, NULL);
}

static void expect(struct script *script, struct line *line) {
  struct text problem = {0};
  if (line->word_count == 1) {
    if (strstr(text_string(&script->answer), line->words[0].string) == NULL)
      text_format(&problem, "expected %s in %s", line->words[0].string, text_string(&script->answer));
  } else {
    struct text left = {0};
    struct text right = {0};
    value_write(&left, &line->words[0]);
    value_write(&right, &line->words[1]);
    if (strcmp(text_string(&left), text_string(&right)) != 0)
      text_format(&problem, "expected %s, came %s", text_string(&right), text_string(&left));
    text_free(&left);
    text_free(&right);
  }
  if (problem.length == 0) {
    answer_done("expect", "result", "held");
  } else {
    answer_problem(script, "expect", text_string(&problem), 1);
  }
  text_free(&problem);
}

/* Adds a type to a list; a long list ends in "…". */
static void note_skipped(struct text *skipped, const char *type) {
  static const char more[] = "\"…\"";
  size_t end = sizeof more - 1;
  if (skipped->length >= end && strcmp(skipped->bytes + skipped->length - end, more) == 0) return;
  if (skipped->length > 0) text_add_string(skipped, ",");
  if (skipped->length > 1000) text_add_string(skipped, more);
  else json_write_string(skipped, type);
}

/* Takes events until one has the wanted type. Answers with it and the types of the events before it. */
static void await_event(struct script *script, struct line *line) {
  const char *type = line->words[1].string;
  uint64_t start = now_microseconds();
  uint64_t end = start + (uint64_t)line->words[2].integer * 1000;
  struct text skipped = {0};
  bool found = false;
  for (uint64_t now = start; !found && now < end; now = now_microseconds()) {
    char *event = chat_recv_msg_wait(line->words[0].handle, (int)(end - now));
    if (event == NULL || *event == '\0') {
      np_string_free(event);
      continue;
    }
    struct json *json = json_parse(event, strlen(event));
    const char *found_type = json_string_at(json, "result.type");
    if (found_type == NULL) found_type = json_at(json, "error") == NULL ? "not JSON" : "error";
    if (strcmp(found_type, type) == 0) {
      struct text text = {0};
      text_add_string(&text, "{\"call\":\"await\",\"result\":");
      json_write(&text, json);
      text_format(&text, ",\"skipped\":[%s],\"us\":%llu}", text_string(&skipped),
                  (unsigned long long)(now_microseconds() - start));
      answer(script, &text);
      struct value value = {.kind = VALUE_STRING, .string = copy_string(event)};
      if (line->variable != NULL) variable_set(&script->variables, line->variable, value);
      else value_free(&value);
      found = true;
    } else {
      note_skipped(&skipped, found_type);
      if (strcmp(found_type, "error") == 0) end = 0;
    }
    json_free(json);
    np_string_free(event);
  }
  if (!found) {
    struct text problem = {0};
    text_format(&problem, "no event %s within %lld ms; received: [%s]", type, line->words[2].integer,
                text_string(&skipped));
    answer_problem(script, "await", text_string(&problem), 1);
    text_free(&problem);
  }
  text_free(&skipped);
}

static void echo(struct script *script, struct line *line) {
  (void)script;
  struct text text = {0};
  value_write(&text, &line->words[0]);
  answer_done("echo", "result", text_string(&text));
  text_free(&text);
}

static void quit(struct script *script, struct line *line) {
  (void)line;
  script->done = true;
}

struct built_in {
  const char *name;
  const char *words; /* kinds of its words: s string, i positive integer, h handle, v any */
  void (*run)(struct script *, struct line *);
};

static const struct built_in built_ins[] = {
    {"join", "s", join},
    {"sleep", "i", pause_script},
    {"expect", "s", expect},
    {"expect", "vv", expect},
    {"echo", "v", echo},
    {"await", "hsi", await_event},
    {"quit", "", quit},
};

static bool words_fit(const struct line *line, const char *kinds) {
  if (line->word_count != strlen(kinds) || line->thread) return false;
  for (size_t index = 0; index < line->word_count; index++) {
    const struct value *word = &line->words[index];
    if (kinds[index] == 's' && word->kind != VALUE_STRING) return false;
    if (kinds[index] == 'h' && word->kind != VALUE_HANDLE) return false;
    if (kinds[index] == 'i' && (word->kind != VALUE_INTEGER || word->integer < 0 || word->integer > 2000000))
      return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------ lines */

/* `join push` reads better than `join "push"`: its word is a bare name. */
static bool read_join(const char *text, struct line *line) {
  char name[64];
  char rest;
  if (sscanf(text, " join %63[A-Za-z0-9_] %c", name, &rest) != 1) return false;
  *line = (struct line){.verb = copy_string("join"), .word_count = 1};
  line->words[0] = (struct value){.kind = VALUE_STRING, .string = copy_string(name)};
  return true;
}

static void run_line(struct script *script, const char *text) {
  struct line line;
  struct text problem = {0};
  bool known = false;
  bool well_formed = read_join(text, &line) || line_read(text, &script->variables, &line, &problem);
  if (!well_formed) {
    answer_problem(script, line.verb, text_string(&problem), 2);
  } else if (line.verb != NULL) {
    for (size_t index = 0; index < sizeof built_ins / sizeof built_ins[0]; index++) {
      const struct built_in *built_in = &built_ins[index];
      if (strcmp(built_in->name, line.verb) != 0) continue;
      known = true;
      if (!words_fit(&line, built_in->words)) continue;
      built_in->run(script, &line);
      goto end;
    }
    const struct function *function = interface_find(line.verb);
    if (function != NULL) run_call(script, &line, function);
    else answer_problem(script, line.verb, known ? "invalid arguments" : "unknown function", 2);
  }
end:
  line_free(&line);
  text_free(&problem);
}

int script_main(int argument_count, char **arguments) {
  const char *path = argument_count > 0 ? arguments[0] : "-";
  bool follow = strcmp(path, "-") == 0;
  if (argument_count > 1) {
    fprintf(stderr, "porter-harness: at most one script\n%s", script_usage);
    return 2;
  }
  FILE *file = follow ? stdin : fopen(path, "r");
  if (file == NULL) {
    fprintf(stderr, "porter-harness: %s: %s\n", path, strerror(errno));
    return 2;
  }
  struct script script = {0};
  char *line = NULL;
  size_t capacity = 0;
  while (!script.done && (follow || script.status == 0) && getline(&line, &capacity, file) >= 0)
    run_line(&script, line);
  free(line);
  if (!follow) fclose(file);
  for (struct running *running = script.running; running != NULL; running = running->next)
    answer_problem(&script, running->name, "still running at the script's end; join it", 2);
  variables_free(&script.variables);
  text_free(&script.answer);
  return script.status;
}
