/**
 * Removes what a recording must not contain: fields that its function names, credentials in headers, and secrets.
 *
 * A replay redacts its own calls in the same way before it compares them, so redacted values are never different.
 */
import { base64Decode, base64Encode } from "../../foundation/Base64.ts"
import { utf8DecodeStrict, utf8Encode } from "../../foundation/Utf8.ts"
import type { RequestBody } from "../../platform/sandbox/RequestBody.ts"
import type { HostCall } from "../../platform/sandbox/Sandbox.ts"
import { makeReplacements } from "../../resources/secrets/Mask.ts"
import { secretPlaceholder } from "./Recording.ts"

/** Text that replaces a text in a redacted field. Numbers become 0, and `true` becomes `false`. */
export const redactedText = "weft-redacted"

/** Fields that are always redacted: headers with credentials. */
const alwaysRedacted = ["authorization", "cookie", "proxy-authorization", "set-cookie"]

/** Maximum depth of JSON. A host call with deeper arguments is refused. */
const levelsMax = 600

/** Operations with a number that the guest chose. Other runs of an isolate use numbers of the same sequence. */
const numbered = /^(?:fetch|content|websocket|socket)\.|^(?:files\.(?:begin|write|cancel|open)|asset\.open)$/

/** All methods return null if they would take too much time, or if the text is too deep or has another form. */
export interface Redaction {
  /** Redacts the arguments of a call. Resources get numbers in the order of their first use. */
  readonly args: (call: HostCall) => string | null
  /** Redacts the answer to a call. */
  readonly answer: (call: HostCall, text: string) => string | null
  /** Redacts a JSON text. */
  readonly json: (text: string) => string | null
  /** Redacts the body of a request. */
  readonly body: (body: RequestBody) => RequestBody | null
  /** Redacts any text: JSON as JSON. */
  readonly text: (text: string) => string | null
}

export interface RedactionOptions {
  /** Names of fields, or ends of their paths. */
  readonly redact: ReadonlyArray<string>
  /** Texts by the secrets that they replace. */
  readonly secrets: ReadonlyMap<string, string>
  /** Keys of context variables whose values are recorded. */
  readonly context: ReadonlyArray<string>
}

/** Reports that a text is too deep or that the work is too much. Never leaves this module. */
class Exceeded extends Error {}

