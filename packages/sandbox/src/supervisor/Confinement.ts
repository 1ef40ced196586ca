/**
 * What a runner is kept from by the operating system and by Node, for the day that a hole in the engine lets a guest out
 * of its isolate. Each barrier is put up where the platform has it and the host's rights allow; none is relied upon.
 */
import { execFileSync, type SpawnOptions } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { runnerEntry } from "../Entries.ts"

/** A program with its arguments. */
type Command = readonly [program: string, ...args: ReadonlyArray<string>]

/** As which user runners run where the host itself is root: as nobody, if that one can read all they need. */
const nobody = 65534
/** Descriptors that a runner may have open beside those it is given. It needs some twenty. */
const descriptorsMax = 128
/** Beyond this a flag of /proc says that a descriptor does not outlive the start of another program. */
const closedAtStart = 0o2000000

/** Node with `flags` and `program`, behind all barriers that can be put up here. */
export const confined = (program: URL, flags: ReadonlyArray<string>): Command => {
  const node = [process.execPath, ...flags, ...permissions(program), fileURLToPath(program)]
  const [first = process.execPath, ...rest] = [...wrappers(program), ...limited(), ...node]
  return [first, ...rest]
}

/**
 * What goes along: standard error, and a socket as descriptor 3. Behind the numbers of descriptors that this process was
 * started with there is nothing, and of its environment there is nothing.
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

/** jemalloc gives memory of disposed isolates back to the system, which glibc mostly does not. */
const allocator = [
  "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
  "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
  "/usr/lib64/libjemalloc.so.2",
  "/usr/lib/libjemalloc.so.2",
  "/usr/local/lib/libjemalloc.so.2"
].find((path) => process.platform === "linux" && existsSync(path))

/** No core dumps, which would hold guests' data, no files, and few descriptors. */
const limited = (): ReadonlyArray<string> => {
  const limits = `unset PWD OLDPWD; ulimit -c 0; ulimit -f 0; ulimit -n ${highestInherited() + descriptorsMax}; exec "$@"`
  return process.platform === "win32" ? [] : ["/bin/sh", "-c", limits, "sh"]
}

/**
 * Node's own barrier: its file system reads where the runner's code is and writes nowhere; it starts no processes,
 * threads or inspectors. Native code is not kept from anything by it.
 */
const permissions = (program: URL): ReadonlyArray<string> => {
  const engine = engineOf(program)
  if (engine === undefined) return []
  const reads = readable(program, engine).map((path) => `--allow-fs-read=${path}`)
  // The engine is an addon. There is no warning of that, for it is known.
  return ["--permission", "--allow-addons", "--disable-warning=PERM0001", ...reads]
}

const readable = (program: URL, engine: string): ReadonlyArray<string> => [
  ...[
    dirname(fileURLToPath(program)),
    dirname(dirname(fileURLToPath(runnerEntry))),
    dirname(engine),
    dirname(createRequire(engine).resolve("node-gyp-build/package.json")),
    // Where these are links to.
    ...(createRequire(program).resolve.paths("isolated-vm") ?? []).filter((path) => existsSync(path))
  ].map((folder) => folder + sep),
  // The loader of addons asks for this one, to tell the C library.
  "/etc/alpine-release"
]

/** Undefined where packages are kept otherwise than in folders: then nobody can say what has to be readable. */
const engineOf = (program: URL): string | undefined => {
  try {
    return createRequire(program).resolve("isolated-vm/package.json")
  } catch {
    return undefined
  }
}

let known: ReadonlyArray<string> | undefined

/** Namespaces and rights, by the tools that the system has. What works is found out once, by doing it. */
const wrappers = (program: URL): ReadonlyArray<string> => {
  known ??= process.platform === "linux" ? working(program) : []
  return known
}

const working = (program: URL): ReadonlyArray<string> => {
  const isRoot = process.getuid?.() === 0
  const network = tool("unshare", isRoot ? [] : ["--user", "--map-current-user"], ["--net", "--ipc", "--"])
  const rights = ["--no-new-privs", ...(isRoot ? ["--inh-caps=-all", "--bounding-set=-all"] : [])]
  const user = isRoot ? [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : []
  const privileges = tool("setpriv", rights, user, ["--"])
  const needed = [process.execPath, fileURLToPath(program), fileURLToPath(runnerEntry)]
  const reads = ["/bin/sh", "-c", 'for file; do test -r "$file" || exit 1; done', "sh", ...needed]
  const all = [...network, ...privileges]
  if (works(all, reads)) return all
  if (works(privileges, reads)) return privileges
  const asHost = tool("setpriv", rights, ["--"])
  if (works([...network, ...asHost], reads)) return [...network, ...asHost]
  if (works(network, reads)) return network
  return works(asHost, reads) ? asHost : []
}

const folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]

/** The start of a command by that tool, empty when the system does not have it. */
const tool = (name: string, ...args: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const path = folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path))
  return path === undefined ? [] : [path, ...args.flat()]
}

/** Whether `command` ends well behind the wrapper. One that is not there does not work. */
const works = ([program, ...wrapping]: ReadonlyArray<string>, command: ReadonlyArray<string>): boolean => {
  if (program === undefined) return false
  try {
    execFileSync(program, [...wrapping, ...command], { stdio: "ignore", env: {}, cwd: "/", timeout: 2000 })
    return true
  } catch {
    return false
  }
}

/**
 * Descriptors that this process was started with and that would go on to runners: Node opens its own so that they do
 * not. The highest of them, or 3, which is the runner's socket. Looked for once: no others come.
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
    return flags !== undefined && (Number.parseInt(flags, 8) & closedAtStart) === 0
  } catch {
    // The one that listed them is closed again.
    return false
  }
}
