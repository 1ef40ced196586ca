/** Contract of a cluster bus. Adapters run this suite; they do not copy it. It runs in real time. */
import { assert, describe, it } from "@effect/vitest"
import {
  type ActivityEvent,
  type ClusterBus,
  type ControlMessage,
  now as currentTime,
  type Gap,
  JsonText
} from "@weft/core/adapter"
import { Context, Effect, Exit, type Layer, Scope } from "effect"
import * as fc from "fast-check"
import { type Check, check } from "./Check.ts"
import { anyActivity, anyControlMessage, collectMessages } from "./ClusterBusSamples.ts"
import { bigJson, envId, eventId, hostileText, nodeId, projectId, runId, streamId } from "./Samples.ts"

type Node = ClusterBus["Service"]

/** The nodes of a cluster, and the network between them. */
export class BusNetwork extends Context.Service<
  BusNetwork,
  {
    /** Starts another node until the scope closes. */
    readonly node: Effect.Effect<Node, unknown, Scope.Scope>
    /** Starts a node of another system on the same servers. */
    readonly otherSystem: Effect.Effect<Node, unknown, Scope.Scope>
    /** Disconnects all nodes, as a crash of the servers does. */
    readonly cut: Effect.Effect<void>
    readonly restore: Effect.Effect<void>
  }
>()("@weft/contract/BusNetwork") {}

export const clusterBusContract = <E>(name: string, layer: Layer.Layer<BusNetwork, E>): void => {
  describe(`ClusterBus contract: ${name}`, () => {
    for (const { name: claim, body } of clusterBusChecks) it.live(claim, () => Effect.provide(body, layer))
  })
}

/** Longer than nodes wait for answers to an interest request. */
const interestTimeout = "5500 millis"
/** Longer than a message takes. */
const soon = "300 millis"

/** Maximum wait for an expected state, in milliseconds. */
/** Maximum wait for an expected state, in milliseconds. */
const timeoutMs = 10_000

const until = (what: string, isTrue: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    const end = (yield* currentTime) + timeoutMs
    while (!isTrue()) {
      if ((yield* currentTime) > end) return assert.fail(`timed out after ${timeoutMs} ms waiting for ${what}`)
      yield* Effect.sleep(5)
    }
  })

const event = (n: number, event_type = "order:created"): ActivityEvent => ({
  type: "event:created",
  env_id: envId(1),
  event_id: eventId(n),
  stream_id: streamId(n),
  event_type
})

const stopped = (n: number, result: JsonText): ActivityEvent => ({
  type: "run:stop",
  env_id: envId(1),
  run_id: runId(n),
  stream_id: streamId(n),
  run_type: "event",
  project_id: projectId(1),
  project_name: hostileText,
  result
})

const domain = (n: number): ControlMessage => ({ type: "domains:changed", domain: `${n}.example` })

const toIds = (received: ReadonlyArray<ActivityEvent>) =>
  received.map((each) => ("event_id" in each ? each.event_id : each.type))

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Returns the number of frames that the node has sent. */
const countSent = (node: Node) =>
  Effect.map(node.metrics, (series) => {
    const found = series.find(({ name }) => name === "weft_feed_sendings_total")
    return found !== undefined && "value" in found
      ? found.value
      : assert.fail("the bus has no metric weft_feed_sendings_total")
  })

const twoNodes = Effect.gen(function* () {
  const net = yield* BusNetwork
  return { one: yield* net.node, two: yield* net.node, net }
})

const inScope = <Eff extends Effect.Effect<unknown, unknown, unknown>>(body: () => Generator<Eff, void>) =>
  function* () {
    yield* Effect.scoped(Effect.gen(body))
  }

