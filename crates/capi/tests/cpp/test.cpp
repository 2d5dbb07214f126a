// Uses every class of sealstone.hpp.
#include <sealstone.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <malloc.h>
#include <new>
#include <sstream>
#include <unistd.h>

namespace {

/// A passphrase that no string holds in itself, and whether freed memory had it.
constexpr char PASSPHRASE[] = "a long passphrase of the test";
bool was_left = false;

} // namespace

// All six: the sanitizer's own `new[]` and `delete[]` call neither `new` nor `delete`.
void *operator new(std::size_t size)
{
    if (void *made = std::malloc(size ? size : 1))
        return made;
    throw std::bad_alloc();
}

void operator delete(void *freed) noexcept
{
    if (freed && memmem(freed, malloc_usable_size(freed), PASSPHRASE, sizeof PASSPHRASE - 1))
        was_left = true;
    std::free(freed);
}

void *operator new[](std::size_t size) { return operator new(size); }
void operator delete(void *freed, std::size_t) noexcept { operator delete(freed); }
void operator delete[](void *freed) noexcept { operator delete(freed); }
void operator delete[](void *freed, std::size_t) noexcept { operator delete(freed); }

namespace {

int checks = 0;

void require(bool right, const char *text, int line)
{
    checks++;
    if (!right) {
        std::cerr << "line " << line << ": " << text << "\n";
        std::exit(1);
    }
}

#define CHECK(condition) require((condition), #condition, __LINE__)
#define FAILS(code, call) \
    require(code_of([&] { (void)(call); }) == SEALSTONE_##code, #call, __LINE__)

template <typename Call> int code_of(Call call)
{
    try {
        call();
    } catch (const sealstone::Error &error) {
        return error.code();
    }
    return SEALSTONE_OK;
}

void hashes()
{
    const auto stored = sealstone::hash_password("correct horse", {64, 1, 1});
    CHECK(sealstone::verify_password("correct horse", stored, {64, 1, 1}) == sealstone::Password::Right);
    CHECK(sealstone::verify_password("correct horse", stored)
        == sealstone::Password::RightAndToBeHashedAgain);
    CHECK(sealstone::verify_password("wrong", stored) == sealstone::Password::Wrong);
    FAILS(MALFORMED, sealstone::verify_password("wrong", "x"));
    CHECK(sealstone::argon2id("password", "somesalt", {64, 1, 1}, 32).size() == 32);
    FAILS(INVALID, sealstone::argon2id("password", "somesalt", {64, 1, 1}, 3));
    sealstone::Skein whole, parts;
    whole.update("one part, and another");
    parts.update(std::string("one part, ")).update(std::vector<char>{'a', 'n', 'd', ' '});
    parts.update("another");
    CHECK(whole.digest() == parts.digest());
    CHECK(sealstone::skein512("one part, and another") == whole.digest());
    CHECK(sealstone::skein512("one part, and another", 32).size() == 32);
    FAILS(INVALID, sealstone::skein512("one part, and another", 0));
    CHECK(sealstone::Skein(32, "key").digest().size() == 32);
    FAILS(INVALID, sealstone::Skein(0));
}

/// An output that throws, as a stream may.
struct Broken : std::streambuf {
    std::streamsize xsputn(const char *, std::streamsize) override { throw 7; }
};

void files()
{
    const auto alice = sealstone::Passport::generate("Alice");
    auto made = sealstone::Passport::generate("Bob");
    const auto bob = std::move(made);
    const auto public_alice = sealstone::PublicPassport::load(alice.public_half().text());
    const auto public_bob = bob.public_half();
    CHECK(public_alice.fingerprint() == alice.public_half().fingerprint());
    const auto text = alice.lock("passphrase", {7168, 5, 1});
    CHECK(sealstone::Passport::unlock(text, "passphrase").public_half().fingerprint()
        == public_alice.fingerprint());
    FAILS(WRONG_KEY, sealstone::Passport::unlock(text, "passphrasE"));

    sealstone::Sealer sealer;
    sealer.to(public_bob).signed_by(alice).flags(SEALSTONE_SEAL_ARMOR);
    const auto sealed = sealer.seal("attack at dawn");
    const auto opener = sealstone::Opener().with(bob);
    CHECK(opener.open_signed(sealed, public_alice).text() == "attack at dawn");
    FAILS(WRONG_SENDER, opener.open_unsigned(sealed));
    FAILS(WRONG_SENDER, opener.open_signed(sealed, public_bob));
    FAILS(WRONG_KEY, sealstone::Opener().with(alice).open_signed(sealed, public_alice));
    const auto secret = sealstone::Sealer().to_passphrase("correct", {7168, 5, 1}).seal("x");
    CHECK(sealstone::Opener().with_passphrase("correct").open_unsigned(secret).str() == "x");

    std::istringstream plain(std::string(1000000, 'x'));
    std::stringstream file, opened;
    sealer.seal(plain, file);
    opener.open_signed(file, opened, public_alice);
    CHECK(opened.str() == plain.str());
    std::istringstream cut(file.str().substr(0, 5000)), again(file.str());
    FAILS(MALFORMED, opener.open_signed(cut, opened, public_alice));
    Broken nowhere;
    std::ostream broken(&nowhere);
    FAILS(CALLBACK, opener.open_signed(again, broken, public_alice));
    std::istringstream third(file.str());
    broken.clear();
    broken.exceptions(std::ios::badbit);
    try {
        opener.open_signed(third, broken, public_alice);
        CHECK(false);
    } catch (int raised) {
        CHECK(raised == 7);
    }
}

/// A descriptor of a file that has this content and no name.
int descriptor(std::string_view content)
{
    const int made = fileno(std::tmpfile());
    CHECK(write(made, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    CHECK(lseek(made, 0, SEEK_SET) == 0);
    return made;
}

std::string content_of(int descriptor)
{
    char content[100];
    CHECK(lseek(descriptor, 0, SEEK_SET) == 0);
    const auto size = read(descriptor, content, sizeof content);
    CHECK(size >= 0);
    return std::string(content, static_cast<std::size_t>(size));
}

void descriptors()
{
    const auto alice = sealstone::Passport::generate("Alice");
    const auto public_alice = alice.public_half();
    const int plain = descriptor("by descriptors"), sealed = descriptor("");
    sealstone::Sealer().to(public_alice).signed_by(alice).seal_fd(plain, sealed);
    const auto opener = sealstone::Opener().with(alice);
    const int opened = descriptor("");
    CHECK(lseek(sealed, 0, SEEK_SET) == 0);
    opener.open_signed_fd(sealed, opened, public_alice);
    CHECK(content_of(opened) == "by descriptors");
    CHECK(lseek(sealed, 0, SEEK_SET) == 0);
    FAILS(WRONG_SENDER, opener.open_unsigned_fd(sealed, opened));
    const int alone = descriptor(""), again = descriptor("");
    CHECK(lseek(plain, 0, SEEK_SET) == 0);
    sealstone::Sealer().to(public_alice).seal_fd(plain, alone);
    CHECK(lseek(alone, 0, SEEK_SET) == 0);
    opener.open_unsigned_fd(alone, again);
    CHECK(content_of(again) == "by descriptors");
    FAILS(INVALID, opener.open_unsigned_fd(-1, again));
}

/// The caller's passphrase may be gone before the call, and no copy that C++ makes stays.
void passphrases()
{
    sealstone::Sealer sealer;
    sealstone::Opener opener;
    {
        std::string given = PASSPHRASE;
        sealer.to_passphrase(given, {7168, 5, 1});
        opener.with_passphrase(given);
        std::fill(given.begin(), given.end(), 'x');
    }
    {
        auto other = sealstone::Opener(opener);
        opener.with_passphrase("another");
        const auto moved = std::move(other);
        opener = moved;
    }
    CHECK(opener.open_unsigned(sealer.seal("x")).text() == "x");
    FAILS(INVALID, sealstone::Sealer().to_passphrase("").seal("x"));
    sealer.to_passphrase("another");
    opener.with_passphrase("another");
    CHECK(!was_left);
    // Planted. Volatile, or the compiler leaves out memory that nobody reads.
    char *volatile left = new char[99];
    std::copy_n(PASSPHRASE, sizeof PASSPHRASE, left);
    delete[] left;
    CHECK(was_left);
    was_left = false;
    auto *volatile string = new std::string(PASSPHRASE);
    delete string;
    CHECK(was_left);
}

void packages()
{
    const auto alice = sealstone::Passport::generate("Alice");
    const auto bob = sealstone::Passport::generate("Bob");
    const auto public_alice = alice.public_half(), public_bob = bob.public_half();
    sealstone::Draft draft;
    draft.files = {{"a", "inside", true}, {"b", "beside"}};
    draft.author = "Alice";
    draft.metadata = "{\"n\": 1}";
    draft.cosigners = {&public_bob};
    sealstone::Verification how;
    how.signers = {&public_alice, &public_bob};
    how.files = {{"b", "beside"}};
    const auto first = sealstone::Package::load(draft.sign(alice).bytes());
    FAILS(NOT_VERIFIED, first.verify(how));
    const auto package = first.cosign(bob, how).countersign(alice.generate("Carol"), how);
    package.verify(how);
    CHECK(package.report(how).good());
    CHECK(package.embedded("a").text() == "inside");
    CHECK(package.json().text().find("\"author\":\"Alice\"") != std::string_view::npos);
    CHECK(package.to_stamp().size() > 0);
    FAILS(ALTERED, package.derived_key("secret", "label"));
    FAILS(MALFORMED, package.with_timestamp("x"));
    how.files[0].content = "Beside";
    const auto report = package.report(how);
    CHECK(!report && report.verdict(SEALSTONE_LAYER_CONTENT) == SEALSTONE_VERDICT_BAD);
    CHECK(report.json().text().find("altered") != std::string_view::npos);
    FAILS(NOT_VERIFIED, package.verify(how));
    how.directory = "/nowhere";
    FAILS(INVALID, package.report(how));
}

void tokens()
{
    const sealstone::Challenge challenge(SEALSTONE_TOKEN_P256, "issuer.example", {}, "a.example");
    const auto key = sealstone::IssuerKey::decode(
        SEALSTONE_TOKEN_P256, sealstone::IssuerKey::generate(SEALSTONE_TOKEN_P256).encode());
    const auto half = sealstone::IssuerPublicKey::decode(
        SEALSTONE_TOKEN_P256, key.public_half().encode());
    CHECK(challenge.header(half).size() > 0);
    CHECK(challenge.issuer().text() == "issuer.example");
    CHECK(challenge.type() == SEALSTONE_TOKEN_P256);
    const auto offer = sealstone::challenge_of_header(challenge.header(half).str());
    CHECK(offer.challenge.encode().text() == challenge.encode().text());
    CHECK(offer.key && offer.key->encode().text() == half.encode().text());
    FAILS(INVALID, sealstone::challenge_of_header(challenge.header(half).str(), 1));
    const auto keyless = challenge.header(half).str();
    const auto without = sealstone::challenge_of_header(keyless.substr(0, keyless.find(", token-key")));
    CHECK(!without.key && without.challenge.type() == SEALSTONE_TOKEN_P256);
    CHECK(challenge.is_for("a.example") && !challenge.is_for("b.example"));
    const auto pending = sealstone::Pending::restore(
        sealstone::Pending(half, sealstone::Challenge::decode(challenge.encode()), 3).save());
    const auto tokens = pending.finalize(key.issue(pending.request(), 3));
    CHECK(tokens.size() == 3);
    const auto shown = sealstone::token_of_header(sealstone::header_of_token(tokens[0]).str());
    CHECK(key.redeem(challenge, shown) != key.redeem(challenge, tokens[1]));
    FAILS(REFUSED, key.redeem({SEALSTONE_TOKEN_P256, "other.example"}, shown));
    FAILS(INVALID, sealstone::redeem(half, challenge, shown));
}

} // namespace

int main()
{
    CHECK(!sealstone::version().empty());
    hashes();
    files();
    descriptors();
    passphrases();
    packages();
    tokens();
    std::printf("%d checks\n", checks);
}
