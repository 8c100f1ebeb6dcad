// npm run demo:pictures: runs the demo and makes docs/demo/*.svg and docs/demo.md of what it prints.
import { spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryFolder } from "./places.mjs";
import { failWith } from "./processes.mjs";
import { terminalPicture } from "./terminal-picture.mjs";

const COLUMNS = 112;
const folder = join(repositoryFolder, "docs/demo");

const printed = await demo().catch(failWith);
const steps = printed.split(/^(?=\u2501\u2501 \d+\. )/m).slice(1);
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const pictures = [];
for (const step of steps) {
  const [, number = "", title = ""] = /^\u2501\u2501 (\d+)\. (.*?) \u2501*$/m.exec(step) ?? [];
  const name = `${number}-${slug(title)}.svg`;
  await writeFile(join(folder, name), terminalPicture(readable(step), COLUMNS));
  pictures.push({ number, title: readable(title), name });
}
await writeFile(join(repositoryFolder, "docs/demo.md"), page(pictures));

/** Everything the demo prints. It has to end well. @returns {Promise<string>} */
function demo() {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repositoryFolder, "scripts/demo.mjs")], {
      cwd: repositoryFolder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      text += String(piece);
      process.stdout.write(String(piece));
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`the demo ended with ${String(code)}`));
    });
  });
}

/** Without what differs from run to run and says nothing: folders, ticks, process numbers in the title. @param {string} text */
function readable(text) {
  return text
    .replace(/\/tmp\/[\w-]+\/home/g, "/home/ann")
    .replace(/\/tmp\/[\w-]+/g, "/data")
    .replace(/^@ .*\n/gm, "")
    .replace(/kill -9 \d+ \d+/, "kill -9")
    .replace(/\n{3,}/g, "\n\n")
    .trimEnd();
}

/** @param {string} title */
function slug(title) {
  const words =
    readable(title)
      .toLowerCase()
      .replace(/\d+/g, "")
      .match(/[a-z]+/g) ?? [];
  return words.slice(0, 5).join("-");
}

/** @param {readonly { number: string, title: string, name: string }[]} pictures */
function page(pictures) {
  const parts = pictures.map(
    ({ title, name }) =>
      `## ${title.charAt(0).toUpperCase()}${title.slice(1)}\n\n![${title}](demo/${name})\n`,
  );
  return [
    "# The demo, step by step\n",
    "What `npm run demo` does and prints: the incident this exists for, on the real Pulumi CLI over a real sshd, with stand-ins for vLLM and eight GPUs.",
    "Made by `npm run demo:pictures`.\n",
    ...parts,
  ].join("\n");
}
