/** `MessageChannel`, `MessagePort` and `MessageEvent`, within one isolate. */
import type { EventInit } from "../platform/events.ts"
import { TaskQueue } from "./tasks.ts"

const { brand, requireArguments, transfer } = platform.define()
const { Event, EventTarget, HandlerSlot } = platform.events()

const { structuredCloneWith } = platform.structuredClone()

export interface MessageEventInit extends EventInit {
  readonly data?: unknown
  readonly origin?: string
  readonly lastEventId?: string
  readonly source?: MessagePort | null
  readonly ports?: Iterable<MessagePort>
}

export class MessageEvent extends Event {
  readonly #data: unknown
  readonly #origin: string
  readonly #lastEventId: string
  readonly #source: MessagePort | null
  readonly #ports: ReadonlyArray<MessagePort>

  constructor(type: string, init: MessageEventInit = {}) {
    requireArguments(arguments, 1, "MessageEvent")
    super(type, init)
    this.#data = init?.data === undefined ? null : init.data
    this.#origin = init?.origin === undefined ? "" : `${init.origin}`
    this.#lastEventId = init?.lastEventId === undefined ? "" : `${init.lastEventId}`
    this.#source = init?.source ?? null
    if (this.#source !== null && !(this.#source instanceof MessagePort)) {
      throw new TypeError("MessageEvent constructor: the source must be a MessagePort.")
    }
    this.#ports = Object.freeze([...(init?.ports ?? [])])
    if (!this.#ports.every((port) => port instanceof MessagePort)) {
      throw new TypeError("MessageEvent constructor: the ports must be MessagePorts.")
    }
  }

  get data(): unknown {
    return this.#data
  }
  get origin(): string {
    return this.#origin
  }
  get lastEventId(): string {
    return this.#lastEventId
  }
  get source(): MessagePort | null {
    return this.#source
  }
  get ports(): ReadonlyArray<MessagePort> {
    return this.#ports
  }
}

const internal: unique symbol = Symbol("MessagePort")

/** Returns two connected ports. */
let connect: () => readonly [MessagePort, MessagePort]

interface Message {
  readonly data: unknown
  readonly ports: ReadonlyArray<MessagePort>
}

export interface PostOptions {
  readonly transfer?: Iterable<object>
}

export class MessagePort extends EventTarget {
  #other: MessagePort | null = null
  /** Messages received before `start`. */
  #waiting: Array<Message> = []
  #isStarted = false
  #isDetached = false
  readonly #tasks = new TaskQueue()
  readonly #onMessage = new HandlerSlot(this, "message")
  readonly #onMessageError = new HandlerSlot(this, "messageerror")

  static {
    connect = () => {
      const [a, b] = [new MessagePort(internal), new MessagePort(internal)]
      a.#other = b
      b.#other = a
      return [a, b]
    }
  }

  constructor(key?: symbol) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
    super()
  }

  get onmessage(): unknown {
    return this.#onMessage.get()
  }
  set onmessage(handler: unknown) {
    this.#onMessage.set(handler)
    this.start()
  }
  get onmessageerror(): unknown {
    return this.#onMessageError.get()
  }
  set onmessageerror(handler: unknown) {
    this.#onMessageError.set(handler)
  }

  postMessage(message: unknown, options: Iterable<object> | PostOptions = {}): void {
    const given = Symbol.iterator in Object(options) ? { transfer: options } : options
    const listed = [...(Reflect.get(Object(given), "transfer") ?? [])]
    if (listed.includes(this)) {
      throw new (platform.domException().DOMException)("A port cannot transfer itself", "DataCloneError")
    }
    const { value, moved } = structuredCloneWith(message, listed)
    const ports = moved.filter((each) => each instanceof MessagePort)
    if (this.#other !== null) {
      this.#other.#receive({ data: value, ports })
    }
  }

  start(): void {
    if (this.#isStarted) {
      return
    }
    this.#isStarted = true
    for (const message of this.#waiting.splice(0)) {
      this.#deliver(message)
    }
  }

  close(): void {
    this.#isDetached = true
    const other = this.#other
    this.#other = null
    if (other !== null) {
      other.#other = null
    }
  }

  /** Moves this end of the channel to a new port. */
  [transfer](): MessagePort {
    if (this.#isDetached) {
      throw new (platform.domException().DOMException)("The port is detached", "DataCloneError")
    }
    const port = new MessagePort(internal)
    port.#other = this.#other
    port.#waiting = this.#waiting
    if (this.#other !== null) {
      this.#other.#other = port
    }
    this.#other = null
    this.#waiting = []
    this.#isDetached = true
    return port
  }

  #receive(message: Message): void {
    if (this.#isStarted) {
      this.#deliver(message)
    } else {
      this.#waiting.push(message)
    }
  }

  #deliver({ data, ports }: Message): void {
    this.#tasks.add(() => this.dispatchEvent(new MessageEvent("message", { data, ports })))
  }
}

export class MessageChannel {
  readonly #ports = connect()

  get port1(): MessagePort {
    return this.#ports[0]
  }
  get port2(): MessagePort {
    return this.#ports[1]
  }
}

brand({ MessageEvent, MessagePort, MessageChannel })
