"""Hash objects: their values, and that they are used as those of hashlib."""

import array
import hashlib
import hmac
import io
import mmap
import os
import pickle
import sysconfig
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sealstone.hashes import PIECE, Blake2b, Skein256, Skein512, Skein1024, SkeinTree, verify_piece
from turns import threads_go_on

OBJECTS: list[Any] = [Skein256, Skein512, Skein1024, Blake2b, SkeinTree]
NAMES = {
    Skein256: ("skein-256", 32, 32),
    Skein512: ("skein-512", 64, 64),
    Skein1024: ("skein-1024", 128, 128),
    Blake2b: ("blake2b", 64, 128),
    SkeinTree: ("skein-512-tree", 64, 64),
}
every_object = pytest.mark.parametrize("make", OBJECTS)

# Skein 1.3, appendix C: messages FF, and FF FE FD… of one block and of two.
PAPER = [
    (Skein256, 1, "0b98dcd198ea0e50a7a244c444e25c23da30c10fc9a1f270a6637f1f34e67ed2"),
    (Skein256, 32, "8d0fa4ef777fd759dfd4044e6f6a5ac3c774aec943dcfc07927b723b5dbf408b"),
    (Skein256, 64, "df28e916630d0b44c4a849dc9a02f07a07cb30f732318256b15d865ac4ae162f"),
    (
        Skein512,
        1,
        "71b7bce6fe6452227b9ced6014249e5bf9a9754c3ad618ccc4e0aae16b316cc8"
        "ca698d864307ed3e80b6ef1570812ac5272dc409b5a012df2a579102f340617a",
    ),
    (
        Skein512,
        64,
        "45863ba3be0c4dfc27e75d358496f4ac9a736a505d9313b42b2f5eada79fc17f"
        "63861e947afb1d056aa199575ad3f8c9a3cc1780b5e5fa4cae050e989876625b",
    ),
]


@pytest.mark.parametrize(("make", "length", "expected"), PAPER)
def test_values_of_the_specification(make: Callable[[bytes], Any], length: int, expected: str) -> None:
    message = bytes(255 - at for at in range(length))
    assert make(message).hexdigest() == expected


def data(length: int) -> bytes:
    return bytes(at % 251 for at in range(length))


LENGTHS = [0, 1, 63, 64, 65, 127, 128, 129, 1000, 2047, 2048, 65537]


@pytest.mark.parametrize("length", LENGTHS)
def test_blake2b_is_that_of_hashlib(length: int) -> None:
    for size, key in [(64, b""), (1, b"k"), (32, bytes(64))]:
        expected = hashlib.blake2b(data(length), digest_size=size, key=key)
        assert Blake2b(data(length), digest_size=size, key=key).digest() == expected.digest()


@pytest.mark.parametrize("length", LENGTHS)
def test_skein_is_that_of_pyskein(length: int) -> None:
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("pyskein needs Python's lock")
    import skein  # type: ignore[import-untyped]

    pairs: list[tuple[Any, Any]] = [(Skein256, skein.skein256), (Skein512, skein.skein512), (Skein1024, skein.skein1024)]
    for ours, theirs in pairs:
        assert ours(data(length)).digest() == theirs(data(length)).digest()
        same: dict[str, Any] = {"key": b"key", "nonce": b"nonce", "public_key": b"public"}
        expected = theirs(data(length), digest_bits=400, pers=b"purpose", key_id=b"id", **same)
        got = ours(data(length), digest_size=50, personalization=b"purpose", key_id=b"id", **same)
        assert got.digest() == expected.digest()


@every_object
def test_attributes(make: Any) -> None:
    made = make()
    assert (made.name, made.digest_size, made.block_size) == NAMES[make]
    assert len(made.digest()) == made.digest_size
    assert made.hexdigest() == made.digest().hex()
    for name in ("name", "digest_size", "block_size", "other"):
        with pytest.raises(AttributeError):
            setattr(made, name, 1)


@every_object
def test_parts_give_the_hash_of_the_whole(make: Any) -> None:
    whole = data(PIECE + 5000)
    expected = make(whole).digest()
    for step in (1999, 2048, 65536, PIECE - 1, PIECE + 1):
        parts = make()
        for at in range(0, len(whole), step):
            assert parts.update(whole[at : at + step]) is None
        assert parts.digest() == expected == parts.digest()


@every_object
def test_any_object_that_holds_bytes(make: Any, tmp_path: Path) -> None:
    whole = data(PIECE + 4)
    expected = make(whole).digest()
    path = tmp_path / "file"
    path.write_bytes(whole)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for same in (bytearray(whole), memoryview(whole), array.array("I", whole), mapped):
            assert make(same).digest() == expected
    assert make(memoryview(whole)[::2].tobytes()).digest() == make(whole[::2]).digest()
    with pytest.raises(TypeError):
        make(memoryview(whole)[::2])
    for wrong in ("text", 3, [1, 2]):
        with pytest.raises(TypeError):
            make(wrong)
        with pytest.raises(TypeError):
            make().update(wrong)


@every_object
def test_a_copy_goes_its_own_way(make: Any) -> None:
    first = make(b"one")
    second = first.copy()
    assert type(second) is make and second.digest() == first.digest()
    second.update(b"two")
    assert (first.digest(), second.digest()) == (make(b"one").digest(), make(b"onetwo").digest())


@every_object
def test_file_digest(make: Any, tmp_path: Path) -> None:
    whole = data(3 * PIECE + 17)
    path = tmp_path / "file"
    path.write_bytes(whole)
    file_digest = getattr(hashlib, "file_digest", None)
    if file_digest is None:
        pytest.skip("hashlib.file_digest is of Python 3.11")
    with path.open("rb") as file:
        assert file_digest(file, make).digest() == make(whole).digest()
    assert file_digest(io.BytesIO(whole), make).digest() == make(whole).digest()


