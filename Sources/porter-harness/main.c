#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "extension.h"
#include "interface.h"
#include "locks.h"
#include "pushes.h"
#include "script.h"
#include "stage.h"

static int interface_main(int argument_count, char **arguments) {
  (void)arguments;
  if (argument_count > 0) return 2;
  struct text out = {0};
  interface_write(&out);
  fputs(text_string(&out), stdout);
  text_free(&out);
  return 0;
}

static const char interface_usage[] =
    "porter-harness interface\n"
    "  Prints the table of the C interface: one JSON object per function, with its result and argument types.\n";

struct command {
  const char *name;
  int (*main)(int argument_count, char **arguments);
  const char *usage;
};

static const struct command commands[] = {
    {"device", device_main, device_usage},
    {"scenarios", scenarios_main, scenarios_usage},
    {"extension", extension_main, extension_usage},
    {"script", script_main, script_usage},
    {"interface", interface_main, interface_usage},
    {"locks", locks_main, locks_usage},
    {"pushes", pushes_main, pushes_usage},
};

static int usage(FILE *out, int status) {
  for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++)
    fprintf(out, "%s%s", index == 0 ? "usage: " : "\n       ", commands[index].usage);
  return status;
}

int main(int argument_count, char **arguments) {
  if (argument_count < 2) return usage(stderr, 2);
  if (strcmp(arguments[1], "--help") == 0) return usage(stdout, 0);
  for (size_t index = 0; index < sizeof commands / sizeof commands[0]; index++)
    if (strcmp(commands[index].name, arguments[1]) == 0)
      return commands[index].main(argument_count - 2, arguments + 2);
  return usage(stderr, 2);
}
