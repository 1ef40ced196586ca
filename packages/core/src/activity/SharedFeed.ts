/**
 * `Feed` between nodes, on any transport.
 *
 * Subscribers of this node hear it at once. What goes out is gathered while the last sending is under way. Activity is
 * sent only while another node wants to hear it, so that who publishes pays for nobody, and an idle node sends nothing.
 * What the transport lost is told as a gap when it is back: a node that was away knows it by itself, one that missed
 * something by the numbers of what it hears, and one that begins to want activity by the time that it takes to say so.
 */
import { Clock, Effect, Latch, Layer, Queue, Schedule, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { fresh, NodeId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"
import type { Series } from "../metrics/Series.ts"
import type { Activity } from "./Activity.ts"
import { Feed, type Gap } from "./Feed.ts"
import { decodeContent } from "./FeedCodec.ts"
import { FeedPieces, type Received, toTexts } from "./FeedPieces.ts"
import type { FeedSignal, FeedTransport } from "./FeedTransport.ts"
import { type LocalChannel, localChannel } from "./LocalChannel.ts"
import type { News } from "./News.ts"
import { Outbox } from "./Outbox.ts"
import { renewMs, Watchers } from "./Watchers.ts"

/** Pause between two sendings, in milliseconds. */
const pauseMs = 5

/** Others have heard that this node wants activity: soon, and surely, after it was sent. */
const heardMs = [250, 5_000]

/** How long the last messages may take when the feed is closed. */
const farewell = "1 second"

const sendRetry = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])

/** A feed on the transport that `connect` opens. */
export const sharedFeed = <E, R>(
  connect: Effect.Effect<FeedTransport, E, R>
): Layer.Layer<Feed, E, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    Feed,
    Effect.gen(function* () {
      const transport = yield* connect
      const line = yield* makeLine
      yield* forkReceiving(transport, line)
      yield* forkSending(transport, line)
      yield* forkRenewing(line)
      yield* forkEchoing(line)
      return feedOf(line)
    })
  )

/** The state of a feed. */
interface Line {
  readonly node: NodeId
  readonly clock: Clock.Clock
  readonly outbox: Outbox
  readonly watchers: Watchers
  readonly local: {
    readonly activity: LocalChannel<Activity>
    readonly news: LocalChannel<News>
    readonly gaps: LocalChannel<Gap>
  }
  readonly counts: { sent: number; sentTexts: number; gaps: number }
  /** Open while there may be something to send. */
  readonly wake: Latch.Latch
  /** Open while there is nothing. */
  readonly sent: Latch.Latch
  /** Open while somebody here wants activity. */
  readonly watched: Latch.Latch
  /** Open when something was said since it was last closed. */
  readonly spoke: Latch.Latch
  awaySince: Timestamp | null
  /** Since when activity of others may be missing because they do not know yet that it is wanted here. */
  unheardSince: Timestamp | null
  /** Since when somebody here wants activity. */
  watchedSince: Timestamp | null
}

const nowOf = ({ clock }: Line): Timestamp => Timestamp.make(clock.currentTimeMillisUnsafe())

const rouse = (line: Line): void => {
  line.sent.closeUnsafe()
  line.wake.openUnsafe()
}

const makeLine = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const outbox = new Outbox()
  const watched = Latch.makeUnsafe(false)
  const attended = (isAttended: boolean): void => {
    if (isAttended) {
      watched.openUnsafe()
      line.unheardSince ??= nowOf(line)
      line.watchedSince ??= nowOf(line)
    } else {
      watched.closeUnsafe()
      line.unheardSince = null
      line.watchedSince = null
    }
    outbox.watching = isAttended
    rouse(line)
  }
  const line: Line = {
    node: yield* Effect.provide(fresh(NodeId), SecureRandom.layerWebCrypto),
    clock,
    outbox,
    watchers: new Watchers(Timestamp.make(clock.currentTimeMillisUnsafe())),
    local: {
      activity: yield* localChannel<Activity>(attended),
      news: yield* localChannel<News>(),
      gaps: yield* localChannel<Gap>()
    },
    counts: { sent: 0, sentTexts: 0, gaps: 0 },
    wake: Latch.makeUnsafe(false),
    sent: Latch.makeUnsafe(true),
    watched,
    spoke: Latch.makeUnsafe(false),
    awaySince: null,
    unheardSince: null,
    watchedSince: null
  }
  ask(line)
  return line
})

/** Asks who wants activity; until they can have answered, somebody does. */
const ask = (line: Line): void => {
  line.outbox.asks = true
  line.watchers.asked(nowOf(line))
  rouse(line)
}

/** Says to the others that somebody here wants activity, if so. */
const sayWatched = (line: Line): void => {
  if (!line.watched.isOpen()) return
  line.outbox.watching = true
  rouse(line)
}

const feedOf = (line: Line): Feed["Service"] => {
  const { local, outbox, watchers, clock } = line
  return Feed.of({
    isHeard: () => local.activity.isHeard() || watchers.any(clock.currentTimeMillisUnsafe()),
    publish: (messages) =>
      Effect.suspend(() => {
        if (messages.length > 0 && watchers.any(clock.currentTimeMillisUnsafe())) {
          outbox.publish(messages)
          rouse(line)
        }
        return local.activity.publish(messages)
      }),
    activity: local.activity.subscribe,
    tell: (news) =>
      Effect.suspend(() => {
        if (news.length > 0) {
          outbox.tell(news)
          rouse(line)
        }
        return local.news.publish(news)
      }),
    news: local.news.subscribe,
    gaps: local.gaps.subscribe,
    awaySince: () => line.awaySince,
    counted: Effect.sync(() => seriesOf(line))
  })
}

