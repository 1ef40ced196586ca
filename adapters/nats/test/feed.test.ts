/** The contract of cluster buses over a NATS server that is killed and restarted, and its authentication. */
import { assert, describe, it } from "@effect/vitest"
import { BusNetwork, clusterBusContract } from "@weft/contract"
import { ClusterBus } from "@weft/core/adapter"
import { cluster, type NatsOptions } from "@weft/nats"
import { nats } from "@weft/tooling/services"
import { Context, Effect, Layer } from "effect"

const server = Effect.acquireRelease(
  Effect.promise(() => nats()),
  ({ stop }) => Effect.promise(stop)
)

const startNode = (options: NatsOptions) =>
  Effect.map(Layer.build(Layer.fresh(cluster(options))), (context) => Context.get(context, ClusterBus))

const net = Layer.effect(
  BusNetwork,
  Effect.map(server, ({ url, user, password, start, stop }) => {
    const options = { servers: url, user, password }
    return {
      node: startNode(options),
      otherSystem: startNode({ ...options, prefix: "weft.other" }),
      cut: Effect.promise(stop),
      restore: Effect.promise(start)
    }
  })
)

clusterBusContract("NATS", net)

describe("the cluster bus over NATS", () => {
  const refused = (options: NatsOptions) =>
    Effect.map(Effect.flip(Layer.build(cluster(options))), ({ message }) => message)

  it.live("accepts credentials in the address or in the options, and is rejected without", () =>
    Effect.gen(function* () {
      const { url, user, password } = yield* server
      const address = new URL(url)
      address.username = user
      address.password = password
      yield* startNode({ servers: address.href })
      yield* startNode({ servers: [url], user, password })
      const wrong = "a-wrong-password"
      for (const options of [{ servers: url }, { servers: url, user, password: wrong }]) {
        const message = yield* refused(options)
        assert.match(message, /authorization/i)
        assert.notInclude(message, wrong)
      }
    }).pipe(Effect.scoped)
  )

  it.live("cannot be opened without a server, or with an invalid address", () =>
    Effect.gen(function* () {
      const { url, stop } = yield* server
      yield* Effect.promise(stop)
      assert.match(yield* refused({ servers: url }), /cannot be used: .*refused/i)
      for (const servers of ["", "redis://127.0.0.1", "127.0.0.1:4222", [], ["nats://a", "b"]]) {
        assert.include(yield* refused({ servers }), "servers must be")
      }
      for (const prefix of ["", "a b", "a.*", ">", ".a"]) {
        assert.include(yield* refused({ servers: url, prefix }), "prefix must be")
      }
    }).pipe(Effect.scoped)
  )
})
