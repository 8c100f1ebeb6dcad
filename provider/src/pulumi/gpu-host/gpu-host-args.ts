import type { types } from "@pulumi/command";
import type { Input } from "@pulumi/pulumi";
import type { HostArgs } from "../host-args";

/**
 * `@pulumi/command`'s connection, and what only a VllmServer's `host` knows, which is passed on. `@pulumi/command` does not read
 * ~/.ssh/config, and takes any host key where `hostKey` is not given.
 */
export type GpuHostConnection = types.input.remote.ConnectionArgs &
  Pick<HostArgs, "knownHostsFile" | "sshConfigFile" | "python" | "sudo">;

/** A change of anything but `connection` runs its script again; each looks first, and changes only what differs. */
export interface GpuHostArgs {
  /** How to reach the machine: as root, or as a user whose sudo asks for no password. `host` has to be an address or a name that resolves. */
  readonly connection: GpuHostConnection;
  /** The NVIDIA driver that must be there. Default: { minimum: "570" }. */
  readonly driver?: DriverArgs | undefined;
  /** Whether persistence mode of the GPUs is switched on, now and at boot. Default true. */
  readonly persistenceMode?: boolean | undefined;
  /** Packages of Debian or Ubuntu to install where they are missing. Default: DEFAULT_PACKAGES; a list replaces them. */
  readonly packages?: readonly Input<string>[] | undefined;
  /** An account for the servers; `host` then logs in as it. Default: none, servers run as `connection.user`. */
  readonly user?: UserArgs | undefined;
  /** Disks to mount. Default: none. */
  readonly disks?: readonly DiskArgs[] | undefined;
  /** TCP ports that clients on other machines use: `firewallHint` then says what to open. Nothing is opened. Default: none. */
  readonly ports?: readonly Input<number>[] | undefined;
  /** Another value here looks at everything again: the resources of `@pulumi/command` are replaced, which undoes nothing. */
  readonly triggers?: readonly Input<string | number>[] | undefined;
}

export interface DriverArgs {
  /** Lowest version, such as "570" or "580.65.06". Default "570". */
  readonly minimum?: Input<string> | undefined;
  /** Package to install where there is no driver at all, such as "nvidia-driver-570-server". Default: none is installed. Never an upgrade. */
  readonly install?: Input<string> | undefined;
}

export interface UserArgs {
  /** Made where it does not exist. */
  readonly name: Input<string>;
  /** Public key lines that let it in, as in authorized_keys; without any, `host` must not need one. No other key is taken away. */
  readonly authorizedKeys: readonly Input<string>[];
  /** Whether its services run without a login, which user units of systemd need. Default true. */
  readonly linger?: boolean | undefined;
}

export interface DiskArgs {
  /** "/dev/nvme1n1" or, which stays the same over reboots, "UUID=...". */
  readonly device: Input<string>;
  /** Where it is mounted, and noted in /etc/fstab by UUID with `nofail`. */
  readonly path: Input<string>;
  /** Formats the disk if, and only if, nothing at all is found on it. Default: it is never formatted. */
  readonly formatWhenEmpty?: "ext4" | "xfs" | undefined;
}
