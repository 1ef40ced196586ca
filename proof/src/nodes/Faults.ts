/** A random sequence of faults that a seed determines. */
import type { Draws } from "@weft/tooling/draws"

export const faultKinds = [
  "kill",
  "pause",
  "cut",
  "blackhole",
  "database crash",
  "database restart",
  "rolling restart",
  "kill during database crash"
] as const
export type FaultKind = (typeof faultKinds)[number]

export interface PlannedFault {
  readonly kind: FaultKind
  /** Index of the affected node, if it is one node. */
  readonly slot: number
  /** Duration, in milliseconds. */
  readonly lastsMs: number
  /** Pause after the fault, in milliseconds; with 0 the next fault starts at the same time. */
  readonly restMs: number
}

export interface FaultOptions {
  readonly kinds: ReadonlyArray<FaultKind>
  readonly slots: number
  /** Lease of the nodes, in milliseconds. Pauses and black holes last longer, or much shorter. */
  readonly leaseMs: number
  readonly restMs: readonly [number, number]
}

const second = 1000

/** Yields every kind once, in random order, and repeats. */
export function* plan(random: Draws, options: FaultOptions): Generator<PlannedFault, never> {
  while (true) {
    for (const kind of random.shuffled(options.kinds)) yield draw(random, kind, options)
  }
}

const draw = (random: Draws, kind: FaultKind, { slots, leaseMs, restMs }: FaultOptions): PlannedFault => {
  const slot = random.whole(0, slots - 1)
  const isAlone = kind === "rolling restart" || random.chance(0.8)
  return {
    kind,
    slot,
    lastsMs: drawDuration(random, kind, leaseMs),
    restMs: isAlone ? random.whole(restMs[0], restMs[1]) : 0
  }
}

const drawDuration = (random: Draws, kind: FaultKind, leaseMs: number): number => {
  switch (kind) {
    case "kill":
    case "kill during database crash":
      return random.whole(second / 2, 8 * second)
    case "pause":
      return leaseMs + random.whole(second, 10 * second)
    case "cut":
      return random.whole(second, 10 * second)
    case "blackhole":
      return random.chance(0.5) ? leaseMs + random.whole(second, 10 * second) : random.whole(second, 8 * second)
    case "database crash":
    case "database restart":
      return random.whole(0, 6 * second)
    case "rolling restart":
      return 0
  }
}
