/** The classes of methods, one for each group of endpoints. */
import { answerOf, type Endpoint, type Parameter, schemas } from "./Document.ts"
import { nameOf, typeOf } from "./Types.ts"

/** True for endpoints with handwritten methods, whose body or response is not JSON: uploads and subscriptions. */
export const isByHand = (endpoint: Endpoint): boolean => {
  const bodies = Object.keys(endpoint.operation.requestBody?.content ?? {})
  return bodies.some((type) => type !== "application/json") || answerOf(endpoint)?.type === "text/event-stream"
}

const capitalized = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

export const classOf = (group: string): string => `${capitalized(group)}Endpoints`

const queryOf = ({ operation }: Endpoint): ReadonlyArray<Parameter> =>
  (operation.parameters ?? []).filter((parameter) => parameter.in === "query")

const isPaged = (endpoint: Endpoint): boolean => queryOf(endpoint).some(({ name }) => name === "limit")

/** Returns the query parameters except those of the page. */
export const filtersOf = (endpoint: Endpoint): ReadonlyArray<Parameter> =>
  queryOf(endpoint).filter(({ name }) => name !== "limit" && name !== "offset")

/** Returns the type of an endpoint's query, or null. */
export const queryTypeOf = (endpoint: Endpoint): string | null => {
  if (filtersOf(endpoint).length > 0) return `${capitalized(endpoint.group)}${capitalized(endpoint.name)}Query`
  return isPaged(endpoint) ? "PageQuery" : null
}

export const queryInterface = (endpoint: Endpoint): string => {
  const fields = filtersOf(endpoint).map(({ name, description, schema }) => {
    const comment = description === undefined ? "" : `  /** ${description} */\n`
    return `${comment}  readonly ${name}?: ${typeOf(schema, "sent")} | undefined`
  })
  const base = isPaged(endpoint) ? " extends PageQuery" : ""
  return `export interface ${queryTypeOf(endpoint)}${base} {\n${fields.join("\n")}\n}`
}

export const inputTypeOf = ({ operation }: Endpoint): string | null => {
  const ref = operation.requestBody?.content["application/json"]?.schema?.$ref
  return ref === undefined ? null : nameOf(ref)
}

type Answer =
  | { readonly kind: "none" | "text" | "bytes" }
  | { readonly kind: "one" | "plain"; readonly type: string }
  /** `more` are the other properties of the envelope. */
  | { readonly kind: "list"; readonly type: string; readonly more: More }

interface More {
  readonly names: ReadonlyArray<string>
  readonly type: string
}

/** Returns the result of a method: the record in an envelope, or the plain response. */
export const answerTypeOf = (endpoint: Endpoint): Answer => {
  const answer = answerOf(endpoint)
  if (answer === null) return { kind: "none" }
  if (answer.type.startsWith("text/plain")) return { kind: "text" }
  if (answer.type !== "application/json") return { kind: "bytes" }
  const datas = answer.schemas.map(({ $ref }) =>
    $ref === undefined ? undefined : schemas[nameOf($ref)]?.properties?.data
  )
  const types = [
    ...new Set(datas.map((data, index) => typeOf(data?.items ?? data ?? answer.schemas[index] ?? {}, "received")))
  ].join(" | ")
  if (datas[0] === undefined) return { kind: "plain", type: types }
  return datas[0].type === "array"
    ? { kind: "list", type: types, more: moreOf(answer.schemas[0]?.$ref) }
    : { kind: "one", type: types }
}

