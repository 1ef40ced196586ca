/** Tenants that several nodes ensure concurrently, on their own connections to one database. */
import { assert, describe, it } from "@effect/vitest"
import { firstPage, start } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { cluster, database } from "@weft/postgres"
import { Effect, Redacted } from "effect"
import { freshDatabase } from "./Fresh.ts"

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

/** A node of a host that records the calls of its tenant hooks. */
const node = (url: string, calls: Array<string>) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      start({
        database: database({ url }),
        cluster: cluster({ url }),
        blobs: MemoryStores.blobs,
        sandbox: trustedSandbox({}),
        masterKeys,
        provisioning: {
          onOrgCreated: ({ slug }) => calls.push(slug),
          onEnvCreated: ({ org, env }) => calls.push(`${org.slug}/${env.name}`)
        }
      })
    ),
    (weft) => Effect.promise(weft.close)
  )

describe("nodes that ensure tenants concurrently", () => {
  it.live("get the same tenants, and call the hooks once for each", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const calls: Array<string> = []
      const nodes = [yield* node(url, calls), yield* node(url, calls), yield* node(url, calls)]
      const names = ["a", "b", "c", "d"]
      const tenants = yield* Effect.promise(() =>
        Promise.all(
          names.flatMap((org) =>
            [0, 1, 2].flatMap(() => nodes.map((weft) => weft.tenants.ensure({ org, env: "production" })))
          )
        )
      )
      for (const { org, env } of tenants) {
        const first = tenants.find((one) => one.org.slug === org.slug)
        assert.deepStrictEqual([org, env], [first?.org, first?.env])
      }
      const [first] = nodes
      assert.isDefined(first)
      assert.strictEqual((yield* Effect.promise(() => first.orgs.list(firstPage))).total, names.length)
      for (const name of names) {
        assert.strictEqual((yield* Effect.promise(() => first.envs.list(name, firstPage))).total, 1)
      }
      assert.deepStrictEqual(calls.sort(), names.flatMap((name) => [name, `${name}/production`]).sort())
    })
  )
})
