/**
 * Messages encoded as Server-Sent Events (specification, "SSE event kinds").
 *
 * A message goes to many subscribers, so its encodings are cached: per message, and per batch that all subscribers
 * of an environment share.
 */
import { type ActivityEvent, type Event, type Message, type Position, utf8Encode } from "@weft/core/adapter"
import type { MessageBatch } from "@weft/core/internal"

/** The encoding of one kind of subscription. */
export interface SseEncoder {
  /** Encodes a batch from index `from`, and returns the index of the first message left. Null if there are no bytes. */
  readonly next: (batch: MessageBatch, from: number) => { readonly bytes: Uint8Array; readonly end: number } | null
}

/** Characters after which a chunk is complete. */
const chunkLength = 64 * 1024

/** Replaces line breaks of JSON text, which are whitespace there but would end the `data` line. */
const toOneLine = (json: string): string => json.replace(/[\r\n]/g, " ")

/** Returns the text of a message. */
export const formatFrame = (position: Position | null, name: string, data: string): string =>
  `${position === null ? "" : `id: ${position}\n`}event: ${name}\ndata: ${toOneLine(data)}\n\n`

const makeEncoder = (encodeData: (activity: ActivityEvent) => string): SseEncoder => {
  const encoded = new WeakMap<Message, string>()
  const encode = (message: Message): string => {
    const existing = encoded.get(message)
    if (existing !== undefined) return existing
    const created = formatFrame(message.position, message.activity.type, encodeData(message.activity))
    encoded.set(message, created)
    return created
  }
  return {
    next: (batch, from) => {
      let text = ""
      let end = from
      while (end < batch.length && text.length < chunkLength) {
        const message = batch[end]
        if (message !== undefined) text += encode(message)
        end++
      }
      return text === "" ? null : { bytes: utf8Encode(text), end }
    }
  }
}

/** Caches the chunks of a batch for all subscribers that receive it. */
const withSharedChunks = ({ next }: SseEncoder): SseEncoder => {
  const chunks = new WeakMap<MessageBatch, Map<number, ReturnType<SseEncoder["next"]>>>()
  return {
    next: (batch, from) => {
      const existing = chunks.get(batch) ?? new Map<number, ReturnType<SseEncoder["next"]>>()
      chunks.set(batch, existing)
      const chunk = existing.get(from) ?? next(batch, from)
      existing.set(from, chunk)
      return chunk
    }
  }
}

type Step = Extract<ActivityEvent, { readonly type: "run:step" }>

const toStep = ({ run_id, position, kind, name, ok, attempts, ms }: Omit<Step, "env_id">) => ({
  ...{ run_id, position, kind, name, ok, attempts, ms }
})

/** Appends the stored text of `waiting`. */
const formatWaiting = (head: object, waiting: string): string =>
  `${JSON.stringify(head).slice(0, -1)},"waiting":${waiting}}`

const encodeEnvData = (activity: ActivityEvent): string => {
  const { env_id: _, ...fields } = activity
  switch (fields.type) {
    case "run:start":
      return JSON.stringify({ run_id: fields.run_id, stream_id: fields.stream_id, run_type: fields.run_type })
    case "run:step":
      return JSON.stringify({ ...toStep(fields), stream_id: fields.stream_id })
    case "run:waiting":
      return formatWaiting({ run_id: fields.run_id, stream_id: fields.stream_id }, fields.waiting)
    case "event:created":
    case "event:handled":
      return JSON.stringify({ event_id: fields.event_id, stream_id: fields.stream_id, event_type: fields.event_type })
    case "stream:created":
      return JSON.stringify({ stream_id: fields.stream_id })
    default:
      return JSON.stringify({ run_id: fields.run_id, stream_id: fields.stream_id })
  }
}

const statuses = { "run:stop": "succeeded", "run:fail": "failed", "run:cancel": "cancelled" } as const

const encodeStreamData = (activity: ActivityEvent): string => {
  const { type } = activity
  switch (type) {
    case "run:start":
      return JSON.stringify({ type, run: { run_id: activity.run_id, status: "running" } })
    case "run:stop":
    case "run:fail":
    case "run:cancel": {
      const run = JSON.stringify({ run_id: activity.run_id, status: statuses[type] })
      return `{"type":"${type}","run":${run.slice(0, -1)},"result":${activity.result}}}`
    }
    case "run:step":
      return JSON.stringify({ type, ...toStep(activity) })
    case "run:waiting":
      return formatWaiting({ type, run_id: activity.run_id }, activity.waiting)
    case "stream:data": {
      const head = JSON.stringify({ type, run_id: activity.run_id, data_type: activity.data_type })
      return `${head.slice(0, -1)},"payload":${activity.payload}}`
    }
    default:
      return JSON.stringify({ type })
  }
}

export const envEncoder: SseEncoder = withSharedChunks(makeEncoder(encodeEnvData))
export const streamEncoder: SseEncoder = makeEncoder(encodeStreamData)

/** Returns the first bytes of a stream: a comment and the position to resume from, without a message. */
export const connectedComment = (begin: Position): Uint8Array => utf8Encode(`: connected\nid: ${begin}\n\n`)

export const publishedFrame = (begin: Position, { event_id, stream_id, event_type }: Event): Uint8Array => {
  const type = "event:published"
  return utf8Encode(formatFrame(begin, type, JSON.stringify({ type, event_id, stream_id, event_type })))
}

/** Last event of a stream subscription that reached its maximum duration. */
export const completeFrame: Uint8Array = utf8Encode(formatFrame(null, "stream:complete", '{"type":"stream:complete"}'))

/** Sent by a node that shuts down. Clients reconnect after 1000 ms, possibly to another node. */
export const shutdownComment: Uint8Array = utf8Encode(": leaving\nretry: 1000\n\n")

/** Prevents proxies from closing an idle connection. */
export const heartbeatComment: Uint8Array = utf8Encode(": heartbeat\n\n")
