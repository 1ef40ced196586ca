/** A tenant with one record of each kind, as a release stored it, and the responses of its server. */
import { z } from "zod"
import type { ServerProcess } from "../ServerProcess.ts"

export const Facts = z.object({
  apiKey: z.string(),
  adminToken: z.string(),
  serviceKey: z.string(),
  secret: z.string(),
  metadata: z.object({ tenant: z.string() }),
  fileId: z.string(),
  /** UTF-8 text of the file. */
  file: z.string(),
  /** Event that was published before the shutdown and is due after it. */
  waitingEventId: z.string(),
  /** Responses to GET by path. All later releases must return at least these fields. */
  records: z.record(z.string(), z.unknown())
})
export type Facts = z.infer<typeof Facts>

const source = `
export const onOrder = async (event, svc) => {
  console.log("an order", event.event_data)
  if (event.event_data.fails === true) throw new Error("no stock")
  return { total: event.event_data.total * 2, secret: (await svc.context.get("TOKEN")).length }
}
onOrder.meta = { event: "order" }
export const read = async (request, svc) => ({ secret: await svc.context.get("TOKEN"), file: await (await svc.files.get("reports/a.txt")).text() })
read.meta = { webhook: { service: "vault", path: "/read", method: "POST" } }
export const who = (request) => request.auth
who.meta = { webhook: { service: "vault", path: "/who", method: "POST", auth: "required" } }
export const yearly = () => "a year went by"
yearly.meta = { schedule: "0 0 1 1 *" }
`

const Id = z.object({ data: z.record(z.string(), z.unknown()) })
const idOf = (answer: unknown, name: string): string => z.string().parse(Id.parse(answer).data[name])
const Runs = z.object({ data: z.array(z.object({ run_id: z.string(), status: z.string() })) })

/** Waits until this many runs have ended, and returns their ids. */
const endedRuns = async (server: ServerProcess, count: number): Promise<ReadonlyArray<string>> => {
  const deadline = performance.now() + 20_000
  for (;;) {
    const { data } = Runs.parse(await server.call("GET", "/v1/runs?limit=100"))
    if (data.filter(({ status }) => status !== "running").length >= count) return data.map(({ run_id }) => run_id)
    if (performance.now() > deadline) throw new Error("The runs have not ended within 20 s")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Creates all records and reads them. */
export const createTenant = async (
  server: ServerProcess,
  { apiKey, adminToken }: Pick<Facts, "apiKey" | "adminToken">
): Promise<Facts> => {
  const [secret, metadata, file] = ["a very secret value", { tenant: "a very secret tenant" }, "a report, päper\n"]
  await server.upload("shop", source)
  await server.call("POST", "/v1/projects/shop/context", { key: "TOKEN", value: secret })
  const serviceKey = idOf(
    await server.call("POST", "/v1/service-keys", {
      name: "robot",
      permissions: { "webhook:*": ["execute"] },
      metadata
    }),
    "token"
  )
  const put = await fetch(`${server.url}/v1/files/upload/reports/a.txt`, {
    method: "PUT",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "text/plain" },
    body: file
  })
  const fileId = idOf(await put.json(), "file_id")
  const publish = async (event_data: object, more: object = {}) =>
    idOf(await server.call("POST", "/v1/events", { event_type: "order", event_data, ...more }), "event_id")
  const eventIds = [await publish({ total: 1 }), await publish({ total: 21 }), await publish({ fails: true })]
  await server.call("POST", "/v1/calls", { fn: "main/yearly", args: [], wait: 10 })
  await server.call("POST", "/v1/events", {
    event_type: "svc:schedule:new",
    event_data: { fn: "shop:main/yearly", args: [1], schedule: "30 4 29 2 *" }
  })
  await server.call("POST", "/v1/domains", { domain: "hooks.example.com" })
  const runIds = await endedRuns(server, eventIds.length + 1)
  const waitingEventId = await publish({ total: 100 }, { delay: "1s" })
  const paths = [
    ...["/v1/env", "/v1/projects", "/v1/projects/shop/builds", "/v1/projects/shop/builds/deployed"],
    ...["/v1/projects/shop/context", "/v1/projects/shop/event-handlers"],
    ...["/v1/service-keys", "/v1/files", `/v1/files/${fileId}`],
    ...eventIds.flatMap((id) => [`/v1/events/${id}`, `/v1/events/${id}/runs`]),
    ...runIds.flatMap((id) => [`/v1/runs/${id}`, `/v1/runs/${id}/logs`])
  ]
  const records: Record<string, unknown> = {}
  for (const path of paths) records[path] = z.object({ data: z.unknown() }).parse(await server.call("GET", path)).data
  return { apiKey, adminToken, serviceKey, secret, metadata, fileId, file, waitingEventId, records }
}
