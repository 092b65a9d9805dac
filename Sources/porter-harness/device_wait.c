#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "invoke.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

bool device_interrupted(void) { return interrupted != 0; }

/* The signals are blocked except inside the wait, so that none arrives between the check and the wait. */
void device_watch_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = interrupt};
  sigset_t blocked;
  sigemptyset(&blocked);
  for (size_t index = 0; index < sizeof signals / sizeof signals[0]; index++) {
    sigaction(signals[index], &action, NULL);
    sigaddset(&blocked, signals[index]);
  }
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  signal(SIGPIPE, SIG_IGN);
}

uint64_t deadline_after(int milliseconds) { return now_microseconds() + (uint64_t)milliseconds * 1000; }

/* The server's output after its first line is discarded; it must not fill the pipe. */
static void drain_server(struct device *device) {
  if (device->server_link == NULL || device->server.output < 0) return;
  if (!process_read(&device->server)) {
    close(device->server.output);
    device->server.output = -1;
  }
  text_clear(&device->server.unread);
}

/* Adds a process's output, if it is open; returns the highest descriptor. */
static int watch(const struct process *process, fd_set *readable, int highest) {
  if (process == NULL || process->output < 0) return highest;
  FD_SET(process->output, readable);
  return process->output > highest ? process->output : highest;
}

/* Records what running processes hold of alice's and bob's stores, for the page. */
static void look_at_locks(struct device *device) {
  if (!device->record.on) return;
  if (device->alice.store != NULL) {
    record_locks(&device->record, device->alice.process.pid, device->alice.store);
    record_locks(&device->record, device->extension.pid, device->alice.store);
    record_locks(&device->record, record_running(&device->record, "share"), device->alice.store);
  }
  if (device->bob.store != NULL) record_locks(&device->record, device->bob.process.pid, device->bob.store);
}

enum waited device_wait(struct device *device, struct process *process, uint64_t deadline) {
  look_at_locks(device);
  fd_set readable;
  FD_ZERO(&readable);
  int highest = push_socket_watch(&device->pushes, &readable);
  highest = watch(&device->server, &readable, highest);
  highest = watch(process, &readable, highest);

  uint64_t now = now_microseconds();
  uint64_t left = deadline > now ? deadline - now : 0;
  struct timespec time = {(time_t)(left / 1000000), (long)(left % 1000000) * 1000};
  sigset_t none;
  sigemptyset(&none);
  int ready = pselect(highest + 1, &readable, NULL, NULL, &time, &none);
  if (device_interrupted()) return WAITED_INTERRUPTED;
  if (ready <= 0) return WAITED_NOTHING;
  push_socket_serve(&device->pushes);
  if (process != &device->server) drain_server(device);
  if (process == NULL) return device->pushes.waiting != NULL ? WAITED_READY : WAITED_NOTHING;
  return process->output < 0 || FD_ISSET(process->output, &readable) ? WAITED_READY : WAITED_NOTHING;
}

char *device_line(struct device *device, struct process *process, uint64_t deadline) {
  for (;;) {
    char *line = process_take_line(process);
    if (line != NULL) return line;
    enum waited waited = device_wait(device, process, deadline);
    if (waited == WAITED_READY && !process_read(process)) return process_take_line(process);
    if (waited == WAITED_INTERRUPTED) return NULL;
    if (waited == WAITED_NOTHING && now_microseconds() >= deadline) return NULL;
  }
}

struct push *device_push(struct device *device, uint64_t deadline) {
  for (;;) {
    struct push *push = push_socket_take(&device->pushes);
    if (push != NULL) return push;
    if (device_wait(device, NULL, deadline) == WAITED_INTERRUPTED) return NULL;
    if (device->pushes.waiting == NULL && now_microseconds() >= deadline) return NULL;
  }
}
