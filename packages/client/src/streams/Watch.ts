/** Subscriptions that come back by themselves and go on where they were. */
import { WeftError } from "../errors/WeftError.ts"
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { RetryOptions } from "../RequestOptions.ts"
import { backOff, isPassing, sleep } from "../transport/Pause.ts"
import { type Block, blocksOf } from "./EventBlocks.ts"
import { Recent } from "./Recent.ts"

export interface WatchOptions {
  /** Ends the subscription: the iteration fails with the signal's reason. Leaving the loop ends it quietly. */
  readonly signal?: AbortSignal | undefined
  /** The `id` of the last message of an earlier subscription: what came after it comes first. */
  readonly lastEventId?: string | undefined
  /** Go on when the server ends a subscription after its time, five minutes. Environments are always watched on. */
  readonly follow?: boolean | undefined
  /** Milliseconds without any sign of life after which the connection counts as lost; 45,000 by default. */
  readonly silenceMs?: number | undefined
  /** How many attempts in a row to come back may fail before the iteration does. No limit by default. */
  readonly reconnects?: number | undefined
  /** Told of each failure that the subscription outlives. */
  readonly onInterruption?: ((error: WeftError | WeftNetworkError) => void) | undefined
}

export interface Message {
  readonly id?: string
  readonly event: string
  readonly data: object
}

export interface Subscribing<M extends Message> {
  /** Connects: to what came after the id, null for what happens from now on. */
  readonly open: (after: string | null, isFirst: boolean) => Promise<Response>
  readonly retry: RetryOptions
  /** Looks at messages before they are handed on. */
  readonly onMessage?: (message: M) => void
  /** Whether it can be connected again at all. */
  readonly canReturn?: () => boolean
}

const silenceMsUsual = 45_000

/** Where a subscription stands between two connections. */
interface Place {
  after: string | null
  /** Failures since something was heard. */
  failures: number
  /** Before coming back, in milliseconds; the server may wish another. */
  pauseMs: number
}

type Interruption = WeftError | WeftNetworkError

export async function* watch<M extends Message>(
  subscribing: Subscribing<M>,
  options: WatchOptions
): AsyncGenerator<M, void, undefined> {
  const place: Place = { after: options.lastEventId ?? null, failures: 0, pauseMs: subscribing.retry.baseMs }
  const known = new Recent()
  let response = await subscribing.open(place.after, true)
  for (;;) {
    let interruption: Interruption | null = null
    try {
      for await (const block of blocksOf(response, options.silenceMs ?? silenceMsUsual)) {
        const message = messageOf<M>(block)
        note(place, block)
        if (message === null || known.has(message)) continue
        subscribing.onMessage?.(message)
        yield message
        if (message.event === "stream:complete" && options.follow !== true) return
      }
    } catch (error) {
      options.signal?.throwIfAborted()
      interruption = error instanceof WeftError || error instanceof WeftNetworkError ? error : lost(error)
    }
    response = await comeBack(subscribing, options, place, interruption)
  }
}

/** Connects again, as often as it takes. `interruption` is null when the server has just ended the subscription. */
const comeBack = async <M extends Message>(
  { open, retry, canReturn = () => true }: Subscribing<M>,
  { signal, reconnects = Number.POSITIVE_INFINITY, onInterruption }: WatchOptions,
  place: Place,
  interruption: Interruption | null
): Promise<Response> => {
  if (!canReturn()) throw interruption ?? lost()
  for (let failure = interruption; ; ) {
    if (failure !== null) {
      if (place.failures >= reconnects) throw failure
      place.failures++
      onInterruption?.(failure)
    }
    await sleep(pauseOf(place, failure, retry), signal)
    try {
      return await open(place.after, false)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isPassing(error)) throw error
      failure = error
    }
  }
}

const lost = (cause?: unknown): WeftNetworkError => new WeftNetworkError("The subscription was cut off", cause)

/** The first block has an id and no message: where to go on from if nothing else comes. */
const note = (place: Place, { id, retry }: Block): void => {
  place.failures = 0
  if (id !== null) place.after = id
  if (retry !== null) place.pauseMs = retry
}

const pauseOf = (place: Place, failure: Interruption | null, retry: RetryOptions): number => {
  const asked = failure instanceof WeftError ? (failure.retryAfter ?? 0) * 1000 : 0
  return Math.max(asked, backOff({ baseMs: place.pauseMs, maxMs: retry.maxMs }, Math.max(1, place.failures)))
}

const messageOf = <M extends Message>({ id, event, data }: Block): M | null =>
  data === null ? null : readMessage(id, event ?? "message", data)

/** Of which kind it is, the endpoint promises; what is no JSON is a fault on the way. */
const readMessage = <M extends Message>(id: string | null, event: string, data: string): M => {
  try {
    const message: Message = { ...(id === null ? {} : { id }), event, data: JSON.parse(data) }
    return message as M
  } catch (error) {
    throw new WeftNetworkError("A message came mutilated", error)
  }
}
