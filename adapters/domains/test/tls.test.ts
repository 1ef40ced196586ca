/** Custom domains end to end: with a DNS server, a certificate authority and TLS. */
import { createHash, generateKeyPairSync } from "node:crypto"
import { request as nodeRequest } from "node:https"
import { connect as connectPlain } from "node:net"
import { connect, getCACertificates, type PeerCertificate, setDefaultCACertificates } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores, trustedSandbox, trustedZip } from "@weft/core/testing"
import { Acme, NodeDns } from "@weft/domains"
import * as Http from "@weft/http"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { DnsServer } from "./DnsServer.ts"
import { Pebble } from "./Pebble.ts"

const hello = Object.assign((request: { readonly url: string }) => ({ at: request.url }), {
  meta: { webhook: { service: "shop", path: "/hello", method: "GET" } }
})

let dns: DnsServer
let pebble: Pebble
let weft: WeftInstance
let env: WeftEnv
let listening: Http.Listening
/** A server that trusts the headers of a proxy, with a short timeout for handshakes and headers. */
let impatient: Http.Listening
let root: string
const trusted = getCACertificates("default")
const handshakeMs = 500

beforeAll(async () => {
  dns = await DnsServer.start()
  pebble = await Pebble.start(dns.address)
  root = await pebble.root()
  setDefaultCACertificates([...trusted, pebble.serverCa])
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox({ shop: { main: { hello } } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    domains: {
      validationZone: "validation.weft.example",
      routingZone: "routing.weft.example",
      dns: NodeDns.dns({ servers: [dns.address] }),
      certificates: Acme.certificates({
        directoryUrl: pebble.directoryUrl,
        accountKey: Redacted.make(String(privateKey.export({ type: "pkcs8", format: "pem" }))),
        records: { put: dns.put, remove: dns.remove }
      })
    }
  })
  const org = await weft.orgs.create({ slug: "acme" })
  env = weft.env((await weft.envs.create(org.slug, { name: "prod" })).env_id)
  await env.projects.create({ name: "shop" })
  const zip = trustedZip("shop")
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = await env.builds.upload("shop", { zip, hash })
  await env.builds.deploy("shop", build.build_id)
  listening = await Http.listen(weft, { port: 0, tls: { port: 0 } })
  impatient = await Http.listen(weft, { port: 0, tls: { port: 0 }, headersMs: handshakeMs, trustProxy: true })
})
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await listening.close()
  await impatient.close()
  await weft.close()
  await pebble.stop()
  await dns.close()
})

const eventually = async (condition: () => Promise<boolean>): Promise<void> => {
  for (let round = 0; round < 500; round++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail("the condition was not met within 10 s")
}

/** Adds a domain that its owner has validated and pointed to its routing target. */
const activeDomain = async (name: string) => {
  const added = await env.domains.add({ domain: name })
  assert.include((await env.domains.verify(added.domain_id)).message, added.validation_cname_value)
  dns.cnames.set(added.validation_cname_name, added.validation_cname_value)
  const { domain, message } = await env.domains.verify(added.domain_id)
  assert.strictEqual(domain.status, "validated", message)
  dns.cnames.set(name, domain.routing_domain ?? "")
  await eventually(async () => (await env.domains.get(domain.domain_id)).status === "active")
  return domain
}

/** Returns the certificate for the SNI name. Rejects if the handshake fails. */
const certificateFor = (servername: string): Promise<PeerCertificate> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: listening.tlsPort ?? 0, servername, ca: root }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.on("error", reject)
  })

const refused = async (servername: string): Promise<string> => {
  try {
    const { subjectaltname } = await certificateFor(servername)
    return `got a certificate for ${subjectaltname}`
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error)
  }
}

const get = (
  host: string,
  path: string,
  { servername = host, server = listening, forwarded = "" } = {}
): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: server.tlsPort, path, servername, ca: root, agent: false }
    // The certificate belongs to the server name, and the client requests another host on purpose.
    const checks = { checkServerIdentity: () => undefined }
    const headers = forwarded === "" ? { host } : { host, "x-forwarded-host": forwarded }
    const sent = nodeRequest({ ...options, ...checks, headers }, (response) => {
      let body = ""
      response.on("data", (chunk) => {
        body += chunk
      })
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }))
    })
    sent.on("error", reject)
    sent.end()
  })

const handshakeFailure = "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE"

