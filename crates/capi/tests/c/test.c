/*
 * Uses every function of the header, with good and with hostile arguments. -DPLANTED=1 leaves a
 * leak in, -DPLANTED=2 a read behind the end, -DPLANTED=3 a use of a freed handle: the tools that
 * watch this program have to find them.
 */
#include "test.h"

#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PLANTED
#define PLANTED 0
#endif

static int checks;

void check(int right, const char *text, int line)
{
    checks++;
    if (!right) {
        fprintf(stderr, "line %d: %s: %s\n", line, text, sealstone_error_message());
        exit(1);
    }
}

static int is_hex(const uint8_t *bytes, size_t len, const char *hex)
{
    char byte[3];
    for (size_t i = 0; i < len; i++) {
        snprintf(byte, sizeof byte, "%02x", bytes[i]);
        if (strncmp(byte, hex + 2 * i, 2) != 0)
            return 0;
    }
    return strlen(hex) == 2 * len;
}

/* RFC 9106, section 5.3. */
static void argon2(void)
{
    uint8_t password[32], salt[16], secret[8], data[12], tag[32];
    memset(password, 1, sizeof password);
    memset(salt, 2, sizeof salt);
    memset(secret, 3, sizeof secret);
    memset(data, 4, sizeof data);
    sealstone_argon2_params params = {.size = sizeof params, .variant = 2, .version = 0x13,
        .memory_kib = 32, .passes = 3, .lanes = 4, .threads = 2, .secret = secret,
        .secret_len = sizeof secret, .data = data, .data_len = sizeof data};
    IS(OK, sealstone_argon2(&params, password, 32, salt, 16, tag, 32));
    CHECK(is_hex(tag, 32, "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"));
    IS(INVALID, sealstone_argon2(NULL, password, 32, salt, 16, tag, 32));
    IS(INVALID, sealstone_argon2(&params, NULL, 32, salt, 16, tag, 32));
    IS(INVALID, sealstone_argon2(&params, password, SIZE_MAX, salt, 16, tag, 32));
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, tag, 3));
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, tag, SIZE_MAX / 2));
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, NULL, 32));
    params.lanes = 5;
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, tag, 32));
    params.lanes = 4;
    params.variant = 3;
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, tag, 32));
    params.variant = 2;
    params.version = 0x12;
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, tag, 32));
    params.version = 0x13;
    params.size--;
    IS(INVALID, sealstone_argon2(&params, password, 32, salt, 16, tag, 32));
    CHECK(is_hex(tag, 32, "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"));
}

static void passwords(void)
{
    char stored[128];
    bool again = true;
    const uint8_t *right = BYTES("correct horse");
    IS(OK, sealstone_password_hash(right, 13, 64, 1, 1, stored, sizeof stored));
    CHECK(strncmp(stored, "$argon2id$v=19$m=64,t=1,p=1$", 28) == 0);
    IS(OK, sealstone_password_verify(right, 13, stored, 64, 1, 1, &again));
    CHECK(!again);
    IS(OK, sealstone_password_verify(right, 13, stored, 128, 1, 1, &again));
    CHECK(again);
    IS(OK, sealstone_password_verify(right, 13, stored, 64, 1, 1, NULL));
    IS(WRONG_KEY, sealstone_password_verify(right, 12, stored, 64, 1, 1, &again));
    IS(WRONG_KEY, sealstone_password_verify(NULL, 0, stored, 64, 1, 1, &again));
    IS(INVALID, sealstone_password_verify(right, 13, NULL, 64, 1, 1, &again));
    IS(INVALID, sealstone_password_verify(right, 13, "\xff", 64, 1, 1, &again));
    IS(MALFORMED, sealstone_password_verify(right, 13, "", 64, 1, 1, &again));
    IS(LIMIT, sealstone_password_verify(right, 13,
        "$argon2id$v=19$m=4294967295,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA", 64, 1, 1, NULL));
    IS(INVALID, sealstone_password_hash(right, 13, 64, 1, 1, stored, 127));
    IS(INVALID, sealstone_password_hash(right, 13, 64, 1, 1, NULL, 128));
    IS(INVALID, sealstone_password_hash(right, 13, 7, 1, 1, stored, 128));
}

