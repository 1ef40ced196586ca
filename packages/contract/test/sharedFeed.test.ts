/** Messages that a shared cluster bus sends and handles, in virtual time on an in-memory network. */
import { assert, describe, it } from "@effect/vitest"
import { BusNetwork } from "@weft/contract"
import { type ActivityEvent, type ClusterBus, JsonText } from "@weft/core/adapter"
import { Effect, Exit, type Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { collectMessages } from "../src/ClusterBusSamples.ts"
import { makeTime } from "../src/LifecycleNodes.ts"
import { envId, eventId, projectId, runId, streamId } from "../src/Samples.ts"
import { memoryNetwork } from "./MemoryNetwork.ts"

const { during, pass } = makeTime(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))))

/** Waits for messages in flight. */
const settle = pass(100)

const event = (n: number): ActivityEvent => ({
  type: "event:created",
  env_id: envId(1),
  event_id: eventId(n),
  stream_id: streamId(n),
  event_type: "order:created"
})

const stopped = (n: number, bytes: number): ActivityEvent => ({
  type: "run:stop",
  env_id: envId(1),
  run_id: runId(n),
  stream_id: streamId(n),
  run_type: "event",
  project_id: projectId(1),
  project_name: "shop",
  result: JsonText.make(JSON.stringify("x".repeat(bytes)))
})

const readMetric = (bus: ClusterBus["Service"], name: string, kind?: string) =>
  Effect.map(bus.metrics, (series) =>
    series
      .filter((each) => each.name === name && (kind === undefined || each.labels.kind === kind))
      .reduce((sum, each) => sum + ("value" in each ? each.value : 0), 0)
  )

/** A network that records its texts, and can drop them. */
const makeRecorded = () => {
  const texts: Array<string> = []
  let isDropping = false
  const layer = memoryNetwork({
    sent: (sent) => {
      texts.push(...sent)
      return isDropping ? [] : sent
    }
  })
  const setDropping = (isOn: boolean): void => {
    isDropping = isOn
  }
  /** Runs the effect while the network drops all texts. */
  const withLoss = Effect.fnUntraced(function* (sending: Effect.Effect<void>) {
    setDropping(true)
    yield* sending
    yield* settle
    setDropping(false)
  })
  return { texts, layer, setDropping, withLoss }
}

const pair = Effect.gen(function* () {
  const { node } = yield* BusNetwork
  return [yield* node, yield* node] as const
})

const on = <A, E>(layer: Layer.Layer<BusNetwork>, body: Effect.Effect<A, E, BusNetwork | Scope.Scope>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.provide(body, scope))
    // A shutdown takes virtual time.
    yield* during(Scope.close(scope, exit))
    return yield* exit
  }).pipe(Effect.provide(layer))

