// Sealed files, in memory and of any length.
#ifndef SEALSTONE_FILES_HPP
#define SEALSTONE_FILES_HPP

#include "core.hpp"

#include <exception>
#include <istream>
#include <ostream>

namespace sealstone {

namespace detail {

// An exception must not pass through C: it waits here for the end of the call.
struct Streams {
    std::istream &from;
    std::ostream &to;
    std::exception_ptr raised_by_read = nullptr;
    std::exception_ptr raised_by_write = nullptr;

    static std::ptrdiff_t read(void *context, std::uint8_t *bytes, std::size_t size) noexcept
    {
        auto &self = *static_cast<Streams *>(context);
        try {
            self.from.read(reinterpret_cast<char *>(bytes), static_cast<std::streamsize>(size));
            return self.from.bad() ? -1 : static_cast<std::ptrdiff_t>(self.from.gcount());
        } catch (...) {
            // A stream may throw at its end, too.
            if (self.from.eof())
                return static_cast<std::ptrdiff_t>(self.from.gcount());
            self.raised_by_read = std::current_exception();
            return -1;
        }
    }

    static int write(void *context, const std::uint8_t *bytes, std::size_t size) noexcept
    {
        auto &self = *static_cast<Streams *>(context);
        try {
            self.to.write(
                reinterpret_cast<const char *>(bytes), static_cast<std::streamsize>(size));
            return self.to.good() ? 0 : -1;
        } catch (...) {
            self.raised_by_write = std::current_exception();
            return -1;
        }
    }

    void finish(sealstone_status status)
    {
        for (const auto &raised : {raised_by_read, raised_by_write})
            if (raised)
                std::rethrow_exception(raised);
        check(status);
        to.flush();
        if (!to)
            throw Error(SEALSTONE_SYSTEM, "the output stream failed");
    }
};

} // namespace detail

/// Seals content for passports and a passphrase. It refers to passports, which have to outlive it,
/// and has a copy of the passphrase, which is wiped when it dies.
class Sealer {
public:
    Sealer &to(const PublicPassport &recipient)
    {
        recipients_.push_back(recipient.get());
        return *this;
    }

    Sealer &to_passphrase(Bytes passphrase, Cost cost = {})
    {
        passphrase_ = detail::Secret(passphrase);
        cost_ = cost;
        return *this;
    }

    Sealer &signed_by(const Passport &sender)
    {
        sender_ = sender.get();
        return *this;
    }

    /// SEALSTONE_SEAL_ARMOR and so on.
    Sealer &flags(std::uint32_t flags)
    {
        flags_ |= flags;
        return *this;
    }

    Buffer seal(Bytes content) const
    {
        const auto options = options_of();
        return Buffer(detail::given<sealstone_buffer>(
            sealstone_seal, &options, content.data(), content.size()));
    }

    /// Constant memory. After an exception, discard what was written.
    void seal(std::istream &from, std::ostream &to) const
    {
        const auto options = options_of();
        detail::Streams streams{from, to};
        streams.finish(sealstone_seal_stream(
            &options, streams.read, &streams, streams.write, &streams));
    }

    /// From and to file descriptors.
    void seal_fd(int from, int to) const
    {
        const auto options = options_of();
        check(sealstone_seal_fd(&options, from, to));
    }

private:
    sealstone_seal_options options_of() const
    {
        sealstone_seal_options options = {};
        options.size = sizeof options;
        options.flags = flags_;
        options.memory_kib = cost_.memory_kib;
        options.passes = cost_.passes;
        options.lanes = cost_.lanes;
        options.recipients = recipients_.data();
        options.recipient_count = recipients_.size();
        options.passphrase = passphrase_.data();
        options.passphrase_len = passphrase_.size();
        options.sender = sender_;
        return options;
    }

    std::vector<const sealstone_public_passport *> recipients_;
    detail::Secret passphrase_;
    Cost cost_;
    const sealstone_passport *sender_ = nullptr;
    std::uint32_t flags_ = 0;
};

/// Opens sealed files with passports and a passphrase. It refers to passports, which have to
/// outlive it, and has a copy of the passphrase, which is wiped when it dies.
class Opener {
public:
    Opener &with(const Passport &passport)
    {
        passports_.push_back(passport.get());
        return *this;
    }

    Opener &with_passphrase(Bytes passphrase)
    {
        passphrase_ = detail::Secret(passphrase);
        return *this;
    }

    /// Nothing is returned before all of the file is verified.
    Buffer open_signed(Bytes sealed, const PublicPassport &sender) const
    {
        return open(sealed, options_of(sender.get()));
    }

    /// Only a file that nobody signed opens.
    Buffer open_unsigned(Bytes sealed) const { return open(sealed, options_of(nullptr)); }

    /// Constant memory. After an exception, discard what was written.
    void open_signed(std::istream &from, std::ostream &to, const PublicPassport &sender) const
    {
        open(from, to, options_of(sender.get()));
    }

    void open_unsigned(std::istream &from, std::ostream &to) const
    {
        open(from, to, options_of(nullptr));
    }

    /// From and to file descriptors. After an exception, discard what was written.
    void open_signed_fd(int from, int to, const PublicPassport &sender) const
    {
        const auto options = options_of(sender.get());
        check(sealstone_open_fd(&options, from, to));
    }

    void open_unsigned_fd(int from, int to) const
    {
        const auto options = options_of(nullptr);
        check(sealstone_open_fd(&options, from, to));
    }

private:
    sealstone_open_options options_of(const sealstone_public_passport *sender) const
    {
        sealstone_open_options options = {};
        options.size = sizeof options;
        options.flags = sender ? 0 : SEALSTONE_OPEN_UNSIGNED;
        options.passports = passports_.data();
        options.passport_count = passports_.size();
        options.passphrase = passphrase_.data();
        options.passphrase_len = passphrase_.size();
        options.sender = sender;
        return options;
    }

    static Buffer open(Bytes sealed, const sealstone_open_options &options)
    {
        return Buffer(detail::given<sealstone_buffer>(
            sealstone_open, &options, sealed.data(), sealed.size()));
    }

    static void open(std::istream &from, std::ostream &to, const sealstone_open_options &options)
    {
        detail::Streams streams{from, to};
        streams.finish(sealstone_open_stream(
            &options, streams.read, &streams, streams.write, &streams));
    }

    std::vector<const sealstone_passport *> passports_;
    detail::Secret passphrase_;
};

} // namespace sealstone

#endif
