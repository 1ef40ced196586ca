/** Maps requests of the suite to methods of the client and their arguments. */
import type { BuildOptions, BytesOptions, KeyedOptions, PutOptions, WatchOptions } from "@weft/client"
import { type Operation, operations } from "../openapi/Operations.ts"
import type { TransportRequest } from "../server/Transport.ts"

/** The reason why a request is sent by `fetch`. */
export type Reason =
  | "no endpoint of the API: webhooks, tools, URLs of tokens, unknown paths and methods"
  | "a body that the client cannot send"
  | "a query that the client's types forbid"
  | "a header that the client does not send"
  | "a token or name that the client rejects"

export interface Route {
  /** As in `projects.create`. */
  readonly operationId: string
  readonly args: ReadonlyArray<unknown>
}

interface Place {
  readonly method: string
  readonly segments: ReadonlyArray<string>
  readonly operation: Operation
}

/** Webhooks, tools and URLs of tokens are for others than clients. */
const isTenants = ({ operationId }: Operation): boolean => /^(webhook|mcp|token)[A-Z]/.test(operationId)

const isName = (segment: string): boolean => segment.startsWith("{")

const namesIn = ({ segments }: Place): number => segments.filter(isName).length

/** Literal paths precede those with parameters, as `/v1/runs/stats` before `/v1/runs/{run_id}`. */
const places: ReadonlyArray<Place> = operations
  .filter(([, operation]) => !isTenants(operation))
  .map(([name, operation]) => {
    const [method = "", path = ""] = name.split(" ")
    return { method, segments: path.split("/"), operation }
  })
  .sort((a, b) => namesIn(a) - namesIn(b))

/** Returns the raw values of the parameters in a path. The last parameter of a file's path takes the rest. */
const valuesOf = ({ segments }: Place, path: string): ReadonlyArray<string> | undefined => {
  const given = path.split("/")
  const last = segments.length - 1
  const taken = segments[last] === "{path}" ? [...given.slice(0, last), given.slice(last).join("/")] : given
  const fits =
    taken.length === segments.length &&
    segments.every((segment, index) => (isName(segment) ? taken[index] !== "" : segment === taken[index]))
  return fits ? taken.filter((_, index) => isName(segments[index] ?? "")) : undefined
}

