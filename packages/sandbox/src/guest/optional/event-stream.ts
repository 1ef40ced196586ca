/** The parser of `text/event-stream`. */

export interface Handlers {
  readonly event: (event: { readonly type: string; readonly data: string; readonly lastEventId: string }) => void
  /** Called for an id at the end of a block without data. */
  readonly lastEventId: (id: string) => void
  /** Called with milliseconds. */
  readonly retry: (ms: number) => void
}

/** Maximum characters of one event. The heap of the isolate limits all else. */
const eventLengthMax = 8 * 1024 * 1024

export class EventStreamParser {
  readonly #handlers: Handlers
  #rest = ""
  /** True if the last character was a carriage return, whose line feed may follow. */
  #skipLineFeed = false
  #type = ""
  #data: string | null = null
  #id: string

  constructor(lastEventId: string, handlers: Handlers) {
    this.#id = lastEventId
    this.#handlers = handlers
  }

  push(text: string): void {
    const given = this.#skipLineFeed && text.startsWith("\n") ? text.slice(1) : text
    if (text !== "") {
      this.#skipLineFeed = text.endsWith("\r")
    }
    const lines = given.split(/\r\n|\n|\r/)
    const last = lines.pop() ?? ""
    for (const line of lines) {
      this.#line(this.#rest + line)
      this.#rest = ""
    }
    this.#rest += last
    if (this.#rest.length + (this.#data?.length ?? 0) > eventLengthMax) {
      throw new RangeError(`An event must have at most ${eventLengthMax} characters.`)
    }
  }

  #line(line: string): void {
    if (line === "") {
      this.#dispatch()
      return
    }
    const colon = line.indexOf(":")
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "event") {
      this.#type = value
    } else if (field === "data") {
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`
    } else if (field === "id" && !value.includes("\0")) {
      this.#id = value
    } else if (field === "retry" && /^\d{1,9}$/.test(value)) {
      this.#handlers.retry(Number(value))
    }
  }

  #dispatch(): void {
    const data = this.#data
    const type = this.#type === "" ? "message" : this.#type
    this.#data = null
    this.#type = ""
    if (data === null) {
      this.#handlers.lastEventId(this.#id)
    } else {
      this.#handlers.event({ type, data, lastEventId: this.#id })
    }
  }
}
