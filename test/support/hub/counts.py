"""What was asked and what went out, so that a test can say how much was fetched twice."""

import threading
from contextlib import contextmanager


class Counts:
    def __init__(self):
        self._lock = threading.Lock()
        self._files = {}
        self._requests = []
        self._streams = self._most_streams = 0

    def request(self, method, url, host):
        """`host`: "hub" or "cdn"."""
        with self._lock:
            self._requests.append({"method": method, "url": url, "host": host})

    def asked(self, repository, path, method, byte_range):
        with self._lock:
            file = self._file(repository, path)
            file["heads" if method == "HEAD" else "gets"] += 1
            if byte_range is not None:
                file["ranges"].append(list(byte_range))

    def sent(self, repository, path, size_bytes):
        """Bytes of the body that went out; the client may not have read the last of them."""
        with self._lock:
            self._file(repository, path)["bytes"] += size_bytes

    @contextmanager
    def stream(self):
        """Held while a body goes out."""
        with self._lock:
            self._streams += 1
            self._most_streams = max(self._most_streams, self._streams)
        try:
            yield
        finally:
            with self._lock:
                self._streams -= 1

    def most_streams(self):
        """So many bodies went out at the same time; one whose client is unreachable counts until that shows."""
        with self._lock:
            return self._most_streams

    def files(self):
        """{"org/name": {"config.json": {bytes, gets, heads, ranges}}}."""
        with self._lock:
            return {
                repository: {path: {**file, "ranges": list(file["ranges"])} for path, file in files.items()}
                for repository, files in self._files.items()
            }

    def requests(self):
        with self._lock:
            return list(self._requests)

    def bytes(self):
        """Of all files together."""
        return sum(file["bytes"] for files in self.files().values() for file in files.values())

    def clear(self):
        with self._lock:
            self._files.clear()
            self._requests.clear()
            self._most_streams = self._streams

    def _file(self, repository, path):
        files = self._files.setdefault(repository, {})
        return files.setdefault(path, {"bytes": 0, "gets": 0, "heads": 0, "ranges": []})