/** Returns the properties of a list besides its items and page info. */
const moreOf = (ref: string | undefined): More => {
  const properties = Object.entries(ref === undefined ? {} : (schemas[nameOf(ref)]?.properties ?? {})).filter(
    ([name]) => !["data", "pagination", "meta"].includes(name)
  )
  const fields = properties.map(([name, schema]) => `readonly ${name}: ${typeOf(schema, "received")}`)
  return { names: properties.map(([name]) => name), type: `{ ${fields.join("; ")} }` }
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns the name of an argument. It is `project` instead of `projectId`, because names are also accepted. */
const argumentOf = (parameter: string): string =>
  parameter === "project_id_or_slug" ? "project" : camelCase(parameter)

const isRequired = (input: string): boolean => (schemas[input]?.required ?? []).length > 0

const isKeyed = ({ operation }: Endpoint): boolean =>
  operation.parameters?.some(({ name }) => name === "idempotency-key") === true

const resultOf = (answer: Answer): string => {
  switch (answer.kind) {
    case "none":
      return "Promise<void>"
    case "text":
      return "Promise<string>"
    case "bytes":
      return "Promise<Response>"
    case "list":
      return `Pages<${answer.type}${answer.more.names.length === 0 ? "" : `, ${answer.more.type}`}>`
    default:
      return `Promise<${answer.type}>`
  }
}

const quoted = (path: string): string => {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => `\${${argumentOf(name)}}`)
  return filled === path ? JSON.stringify(path) : `path\`${filled}\``
}

const callOf = (endpoint: Endpoint, answer: Answer, input: string | null, query: string | null): string => {
  const place = quoted(endpoint.path)
  const method = JSON.stringify(endpoint.method)
  if (answer.kind === "list" && answer.more.names.length > 0) {
    const names = answer.more.names.join(", ")
    const argument = query === null ? "{}" : "query"
    return `this.caller.listWith(${place}, options, ${argument}, ({ ${names} }: ${answer.more.type}) => ({ ${names} }))`
  }
  if (answer.kind === "list") return `this.caller.list(${place}, options${query === null ? "" : ", query"})`
  if (answer.kind === "bytes") return `this.caller.bytes(${place}, options${query === null ? "" : ", query"})`
  if (answer.kind === "plain" || answer.kind === "text") return `this.caller.${answer.kind}(${place}, options)`
  const more = [
    ...(input === null ? [] : ["body: input"]),
    ...(query === null ? [] : [input === null ? "query" : `query: { ${filterNames(endpoint)} }`]),
    ...(isKeyed(endpoint) ? ["key: options.idempotencyKey ?? randomUuid()"] : [])
  ]
  const rest = more.length === 0 ? "" : `, { ${more.join(", ")} }`
  return `this.caller.${answer.kind}(${method}, ${place}, options${rest})`
}

const filterNames = (endpoint: Endpoint): string =>
  filtersOf(endpoint)
    .map(({ name }) => name)
    .join(", ")

const methodOf = (endpoint: Endpoint): string => {
  const answer = answerTypeOf(endpoint)
  const input = inputTypeOf(endpoint)
  const query = queryTypeOf(endpoint)
  const parameters = [...endpoint.path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => `${argumentOf(name)}: string`)
  if (input !== null && query !== null) {
    // One argument for both, so that a field which is added to either changes no call.
    parameters.push(`{ ${filterNames(endpoint)}, ...input }: ${query} & ${input} = {}`)
  } else if (input !== null) parameters.push(`input: ${input}${isRequired(input) ? "" : " = {}"}`)
  else if (query !== null) parameters.push(`query: ${query} = {}`)
  const options = isKeyed(endpoint) ? "KeyedOptions" : answer.kind === "bytes" ? "BytesOptions" : "RequestOptions"
  parameters.push(`options: ${options} = {}`)
  return [
    `  /** ${endpoint.operation.summary}. \`${endpoint.method} ${endpoint.path}\` */`,
    `  ${endpoint.name}(${parameters.join(", ")}): ${resultOf(answer)} {`,
    `    return ${callOf(endpoint, answer, input, query)}`,
    "  }"
  ].join("\n")
}

export const classText = (group: string, endpoints: ReadonlyArray<Endpoint>): string =>
  `export class ${classOf(group)} extends Endpoints {\n${endpoints.map(methodOf).join("\n\n")}\n}`
