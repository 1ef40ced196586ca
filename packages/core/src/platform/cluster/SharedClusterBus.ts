/**
 * `ClusterBus` between nodes, on any transport.
 *
 * Subscribers on this node receive messages immediately. Messages for other nodes are batched while the previous batch is
 * being sent. Activity is sent only while another node wants it, so publishing without subscribers is cheap, and an idle
 * node sends nothing.
 *
 * Lost messages are reported as gaps in three cases:
 *
 * - This node was disconnected: the transport reports it.
 * - A frame was lost: the sequence numbers of its sender show a gap.
 * - This node began to want activity: other nodes do not send any until they have received its interest.
 */
import { Clock, Effect, Latch, Layer, Queue, Schedule, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { fresh, NodeId } from "../../foundation/Ids.ts"
import type { Series } from "../../foundation/telemetry/Series.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "./ActivityEvent.ts"
import { decodeContent } from "./BusCodec.ts"
import { type BusEvent, type BusState, disconnectedSince, initialState, transition } from "./BusState.ts"
import { ClusterBus, type Gap } from "./ClusterBus.ts"
import type { ClusterTransport, TransportSignal } from "./ClusterTransport.ts"
import type { ControlMessage } from "./ControlMessage.ts"
import { FrameReassembler, type Received, toFrames } from "./FrameReassembler.ts"
import { type LocalChannel, localChannel } from "./LocalChannel.ts"
import { RemoteInterest, renewMs } from "./RemoteInterest.ts"
import { SendBuffer } from "./SendBuffer.ts"

/** Pause between two batches, in milliseconds. */
const pauseMs = 5

/** Times after sending an interest until other nodes have usually, and certainly, received it, in milliseconds. */
const interestDelaysMs = [250, 5_000]

/** Timeout for sending pending messages when the bus closes. */
const closeTimeout = "1 second"

const sendRetry = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])

/** Makes a bus on the transport that `connect` opens. */
export const sharedClusterBus = <E, R>(
  connect: Effect.Effect<ClusterTransport, E, R>
): Layer.Layer<ClusterBus, E, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    ClusterBus,
    Effect.gen(function* () {
      const transport = yield* connect
      const bus = yield* makeBus
      yield* forkReceiving(transport, bus)
      yield* forkSending(transport, bus)
      yield* forkRenewing(bus)
      yield* forkHeartbeat(bus)
      return toService(bus)
    })
  )

/** The parts of a bus and its state, which only `dispatch` changes. */
interface Bus {
  readonly node: NodeId
  readonly clock: Clock.Clock
  readonly buffer: SendBuffer
  readonly remote: RemoteInterest
  readonly local: {
    readonly activity: LocalChannel<ActivityEvent>
    readonly control: LocalChannel<ControlMessage>
    readonly gaps: LocalChannel<Gap>
  }
  readonly counts: { batches: number; frames: number; gaps: number }
  state: BusState
  /** Latches for fibers that wait for a state. `dispatch` sets them. */
  readonly latches: {
    readonly pending: Latch.Latch
    readonly flushed: Latch.Latch
    readonly subscribed: Latch.Latch
    readonly heartbeatDue: Latch.Latch
  }
}

const readNow = ({ clock }: Bus): Timestamp => Timestamp.make(clock.currentTimeMillisUnsafe())

/** Applies an event to the state and sets the latches accordingly. */
const dispatch = (bus: Bus, event: BusEvent): void => {
  const state = transition(bus.state, event)
  if (state === bus.state) return
  bus.state = state
  const { pending, flushed, subscribed, heartbeatDue } = bus.latches
  setLatch(pending, state.sender === "pending")
  setLatch(flushed, state.sender === "idle")
  setLatch(subscribed, isSubscribed(bus))
  setLatch(heartbeatDue, state.heartbeat === "due")
}

const setLatch = (latch: Latch.Latch, isOpen: boolean): boolean => (isOpen ? latch.openUnsafe() : latch.closeUnsafe())

const isSubscribed = ({ state }: Bus): boolean => state.interest._tag !== "None"

const buffered: BusEvent = { _tag: "Buffered" }

