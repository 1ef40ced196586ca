/** The SDK's types of operations, compared with the schemas of the runtime. */
import type { SvcMethods } from "@weft/core/internal"
import { expect, it } from "vitest"
import type { NewSchedule, SvcOperations } from "../src/index.ts"
import { makeMethods, type SvcFakes } from "../src/testing/operations.ts"

/** Compiles only if the runtime accepts all arguments that the SDK allows, and returns the promised results. */
const toSdk = (methods: SvcMethods): SvcOperations => methods

/** Compiles only if fakes receive the payloads of the runtime. */
type Payload<Name extends keyof SvcFakes> = Parameters<NonNullable<SvcFakes[Name]>>[0]
const toFakes = (event: Parameters<SvcMethods["events"]["publish"]>[0]): Payload<"events.publish"> => event
const toSchedule = (schedule: Parameters<SvcMethods["schedules"]["create"]>[0]): NewSchedule => schedule

it("the methods of the test kit are those of the runtime, and make the same host calls", async () => {
  const seen: Array<readonly [string, string]> = []
  const methods: SvcOperations = makeMethods(async (op, payload) => {
    seen.push([op, payload])
    return "null"
  })
  expect([toSdk, toFakes, toSchedule]).toHaveLength(3)
  await methods.events.publish({ type: "paid", data: { at: new Date(0) }, delay: "1h" })
  await methods.call("main/add", [1, undefined])
  await methods.call("main/add")
  expect(await methods.stream.emit("end")).toBeUndefined()
  expect(await methods.schedules.cancel({ id: "1" })).toBeUndefined()
  expect(await methods.context.get("KEY")).toBeNull()
  expect(seen).toEqual([
    ["events.publish", '{"type":"paid","data":{"at":"1970-01-01T00:00:00.000Z"},"delay":"1h"}'],
    ["call", '{"fn":"main/add","args":[1,null]}'],
    ["call", '{"fn":"main/add","args":[]}'],
    ["stream.emit", '{"data_type":"end","payload":null}'],
    ["schedules.cancel", '{"id":"1"}'],
    ["context.get", '{"key":"KEY"}']
  ])
})
