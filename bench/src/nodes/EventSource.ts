/** Server-sent events over a connection that may break, or say nothing any more. */
import { type ClientRequest, request } from "node:http"

export interface SseMessage {
  readonly name: string
  readonly data: string
}

export interface SseOptions {
  readonly url: string
  readonly token: string
  readonly lastEventId: string | null
  /** A body makes it a POST. */
  readonly body?: unknown
  readonly onId: (id: string) => void
  readonly onMessage: (message: SseMessage) => void
}

/** How it ended: at its end, broken, silent for too long, or refused with a status. */
export type SseEnd = "ended" | "broken" | "silent" | { readonly status: number; readonly mayRepeat: boolean }

export interface SseConnection {
  readonly over: Promise<SseEnd>
  readonly close: () => void
}

/** More than the time between two heartbeats. */
const silenceMs = 20_000

export const openEventSource = (options: SseOptions): SseConnection => {
  let sent: ClientRequest | undefined
  const over = new Promise<SseEnd>((resolve) => {
    const body = options.body === undefined ? null : JSON.stringify(options.body)
    const asked = request(options.url, {
      method: body === null ? "GET" : "POST",
      agent: false,
      timeout: silenceMs,
      headers: {
        authorization: `Bearer ${options.token}`,
        accept: "text/event-stream",
        ...(body === null ? {} : { "content-type": "application/json" }),
        ...(options.lastEventId === null ? {} : { "last-event-id": options.lastEventId })
      }
    })
    sent = asked
    asked.on("timeout", () => {
      resolve("silent")
      asked.destroy()
    })
    asked.on("error", () => resolve("broken"))
    asked.on("close", () => resolve("broken"))
    asked.on("response", (response) => {
      const { statusCode: status = 0 } = response
      if (status !== 200) {
        resolve({ status, mayRepeat: response.headers["retry-after"] !== undefined })
        response.resume()
        return
      }
      const read = reader(options)
      response.setEncoding("utf8").on("data", read)
      response.on("error", () => resolve("broken"))
      response.on("aborted", () => resolve("broken"))
      response.on("end", () => resolve("ended"))
    })
    asked.end(body ?? undefined)
  })
  return { over, close: () => sent?.destroy() }
}

const reader = ({ onId, onMessage }: SseOptions): ((piece: string) => void) => {
  let rest = ""
  return (piece) => {
    const blocks = `${rest}${piece}`.split("\n\n")
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      const fields = new Map<string, string>()
      for (const line of block.split("\n")) {
        const colon = line.indexOf(": ")
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2))
      }
      const data = fields.get("data")
      if (data !== undefined) onMessage({ name: fields.get("event") ?? "message", data })
      // Only what was taken in may be counted as had.
      const id = fields.get("id")
      if (id !== undefined) onId(id)
    }
  }
}