const makeBus = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const buffer = new SendBuffer()
  const onChange = (hasSubscribers: boolean): void => {
    buffer.wantsActivity = hasSubscribers
    dispatch(bus, hasSubscribers ? { _tag: "Subscribed", now: readNow(bus) } : { _tag: "Unsubscribed" })
  }
  const bus: Bus = {
    node: yield* Effect.provide(fresh(NodeId), SecureRandom.layerWebCrypto),
    clock,
    buffer,
    remote: new RemoteInterest(Timestamp.make(clock.currentTimeMillisUnsafe())),
    local: {
      activity: yield* localChannel<ActivityEvent>(onChange),
      control: yield* localChannel<ControlMessage>(),
      gaps: yield* localChannel<Gap>()
    },
    counts: { batches: 0, frames: 0, gaps: 0 },
    state: initialState,
    latches: {
      pending: Latch.makeUnsafe(false),
      flushed: Latch.makeUnsafe(true),
      subscribed: Latch.makeUnsafe(false),
      heartbeatDue: Latch.makeUnsafe(false)
    }
  }
  queryInterest(bus)
  return bus
})

/** Asks the other nodes whether they want activity. Until they have had time to answer, interest is presumed. */
const queryInterest = (bus: Bus): void => {
  bus.buffer.queriesInterest = true
  bus.remote.queried(readNow(bus))
  dispatch(bus, buffered)
}

/** Sends the interest of this node to the others, if it has subscribers. */
const sendInterest = (bus: Bus): void => {
  if (!isSubscribed(bus)) return
  bus.buffer.wantsActivity = true
  dispatch(bus, buffered)
}

const toService = (bus: Bus): ClusterBus["Service"] => {
  const { local, buffer, remote, clock } = bus
  return ClusterBus.of({
    hasSubscribers: () => local.activity.hasSubscribers() || remote.any(clock.currentTimeMillisUnsafe()),
    publish: (messages) =>
      Effect.suspend(() => {
        if (messages.length > 0 && remote.any(clock.currentTimeMillisUnsafe())) {
          buffer.addActivity(messages)
          dispatch(bus, buffered)
        }
        return local.activity.publish(messages)
      }),
    activity: local.activity.subscribe,
    sendControl: (messages) =>
      Effect.suspend(() => {
        if (messages.length > 0) {
          buffer.addControl(messages)
          dispatch(bus, buffered)
        }
        return local.control.publish(messages)
      }),
    control: local.control.subscribe,
    gaps: local.gaps.subscribe,
    disconnectedSince: () => disconnectedSince(bus.state),
    metrics: Effect.sync(() => readSeries(bus))
  })
}

const publishGap = (bus: Bus, gap: Gap): Effect.Effect<void> =>
  Effect.suspend(() => {
    bus.counts.gaps++
    return bus.local.gaps.publish([gap])
  })

const forkReceiving = Effect.fnUntraced(function* (transport: ClusterTransport, bus: Bus) {
  const frames = new FrameReassembler(bus.node, readNow(bus))

  const receive = Effect.fnUntraced(function* ({ node, content: text, missedSince }: Received) {
    const now = readNow(bus)
    const content = decodeContent(text)
    if (missedSince !== null) {
      yield* publishGap(bus, { since: missedSince, of: "everything" })
      // The missed content may have been a query for interest.
      sendInterest(bus)
    }
    if (content === null) return
    const silentSince = bus.remote.silentSince(now)
    if (content.wantsActivity !== null && bus.remote.update(node, content.wantsActivity, now)) {
      // The node may have wanted activity for longer: its earlier interest, or this node's first content, may be lost.
      bus.buffer.heartbeat = true
      bus.buffer.silentSince ??= silentSince
      dispatch(bus, buffered)
    }
    const { interest } = bus.state
    if (content.silentSince !== null && interest._tag !== "None") {
      const since = Timestamp.make(Math.max(content.silentSince, interest.since))
      yield* publishGap(bus, { since, of: "activity" })
    }
    if (content.queriesInterest) sendInterest(bus)
    yield* bus.local.control.publish(content.control)
    yield* bus.local.activity.publish(content.activity)
  })

  const onReconnect = Effect.suspend(() => {
    const now = readNow(bus)
    const since = disconnectedSince(bus.state) ?? now
    dispatch(bus, { _tag: "Reconnected", now })
    queryInterest(bus)
    sendInterest(bus)
    return publishGap(bus, { since, of: "everything" })
  })

  const handle = (signal: TransportSignal): Effect.Effect<void> => {
    switch (signal._tag) {
      case "Frame": {
        const received = frames.accept(signal.frame, readNow(bus))
        return received === null ? Effect.void : receive(received)
      }
      case "Disconnected":
        return Effect.sync(() => dispatch(bus, signal))
      case "Reconnected":
        return onReconnect
    }
  }

  yield* Queue.takeAll(transport.received).pipe(
    Effect.flatMap((signals) => Effect.forEach(signals, handle, { discard: true })),
    Effect.forever,
    Effect.forkScoped
  )
})

