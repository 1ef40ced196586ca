/** A project that uses the whole API of functions. Both the test kit and the runtime run it. */
import "../../src/globals.ts"
import * as z from "zod"
import { callable, defineEvents, schedule, tool, webhook } from "../../src/index.ts"
import { toMessage } from "./toMessage.ts"

export { hosted } from "./hosted.ts"

const Order = z.object({ id: z.string(), total: z.number().positive(), placed: z.coerce.date() })

const { handler } = defineEvents({ "order:created": Order, "order:priced": z.object({ id: z.string() }) })

const runOfGlobal = () => svc.run.run_id

/** All recorded actions. */
export const onOrder = handler(
  { event: "order:created", retry: { attempts: 2, delay: "1ms", jitter: false }, concurrency: { limit: 5, key: "id" } },
  async (event, svc) => {
    const { id, total, placed } = event.event_data
    svc.log.info("order", { id, placed, at: svc.run.attempt })
    svc.log.debug({ id }, undefined)
    console.log("total %d", total, { id })
    console.warn("careful")
    const priced = await svc.events.publish({ type: "order:priced", data: { id }, delay: "1d" })
    const called = await svc.call<typeof charge>("main/charge", [{ id, total }])
    await svc.call("main/charge", { id, total: 0 })
    const { schedule_id } = await svc.schedules.create({ fn: "main/charge", args: [{ id, total: 1 }], schedule: "P3D" })
    await svc.schedules.cancel({ id: schedule_id })
    await svc.stream.emit("progress", { done: 1, at: placed })
    await svc.stream.emit("end")
    return {
      id,
      year: placed.getUTCFullYear(),
      attempt: svc.run.attempt,
      shapes: [Object.keys(priced).sort(), Object.keys(called).sort()],
      same: called.stream_id === svc.run.stream_id,
      global: runOfGlobal() === svc.run.run_id,
      raw: svc.event.event_data,
      facts: Object.keys(svc.event).sort(),
      run: Object.keys(svc.run).sort(),
      type: svc.run.run_type,
      caller: svc.caller,
      undefined: undefined
    }
  }
)

/** Each step causes a rejection; the result contains the error names. */
export const refusals = handler("order:*", async (event, svc) => {
  const big = "x".repeat(70_000)
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    systemType: () => svc.events.publish(JSON.parse('{"type": "svc:other", "data": 1}')),
    noEvent: () => svc.events.publish(JSON.parse("7")),
    noData: () => svc.events.publish(JSON.parse('{"type": "order:priced"}')),
    emptyType: () => svc.events.publish(JSON.parse('{"type": "", "data": 1}')),
    badStream: () => svc.events.publish({ type: "order:priced", data: { id: "1" }, stream_id: "x" }),
    badDelay: () => svc.events.publish(JSON.parse('{"type": "order:priced", "data": 1, "delay": "soon"}')),
    unknownCall: () => svc.call("main/nowhere"),
    noCall: () => svc.call(JSON.parse("7")),
    unknownInvoke: () => svc.invoke("main/nowhere"),
    unknownSchedule: () => svc.schedules.create({ fn: "main/nowhere", schedule: "P1D" }),
    noSchedule: () => svc.schedules.create(JSON.parse('{"fn": "main/add"}')),
    noCancel: () => svc.schedules.cancel(JSON.parse("{}")),
    noKey: () => svc.context.get(JSON.parse("7")),
    bigEmit: () => svc.stream.emit("big", big),
    emptyEmit: () => svc.stream.emit("", 1),
    noEmit: () => svc.stream.emit(JSON.parse("7"), 1),
    nullSchedule: () => svc.schedules.create(JSON.parse("null")),
    bothCancel: () => svc.schedules.cancel({ id: "1", fn: "main/add" }),
    badPath: () => svc.files.put("a//b", "x"),
    noFile: () => svc.files.put("a", JSON.parse("7")),
    longLink: () => svc.files.url("a", { expires_in: 10 ** 9 }),
    missingLink: () => svc.files.url("none"),
    fetch: () => fetch("https://example.test/")
  }
  const names: Record<string, string> = {}
  for (const [step, attempt] of Object.entries(steps)) {
    names[step] = await attempt().then(
      () => "nothing",
      (error) => `${event.event_type === "order:created"} ${error instanceof Error ? error.name : typeof error}`
    )
  }
  return names
})

