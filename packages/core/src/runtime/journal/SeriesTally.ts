/**
 * Counts of ended runs by function and minute, in memory. Counting a run allocates nothing, except for the first one of a
 * function and minute.
 */
import type { EnvId, NodeId, ProjectId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import { LatencyHistogram } from "../runs/LatencyHistogram.ts"
import { type MinuteCounts, minuteMs, toMinute } from "../runs/MinuteCounts.ts"
import type { Run, RunStatus } from "../runs/Run.ts"

/** The function of a run. */
export type CountedFunction = Pick<Run, "env_id" | "project_id" | "project_name" | "ns" | "var">

/** Limits of the memory of a tally. Counts beyond them fall into a row of the environment, or into an earlier minute. */
export interface TallyLimits {
  /** Maximum functions per environment. */
  readonly perEnv: number
  /** Maximum functions. */
  readonly functions: number
  /** Maximum rows that are not stored yet. Beyond it, functions do not begin another minute. */
  readonly unsaved: number
}

const tallyLimits: TallyLimits = { perEnv: 500, functions: 10_000, unsaved: 20_000 }

/** Counts of one function and minute. */
interface Slot {
  readonly fn: CountedFunction
  readonly at: Timestamp
  /** True for the row of functions beyond the limits. */
  readonly isOther: boolean
  succeeded: number
  failed: number
  cancelled: number
  retried: number
  readonly wait: LatencyHistogram
  readonly duration: LatencyHistogram
  isChanged: boolean
}

type Names = Map<string, Slot>

export class SeriesTally {
  readonly #limits: TallyLimits
  readonly #projects = new Map<ProjectId, Map<string, Names>>()
  readonly #others = new Map<EnvId, Slot>()
  /** Number of functions by environment, and in total. */
  readonly #functions = new Map<EnvId, number>()
  #total = 0
  #changed: Array<Slot> = []

  constructor(limits: TallyLimits = tallyLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#changed.length === 0
  }

  /** Counts an ended run. `durationMs` is null for a run whose duration says nothing. */
  end(fn: CountedFunction, status: RunStatus, isRetried: boolean, durationMs: number | null, now: number): void {
    const slot = this.#find(fn, now)
    if (status === "succeeded") slot.succeeded++
    else if (status === "failed") slot.failed++
    else slot.cancelled++
    if (isRetried) slot.retried++
    if (durationMs !== null) slot.duration.add(durationMs)
  }

  /** Counts the time that a run waited for its start. */
  begin(fn: CountedFunction, waitMs: number, now: number): void {
    this.#find(fn, now).wait.add(waitMs)
  }

  /** Takes the slots that changed since the last call. Store their rows, or `restore` them. */
  take(): ReadonlyArray<Slot> {
    const taken = this.#changed
    this.#changed = []
    for (const slot of taken) slot.isChanged = false
    return taken
  }

  /** Adds slots whose rows could not be stored. */
  restore(slots: ReadonlyArray<Slot>): void {
    for (const slot of slots) this.#change(slot)
  }

  /** Forgets functions whose minute is over and stored. */
  forget(now: number): void {
    const minute = toMinute(now)
    const isOver = (slot: Slot) => slot.at < minute && !slot.isChanged
    for (const [projectId, namespaces] of this.#projects) {
      for (const [ns, names] of namespaces) {
        for (const [name, slot] of names) if (isOver(slot)) this.#remove(names, name, slot)
        if (names.size === 0) namespaces.delete(ns)
      }
      if (namespaces.size === 0) this.#projects.delete(projectId)
    }
    for (const [envId, slot] of this.#others) if (isOver(slot)) this.#others.delete(envId)
  }

  #remove(names: Names, name: string, { fn }: Slot): void {
    names.delete(name)
    this.#total--
    const rest = (this.#functions.get(fn.env_id) ?? 1) - 1
    if (rest === 0) this.#functions.delete(fn.env_id)
    else this.#functions.set(fn.env_id, rest)
  }

  #find(fn: CountedFunction, now: number): Slot {
    const names = this.#projects.get(fn.project_id)?.get(fn.ns)
    const known = names?.get(fn.var)
    // A clock that was set back adds to the later minute.
    if (known !== undefined && (now < known.at + minuteMs || this.#isFull)) return this.#change(known)
    if (known !== undefined && names !== undefined) return this.#open(names, fn, now)
    const count = this.#functions.get(fn.env_id) ?? 0
    if (count >= this.#limits.perEnv || this.#total >= this.#limits.functions) return this.#findOther(fn, now)
    this.#functions.set(fn.env_id, count + 1)
    this.#total++
    return this.#open(names ?? this.#namesOf(fn), fn, now)
  }

  get #isFull(): boolean {
    return this.#changed.length >= this.#limits.unsaved
  }

  #namesOf({ project_id, ns }: CountedFunction): Names {
    const namespaces = this.#projects.get(project_id) ?? new Map<string, Names>()
    this.#projects.set(project_id, namespaces)
    const names: Names = new Map()
    namespaces.set(ns, names)
    return names
  }

  #open(names: Names, fn: CountedFunction, now: number): Slot {
    const slot = newSlot(fn, now, false)
    names.set(fn.var, slot)
    return this.#change(slot)
  }

  #findOther(fn: CountedFunction, now: number): Slot {
    const known = this.#others.get(fn.env_id)
    if (known !== undefined && (now < known.at + minuteMs || this.#isFull)) return this.#change(known)
    const slot = newSlot(fn, now, true)
    this.#others.set(fn.env_id, slot)
    return this.#change(slot)
  }

  #change(slot: Slot): Slot {
    if (!slot.isChanged) {
      slot.isChanged = true
      this.#changed.push(slot)
    }
    return slot
  }
}

const newSlot = (
  { env_id, project_id, project_name, ns, var: name }: CountedFunction,
  now: number,
  isOther: boolean
): Slot => ({
  // Not the run itself, whose result would stay in memory.
  fn: { env_id, project_id, project_name, ns, var: name },
  at: toMinute(now),
  isOther,
  ...{ succeeded: 0, failed: 0, cancelled: 0, retried: 0 },
  wait: new LatencyHistogram(),
  duration: new LatencyHistogram(),
  isChanged: false
})

/** Returns the row of a slot, with the counts so far. */
export const toMinuteCounts = (slot: Slot, node_id: NodeId): MinuteCounts => {
  const { fn, at, isOther, succeeded, failed, cancelled, retried, wait, duration } = slot
  const { env_id, project_id, project_name, ns, var: name } = fn
  return {
    ...{ env_id, at, node_id, succeeded, failed, cancelled, retried },
    ...(isOther
      ? { project_id: null, project_name: "", ns: "", var: "" }
      : { project_id, project_name, ns, var: name }),
    wait: wait.encode(),
    duration: duration.encode()
  }
}