const tellGap = (line: Line, gap: Gap): Effect.Effect<void> =>
  Effect.suspend(() => {
    line.counts.gaps++
    return line.local.gaps.publish([gap])
  })

const forkReceiving = Effect.fnUntraced(function* (transport: FeedTransport, line: Line) {
  const pieces = new FeedPieces(line.node, nowOf(line))

  const hear = Effect.fnUntraced(function* ({ node, content, missedSince }: Received) {
    const now = nowOf(line)
    const said = decodeContent(content)
    if (missedSince !== null) {
      yield* tellGap(line, { since: missedSince, of: "everything" })
      // What was missed may have been its question who wants activity.
      sayWatched(line)
    }
    if (said === null) return
    const silentSince = line.watchers.silentSince(now)
    if (said.watching !== null && line.watchers.heard(node, said.watching, now)) {
      // It may have wanted it for long: what it said of that may have been lost, and what this node said first.
      line.outbox.greets = true
      line.outbox.silentSince ??= silentSince
      rouse(line)
    }
    if (said.silentSince !== null && line.watchedSince !== null) {
      const since = Timestamp.make(Math.max(said.silentSince, line.watchedSince))
      yield* tellGap(line, { since, of: "activity" })
    }
    if (said.asks) sayWatched(line)
    yield* line.local.news.publish(said.news)
    yield* line.local.activity.publish(said.activity)
  })

  const isBack = Effect.suspend(() => {
    const since = line.awaySince ?? nowOf(line)
    line.awaySince = null
    ask(line)
    if (line.watched.isOpen()) {
      line.outbox.watching = true
      line.unheardSince = since
    }
    return tellGap(line, { since, of: "everything" })
  })

  const handle = (signal: FeedSignal): Effect.Effect<void> => {
    switch (signal._tag) {
      case "Text": {
        const received = pieces.accept(signal.text, nowOf(line))
        return received === null ? Effect.void : hear(received)
      }
      case "Away":
        return Effect.sync(() => {
          line.awaySince ??= signal.since
        })
      case "Back":
        return isBack
    }
  }

  yield* Queue.takeAll(transport.received).pipe(
    Effect.flatMap((signals) => Effect.forEach(signals, handle, { discard: true })),
    Effect.forever,
    Effect.forkScoped
  )
})

const forkSending = Effect.fnUntraced(function* (transport: FeedTransport, line: Line) {
  const scope = yield* Effect.scope
  const { outbox, counts } = line
  let seq = 0

  /** Tells of the gap that ends when others have heard that this node wants activity. */
  const settle = Effect.fnUntraced(function* (since: Timestamp) {
    for (const ms of heardMs) {
      yield* Effect.sleep(ms)
      if (line.watched.isOpen()) yield* tellGap(line, { since, of: "activity" })
    }
  })

  const sendNext = Effect.gen(function* () {
    const unheardSince = outbox.watching === true ? line.unheardSince : null
    const isEcho = outbox.greets
    const content = outbox.take()
    if (content === null) {
      line.wake.closeUnsafe()
      line.sent.openUnsafe()
      return
    }
    // A number that is left out tells the others that something was.
    seq += outbox.missing() ? 2 : 1
    const texts = toTexts(line.node, seq, content, transport.textBytesMax)
    yield* Effect.retry(transport.send(texts), sendRetry)
    counts.sent++
    counts.sentTexts += texts.length
    if (!isEcho) line.spoke.openUnsafe()
    if (unheardSince !== null) {
      line.unheardSince = null
      yield* Effect.forkIn(settle(unheardSince), scope)
    }
    yield* Effect.sleep(pauseMs)
  })

  yield* line.wake.await.pipe(
    // What comes together goes together.
    Effect.andThen(Effect.yieldNow),
    Effect.andThen(sendNext),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.interruptible(line.sent.await), farewell))
})

const forkRenewing = (line: Line) =>
  line.watched.await.pipe(
    Effect.andThen(Effect.sleep(renewMs)),
    Effect.andThen(Effect.sync(() => sayWatched(line))),
    Effect.forever,
    Effect.forkScoped
  )

/**
 * Who lost the last that a node said would not know before it says more: so it is heard once again, after a while of
 * silence. A node that renews what it wants is heard anyway.
 */
const forkEchoing = (line: Line) =>
  line.spoke.await.pipe(
    Effect.andThen(Effect.sync(() => line.spoke.closeUnsafe())),
    Effect.andThen(Effect.sleep(renewMs)),
    Effect.andThen(
      Effect.sync(() => {
        if (line.spoke.isOpen() || line.watched.isOpen()) return
        line.outbox.greets = true
        rouse(line)
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )

const seriesOf = ({ counts, outbox, awaySince }: Line): ReadonlyArray<Series> => {
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
  const dropped = "Messages for other nodes that were given up, because too many waited"
  return [
    counter("weft_feed_sendings_total", "Sendings to other nodes, each of all that waited", counts.sent),
    counter(
      "weft_feed_texts_total",
      "Texts that were sent to other nodes, of which large sendings have several",
      counts.sentTexts
    ),
    counter("weft_feed_dropped_total", dropped, outbox.dropped.activity, { kind: "activity" }),
    counter("weft_feed_dropped_total", dropped, outbox.dropped.news, { kind: "news" }),
    counter("weft_feed_gaps_total", "Times that messages of other nodes may have been lost", counts.gaps),
    {
      type: "gauge",
      name: "weft_feed_connected",
      help: "Whether messages of other nodes arrive",
      labels: {},
      value: awaySince === null ? 1 : 0
    }
  ]
}
