/** TCP sockets of functions, with a real sandbox and real databases, by the clients that people use. */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { chownSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { openBundler } from "@weft/bundler"
import { start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { egress } from "@weft/egress"
import { sandbox } from "@weft/sandbox"
import { type PostgresServer, postgres, type RedisServer, redis, selfSigned } from "@weft/tooling/services"
import { Redacted } from "effect"
import { zipSync } from "fflate"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const folder = fileURLToPath(new URL("fixtures/databases", import.meta.url))

/** Answers with what it received, in capitals. */
const upper = createServer({ allowHalfOpen: true }, (socket) => {
  let text = ""
  socket.on("error", () => undefined)
  socket.on("data", (chunk) => {
    text += chunk.toString()
  })
  socket.on("end", () => socket.end(text.toUpperCase()))
})

let weft: WeftInstance
let database: PostgresServer
let cache: RedisServer
let certificate: string
let env: WeftEnv
let free: WeftEnv
let port: number

const bundle = async () => {
  const bundler = openBundler({ folder, entry: `${folder}/index.js`, conditions: ["weft-source"] })
  try {
    return (await bundler.bundle()).files
  } finally {
    await bundler.dispose()
  }
}

const deploy = async (slug: string, zip: Uint8Array, plan: "Pro" | "Free") => {
  const org = await weft.orgs.create({ slug })
  await weft.orgs.update(org.org_id, { plan })
  const { env_id } = await weft.envs.create(org.org_id, { name: "production" })
  const opened = weft.env(env_id)
  await opened.projects.create({ name: "databases" })
  const { build } = await opened.builds.upload("databases", {
    zip,
    hash: createHash("sha256").update(zip).digest("hex")
  })
  await opened.builds.deploy("databases", build.build_id)
  return opened
}

/** Gives the server a certificate. It reads the files again without a restart. */
const encrypt = async (url: string): Promise<string> => {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ readonly data_directory: string }>("SHOW data_directory")
  const data = rows[0]?.data_directory ?? ""
  const { cert, key } = selfSigned()
  const { uid, gid } = statSync(data)
  for (const [name, text] of [
    ["server.crt", cert],
    ["server.key", key]
  ] as const) {
    writeFileSync(`${data}/${name}`, text, { mode: 0o600 })
    chownSync(`${data}/${name}`, uid, gid)
  }
  await client.query("ALTER SYSTEM SET ssl = on")
  await client.query("SELECT pg_reload_conf()")
  await client.end()
  return cert
}

/** Publishes an event, waits until its run has ended, and returns its result. */
const resultOf = async (type: string, data: unknown, where: WeftEnv = env) => {
  const { event_id } = await where.events.publish({ type, data: JSON.parse(JSON.stringify(data)) })
  for (;;) {
    const [ended] = (await where.events.runs(event_id)).filter(({ status }) => status !== "running")
    if (ended !== undefined) {
      expect([ended.status, ended.result]).toEqual(["succeeded", ended.result])
      return ended.result
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

beforeAll(async () => {
  await once(upper.listen(0, "127.0.0.1"), "listening")
  const address = upper.address()
  port = typeof address === "object" && address !== null ? address.port : 0
  database = await postgres()
  cache = await redis()
  certificate = await encrypt(database.url)
  const allow = [port, database.port, new URL(cache.url).port].map((each) => `127.0.0.1:${each}`)
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1, limits: { cpuSliceMs: 5_000 } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    plans: { Pro: { tcp_sockets_per_run: 8 } },
    egress: egress({ policy: { allow } })
  })
  const zip = zipSync({ ...(await bundle()) })
  env = await deploy("paying", zip, "Pro")
  free = await deploy("free", zip, "Free")
})

afterAll(async () => {
  await weft.close()
  await database.remove()
  await cache.remove()
  await new Promise((resolve) => upper.close(resolve))
})

describe("a database client in a function", () => {
  it("queries PostgreSQL with pg", async () => {
    const row = { price: "1.5", at: "1970-01-01T00:00:00.000Z" }
    expect(await resultOf("queries", database.url)).toEqual({
      rows: [
        { item: "a", ...row },
        { item: "b", ...row },
        { item: "ü", ...row }
      ],
      large: 2_000_000,
      code: "42P01",
      payload: "hello"
    })
  })

  it("encrypts the connection to PostgreSQL, and checks its certificate", async () => {
    expect(await resultOf("encrypted", { url: database.url, ca: certificate })).toEqual([
      ...[true, true, true],
      ...[true, true, false],
      "ERR_TLS_HANDSHAKE"
    ])
  })

  it("reuses a pool within a run, and reconnects in the next run", async () => {
    expect(await resultOf("pooled", database.url)).toEqual([[1, 2, 3, 4], 2])
    expect(await resultOf("pooled", database.url)).toEqual([[1, 2, 3, 4], 2])
  })

  it("queries PostgreSQL with the variant of postgres for Workers", async () => {
    expect(await resultOf("workers", database.url)).toEqual([{ text: "value", n: 7 }])
  })

  it("sends commands to Redis with ioredis", async () => {
    expect(await resultOf("commands", cache.url)).toEqual({
      piped: [1, 2, "välue"],
      same: true,
      message: ["orders", "extra"]
    })
  })
})

describe("a TCP socket of a function", () => {
  it("has streams, as in Workers", async () => {
    expect(await resultOf("streams", { host: "127.0.0.1", port })).toEqual([
      { remoteAddress: `127.0.0.1:${port}`, localAddress: null },
      "HELLO",
      "off",
      false
    ])
  })

  it("reports a failed handshake of TLS", async () => {
    const [refused, upgraded, transport, reason] = Object.values(
      Object((await resultOf("startsTls", { host: "127.0.0.1", port })) ?? {})
    )
    expect([refused, upgraded, transport]).toEqual(["TypeError", true, "on"])
    expect(JSON.stringify(reason)).toMatch(/connect failed: the (TLS handshake failed|connection)/)
  })

  it("reaches only hosts and ports that the policy allows", async () => {
    const refused = (reason: string) => ["TypeError", `connect failed: ${reason}`]
    expect(await resultOf("refusals", ["127.0.0.1:1", "[::1]:5432", "169.254.169.254:80", "a b:1"])).toEqual([
      refused("127.0.0.1 is a loopback address, which is not allowed here"),
      refused("[::1] is a loopback address, which is not allowed here"),
      refused("169.254.169.254 is a metadata address, which is not allowed here"),
      refused("the host is not a name or an address"),
      "EACCES",
      "EACCES"
    ])
  })

  it("rejects what functions cannot do by its name", async () => {
    expect(await resultOf("invalid", null)).toEqual([
      "TypeError",
      "TypeError",
      "ERR_SOCKET_BAD_PORT",
      "ERR_METHOD_NOT_IMPLEMENTED",
      "ERR_METHOD_NOT_IMPLEMENTED",
      "ERR_METHOD_NOT_IMPLEMENTED"
    ])
  })

  it("requires a plan that allows it, up to its number", async () => {
    expect(await resultOf("many", `127.0.0.1:${port}`)).toEqual([
      8,
      ["LimitExceeded", "a run may open at most 8 TCP sockets (tcp_sockets_per_run)"]
    ])
    expect(await resultOf("many", `127.0.0.1:${port}`, free)).toEqual([
      0,
      [
        "TypeError",
        "connect failed: the plan Free allows no TCP sockets (tcp_sockets_per_run is 0): use fetch, or ask the operator"
      ]
    ])
  })

  it("ends with its run, which does not wait for bytes", async () => {
    expect(await resultOf("leaves", { host: "127.0.0.1", port })).toBe("open")
    await expect.poll(() => new Promise((resolve) => upper.getConnections((_, count) => resolve(count)))).toBe(0)
  })
})
