import { assert, describe, it } from "@effect/vitest"
import { StoreUnavailable, start } from "@weft/core"
import { BlobStore, JournalStore, Sandbox, TenantStore, Timestamp } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Layer, Logger } from "effect"
import { modules } from "./server/functions.ts"
import { adminToken, masterKeys, startWeft, TestServer } from "./server/TestServer.ts"

interface Check {
  readonly name: string
  readonly status: string
  readonly seen: string
  readonly remedy: string | null
}

const diagnose = async (server: TestServer) => {
  const reply = await server.call("GET", "/admin/diagnosis", { token: adminToken })
  assert.strictEqual(reply.status, 200)
  const checks: ReadonlyArray<Check> = reply.json.data.checks
  return { reply, checks, find: (name: string) => checks.find((check) => check.name === name) }
}

const down: Effect.Effect<never, StoreUnavailable> = Effect.fail(
  new StoreUnavailable({ operation: "put", cause: new Error("password=hunter2") })
)
const logged: Array<string> = []
const logs = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))])

describe("GET /admin/diagnosis", () => {
  it("requires the admin token", async () => {
    const server = await TestServer.start()
    try {
      for (const token of [null, server.token, `${adminToken}x`]) {
        assert.strictEqual((await server.call("GET", "/admin/diagnosis", { token })).status, 401)
      }
    } finally {
      await server.close()
    }
  })

  it("passes on a healthy server, and leaves no blob", async () => {
    const keys = new Set<string>()
    const watched = Layer.effect(
      BlobStore,
      Effect.map(BlobStore, (real) =>
        BlobStore.of({
          ...real,
          put: (key, bytes) => Effect.tap(real.put(key, bytes), () => Effect.sync(() => keys.add(key))),
          remove: (key) => Effect.tap(real.remove(key), () => Effect.sync(() => keys.delete(key)))
        })
      )
    ).pipe(Layer.provide(MemoryStores.blobs))
    const server = await TestServer.start({}, adminToken, startWeft({ blobs: watched }))
    try {
      const { reply, checks } = await diagnose(server)
      assert.deepStrictEqual(
        checks.map(({ name, status }) => `${name} ${status}`).filter((line) => !line.startsWith("cluster ")),
        ["database", "blobs", "sandbox", "deliveries", "quarantine", "runners", "contents", "records"].map(
          (name) => `${name} ok`
        )
      )
      assert.isTrue(checks.every(({ remedy }) => remedy === null))
      assert.strictEqual(reply.json.data.version, "1.2.3")
      assert.strictEqual(reply.json.data.node_version, process.versions.node)
      assert.closeTo(Date.parse(reply.json.data.time), Date.now(), 60_000)
      assert.strictEqual(keys.size, 0)
    } finally {
      await server.close()
    }
  })

  it("reports a database, a blob store and a sandbox that fail, with the cause in the log only", async () => {
    let isDown = false
    const whenUp = <A>(effect: Effect.Effect<A, StoreUnavailable>) => Effect.suspend(() => (isDown ? down : effect))
    const database = Layer.effect(
      TenantStore,
      Effect.map(TenantStore, (real) => TenantStore.of({ ...real, listOrgs: (page) => whenUp(real.listOrgs(page)) }))
    ).pipe(Layer.provide(MemoryStores.database))
    const blobs = Layer.effect(
      BlobStore,
      Effect.map(BlobStore, (real) => BlobStore.of({ ...real, put: (key, bytes) => whenUp(real.put(key, bytes)) }))
    ).pipe(Layer.provide(MemoryStores.blobs))
    const sandbox = Layer.effect(
      Sandbox,
      Effect.map(Sandbox, (real) =>
        Sandbox.of({
          ...real,
          invoke: (invocation) => (isDown ? Effect.die("no memory") : real.invoke(invocation)),
          status: Effect.succeed({ runnerDeaths: new Map([["killed", 3]]), quarantined: 2 })
        })
      )
    ).pipe(Layer.provide(trustedSandbox(modules)))
    const weft = start({ database: Layer.mergeAll(MemoryStores.database, database, logs), blobs, sandbox, masterKeys })
    const server = await TestServer.start({}, adminToken, weft)
    try {
      isDown = true
      const { reply, find } = await diagnose(server)
      for (const name of ["database", "blobs", "sandbox"]) {
        assert.strictEqual(find(name)?.status, "failure", name)
        assert.isString(find(name)?.remedy)
      }
      assert.deepInclude(find("quarantine"), { status: "warning", seen: "2 builds are in quarantine" })
      assert.deepInclude(find("runners"), { status: "warning", seen: "3 runners were killed" })
      assert.notInclude(reply.text, "hunter2")
      assert.include(logged.join("\n"), "the check of blobs failed")
    } finally {
      await server.close()
    }
  })

  it("warns of due deliveries that nobody claims", async () => {
    const journal = Layer.effect(
      JournalStore,
      Effect.map(JournalStore, (real) =>
        JournalStore.of({
          ...real,
          findPendingWork: (nodeId, now) =>
            Effect.map(real.findPendingWork(nodeId, now), (work) => ({
              ...work,
              next_due_at: Timestamp.make(now - 90_000)
            }))
        })
      )
    ).pipe(Layer.provide(MemoryStores.database))
    const weft = startWeft({ database: Layer.mergeAll(MemoryStores.database, journal) })
    const server = await TestServer.start({}, adminToken, weft)
    try {
      assert.deepInclude((await diagnose(server)).find("deliveries"), {
        status: "warning",
        seen: "the oldest due delivery waits for 90 s"
      })
    } finally {
      await server.close()
    }
  })

  it("reports a blob store that returns other bytes", async () => {
    const blobs = Layer.effect(
      BlobStore,
      Effect.map(BlobStore, (real) => BlobStore.of({ ...real, get: () => Effect.succeed(new Uint8Array(32)) }))
    ).pipe(Layer.provide(MemoryStores.blobs))
    const server = await TestServer.start({}, adminToken, startWeft({ blobs }))
    try {
      assert.deepInclude((await diagnose(server)).find("blobs"), {
        status: "failure",
        seen: "returned other bytes than were written"
      })
    } finally {
      await server.close()
    }
  })

  it("has the checks of the host at its end, and reports that they failed", async () => {
    const disk = { name: "disk", status: "warning" as const, seen: "1 MiB is free", remedy: "free some space" }
    const reads = [async () => [disk], () => Promise.reject(new Error("hunter2"))]
    const servers = await Promise.all(reads.map((checks) => TestServer.start({ checks }, adminToken)))
    try {
      const [given, broken] = await Promise.all(servers.map(diagnose))
      assert.deepStrictEqual(given?.checks.at(-1), disk)
      assert.deepInclude(broken?.find("host"), { status: "failure" })
      assert.notInclude(broken?.reply.text ?? "", "hunter2")
    } finally {
      await Promise.all(servers.map((server) => server.close()))
    }
  })
})