const messageChecks: ReadonlyArray<Check<BusNetwork>> = [
  check(
    "delivers the messages of a node once and in order, to others and to itself",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const own = yield* collectMessages(one.activity)
      const others = yield* collectMessages(two.activity)
      const ownControl = yield* collectMessages(one.control)
      const othersControl = yield* collectMessages(two.control)
      yield* Effect.sleep(soon)
      for (const n of range(1, 100)) {
        yield* one.publish(range(10 * n, 10 * n + 9).map((each) => event(each)))
        yield* one.sendControl([domain(n)])
        if (n % 10 === 0) yield* Effect.sleep(1)
      }
      const all = range(10, 1009).map(eventId)
      yield* until("activity", () => others.length >= 1000)
      yield* until("control messages", () => othersControl.length >= 100)
      yield* Effect.sleep(soon)
      assert.deepStrictEqual(toIds(own), all)
      assert.deepStrictEqual(toIds(others), all)
      assert.deepStrictEqual(ownControl, range(1, 100).map(domain))
      assert.deepStrictEqual(othersControl, range(1, 100).map(domain))
    })
  ),

  check(
    "delivers messages of all kinds unchanged",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const received = yield* collectMessages(two.activity)
      const receivedControl = yield* collectMessages(two.control)
      yield* Effect.sleep(soon)
      const activity = fc.sample(anyActivity, { numRuns: 200, seed: 1 })
      const control = fc.sample(anyControlMessage, { numRuns: 200, seed: 2 })
      yield* one.publish(activity)
      for (const each of control) yield* one.sendControl([each])
      yield* until("activity", () => received.length >= activity.length)
      assert.deepStrictEqual(received, activity)
      // Identical control messages within a short time may be merged.
      const distinct = (messages: ReadonlyArray<ControlMessage>) => [
        ...new Set(messages.map((each) => JSON.stringify(each)))
      ]
      yield* until("control messages", () => distinct(receivedControl).length >= distinct(control).length)
      assert.sameMembers(distinct(receivedControl), distinct(control))
    })
  ),

  check(
    "delivers large messages complete, between small ones",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const received = yield* collectMessages(two.activity)
      yield* Effect.sleep(soon)
      const letters = JsonText.make(JSON.stringify("\ufeff🧵é".repeat(150_000)))
      const sent = [event(1), stopped(2, bigJson), event(3, hostileText), stopped(4, letters), event(5)]
      yield* one.publish(sent)
      yield* until("all messages", () => received.length >= sent.length)
      assert.isTrue(received.every((each, index) => JSON.stringify(each) === JSON.stringify(sent[index])))
      assert.lengthOf(received, sent.length)
    })
  ),

  check(
    "delivers nothing from other systems",
    inScope(function* () {
      const { one, two, net } = yield* twoNodes
      const otherSystem = yield* net.otherSystem
      const received = yield* collectMessages(two.activity)
      const receivedControl = yield* collectMessages(two.control)
      yield* collectMessages(otherSystem.activity)
      yield* Effect.sleep(soon)
      yield* otherSystem.publish([event(1)])
      yield* otherSystem.sendControl([domain(1)])
      yield* one.publish([event(2)])
      yield* one.sendControl([domain(2)])
      yield* until("both messages", () => received.length > 0 && receivedControl.length > 0)
      yield* Effect.sleep(soon)
      assert.deepStrictEqual(received, [event(2)])
      assert.deepStrictEqual(receivedControl, [domain(2)])
    })
  ),

  check(
    "delivers the last messages of a node that shuts down",
    inScope(function* () {
      const { one, net } = yield* twoNodes
      const received = yield* collectMessages(one.activity)
      const receivedControl = yield* collectMessages(one.control)
      const scope = yield* Scope.make()
      const closing = yield* Scope.provide(net.node, scope)
      yield* Effect.sleep(soon)
      yield* closing.publish(range(1, 50).map((n) => event(n)))
      yield* closing.sendControl([{ type: "deliveries:waiting", node_id: nodeId(7) }])
      yield* Scope.close(scope, Exit.void)
      yield* until("all messages", () => received.length >= 50 && receivedControl.length >= 1)
      assert.deepStrictEqual(toIds(received), range(1, 50).map(eventId))
    })
  )
]

