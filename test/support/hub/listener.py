"""One port of the hub: it can vanish, with every connection, and come back under the same number."""

import http.server
import socket
import threading


class Listener:
    def __init__(self, handler):
        self._handler = handler
        self._server = None
        self._thread = None
        self.port = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def open(self):
        self._server = _Server(("127.0.0.1", self.port), self._handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self):
        """Returns when the port refuses and every connection is cut; nothing to do when it is closed already."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server.cut()
        self._thread.join()
        self._server = None


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, handler):
        self._open = set()
        self._lock = threading.Lock()
        super().__init__(address, handler)

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
