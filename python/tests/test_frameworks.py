"""Examples: passlib, Django and werkzeug with `sealstone.argon2`."""

import subprocess
import sys
import threading
from collections.abc import Callable

from sealstone.argon2 import PasswordHasher
from sealstone.argon2.exceptions import VerifyMismatchError

PASSLIB = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
import sealstone.argon2
sealstone.argon2.install_as_argon2()
from passlib.hash import argon2

hasher = argon2.using(type="ID", rounds=1, memory_cost=1024, parallelism=1)
stored = hasher.hash("correct horse")
assert stored.startswith("$argon2id$v=19$m=1024,t=1,p=1$"), stored
assert argon2.verify("correct horse", stored)
assert not argon2.verify("battery staple", stored)
assert argon2.using(rounds=3, memory_cost=1024).needs_update(stored)
assert sealstone.argon2.PasswordHasher().verify(stored, "correct horse")
"""

DJANGO = """
from django.conf import settings
settings.configure(PASSWORD_HASHERS=[
    "sealstone.django.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
])
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


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_passlib() -> None:
    run(PASSLIB)


def test_django() -> None:
    run(DJANGO)


class Users:
    """Logins of a werkzeug application, whose older users have werkzeug's own hashes."""

    def __init__(self, check_password_hash: Callable[[str, str], bool]) -> None:
        self.hasher = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
        self.check_password_hash = check_password_hash
        self.stored: dict[str, str] = {}

    def login(self, name: str, password: str) -> bool:
        stored = self.stored[name]
        if stored.startswith("$argon2"):
            try:
                self.hasher.verify(stored, password)
            except VerifyMismatchError:
                return False
            is_old = self.hasher.check_needs_rehash(stored)
        elif self.check_password_hash(stored, password):
            is_old = True
        else:
            return False
        if is_old:
            self.stored[name] = self.hasher.hash(password)
        return True


def test_werkzeug() -> None:
    from werkzeug.security import check_password_hash, generate_password_hash
    from werkzeug.test import Client
    from werkzeug.wrappers import Request, Response

    users = Users(check_password_hash)
    users.stored["ada"] = generate_password_hash("correct horse")

    @Request.application
    def application(request: Request) -> Response:
        known = users.login(request.form["name"], request.form["password"])
        return Response(status=204 if known else 401)

    client = Client(application)
    for password, status in [("battery staple", 401), ("correct horse", 204), ("correct horse", 204), ("x", 401)]:
        assert client.post("/", data={"name": "ada", "password": password}).status_code == status
    assert users.stored["ada"].startswith("$argon2id$")
    assert threading.active_count() == 1
