/*
 * Sealstone for C: Argon2, Skein, passports, sealed files, packages and anonymous tokens.
 *
 * - A function that returns `sealstone_status` returns SEALSTONE_OK, or one of the codes below.
 *   `sealstone_error_message` then says what happened and what to do. Outputs are not changed on
 *   failure, except that handles are set to NULL.
 * - Lengths are in bytes. A pointer may be NULL if its length is 0. Outputs must not overlap
 *   inputs. Strings end with a zero byte and are UTF-8.
 * - Handles and buffers that a function gives belong to the caller, who frees them with the
 *   function of their type. A handle may be used by several threads at once if none of them
 *   changes or frees it; only `sealstone_skein_update` changes one.
 * - Secrets are wiped when they are freed.
 * - The ABI of version 0 may change with its second number, which the name of the shared library
 *   has: a program that was linked to 0.1 does not load 0.2. Structures of choices begin with their
 *   size, which a program sets to `sizeof`. New fields come at the end: zeros stand for those that
 *   an older program does not have, and a newer program may use an older library if it leaves what
 *   that does not know zero. `sealstone_file` has no size and stays as it is.
 *
 * scripts/header writes this file from the comments of crates/capi: change those.
 */

#ifndef SEALSTONE_H
#define SEALSTONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The file is text.
#define SEALSTONE_SEAL_ARMOR 1

// The file hides the length of its content.
#define SEALSTONE_SEAL_HIDE_LENGTH 2

// The file hides its recipients.
#define SEALSTONE_SEAL_ANONYMOUS 4

// Only a file that nobody signed opens.
#define SEALSTONE_OPEN_UNSIGNED 1

// Content is hashed as a Skein tree, which is faster for large files. Without it: SHA3-256.
#define SEALSTONE_SIGN_SKEIN_TREE 1

// The package records when the files of the directory were modified.
#define SEALSTONE_SIGN_TIMES 2

// Layer 1: every file is the one that the package names.
#define SEALSTONE_LAYER_CONTENT 1

// Layer 2: a holder of a shared key made the package.
#define SEALSTONE_LAYER_HMAC 2

// Layer 3: the classical signatures.
#define SEALSTONE_LAYER_ED25519 4

// Layer 4: the post-quantum signatures.
#define SEALSTONE_LAYER_ML_DSA_65 8

// Layer 5: the verifier holds the secret from which keys for this package are derived.
#define SEALSTONE_LAYER_KEYS 16

// Layer 6: a third party attests when the signatures existed.
#define SEALSTONE_LAYER_TIMESTAMP 32

// The layer was checked and holds.
#define SEALSTONE_VERDICT_GOOD 0

// The layer does not hold, or it is required and missing.
#define SEALSTONE_VERDICT_BAD 1

// The layer is there, and what its check needs was not given.
#define SEALSTONE_VERDICT_UNCHECKED 2

// The layer is not there, and nobody requires it.
#define SEALSTONE_VERDICT_ABSENT 3

// Only the issuer verifies these tokens (P-384, RFC 9578).
#define SEALSTONE_TOKEN_P384 1

// Everybody verifies these tokens (RSA of 2048 bits, RFC 9578).
#define SEALSTONE_TOKEN_RSA 2

// Only the issuer verifies these tokens (ristretto255).
#define SEALSTONE_TOKEN_RISTRETTO255 5

// Only the issuer verifies these tokens (P-256, a type of this project's own).
#define SEALSTONE_TOKEN_P256 65281

// Bytes that a function returns. They are wiped when they are freed.
typedef struct sealstone_buffer sealstone_buffer;

// The verifier's demands.
typedef struct sealstone_challenge sealstone_challenge;

// An issuer's secret key.
typedef struct sealstone_issuer_key sealstone_issuer_key;

// The public half of an issuer's key.
typedef struct sealstone_issuer_public_key sealstone_issuer_public_key;

// A signed package. It never changes: functions that add something give another one.
typedef struct sealstone_package sealstone_package;

// A secret identity, unlocked. It does not survive a fork: in the child its use returns
// SEALSTONE_FORKED, and freeing it is fine.
typedef struct sealstone_passport sealstone_passport;

// Tokens that were asked for and not yet received, with the secrets that blind them.
typedef struct sealstone_pending sealstone_pending;

