"""JSON as spec/package.md reads it. The package `rfc8785` makes the canonical form."""

import json

import rfc8785
from wire import Refused, need

LIMIT = 2**53 - 1
DEPTH = 64


def canonical(text):
    """The canonical form of any JSON text."""
    return rfc8785.dumps(parse(text))


def is_canonical(data):
    try:
        return canonical(data) == data
    except Refused:
        return False


def parse(data):
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=once, parse_constant=constant, parse_int=integer, parse_float=real
        )
        check(value, DEPTH)
    except (UnicodeError, RecursionError, json.JSONDecodeError) as error:
        raise Refused(f"JSON: {error}") from error
    return value


def once(pairs):
    names = [name for name, _ in pairs]
    need(len(set(names)) == len(names), "JSON: a name twice")
    return dict(pairs)


def constant(name):
    raise Refused(f"JSON: {name}")


def integer(digits):
    need(len(digits) <= 17, "JSON: a number out of range")
    return in_range(int(digits))


def real(digits):
    return in_range(float(digits))


def in_range(number):
    need(abs(number) <= LIMIT, "JSON: a number out of range")
    return number


def check(value, depth):
    """Refuses what Python's parser lets through: deep values and unpaired surrogates."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, (list, dict)):
        need(depth > 0, "JSON: too deep")
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            check(part, depth - 1)
