import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { StoreUnavailable } from "../../../src/foundation/Errors.ts"
import { BuildId, EnvId, HandlerId, ProjectId } from "../../../src/foundation/Ids.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { ClusterBus } from "../../../src/platform/cluster/ClusterBus.ts"
import { Build } from "../../../src/resources/builds/Build.ts"
import { BuildStore, type Deployment } from "../../../src/resources/builds/BuildStore.ts"
import type { CanaryStore } from "../../../src/resources/builds/CanaryStore.ts"
import { Deployments, toSnapshot } from "../../../src/resources/builds/Deployments.ts"
import type { Endpoint, EventHandler } from "../../../src/resources/builds/Manifest.ts"
import { noRetry } from "../../../src/resources/builds/RetryPolicy.ts"
import { failure } from "../../Services.ts"

const uuid = (n: number) => `01890000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`
const env = EnvId.make(uuid(1))
const otherEnv = EnvId.make(uuid(2))

const build = (n: number) =>
  new Build({
    build_id: BuildId.make(uuid(n)),
    project_id: ProjectId.make(uuid(n)),
    project_name: `p${n}`,
    env_id: env,
    hash: "",
    size: 1,
    build_type: "bundle",
    deployed: true,
    active: true,
    created_at: Timestamp.make(0),
    updated_at: Timestamp.make(0),
    storage_path: "",
    storage_backend: "memory"
  })

const handler = (name: string, event_type: string): EventHandler => ({
  event_handler_id: HandlerId.make(uuid(9)),
  ns: "main",
  var: name,
  event_type,
  retry: noRetry,
  timeout_ms: 1000,
  concurrency: null,
  idempotency: null,
  durable: false
})

const endpoint = (method: Endpoint["method"], service: string, path: string): Endpoint => ({
  ns: "main",
  var: "go",
  service,
  path,
  method,
  name: "go",
  description: "",
  auth: "none",
  secret_headers: [],
  timeout_ms: 1000,
  record: "before"
})

const deployment = (
  n: number,
  handlers: ReadonlyArray<EventHandler>,
  endpoints: ReadonlyArray<Endpoint> = []
): Deployment => ({
  build: build(n),
  manifest: { functions: [], handlers, schedules: [], endpoints, tools: [], resources: [], prompts: [] }
})

describe("a snapshot of an environment", () => {
  const snapshot = toSnapshot([
    deployment(1, [handler("a", "order:created"), handler("b", "order:*"), handler("c", "*")]),
    deployment(2, [handler("a", "order:created"), handler("d", "order:created")]),
    deployment(3, [handler("e", "order:*"), handler("e", "order:created"), handler("f", "order:createdX")])
  ])
  const matched = (type: string) =>
    snapshot
      .matches(type)
      .map((match) => `${match.build.project_name}/${match.handler.var}`)
      .sort()

  it.each([
    ["order:created", ["p1/a", "p1/b", "p1/c", "p2/a", "p2/d", "p3/e"]],
    ["order:paid", ["p1/b", "p1/c", "p3/e"]],
    ["order:", ["p1/b", "p1/c", "p3/e"]],
    ["order", ["p1/c"]],
    ["Order:created", ["p1/c"]]
  ])("finds the handlers of %s, each function once", (type, expected) => {
    assert.deepStrictEqual(matched(type), expected)
  })

  it("is built quickly for many handlers of one event type", () => {
    const handlers = Array.from({ length: 30_000 }, (_, n) => handler(`f${n}`, "order:created"))
    const began = performance.now()
    const { matches } = toSnapshot([deployment(1, handlers)])
    assert.isBelow(performance.now() - began, 1000)
    assert.strictEqual(matches("order:created").length, handlers.length)
  })

  it("finds endpoints by exact method, service and path", () => {
    const { endpoint: find } = toSnapshot([
      deployment(1, [], [endpoint("GET", "shop", "/a/b"), endpoint("POST", "shop", "/a/b")]),
      deployment(2, [], [endpoint("GET", "shop2", "/a/b")])
    ])
    assert.strictEqual(find("GET", "shop", "/a/b")?.build.project_name, "p1")
    assert.strictEqual(find("POST", "shop", "/a/b")?.endpoint.method, "POST")
    assert.strictEqual(find("GET", "shop2", "/a/b")?.build.project_name, "p2")
    for (const [method, service, path] of [
      ["PUT", "shop", "/a/b"],
      ["GET", "shop", "/a/b/"],
      ["GET", "shop", "/A/b"],
      ["GET", "shop/a", "/b"],
      ["get", "shop", "/a/b"],
      ["GET", "constructor", ""]
    ] as const) {
      assert.isUndefined(find(method, service, path))
    }
  })
})

