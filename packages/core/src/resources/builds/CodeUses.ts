/**
 * Finds in the code of a build which hosts, host functions, secrets, files and events it uses.
 *
 * The search reads literals: `fetch("https://…")`, `svc.host.shop.price(…)`, `svc.context.get("KEY")`. A use whose name is
 * computed becomes `*`. It is a help for people and policies, not a border: code can hide what it does.
 */
import { Effect, Schema } from "effect"

const names = Schema.Array(Schema.String)

/** Each list is sorted; `*` stands for names that the code computes. */
export const CodeUses = Schema.Struct({
  hosts: names,
  host_functions: names,
  secrets: names,
  files: names,
  publishes: names
})
export type CodeUses = typeof CodeUses.Type

export const noUses: CodeUses = { hosts: [], host_functions: [], secrets: [], files: [], publishes: [] }

/** Characters that are searched without a pause for other work. */
const chunkLength = 262_144

/** Maximum characters of one use, which may begin at the end of a chunk. */
const useLength = 1_024

/** Maximum names of a kind. More become `*`. */
const namesMax = 200

const any = "*"
const url = String.raw`(?:https?|wss?):\/\/([A-Za-z0-9.-]{1,253}(?::\d{1,5})?)`
/** Begins with a rare character, so that no position of the code is examined twice. */
const assignment = new RegExp(String.raw`=\s{0,10}["'\`]${url}`, "g")
const assigned = /([A-Za-z_$][\w$]{0,100})\s{0,10}$/
const request = new RegExp(
  String.raw`(?<!function |function\*)\b(?:fetch|WebSocket|EventSource)\(\s{0,100}(?:(?:new URL\(\s{0,100})?["'\`]${url}|(?:\`\$\{)?([A-Za-z_$][\w$]{0,100})?)`,
  "g"
)
const hostFunction = /\bhost((?:\.[A-Za-z_$][\w$]{0,100}){1,10})\(/g
const secret = /\bcontext\??\.get\(\s{0,100}(?:(["'`])([\w.-]{1,256})\1\s{0,100}[,)])?/g
const reading = /\bfiles\.(?:get|open|list|url)\(/g
const writing = /\bfiles\.(?:put|write|delete)\(/g
const publishing = /\bevents\.publish(?:Many)?\(/g
const eventType = /\btype:\s{0,10}(?:(["'`])([^"'`$\\]{1,256})\1)?/

/** Methods of strings, which `url.host.startsWith(…)` calls. */
const textMethods: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(String.prototype))

type Found = { readonly [Kind in keyof CodeUses]: Set<string> }

/** Returns the uses of the code. The time is proportional to its length, and others run between its parts. */
export const findUses = Effect.fnUntraced(function* (code: string) {
  const found: Found = {
    hosts: new Set(),
    host_functions: new Set(),
    secrets: new Set(),
    files: new Set(),
    publishes: new Set()
  }
  const hosts = new Map<string, Set<string>>()
  for (let start = 0; start < code.length; start += chunkLength) {
    for (const { 1: host = "", index } of matchChunk(code, start, assignment)) {
      const name = assigned.exec(code.slice(Math.max(0, index - 120), index))?.[1] ?? ""
      hosts.set(name, (hosts.get(name) ?? new Set()).add(host.toLowerCase()))
    }
    yield* Effect.yieldNow
  }
  for (let start = 0; start < code.length; start += chunkLength) {
    searchChunk(code, start, found, hosts)
    yield* Effect.yieldNow
  }
  return {
    hosts: toNames(found.hosts),
    host_functions: toNames(found.host_functions),
    secrets: toNames(found.secrets),
    files: toNames(found.files),
    publishes: toNames(found.publishes)
  } satisfies CodeUses
})

const searchChunk = (code: string, start: number, found: Found, hosts: ReadonlyMap<string, Iterable<string>>): void => {
  for (const [, host, variable = ""] of matchChunk(code, start, request)) {
    if (host !== undefined) found.hosts.add(host.toLowerCase())
    else for (const one of hosts.get(variable) ?? [any]) found.hosts.add(one)
  }
  for (const [, path = ""] of matchChunk(code, start, hostFunction)) {
    const name = path.slice(1)
    if (!textMethods.has(name)) found.host_functions.add(name)
  }
  for (const [, , name = any] of matchChunk(code, start, secret)) found.secrets.add(name)
  if (!matchChunk(code, start, reading).next().done) found.files.add("read")
  if (!matchChunk(code, start, writing).next().done) found.files.add("write")
  for (const { index } of matchChunk(code, start, publishing)) {
    const [, , type = any] = eventType.exec(code.slice(index, index + useLength)) ?? []
    found.publishes.add(type)
  }
}

/** Returns the matches that begin in the chunk, with their position in the code. */
function* matchChunk(code: string, start: number, pattern: RegExp): Generator<RegExpExecArray> {
  const from = Math.max(0, start - 16)
  const text = code.slice(from, start + chunkLength + useLength)
  for (const match of text.matchAll(pattern)) {
    const position = from + match.index
    if (position < start) continue
    if (position >= start + chunkLength) return
    match.index = position
    yield match
  }
}

const toNames = (found: ReadonlySet<string>): ReadonlyArray<string> =>
  [...(found.size > namesMax ? [any, ...[...found].slice(0, namesMax)] : found)]
    .filter((name, index, all) => all.indexOf(name) === index)
    .sort()