/* Skein 1.3, appendix C: Skein-512-512 of the byte 0xff. */
static void skein(void)
{
    uint8_t message = 0xff, digest[64], whole[64], parts[64];
    sealstone_skein *state;
    IS(OK, sealstone_skein512(&message, 1, digest, 64));
    CHECK(is_hex(digest, 64,
        "71b7bce6fe6452227b9ced6014249e5bf9a9754c3ad618ccc4e0aae16b316cc8"
        "ca698d864307ed3e80b6ef1570812ac5272dc409b5a012df2a579102f340617a"));
    IS(OK, sealstone_skein512(BYTES("one part, and another"), 21, whole, 64));
    IS(OK, sealstone_skein512_new(NULL, 0, 64, &state));
    IS(OK, sealstone_skein_update(state, BYTES("one part, "), 10));
    IS(OK, sealstone_skein_digest(state, parts, 64));
    CHECK(memcmp(parts, whole, 64) != 0);
    IS(OK, sealstone_skein_update(state, NULL, 0));
    IS(OK, sealstone_skein_update(state, BYTES("and another"), 11));
    IS(OK, sealstone_skein_digest(state, parts, 64));
    CHECK(memcmp(parts, whole, 64) == 0);
    IS(INVALID, sealstone_skein_digest(state, parts, 63));
    IS(INVALID, sealstone_skein_digest(state, NULL, 64));
    IS(INVALID, sealstone_skein_digest(NULL, parts, 64));
    IS(INVALID, sealstone_skein_update(NULL, NULL, 0));
    IS(INVALID, sealstone_skein_update(state, NULL, 1));
    sealstone_skein_free(state);
    IS(OK, sealstone_skein512_new(BYTES("key"), 3, 64, &state));
    IS(OK, sealstone_skein_digest(state, parts, 64));
    sealstone_skein_free(state);
    IS(INVALID, sealstone_skein512_new(NULL, 3, 64, &state));
    CHECK(state == NULL);
    IS(INVALID, sealstone_skein512_new(NULL, 0, 0, &state));
    IS(INVALID, sealstone_skein512_new(NULL, 0, SIZE_MAX, &state));
    IS(INVALID, sealstone_skein512_new(NULL, 0, 64, NULL));
    IS(INVALID, sealstone_skein512(NULL, 0, digest, 0));
    sealstone_skein_free(NULL);
}

static void forked(const sealstone_passport *passport)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        sealstone_public_passport *public_;
        sealstone_passport *own;
        int right = sealstone_passport_public(passport, &public_) == SEALSTONE_FORKED;
        right &= sealstone_passport_generate("Child", &own) == SEALSTONE_OK;
        sealstone_passport_free(own);
        _exit(!right);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A passport as a file, under a passphrase. */
static void locked(const sealstone_passport *alice, const uint8_t *fingerprint)
{
    sealstone_passport *again;
    sealstone_public_passport *public_;
    sealstone_buffer *secret;
    uint8_t other[32];
    IS(OK, sealstone_passport_lock(alice, BYTES("passphrase"), 10, KIB, PASSES, 1, &secret));
    const uint8_t *bytes = sealstone_buffer_data(secret);
    size_t len = sealstone_buffer_len(secret);
    IS(OK, sealstone_passport_unlock(bytes, len, BYTES("passphrase"), 10, &again));
    IS(OK, sealstone_passport_public(again, &public_));
    IS(OK, sealstone_public_passport_fingerprint(public_, other, 32));
    CHECK(memcmp(fingerprint, other, 32) == 0);
    sealstone_public_passport_free(public_);
    sealstone_passport_free(again);
    IS(WRONG_KEY, sealstone_passport_unlock(bytes, len, BYTES("passphrasE"), 10, &again));
    CHECK(again == NULL && strcmp(sealstone_error_message(), "wrong passphrase") == 0);
    sealstone_buffer_free(secret);
}

static void passports(void)
{
    sealstone_passport *alice, *again;
    sealstone_public_passport *public_, *loaded;
    sealstone_buffer *text;
    uint8_t one[32], other[32];
    IS(OK, sealstone_passport_generate("Alice", &alice));
    IS(OK, sealstone_passport_public(alice, &public_));
    IS(OK, sealstone_public_passport_text(public_, &text));
    IS(OK, sealstone_public_passport_load(
        sealstone_buffer_data(text), sealstone_buffer_len(text), &loaded));
    IS(OK, sealstone_public_passport_fingerprint(public_, one, 32));
    IS(OK, sealstone_public_passport_fingerprint(loaded, other, 32));
    CHECK(memcmp(one, other, 32) == 0);
    IS(INVALID, sealstone_public_passport_fingerprint(loaded, other, 31));
    sealstone_public_passport_free(loaded);
    sealstone_public_passport_free(public_);
    IS(MALFORMED, sealstone_public_passport_load(
        sealstone_buffer_data(text), sealstone_buffer_len(text) / 2, &loaded));
    CHECK(loaded == NULL);
    sealstone_buffer_free(text);
    forked(alice);
    if (KDF)
        locked(alice, one);
    IS(MALFORMED, sealstone_passport_unlock(BYTES("x"), 1, BYTES("passphrase"), 10, &again));
    IS(INVALID, sealstone_passport_lock(alice, BYTES("passphrase"), 10, 8, 1, 1, &text));
    IS(INVALID, sealstone_passport_lock(NULL, BYTES("passphrase"), 10, KIB, PASSES, 1, &text));
    IS(INVALID, sealstone_passport_generate(NULL, &again));
    IS(INVALID, sealstone_passport_generate("a\nb", &again));
    IS(INVALID, sealstone_passport_public(NULL, &public_));
    IS(INVALID, sealstone_public_passport_text(NULL, &text));
    sealstone_passport_free(alice);
    sealstone_passport_free(NULL);
    sealstone_public_passport_free(NULL);
    sealstone_buffer_free(NULL);
    CHECK(sealstone_buffer_data(NULL) == NULL && sealstone_buffer_len(NULL) == 0);
}

