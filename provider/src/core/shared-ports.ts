import { canonicalJson } from "./identity";
import { parseInputs } from "./parse-inputs";
import type { HostSpec, Spec } from "./spec";

/** A server that cannot listen where it is told to while another one of the same host does. */
export interface SharedPort {
  readonly name: string;
  /** The one before it that has the port. */
  readonly other: string;
  readonly port: number;
}

/**
 * The servers that want a port which one before them has, on an address that it covers. Hosts are the same where they are declared by the same
 * words: what two names, two users or two ports of sshd lead to, only ~/.ssh/config and the network know.
 * @param servers name -> inputs as plain JSON; those with something wrong in them are left out
 */
export function sharedPorts(servers: Readonly<Record<string, unknown>>): readonly SharedPort[] {
  const before: { readonly name: string; readonly host: string; readonly listen: Spec["listen"] }[] = [];
  return Object.entries(servers).flatMap(([name, inputs]): readonly SharedPort[] => {
    const parsed = parseInputs(inputs);
    if (!parsed.ok || parsed.unknowns.some((path) => /^(?:host|listen)\b/.test(path))) return [];
    const { listen } = parsed.spec;
    const host = canonicalJson(placeOf(parsed.spec.host));
    const holder = before.find(
      (one) =>
        one.host === host && one.listen.port === listen.port && overlap(one.listen.address, listen.address),
    );
    before.push({ name, host, listen });
    return holder === undefined ? [] : [{ name, other: holder.name, port: listen.port }];
  });
}

/** What decides which machine it is; not how one gets in there. */
function placeOf({ host, port, user, proxy, sshConfigFile }: HostSpec): object {
  return { host, port, user, sshConfigFile, proxy: proxy === null ? null : placeOf(proxy) };
}

/** As sockets do: all addresses cover each, and `::` those of IPv4 too, as Linux has it unless bindv6only is set. */
function overlap(first: string, second: string): boolean {
  const [one, other] = [plain(first), plain(second)];
  return one === other || covers(one, other) || covers(other, one);
}

function covers(all: string, address: string): boolean {
  return all === "::" || (all === "0.0.0.0" && !address.includes(":"));
}

function plain(address: string): string {
  return address === "localhost" ? "127.0.0.1" : address;
}
