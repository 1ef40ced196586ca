/** What a webhook's function is handed at the limits of a body. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isolated } from "../src/index.ts"
import { tenantOf } from "./Tenant.ts"

const script = `
export const size = (request, svc) => [request["body-raw"].length, svc.request === request, typeof request.body]
`

/** The largest body of a request in bytes, unless the host says more. */
const bodyBytes = 4 * 1024 * 1024

// The body is what counts here, however long a busy machine takes to hand it over.
layer(isolated({ runners: 1, limits: { cpuSliceMs: 10_000 } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a request",
  (it) => {
    for (const [kind, text] of [
      ["of plain text", "x".repeat(bodyBytes)],
      ["that JSON escapes throughout", "\u0001".repeat(bodyBytes)],
      ["of wide characters", "å".repeat(bodyBytes / 2)]
    ] as const) {
      it.effect(`reaches its function with the largest body, ${kind}`, () =>
        Effect.gen(function* () {
          const tenant = yield* tenantOf(1, script)
          const request = { body: text, "body-raw": text }
          const { outcome } = yield* tenant.call("size", { trigger: "request", svc: { request } })
          assert.deepStrictEqual(outcome, { _tag: "Returned", output: JSON.stringify([text.length, true, "string"]) })
        })
      )
    }
  }
)
