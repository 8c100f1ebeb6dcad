import { execFileSync } from "node:child_process";

/** A network of its own, 10.77.N.0/24, between this machine (.1) and network namespaces; nothing of it leaves the machine. Needs root. */
export interface HostNetwork {
  /** Makes a namespace whose eth0 has the next address. */
  join(): Member;
  /** Takes everything away again. */
  close(): void;
}

export interface Member {
  /** Path of its network namespace. */
  readonly namespace: string;
  readonly address: string;
}

export function makeNetwork(): HostNetwork {
  const subnet = freeSubnet();
  const bridge = `pv${String(subnet)}`;
  const address = (last: number): string => `10.77.${String(subnet)}.${String(last)}`;
  ip("link", "add", bridge, "type", "bridge");
  ip("addr", "add", `${address(1)}/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  const members: string[] = [];
  return {
    join: () => {
      const last = members.length + 11;
      const name = `${bridge}-${String(last)}`;
      ip("netns", "add", name);
      members.push(name);
      ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
      ip("link", "set", name, "master", bridge, "up");
      ip("-n", name, "addr", "add", `${address(last)}/24`, "dev", "eth0");
      ip("-n", name, "link", "set", "eth0", "up");
      ip("-n", name, "link", "set", "lo", "up");
      return { namespace: `/run/netns/${name}`, address: address(last) };
    },
    close: () => {
      // The interfaces go with their namespaces.
      for (const name of members) ip("netns", "del", name);
      ip("link", "del", bridge);
    },
  };
}

/** Another run on this machine may have one as well. */
function freeSubnet(): number {
  const taken = ip("-o", "-4", "addr", "show");
  for (let subnet = 0; subnet < 256; subnet += 1)
    if (!taken.includes(` 10.77.${String(subnet)}.`)) return subnet;
  throw new Error("Cannot make a network for hosts: 10.77.0.0/16 is all taken");
}

function ip(...args: readonly string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}
