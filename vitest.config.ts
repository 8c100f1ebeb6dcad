import { defineConfig } from "vitest/config";

interface Suite {
  readonly name: string;
  /** Longest a single test may take. */
  readonly testSeconds: number;
  /** One file after another: its tests use most of the machine, or measure it. */
  readonly isSequential: boolean;
}

const suites: readonly Suite[] = [
  { name: "unit", testSeconds: 20, isSequential: false },
  { name: "cases", testSeconds: 20, isSequential: false },
  { name: "stand-in", testSeconds: 60, isSequential: true },
  { name: "transport", testSeconds: 60, isSequential: false },
  { name: "pulumi", testSeconds: 180, isSequential: true },
  { name: "e2e", testSeconds: 300, isSequential: true },
  { name: "hosts", testSeconds: 300, isSequential: true },
  { name: "vllm", testSeconds: 900, isSequential: true },
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
        fileParallelism: !suite.isSequential,
        testTimeout: suite.testSeconds * 1000,
        hookTimeout: suite.testSeconds * 1000,
      },
    })),
  },
});
