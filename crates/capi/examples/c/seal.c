/*
 * Seals a file to a passport, or opens one, through file descriptors and in constant memory.
 *
 *     cc seal.c $(pkg-config --cflags --libs sealstone) -o seal
 *     ./seal seal bob.pub <report.pdf >report.sealed
 *     SEALSTONE_PASSPHRASE=… ./seal open bob.passport <report.sealed >report.pdf
 *
 * The file is not signed. `sealstone passport new -o bob.passport` makes both passports.
 */
#include <sealstone.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer passports do not exist. */
static uint8_t text[65536];

static int failed(const char *what)
{
    fprintf(stderr, "seal: %s: %s\n", what, sealstone_error_message());
    return 1;
}

static size_t read_passport(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t len = file == NULL ? 0 : fread(text, 1, sizeof text, file);
    if (file == NULL)
        perror(path);
    else
        fclose(file);
    return len;
}

static int seal_to(const char *path)
{
    sealstone_public_passport *bob;
    if (sealstone_public_passport_load(text, read_passport(path), &bob) != SEALSTONE_OK)
        return failed(path);
    const sealstone_public_passport *recipients[] = {bob};
    sealstone_seal_options options = {
        .size = sizeof options, .recipients = recipients, .recipient_count = 1};
    int status = sealstone_seal_fd(&options, STDIN_FILENO, STDOUT_FILENO);
    sealstone_public_passport_free(bob);
    return status == SEALSTONE_OK ? 0 : failed("sealing");
}

static int open_with(const char *path)
{
    const char *passphrase = getenv("SEALSTONE_PASSPHRASE");
    sealstone_passport *bob;
    if (passphrase == NULL) {
        fprintf(stderr, "seal: set SEALSTONE_PASSPHRASE\n");
        return 1;
    }
    if (sealstone_passport_unlock(text, read_passport(path), (const uint8_t *)passphrase,
            strlen(passphrase), &bob) != SEALSTONE_OK)
        return failed(path);
    const sealstone_passport *keys[] = {bob};
    sealstone_open_options options = {.size = sizeof options, .flags = SEALSTONE_OPEN_UNSIGNED,
        .passports = keys, .passport_count = 1};
    int status = sealstone_open_fd(&options, STDIN_FILENO, STDOUT_FILENO);
    sealstone_passport_free(bob);
    return status == SEALSTONE_OK ? 0 : failed("opening; discard what was written");
}

int main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "seal") == 0)
        return seal_to(words[2]);
    if (count == 3 && strcmp(words[1], "open") == 0)
        return open_with(words[2]);
    fprintf(stderr, "usage: seal seal PUBLIC-PASSPORT | seal open SECRET-PASSPORT\n");
    return 2;
}
