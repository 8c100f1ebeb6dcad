"""The control endpoint, on a port of its own so that it answers while the hub is away."""

import http.server
import json
import threading


def open_control(hub):
    """(url, close): GET /state; POST /faults, /counts/clear, /away, /back, /refs."""
    handler = type("ControlHandler", (_Handler,), {"hub": hub})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def close():
        server.shutdown()
        server.server_close()

    return f"http://127.0.0.1:{server.server_address[1]}", close


def state(hub):
    return {
        "away": hub.is_away,
        "bytes": hub.counts.bytes(),
        "mostStreams": hub.counts.most_streams(),
        "files": hub.counts.files(),
        "requests": hub.counts.requests(),
        "faults": hub.faults.now(),
        "refs": {name: repository.refs for name, repository in hub.repositories.items()},
        "leakedTokens": hub.leaked_tokens,
    }


class _Handler(http.server.BaseHTTPRequestHandler):
    hub = None

    def do_GET(self):
        if self.path == "/state":
            self._reply(200, state(self.hub))
        else:
            self._reply(404, {"error": "GET /state"})

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            done = self._obey(json.loads(text) if text else None)
        except (KeyError, TypeError, ValueError) as error:
            self._reply(400, {"error": str(error)})
        else:
            self._reply(200 if done else 404, state(self.hub) if done else {"error": "no such order"})

    def _obey(self, told):
        hub = self.hub
        if self.path == "/faults":
            hub.faults.set(told)
        elif self.path == "/counts/clear":
            hub.counts.clear()
        elif self.path == "/away" and not hub.is_away:
            hub.go_away()
        elif self.path == "/back" and hub.is_away:
            hub.come_back()
        elif self.path == "/refs":
            hub.move(told["repository"], told["ref"], told["sha"])
        else:
            return self.path in ("/away", "/back")
        return True

    def _reply(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_arguments):
        pass
