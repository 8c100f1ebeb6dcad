import { programOf } from "../support/bed";
import { note, takeAway, type Trace } from "../support/host-ledger";
import { makeNetwork } from "../support/host-network";
import { filesIn } from "../support/inside-host";
import { PulumiProject } from "../support/pulumi-cli";
import { freePort } from "../support/free-port";
import { makeSystemdHost, type HostPlan, type SystemdHost } from "../support/systemd-host";
import type { Inputs, Outputs } from "./fleet";
import { siteOnMachine, type Site } from "./site";

/** A machine of one's own, and a project that declares servers on it. */
export interface OneMachine {
  readonly machine: SystemdHost;
  /** Under which the machine reaches this one. */
  readonly outside: string;
  readonly project: PulumiProject;
  /** What a user of the machine has there. */
  site(user: string): Site;
  /** Inputs of a small server of the user, on a port that stays its own. */
  server(user: string, over?: Inputs): Promise<Inputs>;
  /** Paths of all unit files and links of ours, the system's and this user's. */
  unitFiles(user: string): readonly string[];
  /** Another project of the same people. */
  anotherProject(): Promise<PulumiProject>;
  /** Destroys what any project has left there and takes the machine away. */
  close(): Promise<void>;
}

export async function makeOneMachine(plan: HostPlan): Promise<OneMachine> {
  const network = await makeNetwork();
  const machine = await makeSystemdHost(plan, network).catch(async (error: unknown) => {
    await network.close();
    throw error;
  });
  const projects: PulumiProject[] = [];
  const traces: Trace[] = [];
  const makeProject = async (): Promise<PulumiProject> => {
    const made = await PulumiProject.create({ program: "", name: `project${String(projects.length)}` });
    const trace: Trace = { kind: "project", path: made.folder };
    note(trace);
    traces.push(trace);
    projects.push(made);
    return made;
  };
  const sites = new Map(
    ["root", ...plan.users.map((user) => user.name)].map((user) => [user, siteOnMachine(machine, user)]),
  );
  const site = (user: string): Site => {
    const found = sites.get(user);
    if (found === undefined) throw new Error(`there is no ${user}`);
    return found;
  };
  return {
    machine,
    outside: network.address,
    project: await makeProject(),
    site,
    server: async (user, over = {}) => ({
      ...site(user).inputs,
      listen: { port: await freePort("127.0.0.1") },
      environment: { STAND_IN_START_SECONDS: "0.5" },
      engine: { servedModelName: ["tiny"] },
      ...over,
    }),
    unitFiles: (user) => {
      const home = user === "root" ? "/root" : `/home/${user}`;
      const files = [
        ...filesIn(machine, "/etc/systemd/system"),
        ...filesIn(machine, `${home}/.config/systemd`),
      ];
      return files.filter((path) => path.includes("/pulumi-vllm-"));
    },
    anotherProject: makeProject,
    close: async () => {
      const failed: string[] = [];
      for (const project of projects) {
        const destroyed = await project.destroy();
        if (destroyed.code !== 0) failed.push(`destroy failed:\n${destroyed.stdout}\n${destroyed.stderr}`);
        await project.remove();
      }
      await machine.close();
      await network.close();
      await takeAway(traces);
      if (failed.length > 0) throw new Error(failed.join("\n"));
    },
  };
}

export async function declare(
  project: PulumiProject,
  servers: Readonly<Record<string, Inputs>>,
): Promise<void> {
  await project.setProgram(programOf(servers));
}

/** Outputs of a project's servers by their names, as the last run left them in state. */
export async function outputsOf(project: PulumiProject): Promise<Readonly<Record<string, Outputs>>> {
  const servers = await project.servers();
  return Object.fromEntries(servers.map(({ urn, outputs = {} }) => [urn.split("::").at(-1) ?? "", outputs]));
}
