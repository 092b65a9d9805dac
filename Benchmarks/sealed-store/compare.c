// Runs the three workers in turn, several rounds, and prints the medians beside each other: `compare PROGRAMS FOLDER ROUNDS`.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STORES = 3, FIGURES = 16, MOST_ROUNDS = 25 };
static const char *const stores[STORES] = {"plain", "sealed", "sqlcipher"};

struct figure {
  char name[80], unit[20];
  double values[STORES][MOST_ROUNDS];
  int counts[STORES];
};
static struct figure figures[FIGURES];
static int figure_count;

static struct figure *figure_named(const char *name, const char *unit) {
  for (int i = 0; i < figure_count; i++) {
    if (strcmp(figures[i].name, name) == 0) { return &figures[i]; }
  }
  struct figure *figure = &figures[figure_count++];
  snprintf(figure->name, sizeof figure->name, "%.79s", name);
  snprintf(figure->unit, sizeof figure->unit, "%.19s", unit);
  return figure;
}

static int by_value(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return (difference > 0) - (difference < 0);
}

static double median(struct figure *figure, int store) {
  int count = figure->counts[store];
  if (count == 0) { return 0; }
  qsort(figure->values[store], (size_t)count, sizeof(double), by_value);
  return figure->values[store][count / 2];
}

int main(int count, char **words) {
  if (count != 4) { return 2; }
  int rounds = atoi(words[3]);
  if (rounds < 1 || rounds > MOST_ROUNDS) { return 2; }
  for (int round = 0; round < rounds; round++) {
    for (int turn = 0; turn < STORES; turn++) {
      int store = (turn + round) % STORES;
      char command[2048], line[256];
      snprintf(command, sizeof command, "'%s/worker-%s' %s '%s'", words[1], store == 2 ? "sqlcipher" : "sqlite", stores[store], words[2]);
      FILE *output = popen(command, "r");
      if (output == NULL) { return 1; }
      while (fgets(line, sizeof line, output) != NULL && figure_count < FIGURES) {
        char *unit = NULL, *value = strchr(line, '\t');
        if (value != NULL) { unit = strchr(value + 1, '\t'); }
        if (unit == NULL) { continue; }
        *value++ = *unit++ = 0;
        unit[strcspn(unit, "\n")] = 0;
        struct figure *figure = figure_named(line, unit);
        figure->values[store][figure->counts[store]++] = atof(value);
      }
      if (pclose(output) != 0) { return 1; }
    }
  }
  printf("%-30s %12s %12s %12s  %-10s %14s %18s\n", "median of rounds", stores[0], stores[1], stores[2], "", "sealed/plain", "sealed/sqlcipher");
  for (int i = 0; i < figure_count; i++) {
    struct figure *figure = &figures[i];
    double values[STORES];
    for (int store = 0; store < STORES; store++) { values[store] = median(figure, store); }
    if (figure->name[0] == '#') {
      printf("%-56s %.3g %s\n", figure->name + 2, values[1], figure->unit);
    } else {
      printf("%-30s %12.0f %12.0f %12.0f  %-10s %13.2fx %17.2fx\n", figure->name, values[0], values[1], values[2], figure->unit,
             values[1] / values[0], values[1] / values[2]);
    }
  }
  return 0;
}
