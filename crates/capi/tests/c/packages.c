/* Signed packages: signing, verifying, and what is wrong with a bad one. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static const char KEY[] = "0123456789abcdef0123456789abcdef";

static int has_text(sealstone_buffer *buffer, const char *text)
{
    size_t len = sealstone_buffer_len(buffer);
    char *copy = malloc(len + 1);
    memcpy(copy, sealstone_buffer_data(buffer), len);
    copy[len] = 0;
    int found = strstr(copy, text) != NULL;
    free(copy);
    sealstone_buffer_free(buffer);
    return found;
}

static sealstone_package *signed_by(const struct people *people, sealstone_sign_options *options)
{
    sealstone_package *package;
    IS(OK, sealstone_package_sign(options, people->alice, &package));
    return package;
}

static void verdict_is(const sealstone_report *report, uint32_t layer, uint32_t expected)
{
    uint32_t verdict = 99;
    IS(OK, sealstone_report_verdict(report, layer, &verdict));
    CHECK(verdict == expected);
}

static void reports(const struct people *people, const sealstone_package *package)
{
    const sealstone_public_passport *signers[] = {people->alice_public};
    sealstone_file files[] = {{"data/b", BYTES("beside"), 6, false}};
    sealstone_verify_options options = {.size = sizeof options, .signers = signers,
        .signer_count = 1, .files = files, .file_count = 1, .hmac_key = BYTES(KEY),
        .hmac_key_len = 32, .secret = BYTES(KEY), .secret_len = 32};
    sealstone_report *report;
    sealstone_buffer *text;
    uint32_t verdict;
    IS(OK, sealstone_package_verify(&options, package, &report));
    for (uint32_t layer = SEALSTONE_LAYER_CONTENT; layer < SEALSTONE_LAYER_TIMESTAMP; layer *= 2)
        verdict_is(report, layer, SEALSTONE_VERDICT_GOOD);
    verdict_is(report, SEALSTONE_LAYER_TIMESTAMP, SEALSTONE_VERDICT_ABSENT);
    IS(INVALID, sealstone_report_verdict(report, 0, &verdict));
    IS(INVALID, sealstone_report_verdict(report, 3, &verdict));
    IS(INVALID, sealstone_report_verdict(report, 64, &verdict));
    IS(INVALID, sealstone_report_verdict(report, 1, NULL));
    IS(INVALID, sealstone_report_verdict(NULL, 1, &verdict));
    IS(OK, sealstone_report_json(report, &text));
    CHECK(has_text(text, "\"verdict\":\"good\""));
    sealstone_report_free(report);
    IS(OK, sealstone_package_verify(&options, package, NULL));
    files[0].content = BYTES("altered");
    files[0].content_len = 7;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, &report));
    CHECK(strcmp(sealstone_error_message(), "content: data/b: altered") == 0);
    verdict_is(report, SEALSTONE_LAYER_CONTENT, SEALSTONE_VERDICT_BAD);
    IS(OK, sealstone_report_json(report, &text));
    CHECK(has_text(text, "{\"kind\":\"altered\",\"path\":\"data/b\"}"));
    sealstone_report_free(report);
    options.file_count = 0;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, &report));
    verdict_is(report, SEALSTONE_LAYER_CONTENT, SEALSTONE_VERDICT_UNCHECKED);
    sealstone_report_free(report);
    IS(INVALID, sealstone_report_json(NULL, &text));
    sealstone_report_free(NULL);
}

static void refusals(const struct people *people, const sealstone_package *package)
{
    const sealstone_public_passport *signers[] = {people->bob_public};
    sealstone_file files[] = {{"data/b", BYTES("beside"), 6, false}, {NULL, NULL, 0, false}};
    sealstone_verify_options options = {.size = sizeof options, .files = files, .file_count = 1};
    sealstone_report *report;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, NULL)); /* nobody is named */
    options.signers = signers;
    options.signer_count = 1;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, NULL)); /* another signer */
    signers[0] = people->alice_public;
    options.hmac_key = BYTES("another key, which has 32 bytes.");
    options.hmac_key_len = 32;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, &report));
    verdict_is(report, SEALSTONE_LAYER_HMAC, SEALSTONE_VERDICT_BAD);
    sealstone_report_free(report);
    options.hmac_key_len = 0;
    options.hmac_key = NULL;
    options.required = SEALSTONE_LAYER_TIMESTAMP;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, NULL));
    options.required = 64;
    IS(INVALID, sealstone_package_verify(&options, package, &report));
    CHECK(report == NULL);
    options.required = 0;
    options.roots = BYTES("no certificate");
    options.roots_len = 14;
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    options.roots = NULL;
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    options.roots_len = 0;
    options.directory = "/nowhere";
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    options.file_count = 0;
    IS(SYSTEM, sealstone_package_verify(&options, package, NULL));
    options.directory = NULL;
    options.file_count = 2;
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    files[1] = files[0];
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    options.file_count = SIZE_MAX / 4;
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    options.file_count = 1;
    options.flags = 1;
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    options.flags = 0;
    options.size++;
    IS(INVALID, sealstone_package_verify(&options, package, NULL));
    IS(INVALID, sealstone_package_verify(&options, NULL, NULL));
    IS(INVALID, sealstone_package_verify(NULL, package, NULL));
}

