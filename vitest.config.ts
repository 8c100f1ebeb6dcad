import { defineConfig } from "vitest/config";

interface Suite {
  readonly name: string;
  /** Longest a single test may take. */
  readonly testSeconds: number;
  /** Files at the same time; null: as many as there are cores. 1: its tests use most of the machine, or measure it. */
  readonly files: number | null;
}

const suites: readonly Suite[] = [
  { name: "unit", testSeconds: 20, files: null },
  { name: "cases", testSeconds: 20, files: null },
  { name: "stand-in", testSeconds: 60, files: 1 },
  { name: "transport", testSeconds: 60, files: null },
  { name: "pulumi", testSeconds: 180, files: 1 },
  { name: "e2e", testSeconds: 300, files: 2 },
  { name: "hosts", testSeconds: 300, files: 1 },
  { name: "vllm", testSeconds: 900, files: 1 },
];

export default defineConfig({
  test: {
    projects: suites.map((suite) => ({
      test: {
        name: suite.name,
        include: [`test/${suite.name}/**/*.test.ts`],
        environment: "node" as const,
        // Threads share one process: its signals, working folder and children would be everybody's.
        pool: "forks" as const,
        ...(suite.files === null ? {} : { maxWorkers: suite.files }),
        testTimeout: suite.testSeconds * 1000,
        hookTimeout: suite.testSeconds * 1000,
      },
    })),
  },
});