// The half of a passport that its owner hands out.
typedef struct sealstone_public_passport sealstone_public_passport;

// The report of a verification.
typedef struct sealstone_report sealstone_report;

// A message being hashed with Skein-512 (version 1.3).
typedef struct sealstone_skein sealstone_skein;

// Tokens that were received.
typedef struct sealstone_tokens sealstone_tokens;

// How a call ended: SEALSTONE_OK, or why there is no result.
typedef int sealstone_status;

// The choices for a hash of Argon2 (RFC 9106).
typedef struct {
    // `sizeof(sealstone_argon2_params)`.
    size_t size;
    // 0 (Argon2d), 1 (Argon2i) or 2 (Argon2id).
    uint32_t variant;
    // 0x10 or 0x13.
    uint32_t version;
    // KiB, at least 8 times the lanes.
    uint32_t memory_kib;
    // From 1.
    uint32_t passes;
    // From 1.
    uint32_t lanes;
    // Threads from 1; they do not change the result.
    uint32_t threads;
    // A key that enters the hash, or `NULL`.
    const uint8_t *secret;
    // Its length in bytes.
    size_t secret_len;
    // Data that enters the hash, or `NULL`.
    const uint8_t *data;
    // Its length in bytes.
    size_t data_len;
} sealstone_argon2_params;

// The choices for a sealed file. All but `size` may be zero, but there has to be a recipient or a
// passphrase.
typedef struct {
    // `sizeof(sealstone_seal_options)`.
    size_t size;
    // Flags that begin with `SEALSTONE_SEAL_`.
    uint32_t flags;
    // The cost of the passphrase in KiB; if all three are zero, the strongest profile (1 GiB).
    uint32_t memory_kib;
    // Its passes.
    uint32_t passes;
    // Its lanes.
    uint32_t lanes;
    // The recipients.
    const sealstone_public_passport *const *recipients;
    // Their number.
    size_t recipient_count;
    // A passphrase that opens it, or `NULL`.
    const uint8_t *passphrase;
    // Its length in bytes.
    size_t passphrase_len;
    // The passport that signs it, or `NULL`.
    const sealstone_passport *sender;
} sealstone_seal_options;

// The keys for a sealed file, and whose files open.
typedef struct {
    // `sizeof(sealstone_open_options)`.
    size_t size;
    // Flags that begin with `SEALSTONE_OPEN_`.
    uint32_t flags;
    // Keys.
    const sealstone_passport *const *passports;
    // Their number.
    size_t passport_count;
    // A passphrase, or `NULL`.
    const uint8_t *passphrase;
    // Its length in bytes.
    size_t passphrase_len;
    // The passport that has to have signed the file; `NULL` with SEALSTONE_OPEN_UNSIGNED only.
    const sealstone_public_passport *sender;
} sealstone_open_options;

// A file in memory.
typedef struct {
    // Its path in the package, with `/` between names.
    const char *path;
    // Its content.
    const uint8_t *content;
    // Its length in bytes.
    size_t content_len;
    // Whether the package contains the content; for signing.
    bool embed;
} sealstone_file;

// The choices for a new package. All but `size` may be zero, but there has to be a file.
typedef struct {
    // `sizeof(sealstone_sign_options)`.
    size_t size;
    // Flags that begin with `SEALSTONE_SIGN_`.
    uint32_t flags;
    // Layers that verifiers have to require, besides those that every package has: HMAC, keys,
    // timestamp.
    uint32_t required;
    // How many of the signers have to sign; 0: all.
    uint32_t threshold;
    // Files in memory.
    const sealstone_file *files;
    // Their number.
    size_t file_count;
    // The path of a directory, all files of which are signed and not embedded, or `NULL`. With a
    // directory, all of `files` are embedded.
    const char *directory;
    // The author of the content, as free text, or `NULL`.
    const char *author;
    // A JSON object with free data, or `NULL`.
    const char *metadata;
    // A JSON value that is bound to the package, or `NULL`.
    const char *policy;
    // Further passports that are to sign.
    const sealstone_public_passport *const *cosigners;
    // Their number.
    size_t cosigner_count;
    // A shared key of 32 to 1024 bytes for the layer HMAC, or `NULL`.
    const uint8_t *hmac_key;
    // Its length in bytes.
    size_t hmac_key_len;
    // A secret of at least 32 bytes from which keys for this package are derived, or `NULL`.
    const uint8_t *secret;
    // Its length in bytes.
    size_t secret_len;
} sealstone_sign_options;

