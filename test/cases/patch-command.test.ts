import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CONFIG_PATCH_CASES, type ConfigPatchCase } from "../support/config-patch-cases";
import { runProgram } from "../support/patch-command";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "patch-command-")));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.concurrent.for(CONFIG_PATCH_CASES)("pulumi-vllm patch: $id", async (one, { expect }) => {
  const { checkpoint, words, out } = prepared(one);
  const before = contents(checkpoint);

  const ran = await runProgram(["patch", checkpoint, ...words, "--out", out, "--json"]);

  expect(contents(checkpoint)).toEqual(before);
  expect(ran.err).toBe("");
  const said: Said = JSON.parse(ran.out);
  if (one.expect.rejected !== false) {
    expect(ran.code).toBe(1);
    expect(said).toEqual({ error: { code: one.expect.rejected, message: expect.any(String) } });
    expect(readdirSync(join(out, ".."))).not.toContain("out");
    return;
  }
  expect(ran.code).toBe(0);
  // As text, so that the order of keys counts.
  expect(JSON.stringify(said.files)).toBe(JSON.stringify(one.expect.filesAfter));
  expect(said.warnings.map(({ code }) => code)).toEqual(one.expect.warnings);
  if (one.expect.changed.every((place) => !place.endsWith("(overrides)"))) {
    expect(said.changes.map(placeOf)).toEqual(one.expect.changed);
  }
  for (const name of readdirSync(checkpoint)) {
    const after = one.expect.filesAfter[name];
    if (after === undefined || JSON.stringify(after) === JSON.stringify(one.files[name])) {
      expect(readlinkSync(join(out, name))).toBe(join(checkpoint, name));
    } else {
      expect(readFileSync(join(out, name), "utf8")).toBe(written(after));
    }
  }
  expect(readdirSync(out)).toEqual(readdirSync(checkpoint));
});

test("has cases", () => {
  expect(CONFIG_PATCH_CASES.length).toBeGreaterThan(40);
});

/** What --json promises of a patch. */
interface Said {
  readonly files: object;
  readonly changes: readonly { readonly file: string; readonly path: string }[];
  readonly warnings: readonly { readonly code: string }[];
}

function prepared(one: ConfigPatchCase): { checkpoint: string; words: readonly string[]; out: string } {
  const own = join(folder, one.id);
  const checkpoint = join(own, "checkpoint");
  mkdirSync(join(checkpoint, "folder"), { recursive: true });
  for (const [name, value] of Object.entries(one.files))
    writeFileSync(join(checkpoint, name), written(value));
  writeFileSync(join(checkpoint, "model.safetensors"), "weights");
  const { quantizationConfigOverrides, configOverrides } = one;
  const overrides = join(own, "overrides.json");
  writeFileSync(
    overrides,
    JSON.stringify({ quantizationConfigOverrides, configOverrides: configOverrides ?? {} }),
  );
  const given =
    quantizationConfigOverrides === undefined && configOverrides === undefined
      ? []
      : ["--overrides", overrides];
  return { checkpoint, words: ["--kv-cache-dtype", one.kvCacheDtype, ...given], out: join(own, "out") };
}

function written(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function contents(path: string): object {
  return Object.fromEntries(
    readdirSync(path).map((name) => [
      name,
      name === "folder" ? null : readFileSync(join(path, name), "utf8"),
    ]),
  );
}

function placeOf(change: { readonly file: string; readonly path: string }): string {
  return `${change.file}#${change.path}`;
}
