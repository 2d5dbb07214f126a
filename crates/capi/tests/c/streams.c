/* Sealed files through descriptors and callbacks, and many threads at once. */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

/* Memory that is read and written in odd pieces, and fails when `left` calls are over. */
struct memory {
    uint8_t *bytes;
    size_t len, position;
    long left;
};

static ptrdiff_t take(void *context, uint8_t *bytes, size_t len)
{
    struct memory *memory = context;
    size_t rest = memory->len - memory->position;
    if (memory->left-- == 0)
        return -1;
    if (len > rest)
        len = rest;
    if (len > 1001)
        len = 1001;
    if (len > 0)
        memcpy(bytes, memory->bytes + memory->position, len);
    memory->position += len;
    return (ptrdiff_t)len;
}

/* More than was asked for. */
static ptrdiff_t lie(void *context, uint8_t *bytes, size_t len)
{
    (void)context;
    (void)bytes;
    return (ptrdiff_t)len + 1;
}

static int put(void *context, const uint8_t *bytes, size_t len)
{
    struct memory *memory = context;
    if (memory->left-- == 0)
        return 5;
    memory->bytes = realloc(memory->bytes, memory->len + len + 1);
    memcpy(memory->bytes + memory->len, bytes, len);
    memory->len += len;
    return 0;
}

static void callbacks(const sealstone_seal_options *seal, const sealstone_open_options *open,
    const uint8_t *content, size_t len)
{
    struct memory from = {(uint8_t *)content, len, 0, -1}, sealed = {NULL, 0, 0, -1};
    struct memory opened = {NULL, 0, 0, -1};
    sealstone_buffer *whole;
    IS(OK, sealstone_seal_stream(seal, take, &from, put, &sealed));
    IS(OK, sealstone_open(open, sealed.bytes, sealed.len, &whole));
    CHECK(is_content(whole, content, len));
    IS(OK, sealstone_open_stream(open, take, &sealed, put, &opened));
    CHECK(opened.len == len && memcmp(opened.bytes, content, len) == 0);
    for (long calls = 0; calls < 3; calls++) {
        struct memory again = {sealed.bytes, sealed.len, 0, calls}, none = {NULL, 0, 0, -1};
        IS(CALLBACK, sealstone_open_stream(open, take, &again, put, &none));
        CHECK(strcmp(sealstone_error_message(), "the callback read failed") == 0);
        struct memory full = {NULL, 0, 0, calls}, source = {(uint8_t *)content, len, 0, -1};
        IS(CALLBACK, sealstone_seal_stream(seal, take, &source, put, &full));
        CHECK(strcmp(sealstone_error_message(), "the callback write failed") == 0);
        free(none.bytes);
        free(full.bytes);
    }
    struct memory end = {sealed.bytes, sealed.len - 40, 0, -1}, cut = {NULL, 0, 0, -1};
    CHECK(sealstone_open_stream(open, take, &end, put, &cut) != SEALSTONE_OK);
    IS(CALLBACK, sealstone_seal_stream(seal, lie, NULL, put, &cut));
    IS(INVALID, sealstone_seal_stream(seal, NULL, NULL, put, &cut));
    IS(INVALID, sealstone_seal_stream(seal, take, &from, NULL, NULL));
    IS(INVALID, sealstone_open_stream(NULL, take, &from, put, &cut));
    free(cut.bytes);
    free(sealed.bytes);
    free(opened.bytes);
}

static void descriptors(const sealstone_seal_options *seal, const sealstone_open_options *open,
    const uint8_t *content, size_t len)
{
    FILE *plain = tmpfile(), *sealed = tmpfile(), *opened = tmpfile();
    uint8_t *back = malloc(len + 1);
    int closed = dup(fileno(plain)), ends[2];
    close(closed);
    CHECK(fwrite(content, 1, len, plain) == len && fflush(plain) == 0);
    rewind(plain);
    lseek(fileno(plain), 0, SEEK_SET);
    IS(OK, sealstone_seal_fd(seal, fileno(plain), fileno(sealed)));
    lseek(fileno(sealed), 0, SEEK_SET);
    IS(OK, sealstone_open_fd(open, fileno(sealed), fileno(opened)));
    lseek(fileno(opened), 0, SEEK_SET);
    CHECK(read(fileno(opened), back, len + 1) == (ssize_t)len && memcmp(back, content, len) == 0);
    IS(INVALID, sealstone_seal_fd(seal, -1, fileno(sealed)));
    IS(INVALID, sealstone_open_fd(open, fileno(sealed), -5));
    IS(SYSTEM, sealstone_seal_fd(seal, closed, fileno(sealed)));
    CHECK(strstr(sealstone_error_message(), "from: Bad file descriptor") != NULL);
    IS(INVALID, sealstone_seal_fd(NULL, fileno(plain), fileno(sealed)));
    IS(INVALID, sealstone_open_fd(NULL, fileno(plain), fileno(sealed)));
    CHECK(pipe(ends) == 0);
    IS(SYSTEM, sealstone_seal_fd(seal, ends[1], fileno(sealed)));
    close(ends[0]);
    close(ends[1]);
    fclose(plain);
    fclose(sealed);
    fclose(opened);
    free(back);
}

void streams(const struct people *people)
{
    const sealstone_public_passport *recipients[] = {people->bob_public};
    const sealstone_passport *keys[] = {people->bob};
    sealstone_seal_options seal = {.size = sizeof seal, .recipients = recipients,
        .recipient_count = 1, .sender = people->alice};
    sealstone_open_options open = {.size = sizeof open, .passports = keys, .passport_count = 1,
        .sender = people->alice_public};
    size_t len = 300001;
    uint8_t *content = malloc(len);
    for (size_t i = 0; i < len; i++)
        content[i] = (uint8_t)(i % 251);
    callbacks(&seal, &open, content, len);
    seal.flags = SEALSTONE_SEAL_ARMOR;
    callbacks(&seal, &open, content, 70000);
    descriptors(&seal, &open, content, len);
    free(content);
}

/* Each thread has the message of its own failure, and they share handles. */
static void *work(void *context)
{
    const struct people *people = context;
    uint8_t digest[64], fingerprint[32];
    sealstone_issuer_key *key;
    for (int n = 0; n < 30; n++) {
        int is_even = n % 2 == 0;
        int status = is_even ? sealstone_skein512(NULL, 3, digest, 64)
                             : sealstone_issuer_key_generate(7, &key);
        if (status != (is_even ? SEALSTONE_INVALID : SEALSTONE_UNSUPPORTED))
            return "another status";
        const char *message = sealstone_error_message();
        if (sealstone_public_passport_fingerprint(people->alice_public, fingerprint, 32) != 0)
            return "no fingerprint";
        if (strstr(message, is_even ? "data: a null pointer" : "unknown token type") == NULL)
            return "the message of another thread";
    }
    return NULL;
}

void threads(const struct people *people)
{
    pthread_t running[8];
    for (int n = 0; n < 8; n++)
        CHECK(pthread_create(&running[n], NULL, work, (void *)people) == 0);
    for (int n = 0; n < 8; n++) {
        void *wrong;
        CHECK(pthread_join(running[n], &wrong) == 0);
        check(wrong == NULL, wrong == NULL ? "" : wrong, __LINE__);
    }
}
