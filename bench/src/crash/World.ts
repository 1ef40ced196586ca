/** A client of servers that die, and what it was told by them: facts that have to be true in every later life. */

import { setTimeout as sleep } from "node:timers/promises"

/** Nobody answered, or with a failure that may be repeated: what became of the request is unknown. */
export class Unanswered extends Error {}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly bytes: Buffer
}

export interface Fact {
  readonly what: string
  /** What is wrong; null when it is as it has to be. */
  readonly check: () => Promise<string | null>
  readonly lasts: Lasting
}

/** For how long it stays true: whatever is done later, or until it was looked at, or for the time that keys are kept. */
export type Lasting = "for good" | "until the next look" | "while keys are kept"

export interface Credentials {
  readonly apiKey: string
  readonly adminToken: string
}

type Body = Buffer | FormData | Readonly<Record<string, unknown>>

const patienceMs = 30_000
const triesMax = 20
const retryMs = 250

export class World {
  /** Of the server that lives now. */
  url = ""
  readonly violations: Array<string> = []
  /** Facts that were looked at. */
  checked = 0
  /** Requests that were answered with success. */
  acknowledged = 0
  /** Requests that nobody answered. */
  unanswered = 0
  /** Runs that were lost and tried again. */
  readonly lost = new Set<string>()
  /** Whether runners are ended: then runs may fail by that, where nobody knows whether they had done something. */
  areRunnersEnded = false
  /** Whether the database is: then runs may fail by that, too. */
  isDatabaseEnded = false
  readonly credentials: Credentials
  #lasting: Array<Fact> = []
  #latest: Array<Fact> = []
  #n = 0

  constructor(credentials: Credentials) {
    this.credentials = credentials
  }

  next(): number {
    return ++this.#n
  }

  hold(what: string, check: Fact["check"], lasts: Lasting = "for good"): void {
    this.#latest.push({ what, check, lasts })
  }

  /** Servers whose clock is far ahead come next, and give back what was kept for a time. */
  async outlastKeys(): Promise<void> {
    await this.look({ all: true })
    this.#lasting = this.#lasting.filter(({ lasts }) => lasts === "for good")
  }

  /** What was told since the last look; with `all` what lasts, too. */
  async look({ all = false } = {}): Promise<void> {
    const facts = [...(all ? this.#lasting : []), ...this.#latest]
    this.#lasting.push(...this.#latest.filter(({ lasts }) => lasts !== "until the next look"))
    this.#latest = []
    for (const { what, check } of facts) {
      this.checked++
      const wrong = await answered(check)
      if (wrong !== null) this.violations.push(`${what}: ${wrong}`)
    }
  }

  /** Throws on any answer that is neither a success nor one of `expected`; `Unanswered` where it is unknown. */
  async ask(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const { body, expected = [], headers = {}, token = this.#tokenFor(path) } = options
    const isJson = body !== undefined && !(body instanceof Buffer) && !(body instanceof FormData)
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...headers
      },
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : bodyOf(body) })
    }).catch((error: unknown) => this.#unknown(error))
    const bytes = Buffer.from(await response.arrayBuffer().catch((error: unknown) => this.#unknown(error)))
    const { status } = response
    if (response.ok || expected.includes(status)) {
      if (response.ok && method !== "GET") this.acknowledged++
      return { status, bytes, body: parsed(bytes) }
    }
    if (status === 500 && response.headers.has("retry-after")) return this.#unknown("500 with Retry-After")
    if (status === 500 && this.areRunnersEnded && path.startsWith("/webhook/"))
      return this.#unknown("a function that failed")
    throw new Error(`${method} ${path} answered ${status} ${bytes.toString()}`)
  }

  #tokenFor(path: string): string {
    return path.startsWith("/admin") ? this.credentials.adminToken : this.credentials.apiKey
  }

  #unknown(cause: unknown): never {
    this.unanswered++
    throw new Unanswered(String(cause))
  }
}

/** Connections of a database that died may be found broken later than it is back. */
const answered = async (check: Fact["check"]): Promise<string | null> => {
  for (let tries = 1; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (!(error instanceof Unanswered) || tries === triesMax) throw error
      await sleep(retryMs)
    }
  }
}

export interface AskOptions {
  readonly body?: Body
  /** Statuses that are as good as success. */
  readonly expected?: ReadonlyArray<number>
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
}

const bodyOf = (body: Body): FormData | Uint8Array<ArrayBuffer> | string => {
  if (body instanceof FormData) return body
  return body instanceof Buffer ? new Uint8Array(body) : JSON.stringify(body)
}

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    return null
  }
}

/** What is at the end of these names; undefined where there is nothing. */
export const at = (value: unknown, ...names: ReadonlyArray<string>): unknown => {
  let found = value
  for (const name of names) {
    if (typeof found !== "object" || found === null) return undefined
    found = Reflect.get(found, name)
  }
  return found
}

export const textAt = (value: unknown, ...names: ReadonlyArray<string>): string => {
  const found = at(value, ...names)
  if (typeof found !== "string") throw new Error(`There is no text ${names.join(".")} in ${JSON.stringify(value)}`)
  return found
}

export const listAt = (value: unknown, ...names: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = at(value, ...names)
  if (!Array.isArray(found)) throw new Error(`There is no list ${names.join(".")} in ${JSON.stringify(value)}`)
  return found
}
