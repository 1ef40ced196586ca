/** Calls endpoints by the shapes of their answers. */
import { WeftError } from "../errors/WeftError.ts"
import { type Page, type PageQuery, Pages } from "../Pages.ts"
import type { BytesOptions, RequestOptions } from "../RequestOptions.ts"
import type { Connection, Sending } from "./Connection.ts"
import { queryOf } from "./Path.ts"

/** What a request has beside its path. */
export interface Asked {
  readonly body?: object
  readonly query?: object
  /** An idempotency key. */
  readonly key?: string
}

export interface Envelope<T> {
  readonly data: T
}

interface ListEnvelope<T> {
  readonly data: ReadonlyArray<T>
  readonly pagination?: PageFacts
  /** The list of files has its page here. */
  readonly meta: PageFacts
}

interface PageFacts {
  readonly total: number
  readonly limit: number
  readonly offset: number
}

const repeatable = new Set(["GET", "PUT", "DELETE"])

export class Caller {
  readonly connection: Connection

  constructor(connection: Connection) {
    this.connection = connection
  }

  /** The record in the envelope. */
  async one<T>(method: string, path: string, options: RequestOptions, asked?: Asked): Promise<T> {
    const { data } = await this.connection.send(sendingOf(method, path, options, asked), json<Envelope<T>>)
    return data
  }

  none(method: string, path: string, options: RequestOptions, asked?: Asked): Promise<void> {
    return this.connection.send(sendingOf(method, path, options, asked), async (response) => {
      await response.arrayBuffer()
    })
  }

  /** JSON without an envelope. */
  plain<T>(path: string, options: RequestOptions): Promise<T> {
    return this.connection.send(sendingOf("GET", path, options), json<T>)
  }

  text(path: string, options: RequestOptions): Promise<string> {
    return this.connection.send(sendingOf("GET", path, options), (response) => response.text())
  }

  /** The answer as it comes: only its beginning has a time limit, and what breaks off later is not asked again. */
  bytes(path: string, options: BytesOptions, query?: object): Promise<Response> {
    const { range, ifNoneMatch } = options
    const headers = {
      ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end === undefined ? "" : range.end - 1}` }),
      ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch })
    }
    const sending = sendingOf("GET", path, options, query === undefined ? {} : { query })
    return this.connection.send({ ...sending, headers }, (response) => Promise.resolve(response))
  }

  list<T>(path: string, options: RequestOptions, query: PageQuery = {}): Pages<T> {
    const load = async (page: PageQuery): Promise<Page<T>> => {
      const sending = sendingOf("GET", path, options, { query: { ...query, ...page } })
      const { data, pagination, meta } = await this.connection.send(sending, json<ListEnvelope<T>>)
      const { total, limit, offset } = pagination ?? meta
      return { items: data, total, limit, offset, has_more: offset + data.length < total }
    }
    return new Pages(load, query)
  }
}

const sendingOf = (
  method: string,
  path: string,
  options: RequestOptions,
  { body, query = {}, key }: Asked = {}
): Sending => ({
  method,
  path: `${path}${queryOf(query)}`,
  isRepeatable: repeatable.has(method) || key !== undefined,
  options,
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  ...(key === undefined ? {} : { headers: { "idempotency-key": key } })
})

/** Whoever calls says what the API promises of it. */
export const json = async <T>(response: Response): Promise<T> => {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    const { status, headers } = response
    const requestId = headers.get("x-request-id")
    const message = "The answer is no JSON: is this the address of a Weft server?"
    throw new WeftError({ code: "unrecognized", message, status, requestId, retryAfter: null })
  }
}
