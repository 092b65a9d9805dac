/* The news stream as an unknown relay sends it, compared with a reader written from spec/protocol/relay-http.md:
   whatever arrives, in whatever pieces, both find the same events. */
#include <stdio.h>

#include "../../../Sources/CNightporterNet/news.c"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { MOST = 4096 };

struct found {
  char calls[MOST]; /* one letter for each */
  size_t count;
  char last_id[EVENT_ID_LENGTH + 1];
  unsigned retry_ms;
};

static struct found *finding;

static void note(char letter) {
  if (finding->count < MOST) finding->calls[finding->count++] = letter;
}

static np_error is_ready(void *context) {
  (void)context;
  note('a');
  return NP_OK;
}

static void is_opened(void *context, np_net_stream state) {
  (void)context;
  note(state == NP_NET_STREAM_RESET ? 'r' : 'o');
}

/* ------------------------------------------------------------------------------------------------ as it is */

/* `piece`: how many bytes arrive at a time. */
static void read_pieces(struct found *found, const char *bytes, size_t length, size_t piece) {
  static struct net net;
  net = (struct net){.ready = is_ready, .stream = is_opened, .news = {.retry_ms = 2000, .response = {.status = 200, .is_stream = true}}};
  finding = found;
  for (size_t at = 0; at < length; at += piece) {
    size_t count = length - at < piece ? length - at : piece;
    /* On the heap, so that an access one byte too far is detected. */
    char *part = malloc(count);
    if (part == NULL) abort();
    memcpy(part, bytes + at, count);
    if (take_bytes(part, 1, count, &net) != count) abort();
    free(part);
  }
  memcpy(found->last_id, net.news.last_id, sizeof found->last_id);
  found->retry_ms = net.news.retry_ms;
  for (net.news.failures = 0; net.news.failures < 20; net.news.failures++)
    if (pause_ms(&net.news) > 75000) abort();
}

/* ------------------------------------------------------------------------------------------------ as the page says */

static bool has_name(const char *line, size_t length, const char *name, const char **value, size_t *value_length) {
  size_t count = strlen(name);
  if (length < count + 1 || memcmp(line, name, count) != 0 || line[count] != ':') return false;
  *value = line + count + 1;
  *value_length = length - count - 1;
  if (*value_length > 0 && **value == ' ') {
    ++*value;
    --*value_length;
  }
  return true;
}

static bool is(const char *value, size_t length, const char *text) {
  return length == strlen(text) && memcmp(value, text, length) == 0;
}

static bool is_event_id(const char *value, size_t length) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  for (size_t index = 0; index < length; index++)
    if (memchr(allowed, value[index], sizeof allowed - 1) == NULL) return false;
  return length >= 1 && length <= EVENT_ID_LENGTH;
}

/* Up to ten minutes; 0 if the value is not such a number. */
static unsigned milliseconds(const char *value, size_t length) {
  unsigned long long number = 0;
  for (size_t index = 0; index < length; index++) {
    if (value[index] < '0' || value[index] > '9') return 0;
    number = number * 10 + (unsigned long long)(value[index] - '0');
    if (number / 10 > LONGEST_PAUSE_MS) return 0;
  }
  return (unsigned)number;
}

static void expect(struct found *found, const char *bytes, size_t length) {
  finding = found;
  found->retry_ms = 2000;
  char kind = 0;
  char id[EVENT_ID_LENGTH + 1] = "";
  bool has_begun = false;
  for (size_t begin = 0, end; begin < length; begin = end + 1) {
    for (end = begin; end < length && bytes[end] != '\n'; end++) {
    }
    if (end == length) return; /* the rest has not arrived */
    const char *line = bytes + begin;
    size_t count = end - begin;
    if (count > 255) continue;
    if (count > 0 && line[count - 1] == '\r') count--;
    const char *value;
    size_t value_length;
    if (count == 0) {
      if (kind != 0 && (kind == 'r' || !has_begun)) note(kind == 'r' ? 'r' : 'o');
      has_begun = has_begun || kind != 0;
      if (id[0] != '\0') memcpy(found->last_id, id, sizeof id);
      if (kind == 'r' || kind == 'n') note('a');
      kind = 0;
      id[0] = '\0';
    } else if (has_name(line, count, "event", &value, &value_length)) {
      kind = is(value, value_length, "open") ? 'o' : is(value, value_length, "news") ? 'n' : is(value, value_length, "reset") ? 'r' : 0;
    } else if (has_name(line, count, "id", &value, &value_length)) {
      size_t taken = is_event_id(value, value_length) ? value_length : 0;
      memcpy(id, value, taken);
      id[taken] = '\0';
    } else if (has_name(line, count, "retry", &value, &value_length)) {
      unsigned retry = milliseconds(value, value_length);
      if (retry > 0) found->retry_ms = retry;
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  static struct found whole, pieces, expected;
  if (length < 2 || length > MOST) return 0;
  size_t piece = 1 + bytes[0] % 40;
  const char *text = (const char *)bytes + 1;
  length--;
  whole = pieces = expected = (struct found){.count = 0};
  read_pieces(&whole, text, length, length);
  read_pieces(&pieces, text, length, piece);
  expect(&expected, text, length);
  if (memcmp(&whole, &pieces, sizeof whole) != 0 || memcmp(&whole, &expected, sizeof whole) != 0) {
    fprintf(stderr, "events %.*s, in pieces %.*s, expected %.*s\n", (int)whole.count, whole.calls, (int)pieces.count, pieces.calls, (int)expected.count,
            expected.calls);
    fprintf(stderr, "ids '%s' and '%s', pauses %u and %u\n", whole.last_id, expected.last_id, whole.retry_ms, expected.retry_ms);
    abort();
  }
  return 0;
}