// How a package is verified. All but `size` may be zero, but without `signers` no package is good.
typedef struct {
    // `sizeof(sealstone_verify_options)`.
    size_t size;
    // No flags are known: 0.
    uint32_t flags;
    // Layers that are required besides those that the package requires.
    uint32_t required;
    // All of these have to have signed.
    const sealstone_public_passport *const *signers;
    // Their number.
    size_t signer_count;
    // The files beside the package, if they are in memory.
    const sealstone_file *files;
    // Their number.
    size_t file_count;
    // The path of the directory in which they are, or `NULL`.
    const char *directory;
    // The key of the layer HMAC, which is then required, or `NULL`.
    const uint8_t *hmac_key;
    // Its length in bytes.
    size_t hmac_key_len;
    // The secret of the layer of derived keys, which is then required, or `NULL`.
    const uint8_t *secret;
    // Its length in bytes.
    size_t secret_len;
    // Certificates of time-stamping authorities that the caller trusts (PEM or DER), or `NULL`.
    const uint8_t *roots;
    // Their length in bytes.
    size_t roots_len;
    // The time at which timestamps are judged, in seconds since 1970; 0: now.
    uint64_t time;
} sealstone_verify_options;

// Fills up to `len` bytes, and returns their number: 0 at the end, a negative number on failure.
//
// The library may call it from other threads than the caller's, never twice at once. It has to
// return: no longjmp, no exception.
typedef ptrdiff_t (*sealstone_read_callback)(void *context, uint8_t *bytes, size_t len);

// Writes all of the bytes, and returns 0; another number on failure.
//
// The library may call it from other threads than the caller's, also while it calls the other
// callback, never twice at once. It has to return: no longjmp, no exception.
typedef int (*sealstone_write_callback)(void *context, const uint8_t *bytes, size_t len);

// The call did what it says.
#define SEALSTONE_OK 0

// An argument is out of range; the message says which one.
#define SEALSTONE_INVALID 1

// The system has not enough memory.
#define SEALSTONE_MEMORY 2

// The bytes break a rule of the format.
#define SEALSTONE_MALFORMED 3

// The bytes follow a newer version of the format.
#define SEALSTONE_UNSUPPORTED 4

// The password, the passphrase or the passport is not the right one.
#define SEALSTONE_WRONG_KEY 5

// A part was altered, damaged or cut.
#define SEALSTONE_ALTERED 6

// The file was signed by another passport than the caller names, or by none.
#define SEALSTONE_WRONG_SENDER 7

// A key derivation asks for more than is allowed.
#define SEALSTONE_LIMIT 8

// The process was forked after the secret was made, and does not have it.
#define SEALSTONE_FORKED 9

// The system failed, or a kind of failure that this version of the header does not name.
#define SEALSTONE_SYSTEM 10

// A defect of the library: please report it.
#define SEALSTONE_PANIC 11

// A package failed its verification; the report says why.
#define SEALSTONE_NOT_VERIFIED 12

// A callback of the caller failed.
#define SEALSTONE_CALLBACK 13

// A token, a request for tokens or the answer to it is not right.
#define SEALSTONE_REFUSED 14

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Fills `tag`, of 4 bytes to 16 MiB, with the hash of a password. A salt of 16 random bytes is
// usual.
sealstone_status sealstone_argon2(const sealstone_argon2_params *params,
                                  const uint8_t *password,
                                  size_t password_len,
                                  const uint8_t *salt,
                                  size_t salt_len,
                                  uint8_t *tag,
                                  size_t tag_len);

// Writes a string that stores a password, with a fresh salt (Argon2id, PHC string format).
// `stored` has room for at least 128 bytes.
sealstone_status sealstone_password_hash(const uint8_t *password,
                                         size_t password_len,
                                         uint32_t memory_kib,
                                         uint32_t passes,
                                         uint32_t lanes,
                                         char *stored,
                                         size_t stored_len);

