import { once } from "node:events";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { heedingCancel } from "../../provider/src/pulumi/cancellation";

/** The engine's request, as the server of Pulumi's dynamic providers gets it; the CLI sends it in test/e2e/interruption. */

test("whoever works is told of the engine's Cancel, of no other request, and not after the work", async () => {
  const server = createServer();
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200 });
    stream.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect(`http://127.0.0.1:${String(port)}`);
  const request = async (verb: string): Promise<void> => {
    const stream = client.request({ ":method": "POST", ":path": `/pulumirpc.ResourceProvider/${verb}` });
    stream.resume().end();
    await once(stream, "close");
  };
  const told: string[] = [];
  const working = (name: string, work: () => Promise<void>): Promise<void> =>
    heedingCancel(() => told.push(name), work);
  try {
    await working("early", () => request("Update"));
    await working("outer", () => working("inner", () => request("Cancel")));
    await expect(working("failing", () => Promise.reject(new Error("of the work")))).rejects.toThrow(
      "of the work",
    );
    await request("Cancel");
    expect(told).toEqual(["outer", "inner"]);
  } finally {
    client.close();
    server.close();
  }
});
