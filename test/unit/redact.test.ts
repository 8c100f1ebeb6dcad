import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact, secretsOf } from "../../provider/src/core/redact";
import { environment, hubModel, spec } from "../support/host-facts";

const host = spec().host;
const KEY =
  "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAAC3NzaC1lZDI1NTE5\n-----END OPENSSH PRIVATE KEY-----\n";
const full = spec({
  apiKey: "sk-live-1",
  environment: { HF_TOKEN: "hf_abcdef", FLAG: "true", TINY: "abc", JSON: 'a"b\\c' },
  host: {
    ...host,
    password: "pass word",
    privateKey: KEY,
    proxy: { ...host, privateKeyPassword: "proxy-pass" },
  },
});

describe("redaction", () => {
  it("replaces every secret of a spec, wherever it stands", () => {
    const text = `key sk-live-1, token=hf_abcdef; "pass word" via proxy-pass, line AAAAC3NzaC1lZDI1NTE5, all ${KEY}`;
    expect(redact(full, text)).toBe(
      'key [secret], token=[secret]; "[secret]" via [secret], line [secret], all [secret]',
    );
  });

  it("replaces a secret in the form that JSON gives it", () => {
    expect(redact(full, JSON.stringify({ x: 'a"b\\c' }))).toBe('{"x":"[secret]"}');
  });

  it("replaces the longer of two secrets of which one begins the other", () => {
    expect(redact(spec({ apiKey: "abcd", environment: { A: "abcdefgh" } }), "abcdefgh abcd")).toBe(
      "[secret] [secret]",
    );
  });

  it("leaves settings readable without which no log is, and no variable whose name speaks of a secret", () => {
    const environment = {
      ...{ VLLM_ATTENTION_BACKEND: "FLASHINFER", VLLM_CPU_KVCACHE_SPACE: "4000", MAX_JOBS: "160000" },
      ...{
        VLLM_API_KEY: "OPENSESAME",
        DB_PASSWORD: "123456",
        VLLM_PORT: "tcp://10.0.0.1:8",
        OTHER: "BACKENDS",
      },
    };
    const text = Object.values(environment).join(" ");
    expect(redact(spec({ environment }), text)).toBe(
      "FLASHINFER 4000 160000 [secret] [secret] [secret] [secret]",
    );
    expect(redact(spec({ apiKey: "123456" }), "123456")).toBe("[secret]");
  });

  it("leaves short values and plain words readable", () => {
    expect(redact(full, "abc true -----BEGIN OPENSSH PRIVATE KEY-----")).toBe(
      "abc true -----BEGIN OPENSSH PRIVATE KEY-----",
    );
  });

  it("replaces the token of a model and the credentials of URLs, also those of a message about them", () => {
    const given = spec({
      model: hubModel({ token: "hf_abcdef", endpoint: "https://ann:hub-pass@mirror" }),
      vllm: environment({
        indexUrl: "https://token-1@index/simple",
        extraIndexUrls: ["https://bob:p%40ss@more"],
        packages: ["x @ https://__token__:pkg-pass@host/x.whl"],
      }),
    });
    const text =
      "401 of https://ann:hub-pass@mirror with hf_abcdef; https://token-1@index, p@ss of bob, pip: pkg-pass";
    expect(redact(given, text)).toBe(
      "401 of https://[secret]@mirror with [secret]; https://[secret]@index, [secret] of bob, pip: [secret]",
    );
  });

  it("leaves a text without secrets as it is", () => {
    expect(redact(spec(), "anything")).toBe("anything");
  });

  it("lets no secret through, in any text", () => {
    const secret = fc
      .string({ minLength: 6, unit: "grapheme" })
      .filter((value) => value.trim().length >= 6 && !"[secret]".includes(value.trim()));
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (value, before, after) => {
        const given = spec({ environment: { A: value } });
        expect(secretsOf(given)).toContain(value);
        const text = redact(given, `${before}${value}${after}`);
        expect(text.split("[secret]").some((part) => part.includes(value))).toBe(false);
      }),
    );
  });
});
