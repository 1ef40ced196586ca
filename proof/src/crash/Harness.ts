/** A client of servers that crash. Its expectations must hold on every later server. */
import { setTimeout as sleep } from "node:timers/promises"

/** The outcome of a request is unknown: there was no response, or a failure that may be retried. */
export class UnknownOutcome extends Error {}

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly bytes: Buffer
}

export interface Expectation {
  readonly what: string
  /** Describes the failure; null if the expectation holds. */
  readonly check: () => Promise<string | null>
  readonly lifetime: Lifetime
}

/** Validity of an expectation: unlimited, until its first check, or as long as idempotency keys are stored. */
export type Lifetime = "permanent" | "until the next check" | "while keys are stored"

export interface Credentials {
  readonly apiKey: string
  readonly adminToken: string
}

type Body = Buffer | FormData | Readonly<Record<string, unknown>>

const requestTimeoutMs = 30_000
const triesMax = 20
const retryMs = 250

export class Harness {
  /** URL of the current server. */
  url = ""
  readonly violations: Array<string> = []
  /** Number of checks. */
  checked = 0
  /** Number of successful requests that write. */
  acknowledged = 0
  /** Number of requests with an unknown outcome. */
  unanswered = 0
  /** Lost runs, whose deliveries were retried. */
  readonly lost = new Set<string>()
  /** Acknowledged events that start durable runs, and how many crashes happened meanwhile. */
  readonly durable = new Map<string, number>()
  /** True if runners are killed. Their runs may fail, because it is unknown whether they had an effect. */
  areRunnersKilled = false
  /** True if the database is killed. Runs may fail because of that. */
  isDatabaseKilled = false
  readonly credentials: Credentials
  #checkedOnce: Array<Expectation> = []
  #latest: Array<Expectation> = []
  #n = 0

  constructor(credentials: Credentials) {
    this.credentials = credentials
  }

  next(): number {
    return ++this.#n
  }

  /** Counts a crash during the durable runs whose events were acknowledged after the first `from` ones. */
  countCrash(from: number): void {
    for (const eventId of [...this.durable.keys()].slice(from)) {
      this.durable.set(eventId, (this.durable.get(eventId) ?? 0) + 1)
    }
  }

  /** Registers an expectation. */
  expect(what: string, check: Expectation["check"], lifetime: Lifetime = "permanent"): void {
    this.#latest.push({ what, check, lifetime })
  }

  /** Drops expectations about idempotency keys, because the clocks of the next servers are far ahead. */
  async expireKeys(): Promise<void> {
    await this.check({ all: true })
    this.#checkedOnce = this.#checkedOnce.filter(({ lifetime }) => lifetime === "permanent")
  }

  /** Checks the expectations that were registered since the last call; with `all`, all valid ones. */
  async check({ all = false } = {}): Promise<void> {
    const expectations = [...(all ? this.#checkedOnce : []), ...this.#latest]
    this.#checkedOnce.push(...this.#latest.filter(({ lifetime }) => lifetime !== "until the next check"))
    this.#latest = []
    for (const { what, check } of expectations) {
      this.checked++
      const wrong = await retry(check)
      if (wrong !== null) this.violations.push(`${what}: ${wrong}`)
    }
  }

  /** Sends a request. Throws on a status that is neither a success nor `expected`, and `UnknownOutcome` if it is unknown. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { body, expected = [], headers = {}, token = this.#tokenFor(path) } = options
    const isJson = body !== undefined && !(body instanceof Buffer) && !(body instanceof FormData)
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...headers
      },
      signal: AbortSignal.timeout(requestTimeoutMs),
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : toBody(body) })
    }).catch((error: unknown) => this.#unknown(error))
    const bytes = Buffer.from(await response.arrayBuffer().catch((error: unknown) => this.#unknown(error)))
    const { status } = response
    if (response.ok || expected.includes(status)) {
      if (response.ok && method !== "GET") this.acknowledged++
      return { status, bytes, body: parsed(bytes) }
    }
    if (status === 500 && response.headers.has("retry-after")) return this.#unknown("500 with Retry-After")
    if (status === 500 && this.areRunnersKilled && path.startsWith("/webhook/"))
      return this.#unknown("500 of a webhook whose runner was killed")
    throw new Error(`${method} ${path} returned ${status} ${bytes.toString()}`)
  }

  #tokenFor(path: string): string {
    return path.startsWith("/admin") ? this.credentials.adminToken : this.credentials.apiKey
  }

  #unknown(cause: unknown): never {
    this.unanswered++
    throw new UnknownOutcome(String(cause))
  }
}

/** Retries a check: broken connections to a restarted database may be detected late. */
const retry = async (check: Expectation["check"]): Promise<string | null> => {
  for (let tries = 1; ; tries++) {
    try {
      return await check()
    } catch (error) {
      if (!(error instanceof UnknownOutcome) || tries === triesMax) throw error
      await sleep(retryMs)
    }
  }
}

export interface RequestOptions {
  readonly body?: Body
  /** Further statuses that do not throw. */
  readonly expected?: ReadonlyArray<number>
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
}

const toBody = (body: Body): FormData | Uint8Array<ArrayBuffer> | string => {
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

/** Returns the value at a path of names, or undefined. */
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
  if (typeof found !== "string") throw new Error(`Expected a string at ${names.join(".")} in ${JSON.stringify(value)}`)
  return found
}

export const listAt = (value: unknown, ...names: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const found = at(value, ...names)
  if (!Array.isArray(found)) throw new Error(`Expected an array at ${names.join(".")} in ${JSON.stringify(value)}`)
  return found
}