static void stored(const struct people *people, const sealstone_package *package)
{
    sealstone_package *loaded, *other;
    sealstone_buffer *bytes, *text;
    IS(OK, sealstone_package_bytes(package, &bytes));
    size_t len = sealstone_buffer_len(bytes);
    IS(OK, sealstone_package_load(sealstone_buffer_data(bytes), len, &loaded));
    IS(OK, sealstone_package_embedded(loaded, "a", &text));
    CHECK(is_content(text, BYTES("inside"), 6));
    IS(INVALID, sealstone_package_embedded(loaded, "data/b", &text));
    IS(INVALID, sealstone_package_embedded(loaded, NULL, &text));
    IS(OK, sealstone_package_json(loaded, &text));
    CHECK(has_text(text, "\"metadata\":{\"n\":1}"));
    uint8_t key[32] = {0}, again[32] = {0};
    IS(OK, sealstone_package_derived_key(loaded, BYTES(KEY), 32, "a", key, 32));
    IS(OK, sealstone_package_derived_key(loaded, BYTES(KEY), 32, "b", again, 32));
    CHECK(memcmp(key, again, 32) != 0);
    IS(OK, sealstone_package_derived_key(loaded, BYTES(KEY), 32, "a", again, 32));
    CHECK(memcmp(key, again, 32) == 0);
    IS(ALTERED, sealstone_package_derived_key(loaded, BYTES(KEY), 31, "c", again, 32));
    CHECK(memcmp(key, again, 32) == 0);
    IS(INVALID, sealstone_package_derived_key(loaded, BYTES(KEY), 32, "", again, 32));
    IS(INVALID, sealstone_package_derived_key(loaded, BYTES(KEY), 32, NULL, again, 32));
    IS(INVALID, sealstone_package_derived_key(loaded, BYTES(KEY), 32, "a", NULL, 32));
    IS(INVALID, sealstone_package_derived_key(loaded, NULL, 32, "a", again, 32));
    IS(INVALID, sealstone_package_derived_key(NULL, BYTES(KEY), 32, "a", again, 32));
    for (size_t len = 0; len < 34; len++)
        if (len != 32)
            IS(INVALID, sealstone_package_derived_key(loaded, BYTES(KEY), 32, "a", again, len));
    CHECK(memcmp(key, again, 32) == 0);
    IS(OK, sealstone_package_to_stamp(loaded, &text));
    sealstone_buffer_free(text);
    IS(MALFORMED, sealstone_package_with_timestamp(loaded, BYTES("x"), 1, &other));
    CHECK(other == NULL);
    IS(INVALID, sealstone_package_bytes(NULL, &text));
    IS(INVALID, sealstone_package_json(NULL, &text));
    IS(INVALID, sealstone_package_to_stamp(NULL, &text));
    IS(INVALID, sealstone_package_with_timestamp(NULL, NULL, 0, &other));
    IS(INVALID, sealstone_package_load(NULL, 5, &other));
    IS(MALFORMED, sealstone_package_load(BYTES("x"), SIZE_MAX / 2, &other));
    sealstone_package_free(loaded);
    const sealstone_public_passport *signers[] = {people->alice_public};
    sealstone_file files[] = {{"data/b", BYTES("beside"), 6, false}};
    sealstone_verify_options options = {.size = sizeof options, .signers = signers,
        .signer_count = 1, .files = files, .file_count = 1, .hmac_key = BYTES(KEY),
        .hmac_key_len = 32, .secret = BYTES(KEY), .secret_len = 32,
        .required = SEALSTONE_LAYER_HMAC | SEALSTONE_LAYER_KEYS};
    uint8_t *copy = malloc(len);
    for (size_t i = 0; i < len; i += STEP) {
        memcpy(copy, sealstone_buffer_data(bytes), len);
        copy[i] ^= 1;
        if (sealstone_package_load(copy, len, &loaded) == SEALSTONE_OK)
            IS(NOT_VERIFIED, sealstone_package_verify(&options, loaded, NULL));
        sealstone_package_free(loaded);
        CHECK(sealstone_package_load(copy, i, &loaded) != SEALSTONE_OK && loaded == NULL);
    }
    free(copy);
    sealstone_buffer_free(bytes);
}

