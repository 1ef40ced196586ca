/** Certificates that are renewed or unusable, on a server that keeps running. */
import { X509Certificate } from "node:crypto"
import { connect } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { start, type WeftEnv, type WeftInstance } from "@weft/core"
import { Certificates, Dns, Timestamp } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import * as Http from "@weft/http"
import { selfSigned } from "@weft/tooling/services"
import { Clock, Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll, expect, vi } from "vitest"

/** Lifetime of the issued certificates: they are renewed after two thirds of it. */
const lifeMs = 3_000

const cnames = new Map<string, string>()
const issued: Array<string> = []
let weft: WeftInstance
let env: WeftEnv
let listening: Http.Listening

const dns = Layer.succeed(Dns, {
  resolveCname: (name) => Effect.sync(() => [cnames.get(name) ?? []].flat()),
  resolveAddresses: () => Effect.succeed(["192.0.2.1"])
})

/** Issues short-lived certificates, and one with a foreign key for names that begin with `broken`. */
const certificates = Layer.succeed(Certificates, {
  issue: ({ domain }) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const { cert, key } = selfSigned()
      issued.push(new X509Certificate(cert).serialNumber)
      const privateKey = Redacted.make(domain.startsWith("broken") ? selfSigned().key : key)
      return { chain: cert, privateKey, notAfter: Timestamp.make(now + lifeMs) }
    }),
  revoke: () => Effect.void
})

beforeAll(async () => {
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox({}),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    domains: { validationZone: "v.weft.example", routingZone: "r.weft.example", dns, certificates }
  })
  const org = await weft.orgs.create({ slug: "acme" })
  env = weft.env((await weft.envs.create(org.slug, { name: "prod" })).env_id)
  listening = await Http.listen(weft, { port: 0, tls: { port: 0 } })
})
afterAll(async () => {
  await listening.close()
  await weft.close()
})

const validate = async (domain: string): Promise<void> => {
  const added = await env.domains.add({ domain })
  cnames.set(added.validation_cname_name, added.validation_cname_value)
  const verified = await env.domains.verify(added.domain_id)
  assert.strictEqual(verified.domain.status, "validated", verified.message)
}

/** Returns the serial number of the certificate for a name, or the code of the failure. */
const serialFor = (servername: string): Promise<string> =>
  new Promise((resolve) => {
    const to = { host: "127.0.0.1", port: listening.tlsPort ?? 0, servername, rejectUnauthorized: false }
    const socket = connect(to, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })

describe("the certificate of a custom domain", () => {
  it("is replaced by its renewal on the running server", async () => {
    await validate("renewed.example.com")
    const first = await serialFor("renewed.example.com")
    assert.strictEqual(first, issued[0])
    await expect.poll(() => serialFor("renewed.example.com"), { timeout: 20_000, interval: 100 }).not.toBe(first)
    assert.include(issued, await serialFor("renewed.example.com"))
  })

  it("with a foreign key ends the handshakes for its name alone, and is logged once", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
    await validate("broken.example.com")
    await validate("intact.example.com")
    for (let time = 0; time < 3; time++)
      assert.strictEqual(await serialFor("broken.example.com"), "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE")
    assert.include(issued, await serialFor("intact.example.com"))
    const lines = log.mock.calls.map((parts) => parts.join(" ")).filter((line) => line.includes("cannot be used"))
    log.mockRestore()
    assert.strictEqual(lines.length, 1)
    assert.include(lines[0] ?? "", "the certificate for broken.example.com cannot be used: its chain")
  })
})
