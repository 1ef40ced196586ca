/**
 * Restrictions of a runner process by the operating system and by Node. They limit a guest that escapes its isolate
 * through a hole in the engine.
 *
 * Each restriction applies if the platform has it and the host's rights allow it. The design relies on none of them.
 */
import { execFileSync, type SpawnOptions } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { runnerEntry } from "../Entries.ts"

/** A program with its arguments. */
type Command = readonly [program: string, ...args: ReadonlyArray<string>]

/** User id of runners if the host itself is root: `nobody`, if that user can read all necessary files. */
const nobody = 65534
/** Maximum descriptors that a runner may open in addition to the inherited ones. It needs about 20. */
const descriptorsMax = 128
/** The flag `O_CLOEXEC` in /proc: the descriptor is closed when another program starts. */
const closeOnExec = 0o2000000

/**
 * Returns the command that starts Node with `flags` and `program` under all restrictions that work here. Throws if they
 * cannot be tested now.
 */
export const confinedCommand = (program: URL, flags: ReadonlyArray<string>): Command => {
  const node = [process.execPath, ...flags, ...permissionFlags(program), fileURLToPath(program)]
  const [first = process.execPath, ...rest] = [...wrappers(program), ...limitCommand(), ...node]
  return [first, ...rest]
}

/**
 * Returns the spawn options of a runner. It has standard error, and a socket as descriptor 3. It inherits neither the
 * environment nor the descriptors that this process was started with.
 */
export const confinedOptions = (): SpawnOptions => ({
  stdio: [
    "ignore",
    "ignore",
    "pipe",
    "pipe",
    ...Array.from({ length: highestInherited() - 3 }, () => "ignore" as const)
  ],
  env: allocator === undefined ? {} : { LD_PRELOAD: allocator },
  cwd: "/"
})

/** Path of jemalloc, which returns the memory of disposed isolates to the system; glibc mostly does not. */
const allocator = [
  "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
  "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
  "/usr/lib64/libjemalloc.so.2",
  "/usr/lib/libjemalloc.so.2",
  "/usr/local/lib/libjemalloc.so.2"
].find((path) => process.platform === "linux" && existsSync(path))

/** Returns the `ulimit` prefix: no core dumps, which would contain guests' data, no files, and few descriptors. */
const limitCommand = (): ReadonlyArray<string> => {
  const limits = `unset PWD OLDPWD; ulimit -c 0; ulimit -f 0; ulimit -n ${highestInherited() + descriptorsMax}; exec "$@"`
  return process.platform === "win32" ? [] : ["/bin/sh", "-c", limits, "sh"]
}

/**
 * Returns the flags of Node's permission model: file reads only in the runner's code, no writes, and no processes,
 * threads or inspectors. The model does not restrict native code.
 */
const permissionFlags = (program: URL): ReadonlyArray<string> => {
  const engine = findEngine(program)
  if (engine === undefined) return []
  const reads = readablePaths(program, engine).map((path) => `--allow-fs-read=${path}`)
  // The engine is an addon: the warning about addons is expected and suppressed.
  return ["--permission", "--allow-addons", "--disable-warning=PERM0001", ...reads]
}

const readablePaths = (program: URL, engine: string): ReadonlyArray<string> => [
  ...[
    dirname(fileURLToPath(program)),
    dirname(dirname(fileURLToPath(runnerEntry))),
    dirname(engine),
    dirname(createRequire(engine).resolve("node-gyp-build/package.json")),
    // The paths above may be links from these folders.
    ...(createRequire(program).resolve.paths("isolated-vm") ?? []).filter((path) => existsSync(path))
  ].map((folder) => folder + sep),
  // The loader of addons reads this file to detect the C library.
  "/etc/alpine-release"
]

/** Returns the path of the engine, or undefined if packages are not stored in folders: then the readable paths are unknown. */
const findEngine = (program: URL): string | undefined => {
  try {
    return createRequire(program).resolve("isolated-vm/package.json")
  } catch {
    return undefined
  }
}

let cachedWrappers: ReadonlyArray<string> | undefined

/** Returns the prefix that sets namespaces and rights with the tools of this system. The first call tries them. */
const wrappers = (program: URL): ReadonlyArray<string> => {
  cachedWrappers ??= process.platform === "linux" ? findWrappers(program) : []
  return cachedWrappers
}

const findWrappers = (program: URL): ReadonlyArray<string> => {
  const isRoot = process.getuid?.() === 0
  const network = tool("unshare", isRoot ? [] : ["--user", "--map-current-user"], ["--net", "--ipc", "--"])
  const rights = ["--no-new-privs", ...(isRoot ? ["--inh-caps=-all", "--bounding-set=-all"] : [])]
  const user = isRoot ? [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : []
  const privileges = tool("setpriv", rights, user, ["--"])
  const needed = [process.execPath, fileURLToPath(program), fileURLToPath(runnerEntry)]
  const reads = ["/bin/sh", "-c", 'for file; do test -r "$file" || exit 1; done', "sh", ...needed]
  const all = [...network, ...privileges]
  if (succeeds(all, reads)) return all
  if (succeeds(privileges, reads)) return privileges
  const asHost = tool("setpriv", rights, ["--"])
  if (succeeds([...network, ...asHost], reads)) return [...network, ...asHost]
  if (succeeds(network, reads)) return network
  return succeeds(asHost, reads) ? asHost : []
}

const folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]

/** Returns the start of a command with that tool, or nothing if the system does not have it. */
const tool = (name: string, ...args: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const path = folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
  return path === undefined ? [] : [path, ...args.flat()]
}

/** Time limit for a test of the wrappers, in milliseconds. */
const probeMs = 10_000
/** Errors of `execFileSync` that describe the wrapper, and not the state of the machine at that moment. */
const lastingErrors = new Set(["ENOENT", "EACCES", "ENOEXEC"])

/**
 * True if `command` succeeds under the wrapper. A missing wrapper fails. Throws if the system could not start it now,
 * for example without descriptors, processes or memory: runners must not lose a restriction because of that.
 */
const succeeds = ([program, ...wrapping]: ReadonlyArray<string>, command: ReadonlyArray<string>): boolean => {
  if (program === undefined) return false
  try {
    execFileSync(program, [...wrapping, ...command], { stdio: "ignore", env: {}, cwd: "/", timeout: probeMs })
    return true
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const hasExited = "status" in error && typeof error.status === "number"
    if (hasExited || ("code" in error && lastingErrors.has(String(error.code)))) return false
    throw error
  }
}

/**
 * Returns the highest descriptor that a child would inherit, at least 3, the runner's socket. Only descriptors that
 * this process was started with are inherited, because Node opens its own as close-on-exec. So one look is enough.
 */
const highestInherited = (): number => {
  highest ??=
    process.platform === "linux" ? readdirSync("/proc/self/fd").map(Number).filter(isInherited).reduce(larger, 3) : 3
  return highest
}

let highest: number | undefined
const larger = (a: number, b: number): number => Math.max(a, b)

const isInherited = (fd: number): boolean => {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch (error) {
    // The descriptor of the listing itself is already closed.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false
    throw error
  }
}
