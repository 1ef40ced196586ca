/** Capabilities that are found in code, their difference to the deployed build, and the policy of the host. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Builds, type DeployRequest, type Env } from "@weft/core"
import { trustedZip } from "@weft/core/testing"
import { Effect } from "effect"
import { findUses } from "../../../src/resources/builds/CodeUses.ts"
import { asHost, deployed, world } from "../../world.ts"
import { refusal, withMeta } from "../schedules/Fixtures.ts"

const uses = (code: string) => Effect.runPromise(findUses(code))

describe("findUses", () => {
  it("finds literal hosts, also of constants and templates, and marks computed ones", async () => {
    const { hosts } = await uses(`
      const base = "https://API.example.com:8443/v1"
      await fetch(base + "/orders"); fetch(\`\${base}/x\`)
      fetch("http://one.example.com/a"); fetch(\`https://two.example.com/\${id}\`)
      fetch(new URL("https://three.example.com")); new WebSocket("wss://four.example.com")`)
    assert.deepStrictEqual(hosts, [
      "api.example.com:8443",
      "four.example.com",
      "one.example.com",
      "three.example.com",
      "two.example.com"
    ])
    assert.deepStrictEqual((await uses("fetch(request.url)")).hosts, ["*"])
    assert.isEmpty((await uses("async function fetch(input) {}")).hosts)
  })

  it("finds host functions, secrets, files and events", async () => {
    const found = await uses(`
      e.host.shop.price({id}); svc.host.ping(); url.host.startsWith("a")
      await e.context.get("STRIPE_KEY"); svc.context.get(name)
      svc.files.get("a"); svc.files.put("b", data)
      svc.events.publish({ data: 1, type: "order:paid" }); svc.events.publish({ type: kind })`)
    assert.deepStrictEqual(found, {
      hosts: [],
      host_functions: ["ping", "shop.price"],
      secrets: ["*", "STRIPE_KEY"],
      files: ["read", "write"],
      publishes: ["*", "order:paid"]
    })
  })

  it("finds each use once in long code, also at the borders of its parts", async () => {
    const lines = Array.from({ length: 40_000 }, (_, n) => `x = ${n}; svc.context.get("KEY_${n % 7}")`)
    assert.deepStrictEqual(
      (await uses(lines.join("\n"))).secrets,
      Array.from({ length: 7 }, (_, n) => `KEY_${n}`)
    )
  })
})

const modules = {
  app: { main: { job: withMeta({ event: "job" }, () => "base") } },
  more: {
    main: {
      job: withMeta({ event: "job" }, () => "base"),
      pay: withMeta({ event: "paid" }, (_: never, svc: { context: { get: (key: string) => unknown } }) =>
        svc.context.get("STRIPE_KEY")
      )
    }
  }
}

const upload = (env: Env, key: string) => {
  const zip = trustedZip(key)
  const hash = createHash("sha256").update(zip).digest("hex")
  return asHost(
    env,
    Effect.map(
      Builds.use((builds) => builds.upload("app", { zip, hash })),
      ({ build }) => build.build_id
    )
  )
}

describe("capabilities of a build", () => {
  it.effect("differ from those of the deployed build, and the host may refuse them", () => {
    const seen: Array<DeployRequest> = []
    const deployPolicy = async (request: DeployRequest) => {
      seen.push(request)
      return !request.isFirst && request.added.secrets.length > 0 ? "New secrets need an approval" : undefined
    }
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      const id = yield* upload(env, "more")
      const { capabilities, compared } = yield* asHost(
        env,
        Builds.use((builds) => builds.capabilities("app", id, "deployed"))
      )
      assert.deepStrictEqual(capabilities.handles, ["job", "paid"])
      assert.deepStrictEqual(compared?.added.secrets, ["STRIPE_KEY"])
      assert.deepStrictEqual(compared?.added.handles, ["paid"])
      assert.isEmpty(compared?.removed.handles)
      for (const options of [{}, { canary: { share: 0.1 } }])
        assert.strictEqual(
          yield* refusal(
            asHost(
              env,
              Builds.use((builds) => builds.deploy("app", id, options))
            )
          ),
          "New secrets need an approval"
        )
      assert.deepStrictEqual(
        seen.map(({ isFirst }) => isFirst),
        [true, false, false]
      )
    }).pipe(Effect.provide(world(modules, { deployPolicy })))
  })
})
