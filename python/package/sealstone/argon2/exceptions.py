"""The exceptions of argon2-cffi, by the same names."""


class Argon2Error(Exception):
    """Superclass of the exceptions of hashing and verifying."""


class VerificationError(Argon2Error):
    """Verification failed; `args[0]` says why."""


class VerifyMismatchError(VerificationError):
    """The password, the pepper or the associated data is another one."""


class HashingError(Argon2Error):
    """Hashing failed; `args[0]` says why."""


class InvalidHashError(ValueError):
    """The string is not an Argon2 hash."""


class UnsupportedParametersError(ValueError):
    """The platform does not support the parameters."""


InvalidHash = InvalidHashError
