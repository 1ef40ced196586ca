/** Tenants that several nodes ensure at once, on their own connections to one database. */
import { assert, describe, it } from "@effect/vitest"
import { firstPage, MemoryStores, start, trustedSandbox } from "@weft/core"
import { feed, stores } from "@weft/postgres"
import { Effect, Redacted } from "effect"
import { freshDatabase } from "./Fresh.ts"

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

/** A node of a host that notes of which tenants it is told. */
const node = (url: string, told: Array<string>) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      start({
        stores: stores({ url }),
        feed: feed({ url }),
        blobs: MemoryStores.blobs,
        sandbox: trustedSandbox({}),
        masterKeys,
        provisioning: {
          onOrgCreated: ({ slug }) => told.push(slug),
          onEnvCreated: ({ org, env }) => told.push(`${org.slug}/${env.name}`)
        }
      })
    ),
    (weft) => Effect.promise(weft.close)
  )

describe("nodes that ensure tenants at once", () => {
  it.live("get the same, and each is announced once", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const told: Array<string> = []
      const nodes = [yield* node(url, told), yield* node(url, told), yield* node(url, told)]
      const names = ["a", "b", "c", "d"]
      const asked = yield* Effect.promise(() =>
        Promise.all(
          names.flatMap((org) =>
            [0, 1, 2].flatMap(() => nodes.map((weft) => weft.tenants.ensure({ org, env: "production" })))
          )
        )
      )
      for (const { org, env } of asked) {
        const first = asked.find((one) => one.org.slug === org.slug)
        assert.deepStrictEqual([org, env], [first?.org, first?.env])
      }
      const [first] = nodes
      assert.isDefined(first)
      assert.strictEqual((yield* Effect.promise(() => first.orgs.list(firstPage))).total, names.length)
      for (const name of names) {
        assert.strictEqual((yield* Effect.promise(() => first.envs.list(name, firstPage))).total, 1)
      }
      assert.deepStrictEqual(told.sort(), names.flatMap((name) => [name, `${name}/production`]).sort())
    })
  )
})
