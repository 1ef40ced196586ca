/** Recordings of runs in virtual time, and their replays in a sandbox without a host. */
import { assert, describe, it } from "@effect/vitest"
import { AuditLog, ContextVariables, type Env, EnvId, hostFunction, Projects, Recordings, Webhooks } from "@weft/core"
import { BuildId, RecordingStore, type RunId, type RunRecording } from "@weft/core/adapter"
import { type ReplayReport, replayRecording } from "@weft/core/internal"
import { type TrustedModule, type TrustedSvc, trustedSandbox, trustedZip } from "@weft/core/testing"
import { Effect, Fiber, type Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { publish, withMeta } from "../resources/schedules/Fixtures.ts"
import { as } from "../Services.ts"
import { allRuns, asHost, deployed, settle, world } from "../world.ts"
import { settleAll } from "./workflows/DurableWorld.ts"

interface Order {
  readonly event_data: { readonly id: number; readonly card: string; readonly total: number }
}

const record = { inputs: true, hostCalls: true, redact: ["card"], retention: "30m" }
const secret = "s3cret/value"

/** Prices an order: reads a secret, calls the host, publishes an event, and returns the total. */
const price = (toTotal: (total: number) => number) =>
  withMeta({ event: "order", record }, async ({ event_data }: Order, svc: TrustedSvc) => {
    const key = await svc.context.get("KEY")
    const rate = await svc.host.rate?.({ key: `Bearer ${key}`, card: event_data.card })
    const total = toTotal(event_data.total)
    await svc.events.publish({ type: "priced", data: { total, rate } })
    return { total, card: event_data.card, key }
  })

interface DurableSvc extends TrustedSvc {
  readonly step: <A>(name: string, body: () => A | Promise<A>) => Promise<A>
  readonly sleep: (name: string, duration: string) => Promise<void>
  readonly now: () => number
}

/** Ships an order after a sleep. */
const fulfil = (first: string, carrier: string) =>
  withMeta({ event: "fulfil", durable: true, record }, async (_: unknown, svc: DurableSvc) => {
    const receipt = await svc.step(first, () => "r-1")
    await svc.sleep("settle", "2m")
    const at = svc.now()
    await svc.step("ship", () => svc.events.publish({ type: "shipped", data: { receipt, at, carrier } }))
    return { receipt, at }
  })

/** Responds with the name in the body. */
const hook = (status: number) =>
  withMeta(
    { webhook: { service: "shop", path: "/hook" }, record, "secret-headers": ["x-key"] },
    ({ body }: { readonly body: { readonly name: string } }) => ({ status, body: { name: body.name } })
  )

const many = withMeta({ event: "many", record }, async (_: unknown, svc: TrustedSvc) => {
  const texts = []
  for (let call = 0; call < 3; call++) texts.push(await svc.host.large?.({}))
  return texts.length
})

const plain = withMeta({ event: "plain" }, () => 1)
const changedPrice = price((total) => (total < 25 ? total * 2 : total * 2 + 1))

const modules: Readonly<Record<string, TrustedModule>> = {
  app: { main: { price: price((total) => total * 2), many, plain, fulfil: fulfil("charge", "dhl"), hook: hook(201) } },
  // Other totals from 25 on.
  changed: { main: { price: changedPrice, many, fulfil: fulfil("charge", "ups"), hook: hook(202) } },
  diverged: { main: { fulfil: fulfil("bill", "dhl") } }
}

const json = { input: Schema.Json, output: Schema.Json }
const host = {
  rate: hostFunction(json, () => ({ rate: 2, key: secret })),
  large: hostFunction(json, () => "x".repeat(600_000))
}

type World = Layer.Success<ReturnType<typeof world>>

const check = <E>(claim: string, body: (env: Env) => Effect.Effect<void, E, World>) =>
  it.effect(claim, () =>
    Effect.provide(
      Effect.flatMap(deployed("app"), (env) =>
        Effect.andThen(
          asHost(
            env,
            ContextVariables.use((context) => context.create("app", { key: "KEY", value: secret }))
          ),
          body(env)
        )
      ),
      world(modules, { host })
    )
  )

/** Publishes orders with totals from 0 on, and waits until their recordings are stored. */
const order = Effect.fnUntraced(function* (env: Env, count: number) {
  for (let id = 0; id < count; id++) yield* publish(env, "order", { id, card: "4111", total: id })
  yield* stored(env, count)
})

/** Waits until the environment has this number of recordings. Their encryption takes real time. */
const stored = Effect.fnUntraced(function* (env: Env, count: number) {
  do {
    yield* TestClock.adjust("1 second")
    yield* settleAll
  } while ((yield* list(env)).total !== count)
})

const pass = Effect.andThen(TestClock.adjust("1 second"), settle)

const list = (env: Env, query = {}) =>
  asHost(
    env,
    Recordings.use((recordings) => recordings.list({ limit: 100, offset: 0 }, query))
  )

const get = (env: Env, runId: RunId) =>
  asHost(
    env,
    Recordings.use((recordings) => recordings.get(runId))
  )

const only = Effect.fnUntraced(function* (env: Env, query = {}) {
  const { items } = yield* list(env, query)
  assert.strictEqual(items.length, 1)
  return yield* get(env, items[0]?.run_id ?? (yield* Effect.die("no recording")))
})

/** Replays a recording with the build `key`, without any service of Weft. */
const replay = (recording: RunRecording, key: string): Effect.Effect<ReplayReport, unknown> => {
  const artifact = Effect.succeed(trustedZip(key))
  const id = "01890000-0000-7000-8000-000000000000"
  const bundle = { env_id: EnvId.make(id), build_id: BuildId.make(id), artifact, renewed: artifact }
  return Effect.provide(replayRecording(recording, bundle), trustedSandbox(modules))
}

describe("a recording", () => {
  check("has the input, the host calls with their answers, and the result, without secrets", (env) =>
    Effect.gen(function* () {
      yield* order(env, 1)
      const recording = yield* only(env)
      assert.deepInclude(recording, { ns: "main", var: "price", status: "succeeded", truncated: 0 })
      assert.deepStrictEqual(
        recording.calls.map(({ op, args, answer }) => [op, args, answer]),
        [
          ["context.get", '{"key":"KEY"}', '"weft-secret-KEY"'],
          [
            "host.rate",
            '{"key":"Bearer weft-secret-KEY","card":"weft-redacted"}',
            '{"rate":2,"key":"weft-secret-KEY"}'
          ],
          [
            "events.publish",
            '{"type":"priced","data":{"total":0,"rate":{"rate":2,"key":"weft-secret-KEY"}}}',
            recording.calls[2]?.answer
          ]
        ]
      )
      assert.deepStrictEqual(
        recording.calls.map(({ ended }) => ended),
        [0, 1, 2]
      )
      assert.deepStrictEqual(JSON.parse(recording.result), {
        total: 0,
        card: "weft-redacted",
        key: "weft-secret-KEY"
      })
      const { event, run } = JSON.parse(recording.input.svc)
      assert.deepStrictEqual(event.event_data, { id: 0, card: "weft-redacted", total: 0 })
      assert.strictEqual(run.run_id, recording.run_id)
      assert.notInclude(JSON.stringify(recording), secret)
      const sealed = yield* RecordingStore.use((store) => store.get(env.env_id, recording.run_id, recording.start_time))
      assert.notInclude(sealed.contents, "priced")
    })
  )

  check("is truncated, and never wrong, if it grows too large", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "many", null)
      yield* stored(env, 1)
      const recording = yield* only(env)
      assert.deepStrictEqual([recording.truncated, recording.calls.length], [1, 2])
      assert.deepInclude(recording.calls[1], { answer: null, ended: null })
      const fiber = yield* Effect.forkChild(replay(recording, "changed"))
      yield* pass
      assert.deepInclude(yield* Fiber.join(fiber), { verdict: "incomplete", difference: null })
    })
  )

  check("exists only for functions that declare it, and is read with its permission, audited", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "plain", null)
      yield* order(env, 1)
      const { items, total } = yield* list(env)
      assert.strictEqual(total, 1)
      assert.strictEqual((yield* list(env, { fn: "main/plain" })).total, 0)
      assert.strictEqual((yield* list(env, { fn: "app:main/price" })).total, 1)
      const read = (permissions: object) =>
        as(env.env_id, permissions)(Recordings.use((recordings) => recordings.get(items[0]?.run_id ?? "")))
      for (const permissions of [{ "run:*": ["read"] }, { "call:*": ["read", "create"] }]) {
        assert.strictEqual((yield* Effect.flip(read(permissions)))._tag, "Forbidden")
      }
      assert.strictEqual((yield* Effect.flip(read({ "recording:other": ["read"] })))._tag, "NotFound")
      assert.strictEqual((yield* read({ "recording:app": ["read"] })).var, "price")
      const audited = yield* AuditLog.use((log) =>
        log.listAll({ action: "recording.read", outcome: "done" }, { limit: 10, offset: 0 })
      )
      assert.deepStrictEqual(
        audited.items.map(({ object_id, object_name }) => [object_id, object_name]),
        [[items[0]?.run_id ?? "", "app:main/price"]]
      )
    })
  )

  check("is deleted after its time, and with its project", (env) =>
    Effect.gen(function* () {
      yield* order(env, 2)
      const [first] = (yield* list(env)).items
      yield* TestClock.adjust("31 minutes")
      yield* settle
      assert.strictEqual((yield* list(env)).total, 0)
      yield* TestClock.adjust("2 hours")
      yield* settle
      const read = RecordingStore.use((store) =>
        Effect.flip(store.get(env.env_id, first?.run_id ?? never(), first?.start_time ?? never()))
      )
      assert.strictEqual((yield* read)._tag, "NotFound")
      yield* order(env, 1)
      assert.strictEqual((yield* list(env)).total, 1)
      yield* asHost(
        env,
        Projects.use((projects) => projects.remove("app"))
      )
      yield* stored(env, 0)
    })
  )
})

