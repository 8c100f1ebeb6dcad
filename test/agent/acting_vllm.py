"""Acts as `vllm serve MODEL --config FILE`: what it does stands in the variable ACT, a JSON object.

log: text printed at once            late_log: [[seconds, text], ...] printed after that long
engine: {shm, ignores_term}          a child that outlives us, maps /dev/shm/<shm> and removes it on SIGTERM
        {churns: true}               and goes on to give it another name, /dev/shm/<shm>-<number>
tracked: true: makes shared memory that it does not map any more, and tells its name; Python's resource tracker knows of it
mute: true: a POST is never answered
listen: seconds until it listens     models, routes, fingerprint, probe_status, refuses_ids: what it answers then
work: [kind, seconds]                what it does meanwhile: "read" a file, "grow" in memory, "spin"
exit_after: seconds, exit_code       ignores_term: true
"""

import http.server
import json
import mmap
import multiprocessing.shared_memory
import os
import signal
import sys
import threading
import time

ACT = json.loads(os.environ.get("ACT", "{}"))
MODEL = sys.argv[2]


def say(text):
    os.write(1, text.encode())


def engine(shm, ignores_term, churns=False):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    path = "/dev/shm/" + shm
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(descriptor, 4096)
    kept = mmap.mmap(descriptor, 4096)

    def leave(_number, _frame):
        os.unlink(path)
        os._exit(0)

    if not ignores_term:
        signal.signal(signal.SIGTERM, leave)
    say("engine %d is up\n" % os.getpid())
    number = 0
    while kept is not None:
        if not churns:
            time.sleep(0.05)
            continue
        number += 1
        following = "/dev/shm/%s-%d" % (shm, number)
        descriptor = os.open(following, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(descriptor, 4096)
        mapped = mmap.mmap(descriptor, 4096)
        os.close(descriptor)
        # One that nobody maps would be nobody's.
        os.unlink(path)
        kept, path = mapped, following


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = ACT.get("name", "tiny")
        models = ACT.get("models", [{"id": name, "root": MODEL, "max_model_len": 64}])
        answers = {
            "/health": (200, ""),
            "/v1/models": (200, json.dumps({"data": models})),
            "/openapi.json": (
                200,
                json.dumps({"paths": dict.fromkeys(ACT.get("routes", ["/v1/completions"]), {})}),
            ),
            "/metrics": (
                200,
                '# TYPE x gauge\nvllm:cache_config_info{block_size="16",cache_dtype="%s"} 1.0\n'
                % ACT.get("cache_dtype", "auto"),
            ),
        }
        self.answer(*answers.get(self.path, (404, "")))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        say("asked %s %s key=%s\n" % (self.path, json.dumps(body), self.headers.get("Authorization")))
        while ACT.get("mute"):
            time.sleep(60)
        answer = {"system_fingerprint": ACT.get("fingerprint"), "choices": []}
        is_refused = ACT.get("refuses_ids") and isinstance(body.get("prompt"), list)
        self.answer(400 if is_refused else ACT.get("probe_status", 200), json.dumps(answer))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_arguments):
        pass


def listen(seconds):
    time.sleep(seconds)
    port = int(os.environ["ACT_PORT"])
    http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def work(kind, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if kind == "read":
            with open(__file__, "rb") as file:
                for _ in range(64):
                    file.seek(0)
                    file.read(4096)
            time.sleep(0.02)
        if kind == "grow":
            mmap.mmap(-1, 1 << 21).write(b"x" * (1 << 21))
            time.sleep(0.02)


def main():
    signal.signal(signal.SIGTERM, signal.SIG_IGN if ACT.get("ignores_term") else lambda *_: os._exit(0))
    say(ACT.get("log", ""))
    if ACT.get("tracked"):
        memory = multiprocessing.shared_memory.SharedMemory(create=True, size=4096)
        memory.close()
        say("tracked %s\n" % memory.name)
    if "engine" in ACT and os.fork() == 0:
        engine(**{"ignores_term": False, **ACT["engine"]})
    if "listen" in ACT:
        threading.Thread(target=listen, args=(ACT["listen"],), daemon=True).start()
    if "work" in ACT:
        threading.Thread(target=work, args=ACT["work"], daemon=True).start()
    for seconds, text in ACT.get("late_log", []):
        time.sleep(seconds)
        say(text)
    time.sleep(ACT.get("exit_after", 3600))
    os._exit(ACT.get("exit_code", 0))


main()
