import { assert, describe, it } from "@effect/vitest"
import { DomainRoutes, NotFound, StoreUnavailable } from "@weft/core"
import { DomainStore, HostName } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { failure } from "../../Services.ts"

/** A store of routes that records its queries, and can be unavailable. */
class Routes {
  readonly names = new Set<string>()
  readonly queries: Array<string> = []
  isUnavailable = false

  add(name: string): void {
    this.names.add(name)
  }

  readonly store = Layer.effect(
    DomainStore,
    Effect.map(DomainStore, (store) => {
      const route = (name: string) => ({ domain: HostName.make(name), org_slug: "acme", env_name: "prod" })
      const ask = <A, E>(what: string, answer: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => {
          this.queries.push(what)
          return this.isUnavailable ? Effect.fail(new StoreUnavailable({ operation: what, cause: "test" })) : answer
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
const getCached = (host: string) => Effect.map(DomainRoutes, (routes) => routes.getCached(host))
const changed = (domain: string) => DomainRoutes.use((routes) => routes.changed(domain))

describe("the cached routes of a node", () => {
  check("are read once for all names, also unknown ones, and for concurrent readers", (routes) =>
    Effect.gen(function* () {
      assert.isUndefined(yield* getCached("hooks.example.com"))
      const hosts = Array.from({ length: 50 }, (_, n) => `made-up-${n}.example.com`)
      yield* Effect.forEach(["hooks.example.com", ...hosts], resolve, { concurrency: "unbounded" })
      assert.strictEqual((yield* getCached("hooks.example.com"))?.org_slug, "acme")
      for (const host of hosts) assert.isNull(yield* getCached(host))
      assert.deepStrictEqual(routes.queries, ["all"])
    })
  )

  check("are reloaded after a minute", (routes) =>
    Effect.gen(function* () {
      yield* resolve("x")
      routes.add("late.example.com")
      yield* TestClock.adjust("59 seconds")
      assert.isNull(yield* resolve("late.example.com"))
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* getCached("late.example.com"))
      assert.isNotNull(yield* resolve("late.example.com"))
      assert.deepStrictEqual(routes.queries, ["all", "all"])
    })
  )

  check("are reloaded individually when they change", (routes) =>
    Effect.gen(function* () {
      yield* changed("hooks.example.com")
      assert.deepStrictEqual(routes.queries, [])
      yield* resolve("x")
      routes.add("new.example.com")
      yield* changed("new.example.com")
      assert.strictEqual((yield* getCached("new.example.com"))?.env_name, "prod")
      routes.names.delete("hooks.example.com")
      yield* changed("hooks.example.com")
      assert.isNull(yield* getCached("hooks.example.com"))
      assert.strictEqual(routes.queries.filter((what) => what === "all").length, 1)
    })
  )

  check("remain in use during an outage of the store", (routes) =>
    Effect.gen(function* () {
      routes.isUnavailable = true
      assert.strictEqual(yield* failure(resolve("hooks.example.com")), "StoreUnavailable")
      routes.isUnavailable = false
      yield* resolve("hooks.example.com")
      routes.isUnavailable = true
      yield* TestClock.adjust("1 minute")
      assert.isNotNull(yield* resolve("hooks.example.com"))
      const queries = routes.queries.length
      assert.isNotNull(yield* resolve("hooks.example.com"))
      assert.strictEqual(routes.queries.length, queries)
      yield* changed("hooks.example.com")
      routes.isUnavailable = false
      routes.names.clear()
      assert.isNull(yield* resolve("hooks.example.com"))
    })
  )
})
