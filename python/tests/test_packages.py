"""Packages: signing, the six layers, hostile input, evidence."""

import asyncio
import hashlib
import io
import json
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sealstone import Passport, TrustStore, errors
from sealstone._types import Buffer
from sealstone.packages import Package, sign
from turns import threads_go_on

ALICE, BOB, EVE = (Passport.generate(name) for name in ("Alice", "Bob", "Eve"))
FILES = {"a.txt": b"alpha", "dir/b.bin": bytes(range(256)) * 4096}
KEY, SECRET = b"k" * 32, b"s" * 40
NAMES = ["content", "hmac", "ed25519", "ml-dsa-65", "keys", "timestamp"]


def tree(root: Path) -> Path:
    (root / "dir").mkdir(parents=True)
    for name, content in FILES.items():
        (root / name).write_bytes(content)
    (root / "link").symlink_to("a.txt")
    return root


def verdicts(package: Package, **options: Any) -> list[str]:
    return [it.verdict for it in package.report(**options).layers]


async def key_into(package: Package, into: Buffer | None) -> bytes | int:
    """mypy accepts a function that forwards its buffer, also through another one."""
    return await asyncio.to_thread(package.derived_key, SECRET, "database", into=into)


def test_what_a_package_says() -> None:
    package = sign(
        ALICE,
        FILES,
        embed={"note.txt": b"hello"},
        author="Alice Example",
        media_type="text/plain",
        policy={"use": ["research"], "n": 1.0},
        metadata={"b": "\u20ac", "a": 1},
        cosigners=BOB.public,
        threshold=1,
        time=1_790_000_000,
    )
    assert package.signers == (ALICE.fingerprint, BOB.fingerprint)
    assert (package.threshold, package.required, package.time) == (1, (), 1_790_000_000)
    assert (package.author, package.digest, package.complete) == ("Alice Example", "sha3-256", False)
    assert package.policy == {"use": ["research"], "n": 1} and package.metadata == {"a": 1, "b": "\u20ac"}
    assert package.signatures == ((ALICE.fingerprint, "signer", 1_790_000_000),)
    assert package.layers == ("content", "ed25519", "ml-dsa-65") and package.timestamps == ()
    assert [it.path for it in package.files] == ["a.txt", "dir/b.bin", "note.txt"]
    # The digests are those of hashlib.
    everything = FILES | {"note.txt": b"hello"}
    for file in package.files:
        content = everything[file.path]
        assert (file.size, file.digest) == (len(content), hashlib.sha3_256(content).digest())
        assert (file.embedded, file.target, file.media_type) == (file.path == "note.txt", None, "text/plain")
    assert package.embedded("note.txt") == b"hello"
    with pytest.raises(KeyError):
        package.embedded("a.txt")
    assert repr(package) == "<Package, 3 files, 1 of 1 signatures, not verified>"


@pytest.mark.parametrize("digest", ["sha3-256", "skein-tree"])
def test_sources_of_content(tmp_path: Path, digest: Any) -> None:
    """Memory, paths, file objects and a directory give one manifest."""
    root = tree(tmp_path / "root")
    forms: list[Any] = [
        FILES,
        {name: bytearray(content) for name, content in FILES.items()},
        {name: root / name for name in FILES},
        {name: str(root / name) for name in FILES},
        {name: io.BytesIO(content) for name, content in FILES.items()},
    ]
    packages = [sign(ALICE, form, digest=digest, time=5) for form in forms]
    assert len({package.files for package in packages}) == 1
    for form in forms[:-1]:
        assert packages[0].verify(form, signers=ALICE.public)
    fresh = {name: io.BytesIO(content) for name, content in FILES.items()}
    assert packages[0].verify(fresh, signers=ALICE.public)
    assert packages[0].verify(root, signers=ALICE.public)


def test_a_directory_is_complete(tmp_path: Path) -> None:
    root = tree(tmp_path / "root")
    package = sign(ALICE, root)
    assert package.complete and package.verify(str(root), signers=ALICE.public)
    assert {it.path: it.target for it in package.files} == {"a.txt": None, "dir/b.bin": None, "link": "a.txt"}
    assert all(it.modified is not None for it in package.files)
    assert all(it.modified is None for it in sign(ALICE, root, times=False).files)
    # The package itself may stand in the directory.
    stored = root / "all.package"
    package.save(stored)
    assert package.verify(root, signers=ALICE.public)
    assert Package.load(stored).verify(root, signers=ALICE.public)
    assert sign(ALICE, root, exclude=stored).files == package.files
    (root / "more").write_bytes(b"")
    (root / "a.txt").write_bytes(b"alphA")
    (root / "dir/b.bin").unlink()
    report = Package.load(stored).report(root, signers=ALICE.public)
    found = [("a.txt", "altered"), ("dir/b.bin", "missing"), ("more", "additional")]
    assert [(it.path, it.kind) for it in report.findings] == found
    assert report.reason == "content: a.txt: altered, and 2 more"


