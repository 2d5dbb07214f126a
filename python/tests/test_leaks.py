"""Memory that does not grow, forks, the end of the interpreter, sub-interpreters."""

import contextlib
import os
import subprocess
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import calls
import leaks
import sealstone
from sealstone import Passport, SealedFile, TrustStore, seal
from sealstone.argon2 import PasswordHasher
from sealstone.hashes import Blake2b, Skein512, SkeinTree
from sealstone.packages import sign
from sealstone.tokens import Challenge, IssuerKey, Pending
from turns import threads_go_on

PACKAGES = Path(sealstone.__file__).parent.parent
LEAKS = Path(__file__).with_name("leaks.py")
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


def python(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=timeout)


@LINUX
def test_memory_does_not_grow() -> None:
    # With 100, growth by one block a call would be within the limit.
    calls_of_each = os.environ.get("SEALSTONE_LEAK_CALLS", "120")
    done = python(str(LEAKS), calls_of_each, timeout=36_000)
    assert done.stderr == "" and done.returncode == 0, done.stdout
    assert done.stdout.count(": flat, ") == len(calls.CALLS)


def test_the_list_of_jobs_that_were_done_a_million_times_names_jobs() -> None:
    assert leaks.done() <= set(calls.CALLS)
    lines = leaks.MILLION.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == len(leaks.done())


@LINUX
def test_leaks_are_found() -> None:
    # Two measurements with fewer descriptors than the 1,024 that a process may have.
    done = python(str(LEAKS), "60", *leaks.PLANTED)
    assert done.returncode == len(leaks.PLANTED), done.stdout + done.stderr
    for line, word in zip(done.stdout.splitlines(), ["malloc", "pages", "Python", "descriptors"], strict=True):
        assert word in line


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forks_while_threads_work() -> None:
    """A child can do everything, whatever its parent's threads did when it was made.

    It makes passports of its own: those of its parent are refused.
    """
    stop = threading.Event()

    def work(names: list[str]) -> None:
        while not stop.is_set():
            for name in names:
                calls.CALLS[name]()

    names = [name for name in calls.CALLS if name not in calls.ALONE]
    threads = [threading.Thread(target=work, args=(names[n::3],)) for n in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(6):
            time.sleep(0.05)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    calls.begin_anew()
                    for name in names:
                        calls.CALLS[name]()
                    status = 0
                finally:
                    os._exit(status)
            assert wait(child) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def wait(child: int, seconds: float = 60) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise TimeoutError("the child of a fork does not end")


def test_secrets_of_the_parent(tmp_path: Path) -> None:
    """A child has no pages of its parent's secrets: what needs them says so, the rest works."""
    alice = Passport.generate("Alice")
    file = SealedFile(seal(b"x" * 99, to=alice.public), keys=alice, sender="unsigned")
    store = TrustStore(tmp_path / "trust")
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, pepper=b"pepper")
    stored = hasher.hash("password")
    skein, blake = Skein512(b"a", key=b"k"), Blake2b(b"a", key=b"k")
    issuer = IssuerKey.generate("p384")
    challenge = Challenge("p384", "issuer.example")
    pending = Pending(issuer.public, challenge)

    def refused(call: Callable[[], object], words: str) -> None:
        with pytest.raises(RuntimeError, match=f"stayed in the process that forked.*: {words} here"):
            call()

    def works() -> None:
        refused(alice.words, "unlock the passport")
        refused(lambda: seal(b"x", to=Passport.generate("Bob").public, sender=alice), "unlock the passport")
        refused(lambda: file.read(1), "open the file")
        assert "Alice" in repr(alice)
        alice.close()
        hasher.verify(stored, "password")
        store.approve(Passport.generate("Bob").public)
        assert len(store.rows()) == 1
        assert (len(skein.digest()), len(blake.digest())) == (64, 64)
        [token] = pending.finalize(issuer.issue(pending.request))
        issuer.redeem(token, challenge)

    assert child_of(works) == 0
    assert alice.words() and file.read(1) == b"x"


