// Bytes, failures, passwords, hashes and passports.
#ifndef SEALSTONE_CORE_HPP
#define SEALSTONE_CORE_HPP

#include "../sealstone.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sealstone {

/// Why there is no result.
class Error : public std::runtime_error {
public:
    Error(int code, const std::string &message) : std::runtime_error(message), code_(code) {}

    /// SEALSTONE_INVALID and so on.
    int code() const noexcept { return code_; }

private:
    int code_;
};

/// Throws the failure of this thread's last call, unless it has succeeded.
inline void check(sealstone_status status)
{
    if (status != SEALSTONE_OK)
        throw Error(status, sealstone_error_message());
}

/// Bytes of somebody else, for the time of a call.
class Bytes {
public:
    Bytes() = default;
    Bytes(const void *data, std::size_t size)
        : data_(static_cast<const std::uint8_t *>(data)), size_(size)
    {
    }
    Bytes(const char *text) : Bytes(std::string_view(text)) {}

    /// Strings, vectors, arrays, buffers: anything of single bytes with data() and size().
    template <typename Container,
        typename = std::enable_if_t<
            sizeof(*std::declval<const Container &>().data()) == 1
            && std::is_convertible_v<decltype(std::declval<const Container &>().size()), std::size_t>>>
    Bytes(const Container &container) : Bytes(container.data(), container.size())
    {
    }

    const std::uint8_t *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

private:
    const std::uint8_t *data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

template <typename Handle, void (*free)(Handle *)> struct Free {
    void operator()(Handle *handle) const noexcept { free(handle); }
};

template <typename Handle, void (*free)(Handle *)>
using Owner = std::unique_ptr<Handle, Free<Handle, free>>;

/// The handle that a function gives through its last argument.
template <typename Handle, typename Function, typename... Arguments>
Handle *given(Function function, Arguments... arguments)
{
    Handle *handle = nullptr;
    check(function(arguments..., &handle));
    return handle;
}

} // namespace detail

namespace detail {

/// A copy of a secret, which is wiped when it dies. None is something else than one of no bytes.
class Secret {
public:
    Secret() = default;
    explicit Secret(Bytes bytes) : bytes_(new std::uint8_t[bytes.size() + 1]), size_(bytes.size())
    {
        std::copy_n(bytes.data(), size_, bytes_.get());
    }
    Secret(const Secret &other) : Secret(other.bytes_ ? Secret(Bytes(other.data(), other.size_)) : Secret()) {}
    Secret(Secret &&other) noexcept
        : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0))
    {
    }
    Secret &operator=(Secret other) noexcept
    {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Secret()
    {
        // The compiler may leave out other writes to memory that is freed.
        volatile std::uint8_t *at = bytes_.get();
        for (std::size_t n = 0; n < size_; n++)
            at[n] = 0;
    }

    const std::uint8_t *data() const noexcept { return bytes_.get(); }
    std::size_t size() const noexcept { return size_; }

private:
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::size_t size_ = 0;
};

} // namespace detail

/// Bytes that a function has returned. They are wiped when the object dies.
class Buffer {
public:
    explicit Buffer(sealstone_buffer *owned) : owned_(owned) {}

    const std::uint8_t *data() const noexcept { return sealstone_buffer_data(owned_.get()); }
    std::size_t size() const noexcept { return sealstone_buffer_len(owned_.get()); }
    const std::uint8_t *begin() const noexcept { return data(); }
    const std::uint8_t *end() const noexcept { return data() + size(); }

    /// The bytes as text, valid as long as the buffer.
    std::string_view text() const noexcept
    {
        return {reinterpret_cast<const char *>(data()), size()};
    }

    /// A copy, which nobody wipes.
    std::string str() const { return std::string(text()); }

private:
    detail::Owner<sealstone_buffer, sealstone_buffer_free> owned_;
};

/// The library's version, as in "1.2.3".
inline std::string_view version() { return sealstone_version(); }

// Argon2 (RFC 9106).

/// The cost of a password or a passphrase.
struct Cost {
    std::uint32_t memory_kib = 0;
    std::uint32_t passes = 0;
    std::uint32_t lanes = 0;
};

/// The second choice of RFC 9106, for servers.
inline constexpr Cost PASSWORD_COST = {65536, 3, 4};

/// A string that stores a password, with a fresh salt.
inline std::string hash_password(Bytes password, Cost cost = PASSWORD_COST)
{
    char stored[128];
    check(sealstone_password_hash(password.data(), password.size(), cost.memory_kib, cost.passes,
        cost.lanes, stored, sizeof stored));
    return stored;
}

