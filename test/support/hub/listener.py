"""One port of the hub: it can vanish, with every connection, and come back under the same number."""

import http.server
import socket
import threading


class Listener:
    def __init__(self, handler, address):
        self._handler = handler
        self._address = address
        self._server = None
        self._thread = None
        # Holds the port while nothing listens on it: it refuses, and is given to nobody else.
        self._kept = None
        self.port = 0

    @property
    def url(self):
        return f"http://{self._address}:{self.port}"

    def open(self):
        self._server = _Server((self._address, self.port), self._handler, bind_and_activate=False)
        if self._kept is not None:
            self._server.socket.close()
            self._server.socket, self._kept = self._kept, None
        else:
            self._server.server_bind()
        self._server.server_activate()
        self.port = self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def pause(self):
        """Returns when the port refuses and every connection is cut; nothing to do when it is closed."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._kept = socket.socket()
        self._kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._kept.bind((self._address, self.port))
        self._server.cut()
        self._thread.join()
        self._server = None

    def close(self):
        """The same, and the port is anybody's."""
        self.pause()
        if self._kept is not None:
            self._kept.close()
            self._kept = None


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *arguments, **named):
        self._open = set()
        self._lock = threading.Lock()
        super().__init__(*arguments, **named)

    def process_request(self, request, client_address):
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def cut(self):
        with self._lock:
            for request in self._open:
                try:
                    request.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # the client was faster

    def handle_error(self, request, client_address):
        pass  # a client that went away in the middle is what this server is for
