"""passlib, Django and werkzeug with `sealstone.argon2`, as docs/from-argon2-cffi.md shows them."""

import subprocess
import sys
import threading
from typing import Any

from test_docstrings import PYTHON, python_blocks

PAGE = PYTHON / "docs/from-argon2-cffi.md"

PASSLIB = """
import sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from passlib.hash import argon2

hasher = argon2.using(type="ID", rounds=1, memory_cost=1024, parallelism=1)
stored = hasher.hash("correct horse")
assert stored.startswith("$argon2id$v=19$m=1024,t=1,p=1$"), stored
assert argon2.verify("correct horse", stored)
assert not argon2.verify("battery staple", stored)
assert argon2.using(rounds=3, memory_cost=1024).needs_update(stored)
assert sys.modules["argon2"].PasswordHasher.__module__ == "sealstone.argon2._hasher"
assert sys.modules["argon2"].PasswordHasher().verify(stored, "correct horse")
"""

DJANGO = """
from django.conf import settings
settings.configure(PASSWORD_HASHERS=PASSWORD_HASHERS)
from django.contrib.auth.hashers import check_password, identify_hasher, make_password

stored = make_password("correct horse")
assert stored.startswith("argon2$argon2id$v=19$m=102400,t=2,p=8$"), stored
assert check_password("correct horse", stored)
assert not check_password("battery staple", stored)
assert identify_hasher(stored).safe_summary(stored)["memory cost"] == 102400

# The password of an earlier user is hashed anew at the login.
upgraded = []
assert check_password("correct horse", make_password("correct horse", hasher="pbkdf2_sha256"), upgraded.append)
assert upgraded == ["correct horse"]
"""


def block(words: str) -> str:
    """The example of the page that has these words."""
    [found] = [it for it in python_blocks(PAGE) if words in it]
    return found


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_passlib() -> None:
    run(block("install_as_argon2()") + PASSLIB)


def test_django() -> None:
    run(block("PASSWORD_HASHERS") + DJANGO)


def test_werkzeug() -> None:
    from werkzeug.security import generate_password_hash
    from werkzeug.test import Client
    from werkzeug.wrappers import Request, Response

    page: dict[str, Any] = {}
    exec(block("def login"), page)
    page["hashes"]["ada"] = generate_password_hash("correct horse")

    @Request.application
    def application(request: Request) -> Response:
        known = page["login"](request.form["name"], request.form["password"])
        return Response(status=204 if known else 401)

    client = Client(application)
    for password, status in [("battery staple", 401), ("correct horse", 204), ("correct horse", 204), ("x", 401)]:
        assert client.post("/", data={"name": "ada", "password": password}).status_code == status
    assert page["hashes"]["ada"].startswith("$argon2id$")
    assert threading.active_count() == 1
