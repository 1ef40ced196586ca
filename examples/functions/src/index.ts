/**
 * A project of functions for Weft. Exported functions are found as `main/<name>`, exported objects of
 * functions as `<namespace>/<name>`; the property `meta` of a function says what sets it off.
 */
export { flaky } from "./flaky.ts"
export * as github from "./github.ts"
