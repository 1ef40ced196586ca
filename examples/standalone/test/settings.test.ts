import { readFileSync } from "node:fs"
import { inspect } from "node:util"
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { readSettings, SettingError } from "../src/Settings.ts"

describe("settings", () => {
  it("all have defaults", () => {
    expect(readSettings({})).toMatchObject({
      host: "127.0.0.1",
      port: 8787,
      streams: { wholeEnv: true, replayMessages: 10_000 },
      dataDir: ".weft",
      org: "default",
      env: "production",
      database: { kind: "sqlite", file: null },
      storage: { kind: "file", dir: null },
      pubSub: { kind: "memory" },
      masterKey: null,
      deliveries: { total: 4096, perEnv: 1024 }
    })
  })

  it("are read in their units", () => {
    const settings = readSettings({
      WEFT_PORT: "0",
      WEFT_DATABASE_URL: "sqlite:data/weft.db",
      WEFT_STORAGE_URL: "file:///var/blobs",
      WEFT_PUBLIC_URL: "https://weft.example.com/",
      WEFT_SANDBOX_HEAP_MB: "64",
      WEFT_EGRESS_ALLOW: "db.internal, 10.1.0.0/16,,[::1]:8081",
      WEFT_METRICS_TOKEN: " token-of-the-scraper ",
      WEFT_PUBSUB: "none",
      WEFT_LIMIT_REPLAY: "500",
      WEFT_LIMIT_DELIVERIES: "10",
      WEFT_LIMIT_BODY_BYTES: "1000000",
      WEFT_LIMIT_BUFFERED_BODY_BYTES: "2000000"
    })
    expect(settings).toMatchObject({
      port: 0,
      streams: { wholeEnv: false, replayMessages: 500 },
      database: { kind: "sqlite", file: "data/weft.db" },
      storage: { kind: "file", dir: "/var/blobs" },
      publicUrl: "https://weft.example.com",
      egressAllow: ["db.internal", "10.1.0.0/16", "[::1]:8081"],
      sandbox: { limits: { heapBytes: 64 * 1024 * 1024 } },
      deliveries: { total: 10, perEnv: 3 },
      bodyBytes: 1_000_000,
      bufferedBodyBytes: 2_000_000
    })
    expect(settings.metricsToken === null ? null : Redacted.value(settings.metricsToken)).toBe("token-of-the-scraper")
    expect(readSettings({}).metricsToken).toBeNull()
  })

  it("of tracing are those of OpenTelemetry, and tracing is disabled without an endpoint", () => {
    expect(readSettings({ OTEL_SERVICE_NAME: "shop" }).tracing).toBeNull()
    const OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:4318"
    expect(readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: "true" }).tracing).toBeNull()
    const { tracing, egressTraceparent } = readSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_SERVICE_NAME: "shop",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20secret, x-team=a=b",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      WEFT_EGRESS_TRACEPARENT: "*.internal"
    })
    expect(tracing).toMatchObject({ endpoint: OTEL_EXPORTER_OTLP_ENDPOINT, serviceName: "shop", ratio: 0.25 })
    expect(Object.entries(tracing?.headers ?? {}).map(([name, value]) => [name, Redacted.value(value)])).toEqual([
      ["authorization", "Bearer secret"],
      ["x-team", "a=b"]
    ])
    expect(inspect(tracing)).not.toContain("secret")
    expect(egressTraceparent).toEqual(["*.internal"])
    for (const wrong of [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
      { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "secret" },
      { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "a=%secret" },
      { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: "2" }
    ]) {
      expect(() => readSettings(wrong)).toThrow(SettingError)
      expect(() => readSettings(wrong)).not.toThrow("secret")
    }
  })

  it("derive the zone of custom domains from the public name by default", () => {
    const zonesOf = (variables: Record<string, string>) => {
      const { validationZone, routingZone, ownNames } = readSettings(variables).domains
      return [validationZone, routingZone, ...ownNames]
    }
    expect(zonesOf({})).toEqual(["validation.weft.localhost", "routing.weft.localhost"])
    expect(zonesOf({ WEFT_PUBLIC_URL: "http://192.0.2.1:8787" })).toEqual(zonesOf({}))
    expect(zonesOf({ WEFT_PUBLIC_URL: "https://Weft.example.com/" })).toEqual([
      "validation.domains.weft.example.com",
      "routing.domains.weft.example.com",
      "weft.example.com"
    ])
    expect(zonesOf({ WEFT_DOMAINS_ZONE: "hooks.example", WEFT_PUBLIC_URL: "https://weft.example.com" })).toEqual([
      "validation.hooks.example",
      "routing.hooks.example",
      "weft.example.com"
    ])
    const dns = "192.0.2.1, 192.0.2.2:5353,2001:db8::1,[2001:db8::1]:53"
    expect(readSettings({ WEFT_DOMAINS_DNS: dns }).domains.dnsServers).toHaveLength(4)
    expect(readSettings({ WEFT_TRUST_PROXY: "true" }).trustProxy).toBe(true)
  })

  it("accept former master keys in both variants of Base64", () => {
    const [one, two] = [Buffer.alloc(32, 0xfb), Buffer.alloc(32, 0xff)]
    const value = ` ${one.toString("base64")}, ${two.toString("base64url")} ,`
    const { previousMasterKeys } = readSettings({ WEFT_MASTER_KEY_PREVIOUS: value })
    expect(previousMasterKeys.map((key) => Buffer.from(Redacted.value(key)))).toEqual([one, two])
    expect(readSettings({}).previousMasterKeys).toEqual([])
  })

  it("of nodes that share a database are read", () => {
    const variables = { WEFT_DATABASE_URL: "postgresql://u:secret@localhost/db" }
    expect(readSettings(variables)).toMatchObject({ masterKey: null, adminToken: null })
    const settings = readSettings({
      ...variables,
      WEFT_MASTER_KEY: Buffer.alloc(32).toString("base64"),
      WEFT_DATABASE_CONNECTIONS: "20",
      WEFT_STORAGE_URL: "s3://key:secret@localhost:9000/bucket?tls=false"
    })
    expect(settings).toMatchObject({
      database: { kind: "postgres", connections: 20 },
      pubSub: { kind: "postgres" },
      storage: { kind: "s3", options: { endpoint: "localhost", port: 9000, tls: false, bucket: "bucket" } }
    })
    const nats = {
      ...variables,
      WEFT_MASTER_KEY: Buffer.alloc(32).toString("base64"),
      WEFT_PUBSUB: "nats://secret@a/weft.two, nats://b:4223"
    }
    expect(readSettings(nats)).toMatchObject({ pubSub: { kind: "nats", prefix: "weft.two" } })
    expect(inspect(readSettings(nats), { depth: 10 })).not.toContain("secret@")
    expect(inspect(settings, { depth: 10 })).not.toContain("secret@")
    expect(inspect(settings, { depth: 10 })).not.toContain("'secret'")
  })

  it("with unknown names are rejected with the nearest name", () => {
    const read = (name: string, value = "secret") => readSettings({ [name]: value })
    const unknown = (name: string, hint: string) =>
      expect(() => read(name)).toThrow(new SettingError(name, `is not a setting; ${hint}`))
    unknown("WEFT_DATABSE_URL", "did you mean WEFT_DATABASE_URL?")
    unknown("WEFT_LIMIT_LEASE", "did you mean WEFT_LIMIT_LEASE_MS?")
    unknown("WEFT_MASTERKEY", "did you mean WEFT_MASTER_KEY?")
    unknown("weft_port", "did you mean WEFT_PORT?")
    unknown("Weft_Data_Dir", "did you mean WEFT_DATA_DIR?")
    unknown("WEFT_DATA", "did you mean WEFT_DATA_DIR?")
    unknown("WEFT_SOMETHING_ELSE_ENTIRELY", "docs/settings.md lists all of them")
    // Empty variables, other programs, and variables of Kubernetes for services named `weft` and `weft-db`.
    expect(read("WEFT_DATABSE_URL", " ").host).toBe("127.0.0.1")
    for (const name of ["DATABASE_URL", "OTEL_UNKNOWN", "WEFT_URL", "WEFT_PROFILE"]) read(name)
    for (const name of ["WEFT_SERVICE_HOST", "WEFT_SERVICE_PORT_HTTP", "WEFT_PORT_8787_TCP_ADDR"]) read(name, "1")
    read("WEFT_DB_PORT", "tcp://10.0.0.1:5432")
  })

  it("are exactly those of docs/settings.md", () => {
    const page = readFileSync(new URL("../../../docs/settings.md", import.meta.url), "utf8")
    const rows = page.match(/^\| `WEFT_.*?\|/gm) ?? []
    const documented = rows.flatMap((row) => row.match(/WEFT_\w+/g) ?? [])
    expect(documented.length).toBeGreaterThan(40)
    const asked = new Set<string>()
    readSettings(
      new Proxy<Record<string, string>>({}, { get: (_, name) => void (typeof name === "string" && asked.add(name)) })
    )
    expect([...asked].filter((name) => name.startsWith("WEFT_")).sort()).toEqual(documented.sort())
  })

  it.each([
    ["WEFT_PORT", "65536"],
    ["WEFT_PORT", "http"],
    ["WEFT_DATABASE_URL", "mysql://u:secret@localhost/db"],
    ["WEFT_DATABASE_URL", "postgres:secret"],
    ["WEFT_DATABASE_CONNECTIONS", "20"],
    ["WEFT_DATABASE_TIMEOUT_MS", "5000"],
    ["WEFT_STORAGE_URL", "ftp://key:secret@localhost/bucket"],
    ["WEFT_STORAGE_URL", "s3://key:secret@localhost"],
    ["WEFT_PUBSUB", "postgres"],
    ["WEFT_PUBSUB", "nats://secret@a,b"],
    ["WEFT_PUBSUB", "nats://secret@a/no prefix"],
    ["WEFT_PUBSUB", "redis://:secret@localhost"],
    ["WEFT_MASTER_KEY", "c2hvcnQ="],
    ["WEFT_MASTER_KEY_PREVIOUS", `${Buffer.alloc(32).toString("base64")},c2VjcmV0`],
    ["WEFT_ADMIN_TOKEN", "short secret"],
    ["WEFT_ADMIN_TOKEN", "fifteen-secrets"],
    ["WEFT_ADMIN_TOKEN", "a secret with spaces"],
    ["WEFT_METRICS_TOKEN", "a-secret-with-an-ü"],
    ["WEFT_METRICS_TOKEN", "secret".repeat(86)],
    ["WEFT_MASTER_KEY_LOST", "secret"],
    ["WEFT_DOMAINS_ZONE", "no zone"],
    ["WEFT_DOMAINS_DNS", "dns.example.com"],
    ["WEFT_DOMAINS_DNS", "999.0.2.1"],
    ["WEFT_DOMAINS_DNS", "192.0.2.1:99999"],
    ["WEFT_TRUST_PROXY", "yes"],
    ["WEFT_ORG", "Not A Slug"],
    ["WEFT_ORG", "01976a2b-0002-7000-8000-000000000001"],
    ["WEFT_ENV", "-"],
    ["WEFT_PUBLIC_URL", "ftp://example.com"],
    ["WEFT_EGRESS_ALLOW", "db.internal,http://secret"],
    ["WEFT_SANDBOX_CPU_SLICE_MS", "1"],
    ["WEFT_LIMIT_DELIVERIES", "0"],
    // Less than the maximum of one body.
    ["WEFT_LIMIT_BUFFERED_BODY_BYTES", "4194303"]
  ])("%s = %s is rejected with a line that names the variable without its value", (name, value) => {
    const read = () => readSettings({ [name]: value })
    expect(read).toThrow(SettingError)
    expect(read).toThrow(new RegExp(`^${name} `))
    expect(read).not.toThrow(/secret/)
  })
})