describe("a shared cluster bus", () => {
  it.effect("sends nothing during an idle hour, and three texts a minute while a node subscribes", () => {
    const { layer, texts } = makeRecorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node } = yield* BusNetwork
        yield* node
        const two = yield* node
        // Both nodes repeat their first message once.
        yield* pass(60_000)
        const begun = texts.length
        yield* pass(3_600_000)
        assert.strictEqual(texts.length, begun)
        yield* collectMessages(two.activity)
        yield* pass(600_000)
        assert.isAtMost(texts.length - begun, 30)
      })
    )
  })

  it.effect("keeps sending to nodes that still subscribe, and stops for dead nodes", () => {
    const { layer, setDropping, texts } = makeRecorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node } = yield* BusNetwork
        const one = yield* node
        const dying = yield* Scope.make()
        const two = yield* Scope.provide(node, dying)
        const received = yield* Scope.provide(collectMessages(two.activity), dying)
        yield* pass(600_000)
        yield* one.publish([event(1)])
        yield* settle
        assert.deepStrictEqual(received, [event(1)])
        // Its shutdown message is lost, as if the process were killed.
        setDropping(true)
        yield* Effect.forkChild(Scope.close(dying, Exit.void))
        yield* pass(2000)
        setDropping(false)
        const before = texts.length
        yield* one.publish([event(2)])
        yield* settle
        assert.strictEqual(texts.length, before + 1)
        yield* pass(120_000)
        // The sender sent one more text meanwhile, so that receivers notice a lost event.
        assert.strictEqual(texts.length, before + 2)
        yield* one.publish([event(3)])
        yield* settle
        assert.strictEqual(texts.length, before + 2)
      })
    )
  })

  it.effect(
    "reports a gap if the last text of another node was lost, even if that node sends no further message",
    () => {
      const { layer, withLoss } = makeRecorded()
      return on(
        layer,
        Effect.gen(function* () {
          const [one, two] = yield* pair
          yield* pass(60_000)
          const gaps = yield* collectMessages(two.gaps)
          yield* withLoss(one.sendControl([{ type: "schedules:changed" }]))
          assert.deepStrictEqual(gaps, [])
          yield* pass(60_000)
          assert.deepStrictEqual(
            gaps.map((gap) => gap.of),
            ["everything"]
          )
        })
      )
    }
  )

  it.effect("reports a gap if a text of another node was lost", () => {
    const { layer, withLoss } = makeRecorded()
    return on(
      layer,
      Effect.gen(function* () {
        const [one, two] = yield* pair
        yield* settle
        const gaps = yield* collectMessages(two.gaps)
        const control = yield* collectMessages(two.control)
        yield* one.sendControl([{ type: "tenants:changed" }])
        yield* settle
        yield* withLoss(one.sendControl([{ type: "schedules:changed" }]))
        assert.lengthOf(gaps, 0)
        yield* one.sendControl([{ type: "tenants:changed" }])
        yield* settle
        assert.deepStrictEqual(
          control.map(({ type }) => type),
          ["tenants:changed", "tenants:changed"]
        )
        assert.deepStrictEqual(
          gaps.map((gap) => gap.of),
          ["everything"]
        )
      })
    )
  })

  it.effect("drops and counts the oldest activity, but no control messages, when its buffer is full", () => {
    const { layer } = makeRecorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node, cut, restore } = yield* BusNetwork
        const one = yield* node
        const two = yield* node
        const received = yield* collectMessages(two.activity)
        const control = yield* collectMessages(two.control)
        yield* settle
        yield* cut
        yield* one.sendControl([{ type: "tenants:changed" }])
        for (let n = 1; n <= 30; n++) yield* one.publish([stopped(n, 1024 * 1024)])
        yield* pass(5000)
        const dropped = yield* readMetric(one, "weft_feed_dropped_total", "activity")
        assert.isAbove(dropped, 10)
        assert.strictEqual(yield* readMetric(one, "weft_feed_connected"), 0)
        const before = yield* readMetric(two, "weft_feed_gaps_total")
        yield* restore
        yield* pass(20_000)
        assert.lengthOf(control, 1)
        const ids = received.map((each) => ("run_id" in each ? each.run_id : ""))
        // The newest messages are kept.
        assert.includeMembers(ids, [runId(30), runId(29), runId(28)])
        assert.strictEqual(ids.length, 30 - dropped)
        assert.isAbove(yield* readMetric(two, "weft_feed_gaps_total"), before + 1)
        assert.strictEqual(yield* readMetric(one, "weft_feed_dropped_total", "news"), 0)
      })
    )
  })

  it.effect("batches messages while it sends, and merges identical control messages", () => {
    const { layer, texts } = makeRecorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node } = yield* BusNetwork
        const one = yield* node
        const two = yield* node
        const control = yield* collectMessages(two.control)
        yield* settle
        const before = texts.length
        for (let n = 0; n < 1000; n++) {
          yield* one.sendControl([{ type: "deliveries:waiting", node_id: null }])
          if (n % 100 === 99) yield* TestClock.adjust(1)
        }
        yield* settle
        assert.isAtMost(texts.length - before, 4)
        assert.isAbove(control.length, 0)
        assert.isAtMost(control.length, 4)
      })
    )
  })
})
