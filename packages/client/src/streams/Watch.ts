/** Subscriptions that reconnect automatically and continue from the last message. */
import { WeftError } from "../errors/WeftError.ts"
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { RetryOptions } from "../RequestOptions.ts"
import { backOff, isTransient, sleep } from "../transport/Retry.ts"
import { SeenMessages } from "./SeenMessages.ts"
import { readBlocks, type SseBlock } from "./SseReader.ts"

export interface WatchOptions {
  /** Ends the subscription with the signal's reason as error. Leaving the loop ends it without an error. */
  readonly signal?: AbortSignal | undefined
  /** The `id` of the last message of an earlier subscription. The iteration starts with the messages after it. */
  readonly lastEventId?: string | undefined
  /** Reconnects when the server ends a subscription after its maximum of five minutes. Always on for environments. */
  readonly follow?: boolean | undefined
  /** Maximum time without any data before the connection counts as lost, in milliseconds; 45,000 by default. */
  readonly silenceMs?: number | undefined
  /** Maximum failed reconnects in a row before the iteration fails. No limit by default. */
  readonly reconnects?: number | undefined
  /** Called when a connection is ready, also after a reconnect: messages of everything that happens from now on arrive. */
  readonly onOpen?: (() => void) | undefined
  /** Called for each failure after which the subscription reconnects. */
  readonly onInterruption?: ((error: WeftError | WeftNetworkError) => void) | undefined
}

export interface Message {
  readonly id?: string
  readonly event: string
  readonly data: object
}

export interface SubscriptionSource<M extends Message> {
  /** Subscribes to messages after the id, or to new messages for null. */
  readonly open: (after: string | null, isFirst: boolean) => Promise<Response>
  readonly retry: RetryOptions
  /** Called for each message before the iteration yields it. */
  readonly onMessage?: (message: M) => void
  /** Returns true if a reconnect is possible. */
  readonly canReconnect?: () => boolean
}

const defaultSilenceMs = 45_000

/** The state of a subscription between two connections. */
interface ResumeState {
  after: string | null
  /** Failures since the last data. */
  failures: number
  /** Delay before a reconnect, in milliseconds. The server may set it. */
  pauseMs: number
}

type Interruption = WeftError | WeftNetworkError

export async function* watch<M extends Message>(
  source: SubscriptionSource<M>,
  options: WatchOptions
): AsyncGenerator<M, void, undefined> {
  const state: ResumeState = { after: options.lastEventId ?? null, failures: 0, pauseMs: source.retry.baseMs }
  const seen = new SeenMessages()
  let response = await source.open(state.after, true)
  for (;;) {
    let interruption: Interruption | null = null
    let isOpen = false
    try {
      for await (const block of readBlocks(response, options.silenceMs ?? defaultSilenceMs)) {
        if (!isOpen) options.onOpen?.()
        isOpen = true
        const message = toMessage<M>(block)
        updateState(state, block)
        if (message === null || seen.seenBefore(message)) continue
        source.onMessage?.(message)
        yield message
        if (message.event === "stream:complete" && options.follow !== true) return
      }
    } catch (error) {
      options.signal?.throwIfAborted()
      interruption = error instanceof WeftError || error instanceof WeftNetworkError ? error : connectionLost(error)
    }
    response = await reconnect(source, options, state, interruption)
  }
}

/** Reconnects, with retries. `interruption` is null when the server ended the subscription. */
const reconnect = async <M extends Message>(
  { open, retry, canReconnect = () => true }: SubscriptionSource<M>,
  { signal, reconnects = Number.POSITIVE_INFINITY, onInterruption }: WatchOptions,
  state: ResumeState,
  interruption: Interruption | null
): Promise<Response> => {
  if (!canReconnect()) throw interruption ?? connectionLost()
  for (let failure = interruption; ; ) {
    if (failure !== null) {
      if (state.failures >= reconnects) throw failure
      state.failures++
      onInterruption?.(failure)
    }
    await sleep(reconnectDelay(state, failure, retry), signal)
    try {
      return await open(state.after, false)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isTransient(error)) throw error
      failure = error
    }
  }
}

const connectionLost = (cause?: unknown): WeftNetworkError =>
  new WeftNetworkError("The connection of the subscription was lost", cause)

/** Records the position of a block. The first block has a position but no message. */
const updateState = (state: ResumeState, { id, retry }: SseBlock): void => {
  state.failures = 0
  if (id !== null) state.after = id
  if (retry !== null) state.pauseMs = retry
}

const reconnectDelay = (state: ResumeState, failure: Interruption | null, retry: RetryOptions): number => {
  const requestedMs = failure instanceof WeftError ? (failure.retryAfter ?? 0) * 1000 : 0
  return Math.max(requestedMs, backOff({ baseMs: state.pauseMs, maxMs: retry.maxMs }, Math.max(1, state.failures)))
}

const toMessage = <M extends Message>({ id, event, data }: SseBlock): M | null =>
  data === null ? null : readMessage(id, event ?? "message", data)

/** Parses a message. The endpoint guarantees its type; invalid JSON is a transport error. */
const readMessage = <M extends Message>(id: string | null, event: string, data: string): M => {
  try {
    const message: Message = { ...(id === null ? {} : { id }), event, data: JSON.parse(data) }
    return message as M
  } catch (error) {
    throw new WeftNetworkError("A message is not valid JSON", error)
  }
}
