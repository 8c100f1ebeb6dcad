import { describe, expect, it } from "vitest";
import { converted, type Inputs } from "../../support/converted";

const model = { repo: "a/b" };

describe("what a shell makes of a text", () => {
  it.each<[string, string, Inputs, readonly string[]]>([
    [
      "variables, with defaults, cut and joined",
      'D=/m/org; M="$D/x.gguf/"; vllm serve "${M%/}" --served-model-name "${N:-${D##*/}}" "${U:+no}"--seed ${S-1}',
      { model: { path: "/m/org/x.gguf" }, engine: { servedModelName: ["org"] }, extraArgs: { seed: 1 } },
      [],
    ],
    [
      "a variable of several words",
      'A="--seed 1 --max-num-seqs 2"; A+=" --enforce-eager"; vllm serve a/b $A',
      { model, engine: { maxNumSeqs: 2, enforceEager: true }, extraArgs: { seed: 1 } },
      [],
    ],
    [
      "a list, also one that grows only at times",
      'A=(--seed 1); A+=(--max-num-seqs 2); if [ -n "$X" ]; then A+=(--foo); fi; vllm serve a/b "${A[@]}"',
      { model, engine: { maxNumSeqs: 2 }, extraArgs: { seed: 1 } },
      ["needs-value extraArgs"],
    ],
    [
      "what is set only under a condition",
      "T=1; [ -f x ] && T=2; vllm serve a/b -tp $T",
      { model },
      ["needs-value engine.tensorParallelSize"],
    ],
    [
      "a command's output",
      "vllm serve a/b --port $(free-port) --seed $((1 + 1)) --kv-cache-dtype `echo fp8`",
      { model },
      ["needs-value extraArgs.seed", "needs-value listen.port", "needs-value kvCacheDtype"],
    ],
    [
      "exports that only the command itself uses",
      "export P=9000 NCCL_DEBUG=INFO X=1; vllm serve a/b --port $P",
      { model, environment: { NCCL_DEBUG: "INFO", X: "1" }, listen: { port: 9000 } },
      [],
    ],
    [
      "a script in a word",
      "tmux new -d -s x 'export X=1; cd /srv && exec numactl -N 0 vllm serve a/b 2>&1 | tee log'",
      { model, environment: { X: "1" } },
      ["wrapper numactl", "wrapper tmux"],
    ],
    [
      "env and systemd-run with variables of their own",
      "systemd-run --user --setenv=X=1 -E Y=2 env Z=3 vllm serve a/b",
      { model, environment: { X: "1", Y: "2", Z: "3" } },
      ["wrapper systemd-run"],
    ],
    ["a loop that starts it again", "while true; do vllm serve a/b; sleep 5; done", { model }, []],
    ["a function", 'serve() { vllm serve a/b "$@"; }\nserve --seed 1', { model }, ["needs-value extraArgs"]],
    [
      "a file that the text writes and runs",
      "cat > run.sh <<'EOF'\nvllm serve a/b --seed 1\nEOF\nbash run.sh",
      { model, extraArgs: { seed: 1 } },
      [],
    ],
    [
      "prompts of terminals",
      "(venv) ann@box:~/x$ export X=1\n(venv) ann@box:~/x$ vllm serve a/b\n",
      { model, environment: { X: "1" } },
      [],
    ],
    [
      "a Markdown block",
      "```bash\nvllm serve a/b \\\n  --seed 1 \\\n```",
      { model, extraArgs: { seed: 1 } },
      [],
    ],
    [
      "a backslash before the flag of the next line",
      "vllm serve a/b --seed 1\\\n--max-num-seqs 2",
      { model, engine: { maxNumSeqs: 2 }, extraArgs: { seed: 1 } },
      [],
    ],
    [
      "a blank behind a backslash",
      "vllm serve a/b \\ \n  --seed 1 \\ \n  --max-num-seqs 2",
      { model, engine: { maxNumSeqs: 2 }, extraArgs: { seed: 1 } },
      ["missing-backslash text"],
    ],
    [
      "quotes and dashes of a text program",
      "vllm serve “a/b” –seed 1 —max-num-seqs 2",
      { model, engine: { maxNumSeqs: 2 }, extraArgs: { seed: 1 } },
      ["repaired-typography text"],
    ],
    ["conda, by name", "conda activate llm\nvllm serve a/b", { model }, ["needs-value vllm.executable"]],
  ])("%s", async (_, text, inputs, notes) => {
    expect(await converted(text)).toEqual({ inputs, notes });
  });
});
