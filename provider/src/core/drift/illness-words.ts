import { logCause } from "../crash-loop";
import { hangSignIn } from "../hang-signs";
import type { Observed } from "../observed";
import { proofText } from "../proof-text";
import { processWords, telling } from "../stuck-process";

/** Of a server that lives and gives no token although it has the time: "it hangs: ..., its log: ...". */
export function hungWords(observed: Observed): string {
  const { illness, differences } = observed.server;
  const health = illness?.health === 200 ? "/health is 200" : "/health does not answer";
  const detail = differences.token?.detail ?? null;
  return `it hangs: it answers no token while ${health}${detail === null ? "" : ` (${detail})`}${stuckWords(observed)}${signWords(observed)}`;
}

/** Of a server that lives and does not serve: what of it is gone. */
export function unresponsiveWords(observed: Observed): string {
  const { illness, differences, launch } = observed.server;
  const { token } = differences;
  if (token?.outcome === "refused")
    return `it answers no token${token.detail === null ? "" : `: ${token.detail}`}`;
  if (illness === null) return "its process lives but does not answer /health";
  if (!illness.listens) {
    const port = launch === null ? "its port" : `port ${String(launch.listen.port)}`;
    return `its process lives but does not listen on ${port}${signWords(observed)}`;
  }
  if (illness.health === ENGINE_DEAD)
    return `its engine is dead while its API server lives on (/health is 503)${signWords(observed)}`;
  if (illness.health !== null)
    return `its process lives but /health is ${String(illness.health)}${signWords(observed)}`;
  return `its process lives and listens but answers nothing, neither /health nor a token${stuckWords(observed)}${signWords(observed)}`;
}

/** Source: vLLM 0.32.0, /health of its API server: 503 for an EngineDeadError and nothing else. */
const ENGINE_DEAD = 503;

/** "; VLLM::Worker_TP0 (pid 12) keeps a core busy"; "" where all of them just wait. */
function stuckWords({ server: { illness } }: Observed): string {
  const words = processWords(telling(illness?.processes ?? []));
  return words === undefined ? "" : `; ${words}`;
}

/** "; its log: <cause> - proof: ... (log line 7), change: ..."; "" where it tells nothing. */
function signWords(observed: Observed): string {
  const log = observed.server.illness?.log ?? null;
  if (log === null) return "";
  const cause = logCause(log, observed);
  if (cause !== null) return `; its log: ${cause}`;
  const sign = hangSignIn(log);
  if (sign === null) return "";
  return `; its log: ${sign.words} - proof: ${proofText(sign.line)} (log line ${String(sign.number)}), change: ${sign.change}`;
}
