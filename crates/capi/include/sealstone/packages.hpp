// Signed packages.
#ifndef SEALSTONE_PACKAGES_HPP
#define SEALSTONE_PACKAGES_HPP

#include "core.hpp"

#include <optional>

namespace sealstone {

/// A file in memory. The object refers to its content, which has to outlive it.
struct File {
    std::string path;
    Bytes content;
    /// Whether the package contains the content; for signing.
    bool embed = false;
};

namespace detail {

inline std::vector<sealstone_file> files_of(const std::vector<File> &files)
{
    std::vector<sealstone_file> all;
    for (const auto &file : files)
        all.push_back({file.path.c_str(), file.content.data(), file.content.size(), file.embed});
    return all;
}

inline const char *text_of(const std::optional<std::string> &text)
{
    return text ? text->c_str() : nullptr;
}

} // namespace detail

/// The result of a verification.
class Report {
public:
    Report(bool good, sealstone_report *owned) : good_(good), owned_(owned) {}

    bool good() const noexcept { return good_; }
    explicit operator bool() const noexcept { return good_; }

    /// SEALSTONE_VERDICT_GOOD and so on, for SEALSTONE_LAYER_CONTENT and so on.
    std::uint32_t verdict(std::uint32_t layer) const
    {
        std::uint32_t verdict = SEALSTONE_VERDICT_BAD;
        check(sealstone_report_verdict(owned_.get(), layer, &verdict));
        return verdict;
    }

    Buffer json() const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_report_json, owned_.get()));
    }

private:
    bool good_;
    detail::Owner<sealstone_report, sealstone_report_free> owned_;
};

/// How a package is verified. It refers to passports and bytes, which have to outlive it.
struct Verification {
    std::vector<const PublicPassport *> signers;
    std::vector<File> files;
    std::optional<std::string> directory;
    Bytes hmac_key;
    Bytes secret;
    Bytes roots;
    std::uint32_t required = 0;

    /// Calls `use` with the same in C.
    template <typename Use> auto with(Use use) const
    {
        std::vector<const sealstone_public_passport *> all;
        for (const auto *signer : signers)
            all.push_back(signer->get());
        const auto in_c = detail::files_of(files);
        sealstone_verify_options options = {};
        options.size = sizeof options;
        options.required = required;
        options.signers = all.data();
        options.signer_count = all.size();
        options.files = in_c.data();
        options.file_count = in_c.size();
        options.directory = detail::text_of(directory);
        options.hmac_key = hmac_key.data();
        options.hmac_key_len = hmac_key.size();
        options.secret = secret.data();
        options.secret_len = secret.size();
        options.roots = roots.data();
        options.roots_len = roots.size();
        return use(&options);
    }
};

/// A signed package. It never changes: functions that add something return another one.
class Package {
public:
    explicit Package(sealstone_package *owned) : owned_(owned) {}

    /// Nothing of it is verified.
    static Package load(Bytes bytes)
    {
        return Package(detail::given<sealstone_package>(
            sealstone_package_load, bytes.data(), bytes.size()));
    }

    Buffer bytes() const { return made(sealstone_package_bytes); }
    Buffer json() const { return made(sealstone_package_json); }
    Buffer to_stamp() const { return made(sealstone_package_to_stamp); }

    /// Of a package that was verified.
    Buffer embedded(const std::string &path) const
    {
        return Buffer(detail::given<sealstone_buffer>(
            sealstone_package_embedded, owned_.get(), path.c_str()));
    }

    /// 32 bytes for `label`, from the secret of the layer `keys` of a package that was verified.
    std::array<std::uint8_t, 32> derived_key(Bytes secret, const std::string &label) const
    {
        std::array<std::uint8_t, 32> key{};
        check(sealstone_package_derived_key(
            owned_.get(), secret.data(), secret.size(), label.c_str(), key.data(), key.size()));
        return key;
    }

    /// Looks at everything, of a bad package too. Throws if `how` cannot be used.
    Report report(const Verification &how) const
    {
        return how.with([this](const sealstone_verify_options *options) {
            sealstone_report *report = nullptr;
            const int status = sealstone_package_verify(options, owned_.get(), &report);
            if (report == nullptr)
                check(status);
            return Report(status == SEALSTONE_OK, report);
        });
    }

    /// Throws unless the package is good.
    void verify(const Verification &how) const
    {
        how.with([this](const sealstone_verify_options *options) {
            check(sealstone_package_verify(options, owned_.get(), nullptr));
            return 0;
        });
    }

    Package cosign(const Passport &passport, const Verification &how) const
    {
        return added(sealstone_package_cosign, passport, how);
    }

    Package countersign(const Passport &passport, const Verification &how) const
    {
        return added(sealstone_package_countersign, passport, how);
    }

    /// With the response of a time-stamping authority over to_stamp().
    Package with_timestamp(Bytes response) const
    {
        return Package(detail::given<sealstone_package>(sealstone_package_with_timestamp,
            owned_.get(), response.data(), response.size()));
    }

private:
    template <typename Function> Buffer made(Function function) const
    {
        return Buffer(detail::given<sealstone_buffer>(function, owned_.get()));
    }

    template <typename Function>
    Package added(Function function, const Passport &passport, const Verification &how) const
    {
        return how.with([&](const sealstone_verify_options *options) {
            return Package(detail::given<sealstone_package>(
                function, options, owned_.get(), passport.get()));
        });
    }

    detail::Owner<sealstone_package, sealstone_package_free> owned_;
};

/// A package to be signed. It refers to passports and bytes, which have to outlive it.
struct Draft {
    std::vector<File> files;
    /// All files of it are signed; those of `files` are embedded then.
    std::optional<std::string> directory;
    std::optional<std::string> author;
    std::optional<std::string> metadata;
    std::optional<std::string> policy;
    std::vector<const PublicPassport *> cosigners;
    Bytes hmac_key;
    Bytes secret;
    /// SEALSTONE_SIGN_SKEIN_TREE and so on.
    std::uint32_t flags = 0;
    std::uint32_t required = 0;
    std::uint32_t threshold = 0;

    Package sign(const Passport &passport) const
    {
        std::vector<const sealstone_public_passport *> all;
        for (const auto *cosigner : cosigners)
            all.push_back(cosigner->get());
        const auto in_c = detail::files_of(files);
        sealstone_sign_options options = {};
        options.size = sizeof options;
        options.flags = flags;
        options.required = required;
        options.threshold = threshold;
        options.files = in_c.data();
        options.file_count = in_c.size();
        options.directory = detail::text_of(directory);
        options.author = detail::text_of(author);
        options.metadata = detail::text_of(metadata);
        options.policy = detail::text_of(policy);
        options.cosigners = all.data();
        options.cosigner_count = all.size();
        options.hmac_key = hmac_key.data();
        options.hmac_key_len = hmac_key.size();
        options.secret = secret.data();
        options.secret_len = secret.size();
        return Package(detail::given<sealstone_package>(
            sealstone_package_sign, &options, passport.get()));
    }
};

} // namespace sealstone

#endif
