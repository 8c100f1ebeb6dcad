"""hub_network.py and hub_http.py: certificates, silence, cuts, redirects, and logins of mirrors and proxies."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest

from agent import hub, hub_connect, hub_http, hub_network
from agent.failure import AgentFailure

from .bed import HostCase

SHA = "a" * 40
FINE = b'HTTP/1.1 200 OK\r\nContent-Length: 51\r\n\r\n{"sha": "' + SHA.encode() + b'"}'


class Peer:
    """Answers each connection with the next of `answers`; b"" closes it at once, None keeps it and says nothing."""

    def __init__(self, *answers, context=None):
        self.asked = []
        self._kept = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, args=(answers, context))
        self._thread.start()

    def _serve(self, answers, context):
        for answer in answers:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._kept.append(connection)
            try:
                if context is not None:
                    connection = context.wrap_socket(connection, server_side=True)
                    self._kept.append(connection)
                if answer == b"":
                    connection.close()
                    continue
                asked = connection.recv(65536).decode()
                self.asked.append(asked)
                if answer is not None:
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                continue  # the client did not like what it saw

    def close(self):
        # A waiting accept() wakes up.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for connection in self._kept:
            connection.close()


class HubNetworkTest(HostCase):
    def setUp(self):
        super().setUp()
        for module, name, value in (
            (hub_http, "PAUSES_SECONDS", (0.0, 0.0)),
            (hub_connect, "READ_SECONDS", 0.3),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)

    def peer(self, *answers, context=None):
        peer = Peer(*answers, context=context)
        self.addCleanup(peer.close)
        return peer

    def resolve(self, endpoint, token=None, **environment):
        return hub.resolve(hub_http.Hub(endpoint, token, environment), "org/m", None)

    def failure(self, *arguments, **named):
        with self.assertRaises(AgentFailure) as caught:
            self.resolve(*arguments, **named)
        self.assertEqual(caught.exception.code, "HUB_UNREACHABLE")
        self.assertNotIn("sesame", str(caught.exception.to_error()))
        return caught.exception

    def test_silence_is_waited_for_three_times(self):
        peer = self.peer(None, None, None)
        self.assertIn("no answer in time", self.failure(f"http://127.0.0.1:{peer.port}").summary)
        self.assertEqual(len(peer.asked), 3)

    def test_a_host_that_drops_packets_is_tried_once(self):
        self.addCleanup(setattr, hub_connect, "ADDRESS_SECONDS", hub_connect.ADDRESS_SECONDS)
        hub_connect.ADDRESS_SECONDS = 0.3
        hub_http.PAUSES_SECONDS = (30.0, 30.0)
        # Its queue is full: the kernel answers nobody else.
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as waiting:
            waiting.connect(full.getsockname())
            begin = time.monotonic()
            told = self.failure(f"http://127.0.0.1:{full.getsockname()[1]}")
        self.assertIn("no answer in time", told.summary)
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_cut_is_asked_again(self):
        peer = self.peer(b"", FINE[:60], FINE)
        self.assertEqual(self.resolve(f"http://127.0.0.1:{peer.port}"), SHA)

    def test_redirects_end(self):
        again = b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n"
        peer = self.peer(*[again] * 15)
        self.assertIn("more than 5 redirects", self.failure(f"http://127.0.0.1:{peer.port}").evidence)
        elsewhere = b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
        peer = self.peer(*[elsewhere] * 3)
        self.assertIn("a redirect to file:", self.failure(f"http://127.0.0.1:{peer.port}").evidence)

    def test_the_login_of_a_mirror_is_sent_and_not_shown(self):
        peer = self.peer(FINE, FINE)
        mirror = f"http://ann:ses%40me@127.0.0.1:{peer.port}/hub"
        self.assertEqual(self.resolve(mirror), SHA)
        self.assertIn("Authorization: Basic YW5uOnNlc0BtZQ==\r\n", peer.asked[0])
        self.assertIn("GET /hub/api/models/org/m/revision/main HTTP/1.1\r\n", peer.asked[0])
        self.assertEqual(self.resolve(mirror, "hf_token"), SHA)
        self.assertIn("Authorization: Bearer hf_token\r\n", peer.asked[1])
        self.assertNotIn("Basic", peer.asked[1])
        self.failure(f"http://ann:sesame@127.0.0.1:{closed_port()}")
        told = self.failure("http://hub.invalid", http_proxy=f"http://ann:sesame@127.0.0.1:{closed_port()}/")
        self.assertIn("the connection is refused through the proxy 127.0.0.1", told.summary)

    def test_the_login_of_a_proxy_is_sent_and_not_shown(self):
        refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
        peer = self.peer(FINE, refusal, *[refusal] * 3)
        proxy = f"http://ann:sesame@127.0.0.1:{peer.port}"
        self.assertEqual(self.resolve("http://hub.invalid", http_proxy=proxy), SHA)
        self.assertIn("Proxy-Authorization: Basic YW5uOnNlc2FtZQ==\r\n", peer.asked[0])
        told = self.failure("http://hub.invalid", HTTP_PROXY=proxy)
        self.assertIn("the proxy wants a login (407)", told.summary)
        told = self.failure("https://hub.invalid", HTTPS_PROXY=proxy)
        self.assertIn("407", told.summary)
        self.assertIn("CONNECT hub.invalid:443", peer.asked[2])
        self.assertIn("Proxy-Authorization: Basic YW5uOnNlc2FtZQ==\r\n", peer.asked[2])
        told = self.failure("http://hub.invalid", ALL_PROXY="socks5://ann:sesame@127.0.0.1:1")
        self.assertIn("only http ones can be used", told.summary)

    def test_names_that_need_no_proxy(self):
        told = {"no_proxy": ".corp, localhost,*.lan,mirror:8080", "all_proxy": "proxy:1"}
        hosts = ("hub.corp", "corp", "localhost", "a.lan", "mirror", "hubcorp", "hub.example")
        self.assertEqual(
            [hub_network.proxy_for(f"https://{host}/", told) for host in hosts],
            [None] * 5 + ["http://proxy:1"] * 2,
        )
        self.assertIsNone(hub_network.proxy_for("https://hub/", {"NO_PROXY": "*", "https_proxy": "proxy:1"}))

    @unittest.skipIf(
        shutil.which("openssl") is None, "openssl is not installed here: no certificate can be made"
    )
    def test_certificates_of_the_login_environment_are_trusted(self):
        key, certificate = str(self.home / "key.pem"), str(self.home / "cert.pem")
        subprocess.run(
            [
                *(
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "rsa:2048",
                    "-nodes",
                    "-keyout",
                    key,
                    "-out",
                    certificate,
                ),
                *("-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            ],
            check=True,
            capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        peer = self.peer(FINE, FINE, b"", b"", b"", context=context)
        endpoint = f"https://127.0.0.1:{peer.port}"
        self.assertEqual(self.resolve(endpoint, SSL_CERT_FILE=certificate), SHA)
        self.assertEqual(self.resolve(endpoint, REQUESTS_CA_BUNDLE=certificate), SHA)
        told = self.failure(endpoint)
        self.assertIn("its certificate is not trusted", told.summary)
        self.assertIn("SSL_CERT_FILE", told.change)
        told = self.failure(endpoint, SSL_CERT_FILE="/nonexistent.pem")
        self.assertIn("the certificates in /nonexistent.pem cannot be read", told.summary)


def closed_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
