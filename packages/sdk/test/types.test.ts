/** Inferred types, and compiler errors for mistakes. */
import { expect, it } from "vitest"
import { authorsProject } from "./compiled.ts"

const schemas = `
import { Schema } from "effect"
import * as v from "valibot"
import * as z from "zod"
export const Order = z.object({ id: z.string(), total: z.number(), customer: z.object({ id: z.string() }), at: z.coerce.date() })
export const Paid = v.object({ id: v.string(), cents: v.pipe(v.string(), v.transform(Number)) })
export const Sent = Schema.toStandardSchemaV1(Schema.Struct({ to: Schema.String, count: Schema.NumberFromString }))
export const ById = Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(Schema.Struct({ id: Schema.String })))
`

const right = `
import "@weft/sdk/globals"
import { batchHandler, callable, defineEvents, durable, durableBatchHandler, durableCallable, type DurableSvc, type Event, type FailureEvent, handler, schedule, type Svc, tool, webhook } from "@weft/sdk"
import { testEnv } from "@weft/sdk/testing"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { ById, Order, Paid, Sent } from "./schemas.ts"

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <A, B>(same: Same<A, B>) => same

export const plain = handler("order:created", (event, svc) => {
  is<typeof event.event_type, "order:created">(true)
  is<typeof event.event_data, unknown>(true)
  is<typeof svc.run.attempt, number>(true)
  return { n: 1 }
})
is<ReturnType<typeof plain>, Promise<{ n: number }>>(true)

export const prefix = handler(["order:*", "x"], (event) => is<typeof event.event_type, \`order:\${string}\` | "x">(true))
export const zod = handler({ event: "a", data: Order, idempotency: "customer.id" }, ({ event_data }) => is<typeof event_data.at, Date>(true))
export const valibot = handler({ event: "a", data: Paid }, ({ event_data }) => is<typeof event_data.cents, number>(true))
export const effect = handler({ event: "a", data: Sent }, ({ event_data }) => is<typeof event_data.count, number>(true))
export const failed = handler({ event: "svc:run:failed", if: "event.data.run_type == 'schedule'" }, (event) => is<typeof event.event_type, "svc:run:failed">(true))
export const undone = handler({ event: "a", onFailure: "main/refund" }, () => null)
export const refund = ({ event_data }: FailureEvent<{ id: string }>) => event_data.event.event_data?.id
export const loaded = batchHandler({ event: "a", data: Order, batch: { size: 2, timeout: "1s" }, idempotency: "customer.id" }, (events, svc) => {
  is<typeof svc.batch.length, number>(true)
  return events.map(({ event_type, event_data }) => {
    is<typeof event_type, "a">(true)
    return event_data.at.getTime()
  })
})
is<ReturnType<typeof loaded>, Promise<Array<number>>>(true)
export const napped = durableBatchHandler({ event: "a", batch: { size: 2, timeout: "1s" } }, async (events, svc) => {
  await svc.sleep("nap", "1h")
  return svc.batch.length + events.length
})
export const free = handler({ event: "a", concurrency: { limit: 1, key: "any.path" } }, () => null)

const events = defineEvents({ "order:created": Order, "order:paid": Paid, "mail:sent": Sent })
export const one = events.handler("order:paid", async (event, svc) => {
  is<typeof event.event_data, { id: string; cents: number }>(true)
  await svc.events.publish({ type: "mail:sent", data: { to: "x", count: "1" }, delay: "1h" })
})
export const some = events.handler("order:*", (event) => {
  is<typeof event.event_type, "order:created" | "order:paid">(true)
  return event.event_type === "order:paid" ? event.event_data.cents : event.event_data.total
})
export const listed = events.handler({ event: ["mail:sent", "order:paid"], retry: { attempts: 2 } }, (event) =>
  is<typeof event.event_type, "mail:sent" | "order:paid">(true)
)
export const at = events.schedule("0 3 * * *", async (tick, svc) => {
  await svc.events.publish({ type: "order:paid", data: { id: tick.cron, cents: "1" } })
})
export const open = events.webhook({ service: "s", path: "/", body: Paid }, (request, svc) => {
  is<typeof request.body, { id: string; cents: number }>(true)
  is<typeof request.query.any, string | undefined>(true)
  is<NonNullable<typeof svc.caller>["id"], string | null>(true)
  return { status: 201, body: request.body }
})
export const closed = webhook({ service: "s", path: "/", auth: "required" }, (request, svc) => [svc.caller.id, request.auth.type])
export const found = tool({ service: "s", args: ById }, (args) => is<typeof args.id, string>(true))
export const said = tool({ service: "s", args: toStandardJsonSchema(Paid) }, (args) => is<typeof args.cents, number>(true))
export const told = tool({ service: "s", args: Paid, input: { type: "object" } }, (args) => args.cents)
export const daily = schedule({ cron: ["0 3 * * *"], timezone: "Europe/Oslo", concurrency: { limit: 1 } }, (tick) => tick.scheduled_time)

export const charge = callable({ idempotency: "args.0.id" }, async (order: { id: string }, times?: number) => order.id.length)
export const remind = durableCallable({ retry: { attempts: 2 } }, async (user: string, days: number, svc: DurableSvc) => {
  is<Awaited<ReturnType<typeof svc.version>>, number>(true)
  return days > 3 ? svc.continueAsNew([user, days - 1]) : { user }
})
export const welcome = durable("user:created", async (event, svc) => {
  is<typeof event.event_type, "user:created">(true)
  const reminded = await svc.invoke<typeof remind>("main/remind", ["a", 3], { name: "remind", timeout: "3d" })
  is<typeof reminded, { user: string }>(true)
  const length = await svc.invoke<typeof charge>("main/charge", [{ id: "1" }])
  is<typeof length, number>(true)
  const unknown = await svc.invoke("main/any", 7)
  is<typeof unknown, unknown>(true)
  await svc.call<typeof charge>("main/charge", { id: "1" })
  return reminded.user
})
export const calls = async (svc: Svc) => {
  await svc.call<typeof charge>("main/charge", [{ id: "1" }, 2])
  await svc.call<typeof charge>("main/charge", { id: "1" })
  await svc.call("main/anything", 7)
  const length = await svc.invoke<typeof charge>("main/charge", [{ id: "1" }])
  is<typeof length, number>(true)
  const unknown = await svc.invoke("main/charge")
  is<typeof unknown, unknown>(true)
  const response = await fetch("https://example.test", { signal: svc.signal })
  await svc.files.put("a", response.body ?? "")
  await svc.files.put("b", await response.blob())
  is<typeof svc.log.info, (message: unknown, data?: unknown) => void>(true)
}
export const helped = events.handler("mail:sent", (_, svc) => calls(svc))
export const global = () => svc.run.run_id
export const byHand = async (event: Event, svc: Svc) => svc.log.info(event.event_id)

export const tested = async () => {
  const env = testEnv()
  const run = await env.event(some, { id: "1", total: 1, customer: { id: "2" }, at: new Date() }, { type: "order:created" })
  is<typeof run.result, number | null>(true)
  const dated = await env.event(handler("d", () => ({ at: new Date(), none: undefined })), 1)
  is<typeof dated.result, { at: string; none: undefined } | null>(true)
  await env.event(byHand, 1, { type: "any" })
  await env.tick(at)
  await env.call(charge, [{ id: "1" }])
  const { response } = await env.request(closed)
  is<typeof response, Response>(true)
}
`

