"""Tells schemathesis how bodies of the media types of RFC 9578 are written: as they are."""

import schemathesis

KINDS = ["request", "amortized-batch-request", "generic-batch-request"]


@schemathesis.serializer(*(f"application/private-token-{kind}" for kind in KINDS))
def write(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()
