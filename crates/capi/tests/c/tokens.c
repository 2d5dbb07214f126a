/* Anonymous tokens: client, issuer and verifier in one program. */
#include "test.h"

struct service {
    uint16_t type;
    sealstone_issuer_key *key;
    sealstone_issuer_public_key *public_;
    sealstone_challenge *challenge;
};

/* Makes a key. For RSA that takes 10 s and more under valgrind: -DRSA_KEY names a file with one. */
static sealstone_issuer_key *made(uint16_t type)
{
    sealstone_issuer_key *key;
#ifdef RSA_KEY
    uint8_t bytes[4096];
    if (type == SEALSTONE_TOKEN_RSA) {
        FILE *file = fopen(RSA_KEY, "r");
        CHECK(file != NULL);
        size_t len = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        IS(OK, sealstone_issuer_key_decode(type, bytes, len, &key));
        return key;
    }
#endif
    IS(OK, sealstone_issuer_key_generate(type, &key));
    return key;
}

static struct service service_of(uint16_t type)
{
    struct service service = {.type = type};
    sealstone_issuer_key *first = made(type);
    sealstone_issuer_public_key *half;
    sealstone_buffer *bytes;
    uint8_t context[32] = {1};
    IS(OK, sealstone_issuer_key_encode(first, &bytes));
    IS(OK, sealstone_issuer_key_decode(
        type, sealstone_buffer_data(bytes), sealstone_buffer_len(bytes), &service.key));
    sealstone_buffer_free(bytes);
    sealstone_issuer_key_free(first);
    IS(OK, sealstone_issuer_key_public(service.key, &half));
    IS(OK, sealstone_issuer_public_key_encode(half, &bytes));
    IS(OK, sealstone_issuer_public_key_decode(
        type, sealstone_buffer_data(bytes), sealstone_buffer_len(bytes), &service.public_));
    sealstone_buffer_free(bytes);
    sealstone_issuer_public_key_free(half);
    IS(OK, sealstone_challenge_new(
        type, "issuer.example", context, 32, "origin.example", &service.challenge));
    return service;
}

static void service_free(struct service *service)
{
    sealstone_issuer_key_free(service->key);
    sealstone_issuer_public_key_free(service->public_);
    sealstone_challenge_free(service->challenge);
}

/* The client's side: asks, stores what is pending, and gets tokens. */
static sealstone_tokens *received(const struct service *service, size_t count)
{
    sealstone_pending *pending, *restored;
    sealstone_buffer *request, *response, *saved;
    sealstone_tokens *tokens;
    IS(OK, sealstone_token_request(service->public_, service->challenge, count, &pending));
    IS(OK, sealstone_pending_save(pending, &saved));
    IS(OK, sealstone_pending_restore(
        sealstone_buffer_data(saved), sealstone_buffer_len(saved), &restored));
    sealstone_buffer_free(saved);
    sealstone_pending_free(pending);
    IS(OK, sealstone_pending_request(restored, &request));
    IS(OK, sealstone_issuer_key_issue(service->key, sealstone_buffer_data(request),
        sealstone_buffer_len(request), count, &response));
    size_t len = sealstone_buffer_len(response);
    uint8_t *copy = malloc(len);
    for (size_t i = 0; i < len; i += STEP) {
        memcpy(copy, sealstone_buffer_data(response), len);
        copy[i] ^= 1;
        CHECK(sealstone_pending_finalize(restored, copy, len, &tokens) != SEALSTONE_OK);
        CHECK(tokens == NULL);
    }
    free(copy);
    IS(OK, sealstone_pending_finalize(restored, sealstone_buffer_data(response), len, &tokens));
    sealstone_buffer_free(request);
    sealstone_buffer_free(response);
    sealstone_pending_free(restored);
    return tokens;
}

static int redeem(const struct service *service, const uint8_t *token, size_t len, uint8_t *mark)
{
    if (service->type == SEALSTONE_TOKEN_RSA)
        return sealstone_issuer_public_key_redeem(
            service->public_, service->challenge, token, len, mark, 32);
    return sealstone_issuer_key_redeem(service->key, service->challenge, token, len, mark, 32);
}