/** Wrong code; the expected error follows each line. */
const wrong = `
import "@weft/sdk/globals"
import { callable, defineEvents, durable, handler, schedule, type Svc, tool, webhook } from "@weft/sdk"
import { testEnv } from "@weft/sdk/testing"
import { Order, Paid } from "./schemas.ts"
const events = defineEvents({ "order:created": Order, "order:paid": Paid })
handler("svc:call", () => 1) //~ must not start with svc:, which is reserved, except svc:run:failed and svc:alert:…
handler({ event: ["ok", "a*b"] }, () => 1) //~ may have \\* at its end only
handler({ event: "a", retry: { attemps: 3 } }, () => 1) //~ 'attemps' does not exist in type 'Retry'. Did you mean to write 'attempts'
handler({ event: "a", timout: "1s" }, () => 1) //~ 'timout' does not exist
handler({ event: "a", timeout: "1 second" }, () => 1) //~ '"1 second"' is not assignable to type 'Duration
handler({ event: "a", data: Order, idempotency: "customr.id" }, () => 1) //~ Did you mean '"customer.id"'
handler({ event: "a", data: Order, concurrency: { limit: 1, key: "total.cents" } }, () => 1) //~ '"total.cents"' is not assignable
handler("a", (event) => event.event_data.total) //~ 'event.event_data' is of type 'unknown'
handler({ event: "a", data: Order }, (event) => event.event_data.totl) //~ Property 'totl' does not exist
events.handler("order:creatd", () => 1) //~ not assignable to parameter of type
events.handler("orders:*", () => 1) //~ is not an event of the catalogue
events.handler("order:paid", (_, svc) => svc.events.publish({ type: "order:payd", data: { id: "1", cents: "1" } })) //~ Did you mean '"order:paid"'
events.handler("order:paid", (_, svc) => svc.events.publish({ type: "order:paid", data: { id: 1, cents: "1" } })) //~ 'number' is not assignable to type 'string'
events.handler({ event: "order:paid", idempotency: "no" }, () => 1) //~ '"no"' is not assignable
schedule({ cron: "* * * * *", concurrency: { limit: 1, key: "x" } }, () => 1) //~ 'key' does not exist
schedule({ cron: "* * * * *", tz: "UTC" }, () => 1) //~ 'tz' does not exist
webhook({ service: "s", path: "/", method: "get" }, () => 1) //~ Did you mean '"GET"'
webhook({ service: "s", path: "/" }, () => ({ status: "404" })) //~ status
webhook({ service: "s", path: "/" }, (request, svc) => svc.caller.id) //~ 'svc.caller' is possibly 'null'
webhook({ service: "s" }, () => 1) //~ Property 'path' is missing
tool({ service: "s", args: Paid }, () => 1) //~ Property 'input' is missing
callable({ idempotency: "order.id" }, () => 1) //~ '"order.id"' is not assignable
export const use = async (svc: Svc) => {
  await svc.events.publish({ type: "a" }) //~ Property 'data' is missing
  await svc.schedules.cancel({}) //~ not assignable
  await svc.call<typeof Math.abs>("main/abs", ["1"]) //~ 'string' is not assignable
  await testEnv().event(handler({ event: "a", data: Order }, () => 1), { id: 7 }) //~ not assignable
}
durable("a", async (_, svc) => {
  await svc.invoke<typeof Math.abs>("main/abs", ["1"]) //~ 'string' is not assignable
  await svc.invoke("main/abs", [1], { timeout: "3x" }) //~ not assignable
})
svc.run.attempt = 2 //~ read-only
`

it("the compiler infers the intended types, and reports mistakes", async () => {
  await using project = await authorsProject({ "schemas.ts": schemas, "right.ts": right, "wrong.ts": wrong })
  const complaints = await project.compile()
  expect(complaints.filter(({ file }) => file !== "wrong.ts")).toEqual([])

  for (const [index, text] of wrong.split("\n").entries()) {
    const expected = text.split("//~ ")[1]
    const found = complaints.filter(({ line }) => line === index + 1)
    if (expected === undefined) expect(found, text).toEqual([])
    else expect(found.map(({ message }) => message).join(), text).toMatch(new RegExp(expected))
  }
}, 60_000)
