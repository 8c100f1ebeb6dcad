import { spawn } from "node:child_process";

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env] whole environment; default: ours
 * @property {number} [timeoutSeconds] after this the program and all it started are ended; default: none
 * @property {boolean} [show] also print its output, to our stderr; default false
 * @property {((line: string) => void) | undefined} [onLine] called for every line of its stderr
 */

/**
 * @typedef {object} RunResult
 * @property {number} code exit code; 127 when the program does not exist, 124 when it ran past its time
 * @property {string} stdout
 * @property {string} stderr
 */

/**
 * Runs a program without a shell and waits for its end. Never throws for a failing program.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function capture(command, args, options = {}) {
  return new Promise((done) => {
    // With a time limit it leads its own process group, so that the limit also ends what it started.
    const ownGroup = options.timeoutSeconds !== undefined;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: ownGroup,
    });
    let stdout = "";
    let stderr = "";
    let partialLine = "";
    let isLate = false;
    const endGroup = () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const onInterrupt = () => {
      endGroup();
      process.exit(130);
    };
    const timer =
      options.timeoutSeconds === undefined
        ? undefined
        : setTimeout(() => {
            isLate = true;
            endGroup();
          }, options.timeoutSeconds * 1000);
    if (ownGroup) process.once("SIGINT", onInterrupt).once("SIGTERM", onInterrupt);
    /** @param {number} code @param {string} lastWords */
    const finish = (code, lastWords) => {
      clearTimeout(timer);
      if (ownGroup) process.off("SIGINT", onInterrupt).off("SIGTERM", onInterrupt);
      done({ code, stdout, stderr: stderr + lastWords });
    };
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      stdout += text;
      if (options.show === true) process.stderr.write(text);
    });
    child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      stderr += text;
      if (options.show === true) process.stderr.write(text);
      const lines = (partialLine + text).split("\n");
      partialLine = lines.pop() ?? "";
      for (const line of lines) options.onLine?.(line);
    });
    child.once("error", (error) => {
      finish(127, error.message);
    });
    child.once("close", (code, signal) => {
      if (isLate) finish(124, `\n${command} did not end within ${String(options.timeoutSeconds)} s`);
      else finish(code ?? 1, signal === null ? "" : `\n${command} was ended by ${signal}`);
    });
  });
}

/**
 * Runs a program with its output on our own terminal.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<number>} exit code; 127 when the program does not exist
 */
export function stream(command, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", (error) => {
      process.stderr.write(`${command}: ${error.message}\n`);
      done(127);
    });
    child.once("close", (code) => {
      done(code ?? 1);
    });
  });
}

/**
 * The last lines of an output, for an error message.
 * @param {string} text
 * @param {number} [count]
 */
export function lastLines(text, count = 5) {
  return text.trim().split("\n").slice(-count).join("\n");
}

/** @param {string} text a line of progress; stderr, because stdout carries results */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * For the end of a script: prints the message, not the stack, and exits 1.
 * @param {unknown} error
 * @returns {never}
 */
export function failWith(error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
