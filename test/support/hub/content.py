"""What a file of a repository holds: texts, files of this disk, and big ones that are made while they are sent."""

import base64
import hashlib
import json
import os
import struct
import threading
from functools import cached_property

CHUNK_BYTES = 1 << 20
_ZEROS = bytes(CHUNK_BYTES)


class Content:
    """`size_bytes`, and `read(offset, length)`: at least one byte, at most `length`, while offset < size."""

    def __init__(self, size_bytes):
        self.size_bytes = size_bytes
        self._hashing = threading.Lock()

    def read(self, offset, length):
        raise NotImplementedError

    def sha256(self):
        """Name of the blob of an LFS file."""
        with self._hashing:
            return self._sha256

    def git_sha1(self):
        """Name of the blob of a plain file, as git makes it."""
        with self._hashing:
            return self._git_sha1

    @cached_property
    def _sha256(self):
        return self._hash(hashlib.sha256())

    @cached_property
    def _git_sha1(self):
        return self._hash(hashlib.sha1(b"blob %d\0" % self.size_bytes))

    def _hash(self, digest):
        offset = 0
        while offset < self.size_bytes:
            chunk = self.read(offset, CHUNK_BYTES)
            digest.update(chunk)
            offset += len(chunk)
        return digest.hexdigest()


class Bytes(Content):
    """A head that is kept, and zeros behind it that are not."""

    def __init__(self, head, size_bytes=None):
        super().__init__(len(head) if size_bytes is None else size_bytes)
        self.head = head

    def read(self, offset, length):
        length = min(length, self.size_bytes - offset, CHUNK_BYTES)
        if offset < len(self.head):
            return self.head[offset : offset + length]
        return _ZEROS if length == CHUNK_BYTES else bytes(length)


class OnDisk(Content):
    def __init__(self, path):
        super().__init__(os.path.getsize(path))
        self.path = path

    def read(self, offset, length):
        with open(self.path, "rb") as file:
            file.seek(offset)
            return file.read(length)


class Short(Content):
    """The start of another one."""

    def __init__(self, whole, size_bytes):
        super().__init__(min(size_bytes, whole.size_bytes))
        self._whole = whole

    def read(self, offset, length):
        return self._whole.read(offset, min(length, self.size_bytes - offset))


def safetensors(size_bytes, tensor="weight", name=""):
    """A whole safetensors file of that size: one tensor of zeros from the end of the header to the end of the file.

    `name` stands in its metadata, so that files of one size have hashes of their own. Source: safetensors 0.6, README "Format".
    """
    header_bytes = 256 + 8 * ((len(tensor) + len(name)) // 8)
    data_bytes = size_bytes - 8 - header_bytes
    if data_bytes < 0:
        raise ValueError(f"Cannot make a safetensors file of {size_bytes} bytes, need {8 + header_bytes}")
    entries = {
        "__metadata__": {"format": "pt", "name": name},
        tensor: {"dtype": "U8", "shape": [data_bytes], "data_offsets": [0, data_bytes]},
    }
    header = json.dumps(entries).encode().ljust(header_bytes)
    return Bytes(struct.pack("<Q", header_bytes) + header, size_bytes)


def of(spec, path):
    """The content that a config describes: a text, or an object with text, json, base64, path, zeros or safetensors."""
    if isinstance(spec, str):
        return Bytes(spec.encode())
    if "json" in spec:
        return Bytes(json.dumps(spec["json"], indent=2).encode() + b"\n")
    if "text" in spec:
        return Bytes(spec["text"].encode())
    if "base64" in spec:
        return Bytes(base64.b64decode(spec["base64"]))
    if "path" in spec:
        return OnDisk(spec["path"])
    if "zeros" in spec:
        return Bytes(b"", spec["zeros"])
    if "safetensors" in spec:
        return safetensors(spec["safetensors"], spec.get("tensor", "weight"), path)
    raise ValueError(f"Cannot make {path} of {sorted(spec)}")
