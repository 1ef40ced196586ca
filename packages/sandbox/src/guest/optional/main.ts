/**
 * Web APIs that few builds use. They are a second script, because the text of a script occupies memory in every isolate.
 * An isolate runs it only if its build mentions one of these names; see `bundle/OptionalNames.ts`.
 */

interface Require {
  (id: "./blob-urls.ts"): typeof import("./blob-urls.ts")
  (id: "./broadcast.ts"): typeof import("./broadcast.ts")
  (id: "./compression.ts"): typeof import("./compression.ts")
  (id: "./event-source.ts"): typeof import("./event-source.ts")
  (id: "./lookup.ts"): typeof import("./lookup.ts")
  (id: "./messages.ts"): typeof import("./messages.ts")
  (id: "./sockets.ts"): typeof import("./sockets.ts")
  (id: "./timeline.ts"): typeof import("./timeline.ts")
  (id: "./url-pattern.ts"): typeof import("./url-pattern.ts")
  (id: "./web-socket.ts"): typeof import("./web-socket.ts")
}

declare const require: Require

const globals: ReadonlyArray<readonly [load: () => object, names: ReadonlyArray<string>]> = [
  [() => require("./url-pattern.ts"), ["URLPattern"]],
  [() => require("./compression.ts"), ["CompressionStream", "DecompressionStream"]],
  [() => require("./messages.ts"), ["MessageChannel", "MessageEvent", "MessagePort"]],
  [() => require("./broadcast.ts"), ["BroadcastChannel"]],
  [() => require("./event-source.ts"), ["EventSource"]],
  [() => require("./web-socket.ts"), ["WebSocket", "CloseEvent"]],
  [
    () => require("./timeline.ts"),
    ["PerformanceEntry", "PerformanceMark", "PerformanceMeasure", "PerformanceObserver", "PerformanceObserverEntryList"]
  ]
]

/** Installs the APIs on `globalThis`, each created at its first use. */
export const install = (): void => {
  const { defineLazy } = platform.define()
  for (const [load, names] of globals) {
    for (const name of names) {
      defineLazy(globalThis, name, () => Reflect.get(load(), name))
    }
  }
  // For `@weft/sdk/sockets`, and for the modules of Node that the bundler adds.
  defineLazy(globalThis, "weft:sockets", () => require("./sockets.ts").binding)
  // For the module `node:dns` that the bundler adds.
  defineLazy(globalThis, "weft:dns", () => require("./lookup.ts"))
  const { addTimeline } = platform.performance()
  addTimeline(() => require("./timeline.ts"))
  const { URL } = platform.url()
  defineLazy(URL, "createObjectURL", () => require("./blob-urls.ts").createObjectURL, true)
  defineLazy(URL, "revokeObjectURL", () => require("./blob-urls.ts").revokeObjectURL, true)
}
