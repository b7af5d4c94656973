import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["src/**/*.mjs"],
    languageOptions: { globals: globals.browser },
  },
  {
    files: ["test/**/*.mjs"],
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
  },
  {
    files: ["*.mjs"],
    languageOptions: { globals: globals.nodeBuiltin },
  },
  {
    rules: {
      curly: "error",
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", ignoreRestSiblings: true }],
      "no-var": "error",
      "prefer-const": "error",
      // Text becomes an element only through `node` of dom.mjs.
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }],
      "no-eval": "error",
      "no-implied-eval": "error",
    },
  },
];
