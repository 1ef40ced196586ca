/** The delay of one environment's deployment by the builds of others, with one compiler that takes a second per build. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Semaphore } from "effect"
import { TestClock } from "effect/testing"
import { trustedZip } from "../../../src/memory/TrustedSandbox.ts"
import { Artifacts } from "../../../src/resources/builds/Artifacts.ts"
import { Builds } from "../../../src/resources/builds/Builds.ts"
import { Projects } from "../../../src/resources/projects/Projects.ts"
import { as, newEnv } from "../../Services.ts"
import { hashOf, setUp, upload, withSandbox } from "./Fixtures.ts"

const compileMs = 1000
const builds = 20

const slowCompiler = withSandbox((trusted) => {
  const compiler = Semaphore.makeUnsafe(1)
  return {
    ...trusted,
    prepare: (zip) => compiler.withPermit(Effect.andThen(Effect.sleep(compileMs), trusted.prepare(zip)))
  }
})

const createEnv = Effect.fnUntraced(function* (slug: string) {
  const env = yield* newEnv(slug)
  const host = as(env.env_id)
  yield* host((yield* Projects).create({ name: "shop" }))
  return { env, host }
})

const goLive = Effect.gen(function* () {
  const zip = trustedZip("one")
  return yield* (yield* Builds).upload("shop", { zip, hash: yield* hashOf(zip), build_type: "live" })
})

const deployNew = Effect.gen(function* () {
  const { build } = yield* upload("shop", "one")
  return yield* (yield* Builds).deploy("shop", build.build_id)
})

const renewNew = Effect.gen(function* () {
  const { build } = yield* upload("shop", "one")
  return yield* (yield* Artifacts).renew(build)
})

/** Lets work that needs no virtual time proceed, such as digests. */
const settle = TestClock.withLive(Effect.sleep("50 millis"))

/** Advances the clock by some compilations, and waits for the digest of the zip before each. */
const compile = Effect.fnUntraced(function* (count: number) {
  for (let half = 0; half < 2 * count; half++) {
    yield* TestClock.withLive(Effect.sleep("10 millis"))
    yield* TestClock.adjust(compileMs / 2)
  }
})

/** Starts `work` many times in each of the other environments and returns the duration of a deployment in between. */
const measureNeighbour = <A, E, R>(others: number, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const neighbour = yield* createEnv("neighbour")
    const { build } = yield* neighbour.host(upload("shop", "one"))
    for (let other = 0; other < others; other++) {
      const { host } = yield* createEnv(`busy-${other}`)
      yield* Effect.forkChild(host(Effect.replicateEffect(work, builds, { concurrency: builds, discard: true })))
    }
    yield* settle
    yield* TestClock.adjust(compileMs / 2)
    const startedAt = yield* Clock.currentTimeMillis
    const deployed = yield* Effect.forkChild(
      Effect.andThen(
        neighbour.host(Builds.use((service) => service.deploy("shop", build.build_id))),
        Clock.currentTimeMillis
      )
    )
    yield* settle
    yield* compile(50)
    return (yield* Fiber.join(deployed)) - startedAt
  })

describe("preparations of builds", () => {
  const works = [
    ["deployments", Effect.asVoid(deployNew)],
    ["live uploads", Effect.asVoid(goLive)],
    ["compilations of lost artifacts", Effect.asVoid(renewNew)]
  ] as const
  for (const [name, work] of works) {
    it.effect(`delay a neighbour's deployment by at most one compilation, behind ${builds} ${name}`, () =>
      Effect.gen(function* () {
        const delay = (yield* measureNeighbour(1, work)) - compileMs
        assert.isAtMost(delay, compileMs)
      }).pipe(Effect.provide(slowCompiler))
    )
  }

  it.effect("delay it by at most one compilation of each other environment", () =>
    Effect.gen(function* () {
      const delay = (yield* measureNeighbour(4, deployNew)) - compileMs
      assert.isAtMost(delay, 4 * compileMs)
    }).pipe(Effect.provide(slowCompiler))
  )

  it.effect("of one environment all complete, in order", () =>
    Effect.gen(function* () {
      const { env, host } = yield* setUp
      const prepared: Array<string> = []
      const artifacts = yield* Artifacts
      const uploaded = yield* host(Effect.replicateEffect(upload("alpha", "one"), 3))
      const all = yield* Effect.forkChild(
        Effect.forEach(
          uploaded,
          ({ build }) => Effect.tap(artifacts.renew(build), () => Effect.sync(() => prepared.push(build.build_id))),
          { concurrency: "unbounded" }
        )
      )
      yield* compile(10)
      yield* Fiber.join(all)
      assert.deepStrictEqual(
        prepared,
        uploaded.map(({ build }) => build.build_id)
      )
      assert.strictEqual(uploaded[0]?.build.env_id, env.env_id)
    }).pipe(Effect.provide(slowCompiler))
  )
})
