import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonical, differingSecrets, secretHashes } from "../../provider/src/remote/secret-hash";

/** Both sides of the comparison are the product's own: agent/secret_hash.py, as the host would run it. */
const ON_THE_HOST = `
import json, sys
sys.path.insert(0, "provider/src/remote")
from agent import secret_hash
for value in json.load(sys.stdin):
    secret_hash.kept = lambda server_id: value
    print(json.dumps([secret_hash.canonical(value).decode("ascii"), secret_hash.of("", "5a17")]))
`;

function onTheHost(values: readonly Readonly<Record<string, string>>[]): readonly unknown[] {
  const input = JSON.stringify(values);
  const lines = execFileSync("python3", ["-I", "-B", "-c", ON_THE_HOST], { input, encoding: "utf8" });
  return lines
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}

test("host and client write the same secrets alike, whatever characters they are made of", () => {
  const chosen = [
    {},
    { B: "2", A: "1", a: "", "": "empty name" },
    { "\u{1f600}": "beyond the first plane", "\uff21": "after it in JavaScript, before it in Python" },
    { half: "\ud83d", other: "\ude00", "\udc00": "lone halves" },
    { "a\u{1f600}": "longer", a: "shorter", "a\uffff": "the last of the first plane" },
    { control: '\u0000\b\f\n\r\t\u001f"\\/\u007f\u0080\u2028\u2029' },
  ];
  const text = fc.string({ unit: "binary" });
  const drawn = fc.sample(fc.dictionary(text, text), { seed: 7, numRuns: 300 });
  const values = [...chosen, ...drawn];
  expect(values.map((value) => [canonical(value), secretHashes(value, "5a17")])).toEqual(onTheHost(values));
});

test("the secrets that differ are named, and those that only one side has", () => {
  const [host, salt] = [{ A: "1", B: "2", C: "3" }, "00ff"];
  const differing = (secrets: Readonly<Record<string, string>>): readonly string[] =>
    differingSecrets(secretHashes(host, salt), secretHashes(secrets, salt));
  expect(differing({ C: "3", B: "2", A: "1" })).toEqual([]);
  expect(differing({ B: "0", C: "3", D: "1" })).toEqual(["A", "B", "D"]);
});

test("a value has another hash under another name and with another salt", () => {
  const hashes = [secretHashes({ A: "1", B: "1" }, "00ff"), secretHashes({ A: "1" }, "00fe")];
  expect(new Set(hashes.flatMap(Object.values)).size).toBe(3);
});
