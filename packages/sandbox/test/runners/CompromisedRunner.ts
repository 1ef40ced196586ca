/**
 * A compromised runner: it attempts everything that a process can attempt, and sends the results on its socket. Without
 * Node's permission model, it does what native code could do.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync, writeFileSync, writeSync } from "node:fs"
import { connect, type NetConnectOpts } from "node:net"
import { Worker } from "node:worker_threads"

const [port = "0", secretFile = "", outFile = ""] = process.argv.slice(2)

const attempt = (work: () => unknown): string => {
  try {
    return String(work())
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error)
  }
}

const connected = (to: NetConnectOpts): Promise<string> =>
  new Promise((resolve) => {
    try {
      const socket = connect(to)
      socket.on("connect", () => resolve("connected"))
      socket.on("error", (error) => resolve("code" in error ? String(error.code) : error.message))
    } catch (error) {
      resolve(String(error))
    }
  })

const host = process.ppid
const descriptors = (): ReadonlyArray<string> =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })

const found = {
  environment: Object.keys(process.env).join(),
  folder: attempt(() => process.cwd()),
  user: process.getuid?.(),
  "read a file of the host": attempt(() => readFileSync(secretFile, "utf8")),
  "read the host's variables": attempt(() => readFileSync(`/proc/${host}/environ`, "latin1").length),
  "read the host's memory": attempt(() => readFileSync(`/proc/${host}/maps`, "latin1").length),
  "read what everybody may read": attempt(() => readFileSync("/etc/passwd", "utf8").length > 0),
  "write a file": attempt(() => writeFileSync(outFile, "x".repeat(10))),
  "start a process": attempt(() => spawnSync("/bin/echo", ["started"]).stdout?.toString().trim() ?? "not started"),
  "start a thread": attempt(() => typeof new Worker("", { eval: true }).threadId),
  "signal the host": attempt(() => process.kill(host, 0)),
  "become root": attempt(() => process.setuid?.(0)),
  "connect to the host's network": await connected({ host: "127.0.0.1", port: Number(port) }),
  "connect elsewhere": await connected({ host: "192.0.2.1", port: 80, timeout: 500 }),
  descriptors: attempt(() =>
    descriptors()
      .filter((target) => target.startsWith("/") && !target.startsWith("/dev/"))
      .join()
  ),
  limits: attempt(() => readFileSync("/proc/self/limits", "latin1")),
  rights: attempt(() => readFileSync("/proc/self/status", "latin1"))
}
writeSync(3, JSON.stringify(found))
process.exit(0)
