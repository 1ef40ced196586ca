/**
 * The globals of a run: `svc`, `fetch`, and `console`, which also writes to the run's log.
 *
 * The first run installs them. They look up the current run, so runs may overlap, and code outside of runs is not
 * affected.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { format } from "node:util"
import type { LogLevel } from "../Svc.ts"
import { withoutZone } from "./durable/Zone.ts"

export interface RunGlobals {
  readonly svc: object
  readonly fetch: typeof fetch
  readonly log: (level: LogLevel, message: string) => void
}

const current = new AsyncLocalStorage<RunGlobals>()

export const withGlobals = <A>(globals: RunGlobals, body: () => A): A => {
  install()
  return current.run(globals, body)
}

let installed = false

const install = (): void => {
  if (installed) return
  installed = true
  Object.defineProperty(globalThis, "svc", { get: () => current.getStore()?.svc, configurable: true })
  const outside = globalThis.fetch
  globalThis.fetch = (...request) => (current.getStore()?.fetch ?? outside)(...request)
  for (const [method, level] of levels) {
    const print = console[method]
    console[method] = (...args: ReadonlyArray<unknown>) => {
      current.getStore()?.log(level, format(...args))
      withoutZone(() => print.apply(console, [...args]))
    }
  }
}

const levels = [
  ["debug", "debug"],
  ["log", "info"],
  ["info", "info"],
  ["warn", "warn"],
  ["error", "error"]
] as const