@every_object
def test_no_secret_is_shown(make: Any) -> None:
    made = make(b"secret message")
    assert "secret" not in repr(made)
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(made)


@pytest.mark.parametrize("make", OBJECTS[:4])
def test_hmac_takes_it_as_digestmod(make: Any) -> None:
    block = make().block_size
    inner, outer = (bytes(byte ^ pad for byte in b"key".ljust(block, b"\0")) for pad in (0x36, 0x5C))
    expected = make(outer + make(inner + b"message").digest()).digest()
    assert hmac.new(b"key", b"message", make).digest() == expected


@every_object
def test_threads_share_one_object(make: Any) -> None:
    shared = make()
    part = bytes(10_000)

    def work() -> None:
        for _ in range(50):
            shared.update(part)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.digest() == make(bytes(4 * 50 * 10_000)).digest()


def test_a_tag_is_verified() -> None:
    for make in (Skein256, Skein512, Skein1024, Blake2b):
        tag = make(b"message", key=b"key", digest_size=16).digest()
        assert make(b"message", key=b"key", digest_size=16).verify(tag)
        for message, key, wrong in [(b"massage", b"key", tag), (b"message", b"kez", tag), (b"message", b"key", tag[:15])]:
            assert not make(message, key=key, digest_size=16).verify(wrong)


@pytest.mark.parametrize("size", [0, (1 << 24) + 1])
def test_sizes_that_are_refused(size: int) -> None:
    for make in (Skein256, Skein512, Skein1024, Blake2b):
        with pytest.raises(ValueError):
            make(digest_size=size)
    with pytest.raises(ValueError):
        Blake2b(key=bytes(65))
    assert len(Skein512(digest_size=1 << 24).digest()) == 1 << 24


@pytest.mark.parametrize("length", [0, 1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE, 20 * PIECE + 3])
def test_proofs_of_pieces(length: int) -> None:
    whole = data(251) * (length // 251 + 1)
    whole = whole[:length]
    tree = SkeinTree(whole)
    pieces = [whole[at : at + PIECE] for at in range(0, length, PIECE)] or [b""]
    assert tree.length == length
    for index, piece in enumerate(pieces):
        proof = tree.prove(index)
        assert verify_piece(tree.digest(), length, index, piece, proof)
        assert not verify_piece(tree.digest(), length, index, piece + b"x", proof)
        assert not verify_piece(tree.digest(), length, index + 1, piece, proof)
        assert not verify_piece(SkeinTree(whole + b"x").digest(), length, index, piece, proof)
        assert not verify_piece(tree.digest(), length, index, piece, proof + bytes(1))
    with pytest.raises(IndexError):
        tree.prove(len(pieces))
    with pytest.raises(ValueError):
        verify_piece(b"short", length, 0, pieces[0], b"")
    assert tree.digest() == SkeinTree(whole).digest()


@pytest.mark.parametrize("step", [1, 1000, 1 << 18, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5, 40 * PIECE])
def test_a_tree_of_parts(step: int) -> None:
    """Every hash on the way, every copy and every proof is that of the parts so far."""
    whole = (data(251) * ((20 * PIECE) // 251 + 2))[: 20 * PIECE + 17] if step > 1000 else data(3000)
    tree, looks = SkeinTree(), max(1, len(whole) // step // 20)
    for number, at in enumerate(range(0, len(whole), step)):
        tree.update(whole[at : at + step])
        so_far = whole[: at + step]
        assert tree.length == len(so_far)
        if number % looks == 0:
            assert tree.digest() == tree.copy().digest() == SkeinTree(so_far).digest()
            last = (len(so_far) - 1) // PIECE
            assert verify_piece(tree.digest(), tree.length, last, so_far[last * PIECE :], tree.prove(last))
    assert tree.digest() == SkeinTree(bytearray(whole)).digest() == SkeinTree(whole).digest()


def file_digest_of_a_tree(content: bytes) -> bytes:
    tree, file = SkeinTree(), io.BytesIO(content)
    while part := file.read(1 << 18):
        tree.update(memoryview(part))
    return tree.digest()


WAYS: dict[str, Callable[[bytes], bytes]] = {
    "bytes": lambda content: SkeinTree(content).digest(),
    "bytearray": lambda content: SkeinTree(bytearray(content)).digest(),
    "file": file_digest_of_a_tree,
}


@pytest.mark.parametrize("name", WAYS)
def test_a_tree_is_hashed_by_several_threads(name: str) -> None:
    """Also for data that comes in parts. Each processor has one; how many run at once is up to the
    system. Beside other work the others may get too little: one of five times is enough."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor")
    content = bytes(96 << 20)
    assert any(share_of_others(lambda: WAYS[name](content)) > 0.2 for _ in range(5))
    assert share_of_others(lambda: Skein512(content).digest()) < 0.1, "one thread is noticed"


def share_of_others(work: Callable[[], object]) -> float:
    """How much of the work other threads do than the one that calls."""
    mine, all_threads = time.thread_time(), time.process_time()
    work()
    return 1 - (time.thread_time() - mine) / (time.process_time() - all_threads)


def test_a_thread_that_waits_for_a_hash_object_stops_no_other() -> None:
    """One thread has a long `update`, another waits for the same object, and a third goes on."""
    skein = Skein512()
    threads = [threading.Thread(target=skein.update, args=(bytes(200 << 20),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert threads_go_on(lambda: skein.update(b"x"))
    for thread in threads:
        thread.join()
