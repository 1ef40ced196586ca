/** `EventSource`, over `fetch`: the host's policy for requests applies. */
import type { URL as PlatformUrl } from "../platform/url/url.ts"
import { EventStreamParser } from "./event-stream.ts"
import { MessageEvent } from "./messages.ts"

const { brand, defineConstants, requireArguments } = platform.define()
const { Event, EventTarget, HandlerSlot } = platform.events()
const { startTimer, stopTimer } = platform.timers()
const { AbortController } = platform.abort()
const { fetch } = platform.fetch()
const { URL } = platform.url()

const states = { CONNECTING: 0, OPEN: 1, CLOSED: 2 }

/** Default time before a reconnection, in milliseconds. */
const retryMsDefault = 3000
/** Minimum time before a reconnection, in milliseconds, whatever the server says. */
const retryMsMin = 100

export interface EventSourceInit {
  readonly withCredentials?: boolean
}

export class EventSource extends EventTarget {
  readonly #url: string
  readonly #withCredentials: boolean
  readonly #controller = new AbortController()
  readonly #onOpen = new HandlerSlot(this, "open")
  readonly #onMessage = new HandlerSlot(this, "message")
  readonly #onError = new HandlerSlot(this, "error")
  #state = states.CONNECTING
  #retryMs = retryMsDefault
  #lastEventId = ""
  #timer = 0

  constructor(url: string | PlatformUrl, init: EventSourceInit = {}) {
    requireArguments(arguments, 1, "EventSource")
    super()
    const parsed = URL.parse(`${url}`)
    if (parsed === null) {
      throw new (platform.domException().DOMException)("The URL of the EventSource is invalid", "SyntaxError")
    }
    this.#url = parsed.href
    this.#withCredentials = Boolean(init?.withCredentials)
    void this.#connect()
  }

  get url(): string {
    return this.#url
  }
  get withCredentials(): boolean {
    return this.#withCredentials
  }
  get readyState(): number {
    return this.#state
  }
  get onopen(): unknown {
    return this.#onOpen.get()
  }
  set onopen(handler: unknown) {
    this.#onOpen.set(handler)
  }
  get onmessage(): unknown {
    return this.#onMessage.get()
  }
  set onmessage(handler: unknown) {
    this.#onMessage.set(handler)
  }
  get onerror(): unknown {
    return this.#onError.get()
  }
  set onerror(handler: unknown) {
    this.#onError.set(handler)
  }

  close(): void {
    this.#state = states.CLOSED
    stopTimer(this.#timer)
    this.#controller.abort()
  }

  async #connect(): Promise<void> {
    try {
      const headers = new (platform.headers().Headers)({ accept: "text/event-stream", "cache-control": "no-cache" })
      if (this.#lastEventId !== "") {
        headers.set("last-event-id", this.#lastEventId)
      }
      const { signal } = this.#controller
      const response = await fetch(this.#url, { headers, signal, cache: "no-store" })
      const type = response.headers.get("content-type") ?? ""
      if (response.status !== 200 || !/^text\/event-stream\s*(?:;|$)/i.test(type)) {
        this.#fail()
        void response.body?.cancel()
        return
      }
      if (this.#state === states.CLOSED) {
        return
      }
      this.#state = states.OPEN
      this.dispatchEvent(new Event("open"))
      await this.#read(response.body, new URL(response.url === "" ? this.#url : response.url).origin)
    } catch {
      // The connection is lost: it is made again below.
    }
    this.#reconnect()
  }

  async #read(body: ReturnType<typeof streamOf>, origin: string): Promise<void> {
    if (body === null) {
      return
    }
    const parser = new EventStreamParser(this.#lastEventId, {
      event: ({ type, data, lastEventId }) => {
        this.#lastEventId = lastEventId
        if (this.#state !== states.CLOSED) {
          this.dispatchEvent(new MessageEvent(type, { data, origin, lastEventId }))
        }
      },
      lastEventId: (id) => {
        this.#lastEventId = id
      },
      retry: (ms) => {
        this.#retryMs = ms
      }
    })
    const decoder = new (platform.text().TextDecoder)()
    for await (const chunk of body) {
      parser.push(decoder.decode(chunk, { stream: true }))
    }
  }

  #reconnect(): void {
    if (this.#state === states.CLOSED) {
      return
    }
    this.#state = states.CONNECTING
    this.dispatchEvent(new Event("error"))
    if (this.#state === states.CONNECTING) {
      this.#timer = startTimer(() => void this.#connect(), Math.max(this.#retryMs, retryMsMin))
    }
  }

  /** Ends the connection for good. */
  #fail(): void {
    if (this.#state !== states.CLOSED) {
      this.#state = states.CLOSED
      this.dispatchEvent(new Event("error"))
    }
  }
}

const streamOf = (response: InstanceType<ReturnType<typeof platform.response>["Response"]>) => response.body

defineConstants(EventSource, states)
defineConstants(EventSource.prototype, states)
brand({ EventSource })
