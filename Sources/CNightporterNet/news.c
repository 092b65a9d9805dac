/* The stream of news: server-sent events, reopened whenever it ends. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
  SILENCE_MS = 75000,     /* the relay sends something every 30 s */
  LONGEST_PAUSE_MS = 60000,
  LONGEST_POLL_MS = 10000, /* poll() does not count the time asleep */
  NOTHING_DUE_MS = 600000
};

/* ------------------------------------------------------------------------------------------------ events */

static bool is_id(const char *text, size_t length) {
  if (length == 0 || length > EVENT_ID_LENGTH) return false;
  for (size_t index = 0; index < length; index++) {
    char c = text[index];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
          c == '.'))
      return false;
  }
  return true;
}

static void begin_stream(struct net *net, bool is_reset) {
  if (!net->news.has_begun || is_reset) {
    if (net->stream != NULL) net->stream(net->ready_context, is_reset ? NP_NET_STREAM_RESET : NP_NET_STREAM_OPEN);
  }
  net->news.has_begun = true;
  net->news.failures = 0;
}

static void end_event(struct net *net) {
  struct news *news = &net->news;
  bool is_reset = strcmp(news->event, "reset") == 0;
  bool asks = is_reset || strcmp(news->event, "news") == 0;
  if (asks || strcmp(news->event, "open") == 0) begin_stream(net, is_reset);
  if (news->id[0] != '\0') memcpy(news->last_id, news->id, sizeof news->last_id);
  news->event[0] = news->id[0] = '\0';
  if (asks) net->ready(net->ready_context);
}

/* Returns the field's value, if the line has this field. */
static const char *field(const struct news *news, const char *name, size_t *length) {
  size_t name_length = strlen(name);
  if (news->line_length <= name_length || memcmp(news->line, name, name_length) != 0 || news->line[name_length] != ':')
    return NULL;
  size_t at = name_length + 1;
  if (at < news->line_length && news->line[at] == ' ') at++;
  *length = news->line_length - at;
  return news->line + at;
}

static void set_retry(struct news *news, const char *value, size_t length) {
  unsigned milliseconds = 0;
  for (size_t index = 0; index < length; index++) {
    if (value[index] < '0' || value[index] > '9' || milliseconds > LONGEST_PAUSE_MS) return;
    milliseconds = milliseconds * 10 + (unsigned)(value[index] - '0');
  }
  if (length > 0 && milliseconds > 0) news->retry_ms = milliseconds;
}

static void end_line(struct net *net) {
  struct news *news = &net->news;
  bool is_whole = news->line_length < sizeof news->line;
  if (is_whole && news->line_length > 0 && news->line[news->line_length - 1] == '\r') news->line_length--;
  size_t length;
  const char *value;
  if (news->line_length == 0) {
    end_event(net);
  } else if (!is_whole) {
    /* No known value is this long. */
  } else if ((value = field(news, "event", &length)) != NULL) {
    /* The strings it is compared with end at a NUL. */
    if (length >= sizeof news->event || memchr(value, '\0', length) != NULL) length = 0;
    memcpy(news->event, value, length);
    news->event[length] = '\0';
  } else if ((value = field(news, "id", &length)) != NULL) {
    if (!is_id(value, length)) length = 0;
    memcpy(news->id, value, length);
    news->id[length] = '\0';
  } else if ((value = field(news, "retry", &length)) != NULL) {
    set_retry(news, value, length);
  }
  news->line_length = 0;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *context) {
  struct net *net = context;
  struct news *news = &net->news;
  size_t length = size * count;
  if (news->response.status == 0) curl_easy_getinfo(news->easy, CURLINFO_RESPONSE_CODE, &news->response.status);
  if (news->response.status != 200 || !news->response.is_stream) return 0;
  news->heard = now_ms();
  for (size_t index = 0; index < length; index++) {
    if (bytes[index] == '\n') end_line(net);
    else if (news->line_length < sizeof news->line) news->line[news->line_length++] = bytes[index];
  }
  return length;
}

/* ------------------------------------------------------------------------------------------------ the stream */

bool news_begin(struct news *news) {
  news->last_id[0] = '\0';
  news->retry_ms = 2000;
  news->failures = 0;
  news->opens = 0;
  return random_token(news->listener);
}

static bool add_header(struct news *news, const char *name, const char *value) {
  char line[32 + EVENT_ID_LENGTH + 1] = "";
  strncat(line, name, 31);
  strncat(line, value, EVENT_ID_LENGTH);
  struct curl_slist *longer = curl_slist_append(news->headers, line);
  if (longer != NULL) news->headers = longer;
  return longer != NULL;
}