// Verifies a password: SEALSTONE_OK if it is right, SEALSTONE_WRONG_KEY if it is not.
//
// Strings that ask for more than 2 GiB, or 64 GiB times passes, are refused with SEALSTONE_LIMIT.
// `needs_rehash` may be `NULL`; it is set if the string has other parameters than these.
sealstone_status sealstone_password_verify(const uint8_t *password,
                                           size_t password_len,
                                           const char *stored,
                                           uint32_t memory_kib,
                                           uint32_t passes,
                                           uint32_t lanes,
                                           bool *needs_rehash);

// The bytes, valid until the buffer is freed; `NULL` for `NULL`.
const uint8_t *sealstone_buffer_data(const sealstone_buffer *buffer);

// The number of bytes; 0 for `NULL`.
size_t sealstone_buffer_len(const sealstone_buffer *buffer);

// Wipes and frees the bytes. `NULL` is fine.
void sealstone_buffer_free(sealstone_buffer *buffer);

// Seals content in memory.
sealstone_status sealstone_seal(const sealstone_seal_options *options,
                                const uint8_t *content,
                                size_t content_len,
                                sealstone_buffer **sealed);

// Opens a sealed file in memory. Nothing is returned before all of it is verified.
sealstone_status sealstone_open(const sealstone_open_options *options,
                                const uint8_t *sealed,
                                size_t sealed_len,
                                sealstone_buffer **content);

// Makes a new key.
sealstone_status sealstone_issuer_key_generate(uint16_t token_type, sealstone_issuer_key **key);

// Reads what `sealstone_issuer_key_encode` gave.
sealstone_status sealstone_issuer_key_decode(uint16_t token_type,
                                             const uint8_t *bytes,
                                             size_t len,
                                             sealstone_issuer_key **key);

// The secret key, to be stored where nobody else reads it.
sealstone_status sealstone_issuer_key_encode(const sealstone_issuer_key *key,
                                             sealstone_buffer **bytes);

// The public half.
sealstone_status sealstone_issuer_key_public(const sealstone_issuer_key *key,
                                             sealstone_issuer_public_key **public_half);

// Answers a request for one token, or for up to `limit` tokens with a single proof if `limit` is
// not 0.
sealstone_status sealstone_issuer_key_issue(const sealstone_issuer_key *key,
                                            const uint8_t *request,
                                            size_t request_len,
                                            size_t limit,
                                            sealstone_buffer **response);

// Verifies a token of this key that answers a challenge: SEALSTONE_OK if it is right,
// SEALSTONE_REFUSED if it is not.
//
// Fills `nullifier` with 32 bytes, the mark of a token that is spent. A token verifies each time:
// the caller has to remember the marks, durably and before it acts, and to refuse one that it has
// seen.
sealstone_status sealstone_issuer_key_redeem(const sealstone_issuer_key *key,
                                             const sealstone_challenge *challenge,
                                             const uint8_t *token,
                                             size_t token_len,
                                             uint8_t *nullifier,
                                             size_t nullifier_len);

// Wipes and frees a key. `NULL` is fine.
void sealstone_issuer_key_free(sealstone_issuer_key *key);

// Reads the encoding of RFC 9578.
sealstone_status sealstone_issuer_public_key_decode(uint16_t token_type,
                                                    const uint8_t *bytes,
                                                    size_t len,
                                                    sealstone_issuer_public_key **key);

// The encoding of RFC 9578.
sealstone_status sealstone_issuer_public_key_encode(const sealstone_issuer_public_key *key,
                                                    sealstone_buffer **bytes);

// Verifies a token that everybody can verify (RSA), as `sealstone_issuer_key_redeem`.
sealstone_status sealstone_issuer_public_key_redeem(const sealstone_issuer_public_key *key,
                                                    const sealstone_challenge *challenge,
                                                    const uint8_t *token,
                                                    size_t token_len,
                                                    uint8_t *nullifier,
                                                    size_t nullifier_len);

// Frees a public key. `NULL` is fine.
void sealstone_issuer_public_key_free(sealstone_issuer_public_key *key);

// Signs a new package.
sealstone_status sealstone_package_sign(const sealstone_sign_options *options,
                                        const sealstone_passport *passport,
                                        sealstone_package **package);

