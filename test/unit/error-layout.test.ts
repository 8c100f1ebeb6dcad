import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VllmServerError, type ErrorDetails } from "../../provider/src/core/errors";
import { layOutError } from "../../provider/src/core/error-layout";
import { joinedError } from "../support/joined-errors";

const LOG = `ssh -p 14523 root@127.0.0.1 'tail -n 200 /home/somebody/.local/state/pulumi-vllm/kimi-84757c02/logs/1.log'`;
const details: ErrorDetails = {
  code: "START_FAILED",
  summary:
    'Cannot start server "kimi" on 127.0.0.1: the attention backend of this vLLM does not take the KV cache dtype that was asked for (by kvCacheDtype or by the checkpoint)',
  evidence: "NotImplementedError: TritonMLA V1 with FP8 KV cache not yet supported",
  evidencePlace: "worker 1, log line 70",
  change:
    'kvCacheDtype: "bfloat16" (--kv-cache-dtype bfloat16; it also nulls kv_cache_quant_algo and kv_cache_scheme of the checkpoint), or a newer vLLM (for MLA 0.18 or later)',
  logCommand: LOG,
  retryable: false,
};
const laidOut = (more: Partial<ErrorDetails> = {}): string =>
  layOutError(new VllmServerError({ ...details, ...more }).message);

/** As the CLI prints an error of a resource, tabs as a terminal shows them. */
const onTerminal = (text: string, first: string): readonly string[] =>
  `${first}${text.replaceAll("\n", "\n    ")}`.split("\n");

describe("an error on a terminal of 80 columns", () => {
  it("of a failed start: each part hangs below its label, and the command for the log is on one line", () => {
    expect(onTerminal(laidOut(), "        * ").join("\n")).toBe(
      `        * Cannot start server "kimi" on 127.0.0.1: the attention backend of
          this vLLM does not take the KV cache dtype that was asked for (by
          kvCacheDtype or by the checkpoint)
      proof:  NotImplementedError: TritonMLA V1 with FP8 KV cache not yet
              supported   (worker 1, log line 70)
      change: kvCacheDtype: "bfloat16" (--kv-cache-dtype bfloat16; it also nulls
              kv_cache_quant_algo and kv_cache_scheme of the checkpoint), or a
              newer vLLM (for MLA 0.18 or later)
      log:    ${LOG}
      a retry will not help`,
    );
  });

  it("of a host key: commands to paste are whole, and a longer one has a line of its own", () => {
    const scan = `ssh-keyscan -t ed25519 -p 14523 gpu1.example.org >> /home/somebody/.ssh/known_hosts`;
    const change = `compare the fingerprint with the host's own, then ${scan}, or ssh -p 14523 root@gpu1.example.org once, or set hostKey: "SHA256:${"x".repeat(43)}"`;
    const text = laidOut({
      summary: "Cannot trust host gpu1",
      change,
      evidence: undefined,
      logCommand: undefined,
      retryable: true,
    });
    expect(text).toBe(
      `Cannot trust host gpu1
  change: compare the fingerprint with the host's own, then
          ${scan},
          or ssh -p 14523 root@gpu1.example.org once, or set
          hostKey: "SHA256:${"x".repeat(43)}"`,
    );
  });

  it("of several things: each hangs below its number", () => {
    const text = layOutError(
      `Cannot start server "a" on gpu1: 2 things stand in the way\n  1. listen.port: ${"word ".repeat(20).trim()}\n     change: ${"more ".repeat(20).trim()}`,
    );
    expect(text.split("\n").map((line) => line.replace(/\S.*/, (words) => words.slice(0, 7)))).toEqual(
      ["Cannot ", "  1. listen.", "     word wo", "     change:", "             more mo"].map((line) =>
        line.slice(0, line.search(/\S/) + 7),
      ),
    );
  });

  it("is never wider, loses no word, and is joined again by what tests see", () => {
    const word = fc.stringMatching(/^[a-z0-9:,.()"'-]{1,30}$/);
    const sentence = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(sentence, sentence, sentence, (summary, evidence, change) => {
        const { message } = new VllmServerError({
          ...details,
          summary,
          evidence,
          change,
          logCommand: undefined,
        });
        const text = layOutError(message);
        expect(text.split(/\s+/)).toEqual(message.split(/\s+/));
        const isQuoted = /: "|\blog line/.test(message.replace("(worker 1, log line 70)", ""));
        const widest = Math.max(...onTerminal(text, "    error: ").map((line) => line.length));
        if (!isQuoted) expect(widest).toBeLessThanOrEqual(80);
        expect(joinedError(text).split("\n").length).toBe(message.split("\n").length);
      }),
    );
  });
});
