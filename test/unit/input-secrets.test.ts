import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseInputs } from "../../provider/src/core/parse-inputs";

const SECRET = "hunter2-hunter2";

const places: readonly (readonly [string, (value: unknown) => object])[] = [
  ["apiKey", (value) => ({ apiKey: value })],
  ["environment.TOKEN", (value) => ({ environment: { TOKEN: value } })],
  ["environment.VLLM_API_KEY", (value) => ({ environment: { VLLM_API_KEY: value } })],
  ["environment", (value) => ({ environment: [value] })],
  ["api_key", (value) => ({ api_key: value })],
  ["hfToken", (value) => ({ hfToken: value })],
  ["host.sudoPassword", (value) => ({ host: { host: "gpu1", sudoPassword: value } })],
  ["engine.apiKey", (value) => ({ engine: { apiKey: value } })],
  ["host.password", (value) => ({ host: { host: "gpu1", password: value } })],
  ["host.privateKey", (value) => ({ host: { host: "gpu1", privateKey: value } })],
  [
    "host.proxy.privateKeyPassword",
    (value) => ({ host: { host: "a", proxy: { host: "b", privateKeyPassword: value } } }),
  ],
  ['extraArgs["api-key"]', (value) => ({ extraArgs: { "api-key": value } })],
  ['extraArgs["hf-token"]', (value) => ({ extraArgs: { "hf-token": value } })],
];
const wrongs = [`${SECRET}\0 `, { inner: SECRET }, [SECRET], [[{ deep: SECRET }]]];

describe("problems with secret inputs", () => {
  it.each(places)("at %s never show the value and are marked secret", (path, at) => {
    for (const wrong of wrongs) {
      const result = parseInputs({ host: "gpu1", model: { path: "/m" }, ...at(wrong) });
      const text = JSON.stringify(result.ok ? null : result.problems);
      expect(text).not.toContain(SECRET);
      const found = result.ok ? [] : result.problems.filter((problem) => problem.path.startsWith(path));
      expect(found.map((problem) => problem.isSecret)).toEqual([true]);
    }
  });

  it.each([`root:${SECRET}@gpu1`, `ssh://root:${SECRET}@gpu1:22`, `:${SECRET}@gpu1`])(
    "hide a password inside a host text",
    (host) => {
      const result = parseInputs({ host, model: { path: "/m" } });
      expect(result).toMatchObject({ ok: false, problems: [{ path: "host", isSecret: true }] });
      expect(JSON.stringify(result)).not.toContain(SECRET);
    },
  );

  it.each([
    ["passwrd", { host: { host: "gpu1", passwrd: SECRET } }],
    ["proxy.passwrd", { host: { host: "gpu1", proxy: { host: "jump", passwrd: SECRET } } }],
    ["apikye", { apikye: SECRET }],
    ["env", { env: { HF_TOKEN: SECRET } }],
    ["engine.hfTokn", { engine: { hfTokn: SECRET } }],
    ["model.tokn", { model: { path: "/m", tokn: SECRET } }],
    ["extraArgs.api_ky", { extraArgs: { api_ky: SECRET } }],
  ])("do not show what stands under a misspelled name: %s", (_name, inputs) => {
    const result = parseInputs({ host: "gpu1", model: { path: "/m" }, ...inputs });
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  it("hold for any value below environment and for any shape of it", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), fc.string({ minLength: 1 }), (other, name) => {
        const environment = { [name]: `${SECRET}\0`, other };
        const result = parseInputs({ host: "gpu1", model: { path: "/m" }, environment });
        expect(JSON.stringify(result.ok ? null : result.problems)).not.toContain(SECRET);
      }),
    );
  });
});