// Reads a package of up to 1 GiB. Nothing of it is verified.
sealstone_status sealstone_package_load(const uint8_t *bytes,
                                        size_t len,
                                        sealstone_package **package);

// The bytes to store.
sealstone_status sealstone_package_bytes(const sealstone_package *package,
                                         sealstone_buffer **bytes);

// The content of the embedded file at a path, which `sealstone_package_verify` has to accept
// first.
sealstone_status sealstone_package_embedded(const sealstone_package *package,
                                            const char *path,
                                            sealstone_buffer **content);

// The statements of the package, as JSON without a zero byte at its end. None is verified.
//
// The keys are `signers` (fingerprints), `threshold`, `required` (names of layers), `time`
// (seconds since 1970), `author`, `digest`, `complete`, `metadata`, `policy`, `files` (each with
// `path`, `size`, `embedded`, `target` of a link), `signatures` (each with `fingerprint`, `role`,
// `time`) and `timestamps` (their number).
sealstone_status sealstone_package_json(const sealstone_package *package, sealstone_buffer **text);

// Writes a key that is derived from `secret` and bound to the package, its policy and `label`,
// which has 1 to 255 bytes. `key_len` is 32. `sealstone_package_verify` has to accept the package
// first.
//
// Fails with SEALSTONE_ALTERED if the secret is not the signer's, or the package has none.
sealstone_status sealstone_package_derived_key(const sealstone_package *package,
                                               const uint8_t *secret,
                                               size_t secret_len,
                                               const char *label,
                                               uint8_t *key,
                                               size_t key_len);

// The bytes that a timestamp of RFC 3161 has to cover.
sealstone_status sealstone_package_to_stamp(const sealstone_package *package,
                                            sealstone_buffer **bytes);

// The package with the whole response of a time-stamping authority (DER).
//
// Fails with SEALSTONE_MALFORMED if it is not a response, or the authority has granted nothing.
// Whether it is right is found by `sealstone_package_verify` with `roots`.
sealstone_status sealstone_package_with_timestamp(const sealstone_package *package,
                                                  const uint8_t *response,
                                                  size_t response_len,
                                                  sealstone_package **result);

// Frees a package. `NULL` is fine.
void sealstone_package_free(sealstone_package *package);

// Makes a new identity. Only `sealstone_passport_lock` stores it.
sealstone_status sealstone_passport_generate(const char *label, sealstone_passport **passport);

// Unlocks the text of a secret passport. SEALSTONE_WRONG_KEY says that the passphrase is wrong.
sealstone_status sealstone_passport_unlock(const uint8_t *text,
                                           size_t text_len,
                                           const uint8_t *passphrase,
                                           size_t passphrase_len,
                                           sealstone_passport **passport);

// The text of the secret passport, under a passphrase. The cost is in KiB, passes and lanes; three
// zeros mean the strongest profile (1 GiB).
sealstone_status sealstone_passport_lock(const sealstone_passport *passport,
                                         const uint8_t *passphrase,
                                         size_t passphrase_len,
                                         uint32_t memory_kib,
                                         uint32_t passes,
                                         uint32_t lanes,
                                         sealstone_buffer **text);

// The public half.
sealstone_status sealstone_passport_public(const sealstone_passport *passport,
                                           sealstone_public_passport **public_half);

// Wipes and frees a passport. `NULL` is fine.
void sealstone_passport_free(sealstone_passport *passport);

// Reads the text of a public passport, and checks both of its signatures.
sealstone_status sealstone_public_passport_load(const uint8_t *text,
                                                size_t text_len,
                                                sealstone_public_passport **public_half);

// The text to hand out.
sealstone_status sealstone_public_passport_text(const sealstone_public_passport *passport,
                                                sealstone_buffer **text);

// Fills the 32 bytes of `fingerprint`, which name the passport.
sealstone_status sealstone_public_passport_fingerprint(const sealstone_public_passport *passport,
                                                       uint8_t *fingerprint,
                                                       size_t fingerprint_len);

// Frees a public passport. `NULL` is fine.
void sealstone_public_passport_free(sealstone_public_passport *passport);

// Verifies a package: SEALSTONE_OK if it is good, SEALSTONE_NOT_VERIFIED if it is not.
//
// `report` may be `NULL`. In both cases it is set to what was found; after other failures it is
// set to `NULL`.
sealstone_status sealstone_package_verify(const sealstone_verify_options *options,
                                          const sealstone_package *package,
                                          sealstone_report **report);

