/** The methods of `svc` that a trusted function has from the table of operations. */
import { assert, describe, it } from "@effect/vitest"
import { trustedMethods } from "../../src/memory/TrustedMethods.ts"
import { derivedOperations, type SvcMethods } from "../../src/runtime/svc/SvcMethods.ts"

const fixture = () => {
  const calls: Array<unknown> = []
  const svc = trustedMethods(async (op, payload) => {
    calls.push([op, payload])
    return { answer: op }
  })
  return { calls, svc }
}

/** Returns the method of an operation. */
const findMethod = (svc: SvcMethods, name: string): unknown =>
  name.split(".").reduce<unknown>((found, part) => Object(found)[part], svc)

describe("the methods of a trusted function", () => {
  it("exist for every derived operation", () => {
    const { svc } = fixture()
    const names = derivedOperations.map(({ name }) => name)
    assert.includeMembers(names, ["call", "context.get", "events.publish", "schedules.cancel", "stream.emit"])
    for (const name of names) assert.isFunction(findMethod(svc, name), name)
  })

  it("make the same host calls as those of a guest", async () => {
    const { calls, svc } = fixture()
    const event = { type: "paid", data: { id: 7 }, delay: "1h" }
    assert.deepStrictEqual<unknown>(await svc.events.publish(event), { answer: "events.publish" })
    await svc.context.get("KEY")
    await svc.context.all()
    await svc.call("main/add", [1, 2])
    await svc.call("main/add", { a: 1 })
    await svc.call("main/add")
    await svc.schedules.create({ fn: "main/add", schedule: "P1D" })
    assert.isUndefined(await svc.schedules.cancel({ fn: "main/add" }))
    assert.isUndefined(await svc.stream.emit("progress", { half: 0.5 }))
    await svc.stream.emit("end")
    assert.deepStrictEqual(calls, [
      ["events.publish", event],
      ["context.get", { key: "KEY" }],
      ["context.all", {}],
      ["call", { fn: "main/add", args: [1, 2] }],
      ["call", { fn: "main/add", args: [{ a: 1 }] }],
      ["call", { fn: "main/add", args: [] }],
      ["schedules.create", { fn: "main/add", schedule: "P1D" }],
      ["schedules.cancel", { fn: "main/add" }],
      ["stream.emit", { data_type: "progress", payload: { half: 0.5 } }],
      ["stream.emit", { data_type: "end", payload: null }]
    ])
  })

  it("reject wrong arguments as those of a guest do", async () => {
    const { calls, svc } = fixture()
    const wrong: ReadonlyArray<readonly [attempt: () => Promise<unknown>, message: string]> = [
      [() => svc.events.publish(JSON.parse("7")), "svc.events.publish takes an object with type and data"],
      [() => svc.context.get(JSON.parse("null")), "svc.context.get takes a string, the key"],
      [() => svc.call(JSON.parse("[]")), "svc.call takes a string, the function, and its args"],
      [
        () => svc.schedules.create(JSON.parse("null")),
        "svc.schedules.create takes an object with fn, args and schedule"
      ],
      [() => svc.schedules.cancel(JSON.parse('"id"')), "svc.schedules.cancel takes an object with id or fn"],
      [() => svc.stream.emit(JSON.parse("{}")), "svc.stream.emit takes a string, the type of the data, and the payload"]
    ]
    for (const [attempt, message] of wrong) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown)
      assert.include(error, { name: "BadRequest", message })
    }
    assert.deepStrictEqual(calls, [])
  })
})
