/**
 * The tool calls in progress in this process. `notifications/cancelled` comes in a separate request and finds its call
 * here. The session that `initialize` returned identifies the client.
 */
export class ActiveToolCalls {
  readonly #calls = new Map<string, AbortController>()

  /** Runs `work` with a signal that `cancel` aborts. `client` is null for requests without a session. */
  async run<A>(client: string | null, requestId: unknown, work: (signal: AbortSignal) => Promise<A>): Promise<A> {
    const controller = new AbortController()
    const key = client === null ? null : toKey(client, requestId)
    if (key !== null) this.#calls.set(key, controller)
    try {
      return await work(controller.signal)
    } finally {
      if (key !== null && this.#calls.get(key) === controller) this.#calls.delete(key)
    }
  }

  cancel(client: string | null, requestId: unknown): void {
    if (client !== null) this.#calls.get(toKey(client, requestId))?.abort()
  }
}

/** Builds a map key. JSON distinguishes numeric request ids from text. */
const toKey = (client: string, requestId: unknown): string => `${client} ${JSON.stringify(requestId)}`