describe("a custom domain with a certificate", () => {
  it("is validated, gets a certificate and is served over TLS", async () => {
    await activeDomain("hooks.example.com")
    const { subjectaltname } = await certificateFor("hooks.example.com")
    assert.strictEqual(subjectaltname, "DNS:hooks.example.com")
    assert.deepStrictEqual(await get("hooks.example.com", "/webhook/shop/hello"), {
      status: 200,
      body: '{"at":"/webhook/shop/hello"}'
    })
    assert.strictEqual((await get("hooks.example.com", "/v1/status")).status, 404)
    assert.deepStrictEqual([...dns.texts], [])
  })

  it("is the only kind of name with a certificate", async () => {
    await activeDomain("one.example.com")
    await activeDomain("two.example.com")
    assert.strictEqual((await certificateFor("two.example.com")).subjectaltname, "DNS:two.example.com")
    assert.strictEqual((await certificateFor("one.example.com")).subjectaltname, "DNS:one.example.com")
    const pending = await env.domains.add({ domain: "pending.example.com" })
    assert.strictEqual(pending.status, "pending_validation")
    for (const name of ["pending.example.com", "unknown.example.com", "x.one.example.com", "localhost", ""]) {
      assert.strictEqual(await refused(name), handshakeFailure, name)
    }
  })

  it("is answered only on connections for its name, never on those of another tenant", async () => {
    await activeDomain("front.example.com")
    await activeDomain("hidden.example.com")
    const path = "/webhook/shop/hello"
    for (const host of ["hidden.example.com", "unknown.example.com", `127.0.0.1:${listening.port}`, "localhost"]) {
      const { status, body } = await get(host, path, { servername: "front.example.com" })
      assert.strictEqual(status, 421, host)
      assert.match(body, /"code":"bad_request","message":"The host differs from the server name/)
    }
    assert.strictEqual((await get("FRONT.example.com.:443", path, { servername: "front.example.com" })).status, 200)
    // On its own TLS port no proxy adds a header, so a client cannot choose another host with it.
    const fronted = { server: impatient, servername: "front.example.com", forwarded: "hidden.example.com" }
    assert.strictEqual((await get("front.example.com", path, fronted)).status, 421)
  })

  it("cannot be reached with the session of another name", async () => {
    await activeDomain("ticket.example.com")
    await activeDomain("visited.example.com")
    const session = await new Promise<Buffer>((resolve, reject) => {
      const socket = connect({
        host: "127.0.0.1",
        port: listening.tlsPort ?? 0,
        servername: "ticket.example.com",
        ca: root
      })
      socket.once("session", (ticket: Buffer) => {
        resolve(ticket)
        socket.destroy()
      })
      socket.once("error", reject)
    })
    for (const servername of ["ticket.example.com", "visited.example.com"]) {
      const resumed = await new Promise<boolean>((resolve, reject) => {
        const to = { host: "127.0.0.1", port: listening.tlsPort ?? 0, servername, ca: root, session }
        const socket = connect(to, () => {
          resolve(socket.isSessionReused())
          socket.destroy()
        })
        socket.once("error", reject)
      })
      assert.strictEqual(resumed, servername === "ticket.example.com", servername)
    }
  })

  it("is served over HTTP/1.1 only", async () => {
    await activeDomain("alpn.example.com")
    const protocol = (...offered: ReadonlyArray<string>): Promise<string | false | null> =>
      new Promise((resolve, reject) => {
        const to = { host: "127.0.0.1", port: listening.tlsPort ?? 0, servername: "alpn.example.com", ca: root }
        const socket = connect({ ...to, ALPNProtocols: [...offered] }, () => {
          resolve(socket.alpnProtocol)
          socket.destroy()
        })
        socket.once("error", (error) => reject(error))
      })
    assert.strictEqual(await protocol("h2", "http/1.1"), "http/1.1")
    const refusal = await protocol("h2").catch((error: NodeJS.ErrnoException) => error.code)
    assert.strictEqual(refusal, "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL")
  })

  it("is served while other clients do not complete their handshakes, whose connections close in time", async () => {
    await activeDomain("flooded.example.com")
    const began = performance.now()
    const closed = Array.from(
      { length: 100 },
      (_, n) =>
        new Promise<void>((resolve) => {
          const socket = connectPlain(impatient.tlsPort ?? 0, "127.0.0.1", () => {
            // The first bytes of a handshake, or none.
            if (n % 2 === 0) socket.write(Buffer.from("16030100", "hex"))
          })
          socket.on("error", () => undefined).on("close", () => resolve())
          socket.resume()
        })
    )
    assert.strictEqual((await get("flooded.example.com", "/webhook/shop/hello", { server: impatient })).status, 200)
    await Promise.all(closed)
    assert.isAtLeast(performance.now() - began, handshakeMs)
  })

  it("is served until a shutdown, which does not wait for incomplete handshakes", async () => {
    const short = await Http.listen(weft, { port: 0, tls: { port: 0 } })
    const silent = connectPlain(short.tlsPort ?? 0, "127.0.0.1").on("error", () => undefined)
    const closed = new Promise((resolve) => silent.once("close", resolve))
    silent.resume()
    await get("hooks.example.com", "/webhook/shop/hello", { server: short })
    await Promise.all([short.close(), closed])
  })

  it("loses its certificate when it is deleted, and gets a new one when it is registered again", async () => {
    const domain = await activeDomain("again.example.com")
    const { serialNumber } = await certificateFor("again.example.com")
    await env.domains.remove(domain.domain_id)
    await eventually(async () => (await refused("again.example.com")) === handshakeFailure)
    await eventually(async () => (await pebble.status(serialNumber.toLowerCase())) === "Revoked")
    await eventually(() =>
      env.domains.get(domain.domain_id).then(
        () => false,
        () => true
      )
    )
    await activeDomain("again.example.com")
    assert.notStrictEqual((await certificateFor("again.example.com")).serialNumber, serialNumber)
  })

  it("stays pending with a reason if its owner does not delegate it", async () => {
    const domain = await env.domains.add({ domain: "undelegated.example.com" })
    dns.cnames.set(domain.validation_cname_name, "somewhere.else.example")
    const { domain: current, message } = await env.domains.verify(domain.domain_id)
    assert.strictEqual(current.status, "pending_validation")
    assert.include(message, "points to something else")
  })
})
