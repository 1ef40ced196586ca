/** Server-sent events over a connection that may break or fall silent. */
import { type ClientRequest, request } from "node:http"

export interface SseMessage {
  readonly name: string
  readonly data: string
}

export interface SseOptions {
  readonly url: string
  readonly token: string
  readonly lastEventId: string | null
  /** With a body, the request is a POST. */
  readonly body?: unknown
  readonly onId: (id: string) => void
  readonly onMessage: (message: SseMessage) => void
}

/** End of a connection: ended by the server, broken, silent for too long, or refused with a status. */
export type SseEnd = "ended" | "broken" | "silent" | { readonly status: number; readonly mayRepeat: boolean }

export interface SseConnection {
  readonly ended: Promise<SseEnd>
  readonly close: () => void
}

/** Timeout in milliseconds, longer than the interval of heartbeats. */
const silenceMs = 20_000

export const openEventSource = (options: SseOptions): SseConnection => {
  let sent: ClientRequest | undefined
  const ended = new Promise<SseEnd>((resolve) => {
    const body = options.body === undefined ? null : JSON.stringify(options.body)
    const outgoing = request(options.url, {
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
    sent = outgoing
    outgoing.on("timeout", () => {
      resolve("silent")
      outgoing.destroy()
    })
    outgoing.on("error", () => resolve("broken"))
    outgoing.on("close", () => resolve("broken"))
    outgoing.on("response", (response) => {
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
    outgoing.end(body ?? undefined)
  })
  return { ended, close: () => sent?.destroy() }
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
      // The position advances only after its message was processed.
      const id = fields.get("id")
      if (id !== undefined) onId(id)
    }
  }
}
