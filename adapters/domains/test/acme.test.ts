import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { Certificates, HostName } from "@weft/core/adapter"
import { Acme } from "@weft/domains"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { DnsServer } from "./DnsServer.ts"
import { Pebble } from "./Pebble.ts"

let dns: DnsServer
let pebble: Pebble
let options: Acme.AcmeOptions
const trusted = getCACertificates("default")

const newKey = () =>
  Redacted.make(
    String(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }))
  )

beforeAll(async () => {
  dns = await DnsServer.start()
  pebble = await Pebble.start(dns.address)
  setDefaultCACertificates([...trusted, pebble.serverCa])
  options = {
    directoryUrl: pebble.directoryUrl,
    accountKey: newKey(),
    email: "operator@example.com",
    records: { put: dns.put, remove: dns.remove }
  }
})
afterAll(async () => {
  setDefaultCACertificates(trusted)
  await pebble.stop()
  await dns.close()
})

const using = <A, E>(
  use: (certificates: Certificates["Service"]) => Effect.Effect<A, E>,
  more: Partial<Acme.AcmeOptions> = {}
) => Effect.runPromise(Certificates.use(use).pipe(Effect.provide(Acme.certificates({ ...options, ...more }))))

const order = (name: string) => ({ domain: HostName.make(name), challengeName: `${name}.validation.weft.example` })

/** Delegates the challenges of the name to the validation zone, as its owner does. */
const delegate = (name: string): void => {
  dns.cnames.set(`_acme-challenge.${name}`, `${name}.validation.weft.example`)
}

const issue = (name: string, more: Partial<Acme.AcmeOptions> = {}) =>
  using((certificates) => certificates.issue(order(name)), more)

describe("ACME certificates", () => {
  it("are issued for a name that delegates its challenges, each with its own key", async () => {
    delegate("hooks.example.com")
    const issued = await issue("hooks.example.com")
    assert.isNotNull(issued)
    const certificate = new X509Certificate(issued.chain)
    assert.strictEqual(certificate.checkHost("hooks.example.com"), "hooks.example.com")
    assert.isUndefined(certificate.checkHost("other.example.com"))
    assert.isTrue(certificate.checkPrivateKey(createPrivateKey(Redacted.value(issued.privateKey))))
    assert.strictEqual(issued.notAfter, certificate.validToDate.getTime())
    assert.isAbove(issued.chain.split("BEGIN CERTIFICATE").length, 2, "the chain is complete")
    assert.notInclude(JSON.stringify(issued), "PRIVATE KEY")
    assert.deepStrictEqual([...dns.texts], [], "all records are removed")
    assert.include(dns.history, "hooks.example.com.validation.weft.example")
  })

  it("are issued again with the same account key", async () => {
    const [first, second] = [await issue("hooks.example.com"), await issue("hooks.example.com")]
    assert.notStrictEqual(first?.chain, second?.chain)
  })

  it("are issued for long and internationalized names", async () => {
    for (const name of ["xn--bcher-kva.example.com", `${"a".repeat(63)}.${"b".repeat(63)}.example.com`]) {
      delegate(name)
      const issued = await issue(name)
      assert.strictEqual(new X509Certificate(issued?.chain ?? "").checkHost(name), name)
    }
  })

  it("are refused for a name without delegation, and all records are removed", async () => {
    const error = await using((certificates) => Effect.flip(certificates.issue(order("foreign.example.com"))))
    assert.strictEqual(error._tag, "CertificateUnavailable")
    assert.strictEqual(error.reason, "the certificate authority could not confirm the record")
    assert.deepStrictEqual([...dns.texts], [])
  })

  it("fail without details if the record cannot be set or the authority does not answer", async () => {
    const broken = { put: () => Promise.reject(new Error("password of ours")), remove: dns.remove }
    delegate("broken.example.com")
    for (const more of [{ records: broken }, { directoryUrl: `${options.directoryUrl}/nothing` }]) {
      const error = await using((certificates) => Effect.flip(certificates.issue(order("broken.example.com"))), more)
      assert.strictEqual(error._tag, "CertificateUnavailable")
      assert.notInclude(error.message, "password")
    }
  })

  it("are revoked, also when they are already revoked", async () => {
    delegate("revoked.example.com")
    const issued = await issue("revoked.example.com")
    const chain = issued?.chain ?? ""
    const serial = new X509Certificate(chain).serialNumber.toLowerCase()
    assert.strictEqual(await pebble.status(serial), "Valid")
    await using((certificates) => certificates.revoke({ chain }))
    assert.strictEqual(await pebble.status(serial), "Revoked")
    await using((certificates) => certificates.revoke({ chain }))
  })
})
