/** `BroadcastChannel`, between the channels of one run. */
import { MessageEvent } from "./messages.ts"
import { TaskQueue } from "./tasks.ts"

const { brand, requireArguments } = platform.define()
const { EventTarget, HandlerSlot } = platform.events()

const { structuredClone } = platform.structuredClone()

type Channels = Map<string, Set<BroadcastChannel>>

/** Open channels by run and name. Other runs share the isolate, and receive no messages. */
const channelsOfRuns = new WeakMap<object, Channels>()

const channelsOf = (run: object): Channels => {
  const known = channelsOfRuns.get(run)
  if (known !== undefined) {
    return known
  }
  const channels: Channels = new Map()
  channelsOfRuns.set(run, channels)
  return channels
}

export class BroadcastChannel extends EventTarget {
  readonly #name: string
  /** Channels of the run in which this one was opened. */
  readonly #channels: Channels
  #isClosed = false
  readonly #tasks = new TaskQueue()
  readonly #onMessage = new HandlerSlot(this, "message")
  readonly #onMessageError = new HandlerSlot(this, "messageerror")

  constructor(name: string) {
    requireArguments(arguments, 1, "BroadcastChannel")
    super()
    this.#name = `${name}`.toWellFormed()
    this.#channels = channelsOf(platform.host().host().scope())
    const open = this.#channels.get(this.#name) ?? new Set()
    open.add(this)
    this.#channels.set(this.#name, open)
  }

  get name(): string {
    return this.#name
  }
  get onmessage(): unknown {
    return this.#onMessage.get()
  }
  set onmessage(handler: unknown) {
    this.#onMessage.set(handler)
  }
  get onmessageerror(): unknown {
    return this.#onMessageError.get()
  }
  set onmessageerror(handler: unknown) {
    this.#onMessageError.set(handler)
  }

  postMessage(message: unknown): void {
    if (this.#isClosed) {
      throw new (platform.domException().DOMException)("The channel is closed", "InvalidStateError")
    }
    const data = structuredClone(message)
    for (const channel of this.#channels.get(this.#name) ?? []) {
      if (channel !== this) {
        channel.#receive(structuredClone(data))
      }
    }
  }

  close(): void {
    this.#isClosed = true
    this.#channels.get(this.#name)?.delete(this)
  }

  #receive(data: unknown): void {
    this.#tasks.add(() => {
      if (!this.#isClosed) {
        this.dispatchEvent(new MessageEvent("message", { data }))
      }
    })
  }
}

brand({ BroadcastChannel })
