/** `node:process` and the global `process`. */
import { notInFunctions, refuse } from "./refuse.ts"

const started = Date.now()

const hrtime = Object.assign(
  (since?: readonly [number, number]): [number, number] => {
    const ms = performance.timeOrigin + performance.now()
    const now: [number, number] = [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)]
    if (since === undefined) return now
    const seconds = now[0] - since[0]
    const nanos = now[1] - since[1]
    return nanos < 0 ? [seconds - 1, nanos + 1e9] : [seconds, nanos]
  },
  { bigint: (): bigint => BigInt(Math.floor((performance.timeOrigin + performance.now()) * 1000)) * 1000n }
)

/** A stream of the terminal, as far as programs write text to it. */
const makeOutput = (fd: number, print: (text: string) => void) => {
  const output = {
    fd,
    isTTY: false,
    writable: true,
    columns: 80,
    rows: 24,
    write: (chunk: unknown, ...rest: ReadonlyArray<unknown>): boolean => {
      print((typeof chunk === "string" ? chunk : new TextDecoder().decode(Uint8Array.from(toBytes(chunk)))).trimEnd())
      const done = rest.findLast((argument) => typeof argument === "function")
      if (typeof done === "function") queueMicrotask(() => void done())
      return true
    },
    end: (): void => undefined,
    getColorDepth: (): number => 1,
    hasColors: (): boolean => false,
    on: () => output,
    once: () => output,
    off: () => output,
    removeListener: () => output,
    emit: (): boolean => false
  }
  return output
}

const toBytes = (chunk: unknown): Uint8Array => (chunk instanceof Uint8Array ? chunk : new Uint8Array())

export const nextTick = (
  callback: (...given: ReadonlyArray<unknown>) => void,
  ...given: ReadonlyArray<unknown>
): void => queueMicrotask(() => callback(...given))

/** Listeners are accepted and never called: a function has no signals, and does not see the end of its isolate. */
const chained = () => process

const identity = {
  getuid: () => 1000,
  geteuid: () => 1000,
  getgid: () => 1000,
  getegid: () => 1000,
  getgroups: () => []
}

const emitter = {
  on: chained,
  once: chained,
  off: chained,
  addListener: chained,
  prependListener: chained,
  prependOnceListener: chained,
  removeListener: chained,
  removeAllListeners: chained,
  setMaxListeners: chained,
  getMaxListeners: () => 10,
  emit: () => false,
  listeners: () => [],
  rawListeners: () => [],
  listenerCount: () => 0,
  eventNames: () => []
}

const memoryUsage = Object.assign(() => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }), {
  rss: () => 0
})

export const process = {
  ...emitter,
  ...identity,
  title: "node",
  version: "v24.0.0",
  versions: { node: "24.0.0", v8: "13.6.0", uv: "1.50.0", modules: "137" },
  release: { name: "node" },
  report: undefined,
  arch: "x64",
  platform: "linux",
  argv: ["node", "index.js"],
  argv0: "node",
  execArgv: [],
  execPath: "/usr/bin/node",
  pid: 1,
  ppid: 0,
  exitCode: undefined,
  env: { NODE_ENV: "production" },
  features: {},
  config: { target_defaults: {}, variables: {} },
  allowedNodeEnvironmentFlags: new Set<string>(),
  get stdout() {
    return stdout
  },
  get stderr() {
    return stderr
  },
  get stdin() {
    return stdin
  },
  hrtime,
  nextTick,
  memoryUsage,
  cwd: () => "/",
  chdir: refuse("process.chdir"),
  umask: () => 0o22,
  uptime: () => (Date.now() - started) / 1000,
  cpuUsage: () => ({ user: 0, system: 0 }),
  resourceUsage: () => ({}),
  emitWarning: (warning: unknown) => console.warn(String(warning)),
  getBuiltinModule: () => undefined,
  hasUncaughtExceptionCaptureCallback: () => false,
  setUncaughtExceptionCaptureCallback: () => undefined,
  exit: (code?: number): never => {
    throw notInFunctions(`process.exit(${code ?? 0})`, "return from the function, or throw an error")
  },
  abort: refuse("process.abort", "throw an error"),
  kill: refuse("process.kill"),
  binding: refuse("process.binding"),
  dlopen: refuse("process.dlopen", "use a package without native code")
}

const stdout = makeOutput(1, (text) => console.log(text))
const stderr = makeOutput(2, (text) => console.error(text))
const stdin = { fd: 0, isTTY: false, on: () => stdin, once: () => stdin, resume: () => stdin, pause: () => stdin }

export const { abort, allowedNodeEnvironmentFlags, arch, argv, argv0, binding, chdir, config, cpuUsage, cwd } = process
export const { dlopen, emitWarning, env, execArgv, execPath, exit, exitCode, features, getBuiltinModule } = process
export const { getegid, geteuid, getgid, getgroups, getuid, kill, pid, platform, ppid, release, report } = process
export const { resourceUsage, title, umask, uptime, version, versions } = process
export const { on, once, off, addListener, removeListener, removeAllListeners, emit, listeners, listenerCount } =
  process
export { hrtime, memoryUsage, stderr, stdin, stdout }
export default process
