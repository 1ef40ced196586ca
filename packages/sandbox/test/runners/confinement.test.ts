/** What a runner that was taken over can still do: each barrier by itself, from inside the process. */
import { spawn } from "node:child_process"
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { commandOf, found } from "./Start.ts"

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

/** What the system could put up where this runs. */
const barriers = commandOf("all")
const hasNetwork = !barriers.includes("--net")
const isAnotherUser = barriers.some((part) => part.startsWith("--reuid"))
const isRoot = process.getuid?.() === 0

describe("a runner that was taken over", () => {
  it("finds nothing of the host in its environment, its folder and its descriptors", async () => {
    const all = await found("without Node's own", port, secretFile, outFile)
    assert.strictEqual(all.environment, "")
    assert.strictEqual(all.folder, "/")
    assert.strictEqual(all.descriptors, "")
  })

  it("is kept by Node from files, processes, threads", async () => {
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

  it("is kept by limits of the system from writing files, dumping its memory and opening many files", async () => {
    const { limits, "write a file": written } = await found("without Node's own", port, secretFile, outFile)
    assert.match(String(limits), /Max file size\s+0\s+0 /)
    assert.match(String(limits), /Max core file size\s+0\s+0 /)
    assert.match(String(limits), /Max open files\s+\d{3}\s+\d{3} /)
    assert.notStrictEqual(written, "undefined")
    assert.isTrue(!existsSync(outFile) || statSync(outFile).size === 0)
  })

  it("has no rights that it could use or gain", async () => {
    const { rights, "become root": root } = await found("without Node's own", port, secretFile, outFile)
    assert.match(String(rights), /NoNewPrivs:\t1/)
    assert.match(String(rights), /CapEff:\t0000000000000000/)
    if (isRoot) assert.match(String(rights), /CapBnd:\t0000000000000000/)
    if (isAnotherUser || !isRoot) assert.match(String(root), /EPERM|EINVAL/)
  })

  it("has no network, not even the host's own, where namespaces are to be had", async () => {
    const all = await found("all", port, secretFile, outFile)
    assert.strictEqual(all["connect to the host's network"], hasNetwork ? "connected" : "ENETUNREACH")
    if (!hasNetwork) assert.strictEqual(all["connect elsewhere"], "ENETUNREACH")
  })

  it("is another user where the host is root: the host's files and process are not its own", async () => {
    const all = await found("without Node's own", port, secretFile, outFile)
    assert.strictEqual(all["read a file of the host"], isAnotherUser ? "EACCES" : "the host's secret")
    if (!isAnotherUser) return
    assert.strictEqual(all.user, 65534)
    assert.strictEqual(all["read the host's variables"], "EACCES")
    assert.strictEqual(all["read the host's memory"], "EACCES")
    assert.strictEqual(all["signal the host"], "EPERM")
  })

  it("does not get the descriptors that its host was started with", async () => {
    const secret = openSync(secretFile, "r")
    const program = fileURLToPath(new URL("./host.ts", import.meta.url))
    const host = spawn(process.execPath, ["--conditions=weft-source", program], {
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
    if (host.stdout === null) throw new Error("it has no output")
    const { descriptors }: { readonly descriptors: string } = JSON.parse(await text(host.stdout))
    closeSync(secret)
    assert.strictEqual(descriptors, "")
  })
})
