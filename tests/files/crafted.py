"""Model files taken apart and put together by hand, with a right checksum where one is wanted."""

import hashlib
import json
import struct

PREAMBLE = struct.Struct("<8sIQQ")
MAGIC = b"\x89PAIR\r\n\x1a"


def taken_apart(content):
    """Header and array bytes of a file."""
    magic, version, header_length, array_length = PREAMBLE.unpack_from(content)
    assert (magic, version) == (MAGIC, 1)
    assert len(content) == PREAMBLE.size + header_length + array_length + 32
    stop = PREAMBLE.size + header_length
    return json.loads(content[PREAMBLE.size : stop]), content[stop:-32]


def put_together(header, arrays=b"", version=1):
    """A file with these parts; the header may be text as well."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = PREAMBLE.pack(MAGIC, version, len(text), len(arrays)) + text + arrays
    return content + hashlib.sha256(content).digest()