/* Whether the buffer has this content; frees it. */
int is_content(sealstone_buffer *buffer, const uint8_t *content, size_t len)
{
    int right = sealstone_buffer_len(buffer) == len;
    right = right && memcmp(sealstone_buffer_data(buffer), content, len) == 0;
    sealstone_buffer_free(buffer);
    return right;
}

static void seal_and_open(const struct people *people, uint32_t flags, size_t len)
{
    uint8_t *content = malloc(len + 1);
    sealstone_buffer *sealed, *opened;
    for (size_t i = 0; i < len; i++)
        content[i] = (uint8_t)(i % 251);
    const sealstone_public_passport *recipients[] = {people->bob_public};
    const sealstone_passport *keys[] = {people->alice, people->bob};
    sealstone_seal_options seal = {.size = sizeof seal, .flags = flags, .recipients = recipients,
        .recipient_count = 1, .sender = people->alice};
    sealstone_open_options open = {.size = sizeof open, .passports = keys, .passport_count = 2,
        .sender = people->alice_public};
    IS(OK, sealstone_seal(&seal, content, len, &sealed));
    const uint8_t *bytes = sealstone_buffer_data(sealed);
    size_t sealed_len = sealstone_buffer_len(sealed);
    IS(OK, sealstone_open(&open, bytes, sealed_len, &opened));
    CHECK(is_content(opened, content, len));
    IS(ALTERED, sealstone_open(&open, bytes, sealed_len - 100, &opened) == SEALSTONE_OK
        ? SEALSTONE_OK : SEALSTONE_ALTERED);
    CHECK(opened == NULL);
    open.passport_count = 1;
    IS(WRONG_KEY, sealstone_open(&open, bytes, sealed_len, &opened));
    open.passport_count = 2;
    open.sender = people->bob_public;
    IS(WRONG_SENDER, sealstone_open(&open, bytes, sealed_len, &opened));
    open.sender = NULL;
    IS(INVALID, sealstone_open(&open, bytes, sealed_len, &opened));
    open.flags = SEALSTONE_OPEN_UNSIGNED;
    IS(WRONG_SENDER, sealstone_open(&open, bytes, sealed_len, &opened));
    CHECK(opened == NULL);
    sealstone_buffer_free(sealed);
    free(content);
}

static void altered(const struct people *people)
{
    const sealstone_public_passport *recipients[] = {people->bob_public};
    const sealstone_passport *keys[] = {people->bob};
    sealstone_seal_options seal = {
        .size = sizeof seal, .recipients = recipients, .recipient_count = 1};
    sealstone_open_options open = {.size = sizeof open, .flags = SEALSTONE_OPEN_UNSIGNED,
        .passports = keys, .passport_count = 1};
    sealstone_buffer *sealed, *opened;
    IS(OK, sealstone_seal(&seal, BYTES("text"), 4, &sealed));
    size_t len = sealstone_buffer_len(sealed);
    uint8_t *copy = malloc(len);
    for (size_t i = 0; i < len; i += STEP) {
        memcpy(copy, sealstone_buffer_data(sealed), len);
        copy[i] ^= 1;
        CHECK(sealstone_open(&open, copy, len, &opened) != SEALSTONE_OK && opened == NULL);
        CHECK(sealstone_open(&open, copy, i, &opened) != SEALSTONE_OK && opened == NULL);
    }
    IS(INVALID, sealstone_open(&open, NULL, 4, &opened));
    IS(INVALID, sealstone_open(NULL, copy, len, &opened));
    IS(INVALID, sealstone_open(&open, copy, len, NULL));
    IS(INVALID, sealstone_seal(NULL, copy, len, &opened));
    keys[0] = NULL;
    IS(INVALID, sealstone_open(&open, copy, len, &opened));
    open.passports = NULL;
    IS(INVALID, sealstone_open(&open, copy, len, &opened));
    recipients[0] = NULL;
    IS(INVALID, sealstone_seal(&seal, copy, len, &opened));
    seal.recipient_count = 0;
    IS(INVALID, sealstone_seal(&seal, copy, len, &opened));
    seal.flags = 8;
    IS(INVALID, sealstone_seal(&seal, copy, len, &opened));
    free(copy);
    sealstone_buffer_free(sealed);
}

