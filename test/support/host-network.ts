import { execFileSync } from "node:child_process";
import { withLock } from "../../scripts/lock.mjs";
import { note, takeAway, type Trace } from "./host-ledger.ts";

/** A network of its own, 10.77.N.0/24, between this machine (.1) and network namespaces; nothing of it leaves the machine. Needs root. */
export interface HostNetwork {
  /** Differs between the networks of this machine, at most 8 letters and digits. */
  readonly name: string;
  /** Of this machine there. */
  readonly address: string;
  /** Makes a namespace whose eth0 has the next address. */
  join(): Member;
  /** Takes everything away again. */
  close(): Promise<void>;
}

export interface Member {
  /** Path of its network namespace. */
  readonly namespace: string;
  /** Differs between all members of all networks. */
  readonly name: string;
  readonly address: string;
  /** Nothing reaches it or comes from it until it is plugged in again; its connections know of nothing. */
  unplug(): void;
  plugIn(): void;
}

export async function makeNetwork(): Promise<HostNetwork> {
  const traces: Trace[] = [];
  const keep = (trace: Trace): void => {
    note(trace);
    traces.push(trace);
  };
  // Another run may be looking for a free one at the same time.
  const subnet = await withLock("/run/pulumi-vllm-test-hosts/network.lock", async () => {
    const free = freeSubnet();
    keep({ kind: "bridge", name: `pv${String(free)}` });
    ip("link", "add", `pv${String(free)}`, "type", "bridge");
    ip("addr", "add", `10.77.${String(free)}.1/24`, "dev", `pv${String(free)}`);
    return free;
  });
  const bridge = `pv${String(subnet)}`;
  ip("link", "set", bridge, "up");
  let last = 10;
  return {
    name: bridge,
    address: `10.77.${String(subnet)}.1`,
    join: () => {
      last += 1;
      const name = `${bridge}-${String(last)}`;
      const address = `10.77.${String(subnet)}.${String(last)}`;
      keep({ kind: "namespace", name });
      ip("netns", "add", name);
      ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
      ip("link", "set", name, "master", bridge, "up");
      ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
      ip("-n", name, "link", "set", "eth0", "up");
      ip("-n", name, "link", "set", "lo", "up");
      return {
        namespace: `/run/netns/${name}`,
        name,
        address,
        unplug: () => void ip("link", "set", name, "down"),
        plugIn: () => void ip("link", "set", name, "up"),
      };
    },
    close: () => takeAway(traces),
  };
}

function freeSubnet(): number {
  const taken = ip("-o", "-4", "addr", "show") + ip("-o", "link", "show");
  for (let subnet = 0; subnet < 256; subnet += 1)
    if (!taken.includes(` 10.77.${String(subnet)}.`) && !taken.includes(` pv${String(subnet)}:`))
      return subnet;
  throw new Error("Cannot make a network for hosts: 10.77.0.0/16 is all taken");
}

function ip(...args: readonly string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
