/** Clients of a server that is backed up: they publish, store, replace and delete, and remember what was acknowledged. */
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

/** What `path` holds in its `version`: a few KiB that tell of both. */
export const contentOf = (path: string, version: number): string =>
  createHash("sha256").update(`${path} ${version}`).digest("hex").repeat(40)

/** What is stored is looked at one by one afterwards: so many that something is always under way, and no more. */
const breath = () => new Promise((resolve) => setTimeout(resolve, 15))

export interface Acknowledged {
  readonly events: ReadonlySet<string>
  /** Version that was acknowledged last, by path; deleted files are not in it. */
  readonly files: ReadonlyMap<string, number>
}

export interface Load {
  /** What has been acknowledged until now. */
  readonly acknowledged: () => Acknowledged
  readonly stop: () => Promise<void>
}

export const startLoad = (server: ServerProcess): Load => {
  const events = new Set<string>()
  const files = new Map<string, number>()
  let isOver = false

  const publish = async (start: number): Promise<void> => {
    for (let n = start; !isOver; n += 4) {
      const answer = await server.call("POST", "/v1/events", { event_type: "work", event_data: { n } })
      events.add(Created.parse(answer).data.event_id)
      await breath()
    }
  }
  const put = async (path: string, version: number): Promise<string> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "text/plain" }
    const body = contentOf(path, version)
    const answer = await fetch(`${server.url}/v1/files/upload/${path}`, { method: "PUT", headers, body })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`)
    files.set(path, version)
    return Stored.parse(await answer.json()).data.file_id
  }
  /** Of each three files one stays, one is replaced, one is deleted. */
  const store = async (writer: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      await put(`kept/${writer}-${n}`, 1)
      await put(`replaced/${writer}-${n % 5}`, n)
      const deleted = `deleted/${writer}-${n}`
      const id = await put(deleted, 1)
      files.delete(deleted)
      await server.call("DELETE", `/v1/files/${id}`)
      await breath()
    }
  }
  const clients = Promise.all([...[0, 1, 2, 3].map(publish), ...[0, 1].map(store)])
  // A client that fails is told of by `stop`; until then nobody waits for it.
  clients.catch(() => undefined)
  return {
    acknowledged: () => ({ events: new Set(events), files: new Map(files) }),
    stop: async () => {
      isOver = true
      await clients
    }
  }
}