const interestChecks: ReadonlyArray<Check<BusNetwork>> = [
  check(
    "sends no activity while no other node subscribes",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const own = yield* collectMessages(one.activity)
      yield* Effect.sleep(interestTimeout)
      const before = yield* countSent(one)
      for (const n of range(1, 20)) yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(10))
      assert.strictEqual(yield* countSent(one), before)
      assert.lengthOf(own, 20)

      const scope = yield* Scope.make()
      const received = yield* Scope.provide(collectMessages(two.activity), scope)
      for (let n = 21; received.length === 0 && n < 221; n++) {
        yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(50))
      }
      assert.isAbove(received.length, 0)
      assert.isAbove(yield* countSent(one), before)

      yield* Scope.close(scope, Exit.void)
      for (let last = -1; last < (yield* countSent(one)); ) {
        last = yield* countSent(one)
        yield* Effect.andThen(Effect.sleep(soon), one.publish([event(1)]))
        yield* Effect.sleep(soon)
      }
      const after = yield* countSent(one)
      for (const n of range(300, 320)) yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(10))
      assert.strictEqual(yield* countSent(one), after)
    })
  ),

  check(
    "delivers the first message of a node that starts, and those after its interest request timed out",
    inScope(function* () {
      const net = yield* BusNetwork
      const one = yield* net.node
      const received = yield* collectMessages(one.activity)
      yield* Effect.sleep(soon)
      const two = yield* net.node
      yield* two.publish([event(1)])
      yield* until("the first message", () => received.length === 1)
      yield* Effect.sleep(interestTimeout)
      yield* two.publish([event(2)])
      yield* until("the second message", () => received.length === 2)
    })
  ),

  check(
    "reports a gap of activity, but not of control messages, to a node that subscribes",
    inScope(function* () {
      const { two } = yield* twoNodes
      const gaps = yield* collectMessages(two.gaps)
      yield* Effect.sleep(soon)
      const before = yield* currentTime
      yield* collectMessages(two.activity)
      const after = yield* currentTime
      yield* until("a gap", () => gaps.length > 0)
      const [gap] = gaps
      assert.strictEqual(gap?.of, "activity")
      assert.isTrue(gap !== undefined && gap.since >= before && gap.since <= after)
    })
  )
]

const gapChecks: ReadonlyArray<Check<BusNetwork>> = [
  check(
    "reports a gap after an outage, and then delivers messages sent during it",
    inScope(function* () {
      const { one, two, net } = yield* twoNodes
      const received = yield* collectMessages(two.activity)
      const receivedControl = yield* collectMessages(two.control)
      const gaps: Array<Gap> = yield* collectMessages(two.gaps)
      const own = yield* collectMessages(one.control)
      yield* Effect.sleep(soon)
      yield* one.publish([event(1)])
      yield* until("the first message", () => received.length > 0)
      const cutAt = yield* currentTime
      yield* net.cut
      yield* until(
        "the nodes to notice the outage",
        () => one.disconnectedSince() !== null && two.disconnectedSince() !== null
      )
      assert.isAtMost(two.disconnectedSince() ?? 0, yield* currentTime)
      yield* one.publish([event(2)])
      yield* one.sendControl([domain(1)])
      assert.deepStrictEqual(own, [domain(1)])
      yield* net.restore
      yield* until("the nodes to reconnect", () => one.disconnectedSince() === null && two.disconnectedSince() === null)
      yield* until("a gap", () => gaps.some((gap) => gap.of === "everything"))
      const gap = gaps.find(({ of }) => of === "everything")
      assert.isAtMost(gap?.since ?? 0, cutAt + 2000)
      // The gap covers messages that were sent before this node reconnected.
      for (let n = 3; received.length < 2; n++) yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(100))
      for (let n = 2; receivedControl.length < 1; n++)
        yield* Effect.andThen(one.sendControl([domain(n)]), Effect.sleep(100))
      assert.strictEqual(new Set(toIds(received)).size, received.length)
    })
  ),

  check(
    "reconnects after repeated outages",
    inScope(function* () {
      const { one, two, net } = yield* twoNodes
      const received = yield* collectMessages(two.control)
      for (const round of range(1, 3)) {
        yield* net.cut
        yield* until(
          "the nodes to notice the outage",
          () => one.disconnectedSince() !== null && two.disconnectedSince() !== null
        )
        yield* net.restore
        yield* until(
          "the nodes to reconnect",
          () => one.disconnectedSince() === null && two.disconnectedSince() === null
        )
        yield* one.sendControl([domain(round)])
        yield* until("control messages", () =>
          received.some((each) => each.type === "domains:changed" && each.domain === `${round}.example`)
        )
      }
    })
  )
]

export const clusterBusChecks: ReadonlyArray<Check<BusNetwork>> = [...messageChecks, ...interestChecks, ...gapChecks]
