"""Sealed files, signed packages, anonymous tokens, Argon2 and Skein.

| to | use |
|---|---|
| have an identity | `Passport`, `PublicPassport` |
| keep a file secret | `seal`, `open`, `SealedFile`, `recipients` |
| remember whom you trust | `TrustStore` |
| publish files that nobody can alter | `sealstone.packages` |
| show when data existed | `sealstone.timestamps` |
| let people in without knowing who they are | `sealstone.tokens` |
| handle what goes wrong | `sealstone.errors` |
| store passwords | `sealstone.argon2` |
| hash and authenticate | `sealstone.hashes` |

A passport is secret; its owner hands out its public half. Its keys are wiped at the end of `with`.

>>> import pathlib, tempfile
>>> import sealstone
>>> path = pathlib.Path(tempfile.mkdtemp(), "alice.passport")
>>> with sealstone.Passport.generate("Alice") as alice:
...     alice.save(path, "correct horse battery", profile="interactive")
...     handed_out = alice.public.text
>>> with sealstone.Passport.unlock(path, "correct horse battery") as alice:
...     alice.public == sealstone.PublicPassport.load(handed_out.encode())
True
>>> alice.closed
True
"""

from sealstone._interpreter import refuse_others

refuse_others()

from sealstone import errors
from sealstone._files import Opened, SealedFile, open, seal
from sealstone._native import Passport, PublicPassport, TrustStore, __version__, recipients

__all__ = [
    "Opened",
    "Passport",
    "PublicPassport",
    "SealedFile",
    "TrustStore",
    "__version__",
    "errors",
    "open",
    "recipients",
    "seal",
]
