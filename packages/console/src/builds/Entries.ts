/** Functions, triggers, tools and capabilities of a build as comparable entries. */
import type { BuildManifest, Capabilities } from "@weft/client"
import { formatDuration } from "../text/format.ts"
import { t } from "../text/Language.ts"

export const groups = ["endpoints", "handlers", "schedules", "tools", "functions", "capabilities"] as const
export type Group = (typeof groups)[number]

export interface Entry {
  readonly group: Group
  /** Unique in its group. */
  readonly key: string
  readonly name: string
  /** The function as `ns/var`. */
  readonly fn: string
  readonly detail: string
}

export type Change = "added" | "removed" | "changed" | "same"

export interface ComparedEntry extends Entry {
  readonly change: Change
}

const fnOf = (entry: { readonly ns: string; readonly var: string }): string => `${entry.ns}/${entry.var}`

const joined = (parts: ReadonlyArray<string | false | null>): string =>
  parts.filter((part) => typeof part === "string" && part !== "").join(" · ")

/** A build: what it declares, and what its code may use. */
export interface DescribedBuild {
  readonly manifest: BuildManifest
  /** Null to leave them out. */
  readonly capabilities: Capabilities | null
}

/** Kinds of capabilities that the manifest does not have. */
const capabilityKinds = ["hosts", "host_functions", "secrets", "files", "publishes"] as const

const capabilitiesOf = (capabilities: Capabilities): ReadonlyArray<Entry> =>
  capabilityKinds.flatMap((kind) =>
    capabilities[kind].map((name) => ({
      ...{ group: "capabilities" as const, key: `${kind} ${name}`, fn: "" },
      name: name === "*" ? t().builds.computed : name,
      detail: t().builds.uses[kind]
    }))
  )

/** Timeout of functions that run in the background, which is not worth a note. */
const defaultTimeoutMs = 300_000

/** Returns the entries of a build, by group, then name. */
const entriesOf = ({ manifest, capabilities }: DescribedBuild): ReadonlyArray<Entry> => {
  const entries: Array<Entry> = capabilities === null ? [] : [...capabilitiesOf(capabilities)]
  const add = (group: Group, key: string, entry: Omit<Entry, "group" | "key">) => entries.push({ group, key, ...entry })
  for (const { method, service, path, auth, description, ...fn } of manifest.endpoints) {
    const name = `${method} /${service}${path}`
    const credential = auth === "required" && `${t().webhooks.auth}: ${t().webhooks.auths[auth]}`
    add("endpoints", name, { name, fn: fnOf(fn), detail: joined([credential, description]) })
  }
  for (const { event_type, ...fn } of manifest.handlers) {
    add("handlers", `${event_type} ${fnOf(fn)}`, { name: event_type, fn: fnOf(fn), detail: "" })
  }
  for (const { cron, timezone, ...fn } of manifest.schedules) {
    add("schedules", `${cron} ${timezone} ${fnOf(fn)}`, { name: cron, fn: fnOf(fn), detail: timezone })
  }
  for (const { service, name, description, ...fn } of [...manifest.tools, ...manifest.resources, ...manifest.prompts]) {
    add("tools", `${service} ${name} ${fnOf(fn)}`, { name: `${service}/${name}`, fn: fnOf(fn), detail: description })
  }
  // Functions that a client waits for have timeouts of their own.
  const requests = new Set(
    [...manifest.endpoints, ...manifest.tools, ...manifest.resources, ...manifest.prompts].map(fnOf)
  )
  for (const { durable, timeout_ms, attempts, concurrency, ...fn } of manifest.functions) {
    const detail = joined([
      durable && t().builds.durable,
      attempts > 1 && t().builds.attempts(attempts),
      concurrency !== null && t().builds.concurrency(concurrency),
      timeout_ms !== defaultTimeoutMs && !requests.has(fnOf(fn)) && t().builds.timeout(formatDuration(timeout_ms))
    ])
    add("functions", fnOf(fn), { name: fnOf(fn), fn: fnOf(fn), detail })
  }
  const rank = (entry: Entry) => groups.indexOf(entry.group)
  return entries.sort((a, b) => rank(a) - rank(b) || a.key.localeCompare(b.key))
}

/** Returns the number of entries with each change. */
export const countChanges = (entries: ReadonlyArray<ComparedEntry>): Readonly<Record<Change, number>> => {
  const counts = { added: 0, removed: 0, changed: 0, same: 0 }
  for (const { change } of entries) counts[change]++
  return counts
}

/** Returns the entries of both builds, with what the second one changes. */
export const compareEntries = (before: DescribedBuild | null, after: DescribedBuild): ReadonlyArray<ComparedEntry> => {
  const keyOf = ({ group, key }: Entry) => `${group} ${key}`
  const known = new Map(before === null ? [] : entriesOf(before).map((entry) => [keyOf(entry), entry]))
  const found: Array<ComparedEntry> = entriesOf(after).map((entry) => {
    const earlier = known.get(keyOf(entry))
    known.delete(keyOf(entry))
    if (before === null) return { ...entry, change: "same" }
    if (earlier === undefined) return { ...entry, change: "added" }
    const isSame = earlier.fn === entry.fn && earlier.detail === entry.detail
    return { ...entry, change: isSame ? "same" : "changed" }
  })
  return [...found, ...[...known.values()].map((entry): ComparedEntry => ({ ...entry, change: "removed" }))]
}
