import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonical, secretHash } from "../../provider/src/remote/secret-hash";

/** Both sides of the comparison are the product's own: agent/secret_hash.py, as the host would run it. */
const ON_THE_HOST = `
import hmac, json, sys
sys.path.insert(0, "provider/src/remote")
from agent import secret_hash
for value in json.load(sys.stdin):
    told = secret_hash.canonical(value)
    print(json.dumps([told.decode("ascii"), hmac.new(bytes.fromhex("5a17"), told, "sha256").hexdigest()]))
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
  expect(values.map((value) => [canonical(value), secretHash(value, "5a17")])).toEqual(onTheHost(values));
});

test("the same secrets give the same hash in any order, and another one with another salt or value", () => {
  const hash = secretHash({ A: "1", B: "2" }, "00ff");
  expect(secretHash({ B: "2", A: "1" }, "00ff")).toBe(hash);
  expect(secretHash({ A: "1", B: "3" }, "00ff")).not.toBe(hash);
  expect(secretHash({ A: "1", B: "2" }, "00fe")).not.toBe(hash);
});