/* The verifier's side. */
static void shown(const struct service *service, const sealstone_tokens *tokens, size_t position)
{
    sealstone_buffer *token, *header, *read;
    uint8_t mark[32] = {0}, again[32] = {0};
    IS(OK, sealstone_tokens_get(tokens, position, &token));
    IS(OK, sealstone_token_header(
        sealstone_buffer_data(token), sealstone_buffer_len(token), &header));
    char *value = calloc(1, sealstone_buffer_len(header) + 1);
    memcpy(value, sealstone_buffer_data(header), sealstone_buffer_len(header));
    IS(OK, sealstone_token_from_header(value, &read));
    size_t len = sealstone_buffer_len(token);
    CHECK(is_content(read, sealstone_buffer_data(token), len));
    IS(OK, redeem(service, sealstone_buffer_data(token), len, mark));
    IS(OK, redeem(service, sealstone_buffer_data(token), len, again));
    CHECK(memcmp(mark, again, 32) == 0);
    uint8_t *copy = malloc(len);
    for (size_t i = 0; i < len; i += STEP) {
        memcpy(copy, sealstone_buffer_data(token), len);
        copy[i] ^= 1;
        CHECK(redeem(service, copy, len, mark) != SEALSTONE_OK);
        CHECK(redeem(service, copy, i, mark) != SEALSTONE_OK);
    }
    CHECK(memcmp(mark, again, 32) == 0);
    free(copy);
    free(value);
    sealstone_buffer_free(header);
    sealstone_buffer_free(token);
}

static void challenges(const struct service *service)
{
    sealstone_challenge *challenge, *again;
    sealstone_issuer_public_key *key;
    sealstone_buffer *bytes, *other, *header;
    uint16_t type = 0;
    IS(OK, sealstone_challenge_encode(service->challenge, &bytes));
    size_t len = sealstone_buffer_len(bytes);
    IS(OK, sealstone_challenge_decode(sealstone_buffer_data(bytes), len, &again));
    IS(OK, sealstone_challenge_type(again, &type));
    CHECK(type == service->type);
    bool accepts = false;
    IS(OK, sealstone_challenge_is_for(again, "Origin.example", &accepts));
    CHECK(accepts);
    IS(OK, sealstone_challenge_is_for(again, "c.example", &accepts));
    CHECK(!accepts);
    IS(OK, sealstone_challenge_issuer(again, &other));
    CHECK(is_content(other, BYTES("issuer.example"), 14));
    IS(OK, sealstone_challenge_header(service->challenge, service->public_, &header));
    char *value = calloc(1, sealstone_buffer_len(header) + 1);
    memcpy(value, sealstone_buffer_data(header), sealstone_buffer_len(header));
    sealstone_buffer_free(header);
    IS(OK, sealstone_challenge_from_header(value, 0, &challenge, &key));
    CHECK(key != NULL);
    IS(OK, sealstone_challenge_encode(challenge, &other));
    CHECK(is_content(other, sealstone_buffer_data(bytes), len));
    sealstone_issuer_public_key_free(key);
    sealstone_challenge_free(challenge);
    IS(INVALID, sealstone_challenge_from_header(value, 1, &challenge, &key));
    CHECK(challenge == NULL && key == NULL);
    IS(INVALID, sealstone_challenge_from_header(value, 0, &challenge, NULL));
    IS(INVALID, sealstone_challenge_from_header(value, 0, NULL, &key));
    CHECK(key == NULL);
    IS(INVALID, sealstone_challenge_from_header(NULL, 0, &challenge, &key));
    CHECK(sealstone_challenge_from_header("Basic x", 0, &challenge, &key) != SEALSTONE_OK);
    free(value);
    sealstone_challenge_free(again);
    sealstone_buffer_free(bytes);
    IS(UNSUPPORTED, sealstone_challenge_new(9, "issuer.example", NULL, 0, NULL, &challenge));
    IS(INVALID, sealstone_challenge_new(1, NULL, NULL, 0, NULL, &challenge));
    IS(INVALID, sealstone_challenge_new(1, "issuer.example", BYTES("x"), 1, NULL, &challenge));
    IS(MALFORMED, sealstone_challenge_decode(BYTES("x"), 1, &challenge));
    IS(INVALID, sealstone_challenge_encode(NULL, &bytes));
    IS(INVALID, sealstone_challenge_is_for(NULL, "a.example", &accepts));
    IS(INVALID, sealstone_challenge_is_for(service->challenge, NULL, &accepts));
    IS(INVALID, sealstone_challenge_is_for(service->challenge, "a.example", NULL));
    IS(INVALID, sealstone_challenge_issuer(NULL, &other));
    CHECK(other == NULL);
    IS(INVALID, sealstone_challenge_issuer(service->challenge, NULL));
    IS(INVALID, sealstone_challenge_type(NULL, &type));
    IS(INVALID, sealstone_challenge_type(service->challenge, NULL));
    IS(INVALID, sealstone_challenge_header(NULL, service->public_, &header));
    IS(INVALID, sealstone_challenge_header(service->challenge, NULL, &header));
    sealstone_challenge_free(NULL);
}