export const makeRedaction = ({ redact, secrets, context }: RedactionOptions): Redaction => {
  const isRedacted = makeFieldMatch([...redact, ...alwaysRedacted])
  const replace = secrets.size === 0 ? (text: string) => text : makeReplacements(secrets)
  const resources = new Map<number, number>()

  const hide = (text: string): string => {
    const hidden = replace(text)
    if (hidden === null) throw new Exceeded()
    return hidden
  }

  /** Redacts a value. `bytes` is true if fields of that name contain base64. */
  const walk = (value: unknown, path: ReadonlyArray<string>, bytes: boolean): unknown => {
    if (typeof value === "string") return hide(value)
    if (typeof value !== "object" || value === null) return value
    if (path.length > levelsMax) throw new Exceeded()
    if (Array.isArray(value)) return isHeader(value) ? redactHeader(value, path) : walkAll(value, path, bytes)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]: [string, unknown]) => {
        const inner = [...path, name.toLowerCase()]
        if (isRedacted(inner)) return [hide(name), blank(item)]
        const isBytes = bytes && name === "bytes" && typeof item === "string"
        return [hide(name), isBytes ? redactBytes(item) : walk(item, inner, bytes)]
      })
    )
  }

  const walkAll = (items: ReadonlyArray<unknown>, path: ReadonlyArray<string>, bytes: boolean): unknown =>
    items.map((item) => walk(item, [...path, ""], bytes))

  const redactHeader = ([name, value]: readonly [string, string], path: ReadonlyArray<string>) =>
    isRedacted([...path, name.toLowerCase()]) ? [name, redactedText] : [hide(name), hide(value)]

  /** Redacts text, which remains as it is without secrets and redacted fields. */
  const redactText = (text: string): string => {
    const value = parseObject(text)
    if (value === undefined) return hide(text)
    const redacted = JSON.stringify(walk(value, [], false))
    return redacted === JSON.stringify(value) ? text : redacted
  }

  const redactBytes = (base64: string): string => {
    const bytes = base64Decode(base64)
    const text = bytes === null ? null : utf8DecodeStrict(bytes)
    return text === null ? base64 : base64Encode(utf8Encode(redactText(text)))
  }

  const redactForm = (text: string): string =>
    text
      .split("&")
      .map((pair) => {
        const [name = ""] = pair.split("=")
        return isRedacted([decodeName(name).toLowerCase()]) ? `${name}=${redactedText}` : hide(pair)
      })
      .join("&")

  const redactJson = (text: string, bytes = false): string =>
    text === "" ? "" : JSON.stringify(walk(JSON.parse(text), [], bytes))

  /** The report of a step is a header, and its result or error on the next line. Durations and stacks are not kept. */
  const toStepArgs = (payload: string): string => {
    const end = payload.indexOf("\n")
    const { ms: _, ...header }: Readonly<Record<string, unknown>> = JSON.parse(payload.slice(0, end))
    const result = payload.slice(end + 1)
    const value: unknown = result === "" ? null : walk(JSON.parse(result), [], false)
    return JSON.stringify({ ...header, result: header.ok === true ? value : withoutStack(value) })
  }

  const toArgs = ({ op, payload }: HostCall): string => {
    if (op === "workflow.step") return toStepArgs(payload)
    const text = redactJson(payload, true)
    if (!numbered.test(op)) return text
    const value: { readonly id?: unknown } = JSON.parse(text)
    const { id } = value
    if (typeof id !== "number") return text
    const number = resources.get(id) ?? resources.size + 1
    resources.set(id, number)
    return JSON.stringify({ ...value, id: number })
  }

  const toAnswer = ({ op, payload }: HostCall, text: string): string => {
    if (op === "context.get") return redactVariable(readField(payload, "key"), text)
    if (op === "context.all") return redactVariables(text)
    return redactJson(text, numbered.test(op) && readField(payload, "text") !== true)
  }

  const redactVariable = (key: unknown, text: string): string =>
    text === "null" || typeof key !== "string" || context.includes(key) ? text : JSON.stringify(secretPlaceholder(key))

  const redactVariables = (text: string): string => {
    const values: Readonly<Record<string, string>> = JSON.parse(text)
    return JSON.stringify(
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, context.includes(key) ? value : secretPlaceholder(key)])
      )
    )
  }

  return {
    args: (call) => orNull(() => toArgs(call)),
    answer: (call, text) => orNull(() => toAnswer(call, text)),
    json: (text) => orNull(() => redactJson(text)),
    text: (text) => orNull(() => redactText(text)),
    body: ({ text, as }) =>
      orNull(() => {
        if (as === "form") return { text: redactForm(text), as }
        return { text: as === "given" ? redactBytes(text) : redactText(text), as }
      })
  }
}

const withoutStack = (error: unknown): unknown =>
  typeof error === "object" && error !== null ? { ...error, stack: "" } : error

/** Returns a function that is true for the path of a redacted field. Elements of arrays have empty names. */
const makeFieldMatch = (fields: ReadonlyArray<string>) => {
  const byName = new Map<string, Array<ReadonlyArray<string>>>()
  for (const field of fields) {
    const names = field.toLowerCase().split(".")
    const last = names.at(-1) ?? ""
    byName.set(last, [...(byName.get(last) ?? []), names])
  }
  return (path: ReadonlyArray<string>): boolean => {
    const found = byName.get(path.at(-1) ?? "")
    if (found === undefined) return false
    const named = path.filter((name) => name !== "")
    return found.some((names) => names.every((name, index) => named.at(index - names.length) === name))
  }
}

/** True for a header as in the arguments and answers of `fetch`. */
const isHeader = (value: ReadonlyArray<unknown>): value is readonly [string, string] =>
  value.length === 2 && value.every((item) => typeof item === "string")

/** Returns a value of the same form without its contents. */
const blank = (value: unknown): unknown => {
  if (typeof value === "string") return redactedText
  if (typeof value === "number") return 0
  if (typeof value === "boolean") return false
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? value.map(blank)
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, blank(item)]))
}

/** Parses JSON of an object or an array; undefined for any other text. */
const parseObject = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const readField = (payload: string, name: "key" | "text"): unknown => {
  const value: unknown = JSON.parse(payload)
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
}

const decodeName = (name: string): string => {
  try {
    return decodeURIComponent(name.replaceAll("+", " "))
  } catch {
    return name
  }
}

/** Returns null if it fails. Recursion, parsers and the reads of fields may fail for hostile texts. */
const orNull = <A>(redact: () => A): A | null => {
  try {
    return redact()
  } catch {
    return null
  }
}
