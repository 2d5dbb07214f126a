// Anonymous tokens: clients, issuers and verifiers.
#ifndef SEALSTONE_TOKENS_HPP
#define SEALSTONE_TOKENS_HPP

#include "core.hpp"

#include <optional>

namespace sealstone {

/// The mark of a spent token, which a verifier remembers durably before it acts.
using Nullifier = std::array<std::uint8_t, 32>;

/// The public half of an issuer's key.
class IssuerPublicKey {
public:
    explicit IssuerPublicKey(sealstone_issuer_public_key *owned) : owned_(owned) {}

    static IssuerPublicKey decode(std::uint16_t token_type, Bytes bytes)
    {
        return IssuerPublicKey(detail::given<sealstone_issuer_public_key>(
            sealstone_issuer_public_key_decode, token_type, bytes.data(), bytes.size()));
    }

    Buffer encode() const
    {
        return Buffer(
            detail::given<sealstone_buffer>(sealstone_issuer_public_key_encode, owned_.get()));
    }

    const sealstone_issuer_public_key *get() const noexcept { return owned_.get(); }

private:
    detail::Owner<sealstone_issuer_public_key, sealstone_issuer_public_key_free> owned_;
};

/// The challenge of a verifier: it asks for a token.
class Challenge {
public:
    /// `context` is empty or has 32 bytes; `origins` are separated by commas.
    Challenge(std::uint16_t token_type, const std::string &issuer, Bytes context = {},
        const std::string &origins = {})
        : owned_(detail::given<sealstone_challenge>(sealstone_challenge_new, token_type,
              issuer.c_str(), context.data(), context.size(),
              origins.empty() ? nullptr : origins.c_str()))
    {
    }

    static Challenge decode(Bytes bytes)
    {
        return Challenge(detail::given<sealstone_challenge>(
            sealstone_challenge_decode, bytes.data(), bytes.size()));
    }

    Buffer encode() const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_challenge_encode, owned_.get()));
    }

    /// SEALSTONE_TOKEN_P384 and so on, or a type that this library does not know.
    std::uint16_t type() const
    {
        std::uint16_t type = 0;
        check(sealstone_challenge_type(owned_.get(), &type));
        return type;
    }

    /// The name of the issuer.
    Buffer issuer() const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_challenge_issuer, owned_.get()));
    }

    /// Whether the server of this name, which sent the challenge, accepts the tokens.
    bool is_for(const std::string &origin) const
    {
        bool accepts = false;
        check(sealstone_challenge_is_for(owned_.get(), origin.c_str(), &accepts));
        return accepts;
    }

    /// The value of a WWW-Authenticate header.
    Buffer header(const IssuerPublicKey &key) const
    {
        return Buffer(detail::given<sealstone_buffer>(
            sealstone_challenge_header, owned_.get(), key.get()));
    }

    const sealstone_challenge *get() const noexcept { return owned_.get(); }

    explicit Challenge(sealstone_challenge *owned) : owned_(owned) {}

private:
    detail::Owner<sealstone_challenge, sealstone_challenge_free> owned_;
};

/// A challenge of a WWW-Authenticate header, and the issuer's key if that is beside it.
struct Offer {
    Challenge challenge;
    std::optional<IssuerPublicKey> key;
};

/// Reads the challenge at a position, from 0, of the value of a WWW-Authenticate header.
inline Offer challenge_of_header(const std::string &value, std::size_t position = 0)
{
    sealstone_challenge *challenge = nullptr;
    sealstone_issuer_public_key *key = nullptr;
    check(sealstone_challenge_from_header(value.c_str(), position, &challenge, &key));
    Offer offer{Challenge(challenge), std::nullopt};
    if (key)
        offer.key.emplace(key);
    return offer;
}

/// An issuer's secret key.
class IssuerKey {
public:
    static IssuerKey generate(std::uint16_t token_type)
    {
        return IssuerKey(
            detail::given<sealstone_issuer_key>(sealstone_issuer_key_generate, token_type));
    }

    static IssuerKey decode(std::uint16_t token_type, Bytes bytes)
    {
        return IssuerKey(detail::given<sealstone_issuer_key>(
            sealstone_issuer_key_decode, token_type, bytes.data(), bytes.size()));
    }

    Buffer encode() const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_issuer_key_encode, owned_.get()));
    }

    IssuerPublicKey public_half() const
    {
        return IssuerPublicKey(detail::given<sealstone_issuer_public_key>(
            sealstone_issuer_key_public, owned_.get()));
    }

    /// Answers a request for one token, or for up to `limit` if that is not 0.
    Buffer issue(Bytes request, std::size_t limit = 0) const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_issuer_key_issue, owned_.get(),
            request.data(), request.size(), limit));
    }

    Nullifier redeem(const Challenge &challenge, Bytes token) const
    {
        Nullifier mark;
        check(sealstone_issuer_key_redeem(owned_.get(), challenge.get(), token.data(), token.size(),
            mark.data(), mark.size()));
        return mark;
    }

private:
    explicit IssuerKey(sealstone_issuer_key *owned) : owned_(owned) {}
    detail::Owner<sealstone_issuer_key, sealstone_issuer_key_free> owned_;
};

/// Verifies a token that everybody can verify (SEALSTONE_TOKEN_RSA).
inline Nullifier redeem(const IssuerPublicKey &key, const Challenge &challenge, Bytes token)
{
    Nullifier mark;
    check(sealstone_issuer_public_key_redeem(key.get(), challenge.get(), token.data(), token.size(),
        mark.data(), mark.size()));
    return mark;
}

/// Tokens that were asked for and not yet received.
class Pending {
public:
    /// Asks for one token, or for `count` with a single proof if that is not 0.
    Pending(const IssuerPublicKey &key, const Challenge &challenge, std::size_t count = 0)
        : owned_(detail::given<sealstone_pending>(
              sealstone_token_request, key.get(), challenge.get(), count))
    {
    }

    static Pending restore(Bytes saved)
    {
        return Pending(detail::given<sealstone_pending>(
            sealstone_pending_restore, saved.data(), saved.size()));
    }

    Buffer save() const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_pending_save, owned_.get()));
    }

    Buffer request() const
    {
        return Buffer(detail::given<sealstone_buffer>(sealstone_pending_request, owned_.get()));
    }

    /// Checks the issuer's response, and makes the tokens.
    std::vector<Buffer> finalize(Bytes response) const
    {
        const detail::Owner<sealstone_tokens, sealstone_tokens_free> tokens(
            detail::given<sealstone_tokens>(sealstone_pending_finalize, owned_.get(),
                response.data(), response.size()));
        std::vector<Buffer> all;
        for (std::size_t n = 0; n < sealstone_tokens_count(tokens.get()); n++)
            all.emplace_back(
                detail::given<sealstone_buffer>(sealstone_tokens_get, tokens.get(), n));
        return all;
    }

private:
    explicit Pending(sealstone_pending *owned) : owned_(owned) {}
    detail::Owner<sealstone_pending, sealstone_pending_free> owned_;
};

/// The value of an Authorization header that shows a token.
inline Buffer header_of_token(Bytes token)
{
    return Buffer(
        detail::given<sealstone_buffer>(sealstone_token_header, token.data(), token.size()));
}

/// The token in the value of an Authorization header.
inline Buffer token_of_header(const std::string &value)
{
    return Buffer(detail::given<sealstone_buffer>(sealstone_token_from_header, value.c_str()));
}

} // namespace sealstone

#endif
