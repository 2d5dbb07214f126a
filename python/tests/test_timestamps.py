"""Timestamps: published responses, an authority of OpenSSL, renewals, hostile input."""

import array
import asyncio
import contextlib
import io
import mmap
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy
import pytest

from sealstone import Passport, aio, errors, timestamps
from sealstone.packages import Package, sign
from sealstone.timestamps import Roots

PUBLISHED = Path(__file__).parents[2] / "crates/sealstone/tests/timestamp/vectors"
ALICE = Passport.generate("Alice")
Answer = Callable[[bytes], bytes]

CONFIG = """
[tsa]
default_tsa = only
[only]
serial = {root}/serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4
digests = sha256, sha384, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
certs = {root}/tsa.pem
"""


def published(name: str) -> bytes:
    return (PUBLISHED / name).read_bytes()


@pytest.mark.parametrize("bits", [256, 384, 512])
def test_published_responses(bits: int) -> None:
    roots = Roots.load(PUBLISHED / "sigstage/ts_chain.pem")
    response = published(f"sigstage/response-sha{bits}.tsr")
    for data in (b"hello", bytearray(b"hello"), io.BytesIO(b"hello")):
        (found,) = timestamps.verify(data, response, roots)
    assert found.hash.replace("-", "").lower() == f"sha{bits}"
    assert datetime(2024, 1, 1, tzinfo=timezone.utc) < found.time < datetime(2026, 11, 1, tzinfo=timezone.utc)
    assert found.time_ns // 10**9 == int(found.time.timestamp()) and found.expires > found.time.timestamp()
    assert len(found.path) >= 2 and found.path[0].subject == found.authority
    assert found.to_dict()["path"][0] == found.authority


@pytest.mark.parametrize(
    "name, data, check",
    [
        ("sigstage/response-sha256.tsr", b"hello!", "imprint"),
        ("sigstage/response-invalid-signature.tsr", b"hello", "signature"),
    ],
)
def test_refusals(name: str, data: bytes, check: str) -> None:
    roots = Roots.load(PUBLISHED / "sigstage/ts_chain.pem")
    with pytest.raises(errors.TimestampRefused) as raised:
        timestamps.verify(data, published(name), roots)
    assert (raised.value.name, raised.value.at) == (check, 0) and str(raised.value)


def test_one_response_is_bytes_like(tmp_path: Path) -> None:
    roots, response = Roots.load(PUBLISHED / "sigstage/ts_chain.pem"), published("sigstage/response-sha256.tsr")
    file = tmp_path / "response"
    file.write_bytes(response)
    with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        several: list[Any] = [array.array("B", response), numpy.frombuffer(response, dtype=numpy.uint8), memoryview(response), mapped]
        for one in several:
            assert timestamps.verify(b"hello", one, roots) == timestamps.verify(b"hello", [response], roots)
            assert timestamps.renewal(b"hello", one)
            assert timestamps.verify(b"hello", [one], roots)
    with pytest.raises(TypeError):
        timestamps.verify(b"hello", 3, roots)  # type: ignore[arg-type]


