/* The headers of an unknown relay, or of a proxy in front of it, compared with a reader written from
   spec/protocol/relay-http.md. Each line is on the heap and unterminated, as libcurl delivers it. */
#include <stdio.h>

#include "../../../Sources/CNightporterNet/transfer.c"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool is_same(const char *text, size_t length, const char *wanted) {
  if (length != strlen(wanted)) return false;
  for (size_t index = 0; index < length; index++)
    if (lower(text[index]) != wanted[index]) return false;
  return true;
}

/* A media type ends where its parameters begin. */
static bool is_media(const char *value, size_t length, const char *wanted) {
  size_t count = 0;
  while (count < length && value[count] != ';' && value[count] != ' ') count++;
  return is_same(value, count, wanted);
}

static unsigned seconds(const char *value, size_t length) {
  unsigned number = 0;
  for (size_t index = 0; index < length; index++) {
    if (value[index] < '0' || value[index] > '9') return 0;
    number = number < 1000 ? number * 10 + (unsigned)(value[index] - '0') : number;
  }
  return number > 300 ? 300 : number;
}

static void expect(struct response *expected, const char *line, size_t length) {
  if (length > 5 && is_same(line, 5, "http/")) {
    *expected = (struct response){0};
    return;
  }
  size_t colon = 0;
  while (colon < length && line[colon] != ':') colon++;
  if (colon == length) return;
  size_t begin = colon + 1, end = length;
  while (begin < end && (line[begin] == ' ' || line[begin] == '\t')) begin++;
  while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\t' || line[end - 1] == '\r' || line[end - 1] == '\n')) end--;
  const char *value = line + begin;
  if (is_same(line, colon, "retry-after")) expected->retry_after = seconds(value, end - begin);
  if (is_same(line, colon, "porter-limit")) expected->limits_mailbox = is_media(value, end - begin, "mailbox");
  if (is_same(line, colon, "content-type")) {
    expected->is_bytes = is_media(value, end - begin, "application/octet-stream");
    expected->is_stream = is_media(value, end - begin, "text/event-stream");
  }
}

/* What the response says about later exchanges: a pause for all, of five minutes at most, or for one mailbox. */
static void check_pauses(struct response response, const uint8_t *request, size_t length) {
  static const long statuses[] = {200, 429, 503, 404};
  for (size_t index = 0; index < sizeof statuses / sizeof *statuses; index++) {
    struct pauses pauses = {0};
    response.status = statuses[index];
    uint64_t latest = now_ms() + 300000;
    pauses_note(&pauses, &response, request, length);
    bool is_pause = response.retry_after > 0 && (response.status == 429 || response.status == 503);
    if (pauses_hold(&pauses, request, length) && !is_pause) abort();
    if (pauses.until > latest + 60000) abort();
    if (pauses.until > 0 && response.limits_mailbox) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  struct response response = {0}, expected = {0};
  for (size_t begin = 0, end; begin < length; begin = end) {
    for (end = begin; end < length && bytes[end++] != '\n';) {
    }
    size_t count = end - begin;
    char *line = malloc(count);
    if (line == NULL) abort();
    memcpy(line, bytes + begin, count);
    if (take_header(line, 1, count, &response) != count) abort();
    expect(&expected, line, count);
    free(line);
    if (response.retry_after != expected.retry_after || response.limits_mailbox != expected.limits_mailbox ||
        response.is_bytes != expected.is_bytes || response.is_stream != expected.is_stream) {
      fprintf(stderr, "retry %u and %u, mailbox %d and %d, bytes %d and %d, stream %d and %d\n", response.retry_after, expected.retry_after,
              response.limits_mailbox, expected.limits_mailbox, response.is_bytes, expected.is_bytes, response.is_stream, expected.is_stream);
      abort();
    }
  }
  check_pauses(response, bytes, length);
  return 0;
}