const forkSending = Effect.fnUntraced(function* (transport: ClusterTransport, bus: Bus) {
  const scope = yield* Effect.scope
  const { buffer, counts } = bus
  let seq = 0

  /** Publishes the gap that ends when the other nodes have received the interest of this node. */
  const publishInterestGap = Effect.fnUntraced(function* (since: Timestamp) {
    for (const ms of interestDelaysMs) {
      yield* Effect.sleep(ms)
      if (isSubscribed(bus)) yield* publishGap(bus, { since, of: "activity" })
    }
  })

  const sendNext = Effect.gen(function* () {
    const { interest } = bus.state
    const missingSince = buffer.wantsActivity === true && interest._tag === "Unconfirmed" ? interest.missingSince : null
    const isHeartbeat = buffer.heartbeat
    const content = buffer.take()
    if (content === null) return dispatch(bus, { _tag: "Flushed" })
    // A skipped sequence number shows the other nodes that messages were dropped.
    seq += buffer.takeDropped() ? 2 : 1
    const frames = toFrames(bus.node, seq, content, transport.frameBytesMax)
    yield* Effect.retry(transport.send(frames), sendRetry)
    counts.batches++
    counts.frames += frames.length
    dispatch(bus, { _tag: "BatchSent", isHeartbeat, confirms: missingSince !== null })
    if (missingSince !== null) yield* Effect.forkIn(publishInterestGap(missingSince), scope)
    yield* Effect.sleep(pauseMs)
  })

  yield* bus.latches.pending.await.pipe(
    // Batches messages that are published in the same turn of the event loop.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(sendNext),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(bus.latches.flushed.await), closeTimeout))
})

const forkRenewing = (bus: Bus) =>
  bus.latches.subscribed.await.pipe(
    Effect.andThen(Effect.sleep(renewMs)),
    Effect.andThen(Effect.sync(() => sendInterest(bus))),
    Effect.forever,
    Effect.forkScoped
  )

/**
 * Sends one heartbeat after the last batch, when the node has been silent for a while. Without it, a node that lost the
 * last batch would not see the gap in the sequence. A node that renews its interest needs no heartbeat.
 */
const forkHeartbeat = (bus: Bus) =>
  bus.latches.heartbeatDue.await.pipe(
    Effect.andThen(Effect.sync(() => dispatch(bus, { _tag: "TimerStarted" }))),
    Effect.andThen(Effect.sleep(renewMs)),
    Effect.andThen(
      Effect.sync(() => {
        if (bus.state.heartbeat === "due" || isSubscribed(bus)) return
        bus.buffer.heartbeat = true
        dispatch(bus, buffered)
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )

const readSeries = ({ counts, buffer, state }: Bus): ReadonlyArray<Series> => {
  const counter = (
    name: string,
    help: string,
    value: number,
    labels: Readonly<Record<string, string>> = {}
  ): Series => ({
    type: "counter",
    name,
    help,
    labels,
    value
  })
  const dropped = "Messages for other nodes that were dropped because too many were pending"
  return [
    counter("weft_feed_sendings_total", "Batches sent to other nodes", counts.batches),
    counter("weft_feed_texts_total", "Frames sent to other nodes; a large batch has several", counts.frames),
    counter("weft_feed_dropped_total", dropped, buffer.dropped.activity, { kind: "activity" }),
    counter("weft_feed_dropped_total", dropped, buffer.dropped.control, { kind: "news" }),
    counter("weft_feed_gaps_total", "Gaps in which messages of other nodes may have been lost", counts.gaps),
    {
      type: "gauge",
      name: "weft_feed_connected",
      help: "1 while messages of other nodes arrive, otherwise 0",
      labels: {},
      value: state.connection._tag === "Connected" ? 1 : 0
    }
  ]
}
