"""Sealed files, signed packages, anonymous tokens, Argon2 and Skein.

| to | use |
|---|---|
| store passwords | `sealstone.argon2` |
| hash and authenticate | `sealstone.hashes` |
"""

from sealstone._native import __version__

__all__ = ["__version__"]