def child_of(work: Callable[[], None], seconds: float = 60) -> int:
    """The exit status of a forked child that does `work`: 0 if it raised nothing."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return wait(child, seconds)


@contextlib.contextmanager
def again_and_again(work: Callable[[], object]) -> Iterator[None]:
    """Another thread works all the time."""
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            work()

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.1)
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("make", [Skein512, SkeinTree, Blake2b])
def test_a_hash_that_another_thread_uses_at_the_fork(make: Callable[..., Any]) -> None:
    """The child has half of a message: it says so. It has no such thread, and waits for none."""
    busy, part = make(b"begun"), bytes(16 << 20)
    uses: list[Callable[[], object]] = [lambda: busy.update(b"x"), busy.digest, busy.hexdigest, busy.copy]
    uses.append(lambda: busy.verify(b""))

    def works() -> None:
        for use in uses:
            with pytest.raises(RuntimeError, match="when this process was forked: make a new one here"):
                use()
        assert make(b"a").copy().digest() == make(b"a").digest()

    with again_and_again(lambda: busy.update(part)):
        assert child_of(works) == 0
    assert busy.copy().digest() == busy.digest()
    # In a child of a child too; what nobody used at the fork goes on.
    assert child_of(lambda: busy.update(b"x")) == child_of(lambda: os._exit(child_of(busy.digest))) == 0


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_pending_tokens_that_another_thread_finalizes_at_the_fork() -> None:
    """The child does not know how that ended: it says so, and waits for nobody."""
    issuer, challenge = IssuerKey.generate("ristretto255"), Challenge("ristretto255", "issuer.example")
    pending = Pending(issuer.public, challenge, 3000)
    response = issuer.issue_batch(pending.request, 3000)
    uses: list[Callable[[], object]] = [lambda: pending.request, pending.save, lambda: pending.finalize(response)]

    def works() -> None:
        for use in uses:
            with pytest.raises(RuntimeError, match="when this process was forked: make a new one here"):
                use()

    thread = threading.Thread(target=pending.finalize, args=(response,))
    thread.start()
    time.sleep(0.05)
    assert thread.is_alive(), "it was too short"
    assert child_of(works) == 0
    thread.join()
    with pytest.raises(ValueError, match="finalized already"):
        pending.save()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_trust_store_that_another_thread_uses_at_the_fork(tmp_path: Path) -> None:
    store, public = TrustStore(tmp_path / "trust"), Passport.generate("Bob").public

    def works() -> None:
        with contextlib.suppress(RuntimeError):
            store.approve(public)
        assert TrustStore(tmp_path / "trust").status(public) == "approved"

    with again_and_again(lambda: store.approve(public)):
        assert [child_of(works) for _ in range(5)] == [0] * 5


FRESH = """
import os
from sealstone import Passport, timestamps
from sealstone.packages import sign
from sealstone.tokens import Challenge, IssuerKey, Pending
issuer, challenge = IssuerKey.generate("p384"), Challenge("p384", "issuer.example")
def draw():
    pending = Pending(issuer.public, challenge)
    return [Passport.generate("x").fingerprint, timestamps.request(b"x").hex(), pending.request.hex()]
draw()
for _ in range(2):
    if os.fork() == 0:
        print(*draw(), flush=True)
        os._exit(0)
    os.wait()
print(*draw(), flush=True)
"""


def test_children_draw_other_random_numbers() -> None:
    done = python("-W", "ignore", "-c", FRESH)
    assert done.returncode == 0, done.stderr
    drawn = done.stdout.split()
    assert len(drawn) == len(set(drawn)) == 9


ENDING = """
import io, sys, threading, time
sys.path.insert(0, {tests!r})
import calls, sealstone
from sealstone.packages import sign
BIG = bytes(8 << 20)
LONG = [
    lambda: sealstone.seal(io.BytesIO(BIG), to=calls.BOB.public),
    lambda: sign(calls.ALICE, {{"big": BIG}}, progress=lambda done, total: None),
    lambda: calls.hash_secret_raw(b"password", b"s" * 16, 3, 65536, 1, 32, calls.Type.ID),
    lambda: [call() for name, call in calls.CALLS.items() if name not in calls.ALONE and not name.startswith("coroutines")],
]
def work(call):
    while True:
        call()
for call in LONG:
    threading.Thread(target=work, args=(call,), daemon=True).start()
time.sleep({seconds})
"""


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.11, 0.2, 0.3])
def test_the_interpreter_ends_while_threads_work(seconds: float) -> None:
    done = python("-c", ENDING.format(tests=str(LEAKS.parent), seconds=seconds))
    assert (done.returncode, done.stderr) == (0, "")


HEAVY = set("asyncio dataclasses email http inspect json logging re threading typing typing_extensions urllib".split())


def test_an_import_loads_nothing_that_takes_long() -> None:
    """bench/python.py measures the time, 15 ms at most."""
    done = python("-S", "-c", f"import sys; sys.path.append({str(PACKAGES)!r}); import sealstone; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set() and "sealstone._native" in done.stdout


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="there is no lock")
def test_a_lock_that_is_held_is_noticed() -> None:
    assert not threads_go_on(lambda: 3**1_000_000)


SUB = """
try:
    import _interpreters as interpreters
    run = interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
import sealstone
program = '''
try:
    import sealstone
except ImportError as error:
    print(error, flush=True)
'''
for _ in range(2):
    run(interpreters.create(), program)
print(len(sealstone.seal(b"x", to=sealstone.Passport.generate("A").public)) > 100)
"""


def test_sub_interpreters_are_refused() -> None:
    done = python("-c", SUB)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("use threads or processes instead of sub-interpreters") == 2
    assert done.stdout.endswith("True\n")
