/** Functions that clients of the Model Context Protocol start. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { prepareTenant } from "./Tenant.ts"

const script = "export const given = (argument, svc) => ({ argument, facts: [svc.tool, svc.resource, svc.prompt] })"

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a function for clients of MCP",
  (it) => {
    it.effect("receives the fact of its trigger, then svc", () =>
      Effect.gen(function* () {
        const tenant = yield* prepareTenant(1, script)
        const fact = { uri: "crm://a", params: {} }
        for (const [index, trigger] of (["tool", "resource", "prompt"] as const).entries()) {
          const { outcome } = yield* tenant.call("given", { trigger, svc: { [trigger]: fact } })
          if (outcome._tag !== "Returned") return assert.fail(`expected a result, got ${JSON.stringify(outcome)}`)
          const { argument, facts } = JSON.parse(outcome.output)
          assert.deepStrictEqual([argument, facts[index]], [fact, fact])
        }
      })
    )
  }
)
