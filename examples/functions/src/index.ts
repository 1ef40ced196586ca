/**
 * A project of functions for Weft. An exported function has the name `main/<name>`; a function in an exported object,
 * `<namespace>/<name>`. The property `meta` of a function declares its triggers.
 */
export { flaky } from "./flaky.ts"
export * as github from "./github.ts"
