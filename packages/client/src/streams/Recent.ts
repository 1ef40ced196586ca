import type { Message } from "./Watch.ts"

const keptMax = 10_000

/** What happens once only, by event and run. */
const keyOf = ({ event, data }: Message): string | null => {
  if (event === "event:handled" || event === "stream:data" || event === "stream:complete") return null
  const facts: { readonly run_id?: string; readonly event_id?: string; readonly stream_id?: string } = {
    ...data,
    ...("run" in data ? Object(data.run) : {})
  }
  const id = facts.run_id ?? facts.event_id ?? facts.stream_id
  return id === undefined ? null : `${event} ${id}`
}

/** The last messages of a subscription: a server that tells from its database what was missed tells some twice. */
export class Recent {
  readonly #keys = new Set<string>()

  /** Whether the message was there before. Remembers it. */
  has(message: Message): boolean {
    const key = keyOf(message)
    if (key === null) return false
    if (this.#keys.has(key)) return true
    this.#keys.add(key)
    const [oldest] = this.#keys
    if (this.#keys.size > keptMax && oldest !== undefined) this.#keys.delete(oldest)
    return false
  }
}
