/*
 * Sealstone for C: Argon2, Skein, passports and sealed files.
 *
 * - A function that returns `int` returns SEALSTONE_OK, or one of the codes below.
 *   `sealstone_error_message` then says what happened and what to do. Outputs are not changed on
 *   failure, except that handles are set to NULL.
 * - Lengths are in bytes. A pointer may be NULL if its length is 0. Outputs must not overlap
 *   inputs. Strings end with a zero byte and are UTF-8.
 * - Handles (`sealstone_…_free`) belong to the caller. A handle may be used by several threads at
 *   once if none of them changes or frees it; only `sealstone_skein_update` changes one.
 * - Secrets are wiped when they are freed. A passport does not survive a fork: in the child its
 *   use returns SEALSTONE_FORKED, and freeing it is fine.
 */
#ifndef SEALSTONE_H
#define SEALSTONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended. */

#define SEALSTONE_OK 0
#define SEALSTONE_INVALID 1      /* an argument is out of range; the message says which one */
#define SEALSTONE_MEMORY 2       /* the system has not enough memory */
#define SEALSTONE_MALFORMED 3    /* the bytes break a rule of the format */
#define SEALSTONE_UNSUPPORTED 4  /* the bytes follow a newer version of the format */
#define SEALSTONE_WRONG_KEY 5    /* the password, passphrase or passport is not the right one */
#define SEALSTONE_ALTERED 6      /* a part was altered, damaged or cut */
#define SEALSTONE_WRONG_SENDER 7 /* the file was signed by another passport, or by none */
#define SEALSTONE_LIMIT 8        /* a key derivation asks for more than is allowed */
#define SEALSTONE_FORKED 9       /* the secret stayed in the process that forked this one */
#define SEALSTONE_SYSTEM 10      /* the system failed, or another kind of failure */
#define SEALSTONE_PANIC 11       /* a defect of the library: please report it */

/* The message of this thread's last failure: valid until this thread's next failure. Never NULL. */
const char *sealstone_error_message(void);

/* The version of the library, as in "1.2.3". */
const char *sealstone_version(void);

/* Bytes that a function returns. They are wiped when they are freed. */

typedef struct sealstone_buffer sealstone_buffer;

/* Valid until the buffer is freed. */
const uint8_t *sealstone_buffer_data(const sealstone_buffer *buffer);
size_t sealstone_buffer_len(const sealstone_buffer *buffer);
void sealstone_buffer_free(sealstone_buffer *buffer);

/* Argon2 (RFC 9106). */

typedef struct sealstone_argon2_params {
    size_t size;           /* sizeof(sealstone_argon2_params) */
    uint32_t variant;      /* 0 (Argon2d), 1 (Argon2i), 2 (Argon2id) */
    uint32_t version;      /* 0x10 or 0x13 */
    uint32_t memory_kib;   /* at least 8 times the lanes */
    uint32_t passes;       /* from 1 */
    uint32_t lanes;        /* from 1 */
    uint32_t threads;      /* from 1; they do not change the result */
    const uint8_t *secret; /* a key that enters the hash, or NULL */
    size_t secret_len;
    const uint8_t *data; /* data that enters the hash, or NULL */
    size_t data_len;
} sealstone_argon2_params;

/* Fills `tag`, 4 bytes to 16 MiB. A salt of 16 random bytes is usual. */
int sealstone_argon2(
    const sealstone_argon2_params *params,
    const uint8_t *password,
    size_t password_len,
    const uint8_t *salt,
    size_t salt_len,
    uint8_t *tag,
    size_t tag_len);

/*
 * Writes a string that stores a password, with a fresh salt (Argon2id, PHC string format).
 * `stored` has room for at least 128 bytes.
 */
int sealstone_password_hash(
    const uint8_t *password,
    size_t password_len,
    uint32_t memory_kib,
    uint32_t passes,
    uint32_t lanes,
    char *stored,
    size_t stored_len);

/*
 * SEALSTONE_OK if the password is right, SEALSTONE_WRONG_KEY if it is not. Strings that ask for
 * more than 2 GiB, or 64 GiB times passes, are refused with SEALSTONE_LIMIT. `needs_rehash` may be
 * NULL; it is set if the string has other parameters than these.
 */
