import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import { VllmServer } from "pulumi-vllm";
import { ask } from "./ask.ts";
import { reach } from "./reach.ts";

const [host, modelPath, question = "What is 2 and 2?", port = "8000"] = process.argv.slice(2);
if (host === undefined || modelPath === undefined) {
  console.error("usage: npm start -- HOST MODEL_PATH [QUESTION [PORT]]");
  process.exit(2);
}

/** The program: what would stand in index.ts of other projects. What it returns are the stack's outputs. */
function program(): Promise<Record<string, unknown>> {
  const { baseUrl, servedModelName, tunnelCommand } = new VllmServer("llm", {
    host: host ?? "",
    model: { path: modelPath ?? "" },
    engine: { servedModelName: ["llm"] },
    listen: { port: Number(port) },
  });
  return Promise.resolve({ baseUrl, servedModelName, tunnelCommand });
}

const say = (text: string): void => {
  process.stderr.write(text);
};
// Pulumi runs the provider in this folder, where its packages are.
const stack = await LocalWorkspace.createOrSelectStack(
  { stackName: "dev", projectName: "automation-api", program },
  { workDir: import.meta.dirname },
);
try {
  const preview = await stack.preview();
  say(`preview: ${JSON.stringify(preview.changeSummary)}\n`);
  // Progress and errors stand on the lines that it prints; this hands them on as they come.
  const { outputs } = await stack.up({ onOutput: say });
  const told = (name: string): string => String(outputs[name]?.value ?? "");
  const way = await reach(told("baseUrl"), told("servedModelName"), told("tunnelCommand"));
  try {
    console.log(await ask(told("baseUrl"), told("servedModelName"), question));
  } finally {
    way.close();
  }
} finally {
  // Also after a failed `up`: what was started of the server is ended, and its GPUs are free.
  await stack.destroy({ onOutput: say });
}
