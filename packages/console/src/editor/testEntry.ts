/** Names of the entries in a test build, which pass `svc` to functions. */

export const testNamespace = "weftTest"

/** Returns the name of the entry of a function `ns/var`. */
export const testKey = (fn: string): string => fn.replace("/", "_")
