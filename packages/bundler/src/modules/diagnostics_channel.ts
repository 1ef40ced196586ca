/** `node:diagnostics_channel`. */
type Subscriber = (message: unknown, name: string | symbol) => void

export class Channel {
  readonly name: string | symbol
  readonly #subscribers: Array<Subscriber> = []

  constructor(name: string | symbol) {
    this.name = name
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.length > 0
  }

  subscribe(subscriber: Subscriber): void {
    this.#subscribers.push(subscriber)
  }

  unsubscribe(subscriber: Subscriber): boolean {
    const at = this.#subscribers.indexOf(subscriber)
    if (at >= 0) this.#subscribers.splice(at, 1)
    return at >= 0
  }

  publish(message: unknown): void {
    for (const subscriber of [...this.#subscribers]) subscriber(message, this.name)
  }

  bindStore(): void {}

  unbindStore(): boolean {
    return false
  }

  runStores<A>(
    message: unknown,
    body: (...given: ReadonlyArray<unknown>) => A,
    self?: unknown,
    ...given: ReadonlyArray<unknown>
  ): A {
    this.publish(message)
    return Reflect.apply(body, self, given)
  }
}

const channels = new Map<string | symbol, Channel>()

export const channel = (name: string | symbol): Channel => {
  const found = channels.get(name) ?? new Channel(name)
  channels.set(name, found)
  return found
}

export const hasSubscribers = (name: string | symbol): boolean => channels.get(name)?.hasSubscribers ?? false
export const subscribe = (name: string | symbol, subscriber: Subscriber): void => channel(name).subscribe(subscriber)
export const unsubscribe = (name: string | symbol, subscriber: Subscriber): boolean =>
  channel(name).unsubscribe(subscriber)

const phases = ["start", "end", "asyncStart", "asyncEnd", "error"] as const
type Body<A> = (...given: ReadonlyArray<unknown>) => A

export const tracingChannel = (name: string) => {
  const [start, end, asyncStart, asyncEnd, error] = phases.map((phase) => channel(`tracing:${name}:${phase}`))
  const all = { start, end, asyncStart, asyncEnd, error }
  const traceSync = <A>(body: Body<A>, context: object = {}, self?: unknown, ...given: ReadonlyArray<unknown>): A => {
    start?.publish(context)
    try {
      return Reflect.apply(body, self, given)
    } catch (thrown) {
      error?.publish(Object.assign(context, { error: thrown }))
      throw thrown
    } finally {
      end?.publish(context)
    }
  }
  return {
    ...all,
    get hasSubscribers(): boolean {
      return Object.values(all).some((each) => each?.hasSubscribers)
    },
    subscribe: (subscribers: Readonly<Record<string, Subscriber>>): void => {
      for (const phase of phases) if (subscribers[phase] !== undefined) all[phase]?.subscribe(subscribers[phase])
    },
    unsubscribe: (subscribers: Readonly<Record<string, Subscriber>>): void => {
      for (const phase of phases) if (subscribers[phase] !== undefined) all[phase]?.unsubscribe(subscribers[phase])
    },
    traceSync,
    traceCallback: traceSync,
    tracePromise: async <A>(body: Body<A>, context: object = {}, self?: unknown, ...given: ReadonlyArray<unknown>) => {
      const result = await traceSync(body, context, self, ...given)
      asyncStart?.publish(Object.assign(context, { result }))
      asyncEnd?.publish(context)
      return result
    }
  }
}

export default { Channel, channel, hasSubscribers, subscribe, tracingChannel, unsubscribe }
