"""sockets.py: who has a port, also while nobody listens yet."""

import os
import socket
from unittest import mock

from agent import sockets

from .bed import HostCase


class SocketsTest(HostCase):
    def listener(self, address="127.0.0.1", family=socket.AF_INET):
        server = socket.socket(family, socket.SOCK_STREAM)
        self.addCleanup(server.close)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address, 0))
        server.listen()
        return server, server.getsockname()[1]

    def test_a_listener_is_found_with_address_user_and_holder(self):
        for address, family in (
            ("127.0.0.1", socket.AF_INET),
            ("::1", socket.AF_INET6),
            ("::", socket.AF_INET6),
        ):
            with self.subTest(address=address):
                server, port = self.listener(address, family)
                inode = os.fstat(server.fileno()).st_ino
                self.assertEqual(sockets.listeners(port), [(inode, os.getuid(), address)])
                self.assertEqual(sockets.owner_of_inode(inode), os.getpid())

    def test_a_socket_that_nobody_holds_has_no_owner(self):
        self.assertIsNone(sockets.owner_of_inode(0))

    def test_a_bound_socket_that_does_not_listen_is_seen_by_bind_only(self):
        server = socket.socket()
        self.addCleanup(server.close)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        self.assertEqual(sockets.listeners(port), [])
        self.assertFalse(sockets.is_bindable("127.0.0.1", port))
        self.assertFalse(sockets.is_bindable("0.0.0.0", port))

    def test_left_overs_of_closed_connections_do_not_hold_a_port(self):
        server, port = self.listener()
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        # The server's end closes first and keeps the connection in TIME_WAIT, as after a stop with clients.
        accepted.close()
        self.assertEqual(client.recv(1), b"")
        client.close()
        server.close()
        with socket.socket() as plain:
            self.assertRaises(OSError, plain.bind, ("127.0.0.1", port))
        self.assertTrue(sockets.is_bindable("127.0.0.1", port))

    def test_a_free_port_and_an_address_of_another_host_are_nobodys_doing(self):
        server, port = self.listener()
        server.close()
        self.assertTrue(sockets.is_bindable("127.0.0.1", port))
        self.assertTrue(sockets.is_bindable("192.0.2.1", port))

    def test_addresses_meet_when_equal_or_when_one_is_a_wildcard(self):
        cases = {
            ("127.0.0.1", "127.0.0.1"): True,
            ("127.0.0.1", "0.0.0.0"): True,
            ("::", "127.0.0.1"): True,
            ("::ffff:127.0.0.1", "127.0.0.1"): True,
            ("localhost", "0.0.0.0"): True,
            ("127.0.0.1", "10.0.0.5"): False,
            ("::1", "127.0.0.1"): False,
            ("0.0.0.0", "10.0.0.5"): True,
            ("::", "0.0.0.0"): True,
            ("0.0.0.0", "::1"): False,
            ("::1", "0.0.0.0"): False,
        }
        self.assertEqual({pair: sockets.overlaps(*pair) for pair in cases}, cases)

    def test_a_name_is_the_ipv4_address_that_vllm_listens_on_for_it(self):
        """As where /etc/hosts has ::1 for localhost too, which comes first then."""
        real = socket.getaddrinfo

        def dual(host, port, family=0, *rest, **named):
            if host == "localhost" and family == 0:
                return real("::1", port, family, *rest, **named) + real(
                    "127.0.0.1", port, family, *rest, **named
                )
            return real(host, port, family, *rest, **named)

        server, port = self.listener()
        with mock.patch.object(socket, "getaddrinfo", dual):
            self.assertEqual(sockets.reachable_address("localhost"), "127.0.0.1")
            self.assertFalse(sockets.is_bindable("localhost", port))
            self.assertEqual(
                [sockets.overlaps("localhost", other) for other in ("127.0.0.1", "::1")], [True, False]
            )
        server.close()

    def test_a_wildcard_is_asked_on_loopback(self):
        wanted = {"0.0.0.0": "127.0.0.1", "::": "::1", "10.0.0.5": "10.0.0.5"}
        self.assertEqual({address: sockets.reachable_address(address) for address in wanted}, wanted)
