#!/usr/bin/env python3
"""A second implementation of the tree hash, written from spec/tree.md and Skein 1.3 alone.

    tree.py FILE      prints the hash of a file
    tree.py example   prints the numbers of the page's worked example

Many nodes are hashed side by side: an integer holds one 64-bit word of each of them, 128 bits
apart, so that sums carry into nothing and one mask makes a word of them again. There is nothing
here but the standard library.
"""

import sys

ROTATIONS = [
    (46, 36, 19, 37),
    (33, 27, 14, 42),
    (17, 49, 36, 39),
    (44, 9, 54, 56),
    (39, 30, 34, 24),
    (13, 50, 10, 17),
    (25, 29, 39, 43),
    (8, 35, 56, 22),
]
PERMUTATION = (2, 1, 4, 7, 6, 5, 0, 3)
C240 = 0x1BD11BDAA9FC1A22
CONFIGURATION, MESSAGE, OUTPUT = 4, 48, 63
LEAF, NODE = 4096, 1024


def tree_hash(message):
    values, levels = message, 0
    while levels == 0 or len(values) > 64:
        levels += 1
        values = level(values, levels)
    return ubi(values, [bytes(8)], [0], OUTPUT << 56)[0]


def level(values, number):
    """The values of all nodes of this level, from the level below; of level 1, from the message."""
    size = LEAF if number == 1 else NODE
    nodes = [values[at : at + size] for at in range(0, len(values), size)] or [b""]
    high = MESSAGE << 56 | number << 48
    whole = [node for node in nodes if len(node) == size]
    hashed = ubi(START, whole, [i * size for i in range(len(whole))], high) if whole else []
    if len(whole) < len(nodes):
        hashed += ubi(START, nodes[-1:], [len(whole) * size], high)
    return b"".join(hashed)


def ubi(chain, messages, positions, high):
    """UBI (section 3.4) from one chaining value over messages of one length and their positions."""
    ones = sum(1 << 128 * lane for lane in range(len(messages)))
    state = [word * ones for word in words([chain])]
    length = len(messages[0])
    for at in range(0, max(length, 1), 64):
        blocks = [message[at : at + 64].ljust(64, b"\0") for message in messages]
        done = min(at + 64, length)
        low = sum(position + done << 128 * lane for lane, position in enumerate(positions))
        flags = (at == 0) << 62 | (done == length) << 63
        plain = words(blocks)
        cipher = threefish(state, (low, (high | flags) * ones), plain, ones)
        state = [c ^ p for c, p in zip(cipher, plain)]
    joined = [word.to_bytes(16 * len(messages), "little") for word in state]
    return [b"".join(word[at : at + 8] for word in joined) for at in range(0, 16 * len(messages), 16)]


def words(blocks):
    spread = [b"".join(block[at : at + 8] + bytes(8) for block in blocks) for at in range(0, 64, 8)]
    return [int.from_bytes(word, "little") for word in spread]


def threefish(key, tweak, plain, ones):
    """Threefish-512 (section 3.3), in all lanes at once."""
    mask = ones * (2**64 - 1)
    last = C240 * ones
    for word in key:
        last ^= word
    key = [*key, last]
    tweak = [*tweak, tweak[0] ^ tweak[1]]
    state = list(plain)
    for d in range(72):
        if d % 4 == 0:
            state = [(v + k) & mask for v, k in zip(state, subkey(key, tweak, d // 4, ones))]
        for pair, r in enumerate(ROTATIONS[d % 8]):
            a, b = state[2 * pair], state[2 * pair + 1]
            a = (a + b) & mask
            state[2 * pair : 2 * pair + 2] = a, a ^ ((b << r | b >> 64 - r) & mask)
        state = [state[i] for i in PERMUTATION]
    return [(v + k) & mask for v, k in zip(state, subkey(key, tweak, 18, ones))]


def subkey(key, tweak, s, ones):
    out = [key[(s + i) % 9] for i in range(8)]
    out[5] += tweak[s % 3]
    out[6] += tweak[(s + 1) % 3]
    out[7] += s * ones
    return out


def start():
    configuration = b"SHA3" + bytes([1, 0, 0, 0]) + (512).to_bytes(8, "little") + bytes([6, 4, 0xFF]) + bytes(13)
    return ubi(bytes(64), [configuration], [0], CONFIGURATION << 56)[0]


START = start()


def example():
    values, number = bytes(i % 251 for i in range(70_000)), 0
    print("G:", START.hex())
    print("hash:", tree_hash(values).hex())
    while number == 0 or len(values) > 64:
        number += 1
        values = level(values, number)
        print(f"level {number}: {len(values) // 64} nodes, the last {values[-64:].hex()}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "example":
        example()
    else:
        print(tree_hash(open(sys.argv[1], "rb").read()).hex())