/** Files, assets and secrets. */
export const stored = handler({ event: ["order:created", "order:priced"] }, async (event, svc) => {
  const put = await svc.files.put("reports/a.json", JSON.stringify({ id: event.event_data.id }), {
    content_type: "application/json"
  })
  await svc.files.put("reports/b.bin", new Uint8Array([1, 2, 3]))
  await svc.files.put("reports/c.txt", new Blob(["blob"], { type: "text/plain" }))
  await svc.files.put("reports/d.txt", new Blob(["stream"]).stream())
  await svc.files.put("notes.txt", "text")
  const first = await svc.files.get("reports/a.json")
  const found = await svc.files.list("reports/")
  const before = await svc.files.get("notes.txt")
  await svc.files.put("notes.txt", "other")
  const replaced = await before?.text().catch((error: unknown) => (error instanceof Error ? error.name : ""))
  const asset = await svc.asset("data/prices.json")
  return {
    put: Object.keys(put).sort(),
    mine: put.created_by_run_id === svc.run.run_id && put.updated_by_run_id === svc.run.run_id,
    first: [first?.size, first?.content_type, await first?.json()],
    found: found.map(({ path, size, content_type }) => [path, size, content_type]),
    part: (await svc.files.list("reports/", { limit: 2, offset: 1 })).map(({ path }) => path),
    replaced,
    bytes: [...((await (await svc.files.get("reports/b.bin"))?.bytes()) ?? [])],
    stream: await new Response((await svc.files.get("reports/d.txt"))?.stream() ?? null).text(),
    deleted: [await svc.files.delete("notes.txt"), await svc.files.delete("notes.txt")],
    none: [await svc.files.get("notes.txt"), await svc.asset("none")],
    asset: [asset?.name, asset?.size, asset?.content_type, await asset?.json()],
    secrets: [(await svc.context.get("KEY"))?.length, await svc.context.get("NONE")],
    keys: Object.keys(await svc.context.all())
  }
})

export const charge = callable({ idempotency: "args.0.id" }, async (order: { id: string; total: number }) => {
  svc.log.info("charged", order)
  return {
    order,
    sum: await svc.invoke<typeof add>("main/add", [order.total, 1]),
    message: await svc.invoke("texts/toMessage", "hi"),
    type: svc.run.run_type
  }
})

export const add = (a: number, b: number) => a + b
export const texts = { toMessage }

export const throwing = async (how: string) => {
  if (how === "text") throw "only text"
  if (how === "named") throw Object.assign(new RangeError("too far"), { name: "OutOfReach" })
  if (how === "bigint") return { value: 1n }
  if (how === "function") return add
  throw new TypeError("wrong type")
}

export const tick = schedule({ cron: "* * * * * *", timezone: "Europe/Oslo" }, (tick, svc) => ({
  tick: Object.keys(tick).sort(),
  cron: tick.cron,
  facts: Object.keys(svc)
    .filter((name) => ["tick", "event", "run", "caller"].includes(name))
    .sort()
}))

const hook = { service: "hooks", method: "POST" } as const

export const echo = webhook({ ...hook, path: "/echo", auth: "none" }, (request, svc) => ({
  status: 201,
  headers: { "X-Kind": "echo", "set-cookie": ["a=1", "b=2"], accept: ["x", "y"], absent: null },
  body: { ...request, same: svc.request.url === request.url, caller: svc.caller }
}))

export const checked = webhook(
  { ...hook, path: "/checked", body: z.object({ n: z.number() }), query: z.object({ times: z.coerce.number().int() }) },
  (request) => request.body.n * request.query.times
)

export const texty = webhook({ ...hook, path: "/text" }, () => ({
  status: 200,
  headers: { "content-type": "text/plain" },
  body: "plain"
}))
export const bytes = webhook({ ...hook, path: "/bytes" }, () => ({
  status: 200,
  headers: { "content-type": "image/png" },
  body: new Uint8Array([137, 80])
}))
export const web = webhook(
  { ...hook, path: "/web" },
  () => new Response("web", { status: 202, headers: { "x-a": "1" } })
)
export const empty = webhook({ ...hook, path: "/empty" }, () => ({ status: 204 }))
export const nothing = webhook({ ...hook, path: "/nothing" }, () => undefined)
export const broken = webhook({ ...hook, path: "/broken" }, () => ({ status: 99 }))
export const known = webhook({ ...hook, path: "/known", auth: "required" }, (request, svc) => ({
  caller: [svc.caller.type, svc.caller.permissions, svc.caller.metadata],
  auth: [request.auth.type, Object.keys(request.auth).sort()]
}))

export const lookup = tool(
  { service: "crm", description: "Finds a customer", args: z.object({ id: z.string().min(2) }) },
  (args, svc) => ({ found: args.id, args: svc.tool, caller: svc.caller?.type })
)