// The verdict on one layer, a number that begins with `SEALSTONE_VERDICT_`.
sealstone_status sealstone_report_verdict(const sealstone_report *report,
                                          uint32_t layer,
                                          uint32_t *verdict);

// Everything that was found, as JSON without a zero byte at its end.
//
// The keys are `verdict` (`good` or `bad`), `reason`, `layers` (by name, each with `verdict`,
// `required` and `reason`), `signers` (each with `fingerprint`, `role`, `time`, `proved_time`,
// `ed25519`, `ml_dsa_65`, `named`, `counts`) and `findings` (each with `path` and `kind`).
sealstone_status sealstone_report_json(const sealstone_report *report, sealstone_buffer **text);

// Frees a report. `NULL` is fine.
void sealstone_report_free(sealstone_report *report);

// The package with the signature of one more signer that it names.
//
// A signer stands for the content, so the package is checked with `options` first; signers need
// not be given. Fails with SEALSTONE_NOT_VERIFIED if a layer is bad or the content unchecked.
sealstone_status sealstone_package_cosign(const sealstone_verify_options *options,
                                          const sealstone_package *package,
                                          const sealstone_passport *passport,
                                          sealstone_package **result);

// The package with the attestation of one more passport to have seen it, as
// `sealstone_package_cosign`.
sealstone_status sealstone_package_countersign(const sealstone_verify_options *options,
                                               const sealstone_package *package,
                                               const sealstone_passport *passport,
                                               sealstone_package **result);

// Fills `digest`, of 1 byte to 16 MiB, with the hash of the data. 64 bytes are usual.
sealstone_status sealstone_skein512(const uint8_t *data,
                                    size_t data_len,
                                    uint8_t *digest,
                                    size_t digest_len);

// Begins a hash with a digest of 1 byte to 16 MiB; with a key, a MAC.
sealstone_status sealstone_skein512_new(const uint8_t *key,
                                        size_t key_len,
                                        size_t digest_len,
                                        sealstone_skein **skein);

// Adds bytes to the message. It is the only function that changes a handle.
sealstone_status sealstone_skein_update(sealstone_skein *skein,
                                        const uint8_t *data,
                                        size_t data_len);

// Fills `digest` with the hash of the message so far, which may go on. `digest_len` is that of the
// beginning.
sealstone_status sealstone_skein_digest(const sealstone_skein *skein,
                                        uint8_t *digest,
                                        size_t digest_len);

// Wipes and frees the state. `NULL` is fine.
void sealstone_skein_free(sealstone_skein *skein);

// The last failure of this thread, and what the user can do. Never `NULL`; valid until this
// thread's next failure.
const char *sealstone_error_message(void);

// The version of the library, as in "1.2.3".
const char *sealstone_version(void);

// Seals everything that can be read from a descriptor, and writes the file to another one.
//
// Both may be files, pipes or sockets that block; the library does not close them. After a
// failure, discard what was written.
sealstone_status sealstone_seal_fd(const sealstone_seal_options *options, int from, int to);

// Opens the sealed file that can be read from a descriptor, and writes its content to another one.
//
// Each piece is authenticated before it is written, but only SEALSTONE_OK says that the file is
// whole and that its sender signed it: after a failure, discard what was written.
sealstone_status sealstone_open_fd(const sealstone_open_options *options, int from, int to);

// As `sealstone_seal_fd`, with callbacks. A callback that fails ends the call with
// SEALSTONE_CALLBACK.
sealstone_status sealstone_seal_stream(const sealstone_seal_options *options,
                                       sealstone_read_callback read,
                                       void *read_context,
                                       sealstone_write_callback write,
                                       void *write_context);

// As `sealstone_open_fd`, with callbacks. A callback that fails ends the call with
// SEALSTONE_CALLBACK.
sealstone_status sealstone_open_stream(const sealstone_open_options *options,
                                       sealstone_read_callback read,
                                       void *read_context,
                                       sealstone_write_callback write,
                                       void *write_context);