describe("a replay", () => {
  check("of 30 runs with a changed build finds exactly the runs that differ, without a host call", (env) =>
    Effect.gen(function* () {
      yield* order(env, 30)
      const before = (yield* allRuns(env)).length
      const different: Array<string> = []
      for (const { run_id } of (yield* list(env)).items) {
        const recording = yield* get(env, run_id)
        assert.deepInclude(yield* replay(recording, "app"), { verdict: "same", calls: 3 })
        const { difference } = yield* replay(recording, "changed")
        if (difference === null) continue
        assert.strictEqual(difference.kind, "call")
        assert.deepInclude(difference, { number: 3 })
        const { id } = JSON.parse(recording.input.svc).event.event_data
        different.push(`${id} ${difference.at?.path} ${difference.at?.recorded} ${difference.at?.replayed}`)
      }
      const expected = [25, 26, 27, 28, 29].map((total) => `${total} data.total ${total * 2} ${total * 2 + 1}`)
      assert.deepStrictEqual(different.sort(), expected)
      assert.strictEqual((yield* allRuns(env)).length, before)
    })
  )
})

describe("a replay of a webhook", () => {
  check("gets its request with the body, but without credentials, and compares the response", (env) =>
    Effect.gen(function* () {
      const headers = { authorization: "Bearer x", "x-key": "k", "content-type": "application/json" }
      const body = new TextEncoder().encode('{"name":"Ada","card":"4111"}')
      yield* Webhooks.use((webhooks) =>
        webhooks.handle({
          ...{ org: "app", env: env.name, service: "shop", path: "/hook", method: "POST", url: "/hook" },
          ...{ query: {}, headers, body, remoteIp: "127.0.0.1", token: null }
        })
      )
      yield* stored(env, 1)
      const recording = yield* only(env)
      assert.deepStrictEqual(recording.input.body, { text: '{"name":"Ada","card":"weft-redacted"}', as: "json" })
      assert.deepStrictEqual(JSON.parse(recording.input.svc).request.headers, {
        ...headers,
        ...{ authorization: "weft-redacted", "x-key": "weft-redacted" }
      })
      assert.deepInclude(yield* replay(recording, "app"), { verdict: "same", calls: 0 })
      const { difference } = yield* replay(recording, "changed")
      assert.deepInclude(difference?.at, { path: "result.status", recorded: 201, replayed: 202 })
    })
  )
})

describe("a replay of a durable run", () => {
  check("repeats the function with its stored results, and finds other steps and calls", (env) =>
    Effect.gen(function* () {
      yield* publish(env, "fulfil", null)
      yield* settleAll
      yield* TestClock.adjust("2 minutes")
      yield* stored(env, 1)
      const recording = yield* only(env)
      assert.deepStrictEqual(
        recording.calls.map(({ op }) => op),
        ["workflow.wait", "events.publish", "workflow.step"]
      )
      assert.deepInclude(yield* replay(recording, "app"), { verdict: "same", calls: 3 })
      const { difference } = yield* replay(recording, "changed")
      assert.deepInclude(difference?.at, { path: "data.carrier", recorded: "dhl", replayed: "ups" })
      const diverged = yield* replay(recording, "diverged")
      assert.deepInclude(diverged.difference?.at, { path: "status", recorded: "succeeded", replayed: "failed" })
    })
  )
})

const never = (): never => {
  throw new Error("no recording")
}
