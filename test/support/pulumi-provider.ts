import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { credentials, type ServiceError } from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import {
  CheckRequest,
  type CheckResponse,
  ConfigureRequest,
  CreateRequest,
  type CreateResponse,
  DiffRequest,
  DiffResponse,
  ErrorResourceInitFailed,
} from "@pulumi/pulumi/proto/provider_pb.js";
import { Status } from "@pulumi/pulumi/proto/status_pb.js";
import { Struct, type JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb.js";
import { repositoryFolder } from "../../scripts/places.mjs";

export type Properties = Record<string, JavaScriptValue>;

export interface CheckReply {
  readonly inputs: Properties;
  readonly failures: readonly { readonly property: string; readonly reason: string }[];
}

/** What the engine is told of a resource that exists but is not finished. */
export interface InitFailure {
  readonly id: string;
  readonly properties: Properties;
  readonly reasons: readonly string[];
}

const SCRIPT = join(
  repositoryFolder,
  "node_modules",
  "@pulumi",
  "pulumi",
  "cmd",
  "dynamic-provider",
  "index.js",
);

/** The real provider process of dynamic resources, spoken to as Pulumi's engine does. */
export class DynamicProvider {
  readonly process: ChildProcess;
  readonly #client: ResourceProviderClient;

  private constructor(process: ChildProcess, client: ResourceProviderClient) {
    this.process = process;
    this.#client = client;
  }

  /** @param engine host:port of the engine's log */
  static async start(engine: string): Promise<DynamicProvider> {
    const child = spawn("node", [SCRIPT, engine], {
      cwd: repositoryFolder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const lines = createInterface({ input: child.stdout });
    const [port]: unknown[] = await once(lines, "line");
    const client = new ResourceProviderClient(`127.0.0.1:${String(port)}`, credentials.createInsecure());
    const provider = new DynamicProvider(child, client);
    await provider.#configure();
    return provider;
  }

  async check(olds: Properties, news: Properties): Promise<CheckReply> {
    const request = new CheckRequest()
      .setOlds(Struct.fromJavaScript(olds))
      .setNews(Struct.fromJavaScript(news));
    const response = await called<CheckResponse>((answer) => {
      this.#client.check(request, answer);
    });
    const failures = response.getFailuresList().map((failure) => failure.toObject());
    return { inputs: propertiesOf(response.getInputs()), failures };
  }

  async diff(olds: Properties, news: Properties): Promise<"some" | "none" | "unknown"> {
    const request = new DiffRequest()
      .setId("id")
      .setOlds(Struct.fromJavaScript(olds))
      .setNews(Struct.fromJavaScript(news));
    const response = await called<DiffResponse>((answer) => {
      this.#client.diff(request, answer);
    });
    const { DIFF_NONE, DIFF_SOME } = DiffResponse.DiffChanges;
    const changes = response.getChanges();
    return changes === DIFF_SOME ? "some" : changes === DIFF_NONE ? "none" : "unknown";
  }

  async create(properties: Properties): Promise<{ readonly id: string; readonly properties: Properties }> {
    const request = new CreateRequest().setProperties(Struct.fromJavaScript(properties));
    const response = await called<CreateResponse>((answer) => {
      this.#client.create(request, answer);
    });
    return { id: response.getId(), properties: propertiesOf(response.getProperties()) };
  }

  async stop(): Promise<void> {
    this.#client.close();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exit = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await exit;
  }

  #configure(): Promise<unknown> {
    const request = new ConfigureRequest().setArgs(Struct.fromJavaScript({}));
    return called((answer) => {
      this.#client.configure(request, answer);
    });
  }
}

/** What a failed create told the engine; null: a plain error, which records nothing. */
export function initFailureOf(error: unknown): InitFailure | null {
  const [packed] = (error as ServiceError).metadata.get("grpc-status-details-bin");
  if (!(packed instanceof Buffer)) return null;
  const [detail] = Status.deserializeBinary(packed).getDetailsList();
  if (detail === undefined) return null;
  const failure = ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return {
    id: failure.getId(),
    properties: propertiesOf(failure.getProperties()),
    reasons: failure.getReasonsList(),
  };
}

function propertiesOf(struct: Struct | undefined): Properties {
  return struct === undefined ? {} : struct.toJavaScript();
}

function called<Response>(
  call: (answer: (error: ServiceError | null, response: Response) => void) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    call((error, response) => {
      if (error === null) resolve(response);
      else reject(error);
    });
  });
}
