/** Tests `svc.files` of trusted functions. */
import { assert, describe, it } from "@effect/vitest"
import type { TrustedSvc } from "@weft/core/testing"
import { Effect } from "effect"
import { deployed, publish, runsOf, settle, world } from "../world.ts"

const keeps = Object.assign(
  async (_: unknown, svc: TrustedSvc) => {
    await svc.files.put("a.json", '{"a":1}', { content_type: "application/json" })
    await svc.files.put("large", new Uint8Array(1_000_000).fill(7))
    const file = await svc.files.get("a.json")
    const large = await (await svc.files.get("large"))?.bytes()
    const deleted = [await svc.files.delete("large"), await svc.files.delete("large")]
    return {
      json: await file?.json(),
      type: file?.content_type,
      large: [large?.length, large?.every((byte) => byte === 7)],
      deleted,
      listed: Array.isArray(await svc.files.list("a")),
      none: [await svc.files.get("none"), await svc.asset("none")],
      url: await svc.files.url("a.json", { expires_in: 5 })
    }
  },
  { meta: { event: "keep" } }
)

describe("a trusted function", () => {
  it.effect("stores, reads, lists and deletes files like a guest", () =>
    Effect.gen(function* () {
      const env = yield* deployed("files")
      const event = yield* publish(env, "keep")
      // A trusted function awaits real promises, which virtual time does not control.
      const [run] = yield* settle.pipe(
        Effect.andThen(runsOf(env, event.event_id)),
        Effect.repeat({ until: ([first]) => first !== undefined && first.status !== "running" })
      )
      assert.strictEqual(run?.status, "succeeded", run?.result ?? "")
      const { url, ...result } = JSON.parse(run?.result ?? "null")
      assert.deepStrictEqual(result, {
        json: { a: 1 },
        type: "application/json",
        large: [1_000_000, true],
        deleted: [true, false],
        listed: true,
        none: [null, null]
      })
      assert.match(
        url,
        /^https:\/\/weft\.example\/v1\/files\/[0-9a-f-]{36}\/content\?env_id=.+&expires=\d+&signature=.+$/
      )
    }).pipe(Effect.provide(world({ files: { main: { keeps } } }, { publicUrl: "https://weft.example" })))
  )
})
