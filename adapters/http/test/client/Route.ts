/** Which method of the client sends a request of the suite, and with which arguments. */
import type { BuildOptions, BytesOptions, KeyedOptions, PutOptions, WatchOptions } from "@weft/client"
import { type Operation, operations } from "../openapi/Operations.ts"
import type { Asked } from "../server/Transport.ts"

/** Why a request is sent as it is. */
export type Reason =
  | "no endpoint of the API: webhooks, tools, paths and methods that are not there"
  | "a body that the client does not make"
  | "a query that its types do not allow"
  | "a header that it does not send"
  | "a token or name that it refuses to send"

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

/** Webhooks and tools are tenants' own. */
const isTenants = ({ operationId }: Operation): boolean => /^(webhook|mcp)[A-Z]/.test(operationId)

const isName = (segment: string): boolean => segment.startsWith("{")

const namesIn = ({ segments }: Place): number => segments.filter(isName).length

/** Literal paths come before those with parameters, as `/v1/runs/stats` before `/v1/runs/{run_id}`. */
const places: ReadonlyArray<Place> = operations
  .filter(([, operation]) => !isTenants(operation))
  .map(([name, operation]) => {
    const [method = "", path = ""] = name.split(" ")
    return { method, segments: path.split("/"), operation }
  })
  .sort((a, b) => namesIn(a) - namesIn(b))

/** The values of the parameters, as they stand in the path; the last name of a file's path takes all that follows. */
const valuesOf = ({ segments }: Place, path: string): ReadonlyArray<string> | undefined => {
  const given = path.split("/")
  const last = segments.length - 1
  const taken = segments[last] === "{path}" ? [...given.slice(0, last), given.slice(last).join("/")] : given
  const fits =
    taken.length === segments.length &&
    segments.every((segment, index) => (isName(segment) ? taken[index] !== "" : segment === taken[index]))
  return fits ? taken.filter((_, index) => isName(segments[index] ?? "")) : undefined
}

/** What a path says, decoded; undefined where the client would not send it. */
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

/** What the headers of the suite are called in the client's options; undefined where one has no place there. */
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

/** The zip of a form of a build and what the client is told of it. */
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

/** The arguments that stand for the body; undefined where the client makes no such body. */
const bodyOf = (operation: Operation, { json, body }: Asked): ReadonlyArray<unknown> | undefined => {
  const [type] = Object.keys(operation.requestBody?.content ?? {})
  if (type === "application/json") return isObject(json) ? [json] : undefined
  if (type === "multipart/form-data") return body instanceof FormData ? buildOf(body) : undefined
  if (type === "application/octet-stream") {
    if (typeof body !== "string") return undefined
    return operation.operationId === "filesPutPart" ? [new TextEncoder().encode(body)] : [body]
  }
  return json === undefined && body === undefined ? [] : undefined
}

/** Without a type of its own, text is sent as what `fetch` calls it. */
const headersOf = ({ operationId }: Operation, { headers = {}, body }: Asked): Readonly<Record<string, string>> =>
  operationId === "filesUpload" && typeof body === "string"
    ? { "content-type": "text/plain;charset=UTF-8", ...headers }
    : headers

export const routeOf = (asked: Asked): Route | Reason => {
  const [path = "", search = ""] = asked.path.split("?", 2)
  for (const place of places) {
    const values = place.method === asked.method ? valuesOf(place, path) : undefined
    if (values !== undefined) return routeTo(place.operation, values, search, asked)
  }
  return "no endpoint of the API: webhooks, tools, paths and methods that are not there"
}

const routeTo = (operation: Operation, values: ReadonlyArray<string>, search: string, asked: Asked): Route | Reason => {
  const { operationId, parameters = [] } = operation
  const names = values.map(decoded)
  const isPart = operationId === "filesPutPart"
  if (names.includes(undefined) || (isPart && !/^\d+$/.test(names[1] ?? ""))) {
    return "a token or name that it refuses to send"
  }
  if (asked.token !== null && !/^[\x21-\x7e]+$/.test(asked.token)) return "a token or name that it refuses to send"
  const query = queryOf(operation, search)
  if (query === undefined) return "a query that its types do not allow"
  const body = bodyOf(operation, asked)
  if (body === undefined) return "a body that the client does not make"
  const options = optionsOf(operation, headersOf(operation, asked))
  if (options === undefined) return "a header that it does not send"
  if (isSubscription(operation)) return { operationId, args: [...names, ...body, { ...query, ...options }] }
  const hasQuery = parameters.some((one) => one.in === "query")
  // The zip of a build comes with options of its own.
  const last = operationId === "buildsUpload" ? [] : [options]
  return { operationId, args: [...names, ...body, ...(hasQuery ? [query] : []), ...last] }
}