/** A store whose deployments the test sets, and which counts its queries. */
const fakeStore = Effect.gen(function* () {
  const store = yield* BuildStore
  const state = { deployed: [] as Deployment[], queries: 0, isDown: false, answer: Effect.void }
  const layer = Layer.succeed(BuildStore, {
    ...store,
    deployments: () =>
      Effect.suspend(() => {
        state.queries++
        const deployed = [...state.deployed]
        return state.isDown
          ? Effect.fail(new StoreUnavailable({ operation: "deployments", cause: "test" }))
          : Effect.as(state.answer, deployed)
      })
  })
  const context = yield* Layer.build(Deployments.layer.pipe(Layer.provide(layer)))
  return { state, deployments: yield* Effect.provide(Deployments, context) }
})

const run = <A, E>(body: Effect.Effect<A, E, BuildStore | CanaryStore | ClusterBus | Scope.Scope>) =>
  Effect.scoped(body).pipe(Effect.provide(MemoryStores.layer))

describe("Deployments", () => {
  it.effect("queries the store once for concurrent and later callers", () =>
    run(
      Effect.gen(function* () {
        const { state, deployments } = yield* fakeStore
        state.answer = Effect.sleep(10)
        const waiting = yield* Effect.forkChild(Effect.replicateEffect(deployments.of(env), 20, { concurrency: 20 }))
        yield* TestClock.adjust(10)
        yield* Effect.yieldNow
        assert.strictEqual(waiting.pollUnsafe()?._tag, "Success")
        yield* deployments.of(env)
        assert.strictEqual(state.queries, 1)
        yield* Effect.forkChild(deployments.of(otherEnv))
        yield* TestClock.adjust(10)
        assert.strictEqual(state.queries, 2)
      })
    )
  )

  it.effect("applies a change at once on its node", () =>
    run(
      Effect.gen(function* () {
        const { state, deployments } = yield* fakeStore
        assert.strictEqual((yield* deployments.of(env)).builds.size, 0)
        state.deployed = [deployment(1, [])]
        yield* deployments.changed(env)
        assert.strictEqual((yield* deployments.of(env)).builds.size, 1)
      })
    )
  )

  it.effect("does not cache a result that was read before a change", () =>
    run(
      Effect.gen(function* () {
        const { state, deployments } = yield* fakeStore
        state.answer = Effect.sleep(10)
        yield* Effect.forkChild(deployments.of(env))
        yield* Effect.yieldNow
        state.deployed = [deployment(1, [])]
        state.answer = Effect.void
        yield* deployments.changed(env)
        assert.strictEqual((yield* deployments.of(env)).builds.size, 1)
        yield* TestClock.adjust(10)
        assert.strictEqual((yield* deployments.of(env)).builds.size, 1)
      })
    )
  )

  it.effect("applies messages of other nodes, for its environment only", () =>
    run(
      Effect.gen(function* () {
        const { state, deployments } = yield* fakeStore
        const bus = yield* ClusterBus
        yield* deployments.of(env)
        yield* deployments.of(otherEnv)
        state.deployed = [deployment(1, [])]
        yield* bus.sendControl([{ type: "deployments:changed", env_id: env }])
        yield* Effect.repeat(Effect.yieldNow, { times: 10 })
        assert.strictEqual((yield* deployments.of(env)).builds.size, 1)
        assert.strictEqual((yield* deployments.of(otherEnv)).builds.size, 0)
        assert.strictEqual(state.queries, 3)
      })
    )
  )

  it.effect("applies a change without a message within a minute", () =>
    run(
      Effect.gen(function* () {
        const { state, deployments } = yield* fakeStore
        yield* deployments.of(env)
        state.deployed = [deployment(1, [])]
        yield* TestClock.adjust("60 seconds")
        assert.strictEqual((yield* deployments.of(env)).builds.size, 1)
      })
    )
  )

  it.effect("queries again after a failure of the store", () =>
    run(
      Effect.gen(function* () {
        const { state, deployments } = yield* fakeStore
        state.isDown = true
        assert.strictEqual(yield* failure(deployments.of(env)), "StoreUnavailable")
        state.isDown = false
        yield* deployments.of(env)
        assert.strictEqual(state.queries, 2)
      })
    )
  )
})
