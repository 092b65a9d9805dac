#define _GNU_SOURCE
// Runs scenarios outside of XCTest: all of them, or those named on the command line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sealed_scenarios.h"

int main(int count, char **words) {
  const char *directory = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
  uint64_t seed = getenv("SEED") != NULL ? strtoull(getenv("SEED"), NULL, 10) : (uint64_t)time(NULL);
  int failures = 0;
  const char *name;
  for (size_t i = 0; (name = sealed_scenario_name(i)) != NULL; i++) {
    int wanted = count == 1;
    for (int word = 1; word < count; word++) { wanted |= strstr(name, words[word]) != NULL; }
    if (!wanted) { continue; }
    char message[8192];
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int failed = sealed_scenario_run(name, seed, directory, message, sizeof message);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    printf("%s %s (%.2f s)\n", failed != 0 ? "FAILED" : "passed", message, seconds);
    fflush(stdout);
    failures += failed;
  }
  return failures != 0;
}
