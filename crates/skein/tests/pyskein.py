"""Recomputes each case of pyskein.rs, one per line on standard input, with pyskein."""

import sys

import skein


def check_threefish(key, tweak, plain, cipher):
    key, tweak, plain, cipher = map(bytes.fromhex, (key, tweak, plain, cipher))
    threefish = skein.threefish(key, tweak)
    assert threefish.encrypt_block(plain) == cipher
    assert threefish.decrypt_block(cipher) == plain


def check_skein(state_bits, output_bits, message_bits, *fields):
    *strings, tree = fields
    key, pers, public_key, key_id, nonce, message, expected = (bytes.fromhex(s[1:]) for s in strings)
    tree = None if tree == "none" else tuple(bytes.fromhex(tree))
    hasher = getattr(skein, "skein" + state_bits)(
        digest_bits=int(output_bits), key=key, pers=pers, public_key=public_key, key_id=key_id, nonce=nonce, tree=tree
    )
    if tree:
        hasher.update(message)
    else:
        hasher.update(message, bits=int(message_bits))
    digest = bytearray(hasher.digest())
    if int(output_bits) % 8:  # pyskein leaves the unused bits as they come
        digest[-1] &= 0xFF << (8 - int(output_bits) % 8) & 0xFF
    assert bytes(digest) == expected, (state_bits, output_bits, message_bits, tree)


count = 0
for line in sys.stdin:
    kind, *fields = line.split()
    {"skein": check_skein, "threefish": check_threefish}[kind](*fields)
    count += 1
print(count, "cases agree")
