import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../test/support/patch-command.ts";
import { LOG_SHAPES, type LogShape } from "./log-lines.ts";
import { load } from "./machine.ts";
import { spread } from "./statistics.ts";
import { table } from "./table.ts";

/** Runs a program with its output in $1 and tells what it took. Source: getrusage(2), ru_maxrss in KiB. */
const MEASURE = `
import json, resource, subprocess, sys, time
begin = time.monotonic()
out = subprocess.run(sys.argv[1:], capture_output=True, text=True)
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"wall": wall, "processor": used.ru_utime + used.ru_stime, "kib": used.ru_maxrss, "out": out.stdout, "code": out.returncode}))
`;

interface Measured {
  readonly wall: number;
  readonly processor: number;
  readonly kib: number;
  readonly out: string;
}

/**
 * `pulumi-vllm diagnose` on logs of so many megabytes beside programs that only look at each byte.
 * @returns Markdown
 */
export function measureDiagnose(megabytes: number, repetitions: number): string {
  const folder = mkdtempSync(join(tmpdir(), "bench-diagnose-"));
  const loadBefore = load();
  try {
    const rows = LOG_SHAPES.flatMap((shape) => {
      const file = join(folder, "start.log");
      writeLog(file, shape, megabytes * 1e6);
      return rowsOf(shape, file, repetitions);
    });
    return [
      `### Diagnose: ${String(megabytes)} MB, ${String(repetitions)} of each in turn (load ${loadBefore} before, ${load()} after)`,
      table(["log", "what", "seconds: median (least-most)", "processor s", "peak MiB"], rows),
    ].join("\n\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowsOf(shape: LogShape, file: string, repetitions: number): readonly (readonly string[])[] {
  const ways: Readonly<Record<string, readonly string[]>> = {
    "`diagnose`": [process.execPath, PROGRAM, "diagnose", file, "--json"],
    "`diagnose` of an empty log, Node's own start": [
      ...[process.execPath, PROGRAM, "diagnose", "/dev/null", "--json", "--exit-code", "1"],
    ],
    "`grep -c Error`": ["grep", "-c", "Error", file],
    "`wc -l`": ["wc", "-l", file],
  };
  const found = Object.keys(ways).map((): Measured[] => []);
  for (let turn = 0; turn < repetitions; turn += 1)
    for (const [index, argv] of Object.values(ways).entries()) found[index]?.push(measure(argv));
  for (const { out } of found[0] ?? []) {
    const { code }: { readonly code: string } = JSON.parse(out);
    if (code !== shape.code) throw new Error(`${shape.name}: diagnosed as ${code}, need ${shape.code}`);
  }
  return Object.keys(ways).map((what, index) => {
    const of = (value: (one: Measured) => number): readonly number[] => (found[index] ?? []).map(value);
    return [
      shape.name,
      what,
      spread(of(({ wall }) => wall)),
      spread(of(({ processor }) => processor)),
      spread(
        of(({ kib }) => kib / 1024),
        0,
      ),
    ];
  });
}

function measure(argv: readonly string[]): Measured {
  return JSON.parse(
    execFileSync("python3", ["-c", MEASURE, ...argv], { encoding: "utf8", maxBuffer: 2 ** 26 }),
  ) as Measured;
}

function writeLog(path: string, { first, next, separator = "\n", last }: LogShape, bytes: number): void {
  const file = openSync(path, "w");
  let written = writeSync(file, `${first}\n`);
  for (let turn = 0; written < bytes;) {
    const lines: string[] = [];
    for (const end = turn + 1000; turn < end; turn += 1) lines.push(next(turn));
    written += writeSync(file, lines.join(separator) + separator);
  }
  writeSync(file, `\n${last}\n`);
  closeSync(file);
}
