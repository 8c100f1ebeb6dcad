// npm run demo: the incident this product exists for, on the real Pulumi CLI over the real sshd. vLLM and the eight GPUs are
// stand-ins (there may be no GPU here); `npm run test:vllm` tells the same story with the real vLLM.
import { DemoHost } from "../test/support/demo-host.ts";
import { ensureSshd } from "./ensure-sshd.mjs";
import { failWith } from "./processes.mjs";

await ensureSshd().catch(failWith);
const host = await DemoHost.create();
let number = 0;
/** @param {string} text */
const say = (text) => process.stdout.write(`${text}\n`);
/** @param {string} title */
const step = (title) => {
  number += 1;
  say(`\n\u2501\u2501 ${String(number)}. ${title} ${"\u2501".repeat(Math.max(0, 96 - title.length))}`);
};
/** @param {string} what @param {boolean} isTrue */
const check = (what, isTrue) => {
  if (!isTrue) throw new Error(`demo: not as told: ${what}`);
  say(`   \u2713 ${what}`);
};

try {
  say(
    "A box with eight GPUs, and a checkpoint whose config asks for an FP8 KV cache that this vLLM cannot do.",
  );

  step("pulumi up: the start fails, and the error says why and what to change");
  await host.declare({});
  const failed = await host.pulumi("up");
  check("the exit code is not zero", failed.code !== 0);
  check("the cause is named", failed.stdout.includes("NotImplementedError"));
  check("the input to change is named", failed.stdout.includes('change: kvCacheDtype: "bfloat16"'));
  check("nothing of it runs and every GPU is idle", host.processCount() === 0 && host.areGpusIdle());

  step('one input changed, kvCacheDtype: "bfloat16": pulumi up is ready');
  await host.declare({ kvCacheDtype: "bfloat16" });
  const ready = await host.pulumi("up");
  check("the exit code is zero", ready.code === 0);
  check(
    "progress was shown on the resource's own line",
    /waiting for the first answer|loading weights/.test(ready.stdout),
  );
  check(
    "all eight GPUs hold memory",
    host.gpuMemoryMib().every((mib) => mib > host.idleMib),
  );
  say(host.gpuTable());

  step("a completion");
  const outputs = await host.outputs();
  const answer = await host.complete();
  say(JSON.stringify(answer, null, 2));
  check("it carries the fingerprint of this declaration", answer.system_fingerprint === outputs.configHash);

  step("pulumi preview: nothing to do, and no connection was opened");
  const connections = host.connectionCount();
  const preview = await host.pulumi("preview", ["--expect-no-changes"]);
  check("no change", preview.code === 0);
  check("no SSH connection", host.connectionCount() === connections);

  const supervisor = host.supervisorOf(Number(outputs.pid));
  step(
    `kill -9 ${String(outputs.pid)} ${String(supervisor)}: API server and supervisor are gone, engine and workers are not`,
  );
  process.kill(supervisor, "SIGKILL");
  process.kill(Number(outputs.pid), "SIGKILL");
  await host.isGone(Number(outputs.pid));
  check(
    `${String(host.processCount())} orphans hold the GPUs`,
    host.processCount() > 8 && !host.areGpusIdle(),
  );

  step("pulumi refresh and preview show it");
  const refresh = await host.pulumi("refresh");
  check(
    "refresh tells what it found",
    refresh.stdout.includes("its supervisor is gone and processes are left"),
  );
  const plan = await host.pulumi("preview");
  check("preview tells what up will do", plan.stdout.includes("restart: status: its supervisor is gone"));

  step("pulumi up heals it: the orphans are ended first, then one server is started");
  const healed = await host.pulumi("up");
  const after = await host.outputs();
  check("the exit code is zero", healed.code === 0);
  check("the orphans were ended first", healed.stdout.includes("stopping what runs"));
  check("one server runs, and it is a new one", host.serverCount() === 1 && after.pid !== outputs.pid);
  check("it answers", (await host.complete()).system_fingerprint === after.configHash);

  step("pulumi destroy gives the GPUs back, proven");
  const destroyed = await host.pulumi("destroy");
  check("the exit code is zero", destroyed.code === 0);
  check("no process is left", host.processCount() === 0);
  check("no shared memory is left", host.sharedMemory().length === 0);
  check("GPU memory is back at its baseline", host.areGpusIdle());
  say(host.gpuTable());
  say("\nAll as told.");
} catch (error) {
  process.exitCode = 1;
  say(`\n${error instanceof Error ? error.message : String(error)}`);
} finally {
  await host.close().catch(failWith);
}
