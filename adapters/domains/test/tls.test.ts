/** Custom domains from end to end: a real DNS server, a real certificate authority, real TLS. */
import { createHash, generateKeyPairSync } from "node:crypto"
import { request as nodeRequest } from "node:https"
import { connect, getCACertificates, type PeerCertificate, setDefaultCACertificates } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { MemoryStores, start, trustedSandbox, trustedZip, type WeftEnv, type WeftInstance } from "@weft/core"
import { acme, nodeDns } from "@weft/domains"
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
let root: string
const trusted = getCACertificates("default")

beforeAll(async () => {
  dns = await DnsServer.start()
  pebble = await Pebble.start(dns.address)
  root = await pebble.root()
  setDefaultCACertificates([...trusted, pebble.serverCa])
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  weft = await start({
    stores: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox({ shop: { main: { hello } } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    domains: {
      validationZone: "validation.weft.example",
      routingZone: "routing.weft.example",
      dns: nodeDns({ servers: [dns.address] }),
      certificates: acme({
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
})
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await listening.close()
  await weft.close()
  await pebble.stop()
  await dns.close()
})

const eventually = async (isSo: () => Promise<boolean>): Promise<void> => {
  for (let round = 0; round < 500; round++) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail("it never was so")
}

/** A domain that its owner proved and points to its target. */
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

/** The certificate that a client gets which asks for `servername`; rejects when the handshake fails. */
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

const get = (host: string, path: string): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: listening.tlsPort, path, servername: host, ca: root, agent: false }
    const sent = nodeRequest({ ...options, headers: { host } }, (response) => {
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
  it("is proven, certified and served over TLS", async () => {
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

  it("is the only kind of name that gets one", async () => {
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

  it("has none from when it is deleted, and a new one when it is registered anew", async () => {
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

  it("whose owner delegates nothing is told so, and stays pending", async () => {
    const domain = await env.domains.add({ domain: "undelegated.example.com" })
    dns.cnames.set(domain.validation_cname_name, "somewhere.else.example")
    const { domain: current, message } = await env.domains.verify(domain.domain_id)
    assert.strictEqual(current.status, "pending_validation")
    assert.include(message, "points to something else")
  })
})
