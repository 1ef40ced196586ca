import { assert, layer } from "@effect/vitest"
import { Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../src/index.ts"
import { createTenant } from "./Tenant.ts"

let tenants = 7000

const open = Effect.fnUntraced(function* (build: Uint8Array | null = null) {
  const service = yield* Sandbox
  const tenant = createTenant(service, ++tenants, yield* service.compileSession(build), { keepsState: true })
  const call = (fn: string, args: ReadonlyArray<unknown>) =>
    Effect.map(tenant.call(`weft:session/${fn}`, { trigger: "args", svc: { args, run: {} } }), ({ outcome }) => outcome)
  let inputs = 0
  yield* call("open", [])
  const input = Effect.fnUntraced(function* (text: string) {
    return yield* call("input", [++inputs, yield* service.prepareInput(text)])
  })
  return { tenant, call, input }
})

layer(sandbox({ runners: 1 }), { excludeTestServices: true, timeout: "60 seconds" })("a session", (it) => {
  it.effect("evaluates", () =>
    Effect.gen(function* () {
      const session = yield* open()
      for (const text of [
        "1 + 1",
        "const a = 1, {b, c: [d]} = {b: 2, c: [3]}",
        "[a,b,d]",
        "a = 5",
        "_",
        "let x: number = await Promise.resolve(4)\nx * 2",
        "function f(n) { return n ? n * f(n - 1) : 1 }\nf(5)",
        "class A { y = 1 }; new A",
        "f",
        "({a:1})",
        "{ q: 1 }",
        "throw new Error('no')",
        "const k = 1\n\nnull.x",
        "new Map([[1,{a:[new Set([1])]}]])",
        "f.name + A.name",
        "nope",
        "zz = 3; zz",
        "for (var i = 0; i < 3; i++) {}; i",
        "import {q} from 'weft:build'",
        "x <",
        "svc.log.info('a'); console.log(1)",
        "new URLPattern({pathname: '/a'}).test('https://x/a')",
        "const o = {}; o.o = o; o",
        "10n",
        "new Error('e')",
        "undefined",
        ""
      ]) {
        const out = yield* Effect.match(session.input(text), {
          onSuccess: (o) => JSON.stringify(o),
          onFailure: (e) => e.message
        })
        console.log(text, "=>", out)
      }
      console.log(
        yield* session.call("complete", ["svc.ev", 6]),
        yield* session.call("complete", ["svc.events.", 11]),
        yield* session.call("complete", ["", 0]),
        yield* session.call("complete", ["URL.", 4])
      )
    })
  )
})
