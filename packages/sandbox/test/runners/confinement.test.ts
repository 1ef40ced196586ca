/** Abilities of a compromised runner: each restriction alone, tested from inside the process. */
import { spawn, spawnSync } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { getPriority, tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { sandbox } from "../../src/index.ts"
import { runnerPids } from "../RunnerPids.ts"
import { prepareTenant } from "../Tenant.ts"
import { commandOf, found, program } from "./Start.ts"

const folder = mkdtempSync(join(tmpdir(), "weft-runner-"))
const secretFile = join(folder, "secret")
const outFile = join(folder, "out")
const server = createServer((socket) => socket.destroy())
let port = "0"

beforeAll(async () => {
  writeFileSync(secretFile, "the host's secret", { mode: 0o600 })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address !== null && typeof address === "object") port = String(address.port)
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The restrictions that this system supports. */
const barriers = commandOf("all")
const hasNetwork = !barriers.includes("--net")
const isAnotherUser = barriers.some((part) => part.startsWith("--reuid"))
const isRoot = process.getuid?.() === 0

const works = (command: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0
const toNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"]
const mayBeNobody =
  isRoot &&
  [process.execPath, fileURLToPath(program)].every((file) => works("setpriv", ...toNobody, "test", "-r", file))
const mayLeaveNetwork = works("unshare", ...(isRoot ? [] : ["--user", "--map-current-user"]), "--net", "--", "true")

describe("the runners of a sandbox", () => {
  it("inherit neither environment nor descriptors of the host, and are killed first if memory runs out", async () => {
    process.env.WEFT_TEST_SECRET = "the host's"
    const looked = Effect.gen(function* () {
      const tenant = yield* prepareTenant(1, "export const answer = () => 42")
      yield* tenant.call("answer")
      return runnerPids().map((pid) => ({
        variables: namesIn(readFileSync(`/proc/${pid}/environ`, "latin1")),
        score: Number(readFileSync(`/proc/${pid}/oom_score_adj`, "latin1")),
        priority: getPriority(pid)
      }))
    })
    const runners = await Effect.runPromise(Effect.provide(looked, sandbox({ runners: 1 })))
    assert.isNotEmpty(runners)
    const hostScore = Number(readFileSync("/proc/self/oom_score_adj", "latin1"))
    for (const { variables, score, priority } of runners) {
      assert.deepStrictEqual(
        variables.filter((name) => name !== "LD_PRELOAD"),
        []
      )
      assert.isAbove(score, hostScore)
      assert.isAbove(priority, getPriority())
    }
  })
})

const namesIn = (environment: string): ReadonlyArray<string> =>
  environment
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => entry.slice(0, entry.indexOf("=")))

describe("a compromised runner", () => {
  it("is under every restriction of this system", () => {
    assert.strictEqual(!hasNetwork, mayLeaveNetwork)
    assert.strictEqual(isAnotherUser, mayBeNobody)
  })

  it("finds nothing of the host in its environment, folder and descriptors", async () => {
    const all = await found("without Node's own", port, secretFile, outFile)
    assert.include(["", "LD_PRELOAD"], all.environment)
    assert.strictEqual(all.folder, "/")
    assert.strictEqual(all.descriptors, "")
  })

  it("cannot use files, processes and threads under Node's permission model", async () => {
    const all = await found("all", port, secretFile, outFile)
    for (const deed of [
      "read a file of the host",
      "read what everybody may read",
      "read the host's variables",
      "write a file"
    ]) {
      assert.strictEqual(all[deed], "ERR_ACCESS_DENIED", deed)
    }
    for (const deed of ["start a process", "start a thread"]) assert.strictEqual(all[deed], "ERR_ACCESS_DENIED", deed)
    assert.isFalse(existsSync(outFile))
  })

  it("cannot write files, dump its memory or open many files under the system's limits", async () => {
    const { limits, "write a file": written } = await found("without Node's own", port, secretFile, outFile)
    assert.match(String(limits), /Max file size\s+0\s+0 /)
    assert.match(String(limits), /Max core file size\s+0\s+0 /)
    assert.match(String(limits), /Max open files\s+\d{3}\s+\d{3} /)
    assert.notStrictEqual(written, "undefined")
    assert.isTrue(!existsSync(outFile) || statSync(outFile).size === 0)
  })

  it("has no rights and cannot gain any", async () => {
    const { rights, "become root": root } = await found("without Node's own", port, secretFile, outFile)
    assert.match(String(rights), /NoNewPrivs:\t1/)
    assert.match(String(rights), /CapEff:\t0000000000000000/)
    if (isRoot) assert.match(String(rights), /CapBnd:\t0000000000000000/)
    if (isAnotherUser || !isRoot) assert.match(String(root), /EPERM|EINVAL/)
  })

  it("has no network, not even the loopback, if namespaces are available", async () => {
    const all = await found("all", port, secretFile, outFile)
    assert.strictEqual(all["connect to the host's network"], hasNetwork ? "connected" : "ENETUNREACH")
    if (!hasNetwork) assert.strictEqual(all["connect elsewhere"], "ENETUNREACH")
  })

  it("is another user if the host is root, and cannot access the host's files and process", async () => {
    const all = await found("without Node's own", port, secretFile, outFile)
    assert.strictEqual(all["read a file of the host"], isAnotherUser ? "EACCES" : "the host's secret")
    if (!isAnotherUser) return
    assert.strictEqual(all.user, 65534)
    assert.strictEqual(all["read the host's variables"], "EACCES")
    assert.strictEqual(all["read the host's memory"], "EACCES")
    assert.strictEqual(all["signal the host"], "EPERM")
  })

  it("is under the same restrictions if its host had no free descriptor at first", async () => {
    const hostProgram = fileURLToPath(new URL("./exhausted.ts", import.meta.url))
    const host = spawn("prlimit", ["--nofile=64", process.execPath, "--conditions=weft-source", hostProgram], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const { death, later } = JSON.parse(await text(host.stdout))
    // A runner that starts without a restriction would be worse than none.
    assert.strictEqual(death.cause, "unstarted")
    assert.match(death.why, /^it did not start: .*EMFILE/)
    const wrappers = barriers.slice(0, barriers.indexOf("/bin/sh"))
    assert.deepStrictEqual(later.slice(0, wrappers.length), wrappers)
  })

  it("does not inherit the descriptors that its host was started with", async () => {
    const secret = openSync(secretFile, "r")
    const hostProgram = fileURLToPath(new URL("./host.ts", import.meta.url))
    const host = spawn(process.execPath, ["--conditions=weft-source", hostProgram], {
      stdio: [
        "ignore",
        "pipe",
        "inherit",
        secret,
        secret,
        "ignore",
        secret,
        ...Array.from({ length: 15 }, () => secret)
      ]
    })
    if (host.stdout === null) throw new Error("the host has no output")
    const { descriptors }: { readonly descriptors: string } = JSON.parse(await text(host.stdout))
    closeSync(secret)
    assert.strictEqual(descriptors, "")
  })
})