enum class Password { Wrong, Right, RightAndToBeHashedAgain };

/// Whether the password is the one that was stored. Throws only if the string cannot be used.
inline Password verify_password(
    Bytes password, const std::string &stored, Cost cost = PASSWORD_COST)
{
    bool again = false;
    const int status = sealstone_password_verify(password.data(), password.size(), stored.c_str(),
        cost.memory_kib, cost.passes, cost.lanes, &again);
    if (status == SEALSTONE_WRONG_KEY)
        return Password::Wrong;
    check(status);
    return again ? Password::RightAndToBeHashedAgain : Password::Right;
}

/// A key from a password, with Argon2id.
inline std::vector<std::uint8_t> argon2id(
    Bytes password, Bytes salt, Cost cost, std::size_t size, std::uint32_t threads = 1)
{
    std::vector<std::uint8_t> tag(size);
    sealstone_argon2_params params = {};
    params.size = sizeof params;
    params.variant = 2;
    params.version = 0x13;
    params.memory_kib = cost.memory_kib;
    params.passes = cost.passes;
    params.lanes = cost.lanes;
    params.threads = threads;
    check(sealstone_argon2(&params, password.data(), password.size(), salt.data(), salt.size(),
        tag.data(), tag.size()));
    return tag;
}

// Skein-512.

/// The hash of the data. 64 bytes are usual.
inline std::vector<std::uint8_t> skein512(Bytes data, std::size_t digest_size = 64)
{
    std::vector<std::uint8_t> digest(digest_size);
    check(sealstone_skein512(data.data(), data.size(), digest.data(), digest.size()));
    return digest;
}

/// A hash, or with a key a MAC.
class Skein {
public:
    explicit Skein(std::size_t digest_size = 64, Bytes key = {})
        : size_(digest_size), owned_(detail::given<sealstone_skein>(
                                  sealstone_skein512_new, key.data(), key.size(), digest_size))
    {
    }

    Skein &update(Bytes data)
    {
        check(sealstone_skein_update(owned_.get(), data.data(), data.size()));
        return *this;
    }

    /// Of the message so far, which may go on.
    std::vector<std::uint8_t> digest() const
    {
        std::vector<std::uint8_t> digest(size_);
        check(sealstone_skein_digest(owned_.get(), digest.data(), digest.size()));
        return digest;
    }

private:
    std::size_t size_;
    detail::Owner<sealstone_skein, sealstone_skein_free> owned_;
};

// Passports.

/// The half of a passport that its owner hands out.
class PublicPassport {
public:
    explicit PublicPassport(sealstone_public_passport *owned) : owned_(owned) {}

    /// Reads its text, and checks both of its signatures.
    static PublicPassport load(Bytes text)
    {
        return PublicPassport(detail::given<sealstone_public_passport>(
            sealstone_public_passport_load, text.data(), text.size()));
    }

    Buffer text() const
    {
        return Buffer(
            detail::given<sealstone_buffer>(sealstone_public_passport_text, owned_.get()));
    }

    std::array<std::uint8_t, 32> fingerprint() const
    {
        std::array<std::uint8_t, 32> bytes;
        check(sealstone_public_passport_fingerprint(owned_.get(), bytes.data(), bytes.size()));
        return bytes;
    }

    const sealstone_public_passport *get() const noexcept { return owned_.get(); }

private:
    detail::Owner<sealstone_public_passport, sealstone_public_passport_free> owned_;
};

/// A secret identity, unlocked.
class Passport {
public:
    static Passport generate(const std::string &label)
    {
        return Passport(
            detail::given<sealstone_passport>(sealstone_passport_generate, label.c_str()));
    }

    static Passport unlock(Bytes text, Bytes passphrase)
    {
        return Passport(detail::given<sealstone_passport>(sealstone_passport_unlock, text.data(),
            text.size(), passphrase.data(), passphrase.size()));
    }

    /// Its text, under a passphrase. Without a cost, that of the strongest profile (1 GiB).
    Buffer lock(Bytes passphrase, Cost cost = {}) const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_passport_lock, owned_.get(),
            passphrase.data(), passphrase.size(), cost.memory_kib, cost.passes, cost.lanes));
    }

    PublicPassport public_half() const
    {
        return PublicPassport(
            detail::given<sealstone_public_passport>(sealstone_passport_public, owned_.get()));
    }

    const sealstone_passport *get() const noexcept { return owned_.get(); }

private:
    explicit Passport(sealstone_passport *owned) : owned_(owned) {}
    detail::Owner<sealstone_passport, sealstone_passport_free> owned_;
};

} // namespace sealstone

#endif
