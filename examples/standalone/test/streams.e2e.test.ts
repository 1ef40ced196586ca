/** Subscriptions to the real server, with functions in the real sandbox. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const source = `
export const onImport = async (event, svc) => {
  for (const row of event.event_data.rows) await svc.stream.emit("progress", { row })
  return event.event_data.rows.length
}
onImport.meta = { event: "import" }
`

let dataDir: string | undefined
let server: ServerProcess | undefined
afterEach(async () => {
  await server?.kill().catch(() => undefined)
  if (dataDir !== undefined) rmSync(dataDir, { recursive: true, force: true })
})

const begin = async (variables: Readonly<Record<string, string>> = {}): Promise<ServerProcess> => {
  dataDir = mkdtempSync(join(tmpdir(), "weft-streams-"))
  server = await startServer(dataDir, variables)
  return server
}

interface Curl {
  /** Resolves with the output when it contains `until`, or when the command has ended. */
  readonly readUntil: (until: string) => Promise<string>
  readonly ended: Promise<number | null>
}

const curl = (url: string, ...options: ReadonlyArray<string>): Curl => {
  const child = spawn("curl", ["-sN", "-H", `Authorization: Bearer ${apiKey}`, ...options, url])
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  let text = ""
  return {
    ended,
    readUntil: (until) =>
      new Promise((resolve) => {
        const check = () => {
          if (text.includes(until)) resolve(text)
        }
        child.stdout.on("data", (bytes: Buffer) => {
          text += bytes.toString("utf8")
          check()
        })
        check()
        void ended.then(() => resolve(text))
      })
  }
}

const withEvent = (url: string) =>
  curl(
    `${url}/v1/streams/subscribe-with-event`,
    ...["-H", "Content-Type: application/json"],
    ...["-d", '{"event_type":"import","event_data":{"rows":[1,2,3]}}']
  )

const messages = (text: string): ReadonlyArray<readonly [string, { readonly [field: string]: unknown }]> =>
  [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)].map(([, name = "", data = ""]) => [name, JSON.parse(data)])

it("subscriptions receive messages of functions, and do not delay the shutdown", { timeout: 60_000 }, async () => {
  const { url, upload, stop } = await begin()
  await upload("importer", source)
  const received = messages(await withEvent(url).readUntil("event: run:stop"))
  expect(received.map(([name]) => name)).toEqual([
    "event:published",
    "run:start",
    ...["stream:data", "stream:data", "stream:data"],
    "run:stop"
  ])
  expect(received[3]?.[1]).toMatchObject({ type: "stream:data", data_type: "progress", payload: { row: 2 } })
  expect(received.at(-1)?.[1]).toMatchObject({ type: "run:stop", run: { status: "succeeded", result: 3 } })

  const watching = curl(`${url}/v1/env/subscribe`)
  await watching.readUntil(": connected")
  expect(await stop()).toBe(0)
  expect(await watching.ended).toBe(0)
})

it("subscriptions to an environment are rejected without pub/sub", { timeout: 60_000 }, async () => {
  const { url, upload } = await begin({ WEFT_PUBSUB: "none" })
  const response = await fetch(`${url}/v1/env/subscribe`, { headers: { authorization: `Bearer ${apiKey}` } })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: "bad_request" } })
  await upload("importer", source)
  expect(messages(await withEvent(url).readUntil("event: run:stop"))).toHaveLength(6)
})
