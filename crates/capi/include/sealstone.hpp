// Sealstone for C++17: owners of the handles of sealstone.h, and exceptions for its codes.
//
// Every function that can fail throws sealstone::Error, which has the code (SEALSTONE_WRONG_KEY and
// so on) and the message. Objects free what they own, and wipe what is secret. They can be moved,
// not copied. Content goes in as sealstone::Bytes, which anything with data() and size() becomes
// without a copy, and comes out as sealstone::Buffer.
#ifndef SEALSTONE_HPP
#define SEALSTONE_HPP

#include "sealstone/core.hpp"
#include "sealstone/files.hpp"
#include "sealstone/packages.hpp"
#include "sealstone/tokens.hpp"

#endif
