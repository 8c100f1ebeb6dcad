import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb.js";
import { type LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";

export interface LoggedLine {
  readonly urn: string;
  readonly text: string;
  readonly severity: "info" | "warning" | "other";
  readonly isEphemeral: boolean;
}

/** The side of Pulumi's engine that a provider process talks to: its log, over gRPC. */
export interface PulumiEngine {
  /** host:port, what a provider process gets as its last argument. */
  readonly address: string;
  readonly lines: readonly LoggedLine[];
  /** Gone at once, as a killed CLI is. */
  stop(): void;
}

export async function startPulumiEngine(): Promise<PulumiEngine> {
  const lines: LoggedLine[] = [];
  const server = new Server();
  server.addService(EngineService, {
    log: (call: ServerUnaryCall<LogRequest, empty.Empty>, answer: sendUnaryData<empty.Empty>) => {
      lines.push(lineOf(call.request));
      answer(null, new empty.Empty());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    address: `127.0.0.1:${port}`,
    lines,
    stop: () => {
      server.forceShutdown();
    },
  };
}

function lineOf(request: LogRequest): LoggedLine {
  const severity = request.getSeverity();
  return {
    urn: request.getUrn(),
    text: request.getMessage(),
    severity: severity === LogSeverity.INFO ? "info" : severity === LogSeverity.WARNING ? "warning" : "other",
    isEphemeral: request.getEphemeral(),
  };
}
