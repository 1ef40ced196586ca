/** The `meta` of triggers, and schemas of several libraries at run time. */
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { Schema } from "effect"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { callable, defineEvents, handler, schedule, tool, webhook } from "../src/index.ts"
import { testEnv } from "../src/testing/index.ts"

const same = (value: unknown) => value

describe("meta", () => {
  it("contains exactly the options", () => {
    const retry = { attempts: 3, delay: "1s", backoff: 2, max_delay: "PT1M", jitter: false } as const
    const terms = { retry, timeout: "2m", description: "Does it", onFailure: "main/undo" } as const
    expect(handler("a", same).meta).toEqual({ event: "a" })
    expect(handler(["a", "b:*"], same).meta).toEqual({ event: ["a", "b:*"] })
    const concurrency = { limit: 1, key: "a.b" }
    const all = { event: "a", ...terms, concurrency, idempotency: "a.c" } as const
    expect(handler({ ...all, data: z.unknown() }, same).meta).toEqual(all)
    expect(defineEvents({ a: z.unknown() }).handler(all, same).meta).toEqual(all)

    expect(schedule("* * * * *", same).meta).toEqual({ schedule: [{ cron: "* * * * *" }] })
    expect(schedule({ cron: ["0 1 * * *", "0 2 * * *"], timezone: "UTC", ...terms }, same).meta).toEqual({
      schedule: [
        { cron: "0 1 * * *", timezone: "UTC" },
        { cron: "0 2 * * *", timezone: "UTC" }
      ],
      ...terms
    })

    const endpoint = { service: "s", path: "/p", method: "PUT", name: "n", description: "d", auth: "required" } as const
    const secret = { "secret-headers": ["x-secret"], timeout: 500, record: "after", retention: "1h" } as const
    expect(webhook({ service: "s", path: "/p" }, () => null).meta).toEqual({ webhook: { service: "s", path: "/p" } })
    expect(webhook({ ...endpoint, ...secret, body: z.string(), query: z.object({}) }, () => null).meta).toEqual({
      webhook: endpoint,
      ...secret
    })

    const named = { service: "s", name: "n", description: "d" }
    expect(tool({ service: "s" }, same).meta).toEqual({ tool: { service: "s" } })
    const input = { type: "object", properties: { id: { type: "string" } } }
    expect(tool({ ...named, input, timeout: "1s", retention: "7d" }, same).meta).toEqual({
      tool: { ...named, input },
      timeout: "1s",
      retention: "7d"
    })
    expect(tool({ service: "s", record: "none" }, same).meta).toEqual({ tool: { service: "s" }, record: "none" })
    expect(callable({ ...terms, idempotency: "args.0" }, same).meta).toEqual({ ...terms, idempotency: "args.0" })
  })

  it("is separate per function, even if two share their code", () => {
    const a = handler("a", same)
    const b = callable({ timeout: "1s" }, same)
    expect([a.meta, b.meta, "meta" in same]).toEqual([{ event: "a" }, { timeout: "1s" }, false])
  })

  it("contains the arguments of tools as JSON Schema, from the schema itself", () => {
    const object = { type: "object", properties: { id: { type: "string" } }, required: ["id"] }
    const schemas = [
      z.object({ id: z.string() }),
      toStandardJsonSchema(v.object({ id: v.string() })),
      Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(Schema.Struct({ id: Schema.String })))
    ]
    for (const args of schemas) {
      expect(tool({ service: "s", args }, same).meta.tool.input, args["~standard"].vendor).toMatchObject(object)
    }
    // @ts-expect-error valibot itself cannot convert it
    expect(() => tool({ service: "s", args: v.object({ id: v.string() }) }, same)).toThrow("valibot")
  })
})

describe("schemas", () => {
  const id = "of 1 to 3 digits"
  it.each([
    [
      "zod",
      z.object({
        lines: z.array(
          z.object({
            id: z
              .string()
              .regex(/^\d{1,3}$/, id)
              .transform(Number)
          })
        )
      })
    ],
    [
      "valibot",
      v.object({ lines: v.array(v.object({ id: v.pipe(v.string(), v.regex(/^\d{1,3}$/, id), v.transform(Number)) })) })
    ],
    [
      "Effect",
      Schema.toStandardSchemaV1(
        Schema.Struct({
          lines: Schema.Array(
            Schema.Struct({
              id: Schema.String.check(Schema.isPattern(/^\d{1,3}$/, { message: id })).pipe(
                Schema.decodeTo(Schema.NumberFromString)
              )
            })
          )
        })
      )
    ]
  ])("of %s give what they make of the data, and name what is wrong", async (_, data) => {
    const read = handler({ event: "a", data }, (event, svc) => [event.event_data, svc.event.event_data])
    const lines = { lines: [{ id: "7" }] }
    expect((await testEnv().event(read, lines)).result).toEqual([{ lines: [{ id: 7 }] }, lines])
    const { error } = await testEnv().event(read, { lines: [{ id: "7" }, { id: "x" }] })
    expect(error).toMatchObject({ name: "Invalid", message: `event_data is not as expected: lines.1.id: ${id}` })
  })

  it("may be asynchronous", async () => {
    const data = z.string().refine(async (text) => text === "known", "is not known")
    const read = handler({ event: "a", data }, (event) => event.event_data)
    expect((await testEnv().event(read, "known")).result).toBe("known")
    expect((await testEnv().event(read, "other")).error?.message).toBe("event_data is not as expected: is not known")
  })

  it("of a catalogue are selected by the event's type; a prefix accepts no other types", async () => {
    const kit = defineEvents({ "a:text": z.string(), "a:number": z.number() })
    const read = kit.handler("a:*", (event) => event.event_data)
    expect((await testEnv().event(read, 7, { type: "a:number" })).result).toBe(7)
    expect((await testEnv().event(read, 7, { type: "a:text" })).error?.message).toMatch(/^a:text is not as expected: /)
    const other = await testEnv().deliver(read, { event_type: "a:toString", event_data: 7 })
    expect(other.error?.message).toBe("a:toString is not as expected: it is not in the catalogue")
  })
})
