import { EXIT } from "./command";
import { run } from "./run";

/** The program `pulumi-vllm`. Output that nobody reads any more (`| head`) is no failure. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
}

run(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
}).then(
  (code) => {
    // Not exit(): what was written to a pipe has to arrive.
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(
      `pulumi-vllm failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = EXIT.failed;
  },
);
