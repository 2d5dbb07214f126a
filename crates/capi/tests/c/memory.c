/* Calls fail when the system gives no memory. The library ends no program. */
#include "sealstone.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define LONG ((size_t)64 << 20)

/* Lets the program have this much more memory than it has. */
static void allow(rlim_t more)
{
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        exit(2);
    fclose(file);
    struct rlimit limit = {(rlim_t)pages * 4096 + more, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        exit(2);
}

static void is(sealstone_status expected, sealstone_status status, const char *text)
{
    if (status == expected)
        return;
    fprintf(stderr, "%s: %d, %s\n", text, status, sealstone_error_message());
    exit(1);
}

#define IS(status, call) is(SEALSTONE_##status, (call), #call)

int main(void)
{
    uint8_t *content = malloc(LONG), *tag = malloc(LONG);
    sealstone_passport *alice;
    sealstone_public_passport *half;
    sealstone_buffer *buffer = NULL;
    IS(OK, sealstone_passport_generate("Alice", &alice));
    IS(OK, sealstone_passport_public(alice, &half));
    if (!content || !tag)
        return 2;
    const sealstone_public_passport *recipients[] = {half};
    const sealstone_passport *passports[] = {alice};
    sealstone_seal_options seal = {.size = sizeof seal, .recipients = recipients, .recipient_count = 1};
    sealstone_open_options open = {.size = sizeof open,
        .flags = SEALSTONE_OPEN_UNSIGNED,
        .passports = passports,
        .passport_count = 1};
    sealstone_argon2_params params = {.size = sizeof params,
        .variant = 2,
        .version = 0x13,
        .memory_kib = 8,
        .passes = 1,
        .lanes = 1,
        .threads = 1};
    const uint8_t *salt = (const uint8_t *)"somesalt";
    allow(4 << 20);
    IS(MEMORY, sealstone_argon2(&params, salt, 8, salt, 8, tag, (size_t)16 << 20));
    IS(MEMORY, sealstone_seal(&seal, content, LONG, &buffer));
    IS(MEMORY, sealstone_open(&open, content, LONG, &buffer));
    IS(MEMORY, sealstone_skein512(salt, 8, tag, (size_t)16 << 20));
    IS(OK, sealstone_skein512(salt, 8, tag, 1000));
    params.memory_kib = 1 << 20;
    IS(MEMORY, sealstone_argon2(&params, salt, 8, salt, 8, tag, 32));
    params.memory_kib = 8;
    IS(OK, sealstone_argon2(&params, salt, 8, salt, 8, tag, 32));
    printf("enough memory\n");
    sealstone_public_passport_free(half);
    sealstone_passport_free(alice);
    free(content);
    free(tag);
    return 0;
}
