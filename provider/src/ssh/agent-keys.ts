import {
  BaseAgent,
  createAgent,
  utils,
  type IdentityCallback,
  type ParsedKey,
  type SignCallback,
  type SigningRequestOptions,
} from "ssh2";

export type AgentKeys =
  | { readonly ok: true; readonly keys: readonly AgentKey[] }
  | { readonly ok: false; readonly problem: string };

export interface AgentKey {
  readonly publicKey: Buffer;
  readonly comment: string;
  /** An agent that offers only this key, so that each key is one try of its own. */
  readonly agent: BaseAgent;
}

const ANSWER_MILLISECONDS = 5000;

/** Asks an SSH agent for its keys; one that does not answer within 5 s counts as out of reach. */
export function agentKeys(socketPath: string): Promise<AgentKeys> {
  return new Promise((resolve) => {
    const agent = createAgent(socketPath);
    const timer = setTimeout(() => {
      resolve({ ok: false, problem: "it does not answer" });
    }, ANSWER_MILLISECONDS);
    agent.getIdentities((error, keys) => {
      clearTimeout(timer);
      if (error !== undefined && error !== null) resolve({ ok: false, problem: "it cannot be reached" });
      else
        resolve({
          ok: true,
          keys: (keys ?? []).flatMap((key) => usable(agent, "pubKey" in Object(key) ? null : key)),
        });
    });
  });
}

function usable(agent: BaseAgent, identity: unknown): readonly AgentKey[] {
  if (typeof identity !== "string" && !Buffer.isBuffer(identity) && !isParsed(identity)) return [];
  const key = isParsed(identity) ? identity : utils.parseKey(identity);
  // Hardware-backed types and certificates are not known to ssh2.
  return key instanceof Error
    ? []
    : [{ publicKey: key.getPublicSSH(), comment: key.comment, agent: new OneKeyAgent(agent, key) }];
}

function isParsed(value: unknown): value is ParsedKey {
  return typeof value === "object" && value !== null && "getPublicSSH" in value;
}

class OneKeyAgent extends BaseAgent<ParsedKey> {
  readonly #agent: BaseAgent;
  readonly #key: ParsedKey;

  constructor(agent: BaseAgent, key: ParsedKey) {
    super();
    this.#agent = agent;
    this.#key = key;
  }

  getIdentities(callback: IdentityCallback<ParsedKey>): void {
    callback(null, [this.#key]);
  }

  sign(
    key: ParsedKey,
    data: Buffer,
    optionsOrCallback: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    if (typeof optionsOrCallback === "function") this.#agent.sign(key, data, optionsOrCallback);
    else this.#agent.sign(key, data, optionsOrCallback, callback);
  }
}