/* Structures of programs that were compiled with an older and with a newer header. */
static void sizes(const struct people *people)
{
    const sealstone_public_passport *recipients[] = {people->bob_public};
    sealstone_seal_options own = {.size = offsetof(sealstone_seal_options, passphrase),
        .recipients = recipients, .recipient_count = 1, .sender = people->alice};
    sealstone_buffer *sealed;
    /* Nothing behind the older one is read: valgrind would notice, and nobody signs. */
    void *older = malloc(own.size);
    memcpy(older, &own, own.size);
    IS(OK, sealstone_seal(older, BYTES("text"), 4, &sealed));
    free(older);
    const sealstone_passport *keys[] = {people->bob};
    sealstone_open_options open = {.size = sizeof open, .flags = SEALSTONE_OPEN_UNSIGNED,
        .passports = keys, .passport_count = 1};
    sealstone_buffer *opened;
    IS(OK, sealstone_open(&open, sealstone_buffer_data(sealed), sealstone_buffer_len(sealed),
        &opened));
    CHECK(is_content(opened, BYTES("text"), 4));
    sealstone_buffer_free(sealed);
    struct {
        sealstone_seal_options options;
        uint64_t later[2];
    } newer = {own, {0, 0}};
    newer.options.size = sizeof newer;
    IS(OK, sealstone_seal(&newer.options, BYTES("text"), 4, &sealed));
    sealstone_buffer_free(sealed);
    newer.later[1] = 1;
    IS(INVALID, sealstone_seal(&newer.options, BYTES("text"), 4, &sealed));
    newer.options.size = sizeof(size_t); /* that of a pointer */
    IS(INVALID, sealstone_seal(&newer.options, BYTES("text"), 4, &sealed));
}

static void passphrases(void)
{
    sealstone_seal_options seal = {.size = sizeof seal, .memory_kib = KIB, .passes = PASSES,
        .lanes = 1, .passphrase = BYTES("correct horse"), .passphrase_len = 13};
    sealstone_open_options open = {.size = sizeof open, .flags = SEALSTONE_OPEN_UNSIGNED,
        .passphrase = BYTES("correct horse"), .passphrase_len = 13};
    sealstone_buffer *sealed, *opened;
    IS(OK, sealstone_seal(&seal, NULL, 0, &sealed));
    const uint8_t *bytes = sealstone_buffer_data(sealed);
    IS(OK, sealstone_open(&open, bytes, sealstone_buffer_len(sealed), &opened));
    CHECK(is_content(opened, BYTES(""), 0));
    open.passphrase_len--;
    IS(WRONG_KEY, sealstone_open(&open, bytes, sealstone_buffer_len(sealed), &opened));
    sealstone_buffer_free(sealed);
}

static void planted(void)
{
    sealstone_passport *lost;
    uint8_t *content = calloc(1, 16), digest[64];
    if (PLANTED == 1) {
        IS(OK, sealstone_passport_generate("Lost", &lost));
        lost = NULL;
    }
    if (PLANTED == 2)
        IS(OK, sealstone_skein512(content, 17, digest, 64));
    if (PLANTED == 3) {
        sealstone_skein *skein;
        IS(OK, sealstone_skein512_new(NULL, 0, 64, &skein));
        sealstone_skein_free(skein);
        IS(OK, sealstone_skein_digest(skein, digest, 64));
    }
    free(content);
}

int main(void)
{
    struct people people;
    if (PLANTED) {
        planted();
        return 0;
    }
    CHECK(strchr(sealstone_version(), '.') != NULL);
    CHECK(strcmp(sealstone_error_message(), "") == 0);
    argon2();
    passwords();
    skein();
    passports();
    IS(OK, sealstone_passport_generate("Alice", &people.alice));
    IS(OK, sealstone_passport_generate("Bob", &people.bob));
    IS(OK, sealstone_passport_public(people.alice, &people.alice_public));
    IS(OK, sealstone_passport_public(people.bob, &people.bob_public));
    for (uint32_t flags = 0; flags < 8; flags++)
        seal_and_open(&people, flags, 1000);
    seal_and_open(&people, 0, 3 * 1024 * 1024 + 5);
    altered(&people);
    sizes(&people);
    if (KDF)
        passphrases();
    streams(&people);
    packages(&people);
    threads(&people);
    tokens();
    sealstone_passport_free(people.alice);
    sealstone_passport_free(people.bob);
    sealstone_public_passport_free(people.alice_public);
    sealstone_public_passport_free(people.bob_public);
    printf("%d checks\n", checks);
    return 0;
}
