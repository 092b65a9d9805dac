#ifndef COUNTED_CRYPTO_H
#define COUNTED_CRYPTO_H

/*
 * Counts what the process has libsodium compute, on all threads. libsodium's functions are interposed, so that the
 * code under test needs no part for it. Linux only; elsewhere nothing is counted.
 */
struct counted_crypto {
  long verifications; /* of signatures */
  long hashes;        /* BLAKE2b, which also makes authentication tags and names */
  long agreements;    /* scalar multiplications of two sides' keys */
};

/* Since the process began. */
struct counted_crypto counted_crypto(void);

#endif
