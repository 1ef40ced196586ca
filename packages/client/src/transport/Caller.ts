/** Methods for each kind of response. */
import { WeftError } from "../errors/WeftError.ts"
import { type Page, type PageQuery, Pages } from "../Pages.ts"
import type { BytesOptions, RequestOptions } from "../RequestOptions.ts"
import type { Connection, OutgoingRequest } from "./Connection.ts"
import { buildQuery } from "./Path.ts"

/** The parts of a request besides its path. */
export interface RequestParts {
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
  readonly pagination?: PageInfo
  /** The page info of the list of files. */
  readonly meta: PageInfo
}

interface PageInfo {
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

  /** Returns the record in the envelope. */
  async one<T>(method: string, path: string, options: RequestOptions, parts?: RequestParts): Promise<T> {
    const { data } = await this.connection.send(toRequest(method, path, options, parts), json<Envelope<T>>)
    return data
  }

  none(method: string, path: string, options: RequestOptions, parts?: RequestParts): Promise<void> {
    return this.connection.send(toRequest(method, path, options, parts), async (response) => {
      await response.arrayBuffer()
    })
  }

  /** Returns JSON without an envelope. */
  plain<T>(path: string, options: RequestOptions): Promise<T> {
    return this.connection.send(toRequest("GET", path, options), json<T>)
  }

  text(path: string, options: RequestOptions): Promise<string> {
    return this.connection.send(toRequest("GET", path, options), (response) => response.text())
  }

  /** Returns the response without reading its body. The timeout and retries end with the headers. */
  bytes(path: string, options: BytesOptions, query?: object): Promise<Response> {
    const { range, ifNoneMatch } = options
    const headers = {
      ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end === undefined ? "" : range.end - 1}` }),
      ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch })
    }
    const request = toRequest("GET", path, options, query === undefined ? {} : { query })
    return this.connection.send({ ...request, headers }, (response) => Promise.resolve(response))
  }

  list<T>(path: string, options: RequestOptions, query: PageQuery = {}): Pages<T> {
    return this.listWith(path, options, query, () => ({}))
  }

  /** As `list`, for an envelope that has more than `data` and page info. `pick` returns the rest. */
  listWith<T, More>(
    path: string,
    options: RequestOptions,
    query: PageQuery,
    pick: (envelope: More) => More
  ): Pages<T, More> {
    const load = async (page: PageQuery): Promise<Page<T, More>> => {
      const request = toRequest("GET", path, options, { query: { ...query, ...page } })
      const envelope = await this.connection.send(request, json<ListEnvelope<T> & More>)
      const { data, pagination, meta } = envelope
      const { total, limit, offset } = pagination ?? meta
      return { ...pick(envelope), items: data, total, limit, offset, has_more: offset + data.length < total }
    }
    return new Pages(load, query)
  }
}

const toRequest = (
  method: string,
  path: string,
  options: RequestOptions,
  { body, query = {}, key }: RequestParts = {}
): OutgoingRequest => ({
  method,
  path: `${path}${buildQuery(query)}`,
  isRepeatable: repeatable.has(method) || key !== undefined,
  options,
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  ...(key === undefined ? {} : { headers: { "idempotency-key": key } })
})

/** Parses JSON. The caller provides the type that the API guarantees. */
export const json = async <T>(response: Response): Promise<T> => {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch {
    const { status, headers } = response
    const requestId = headers.get("x-request-id")
    const message = "The response is not JSON: check that baseUrl is the address of a Weft server"
    throw new WeftError({ code: "unrecognized", message, status, requestId, retryAfter: null })
  }
}
