/**
 * Messages as Server-Sent Events (specification, "SSE event kinds").
 *
 * A message goes to many, so that each of its two forms is made once: of one message, and of a portion that all
 * subscribers of an environment have in common.
 */
import { type Activity, type Event, type Message, type Portion, type Position, utf8Encode } from "@weft/core"

/** How a kind of subscription words what happened. */
export interface Framing {
  /** The next bytes of a portion from a message of it on, and where the rest begins. Null for an empty rest. */
  readonly next: (portion: Portion, from: number) => { readonly bytes: Uint8Array; readonly end: number } | null
}

/** Characters that are put together into one piece. */
const pieceLength = 64 * 1024

/** Of JSON text: a line break in it is space between its parts, but would end the line of the message. */
const oneLine = (json: string): string => json.replace(/[\r\n]/g, " ")

const frame = (position: Position | null, name: string, data: string): string =>
  `${position === null ? "" : `id: ${position}\n`}event: ${name}\ndata: ${oneLine(data)}\n\n`

const framing = (dataOf: (activity: Activity) => string): Framing => {
  const frames = new WeakMap<Message, string>()
  const frameOf = (message: Message): string => {
    const known = frames.get(message)
    if (known !== undefined) return known
    const made = frame(message.position, message.activity.type, dataOf(message.activity))
    frames.set(message, made)
    return made
  }
  return {
    next: (portion, from) => {
      let text = ""
      let end = from
      while (end < portion.length && text.length < pieceLength) {
        const message = portion[end]
        if (message !== undefined) text += frameOf(message)
        end++
      }
      return text === "" ? null : { bytes: utf8Encode(text), end }
    }
  }
}

/** Makes the pieces of a portion once, for all who get the same one. */
const shared = ({ next }: Framing): Framing => {
  const pieces = new WeakMap<Portion, Map<number, ReturnType<Framing["next"]>>>()
  return {
    next: (portion, from) => {
      const known = pieces.get(portion) ?? new Map<number, ReturnType<Framing["next"]>>()
      pieces.set(portion, known)
      const piece = known.get(from) ?? next(portion, from)
      known.set(from, piece)
      return piece
    }
  }
}

const envData = (activity: Activity): string => {
  const { env_id: _, ...facts } = activity
  switch (facts.type) {
    case "run:start":
      return JSON.stringify({ run_id: facts.run_id, stream_id: facts.stream_id, run_type: facts.run_type })
    case "event:created":
    case "event:handled":
      return JSON.stringify({ event_id: facts.event_id, stream_id: facts.stream_id, event_type: facts.event_type })
    case "stream:created":
      return JSON.stringify({ stream_id: facts.stream_id })
    default:
      return JSON.stringify({ run_id: facts.run_id, stream_id: facts.stream_id })
  }
}

const statuses = { "run:stop": "succeeded", "run:fail": "failed", "run:cancel": "cancelled" } as const

const streamData = (activity: Activity): string => {
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
    case "stream:data": {
      const head = JSON.stringify({ type, run_id: activity.run_id, data_type: activity.data_type })
      return `${head.slice(0, -1)},"payload":${activity.payload}}`
    }
    default:
      return JSON.stringify({ type })
  }
}

export const envFraming: Framing = shared(framing(envData))
export const streamFraming: Framing = framing(streamData)

/** The first thing that is sent: no message, but where to go on from if none comes. */
export const opening = (begin: Position): Uint8Array => utf8Encode(`: connected\nid: ${begin}\n\n`)

export const published = (begin: Position, { event_id, stream_id, event_type }: Event): Uint8Array => {
  const type = "event:published"
  return utf8Encode(frame(begin, type, JSON.stringify({ type, event_id, stream_id, event_type })))
}

/** The time of a stream subscription is up. */
export const complete: Uint8Array = utf8Encode(frame(null, "stream:complete", '{"type":"stream:complete"}'))

/** This node goes, and others may be there: come back to one of them, in so many milliseconds. */
export const farewell: Uint8Array = utf8Encode(": leaving\nretry: 1000\n\n")

/** Keeps proxies from taking the connection for a dead one. */
export const heartbeat: Uint8Array = utf8Encode(": heartbeat\n\n")
