/** A small client of the management API for the end-to-end test. */
import * as z from "zod"
import type { RunningServer } from "./server.ts"

export const EventRecord = z.object({
  event_id: z.uuid(),
  stream_id: z.uuid(),
  event_type: z.string(),
  event_data: z.unknown(),
  event_time: z.iso.datetime()
})
export type EventRecord = z.infer<typeof EventRecord>

export const RunRecord = z.object({
  run_id: z.uuid(),
  event_id: z.uuid().nullable(),
  origin_run_id: z.uuid().nullable(),
  run_type: z.string(),
  status: z.enum(["running", "succeeded", "failed", "cancelled"]),
  result: z.unknown()
})
export type RunRecord = z.infer<typeof RunRecord>

export const Stats = z.object({
  total_runs: z.int(),
  running: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  cancelled: z.int()
})

const Single = z.object({ data: z.unknown() })

const Page = z.object({
  data: z.array(z.unknown()),
  pagination: z.object({ total: z.int(), limit: z.int(), offset: z.int(), has_more: z.boolean() })
})

const pageSize = 100

export const makeApi = (server: RunningServer) => {
  const call = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = { authorization: `Bearer ${server.token}`, ...init.headers }
    const response = await fetch(`${server.url}/v1${path}`, { ...init, headers })
    const text = await response.text()
    if (!response.ok) throw new Error(`${init.method ?? "GET"} ${path} returned ${response.status}: ${text}`)
    return JSON.parse(text)
  }

  const json = (path: string, body: object): Promise<unknown> =>
    call(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } })

  const get = async <Shape extends z.ZodType>(path: string, shape: Shape): Promise<z.infer<Shape>> =>
    shape.parse(Single.parse(await call(path)).data)

  /** Loads all pages of a list, and checks their total. */
  const list = async <Shape extends z.ZodType>(path: string, shape: Shape): Promise<ReadonlyArray<z.infer<Shape>>> => {
    const all: Array<z.infer<Shape>> = []
    const join = path.includes("?") ? "&" : "?"
    for (;;) {
      const page = Page.parse(await call(`${path}${join}limit=${pageSize}&offset=${all.length}`))
      all.push(...z.array(shape).parse(page.data))
      if (page.pagination.has_more && page.data.length > 0) continue
      if (all.length !== page.pagination.total)
        throw new Error(`${path} has ${all.length} items instead of ${page.pagination.total}`)
      return all
    }
  }

  return { call, json, get, list }
}
export type Api = ReturnType<typeof makeApi>

const Build = z.object({ data: z.object({ build_id: z.uuid() }) })

/** Uploads a bundle into a new project and deploys it. */
export const deploy = async (api: Api, project: string, zip: Uint8Array, hash: string): Promise<void> => {
  await api.json("/projects", { name: project })
  const form = new FormData()
  form.set("file", new Blob([Uint8Array.from(zip)], { type: "application/zip" }), "bundle.zip")
  form.set("hash", hash)
  const { data } = Build.parse(await api.call(`/projects/${project}/builds`, { method: "POST", body: form }))
  await api.call(`/projects/${project}/builds/${data.build_id}/deploy`, { method: "POST" })
}