static void more_signatures(const struct people *people)
{
    const sealstone_public_passport *both[] = {people->alice_public, people->bob_public};
    sealstone_file files[] = {{"a", BYTES("inside"), 6, true}, {"b", BYTES("beside"), 6, false}};
    sealstone_sign_options sign = {.size = sizeof sign, .files = files, .file_count = 2,
        .cosigners = both + 1, .cosigner_count = 1, .flags = SEALSTONE_SIGN_SKEIN_TREE};
    sealstone_verify_options options = {.size = sizeof options, .signers = both, .signer_count = 2,
        .files = files + 1, .file_count = 1};
    sealstone_package *first = signed_by(people, &sign), *second, *third;
    sealstone_passport *carol;
    IS(NOT_VERIFIED, sealstone_package_verify(&options, first, NULL));
    IS(OK, sealstone_package_cosign(&options, first, people->bob, &second));
    IS(OK, sealstone_package_verify(&options, second, NULL));
    IS(INVALID, sealstone_package_cosign(&options, second, people->bob, &third));
    CHECK(third == NULL);
    IS(OK, sealstone_passport_generate("Carol", &carol));
    IS(INVALID, sealstone_package_cosign(&options, first, carol, &third));
    IS(OK, sealstone_package_countersign(&options, second, carol, &third));
    IS(OK, sealstone_package_verify(&options, third, NULL));
    sealstone_package_free(third);
    files[1].content = BYTES("Beside");
    IS(NOT_VERIFIED, sealstone_package_cosign(&options, first, people->bob, &third));
    CHECK(strcmp(sealstone_error_message(), "content: b: altered; it was not signed") == 0);
    options.file_count = 0;
    IS(NOT_VERIFIED, sealstone_package_countersign(&options, first, carol, &third));
    IS(INVALID, sealstone_package_cosign(NULL, first, people->bob, &third));
    IS(INVALID, sealstone_package_cosign(&options, NULL, people->bob, &third));
    IS(INVALID, sealstone_package_countersign(&options, first, NULL, &third));
    sealstone_passport_free(carol);
    sealstone_package_free(second);
    sealstone_package_free(first);
}

static void directories(const struct people *people)
{
    char place[] = "/tmp/sealstone-c-XXXXXX", path[64];
    CHECK(mkdtemp(place) != NULL);
    snprintf(path, sizeof path, "%s/file", place);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs("content", file) >= 0 && fclose(file) == 0);
    const sealstone_public_passport *signers[] = {people->alice_public};
    sealstone_sign_options sign = {
        .size = sizeof sign, .directory = place, .flags = SEALSTONE_SIGN_TIMES};
    sealstone_verify_options options = {.size = sizeof options, .signers = signers,
        .signer_count = 1, .directory = place};
    sealstone_package *package = signed_by(people, &sign);
    IS(OK, sealstone_package_verify(&options, package, NULL));
    file = fopen(path, "a");
    CHECK(file != NULL && fputs("!", file) >= 0 && fclose(file) == 0);
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, NULL));
    unlink(path);
    IS(NOT_VERIFIED, sealstone_package_verify(&options, package, NULL));
    CHECK(mkfifo(path, 0600) == 0);
    sealstone_package_free(package);
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    CHECK(package == NULL);
    unlink(path);
    rmdir(place);
}

static void wrong_choices(const struct people *people)
{
    sealstone_file files[] = {{"../a", BYTES("x"), 1, true}};
    sealstone_sign_options sign = {.size = sizeof sign, .files = files, .file_count = 1};
    sealstone_package *package;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    CHECK(package == NULL);
    files[0].path = "a";
    files[0].content = NULL;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    files[0].content = BYTES("x");
    sign.metadata = "[1]";
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    sign.metadata = "{";
    CHECK(sealstone_package_sign(&sign, people->alice, &package) != SEALSTONE_OK);
    sign.metadata = NULL;
    sign.hmac_key = BYTES("short");
    sign.hmac_key_len = 5;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    sign.hmac_key_len = 0;
    sign.threshold = 2;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    sign.threshold = 0;
    sign.required = 64;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    sign.required = 0;
    sign.flags = 4;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
    sign.flags = 0;
    IS(INVALID, sealstone_package_sign(&sign, NULL, &package));
    IS(INVALID, sealstone_package_sign(&sign, people->alice, NULL));
    IS(INVALID, sealstone_package_sign(NULL, people->alice, &package));
    sign.size = 0;
    IS(INVALID, sealstone_package_sign(&sign, people->alice, &package));
}

void packages(const struct people *people)
{
    sealstone_file files[] = {
        {"a", BYTES("inside"), 6, true}, {"data/b", BYTES("beside"), 6, false}};
    sealstone_sign_options sign = {.size = sizeof sign, .files = files, .file_count = 2,
        .author = "Alice", .metadata = "{\"n\": 1}", .policy = "{\"use\": \"test\"}",
        .required = SEALSTONE_LAYER_HMAC, .hmac_key = BYTES(KEY), .hmac_key_len = 32,
        .secret = BYTES(KEY), .secret_len = 32};
    sealstone_package *package = signed_by(people, &sign);
    reports(people, package);
    refusals(people, package);
    stored(people, package);
    sealstone_package_free(package);
    more_signatures(people);
    directories(people);
    wrong_choices(people);
    sealstone_package_free(NULL);
}