int sealstone_password_verify(
    const uint8_t *password,
    size_t password_len,
    const char *stored,
    uint32_t memory_kib,
    uint32_t passes,
    uint32_t lanes,
    bool *needs_rehash);

/* Skein-512 (version 1.3). A digest has 1 byte to 16 MiB; 64 bytes are usual. */

typedef struct sealstone_skein sealstone_skein;

int sealstone_skein512(const uint8_t *data, size_t data_len, uint8_t *digest, size_t digest_len);

/* Begins a hash; with a key, a MAC. */
int sealstone_skein512_new(
    const uint8_t *key, size_t key_len, size_t digest_len, sealstone_skein **skein);
int sealstone_skein_update(sealstone_skein *skein, const uint8_t *data, size_t data_len);

/* The digest of the message so far, which may go on. `digest_len` is that of the beginning. */
int sealstone_skein_digest(const sealstone_skein *skein, uint8_t *digest, size_t digest_len);
void sealstone_skein_free(sealstone_skein *skein);

/* Passports. */

typedef struct sealstone_passport sealstone_passport;
typedef struct sealstone_public_passport sealstone_public_passport;

int sealstone_passport_generate(const char *label, sealstone_passport **passport);
int sealstone_passport_unlock(
    const uint8_t *text,
    size_t text_len,
    const uint8_t *passphrase,
    size_t passphrase_len,
    sealstone_passport **passport);

/*
 * The text of the secret passport, under a passphrase. The cost is in KiB, passes and lanes; three
 * zeros mean the strongest profile (1 GiB).
 */
int sealstone_passport_lock(
    const sealstone_passport *passport,
    const uint8_t *passphrase,
    size_t passphrase_len,
    uint32_t memory_kib,
    uint32_t passes,
    uint32_t lanes,
    sealstone_buffer **text);
int sealstone_passport_public(
    const sealstone_passport *passport, sealstone_public_passport **public_);
void sealstone_passport_free(sealstone_passport *passport);

/* Reads the text of a public passport, and checks both of its signatures. */
int sealstone_public_passport_load(
    const uint8_t *text, size_t text_len, sealstone_public_passport **public_);
int sealstone_public_passport_text(
    const sealstone_public_passport *public_, sealstone_buffer **text);

/* Fills 32 bytes. */
int sealstone_public_passport_fingerprint(
    const sealstone_public_passport *public_, uint8_t *fingerprint, size_t fingerprint_len);
void sealstone_public_passport_free(sealstone_public_passport *public_);

/* Sealed files in memory. */

#define SEALSTONE_SEAL_ARMOR 1       /* the file is text */
#define SEALSTONE_SEAL_HIDE_LENGTH 2 /* the file hides the length of its content */
#define SEALSTONE_SEAL_ANONYMOUS 4   /* the file hides its recipients */
#define SEALSTONE_OPEN_UNSIGNED 1    /* only a file that nobody signed opens */

typedef struct sealstone_seal_options {
    size_t size; /* sizeof(sealstone_seal_options) */
    uint32_t flags;
    uint32_t memory_kib; /* the cost of the passphrase, as in sealstone_passport_lock */
    uint32_t passes;
    uint32_t lanes;
    const sealstone_public_passport *const *recipients;
    size_t recipient_count;
    const uint8_t *passphrase; /* or NULL */
    size_t passphrase_len;
    const sealstone_passport *sender; /* signs the file, or NULL */
} sealstone_seal_options;

typedef struct sealstone_open_options {
    size_t size; /* sizeof(sealstone_open_options) */
    uint32_t flags;
    const sealstone_passport *const *passports;
    size_t passport_count;
    const uint8_t *passphrase; /* or NULL */
    size_t passphrase_len;
    const sealstone_public_passport *sender; /* NULL with SEALSTONE_OPEN_UNSIGNED only */
} sealstone_open_options;

int sealstone_seal(
    const sealstone_seal_options *options,
    const uint8_t *content,
    size_t content_len,
    sealstone_buffer **sealed);

/* Nothing is returned before all of the file is verified. */
int sealstone_open(
    const sealstone_open_options *options,
    const uint8_t *sealed,
    size_t sealed_len,
    sealstone_buffer **content);

#ifdef __cplusplus
}
#endif

#endif
