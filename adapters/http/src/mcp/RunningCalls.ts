/**
 * The tool calls that go on in this process, so that `notifications/cancelled`, which comes in a request of its own,
 * finds the one that it means. A client is told from others by the session that `initialize` gave it.
 */
export class RunningCalls {
  readonly #calls = new Map<string, AbortController>()

  /** Runs `work` with a signal that `cancel` aborts. `client` is null for one that names no session. */
  async during<A>(client: string | null, requestId: unknown, work: (signal: AbortSignal) => Promise<A>): Promise<A> {
    const controller = new AbortController()
    const key = client === null ? null : keyOf(client, requestId)
    if (key !== null) this.#calls.set(key, controller)
    try {
      return await work(controller.signal)
    } finally {
      if (key !== null && this.#calls.get(key) === controller) this.#calls.delete(key)
    }
  }

  cancel(client: string | null, requestId: unknown): void {
    if (client !== null) this.#calls.get(keyOf(client, requestId))?.abort()
  }
}

/** Ids of requests may be numbers or text. */
const keyOf = (client: string, requestId: unknown): string => `${client} ${JSON.stringify(requestId)}`
