/** Who asks for a server, on what kind of machine, and which service manager "auto" has to settle on there. */
export interface Place {
  /** Name of the user there and of the server that is declared for it. */
  readonly name: string;
  readonly title: string;
  readonly manager: "systemd" | "systemd-user" | "process";
  /** The machine with systemd; null: the sshd of this machine, where the user is whoever runs the tests. */
  readonly machine: "gpu1" | "gpu2" | null;
}

export const PLACES: readonly Place[] = [
  { name: "ann", title: "a user with sudo: systemd", manager: "systemd", machine: "gpu1" },
  { name: "root", title: "root: systemd", manager: "systemd", machine: "gpu2" },
  {
    name: "bob",
    title: "a user without sudo, with linger: systemd-user",
    manager: "systemd-user",
    machine: "gpu2",
  },
  { name: "cid", title: "a user with neither: process", manager: "process", machine: "gpu1" },
  { name: "own", title: "no systemd there: process", manager: "process", machine: null },
];

/** Beside root. */
export const USERS = {
  gpu1: [{ name: "ann", sudo: true }, { name: "cid" }],
  gpu2: [{ name: "bob", linger: true }],
} as const;

export const ON_SYSTEMD = PLACES.filter(({ manager }) => manager !== "process");
export const ON_MACHINES = PLACES.filter(({ machine }) => machine !== null);
