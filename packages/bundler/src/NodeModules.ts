/** Modules of Node, and where their stand-ins for functions are. */

/** Stand-ins of this package: `modules/<name>.ts`. */
const own = [
  ...["assert", "assert/strict", "async_hooks", "buffer", "console", "constants", "crypto", "diagnostics_channel"],
  ...["dns", "dns/promises"],
  ...["events", "fs", "fs/promises", "http", "https", "module", "net", "os", "path", "perf_hooks", "process", "stream"],
  ...["stream/consumers", "stream/promises", "stream/web", "string_decoder", "timers", "timers/promises", "tls", "tty"],
  ...["url", "zlib"]
] as const

/** Stand-ins with another path than the name of the module. */
const elsewhere: Readonly<Record<string, string>> = {
  "path/posix": "path",
  "path/win32": "path",
  sys: "supportFunctions",
  util: "supportFunctions",
  "util/types": "typeChecks"
}

/** Complete implementations of other packages. */
const packages: Readonly<Record<string, string>> = {
  punycode: "unenv/node/punycode",
  querystring: "unenv/node/querystring"
}

/** Modules that cannot exist in a function. Their members throw when they are called. */
const refused = [
  ...["child_process", "cluster", "dgram", "domain", "http2", "inspector"],
  ...["inspector/promises", "readline", "readline/promises", "repl", "sea", "sqlite", "test"],
  ...["test/reporters", "trace_events", "v8", "vm", "wasi", "worker_threads"]
] as const

export type StandIn =
  /** A module of this package, by its path in the folder `modules` without extension. */
  | { readonly kind: "own"; readonly path: string }
  | { readonly kind: "package"; readonly path: string }
  | { readonly kind: "refused"; readonly name: string }

/** Modules that exist only with the prefix `node:`. */
const prefixOnly: ReadonlyArray<string> = ["sea", "sqlite", "test", "test/reporters"]

const standIns: ReadonlyMap<string, StandIn> = new Map<string, StandIn>([
  ...own.map((name) => [name, { kind: "own", path: name }] as const),
  ...Object.entries(elsewhere).map(([name, path]) => [name, { kind: "own", path }] as const),
  ...Object.entries(packages).map(([name, path]) => [name, { kind: "package", path }] as const),
  ...refused.map((name) => [name, { kind: "refused", name }] as const)
])

/** Names of all modules of Node with a stand-in. */
export const nodeModuleNames: ReadonlyArray<string> = [...standIns.keys()]

/** Returns the stand-in for an import such as `node:fs` or `fs`; undefined for other imports. */
export const findStandIn = (specifier: string): StandIn | undefined => {
  const hasPrefix = specifier.startsWith("node:")
  const name = hasPrefix ? specifier.slice("node:".length) : specifier
  return hasPrefix || !prefixOnly.includes(name) ? standIns.get(name) : undefined
}
