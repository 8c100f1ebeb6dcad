"""A port of loopback that drops every new connection, like a machine that is gone: its queue is full. Until stdin ends.

Usage: full_port.py PORT
"""

import socket
import sys

# Linux takes one connection more than the backlog says; the third one finds no room.
_BACKLOG = 0
_FILL = 2

port = int(sys.argv[1])
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(_BACKLOG)
waiting = []
for _ in range(_FILL):
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", port))
    waiting.append(client)
print("full", flush=True)
sys.stdin.read()