static void hostile(const struct service *service, const struct service *other)
{
    sealstone_tokens *tokens = received(service, 0), *none;
    sealstone_buffer *token, *text;
    sealstone_pending *pending;
    sealstone_issuer_key *key;
    sealstone_issuer_public_key *public_;
    uint8_t mark[32];
    IS(INVALID, sealstone_tokens_get(tokens, 1, &token));
    IS(INVALID, sealstone_tokens_get(NULL, 0, &token));
    IS(OK, sealstone_tokens_get(tokens, 0, &token));
    const uint8_t *bytes = sealstone_buffer_data(token);
    size_t len = sealstone_buffer_len(token);
    CHECK(redeem(other, bytes, len, mark) != SEALSTONE_OK);
    IS(INVALID, sealstone_issuer_key_redeem(service->key, service->challenge, bytes, len, mark, 31));
    IS(INVALID, sealstone_issuer_key_redeem(service->key, service->challenge, bytes, len, NULL, 32));
    IS(INVALID, sealstone_issuer_key_redeem(service->key, NULL, bytes, len, mark, 32));
    IS(INVALID, sealstone_issuer_key_redeem(NULL, service->challenge, bytes, len, mark, 32));
    IS(INVALID, sealstone_issuer_public_key_redeem(
        service->public_, service->challenge, bytes, len, mark, 32)); /* it is not RSA */
    IS(INVALID, sealstone_issuer_public_key_redeem(NULL, NULL, bytes, len, mark, 32));
    IS(INVALID, sealstone_issuer_key_issue(NULL, bytes, len, 0, &text));
    CHECK(sealstone_issuer_key_issue(service->key, bytes, len, 0, &text) != SEALSTONE_OK);
    IS(UNSUPPORTED, sealstone_issuer_key_generate(7, &key));
    CHECK(sealstone_issuer_key_decode(1, BYTES("x"), 1, &key) != SEALSTONE_OK && key == NULL);
    IS(INVALID, sealstone_issuer_key_encode(NULL, &text));
    IS(INVALID, sealstone_issuer_key_public(NULL, &public_));
    CHECK(sealstone_issuer_public_key_decode(1, BYTES("x"), 1, &public_) != SEALSTONE_OK);
    IS(INVALID, sealstone_issuer_public_key_encode(NULL, &text));
    IS(INVALID, sealstone_token_request(NULL, service->challenge, 0, &pending));
    IS(INVALID, sealstone_token_request(service->public_, NULL, 0, &pending));
    IS(INVALID, sealstone_token_request(service->public_, service->challenge, SIZE_MAX, &pending));
    CHECK(sealstone_token_request(other->public_, service->challenge, 0, &pending) != 0);
    IS(MALFORMED, sealstone_pending_restore(BYTES("x"), 1, &pending));
    IS(INVALID, sealstone_pending_save(NULL, &text));
    IS(INVALID, sealstone_pending_request(NULL, &text));
    IS(INVALID, sealstone_pending_finalize(NULL, bytes, len, &none));
    CHECK(none == NULL);
    IS(MALFORMED, sealstone_token_header(bytes, len - 1, &text));
    CHECK(sealstone_token_from_header("PrivateToken", &text) != SEALSTONE_OK);
    IS(INVALID, sealstone_token_from_header(NULL, &text));
    sealstone_buffer_free(token);
    sealstone_tokens_free(tokens);
    CHECK(sealstone_tokens_count(NULL) == 0);
    sealstone_tokens_free(NULL);
    sealstone_pending_free(NULL);
    sealstone_issuer_key_free(NULL);
    sealstone_issuer_public_key_free(NULL);
}

void tokens(void)
{
    struct service p384 = service_of(SEALSTONE_TOKEN_P384);
    struct service rsa = service_of(SEALSTONE_TOKEN_RSA);
    struct service ristretto = service_of(SEALSTONE_TOKEN_RISTRETTO255);
    struct service p256 = service_of(SEALSTONE_TOKEN_P256);
    const struct service *all[] = {&p384, &rsa, &ristretto, &p256};
    for (int n = 0; n < 4; n++) {
        size_t count = n < 2 ? 0 : 3, expected = n < 2 ? 1 : 3;
        sealstone_tokens *tokens = received(all[n], count);
        CHECK(sealstone_tokens_count(tokens) == expected);
        shown(all[n], tokens, expected - 1);
        sealstone_tokens_free(tokens);
        challenges(all[n]);
    }
    hostile(&p384, &p256);
    service_free(&p384);
    service_free(&rsa);
    service_free(&ristretto);
    service_free(&p256);
}
