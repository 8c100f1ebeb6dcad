import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

/** Files that are plain JavaScript by design: run by node as they are, or kept letter by letter in Pulumi's state. */
const plainJavaScript = ["provider/src/pulumi/blob.js", "provider/bin/pulumi-vllm.js"];

export default defineConfig(
  {
    ignores: [
      "**/dist/**",
      "**/dist.part-*/**",
      "**/node_modules/**",
      "coverage/**",
      "docs/api/**",
      ...plainJavaScript,
    ],
  },
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "max-lines": ["error", 300],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/no-unsafe-type-assertion": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/consistent-type-exports": "error",
      // Numbers print as one expects; what the rule is for are objects and undefined.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  {
    // What dependency-cruiser cannot see of "core is pure".
    files: ["provider/src/core/**/*.ts"],
    rules: {
      "no-restricted-globals": [
        "error",
        "process",
        "console",
        "fetch",
        "performance",
        "setTimeout",
        "setInterval",
        "require",
      ],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "core has no clock" },
        { object: "Math", property: "random", message: "core has no randomness" },
      ],
      "no-restricted-syntax": [
        "error",
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: "core has no clock" },
      ],
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: [
            { name: "node:crypto", allowImportNames: ["createHash"], message: "core has no randomness" },
          ],
        },
      ],
    },
  },
  {
    // Tests read what a program printed and say what it must be: the assertion is the check.
    files: ["test/**/*.ts", "bench/**"],
    rules: {
      "@typescript-eslint/no-unsafe-type-assertion": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/unbound-method": "off",
    },
  },
  {
    // JSDoc gives these their types; JSON.parse gives `any`, and a cast of it says what is expected.
    files: ["**/*.mjs"],
    rules: {
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
    },
  },
);
