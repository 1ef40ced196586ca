import { assert, describe, it } from "@effect/vitest"
import { DomainRoutes, DomainStore, HostName, MemoryStores, NotFound, StoreUnavailable } from "@weft/core"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { failure } from "../Services.ts"

/** A store of routes that counts what it is asked, and can be away. */
class Routes {
  readonly names = new Set<string>()
  readonly asked: Array<string> = []
  isAway = false

  add(name: string): void {
    this.names.add(name)
  }

  readonly store = Layer.effect(
    DomainStore,
    Effect.map(DomainStore, (store) => {
      const route = (name: string) => ({ domain: HostName.make(name), org_slug: "acme", env_name: "prod" })
      const ask = <A, E>(what: string, answer: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => {
          this.asked.push(what)
          return this.isAway ? Effect.fail(new StoreUnavailable({ operation: what, cause: "test" })) : answer
        })
      return DomainStore.of({
        ...store,
        routes: ask(
          "all",
          Effect.sync(() => [...this.names].map(route))
        ),
        route: (name) =>
          ask(
            name,
            Effect.suspend(() =>
              this.names.has(name) ? Effect.succeed(route(name)) : Effect.fail(new NotFound({ resource: "domain" }))
            )
          )
      })
    })
  )
}

const check = <E>(claim: string, body: (routes: Routes) => Effect.Effect<void, E, DomainRoutes>) =>
  it.effect(claim, () => {
    const routes = new Routes()
    routes.add("hooks.example.com")
    return body(routes).pipe(
      Effect.provide(DomainRoutes.layer.pipe(Layer.provide(routes.store), Layer.provide(MemoryStores.layer)))
    )
  })

const resolve = (host: string) => DomainRoutes.use((routes) => routes.resolve(host))
const peek = (host: string) => Effect.map(DomainRoutes, (routes) => routes.peek(host))
const changed = (domain: string) => DomainRoutes.use((routes) => routes.changed(domain))

describe("the routes that a node knows", () => {
  check("are read once for all names, whether they are domains or not, and by readers at once", (routes) =>
    Effect.gen(function* () {
      assert.isUndefined(yield* peek("hooks.example.com"))
      const hosts = Array.from({ length: 50 }, (_, n) => `made-up-${n}.example.com`)
      yield* Effect.forEach(["hooks.example.com", ...hosts], resolve, { concurrency: "unbounded" })
      assert.strictEqual((yield* peek("hooks.example.com"))?.org_slug, "acme")
      for (const host of hosts) assert.isNull(yield* peek(host))
      assert.deepStrictEqual(routes.asked, ["all"])
    })
  )

  check("are read again when they are a minute old", (routes) =>
    Effect.gen(function* () {
      yield* resolve("x")
      routes.add("late.example.com")
      yield* TestClock.adjust("59 seconds")
      assert.isNull(yield* resolve("late.example.com"))
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* peek("late.example.com"))
      assert.isNotNull(yield* resolve("late.example.com"))
      assert.deepStrictEqual(routes.asked, ["all", "all"])
    })
  )

  check("are read one by one as they change", (routes) =>
    Effect.gen(function* () {
      yield* changed("hooks.example.com")
      assert.deepStrictEqual(routes.asked, [])
      yield* resolve("x")
      routes.add("new.example.com")
      yield* changed("new.example.com")
      assert.strictEqual((yield* peek("new.example.com"))?.env_name, "prod")
      routes.names.delete("hooks.example.com")
      yield* changed("hooks.example.com")
      assert.isNull(yield* peek("hooks.example.com"))
      assert.strictEqual(routes.asked.filter((what) => what === "all").length, 1)
    })
  )

  check("serve on while the store is away, once they were read", (routes) =>
    Effect.gen(function* () {
      routes.isAway = true
      assert.strictEqual(yield* failure(resolve("hooks.example.com")), "StoreUnavailable")
      routes.isAway = false
      yield* resolve("hooks.example.com")
      routes.isAway = true
      yield* TestClock.adjust("1 minute")
      assert.isNotNull(yield* resolve("hooks.example.com"))
      const asked = routes.asked.length
      assert.isNotNull(yield* resolve("hooks.example.com"))
      assert.strictEqual(routes.asked.length, asked)
      yield* changed("hooks.example.com")
      routes.isAway = false
      routes.names.clear()
      assert.isNull(yield* resolve("hooks.example.com"))
    })
  )
})
