/** The global `MessageChannel`, within one isolate. */
type Listener = (event: { readonly type: "message"; readonly data: unknown }) => void

class Port {
  onmessage: Listener | null = null
  readonly #listeners = new Set<Listener>()
  #other: Port | undefined

  static connect(a: Port, b: Port): void {
    a.#other = b
    b.#other = a
  }

  postMessage(message: unknown): void {
    const data: unknown = structuredClone(message)
    const other = this.#other
    if (other !== undefined) setTimeout(() => other.#receive(data), 0)
  }

  addEventListener(_type: string, listener: Listener): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: string, listener: Listener): void {
    this.#listeners.delete(listener)
  }

  on(type: string, listener: (data: unknown) => void): this {
    if (type === "message") this.#listeners.add(({ data }) => listener(data))
    return this
  }

  start(): void {}
  ref(): void {}
  unref(): void {}

  close(): void {
    this.#other = undefined
  }

  #receive(data: unknown): void {
    for (const listener of [this.onmessage, ...this.#listeners]) listener?.({ type: "message", data })
  }
}

class Channel {
  readonly port1 = new Port()
  readonly port2 = new Port()

  constructor() {
    Port.connect(this.port1, this.port2)
  }
}

export { Channel as MessageChannel, Port as MessagePort }