/** Decodes a path, or returns undefined if the client would not send it. */
const decoded = (value: string): string | undefined => {
  try {
    const text = decodeURIComponent(value)
    return /^\.{0,2}$/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

const queryOf = ({ parameters = [] }: Operation, search: string): object | undefined => {
  const types = new Map(parameters.filter((one) => one.in === "query").map(({ name, schema }) => [name, schema]))
  const query: Record<string, string | number> = {}
  for (const [name, value] of new URLSearchParams(search)) {
    if (!types.has(name) || Object.hasOwn(query, name)) return undefined
    if (!isInteger(types.get(name))) query[name] = value
    else if (String(Number(value)) === value) query[name] = Number(value)
    else return undefined
  }
  return query
}

const isInteger = (schema: unknown): boolean => JSON.stringify(schema ?? {}).includes('"integer"')

const isObject = (json: unknown): json is object => typeof json === "object" && json !== null && !Array.isArray(json)

type Options = KeyedOptions & BytesOptions & PutOptions & WatchOptions

/** Converts headers of the suite into options of the client. Returns undefined if the client has no such option. */
const optionsOf = (operation: Operation, headers: Readonly<Record<string, string>>): Options | undefined => {
  const isKeyed = operation.parameters?.some(({ name }) => name === "idempotency-key") === true
  const isBytes = answersOf(operation).some((type) => !/json|text/.test(type))
  const isWatched = isSubscription(operation)
  let options: Options = isWatched ? { reconnects: 0 } : { retry: false }
  for (const [name, value] of Object.entries(headers)) {
    const range = /^bytes=(\d+)-(\d*)$/.exec(value)
    if (name === "last-event-id" && isWatched) options = { ...options, lastEventId: value }
    else if (name === "idempotency-key" && isKeyed) options = { ...options, idempotencyKey: value }
    else if (name === "if-none-match" && isBytes) options = { ...options, ifNoneMatch: value }
    else if (name === "range" && isBytes && range !== null) options = { ...options, range: rangeOf(range) }
    else if (name === "content-type" && operation.operationId === "filesUpload")
      options = { ...options, contentType: value }
    else return undefined
  }
  return options
}

const rangeOf = ([, start, last]: RegExpExecArray) => ({
  start: Number(start),
  ...(last === "" ? {} : { end: Number(last) + 1 })
})

const answersOf = ({ responses }: Operation): ReadonlyArray<string> =>
  Object.entries(responses).flatMap(([status, { content = {} }]) => (status < "300" ? Object.keys(content) : []))

const isSubscription = (operation: Operation): boolean => answersOf(operation).includes("text/event-stream")

const formFields = ["file", "hash", "build_id", "build_type"]

/** Returns the zip of a build's form, and the client's options. */
const buildOf = (form: FormData): readonly [Blob, BuildOptions] | undefined => {
  const names = [...form.keys()]
  const [file, hash] = [form.get("file"), form.get("hash")]
  const isClients = new Set(names).size === names.length && names.every((name) => formFields.includes(name))
  if (!isClients || !(file instanceof Blob) || typeof hash !== "string") return undefined
  const type = form.get("build_type")
  if (type !== null && type !== "bundle" && type !== "live") return undefined
  const id = form.get("build_id")
  return [
    file,
    {
      retry: false,
      hash,
      ...(typeof id === "string" ? { build_id: id } : {}),
      ...(type === null ? {} : { build_type: type })
    }
  ]
}

/** Returns the arguments for the body, or undefined if the client cannot send such a body. */
const bodyOf = (operation: Operation, { json, body }: TransportRequest): ReadonlyArray<unknown> | undefined => {
  const [type] = Object.keys(operation.requestBody?.content ?? {})
  if (type === "application/json") return isObject(json) ? [json] : undefined
  if (type === "multipart/form-data") return body instanceof FormData ? buildOf(body) : undefined
  if (type === "application/octet-stream") {
    if (typeof body !== "string") return undefined
    return operation.operationId === "filesPutPart" ? [new TextEncoder().encode(body)] : [body]
  }
  return json === undefined && body === undefined ? [] : undefined
}

/** Adds the content type that `fetch` sets for text. */
const headersOf = (
  { operationId }: Operation,
  { headers = {}, body }: TransportRequest
): Readonly<Record<string, string>> =>
  operationId === "filesUpload" && typeof body === "string"
    ? { "content-type": "text/plain;charset=UTF-8", ...headers }
    : headers

export const routeOf = (testRequest: TransportRequest): Route | Reason => {
  const [path = "", search = ""] = testRequest.path.split("?", 2)
  for (const place of places) {
    const values = place.method === testRequest.method ? valuesOf(place, path) : undefined
    if (values !== undefined) return routeTo(place.operation, values, search, testRequest)
  }
  return "no endpoint of the API: webhooks, tools, URLs of tokens, unknown paths and methods"
}

const routeTo = (
  operation: Operation,
  values: ReadonlyArray<string>,
  search: string,
  testRequest: TransportRequest
): Route | Reason => {
  const { operationId, parameters = [] } = operation
  const names = values.map(decoded)
  const isPart = operationId === "filesPutPart"
  if (names.includes(undefined) || (isPart && !/^\d+$/.test(names[1] ?? ""))) {
    return "a token or name that the client rejects"
  }
  if (testRequest.token !== null && !/^[\x21-\x7e]+$/.test(testRequest.token))
    return "a token or name that the client rejects"
  const query = queryOf(operation, search)
  if (query === undefined) return "a query that the client's types forbid"
  const body = bodyOf(operation, testRequest)
  if (body === undefined) return "a body that the client cannot send"
  const options = optionsOf(operation, headersOf(operation, testRequest))
  if (options === undefined) return "a header that the client does not send"
  if (isSubscription(operation)) return { operationId, args: [...names, ...body, { ...query, ...options }] }
  const hasQuery = parameters.some((one) => one.in === "query")
  // The zip of a build has separate options.
  const last = operationId === "buildsUpload" ? [] : [options]
  return { operationId, args: [...names, ...body, ...(hasQuery ? [query] : []), ...last] }
}