def test_storing(tmp_path: Path) -> None:
    package = sign(ALICE, FILES)
    path = tmp_path / "p.package"
    package.save(path)
    stored = path.read_bytes()
    assert stored == package.to_bytes()
    with pytest.raises(FileExistsError):
        package.save(path)
    package.save(path, overwrite=True)
    for source in (path, str(path), stored, bytearray(stored), io.BytesIO(stored)):
        assert Package.load(source) == package
    assert pickle.loads(pickle.dumps(package)) == package and hash(package) == hash(Package.load(path))
    assert package != sign(BOB, FILES) and package != 1
    with pytest.raises(FileNotFoundError):
        Package.load(tmp_path / "none")
    with pytest.raises(TypeError, match="native"):
        Package()  # type: ignore[call-arg]


def test_layers_and_keys() -> None:
    package = sign(ALICE, embed=FILES, hmac_key=KEY, secret=SECRET, require=["hmac"])
    assert [it.name for it in package.report().layers] == NAMES
    good, unchecked, absent = "good", "unchecked", "absent"
    assert verdicts(package) == [good, unchecked, good, good, unchecked, absent]
    assert verdicts(package, hmac_key=KEY, secret=SECRET) == [good, good, good, good, good, absent]
    assert verdicts(package, hmac_key=b"x" * 32, secret=b"x" * 32)[1::3] == ["bad", "bad"]
    with pytest.raises(errors.NotVerified, match="hmac: no key was given"):
        package.verify(signers=ALICE.public)
    plain = sign(ALICE, embed=FILES)
    assert verdicts(plain, hmac_key=KEY, secret=SECRET)[1::3] == ["bad", "bad"]
    assert package.verify(signers=ALICE.public, hmac_key=KEY)
    with pytest.raises(errors.NotVerified, match="timestamp: you require it"):
        package.verify(signers=ALICE.public, hmac_key=KEY, require=["timestamp"])
    key = package.derived_key(SECRET, "database")
    room = bytearray(40)
    assert package.derived_key(SECRET, "database", into=room) == 32 and room == key + bytes(8)
    assert asyncio.run(key_into(package, None)) == key and asyncio.run(key_into(package, room)) == 32
    with pytest.raises(ValueError, match="32 bytes are needed, and the buffer has room for 31"):
        package.derived_key(SECRET, "database", into=bytearray(31))
    with pytest.raises(TypeError, match="read-only"):
        package.derived_key(SECRET, "database", into=bytes(32))
    assert len(key) == 32 and key == package.derived_key(SECRET, "database") != package.derived_key(SECRET, "x")
    with pytest.raises(errors.Altered):
        package.derived_key(KEY, "database")
    for label in ("", "x" * 256):
        with pytest.raises(ValueError, match="1 to 255 bytes"):
            package.derived_key(SECRET, label)
    own = sign(ALICE, embed=FILES, hmac_key=ALICE, require=["hmac"])
    assert own.verify(signers=ALICE.public, hmac_key=ALICE)
    with pytest.raises(errors.NotVerified):
        own.verify(signers=ALICE.public, hmac_key=BOB)


def test_signers() -> None:
    package = sign(ALICE, FILES, cosigners=[BOB.public])
    with pytest.raises(errors.NotVerified, match="has not signed"):
        package.verify(FILES, signers=[ALICE.public, BOB.public])
    with pytest.raises(errors.NotVerified, match="1 of 2 required signatures count"):
        package.verify(FILES, signers=ALICE.public)
    with pytest.raises(ValueError, match="does not name this passport"):
        package.cosign(EVE, FILES)
    with pytest.raises(ValueError, match="signed the package already"):
        package.cosign(ALICE, FILES)
    with pytest.raises(errors.NotVerified, match="it was not signed"):
        package.cosign(BOB)
    with pytest.raises(errors.NotVerified, match="a.txt: altered; it was not signed"):
        package.cosign(BOB, FILES | {"a.txt": b"omega"})
    both = package.cosign(BOB, FILES)
    assert len(package.signatures) == 1 and len(both.signatures) == 2
    assert both.verify(FILES, signers=[ALICE.public, BOB.public])
    seen = both.countersign(EVE, FILES, time=7)
    report = seen.verify(FILES, signers=[ALICE.public, BOB.public])
    assert [(it.role, it.counts) for it in report.signers] == [("signer", True)] * 2 + [("counter-signer", False)]
    with pytest.raises(errors.NotVerified, match="only counter-signed|is not a signer"):
        seen.verify(FILES, signers=[ALICE.public, BOB.public, EVE.public])
    with pytest.raises(errors.NotVerified, match="0 of 2"):
        both.verify(FILES)


