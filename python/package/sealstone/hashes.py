"""Skein, its tree hash, and BLAKE2b: objects as those of hashlib.

Each has `update`, `digest`, `hexdigest`, `copy`, `name`, `digest_size` and `block_size`; sizes are
in bytes. `verify(tag)` compares in constant time. `bytes` are hashed without a copy, other data in
copied pieces of 256 KiB; from 2 KiB on, Python's lock is given up, but not for the copies. Threads
may share an object: what each adds stays together, as `bytes` whole, as other data in those pieces.
An object that another thread uses while the process forks raises `RuntimeError` in the child. With
a key, a hash is a MAC.

>>> from sealstone.hashes import Blake2b, Skein512
>>> Skein512(b"one part, and another").digest_size
64
>>> skein = Skein512()
>>> skein.update(b"one part, ")
>>> skein.update(bytearray(b"and another"))
>>> skein.digest() == Skein512(b"one part, and another").digest()
True
>>> tag = Skein512(b"message", key=b"a secret of 32 bytes or more, say", digest_size=32).digest()
>>> Skein512(b"message", key=b"a secret of 32 bytes or more, say", digest_size=32).verify(tag)
True
>>> Blake2b(b"abc", digest_size=8).hexdigest()
'd8bb14d833d59559'

`SkeinTree` hashes on all processors: data that comes in small parts waits for a piece of 1 MiB for
each of them, of which there are 16 at most. It proves that a piece belongs to it. A verifier needs
the digest and the length of the whole, the piece, and the proof.

>>> from sealstone.hashes import PIECE, SkeinTree, verify_piece
>>> data = bytes(3 * PIECE + 1000)
>>> tree = SkeinTree(data)
>>> proof = tree.prove(3)
>>> verify_piece(tree.digest(), tree.length, 3, data[3 * PIECE :], proof)
True
>>> verify_piece(tree.digest(), tree.length, 3, b"something else", proof)
False
"""

from sealstone._native import Blake2b, Skein256, Skein512, Skein1024, SkeinTree, verify_piece

__all__ = ["PIECE", "Blake2b", "Skein256", "Skein512", "Skein1024", "SkeinTree", "verify_piece"]

PIECE = 1 << 20
"""Bytes in each piece of a `SkeinTree` but the last."""
