/** No secret is stored in plain text, logged, traced, put into an error or returned. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as IsolatedVm from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Cause, Layer, Logger, Redacted, References, Tracer } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { type Canary, findCanaries, freshDigits, makeCanary, tokenCanary } from "./leaks/Canary.ts"
import { tour } from "./leaks/Tour.ts"
import type { Visits } from "./leaks/Visits.ts"
import { adminToken, apiKey, startServer } from "./ServerProcess.ts"

const folders: Array<string> = []
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "weft-leaks-"))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Finds canaries in the files of a folder, except files with these names. */
const inFiles = (folder: string, canaries: ReadonlyArray<Canary>, except: ReadonlyArray<string> = []) => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !except.includes(name) && statSync(join(folder, name)).isFile()
  )
  expect(files).toContain("weft.db")
  return files.flatMap((name) =>
    findCanaries(readFileSync(join(folder, name)), canaries).map((canary) => `${canary} in ${name}`)
  )
}

/** Finds canaries in responses that do not contain them by design. */
const inResponses = ({ all, canaries }: Visits) =>
  all.flatMap(({ request, status, bytes, shows }) =>
    findCanaries(bytes, canaries)
      .filter((name) => !shows.includes(name))
      .map((name) => `${name} in ${request} (${status})`)
  )

/** Expects the canaries in the responses that contain them by design, which proves that the search works. */
const expectShown = ({ all, canaries }: Visits) => {
  for (const { bytes, shows } of all) expect(findCanaries(bytes, canaries)).toEqual(expect.arrayContaining([...shows]))
  expect(all.filter(({ shows }) => shows.length > 0).length).toBeGreaterThan(4)
}

describe("the search for secrets", () => {
  it("finds a secret in each encoding, within other text", () => {
    const value = freshDigits()
    const canary = makeCanary("it", value)
    const around = ["", "a", "ab", "abc"].map((before) => `${before}${value}, and more`)
    const texts = around.flatMap((text) => [
      text,
      JSON.stringify({ text: JSON.stringify({ text }) }),
      encodeURIComponent(text),
      ...(["hex", "base64", "base64url"] as const).map((encoding) => Buffer.from(text).toString(encoding))
    ])
    for (const text of texts) expect(findCanaries(Buffer.from(`x ${text} x`), [canary]), text).toEqual(["it"])
    expect(findCanaries(Buffer.from(around.join(), "utf16le"), [canary])).toEqual(["it"])
    expect(findCanaries(Buffer.from(texts.join().replaceAll(value, freshDigits())).subarray(0, 90), [canary])).toEqual(
      []
    )
    const bytes = randomBytes(32)
    expect(findCanaries(Buffer.concat([randomBytes(5), bytes]), [makeCanary("bytes", bytes)])).toEqual(["bytes"])
  })
})

describe("the reference server", () => {
  it("stores and returns none of the given secrets", async () => {
    const [dataDir, masterKey] = [newFolder(), randomBytes(32)]
    const server = await startServer(dataDir, { WEFT_MASTER_KEY: masterKey.toString("base64") })
    const target = { url: server.url, webhooks: "/webhook/default/production", apiKey, adminToken }
    const known = [makeCanary("master key", masterKey), makeCanary("admin token", adminToken)]
    const visits = await tour(target, known).catch(async (error) => {
      await server.stop()
      throw error
    })
    // While it is open, the database also has a write-ahead log.
    const kept = inFiles(dataDir, visits.canaries)
    expect(await server.stop()).toBe(0)
    expect(kept).toEqual([])
    expectShown(visits)
    expect(inResponses(visits)).toEqual([])
    expect(findCanaries(Buffer.from(server.output()), visits.canaries)).toEqual([])
    expect(inFiles(dataDir, visits.canaries)).toEqual([])
  })

  it("stores its generated secrets in two files that only its user can read", async () => {
    const dataDir = newFolder()
    const server = await startServer(dataDir, { WEFT_API_KEY: "", WEFT_ADMIN_TOKEN: "" })
    await fetch(`${server.url}/v1/projects`)
    expect(await server.stop()).toBe(0)
    const kept = ["master.key", "admin.token"]
    for (const name of kept) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600)
    const [masterKey = "", madeToken = ""] = kept.map((name) => readFileSync(join(dataDir, name), "utf8").trim())
    const [, madeKey = ""] = /shown once: (svc_\S+)/.exec(server.output()) ?? []
    const canaries = [
      makeCanary("master key", masterKey, Buffer.from(masterKey, "base64url")),
      makeCanary("admin token", madeToken),
      tokenCanary("api key", madeKey)
    ]
    expect(inFiles(dataDir, canaries, kept)).toEqual([])
    expect(findCanaries(Buffer.from(server.output()), canaries)).toEqual(["admin token", "api key"])

    const again = await startServer(dataDir, { WEFT_API_KEY: "", WEFT_ADMIN_TOKEN: "" })
    expect(await again.stop()).toBe(0)
    expect(findCanaries(Buffer.from(again.output()), canaries)).toEqual([])
  })
})

describe("a host that logs and traces everything", () => {
  it("finds no secret in its logs and spans", async () => {
    const [folder, masterKey, hostToken] = [newFolder(), randomBytes(32), freshDigits()]
    const { observing, records } = observer()
    const key = Redacted.make(new Uint8Array(masterKey))
    const weft = await start({
      database: Layer.merge(Sqlite.database({ file: join(folder, "weft.db") }), observing),
      blobs: Filesystem.blobs({ dir: join(folder, "blobs") }),
      sandbox: IsolatedVm.sandbox({ key, runners: 2 }),
      masterKeys: [key]
    })
    const visits = await (async () => {
      await weft.orgs.create({ slug: "acme" })
      const env = await weft.envs.create("acme", { name: "prod" })
      const { token } = await weft.apiKeys.create(env.env_id, {})
      const listening = await Http.listen(weft, { port: 0, adminToken: Redacted.make(hostToken) })
      return tour(
        { url: listening.url, webhooks: "/webhook/acme/prod", apiKey: Redacted.value(token), adminToken: hostToken },
        [makeCanary("master key", masterKey), makeCanary("admin token", hostToken)]
      ).finally(() => listening.close())
    })().finally(() => weft.close())

    const { lines, spans } = records()
    expect(spans.length).toBeGreaterThan(100)
    expect(inResponses(visits)).toEqual([])
    for (const text of [...lines, ...spans]) expect(findCanaries(Buffer.from(text), visits.canaries), text).toEqual([])
    expect(inFiles(folder, visits.canaries)).toEqual([])
  })
})

/** Collects all log lines of all levels, and all spans with attributes, events and error. */
const observer = () => {
  const lines: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const spanText = ({ name, attributes, events, status }: Tracer.NativeSpan): string => {
    const failure = status._tag === "Ended" && status.exit._tag === "Failure" ? Cause.pretty(status.exit.cause) : ""
    return `${name} ${JSON.stringify([...attributes])} ${JSON.stringify(events, (_, value) => (typeof value === "bigint" ? String(value) : value))} ${failure}`
  }
  return {
    observing: Layer.mergeAll(
      Logger.layer([logger]),
      Layer.succeed(References.MinimumLogLevel, "All"),
      Layer.succeed(Tracer.Tracer, tracer)
    ),
    records: () => ({ lines, spans: spans.map(spanText) })
  }
}