// Makes a challenge.
//
// `context` is `NULL` or 32 bytes, which bind tokens to a session, for instance. `origins` is
// `NULL` or the names of the servers that accept the tokens, with commas between them.
sealstone_status sealstone_challenge_new(uint16_t token_type,
                                         const char *issuer,
                                         const uint8_t *context,
                                         size_t context_len,
                                         const char *origins,
                                         sealstone_challenge **challenge);

// Reads the encoding of RFC 9577.
sealstone_status sealstone_challenge_decode(const uint8_t *bytes,
                                            size_t len,
                                            sealstone_challenge **challenge);

// The encoding of RFC 9577.
sealstone_status sealstone_challenge_encode(const sealstone_challenge *challenge,
                                            sealstone_buffer **bytes);

// The type of token that a challenge asks for; it may be one that this library does not know.
sealstone_status sealstone_challenge_type(const sealstone_challenge *challenge,
                                          uint16_t *token_type);

// The name of the issuer whose tokens the challenge asks for.
sealstone_status sealstone_challenge_issuer(const sealstone_challenge *challenge,
                                            sealstone_buffer **name);

// Whether `origin`, the name of the server that sent the challenge, accepts the tokens.
//
// A client answers no challenge of another server: a server may have got it elsewhere (RFC 9577
// section 2.1.3).
sealstone_status sealstone_challenge_is_for(const sealstone_challenge *challenge,
                                            const char *origin,
                                            bool *accepts);

// The value of a `WWW-Authenticate` header with this challenge and the issuer's key.
sealstone_status sealstone_challenge_header(const sealstone_challenge *challenge,
                                            const sealstone_issuer_public_key *key,
                                            sealstone_buffer **value);

// Reads the challenge at a position, from 0, of a `WWW-Authenticate` header.
//
// `key` is set to the issuer's key beside it, or to `NULL` if there is none. Fails with
// SEALSTONE_INVALID if the header has fewer challenges, or a key that does not fit its challenge.
sealstone_status sealstone_challenge_from_header(const char *value,
                                                 size_t position,
                                                 sealstone_challenge **challenge,
                                                 sealstone_issuer_public_key **key);

// Frees a challenge. `NULL` is fine.
void sealstone_challenge_free(sealstone_challenge *challenge);

// Asks for tokens that answer a challenge: one, or several with a single proof if `count` is not
// 0 (for all types but RSA).
sealstone_status sealstone_token_request(const sealstone_issuer_public_key *key,
                                         const sealstone_challenge *challenge,
                                         size_t count,
                                         sealstone_pending **pending);

// The request to send to the issuer. It is always the same: to send it again is safe.
sealstone_status sealstone_pending_request(const sealstone_pending *pending,
                                           sealstone_buffer **request);

// Everything, to be stored in secret until the response arrives.
sealstone_status sealstone_pending_save(const sealstone_pending *pending, sealstone_buffer **bytes);

// Reads what `sealstone_pending_save` gave.
sealstone_status sealstone_pending_restore(const uint8_t *bytes,
                                           size_t len,
                                           sealstone_pending **pending);

// Checks the issuer's response, and makes the tokens. SEALSTONE_REFUSED says that the response is
// not that of the issuer's key.
//
// `pending` stays as it is, and a response that is right gives the same tokens again.
sealstone_status sealstone_pending_finalize(const sealstone_pending *pending,
                                            const uint8_t *response,
                                            size_t response_len,
                                            sealstone_tokens **tokens);

// Wipes and frees what was asked for. `NULL` is fine.
void sealstone_pending_free(sealstone_pending *pending);

// The number of tokens; 0 for `NULL`.
size_t sealstone_tokens_count(const sealstone_tokens *tokens);

// The encoding (RFC 9577) of the token at a position, from 0.
sealstone_status sealstone_tokens_get(const sealstone_tokens *tokens,
                                      size_t position,
                                      sealstone_buffer **token);

// Frees tokens. `NULL` is fine.
void sealstone_tokens_free(sealstone_tokens *tokens);

// The value of an `Authorization` header that shows a token.
sealstone_status sealstone_token_header(const uint8_t *token,
                                        size_t token_len,
                                        sealstone_buffer **value);

// The encoding of the token in the value of an `Authorization` header.
sealstone_status sealstone_token_from_header(const char *value, sealstone_buffer **token);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALSTONE_H */
