/* Shared by the parts of the test program. */
#ifndef TEST_H
#define TEST_H

#include "sealstone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes of a file are passed over between two that are changed. */
#ifndef STEP
#define STEP 13
#endif

/* -DKDF=0 leaves out what derives keys from passphrases: under valgrind that takes 40 s. */
#ifndef KDF
#define KDF 1
#endif

/* The least cost of a passphrase. */
#define KIB 7168
#define PASSES 5

struct people {
    sealstone_passport *alice, *bob;
    sealstone_public_passport *alice_public, *bob_public;
};

/* Ends the program unless it is right. */
void check(int right, const char *text, int line);

#define CHECK(condition) check((condition), #condition, __LINE__)
#define IS(status, call) check((call) == SEALSTONE_##status, #call, __LINE__)
#define BYTES(text) ((const uint8_t *)(text))

/* Whether the buffer has this content; frees it. */
int is_content(sealstone_buffer *buffer, const uint8_t *content, size_t len);

void packages(const struct people *people);
void streams(const struct people *people);
void threads(const struct people *people);
void tokens(void);

#endif