def test_trust(tmp_path: Path) -> None:
    package = sign(ALICE, FILES)
    store = TrustStore(tmp_path / "trust")
    with pytest.raises(errors.NotVerified):
        package.verify(FILES, trust=store)
    store.approve(ALICE.public)
    report = package.verify(FILES, trust=store)
    assert [(it.standing, it.named, it.counts) for it in report.signers] == [("approved", False, True)]
    # Another program decides: the store is read again.
    TrustStore(tmp_path / "trust").deny(ALICE.public)
    with pytest.raises(errors.NotVerified, match="is denied"):
        package.verify(FILES, signers=ALICE.public, trust=store)
    store.revoke(ALICE.public, since=1)
    report = package.report(FILES, signers=ALICE.public, trust=store)
    assert [(it.standing, it.counts) for it in report.signers] in ([("revoked", False)], [("denied", False)])


def test_the_report() -> None:
    package = sign(ALICE, {"<b>&.txt": b"x"}, author="<i>")
    report = package.report({"<b>&.txt": b"y"}, signers=BOB.public)
    assert not report and not report.good
    with pytest.raises(errors.NotVerified) as raised:
        package.verify({"<b>&.txt": b"y"}, signers=BOB.public)
    assert raised.value.report == report and str(raised.value) == report.reason
    html = report._repr_html_()
    assert "<td>&lt;b&gt;&amp;.txt</td>" in html and "<b>" not in html
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["verdict"] == "bad" and list(plain["layers"]) == NAMES
    assert plain["findings"] == [{"path": "<b>&.txt", "kind": "altered"}]
    assert str(report).endswith(f"BAD: {report.reason}")
    assert report.layer("ed25519").verdict == "good"
    with pytest.raises(KeyError):
        report.layer("ed448")
    with pytest.raises(AttributeError):
        report.good = True  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(report)) == report


