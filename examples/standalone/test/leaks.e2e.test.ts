/** No secret is kept in plain text, logged, traced, put into an error or given back. */
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Cause, Layer, Logger, Redacted, References, Tracer } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { type Canary, canaryOf, found, freshDigits, tokenCanary } from "./leaks/Canary.ts"
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

/** Which canaries are in which files of the folder, but for files of these names. */
const inFiles = (folder: string, canaries: ReadonlyArray<Canary>, except: ReadonlyArray<string> = []) => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !except.includes(name) && statSync(join(folder, name)).isFile()
  )
  expect(files).toContain("weft.db")
  return files.flatMap((name) =>
    found(readFileSync(join(folder, name)), canaries).map((canary) => `${canary} in ${name}`)
  )
}

/** Which canaries are in which answers that do not show them by design. */
const inAnswers = ({ all, canaries }: Visits) =>
  all.flatMap(({ request, status, bytes, shows }) =>
    found(bytes, canaries)
      .filter((name) => !shows.includes(name))
      .map((name) => `${name} in ${request} (${status})`)
  )

/** Proves that the tour could have found something. */
const expectShown = ({ all, canaries }: Visits) => {
  for (const { bytes, shows } of all) expect(found(bytes, canaries)).toEqual(expect.arrayContaining([...shows]))
  expect(all.filter(({ shows }) => shows.length > 0).length).toBeGreaterThan(4)
}

describe("the search for secrets", () => {
  it("finds one in every encoding, within anything", () => {
    const value = freshDigits()
    const canary = canaryOf("it", value)
    const around = ["", "a", "ab", "abc"].map((before) => `${before}${value}, and more`)
    const texts = around.flatMap((text) => [
      text,
      JSON.stringify({ text: JSON.stringify({ text }) }),
      encodeURIComponent(text),
      ...(["hex", "base64", "base64url"] as const).map((encoding) => Buffer.from(text).toString(encoding))
    ])
    for (const text of texts) expect(found(Buffer.from(`x ${text} x`), [canary]), text).toEqual(["it"])
    expect(found(Buffer.from(around.join(), "utf16le"), [canary])).toEqual(["it"])
    expect(found(Buffer.from(texts.join().replaceAll(value, freshDigits())).subarray(0, 90), [canary])).toEqual([])
    const bytes = randomBytes(32)
    expect(found(Buffer.concat([randomBytes(5), bytes]), [canaryOf("bytes", bytes)])).toEqual(["bytes"])
  })
})

describe("the reference server", () => {
  it("keeps and tells none of what it was given", async () => {
    const [dataDir, masterKey] = [newFolder(), randomBytes(32)]
    const server = await startServer(dataDir, { WEFT_MASTER_KEY: masterKey.toString("base64") })
    const place = { url: server.url, webhooks: "/webhook/default/production", apiKey, adminToken }
    const known = [canaryOf("master key", masterKey), canaryOf("admin token", adminToken)]
    const visits = await tour(place, known).catch(async (error) => {
      await server.stop()
      throw error
    })
    // While it is open, the database also has a file that it writes ahead.
    const kept = inFiles(dataDir, visits.canaries)
    expect(await server.stop()).toBe(0)
    expect(kept).toEqual([])
    expectShown(visits)
    expect(inAnswers(visits)).toEqual([])
    expect(found(Buffer.from(server.output()), visits.canaries)).toEqual([])
    expect(inFiles(dataDir, visits.canaries)).toEqual([])
  })

  it("keeps what it made for itself in two files that only its user can read", async () => {
    const dataDir = newFolder()
    const server = await startServer(dataDir, { WEFT_API_KEY: "", WEFT_ADMIN_TOKEN: "" })
    await fetch(`${server.url}/v1/projects`)
    expect(await server.stop()).toBe(0)
    const kept = ["master.key", "admin.token"]
    for (const name of kept) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600)
    const [masterKey = "", madeToken = ""] = kept.map((name) => readFileSync(join(dataDir, name), "utf8").trim())
    const [, madeKey = ""] = /shown once: (svc_\S+)/.exec(server.output()) ?? []
    const canaries = [
      canaryOf("master key", masterKey, Buffer.from(masterKey, "base64url")),
      canaryOf("admin token", madeToken),
      tokenCanary("api key", madeKey)
    ]
    expect(inFiles(dataDir, canaries, kept)).toEqual([])
    expect(found(Buffer.from(server.output()), canaries)).toEqual(["admin token", "api key"])

    const again = await startServer(dataDir, { WEFT_API_KEY: "", WEFT_ADMIN_TOKEN: "" })
    expect(await again.stop()).toBe(0)
    expect(found(Buffer.from(again.output()), canaries)).toEqual([])
  })
})

describe("a host that logs and traces everything", () => {
  it("finds none in its logs and spans", async () => {
    const [folder, masterKey, hostToken] = [newFolder(), randomBytes(32), freshDigits()]
    const { observing, told } = observer()
    const key = Redacted.make(new Uint8Array(masterKey))
    const weft = await start({
      stores: Layer.merge(Sqlite.stores({ file: join(folder, "weft.db") }), observing),
      blobs: Filesystem.blobs({ dir: join(folder, "blobs") }),
      sandbox: Sandbox.isolated({ key, runners: 2 }),
      masterKeys: [key]
    })
    const visits = await (async () => {
      await weft.orgs.create({ slug: "acme" })
      const env = await weft.envs.create("acme", { name: "prod" })
      const { token } = await weft.apiKeys.create(env.env_id, {})
      const listening = await Http.listen(weft, { port: 0, adminToken: Redacted.make(hostToken) })
      return tour(
        { url: listening.url, webhooks: "/webhook/acme/prod", apiKey: Redacted.value(token), adminToken: hostToken },
        [canaryOf("master key", masterKey), canaryOf("admin token", hostToken)]
      ).finally(() => listening.close())
    })().finally(() => weft.close())

    const { lines, spans } = told()
    expect(spans.length).toBeGreaterThan(100)
    expect(inAnswers(visits)).toEqual([])
    for (const text of [...lines, ...spans]) expect(found(Buffer.from(text), visits.canaries), text).toEqual([])
    expect(inFiles(folder, visits.canaries)).toEqual([])
  })
})

/** Collects every log line, whatever its level, and every span with its attributes, events and failure. */
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
    told: () => ({ lines, spans: spans.map(spanText) })
  }
}
