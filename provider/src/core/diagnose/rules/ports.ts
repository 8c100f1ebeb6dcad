import type { CauseRule } from "../rule";
import { error, proof, verdict } from "../signs";

/** Whether the address in use is one vLLM chose itself: not the API server's, or bound in get_open_port. */
function isInternal(place: string | null, before: string): boolean {
  const source = before.split("\n").slice(-4).join("\n");
  return (
    /get_open_port|bind\(\(["']{2}, ?(?:0|port)\)\)|zmq|TCPStore/.test(source) ||
    /^(?:engine core|worker|Ray)/.test(place ?? "")
  );
}

/** vLLM warns of the limit at every start on most machines, in the words of the error that may come. */
const isNoForecast = (match: RegExpExecArray): boolean => !match.input.includes("Found ulimit of");

export const PORTS_RULES: readonly CauseRule[] = [
  {
    cause: "INTERNAL_PORT_IN_USE",
    summary: ["a port that vLLM chose for itself was taken in the meantime"],
    change: [
      "start again; host: serialise starts; environment.VLLM_PORT or the master port: another one when it was set",
    ],
    retryable: true,
    signs: [
      proof(/ZMQError: Address already in use/, "vllm 0.5 to 0.33, zmq"),
      proof(
        /The server socket has failed to (?:listen on|bind to)/,
        "torch TCPStore; vllm-project/vllm#39015",
      ),
      proof(/EADDRINUSE/, "torch, gloo"),
      proof(/\[Errno 98\] Address already in use/, "Python; vllm-project/vllm#11617", {
        accepts: (_match, line, before) => isInternal(line.place, before),
      }),
    ],
  },
  {
    cause: "PORT_IN_USE",
    summary: ["port {port} is taken on this host", "the API port is taken on this host"],
    change: [
      "listen.port: another one than {port} (--port), or host: stop the listener",
      "listen.port: another one (--port), or host: stop the listener",
    ],
    context: ["port"],
    signs: [
      proof(/error while attempting to bind on address \('[^']*', (?<port>\d+)/, "asyncio, uvicorn"),
      proof(/\[Errno 98\] Address already in use/, "Python; vllm 0.3 to 0.33 at sock.bind", {
        accepts: (_match, line, before) => !isInternal(line.place, before),
      }),
      error(/[Aa]ddress already in use/, "errno 98", {
        accepts: (match, line, before) =>
          !/ZMQ|EADDRINUSE/.test(match.input) && !isInternal(line.place, before),
      }),
    ],
  },
  {
    cause: "VLLM_PORT_IS_URI",
    summary: ["the variable VLLM_PORT holds an address of a Kubernetes service"],
    change: ["environment.VLLM_PORT: a number, or unset (a Kubernetes service must not be named vllm)"],
    signs: [
      verdict(/VLLM_PORT .* appears to be a URI/, "vllm 0.8 to 0.33 envs.py"),
      verdict(/invalid literal for int\(\) with base 10: 'tcp:\/\//, "vllm 0.6 envs.py"),
    ],
  },
  {
    cause: "IPC_PATH_TOO_LONG",
    summary: [
      "the path of a unix socket is longer than {limit} bytes",
      "the path of a unix socket is too long",
    ],
    change: ["environment.TMPDIR or environment.VLLM_RPC_BASE_PATH: a short folder"],
    signs: [
      verdict(/ipc path .* is longer than (?<limit>\d+) characters/, "zmq; vllm 0.6 to 0.33"),
      verdict(/AF_UNIX path too long/, "Python socket"),
    ],
  },
  {
    cause: "OPEN_FILES_LIMIT",
    summary: ["too many files are open"],
    change: ["host: raise the limit of open files (ulimit -n, LimitNOFILE)"],
    signs: [
      proof(/\[Errno 24\] Too many open files/, "errno 24", { accepts: isNoForecast }),
      error(/Too many open files/, "errno 24", { accepts: isNoForecast }),
    ],
  },
];