def test_every_byte_of_a_package_counts() -> None:
    """A changed byte anywhere is malformed, or the package is bad."""
    files = {"a.txt": b"alpha"}
    stored = sign(ALICE, files, policy={"a": 1}, hmac_key=KEY).to_bytes()
    step = 23
    for place in range(0, len(stored), step):
        changed = bytearray(stored)
        changed[place] ^= 1 << (place // step % 8)
        try:
            report = Package.load(changed).report(files, signers=ALICE.public, hmac_key=KEY)
        except (errors.Malformed, errors.Unsupported):
            continue
        assert not report, f"byte {place}"
    for cut in range(0, len(stored), 97):
        with pytest.raises(errors.SealstoneError):
            Package.load(stored[:cut])


@pytest.mark.parametrize("hostile", [b"", b"\x89PACK", b"\x89PACK\r\n\x1a\n\x02", b"\x89PACK\r\n\x1a\n\x01" + b"\x9f" * 5000])
def test_hostile_packages(hostile: bytes) -> None:
    with pytest.raises((errors.Malformed, errors.Unsupported)) as raised:
        Package.load(hostile)
    assert str(raised.value).startswith(("malformed: ", "not a package", "made by a newer version: "))


def test_arguments_that_are_refused(tmp_path: Path) -> None:
    hostile = ["", "/etc/passwd", "../up", "a/../b", "a//b", "a\0b", "a\nb", "./a", "a/"]
    for name in hostile:
        with pytest.raises(ValueError):
            sign(ALICE, {name: b""})
        with pytest.raises(ValueError):
            sign(ALICE, embed={name: b""})
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"digest": "md5"}, "skein-tree"),
        ({"author": "a\nb"}, "one line"),
        ({"media_type": "text"}, "type/subtype"),
        ({"metadata": [1]}, "JSON object"),
        ({"policy": 2**60}, "2\\^53"),
        ({"policy": float("nan")}, "JSON compliant"),
        ({"threshold": 2}, "signers"),
        ({"threshold": 0}, "signers"),
        ({"cosigners": ALICE.public}, "signers"),
        ({"require": ["hmac"]}, "needs a key"),
        ({"require": ["keys"]}, "needs a secret"),
        ({"require": ["sha1"]}, "the layers are"),
        ({"hmac_key": b"short"}, "32 to 1024"),
        ({"secret": b"short"}, "32 to 1024"),
    ]
    for wrong, text in wrongs:
        with pytest.raises(ValueError, match=text):
            sign(ALICE, FILES, **wrong)
    with pytest.raises(ValueError, match="two files have one path"):
        sign(ALICE, {"a": b"", "A": b""})
    with pytest.raises(TypeError, match="a.txt: a bytes-like object is required, not 'int'"):
        sign(ALICE, {"a.txt": 5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="a directory or a mapping"):
        sign(ALICE, b"bytes")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        sign(ALICE, tmp_path / "none")
    with pytest.raises(ValueError, match="the layers are"):
        sign(ALICE, FILES).report(require=["sha1"])  # type: ignore[list-item]
    closed = Passport.generate("Closed")
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        sign(closed, FILES)
    (tmp_path / "root").mkdir()
    subprocess.run(["mkfifo", str(tmp_path / "root/pipe")], check=True)
    with pytest.raises(ValueError, match="pipe: neither a file nor a link"):
        sign(ALICE, tmp_path / "root")


def test_files_that_fail() -> None:
    class Broken:
        def read(self, size: int = -1, /) -> bytes:
            raise LookupError("the disk is gone")

    package = sign(ALICE, {"a": b"x"})
    with pytest.raises(LookupError, match="the disk is gone"):
        sign(ALICE, {"a": Broken()})
    with pytest.raises(LookupError, match="the disk is gone"):
        package.report({"a": Broken()})


def test_the_keys_of_a_report_in_json() -> None:
    """Those of the library's JSON, which the command prints, but for what `to_dict` says."""
    source = (Path(__file__).parents[2] / "crates/sealstone/src/package/report.rs").read_text(encoding="utf-8")

    def keys(after: str) -> set[str]:
        body = source.split(after)[1].split("json!({\n")[1].split("})")[0]
        return set(re.findall(r'^ *"(\w+)": ', body, re.MULTILINE))

    report = sign(ALICE, {"a": b"x"}).report({"a": b"y"}).to_dict()
    top, signer, layer = keys("impl Report {"), keys("impl SignerReport {"), keys("fn layer(")
    assert "verdict" in top and "fingerprint" in signer and "required" in layer
    assert set(report) == top | {"timestamps"}
    assert set(report["signers"][0]) == signer | {"standing", "since"}
    assert {frozenset(it) for it in report["layers"].values()} == {frozenset(layer)}
    assert set(report["findings"][0]) == set(re.findall(r'json!\(\{"(path)": it.path, "(kind)"', source)[0])


def test_progress_and_cancelling() -> None:
    content = {"big": bytes(64 << 20)}
    seen: list[tuple[int, int]] = []
    package = sign(ALICE, content, progress=lambda done, total: seen.append((done, total)))
    assert seen and all(done <= total == 64 << 20 for done, total in seen)

    def cancel(done: int, total: int) -> None:
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        sign(ALICE, content, progress=cancel)
    with pytest.raises(InterruptedError, match="enough"):
        package.report(content, progress=cancel)


def test_the_lock_is_given_up() -> None:
    content = {"big": bytes(64 << 20)}
    assert threads_go_on(lambda: sign(ALICE, content).verify(content, signers=ALICE.public))


def test_evidence(tmp_path: Path) -> None:
    package = sign(ALICE, FILES, embed={"note.txt": b"hello"}, policy={"a": 1})
    evidence = package.evidence(package.report(FILES))
    assert evidence["policy.json"] == b'{"a":1}' and evidence["content/note.txt"] == b"hello"
    digest = hashlib.sha3_256(package.to_bytes()).hexdigest()
    assert evidence["package.sha3-256"].decode() == digest + "\n"
    lines = evidence["files.txt"].decode().splitlines()
    assert lines[0] == f"{hashlib.sha3_256(b'alpha').hexdigest()}  a.txt"
    target = tmp_path / "evidence"
    package.export(target)
    written = {str(it.relative_to(target)): it.read_bytes() for it in target.rglob("*") if it.is_file()}
    assert written == evidence
    with pytest.raises(FileExistsError):
        package.export(target)
    # Ed25519 is checked by OpenSSL.
    command = "openssl pkeyutl -verify -pubin -inkey ed25519.pem -rawin -in framed -sigfile ed25519.sig"
    subprocess.run(command.split(), cwd=target / "signature-1", check=True, capture_output=True)


def test_a_package_does_not_change() -> None:
    package = sign(ALICE, embed={"a": b""}, metadata={"a": 1}, policy={"b": 2})
    with pytest.raises(AttributeError, match="does not change"):
        package.files = ()
    assert package.metadata is not None
    package.metadata["a"] = 2
    package.policy["b"] = 3
    assert (package.metadata, package.policy) == ({"a": 1}, {"b": 2})
