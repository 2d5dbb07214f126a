"""The exceptions of sealed files, passports, packages and tokens.

Arguments out of range raise `ValueError`, files that cannot be read or written `OSError`, memory
that is missing `MemoryError`.
"""


class SealstoneError(Exception):
    """Superclass of all of these."""

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def __str__(self) -> str:
        return str(self.args[0])


class Malformed(SealstoneError):
    """The bytes break a rule of the format."""

    def __init__(self, message: str, what: str) -> None:
        Exception.__init__(self, message, what)
        self.what = what


class Unsupported(SealstoneError):
    """The bytes follow a newer version of the format than this one reads."""

    def __init__(self, message: str, what: str) -> None:
        Exception.__init__(self, message, what)
        self.what = what


class WrongPassphrase(SealstoneError):
    """No passphrase that was given fits.

    `recipients` are those of the sealed file, as `sealstone.recipients` lists them; `fingerprint`
    is that of the passport that stays locked. Both are what the file says of itself.
    """

    def __init__(self, message: str, recipients: tuple[str, ...] = (), fingerprint: str | None = None) -> None:
        Exception.__init__(self, message, recipients, fingerprint)
        self.recipients = recipients
        self.fingerprint = fingerprint


class NotARecipient(SealstoneError):
    """The file was sealed for others than the passports that were given.

    `recipients` are those of the file, as `sealstone.recipients` lists them: what the file says of
    itself. `given` are the fingerprints of the passports that were tried.
    """

    def __init__(self, message: str, recipients: tuple[str, ...] = (), given: tuple[str, ...] = ()) -> None:
        Exception.__init__(self, message, recipients, given)
        self.recipients = recipients
        self.given = given


class Altered(SealstoneError):
    """A part was changed, cut or exchanged after it was made; `part` names it."""

    def __init__(self, message: str, part: str) -> None:
        Exception.__init__(self, message, part)
        self.part = part


class SenderNotApproved(SealstoneError):
    """The file was signed by another passport than the caller accepts, or by none.

    `status` is the sender's in the trust store, or `another`, `unsigned`, `signed` or `unknown`.
    `passport` holds the sender's keys if the file carries them: claims until they are verified.
    """

    def __init__(self, message: str, fingerprint: str | None, status: str, passport: object) -> None:
        Exception.__init__(self, message, fingerprint, status, passport)
        self.fingerprint = fingerprint
        self.status = status
        self.passport = passport


class KdfLimit(SealstoneError):
    """A key derivation asks for more than is allowed: `wanted` and `allowed` in KiB of `what`."""

    def __init__(self, message: str, wanted: int, allowed: int, what: str) -> None:
        Exception.__init__(self, message, wanted, allowed, what)
        self.wanted = wanted
        self.allowed = allowed
        self.what = what


class KeyLifecycle(SealstoneError):
    """The lifecycle of the user's own key does not allow this.

    `name` says why: `stage`, `not-yet`, `over`, `used-up`, `clock-back` or `change`. `stage` is the
    key's, if that is why. `time` is the first or the last second in which it signs, or the last one
    in its log: seconds since 1970.
    """

    def __init__(self, message: str, name: str, stage: str | None, time: int | None) -> None:
        Exception.__init__(self, message, name, stage, time)
        self.name = name
        self.stage = stage
        self.time = time


class StoreAltered(SealstoneError):
    """A trust store was changed by another program; `what` says where."""

    def __init__(self, message: str, what: str) -> None:
        Exception.__init__(self, message, what)
        self.what = what


class NotVerified(SealstoneError):
    """A package is not good: its `report` says which layer, signer or file is bad."""

    def __init__(self, message: str, report: object) -> None:
        Exception.__init__(self, message, report)
        self.report = report


class TimestampRefused(SealstoneError):
    """A timestamp does not hold.

    `name` is the failed check's in the specification, `at` the place of the response, from 0.
    """

    def __init__(self, message: str, name: str, at: int) -> None:
        Exception.__init__(self, message, name, at)
        self.name = name
        self.at = at


class TokenRefused(SealstoneError):
    """A token, a request for tokens or an answer to it is refused.

    `name` says why: `proof` (the answer is not of the issuer's key), `forged`, `wrong-type`,
    `wrong-key`, `wrong-challenge`, `refused` or `no-epoch`.
    """

    def __init__(self, message: str, name: str) -> None:
        Exception.__init__(self, message, name)
        self.name = name
