/** Capabilities of a snippet: its code may do nothing but what its host lists. */
import { Effect, Schema } from "effect"
import { isDeeper } from "../../foundation/JsonDepth.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import { matchesName, parseTarget, plainName, type Target } from "../../platform/egress/Target.ts"
import { defaultLimits } from "../../platform/sandbox/Limits.ts"
import { type HostCall, type HostCallRefused, hostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { PermissionMap } from "../../tenants/access/Permission.ts"
import type { SourceRun } from "../execution/SourceRun.ts"
import { HostRefused } from "../svc/host/HostFunction.ts"
import { payloadLevelsMax } from "../svc/Operation.ts"

/** A function of the host. It receives JSON, and its result or its promise must be JSON, or undefined. */
export type SnippetFunction = (input: unknown) => unknown

export interface Capabilities {
  /** Functions by name: `svc.host.shop.price(input)` calls `"shop.price"`. */
  readonly host?: Readonly<Record<string, SnippetFunction>>
  /** Hosts of `fetch`: `api.example.com`, `*.example.com`, with a port if only one is allowed. Redirects are errors. */
  readonly fetch?: ReadonlyArray<string>
  /** Files below a folder; only to read by default. */
  readonly files?: { readonly prefix: string; readonly write?: boolean }
}

// Every runtime has it, but TypeScript declares it only with a platform's types, which core does not use.
declare const URL: new (text: string) => { readonly protocol: string; readonly hostname: string; readonly port: string }

const reading = new Set(["files.get", "files.open", "files.list", "content.read", "content.cancel"])
const writing = new Set(["files.put", "files.begin", "files.write", "files.cancel", "files.delete"])
const requests = new Set(["fetch.write", "fetch.read", "fetch.cancel"])
const hostPrefix = "host."

/** Returns the permissions of the code in its environment: on the files of the capability, and nothing else. */
export const toPermissions = ({ files }: Capabilities): PermissionMap =>
  PermissionMap.make(
    files === undefined ? {} : { [`file:${folderOf(files.prefix)}/*`]: files.write === true ? ["*"] : ["read"] }
  )

/** Returns a text that differs for different capabilities. Isolates are shared only by equal ones. */
export const describeCapabilities = ({ host = {}, fetch = [], files }: Capabilities): string =>
  JSON.stringify([Object.keys(host).sort(), [...fetch].sort(), files?.prefix ?? null, files?.write ?? false])

/** Returns the first invalid part of the capabilities, or null. */
export const findCapabilityFault = ({ fetch = [], files }: Capabilities): string | null => {
  const invalid = fetch.find((entry) => parseTarget(entry)?.what.kind !== "name")
  if (invalid !== undefined) return `capabilities.fetch: ${JSON.stringify(invalid.slice(0, 100))} is not a host name`
  return files !== undefined && folderOf(files.prefix) === "" ? "capabilities.files.prefix must be a folder" : null
}

/** Returns the gate for calls of code with the capabilities. */
export const makeGate = ({ host = {}, fetch, files }: Capabilities): NonNullable<SourceRun["gate"]> => {
  const targets = fetch?.flatMap((entry) => parseTarget(entry) ?? []) ?? null
  return (call) => {
    const { op } = call
    if (op.startsWith(hostPrefix)) {
      const name = op.slice(hostPrefix.length)
      const fn = Object.hasOwn(host, name) ? host[name] : undefined
      return fn === undefined ? refused(`There is no host function ${name.slice(0, 128)}`) : callHost(name, fn, call)
    }
    if (op === "fetch.send")
      return targets === null ? refused("fetch is not allowed here") : checkRequest(targets, call)
    if (requests.has(op) && targets !== null) return call
    if (files !== undefined && (reading.has(op) || (files.write === true && writing.has(op)))) return call
    return refused("This code has no such capability")
  }
}

const folderOf = (prefix: string): string => prefix.replace(/\/+$/, "")

const refused = (message: string) => Effect.fail(hostCallRefused("NotAllowed", message))

const Request = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
const decodeRequest = Schema.decodeUnknownOption(Request)

/** Allows a request to a listed host only. A redirect would lead to another host, so it is an error. */
const checkRequest = (targets: ReadonlyArray<Target>, { op, payload }: HostCall) => {
  const decoded = isDeeper(payload, payloadLevelsMax) ? null : decodeRequest(payload)
  if (decoded === null || decoded._tag === "None") return refused("The request is invalid")
  const { url, redirect } = decoded.value
  const target = typeof url === "string" ? parseUrl(url) : null
  if (target === null || !targets.some((one) => matchesName(one, target.name, target.port)))
    return refused("fetch to this host is not allowed here")
  return { op, payload: JSON.stringify({ ...decoded.value, redirect: redirect === "manual" ? "manual" : "error" }) }
}

const parseUrl = (text: string): { readonly name: string; readonly port: number } | null => {
  try {
    const { protocol, hostname, port } = new URL(text)
    const usual = protocol === "https:" ? 443 : protocol === "http:" ? 80 : null
    return usual === null ? null : { name: plainName(hostname), port: port === "" ? usual : Number(port) }
  } catch {
    return null
  }
}

/** Calls a function with JSON. Its own errors stay with the host, but for `HostRefused`. */
const callHost = (name: string, fn: SnippetFunction, { payload }: HostCall): Effect.Effect<string, HostCallRefused> =>
  Effect.gen(function* () {
    if (isDeeper(payload, payloadLevelsMax)) return yield* refused("An argument is nested deeper than 500 levels")
    const output = yield* Effect.tryPromise({
      try: async () => fn(payload === "" ? undefined : JSON.parse(payload)),
      catch: (error) => error
    })
    const text = output === undefined ? "" : JSON.stringify(output)
    return text !== undefined && utf8Length(text) <= defaultLimits.hostCallBytes
      ? text
      : yield* new HostRefused({ name: "Failed", message: `${name} returned no JSON of at most 1 MiB` })
  }).pipe(
    Effect.catch((error) => {
      if (error instanceof HostRefused) return Effect.fail(hostCallRefused(error.name, error.message))
      if (isRefusal(error)) return Effect.fail(error)
      return Effect.andThen(
        Effect.logWarning(`The function ${name} of a snippet failed`, error),
        Effect.fail(hostCallRefused("Failed", `The host function ${name} failed`))
      )
    })
  )

const isRefusal = (error: unknown): error is HostCallRefused =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "HostCallRefused"
