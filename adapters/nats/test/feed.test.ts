/** The contract of feeds over a NATS server that is killed and started again, and who is let in. */
import { assert, describe, it } from "@effect/vitest"
import { FeedNet, feedContract } from "@weft/contract"
import { Feed } from "@weft/core"
import { feed, type NatsOptions } from "@weft/nats"
import { nats } from "@weft/tooling/services"
import { Context, Effect, Layer } from "effect"

const server = Effect.acquireRelease(
  Effect.promise(() => nats()),
  ({ stop }) => Effect.promise(stop)
)

const nodeOf = (options: NatsOptions) =>
  Effect.map(Layer.build(Layer.fresh(feed(options))), (context) => Context.get(context, Feed))

const net = Layer.effect(
  FeedNet,
  Effect.map(server, ({ url, user, password, start, stop }) => {
    const options = { servers: url, user, password }
    return {
      node: nodeOf(options),
      stranger: nodeOf({ ...options, prefix: "weft.other" }),
      cut: Effect.promise(stop),
      mend: Effect.promise(start)
    }
  })
)

feedContract("NATS", net)

describe("the feed over NATS", () => {
  const refused = (options: NatsOptions) =>
    Effect.map(Effect.flip(Layer.build(feed(options))), ({ message }) => message)

  it.live("takes what lets it in from the address, or apart from it, and is refused without", () =>
    Effect.gen(function* () {
      const { url, user, password } = yield* server
      const address = new URL(url)
      address.username = user
      address.password = password
      yield* nodeOf({ servers: address.href })
      yield* nodeOf({ servers: [url], user, password })
      const wrong = "a-wrong-password"
      for (const options of [{ servers: url }, { servers: url, user, password: wrong }]) {
        const message = yield* refused(options)
        assert.match(message, /authorization/i)
        assert.notInclude(message, wrong)
      }
    }).pipe(Effect.scoped)
  )

  it.live("cannot be opened where nobody listens, or with what is no address", () =>
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
