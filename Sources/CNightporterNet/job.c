/* One exchange as a libcurl transfer. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct job *job_make(const uint8_t *request, size_t length) {
  struct job *job = calloc(1, sizeof *job);
  if (job == NULL) return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&job->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  /* One byte more, since an empty request must still be sent, and refused. */
  job->request = malloc(length + 1);
  if (job->request == NULL) {
    job_free(job);
    return NULL;
  }
  if (length > 0) memcpy(job->request, request, length);
  job->request_length = length;
  return job;
}

void job_free(struct job *job) {
  if (job == NULL) return;
  curl_easy_cleanup(job->easy);
  curl_slist_free_all(job->headers);
  free(job->request);
  free(job->answer);
  pthread_cond_destroy(&job->ended);
  free(job);
}

static size_t take_answer(char *bytes, size_t size, size_t count, void *context) {
  struct job *job = context;
  size_t length = size * count;
  if (length > ANSWER_LIMIT - job->answer_length) {
    job->is_too_long = true;
    return 0;
  }
  size_t needed = job->answer_length + length;
  if (needed > job->answer_capacity) {
    size_t capacity = needed < 1024 ? 1024 : needed * 2;
    uint8_t *grown = realloc(job->answer, capacity);
    if (grown == NULL) return 0;
    job->answer = grown;
    job->answer_capacity = capacity;
  }
  if (length > 0) memcpy(job->answer + job->answer_length, bytes, length);
  job->answer_length = needed;
  return length;
}

static bool add_header(struct curl_slist **headers, const char *line) {
  struct curl_slist *longer = curl_slist_append(*headers, line);
  if (longer != NULL) *headers = longer;
  return longer != NULL;
}

bool job_prepare(struct job *job, const struct settings *settings, const char *listener) {
  job->easy = curl_easy_init();
  if (job->easy == NULL || !transfer_prepare(job->easy, settings, &job->response)) return false;
  char line[32 + TOKEN_LENGTH] = "Porter-Listener: ";
  if (listener != NULL) strncat(line, listener, TOKEN_LENGTH);
  /* Without "Expect", a body of any length is sent immediately. */
  if (!add_header(&job->headers, "Content-Type: application/octet-stream") ||
      !add_header(&job->headers, "Accept: application/octet-stream") || !add_header(&job->headers, "Expect:") ||
      (listener != NULL && !add_header(&job->headers, line)))
    return false;
  return curl_easy_setopt(job->easy, CURLOPT_URL, settings->exchange_url) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_POST, 1L) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_POSTFIELDSIZE, (long)job->request_length) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_POSTFIELDS, job->request) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_HTTPHEADER, job->headers) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_WRITEDATA, job) == CURLE_OK &&
         curl_easy_setopt(job->easy, CURLOPT_PRIVATE, job) == CURLE_OK;
}

void job_repeat(struct job *job) {
  job->was_repeated = true;
  job->answer_length = 0;
  job->response = (struct response){0};
  curl_easy_setopt(job->easy, CURLOPT_FRESH_CONNECT, 1L);
}
