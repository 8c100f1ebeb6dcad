"""The hub: its repositories, its ports, and what a test may turn and read."""

from . import counts, faults, handler, listener, listings
from .repositories import repository


class Hub:
    """Of a config {repositories, invalidTokens, pageEntries, cdn, address}; `url` is its HF_ENDPOINT. Use it with `with`.

    faults: what goes wrong; counts: what went out; leaked_tokens: tokens that reached the host of the big files.
    """

    def __init__(self, config):
        self.faults = faults.Faults()
        self.counts = counts.Counts()
        self.leaked_tokens = []
        self.repositories = {name: repository(name, told) for name, told in config["repositories"].items()}
        self.invalid_tokens = tuple(config.get("invalidTokens", ()))
        self.page_entries = config.get("pageEntries", listings.PAGE_ENTRIES)
        self.is_away = False
        # Hosts in a network of their own reach it under another address than this machine does.
        address = config.get("address", "127.0.0.1")
        self._main = listener.Listener(type("HubHandler", (handler.Handler,), {"hub": self}), address)
        # Big files come from another host, as they do from a real hub.
        self._cdn = listener.Listener(
            type("CdnHandler", (handler.Handler,), {"hub": self, "is_cdn": True}), address
        )
        self._has_cdn = config.get("cdn", False)

    @property
    def url(self):
        return self._main.url

    @property
    def cdn_url(self):
        return self._cdn.url if self._has_cdn else None

    def sha(self, repository_name, ref="main"):
        return self.repositories[repository_name].refs[ref]

    def move(self, repository_name, ref, sha):
        """A branch that somebody pushed to."""
        self.repositories[repository_name].refs[ref] = sha

    def go_away(self):
        """Cuts every connection and refuses new ones."""
        self.is_away = True
        self._main.pause()
        self._cdn.pause()

    def come_back(self):
        self.is_away = False
        self._main.open()
        if self._has_cdn:
            self._cdn.open()

    def __enter__(self):
        self.come_back()
        return self

    def __exit__(self, *_error):
        self.faults.clear()
        self.is_away = True
        self._main.close()
        self._cdn.close()
