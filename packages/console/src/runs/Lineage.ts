/**
 * The runs and events that led to a run, and those that it caused, as a tree. Pure.
 *
 * A run has the event that triggered it. Its `origin_run_id` is the earlier run of a retry or a replay, and otherwise the
 * run that published the event.
 */
import type { Run } from "@weft/client"

export type LineageNode =
  | { readonly kind: "event"; readonly id: string; readonly children: ReadonlyArray<LineageNode> }
  | { readonly kind: "run"; readonly run: Run; readonly children: ReadonlyArray<LineageNode> }

/** Returns the tree of the known runs around the oldest ancestor. `ancestors` are the oldest first. */
export const buildLineage = (run: Run, ancestors: ReadonlyArray<Run>, others: ReadonlyArray<Run>): LineageNode => {
  const known = new Map([...others, ...ancestors, run].map((one) => [one.run_id, one]))
  const root = ancestors[0] ?? run
  const caused = new Map<string, Array<Run>>()
  for (const one of [...known.values()].sort(byStart)) {
    const { origin_run_id: origin } = one
    if (origin === null || !known.has(origin) || origin === one.run_id) continue
    caused.set(origin, [...(caused.get(origin) ?? []), one])
  }
  const seen = new Set<string>()
  const toNode = (one: Run): LineageNode => {
    seen.add(one.run_id)
    const next = (caused.get(one.run_id) ?? []).filter(({ run_id }) => !seen.has(run_id))
    // Retries and replays have the event of their origin.
    const again = next.filter(({ event_id }) => event_id === one.event_id || event_id === null)
    const events = groupByEvent(next.filter((each) => !again.includes(each)))
    const children = [
      ...again.map(toNode),
      ...events.map(([id, runs]): LineageNode => ({ kind: "event", id, children: runs.map(toNode) }))
    ]
    return { kind: "run", run: one, children }
  }
  const { event_id } = root
  if (event_id === null) return toNode(root)
  // Other handlers of the event began next to the root.
  const first = [...known.values()].filter((one) => one.event_id === event_id && !hasKnownOrigin(one, known))
  const children = first.sort(byStart).map(toNode)
  return { kind: "event", id: event_id, children }
}

const hasKnownOrigin = ({ origin_run_id: origin }: Run, known: ReadonlyMap<string, Run>): boolean =>
  origin !== null && known.has(origin)

const byStart = (a: Run, b: Run): number => a.start_time.localeCompare(b.start_time) || a.run_id.localeCompare(b.run_id)

const groupByEvent = (runs: ReadonlyArray<Run>): ReadonlyArray<readonly [string, ReadonlyArray<Run>]> => {
  const groups = new Map<string, Array<Run>>()
  for (const run of runs) {
    if (run.event_id !== null) groups.set(run.event_id, [...(groups.get(run.event_id) ?? []), run])
  }
  return [...groups]
}

/** Returns those of the runs that the run caused, also through others of them. */
export const descendantsOf = (runId: string, runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const found = new Set([runId])
  // Runs are newer than their origin, so that one pass from the oldest on finds all of them.
  return [...runs].sort(byStart).filter(({ run_id, origin_run_id: origin }) => {
    const isCaused = origin !== null && found.has(origin)
    if (isCaused) found.add(run_id)
    return isCaused
  })
}

/** True if the tree has something that the run caused. */
export const hasEffects = (node: LineageNode, runId: string): boolean =>
  node.kind === "run" && node.run.run_id === runId
    ? node.children.length > 0
    : node.children.some((child) => hasEffects(child, runId))

/** Returns an id that is greater than those of all runs that began before the instant, because ids begin with their time. */
export const idAt = (ms: number): string => {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0")
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}