static bool prepare(struct net *net) {
  struct news *news = &net->news;
  news->easy = curl_easy_init();
  return news->easy != NULL && transfer_prepare(news->easy, &net->settings, &news->response) &&
         add_header(news, "Accept: ", "text/event-stream") && add_header(news, "Porter-Listener: ", news->listener) &&
         (news->last_id[0] == '\0' || add_header(news, "Last-Event-ID: ", news->last_id)) &&
         /* A connection being opened for an exchange will do. */
         curl_easy_setopt(news->easy, CURLOPT_PIPEWAIT, 1L) == CURLE_OK &&
         curl_easy_setopt(news->easy, CURLOPT_URL, net->settings.news_url) == CURLE_OK &&
         curl_easy_setopt(news->easy, CURLOPT_HTTPHEADER, news->headers) == CURLE_OK &&
         curl_easy_setopt(news->easy, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
         curl_easy_setopt(news->easy, CURLOPT_WRITEDATA, net) == CURLE_OK;
}

/* Returns the pause before the next attempt, between three quarters and five quarters of its average. */
static unsigned pause_ms(const struct news *news) {
  uint64_t pause = news->retry_ms;
  for (unsigned count = 0; count < news->failures && pause < LONGEST_PAUSE_MS; count++) pause *= 2;
  if (pause > LONGEST_PAUSE_MS) pause = LONGEST_PAUSE_MS;
  char token[TOKEN_LENGTH + 1];
  uint64_t jitter = random_token(token) ? (uint64_t)(unsigned char)token[0] % 64 : 32;
  return (unsigned)(pause * 3 / 4 + pause * jitter / 128);
}

static void open_again_later(struct link *link, uint64_t now) {
  struct news *news = &link->net->news;
  news->end_is_due = true;
  news->opens = now + pause_ms(news);
  if (news->failures < 16) news->failures++;
}

void news_close(struct link *link) {
  struct news *news = &link->net->news;
  if (news->easy != NULL) {
    curl_multi_remove_handle(link->multi, news->easy);
    curl_easy_cleanup(news->easy);
  }
  curl_slist_free_all(news->headers);
  news->easy = NULL;
  news->headers = NULL;
}

static void news_open(struct link *link, uint64_t now) {
  struct news *news = &link->net->news;
  news->response = (struct response){0};
  news->line_length = 0;
  news->event[0] = news->id[0] = '\0';
  news->has_begun = false;
  news->is_unreachable = false;
  news->heard = now;
  if (prepare(link->net) && curl_multi_add_handle(link->multi, news->easy) == CURLM_OK) return;
  news_close(link);
  open_again_later(link, now);
}

void news_ended(struct link *link, CURLcode code) {
  struct net *net = link->net;
  struct news *news = &net->news;
  if (news->response.status == 0) curl_easy_getinfo(news->easy, CURLINFO_RESPONSE_CODE, &news->response.status);
  uint64_t now = now_ms();
  /* Too many streams: exchanges are not concerned. */
  bool is_limit = news->response.status == 429;
  uint64_t until = is_limit ? now + (uint64_t)news->response.retry_after * 1000 : 0;
  if (!is_limit) pauses_note(&net->pauses, &news->response, NULL, 0);
  news->is_unreachable = news->response.status == 0 && code != CURLE_OK;
  news_close(link);
  open_again_later(link, now);
  if (news->opens < until) news->opens = until;
}

bool news_take_end(struct link *link) {
  struct net *net = link->net;
  bool is_due = net->news.owner == link && net->news.end_is_due && net->stream != NULL;
  if (is_due) net->news.end_is_due = false;
  return is_due;
}

/* The stream has one owner: the current link, once the previous one has closed the stream. */
static bool is_owner(struct link *link) {
  struct net *net = link->net;
  if (net->ready == NULL) return false;
  if (net->current == link && net->news.owner == NULL) net->news.owner = link;
  if (net->news.owner != link) return false;
  if (net->current == link) return true;
  news_close(link);
  net->news.owner = NULL;
  if (net->current != NULL) link_wake(net->current);
  return false;
}

static int poll_ms(uint64_t due) { return due > LONGEST_POLL_MS ? LONGEST_POLL_MS : (int)due; }

int news_step(struct link *link, uint64_t now) {
  struct net *net = link->net;
  struct news *news = &net->news;
  if (!is_owner(link)) return NOTHING_DUE_MS;
  if (news->easy != NULL && now - news->heard >= SILENCE_MS) {
    news_close(link);
    open_again_later(link, now);
    /* After a change of network the connection is dead, and nothing says so. A new stream would join it. */
    link_replace(net);
    if (!is_owner(link)) return NOTHING_DUE_MS;
  }
  if (news->easy != NULL) return poll_ms(SILENCE_MS - (now - news->heard));
  uint64_t opens = news->opens > net->pauses.until ? news->opens : net->pauses.until;
  if (opens > now) return poll_ms(opens - now);
  news_open(link, now);
  return 0;
}
