/** Clients that publish, store, replace and delete during a backup, and record acknowledged requests. */
import { createHash } from "node:crypto"
import { z } from "zod"
import { apiKey, type ServerProcess } from "../ServerProcess.ts"

export const source = `
export const work = async (event, svc) => {
  await new Promise((resolve) => setTimeout(resolve, event.event_data.n % 30))
  return [event.event_data.n, await svc.context.get("GREETING")]
}
work.meta = { event: "work" }
export const hook = async (request, svc) => ({ status: 200, body: { greeting: await svc.context.get("GREETING") } })
hook.meta = { webhook: { service: "backup", path: "/hello", method: "GET" } }
`

const Created = z.object({ data: z.object({ event_id: z.string() }) })
const Stored = z.object({ data: z.object({ file_id: z.string() }) })

/** Returns the content of a version of a file: 2.5 KiB derived from path and version. */
export const contentOf = (path: string, version: number): string =>
  createHash("sha256").update(`${path} ${version}`).digest("hex").repeat(40)

/** Limits the rate: requests are always in flight, but few enough to check each afterwards. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 15))

export interface Acknowledged {
  readonly events: ReadonlySet<string>
  /** Last acknowledged version by path, without deleted files. */
  readonly files: ReadonlyMap<string, number>
}

export interface Load {
  /** Returns what has been acknowledged so far. */
  readonly acknowledged: () => Acknowledged
  readonly stop: () => Promise<void>
}

export const startLoad = (server: ServerProcess): Load => {
  const events = new Set<string>()
  const files = new Map<string, number>()
  let isStopped = false

  const publish = async (start: number): Promise<void> => {
    for (let n = start; !isStopped; n += 4) {
      const answer = await server.call("POST", "/v1/events", { event_type: "work", event_data: { n } })
      events.add(Created.parse(answer).data.event_id)
      await pause()
    }
  }
  const put = async (path: string, version: number): Promise<string> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "text/plain" }
    const body = contentOf(path, version)
    const answer = await fetch(`${server.url}/v1/files/upload/${path}`, { method: "PUT", headers, body })
    if (!answer.ok) throw new Error(`${path} returned ${answer.status} ${await answer.text()}`)
    files.set(path, version)
    return Stored.parse(await answer.json()).data.file_id
  }
  /** Of every three files it keeps one, replaces one and deletes one. */
  const store = async (writer: number): Promise<void> => {
    for (let n = 0; !isStopped; n++) {
      await put(`kept/${writer}-${n}`, 1)
      await put(`replaced/${writer}-${n % 5}`, n)
      const deleted = `deleted/${writer}-${n}`
      const id = await put(deleted, 1)
      files.delete(deleted)
      await server.call("DELETE", `/v1/files/${id}`)
      await pause()
    }
  }
  const clients = Promise.all([...[0, 1, 2, 3].map(publish), ...[0, 1].map(store)])
  // `stop` reports a failed client. Until then its rejection must not be unhandled.
  clients.catch(() => undefined)
  return {
    acknowledged: () => ({ events: new Set(events), files: new Map(files) }),
    stop: async () => {
      isStopped = true
      await clients
    }
  }
}