def test_hostile_responses() -> None:
    roots = Roots.load(PUBLISHED / "sigstage/ts_chain.pem")
    response = published("sigstage/response-sha256.tsr")
    for hostile in (b"", b"\x30", b"\x30\x84\xff\xff\xff\xff", bytes(2 << 20), *(response[:n] for n in range(0, 800, 37))):
        with pytest.raises(errors.TimestampRefused):
            timestamps.verify(b"hello", hostile, roots)
        with pytest.raises(errors.TimestampRefused):
            timestamps.check_answer(hostile, timestamps.request(b"hello"))
    with pytest.raises(errors.TimestampRefused) as raised:
        timestamps.verify(b"hello", [], roots)
    assert raised.value.name == "chain-length"
    with pytest.raises(errors.TimestampRefused) as raised:
        timestamps.verify(b"hello", response, roots, now=1)
    assert raised.value.name == "future"
    with pytest.raises(errors.TimestampRefused) as raised:
        timestamps.verify(b"hello", response, roots, query=timestamps.request(b"hello"))
    assert raised.value.name in ("nonce", "nonce-missing")
    for wrong in (b"", b"no certificate", b"\x30\x03\x02\x01\x01"):
        with pytest.raises(ValueError, match="roots: "):
            Roots.load(wrong)
    with pytest.raises(ValueError, match="sha256"):
        timestamps.request(b"x", hash="md5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="object identifier"):
        timestamps.request(b"x", policy="policy")
    assert len(roots) >= 1 and "trusted" in repr(roots)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Answer, Roots]:
    """An authority made by OpenSSL: what answers requests, and its root."""
    root = tmp_path_factory.mktemp("tsa")
    (root / "tsa.cnf").write_text(CONFIG.format(root=root))
    (root / "serial").write_text("01\n")
    (root / "ext").write_text("extendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=root, check=True, capture_output=True)

    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Root", "-days", "9")
    openssl("req", *new, "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=Authority")
    sign_it = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ext", "-days", "9"]
    openssl("x509", "-req", "-in", "tsa.csr", *sign_it, "-out", "tsa.pem")

    def answer(query: bytes) -> bytes:
        (root / "query").write_bytes(query)
        key = ["-signer", "tsa.pem", "-inkey", "tsa.key", "-chain", "ca.pem"]
        openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", *key, "-out", "answer")
        return (root / "answer").read_bytes()

    return answer, Roots.load(root / "ca.pem")


def test_request_and_renewal(authority: tuple[Answer, Roots]) -> None:
    answer, roots = authority
    query = timestamps.request(b"data", hash="sha512", policy="1.2.3.4")
    assert query != timestamps.request(b"data", hash="sha512", policy="1.2.3.4")
    response = answer(query)
    timestamps.check_answer(response, query)
    with pytest.raises(errors.TimestampRefused):
        timestamps.check_answer(response, timestamps.request(b"data", hash="sha512"))
    (found,) = timestamps.verify(b"data", response, roots, query=query, policy="1.2.3.4")
    assert (found.authority, found.policy, found.accuracy_ns) == ("CN=Authority", "1.2.3.4", 10**9)
    with pytest.raises(errors.TimestampRefused) as raised:
        timestamps.verify(b"data", response, roots, policy="1.2.3.5")
    assert raised.value.name == "policy"
    renewal = answer(timestamps.renewal(b"data", response))
    assert len(timestamps.verify(b"data", [response, renewal], roots)) == 2
    with pytest.raises(errors.TimestampRefused) as raised:
        timestamps.verify(b"other", [response, renewal], roots)
    assert (raised.value.name, raised.value.at) == ("imprint", 1)


def test_a_package_is_stamped(authority: tuple[Answer, Roots]) -> None:
    answer, roots = authority
    package = sign(ALICE, embed={"a": b"x"}, require=["timestamp"])
    with pytest.raises(errors.NotVerified, match="timestamp"):
        package.verify(signers=ALICE.public, roots=roots)
    query = timestamps.request(package.to_stamp())
    stamped = Package.load(package.with_timestamp(answer(query)).to_bytes())
    report = stamped.verify(signers=ALICE.public, roots=roots)
    assert report.timestamps[0].authority == "CN=Authority"
    proved = report.signers[0].proved_time
    assert proved is not None and proved >= package.time
    assert "timestamp-1/root.pem" in stamped.evidence(report)
    assert "timestamp-1/root.pem" not in stamped.evidence()
    with pytest.raises(errors.NotVerified, match="timestamp: no roots were given"):
        stamped.verify(signers=ALICE.public)
    other = sign(ALICE, embed={"a": b"y"}).with_timestamp(stamped.timestamps[0])
    assert other.report(signers=ALICE.public, roots=roots).layer("timestamp").verdict == "bad"
    with pytest.raises(ValueError, match="1 MiB"):
        package.with_timestamp(bytes((1 << 20) + 1))


@pytest.fixture
def server(authority: tuple[Answer, Roots]) -> Iterator[str]:
    answer, _ = authority

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            kind = self.headers["Content-Type"] == "application/timestamp-query"
            response = answer(query) if kind and self.path == "/" else b"no"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(response)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def test_fetch_ends_in_time() -> None:
    """However slowly an authority answers: each byte comes in time, all of them would not."""
    for head in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"):
        stop = threading.Event()

        def answer(connection: socket.socket, head: bytes = head) -> None:
            with connection, contextlib.suppress(OSError):
                connection.sendall(head or b"HTTP/1.1 200 OK\r\nX: ")
                while not stop.wait(0.05):
                    connection.sendall(b"x")

        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=lambda: answer(listening.accept()[0]))
            thread.start()
            begun = time.monotonic()
            with pytest.raises(TimeoutError, match="does not answer within 0.5 seconds"):
                timestamps.fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/", b"query", timeout=0.5)
            assert 0.4 < time.monotonic() - begun < 3
            stop.set()
            thread.join()


def test_fetch(server: str, authority: tuple[Answer, Roots]) -> None:
    query = timestamps.request(b"data")
    fetched = asyncio.run(aio.fetch(f"{server}/", query))
    for response in (timestamps.fetch(f"{server}/", query), fetched):
        assert timestamps.verify(b"data", response, authority[1], query=query)
    with pytest.raises(errors.TimestampRefused):
        timestamps.fetch(f"{server}/other", query)
    with pytest.raises(ValueError, match="http"):
        timestamps.fetch("file:///etc/passwd", query)
