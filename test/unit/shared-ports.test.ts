import { expect, test } from "vitest";
import { UNKNOWN_VALUE } from "../../provider/src/core/input-unknowns";
import { sharedPorts } from "../../provider/src/inputs";

const model = { path: "/models/m" };

function isRefused(
  first: Readonly<Record<string, unknown>>,
  second: Readonly<Record<string, unknown>>,
): boolean {
  const found = sharedPorts({ a: { model, ...first }, b: { model, ...second } });
  if (found.length > 0) expect(found).toEqual([{ name: "b", other: "a", port: 8000 }]);
  return found.length > 0;
}

test.each<[string, unknown, unknown, boolean]>([
  ["the same name", "gpu1", "gpu1", true],
  ["a text and an object", "ann@gpu1:22", { host: "gpu1", user: "ann", port: 22 }, true],
  [
    "the same with other credentials",
    { host: "gpu1", password: "a" },
    { host: "gpu1", privateKey: "b" },
    true,
  ],
  ["two names", "gpu1", "gpu2", false],
  ["two users, whom a gateway may lead elsewhere", "ann@gpu1", "bob@gpu1", false],
  ["a user, and none that is known", "ann@gpu1", "gpu1", false],
  ["two ports of sshd", "gpu1:22", "gpu1:2222", false],
  ["two jump hosts", { host: "10.0.0.5", proxy: "one" }, { host: "10.0.0.5", proxy: "two" }, false],
  ["two SSH configurations", "gpu1", { host: "gpu1", sshConfigFile: "other" }, false],
  ["one that is not known yet", "gpu1", UNKNOWN_VALUE, false],
  ["one that is wrong", "gpu1", 7, false],
])("hosts: %s", (_, first, second, refused) => {
  expect(isRefused({ host: first }, { host: second })).toBe(refused);
});

test.each<[string | undefined, string, boolean]>([
  [undefined, "127.0.0.1", true],
  ["localhost", "127.0.0.1", true],
  ["0.0.0.0", "127.0.0.1", true],
  ["10.0.0.1", "0.0.0.0", true],
  ["::", "127.0.0.1", true],
  ["::1", "::", true],
  ["0.0.0.0", "::", true],
  ["0.0.0.0", "::1", false],
  ["127.0.0.1", "10.0.0.1", false],
  ["127.0.0.1", "::1", false],
])("addresses: %s and %s", (first, second, refused) => {
  const host = "gpu1";
  const listen = first === undefined ? undefined : { address: first };
  const key = { apiKey: "k" };
  expect(isRefused({ host, listen, ...key }, { host, listen: { address: second, port: 8000 }, ...key })).toBe(
    refused,
  );
});
