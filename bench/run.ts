import { realVllm, standIn, type Candidate } from "./candidates.ts";
import { measureDiagnose } from "./diagnose.ts";
import { measureDownload } from "./download.ts";
import { measureFleet } from "./fleet.ts";
import { measureEnding } from "./ending.ts";
import { measureInstall } from "./install.ts";
import { endOnInterruption } from "./interruption.ts";
import { machineFacts } from "./machine.ts";
import { measureOverlay } from "./overlay.ts";
import { measureRefresh } from "./refresh.ts";
import { measureStart } from "./start.ts";
import { measureVerbs } from "./verbs.ts";

/**
 * node bench/run.ts [PART...] [--servers N] [--hosts N] [--delay MS] [--repetitions N] [--gigabytes N] [--link GBITS] [--megabytes N]: prints Markdown. Without a part: all.
 * Each part measures its peer in the same run.
 */

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  "stand-in": () => measured(standIn(), (candidate) => measureStart(candidate, 5)),
  real: () => measured(realVllm(), (candidate) => measureStart(candidate, 3)),
  ends: () => measured(standIn(), (candidate) => measureEnding(candidate, option("repetitions", 5))),
  verbs: measureVerbs,
  refresh: () =>
    measureRefresh({
      servers: option("servers", 20),
      hosts: option("hosts", 4),
      delayMilliseconds: option("delay", 50),
      repetitions: option("repetitions", 5),
    }),
  download: () =>
    measureDownload({
      gigabytes: option("gigabytes", 4),
      repetitions: option("repetitions", 3),
      links: process.argv.includes("--link") ? [option("link", 0)] : [1, 2.5, 0],
    }),
  diagnose: () => Promise.resolve(measureDiagnose(option("megabytes", 100), option("repetitions", 5))),
  overlay: () => measureOverlay(option("repetitions", 20)),
  install: () =>
    measureInstall({ megabytes: option("megabytes", 1000), repetitions: option("repetitions", 5) }),
  fleet: () => measureFleet({ servers: option("servers", 200), hosts: option("hosts", 20) }),
};

async function measured(
  making: Promise<Candidate>,
  measure: (candidate: Candidate) => Promise<string>,
): Promise<string> {
  const candidate = await making;
  try {
    return await measure(candidate);
  } finally {
    candidate.remove();
  }
}

function option(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

endOnInterruption();
const wanted = process.argv.slice(2).filter((word) => word in PARTS);
console.log(
  machineFacts()
    .map((fact) => `- ${fact}`)
    .join("\n"),
);
for (const name of wanted.length > 0 ? wanted : Object.keys(PARTS)) {
  console.log(`\n${(await PARTS[name]?.()) ?? ""}`);
}
