"""Passports, sealed files and the trust store."""

import array
import io
import mmap
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sealstone
from sealstone import Passport, PublicPassport, SealedFile, TrustStore, errors, seal
from sealstone.packages import sign
from turns import threads_go_on

ALICE, BOB, EVE = (Passport.generate(name) for name in ("Alice", "Bob", "Eve"))
LENGTHS = [0, 1, (1 << 20) - 17, 1 << 20, (1 << 20) + 1, (3 << 20) + 5]


def data(length: int) -> bytes:
    return (bytes(range(251)) * (length // 251 + 1))[:length]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("choices", [{}, {"armor": True}, {"hide_length": True}, {"anonymous": True}])
def test_seal_and_open(length: int, choices: dict[str, Any]) -> None:
    sealed = seal(data(length), to=[BOB.public, EVE.public], sender=ALICE, name="n", modified=7, note="x", **choices)
    for keys in (BOB, EVE, [ALICE, BOB]):
        opened = sealstone.open(sealed, keys=keys, sender=ALICE.public)
        assert opened == (data(length), ALICE.public, "n", 7, "x", length)


def test_sources_and_targets(tmp_path: Path) -> None:
    content = data(2_500_000)
    plain, sealed, opened = (tmp_path / name for name in ("plain", "sealed", "opened"))
    plain.write_bytes(content)
    assert seal(plain, sealed, to=BOB.public, sender=ALICE) is None
    assert sealstone.open(str(sealed), opened, keys=BOB, sender="any").content is None
    assert opened.read_bytes() == content
    assert opened.stat().st_mode & 0o777 == 0o600
    target = io.BytesIO()
    with plain.open("rb", buffering=0) as file:
        seal(file, target, to=BOB.public)
    for source in (target.getvalue(), bytearray(target.getvalue()), memoryview(target.getvalue()), io.BytesIO(target.getvalue())):
        assert sealstone.open(source, keys=BOB, sender="unsigned").content == content


def test_buffers_as_sources_and_targets() -> None:
    """Elements of more than a byte, and a view in the middle of something."""
    content = array.array("I", range(700_000))
    plain = bytes(content)
    room = bytearray(b"-" * (len(plain) + 50_000))
    length = seal(content, memoryview(room)[3:], to=BOB.public, sender=ALICE)
    assert room[:3] == b"---" and set(room[3 + length :]) == {ord("-")}
    sealed = memoryview(room)[3 : 3 + length]
    back = array.array("I", bytes(len(plain) + 8))
    opened = sealstone.open(sealed, back, keys=BOB, sender=ALICE.public)
    assert (opened.content, opened.length, bytes(back)) == (None, len(plain), plain + bytes(8))
    mapped = mmap.mmap(-1, len(plain))
    assert sealstone.open(sealed, memoryview(mapped), keys=BOB, sender="any").content is None
    assert mapped[:] == plain
    # Every second byte: such a view is copied.
    assert sealstone.open(seal(memoryview(plain)[::2], to=BOB.public), keys=BOB, sender="unsigned").content == plain[::2]
    assert sealstone.open(seal(memoryview(b""), to=BOB.public), bytearray(), keys=BOB, sender="unsigned").length == 0


def test_buffers_that_do_not_fit(tmp_path: Path) -> None:
    content = data(3_000_000)
    exact = len(seal(content, to=BOB.public))
    assert seal(content, bytearray(exact), to=BOB.public) == exact
    short = bytearray(b"-" * (exact - 1))
    with pytest.raises(ValueError, match=f"{exact} bytes are needed, and the buffer has room for {exact - 1}"):
        seal(content, short, to=BOB.public)
    assert set(short) == {ord("-")}, "nothing was written"
    # Nobody knows the length of a file object before its end.
    with pytest.raises(ValueError, match="has room for"):
        seal(io.BytesIO(content), short, to=BOB.public)
    assert set(short[: 1 << 20]) == {0} and short[-1] == ord("-")
    for target in (b"read-only", memoryview(bytes(9)), memoryview(bytearray(9))[::2], 5, object()):
        with pytest.raises(TypeError):
            seal(content, target, to=BOB.public)  # type: ignore[call-overload]
        with pytest.raises(TypeError):
            sealstone.open(b"", target, keys=BOB, sender="any")  # type: ignore[arg-type]


def test_a_source_is_no_target() -> None:
    room = bytearray(100_000)
    with pytest.raises(ValueError, match="same object"):
        seal(memoryview(room)[:100], memoryview(room)[100:], to=BOB.public)
    room[:] = seal(data(50_000), to=BOB.public).ljust(len(room))
    before = bytes(room)
    with pytest.raises(ValueError, match="same object"):
        sealstone.open(room, room, keys=BOB, sender="unsigned")
    assert room == before


def test_arrays_of_numpy_that_share_memory() -> None:
    # As pyright knows it, no array has a buffer.
    whole: Any = np.zeros(100_000, np.uint8)
    room = bytearray(100_000)
    shown: Any = np.frombuffer(room, np.uint8)
    pairs: list[tuple[Any, Any]] = [
        (whole[:100], whole[50:]),
        (whole[:100], whole.reshape(100, 1000)[1:][::1]),
        (memoryview(whole[:100]), memoryview(whole)[50:]),
        (whole.view(np.uint32)[:9], whole),
        (shown[:100], room),
        (memoryview(room)[:100], shown[1:][1:]),
    ]
    for source, target in pairs:
        with pytest.raises(ValueError, match="same object"):
            seal(source, target, to=BOB.public)
    assert not whole.any() and not any(room)
    length = seal(whole[:100], shown, to=BOB.public)
    assert sealstone.open(room[:length], keys=BOB, sender="unsigned").content == bytes(100)


def test_a_buffer_has_zeros_after_what_was_not_verified() -> None:
    content = data(3_000_000)
    sealed = bytearray(seal(content, to=BOB.public, sender=ALICE))
    sealed[-40] ^= 1
    room = bytearray(b"-" * (len(content) + 1))
    with pytest.raises(errors.Altered):
        sealstone.open(sealed, room, keys=BOB, sender=ALICE.public)
    # The first chunks were written before the last one was found altered.
    assert set(room[: 1 << 20]) == {0} and room[-1] == ord("-")
    with pytest.raises(ValueError, match=f"{len(content)} bytes are needed"):
        sealstone.open(seal(content, to=BOB.public), bytearray(9), keys=BOB, sender="unsigned")


def test_a_source_is_held_until_the_file_is_closed() -> None:
    sealed = bytearray(seal(data(100), to=BOB.public))
    file = SealedFile(sealed, keys=BOB, sender="unsigned")
    with pytest.raises(BufferError):
        sealed.append(0)
    file.close()
    sealed.append(0)
    with pytest.raises(ValueError, match="closed"):
        file.read()
    sealstone.open(sealed[:-1], keys=BOB, sender="unsigned")


@pytest.mark.parametrize("path", ["/proc/version", "/sys/devices/system/cpu/possible"])
def test_files_that_say_a_wrong_length(path: str) -> None:
    """The system says that these have 0 and 4096 bytes."""
    content = Path(path).read_bytes()
    assert len(content) != Path(path).stat().st_size
    assert sealstone.open(seal(path, to=BOB.public), keys=BOB, sender="unsigned").content == content


MIB_AT_ONCE = 128
PEAKS = f"""
import sys, sealstone

def memory(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

content, bob = b"x" * ({MIB_AT_ONCE} << 20), sealstone.Passport.generate("Bob")
sealed = sealstone.seal(content, to=bob.public) if sys.argv[1] not in ("seal", "view") else b""
keys = dict(keys=bob, sender="unsigned")
file = sealstone.SealedFile(sealed, **keys) if sys.argv[1].startswith("read") else None
changeable = bytearray(content) if sys.argv[1] in ("view", "into", "readinto") else None
calls = dict(
    seal=lambda: len(sealstone.seal(content, to=bob.public)) > len(content),
    open=lambda: sealstone.open(sealed, **keys).content == content,
    read=lambda: file.read() == content,
    copy=lambda: bytes(bytearray(content)) == content,
    # A bytearray of this length is there already.
    view=lambda: len(sealstone.seal(changeable, to=bob.public)) > len(content),
    into=lambda: sealstone.open(sealed, changeable, **keys).content is None and changeable == content,
    readinto=lambda: file.readinto(changeable) == len(content) and changeable == content,
)
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # forgets the peak so far
before = memory("VmHWM")
assert calls[sys.argv[1]]()
print(memory("VmHWM") - before)
"""


# The copy shows that one more copy would be noticed.
@pytest.mark.parametrize(
    ("call", "times"),
    [("seal", 1), ("open", 1), ("read", 1), ("copy", 2), ("view", 1), ("into", 0), ("readinto", 0)],
)
def test_a_result_is_in_memory_once(call: str, times: int) -> None:
    done = subprocess.run([sys.executable, "-c", PEAKS, call], capture_output=True, text=True, check=True)
    # Memory that was free before may be used again.
    assert times - 0.05 < int(done.stdout) / 1024 / MIB_AT_ONCE < times + 0.25


def test_nothing_is_replaced_unasked_and_nothing_stays_after_a_failure(tmp_path: Path) -> None:
    sealed = tmp_path / "sealed"
    seal(b"one", sealed, to=BOB.public)
    with pytest.raises(FileExistsError, match="sealed"):
        seal(b"two", sealed, to=BOB.public)
    seal(b"three", sealed, to=BOB.public, overwrite=True)
    assert sealstone.open(sealed, keys=BOB, sender="unsigned").content == b"three"
    altered = bytearray(sealed.read_bytes())
    altered[-40] ^= 1
    with pytest.raises(errors.Altered):
        sealstone.open(altered, tmp_path / "opened", keys=BOB, sender="unsigned")
    assert os.listdir(tmp_path) == ["sealed"]
    with pytest.raises(FileNotFoundError, match="absent"):
        sealstone.open(tmp_path / "absent", keys=BOB, sender="any")
    with pytest.raises(TypeError, match="path"):
        sealstone.open(sealed, io.BytesIO(), keys=BOB, sender="any")  # type: ignore[arg-type]


def test_what_overwrite_replaces(tmp_path: Path) -> None:
    """As the command's --force: behind a link, with the same mode, and never a secret passport."""
    file, link, pipe, secret = (tmp_path / name for name in ("file", "link", "pipe", "secret"))
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to("file")
    seal(b"new", link, to=BOB.public, overwrite=True)
    assert link.is_symlink() and sealstone.open(file, keys=BOB, sender="any").content == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileExistsError):
        seal(b"newer", link, to=BOB.public)
    os.mkfifo(pipe)
    BOB.save(secret, "correct horse", profile=(7168, 5, 1))
    for path, why in ((pipe, "not a file"), (tmp_path, "not a file"), (secret, "secret passport")):
        with pytest.raises(ValueError, match=why):
            seal(b"new", path, to=BOB.public, overwrite=True)
        with pytest.raises(ValueError, match=why):
            sign(BOB, embed={"a": b""}).save(path, overwrite=True)
    assert pipe.is_fifo() and secret.read_bytes().startswith(b"-----BEGIN")


def test_a_target_that_takes_no_more() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with open(reading, "rb"), open(writing, "wb", buffering=0) as target, pytest.raises(BlockingIOError):
        seal(data(3_000_000), target, to=BOB.public)


def test_a_mapped_file_is_a_buffer() -> None:
    mapped = mmap.mmap(-1, 1000)
    mapped.write(b"a" * 1000)
    sealed = seal(mapped, to=BOB.public)
    assert sealstone.open(sealed, mapped, keys=BOB, sender="any").length == 1000
    assert mapped[:] == b"a" * 1000


def test_the_text_of_a_passport_is_in_no_message() -> None:
    locked = BOB.lock("correct horse", profile=(7168, 5, 1))
    with pytest.raises(ValueError, match="not a path") as raised:
        Passport.unlock(locked, "correct horse")
    assert locked.splitlines()[1] not in str(raised.value)


def test_a_pipe_of_this_process_is_read(tmp_path: Path) -> None:
    """Other threads go on while a passport is read."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(BOB.public.text))
    writer.start()
    assert PublicPassport.load(path) == BOB.public
    writer.join()


def test_passports_of_the_wrong_kind() -> None:
    with pytest.raises(TypeError, match="to takes PublicPassport, not Passport: use its attribute public"):
        seal(b"", to=BOB)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="keys takes Passport, not PublicPassport"):
        sealstone.open(b"", keys=BOB.public, sender="any")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="signers takes PublicPassport, not str"):
        sign(BOB, embed={"a": b""}).verify(signers="ab")  # type: ignore[arg-type]


def test_the_facts_of_a_file_do_not_change() -> None:
    with SealedFile(seal(b"text", to=BOB.public, name="a"), keys=BOB, sender="unsigned") as file:
        facts = file.facts
        for it, name in ((file, "facts"), (facts, "content"), (facts, "sender")):
            with pytest.raises(AttributeError):
                setattr(it, name, 3)
        assert file.facts is facts and (facts.name, facts.length) == ("a", 4)


def test_progress_of_short_work_and_of_verifying(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def enough(done: int, total: int) -> None:
        raise Enough

    target = tmp_path / "sealed"
    with pytest.raises(Enough):
        seal(b"short", target, to=BOB.public, progress=enough)
    assert not target.exists()
    sealed, seen = seal(data(3_000_000), to=BOB.public, sender=ALICE), list[tuple[int, int]]()
    SealedFile(sealed, keys=BOB, sender=ALICE.public, progress=lambda *at: seen.append(at)).close()
    assert seen and seen[-1][0] >= 3_000_000
    with pytest.raises(Enough):
        SealedFile(sealed, keys=BOB, sender=ALICE.public, progress=enough)


def test_failures_have_fields() -> None:
    sealed = seal(b"text" * 1000, to=BOB.public, sender=ALICE)
    with pytest.raises(errors.NotARecipient):
        sealstone.open(sealed, keys=EVE, sender="any")
    for accepted, status in [(EVE.public, "another"), ("unsigned", "signed")]:
        with pytest.raises(errors.SenderNotApproved) as caught:
            sealstone.open(sealed, keys=BOB, sender=accepted)  # type: ignore[arg-type]
        assert (caught.value.fingerprint, caught.value.status) == (ALICE.fingerprint, status)
        assert caught.value.passport == ALICE.public
        assert ALICE.fingerprint in str(caught.value)
        assert {"another": "not by the passport that was named", "signed": "only unsigned files"}[status] in str(caught.value)
    with pytest.raises(errors.SenderNotApproved) as caught:
        sealstone.open(seal(b"text", to=BOB.public), keys=BOB, sender=ALICE.public)
    assert (caught.value.fingerprint, caught.value.status, caught.value.passport) == (None, "unsigned", None)
    with pytest.raises(errors.Altered) as altered:
        sealstone.open(sealed[:-1] + bytes([sealed[-1] ^ 1]), keys=BOB, sender="any")
    assert altered.value.part == "trailer"
    assert pickle.loads(pickle.dumps(altered.value)).part == "trailer"
    with pytest.raises(errors.Malformed) as malformed:
        sealstone.open(b"\x89nothing of ours, but long enough", keys=BOB, sender="any")
    assert malformed.value.what
    with pytest.raises(ValueError, match="recipient"):
        seal(b"text")
    for read in (sealstone.open, SealedFile):
        with pytest.raises(ValueError, match="give keys, a passphrase, or both"):
            read(sealed, sender="any")


@pytest.mark.parametrize("position", range(0, 3000, 37))
def test_every_changed_bit_is_noticed(position: int) -> None:
    sealed = bytearray(seal(b"short", to=BOB.public, sender=ALICE))
    sealed[position % len(sealed)] ^= 0x10
    with pytest.raises(errors.SealstoneError):
        sealstone.open(sealed, keys=BOB, sender=ALICE.public)


def test_passphrases(tmp_path: Path) -> None:
    sealed = seal(b"text", passphrase="grüße und küsse", profile=(7168, 5, 1))
    assert sealstone.open(sealed, passphrase="grüße und küsse".encode(), sender="unsigned").content == b"text"
    with pytest.raises(errors.WrongPassphrase):
        sealstone.open(sealed, passphrase="wrong", sender="unsigned")
    with pytest.raises(ValueError, match="7168"):
        seal(b"text", passphrase="x", profile=(8, 1, 1))
    with pytest.raises(ValueError, match="profile"):
        seal(b"text", passphrase="x", profile="weak")  # type: ignore[call-overload]
    assert ["passphrase" in line for line in sealstone.recipients(sealed)] == [True]


def test_passports_on_disk_on_paper_and_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "alice.passport"
    ALICE.save(path, "correct horse", profile=(7168, 5, 1))
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        ALICE.save(path, "correct horse", profile=(7168, 5, 1))
    for source in (path, str(path), path.read_bytes()):
        with Passport.unlock(source, "correct horse") as same:
            assert (same.fingerprint, same.label, same.created) == (ALICE.fingerprint, "Alice", ALICE.created)
            assert same.public is same.public, "it is signed once"
        assert same.closed
        with pytest.raises(ValueError, match="wiped"):
            same.public
        with pytest.raises(ValueError, match="wiped"):
            same.words()
        with pytest.raises(ValueError, match="wiped"):
            seal(b"text", to=BOB.public, sender=same)
    with pytest.raises(errors.WrongPassphrase):
        Passport.unlock(path, "wrong horse")
    assert Passport.from_words(ALICE.words(), "again").fingerprint == ALICE.fingerprint
    with pytest.raises(ValueError, match="word 1"):
        Passport.from_words("xyzzy " * 24, "again")
    public = PublicPassport.load(ALICE.public.text.encode())
    assert public == ALICE.public and hash(public) == hash(ALICE.public) and public != BOB.public
    with pytest.raises(errors.SealstoneError):
        PublicPassport.load(ALICE.public.text.replace("A", "B", 1).encode()[:-200])


def test_no_secret_is_shown() -> None:
    words = ALICE.words().split()
    shown = repr(ALICE) + str(ALICE)
    assert ALICE.fingerprint in shown and words[3] not in shown
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(ALICE)
    with pytest.raises(AttributeError):
        ALICE.label = "Eve"  # type: ignore[misc]


def test_a_trust_store_decides(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust")
    sealed = seal(b"text", to=BOB.public, sender=ALICE)

    def status() -> str:
        try:
            assert sealstone.open(sealed, keys=BOB, sender=store).sender == ALICE.public
        except errors.SenderNotApproved as refused:
            return refused.status
        return "approved"

    assert status() == store.status(ALICE.public) == "unknown"
    store.approve(ALICE.public, note="by phone")
    assert status() == "approved"
    assert [row[:4] for row in store.rows()] == [(ALICE.fingerprint, "approved", "Alice", "by phone")]
    TrustStore(tmp_path / "trust").deny(ALICE.public)
    assert status() == "denied"
    store.revoke(ALICE.public, since=ALICE.created)
    assert status() == store.status(ALICE.public) == "revoked"
    with pytest.raises(ValueError):
        store.approve(ALICE.public)
    log = tmp_path / "trust" / "log"
    whole = log.read_bytes()
    log.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(errors.StoreAltered) as altered:
        TrustStore(tmp_path / "trust")
    assert altered.value.what


def test_progress_counts_bytes_and_cancels(tmp_path: Path) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            threading.Event().wait(0.03)
            return super().read(size)

    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 3:
            raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        seal(Slow(data(100 << 20)), tmp_path / "sealed", to=BOB.public, progress=progress)
    assert len(seen) == 3 and seen == sorted(seen)
    assert os.listdir(tmp_path) == []


def test_progress_cancels_key_derivations() -> None:
    """Each would take hours."""
    long = (1 << 16, 1_000_000, 1)
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        ALICE.lock("passphrase", profile=long, progress=progress)
    with pytest.raises(InterruptedError, match="enough"):
        seal(b"text", passphrase="passphrase", profile=long, progress=progress)
    assert len(seen) == 2 and all(0 < done < total and total > 65 * 10**9 for done, total in seen)


def test_exceptions_of_file_objects_come_through() -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            raise LookupError("the disk is gone")

        def write(self, data: Any, /) -> int:
            raise LookupError("the disk is gone")

    class Greedy:
        def read(self, size: int, /) -> bytes:
            return bytes(size + 1)

    with pytest.raises(LookupError, match="the disk is gone"):
        seal(Broken(), to=BOB.public)
    with pytest.raises(LookupError, match="the disk is gone"):
        seal(b"text", Broken(), to=BOB.public)
    with pytest.raises(OSError, match="more bytes"):
        seal(Greedy(), to=BOB.public)
    for wrong in (3, None, [1]):
        with pytest.raises(TypeError):
            seal(wrong, to=BOB.public)  # type: ignore[call-overload]


def test_the_lock_is_given_up() -> None:
    content = data(64 << 20)
    assert threads_go_on(lambda: seal(content, to=BOB.public, sender=ALICE))


# Random access.


@pytest.fixture(params=["bytes", "path", "object", "armor"])
def sealed_file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SealedFile]:
    sealed = seal(data((3 << 20) + 5), to=BOB.public, sender=ALICE, name="n", armor=request.param == "armor")
    source: Any = sealed
    if request.param == "path":
        source = tmp_path / "sealed"
        source.write_bytes(sealed)
    if request.param == "object":
        source = io.BytesIO(sealed)
    with SealedFile(source, keys=BOB, sender=ALICE.public) as file:
        yield file


def test_raw_file(sealed_file: SealedFile) -> None:
    """As CPython's test_io.py asks it of FileIO and BytesIO."""
    file, content = sealed_file, data((3 << 20) + 5)
    assert isinstance(file, io.RawIOBase)
    assert (file.readable(), file.writable(), file.seekable(), file.closed) == (True, False, True, False)
    assert file.facts == (None, ALICE.public, "n", None, None, len(content))
    assert file.read(5) == content[:5] and file.tell() == 5
    assert file.seek(0) == 0 and file.read() == content and file.read() == b"" and file.read(5) == b""
    assert file.seek(-3, io.SEEK_END) == len(content) - 3
    assert file.read(100) == content[-3:]
    assert file.seek(10) == 10 and file.seek(5, io.SEEK_CUR) == 15 and file.seek(-5, 1) == 10
    buffer = bytearray(b"." * 20)
    assert file.readinto(buffer) == 20 and buffer == content[10:30]
    assert file.readinto(memoryview(buffer)[5:10]) == 5
    assert file.seek((1 << 20) - 3) and file.read(8) == content[(1 << 20) - 3 :][:8]
    assert file.seek(len(content) + 50) == len(content) + 50 and file.read(1) == b"" and file.readinto(buffer) == 0
    assert file.seek(0) == 0 and file.readline() == content.splitlines(True)[0]
    assert file.seek(0) == 0 and file.readall() == content
    for offset, whence in [(-1, 0), (-len(content) - 1, 2), (0, 3)]:
        with pytest.raises(ValueError):
            file.seek(offset, whence)
    with pytest.raises(io.UnsupportedOperation):
        file.write(b"x")
    with pytest.raises(io.UnsupportedOperation):
        file.truncate()
    with pytest.raises(io.UnsupportedOperation):
        file.fileno()
    with pytest.raises(TypeError):
        file.seek("0")  # type: ignore[arg-type]
    assert not file.isatty()
    file.close()
    file.close()
    for call in (file.read, file.tell, file.readable, lambda: file.seek(0), lambda: file.readinto(buffer)):
        with pytest.raises(ValueError, match="closed file"):
            call()


def test_buffered_and_text_layers(sealed_file: SealedFile) -> None:
    content = data((3 << 20) + 5)
    buffered = io.BufferedReader(sealed_file)
    assert buffered.peek(1)[:1] == content[:1]
    assert buffered.read() == content
    buffered.seek(0)
    text = io.TextIOWrapper(buffered, encoding="latin1", newline="")
    assert text.read(300) == content[:300].decode("latin1")


def test_readers_of_random_access() -> None:
    import pandas  # type: ignore[import-untyped]
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import parquet

    frame = pandas.DataFrame({"a": range(10_000), "b": [str(n) for n in range(10_000)]})
    columns, table = io.BytesIO(), frame.to_csv(index=False).encode()
    parquet.write_table(pyarrow.Table.from_pandas(frame), columns)
    with SealedFile(seal(table, to=BOB.public), keys=BOB, sender="unsigned") as file:
        assert pandas.read_csv(file, dtype={"b": str}).equals(frame)
    with SealedFile(seal(columns.getvalue(), to=BOB.public), keys=BOB, sender="unsigned") as file:
        assert parquet.read_table(file).to_pandas().equals(frame)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("table.csv", table)
    with SealedFile(seal(archive.getvalue(), to=BOB.public), keys=BOB, sender="unsigned") as file:
        assert zipfile.ZipFile(file).read("table.csv") == table


def test_a_file_that_changes_after_it_was_verified(tmp_path: Path) -> None:
    path = tmp_path / "sealed"
    path.write_bytes(seal(data(3 << 20), to=BOB.public, sender=ALICE))
    with SealedFile(path, keys=BOB, sender=ALICE.public) as file:
        changed = bytearray(path.read_bytes())
        changed[2 << 20] ^= 1
        path.write_bytes(changed)
        with pytest.raises(errors.Altered):
            file.read()
        with pytest.raises(errors.Altered):
            SealedFile(path, keys=BOB, sender=ALICE.public)


def test_threads_share_one_sealed_file() -> None:
    """The source calls Python: a lock that is held with Python's lock would never be given up."""
    content = data(4 << 20)
    with SealedFile(io.BytesIO(seal(content, to=BOB.public)), keys=BOB, sender="unsigned") as file:
        reader = file._check()
        wrong: list[int] = []

        def work(first: int) -> None:
            for position in range(first, len(content), 300_007):
                reader.facts()
                if reader.read_at(position, 1000) != content[position : position + 1000]:
                    wrong.append(position)

        threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
