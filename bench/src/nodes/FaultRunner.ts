/** Does to the cluster what the plan says, and heals it again. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Cluster, Slot } from "./Cluster.ts"
import type { FaultKind, PlannedFault } from "./Faults.ts"
import type { Fault, Ledger } from "./Ledger.ts"

export interface FaultRunner {
  /** Until it is healed. */
  readonly run: (fault: PlannedFault) => Promise<void>
  readonly done: ReadonlyMap<FaultKind, number>
  /** What a node did that it must not: an exit code other than 0 after SIGTERM, or an end of its own. */
  readonly surprises: ReadonlyArray<string>
  /** From SIGTERM to the exit, in milliseconds. */
  readonly drains: ReadonlyArray<number>
  /** Notes nodes that have ended by themselves, and begins others. */
  readonly tend: () => void
}

export const faultRunner = (cluster: Cluster, ledger: Ledger, progress: (text: string) => void): FaultRunner => {
  const done = new Map<FaultKind, number>()
  const surprises: Array<string> = []
  const drains: Array<number> = []
  /** Slots that something is done to: nothing else may be done to them meanwhile. */
  const busy = new Set<Slot>()
  let isDatabaseBusy = false
  const everyone = cluster.slots.map(({ name }) => name)

  const during = async (fault: Fault, body: () => Promise<void>): Promise<void> => {
    try {
      await body()
    } finally {
      fault.to = Date.now()
    }
  }

  /** A node that cannot begin because something else is wrong is begun again. */
  const start = async (slot: Slot): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        return await cluster.start(slot)
      } catch (error) {
        if (tries === 20) throw error
        await sleep(1_000)
      }
    }
  }
  const kill = async (slot: Slot, lastsMs: number): Promise<void> => {
    slot.node?.signal("SIGKILL")
    await slot.node?.exited
    await sleep(lastsMs)
    await start(slot)
  }
  const pause = async (slot: Slot, lastsMs: number): Promise<void> => {
    const { node } = slot
    node?.signal("SIGSTOP")
    await sleep(lastsMs)
    node?.signal("SIGCONT")
  }
  const shut = async (slot: Slot, passage: "cut" | "blackhole", lastsMs: number): Promise<void> => {
    slot.proxy.set(passage)
    await sleep(lastsMs)
    slot.proxy.set("open")
  }
  const database = async (how: "crash" | "fast", lastsMs: number): Promise<void> => {
    await cluster.database.stop(how)
    await sleep(lastsMs)
    await cluster.database.start()
  }
  const restart = async (slot: Slot): Promise<void> => {
    const { node } = slot
    if (node !== null) {
      slot.isLeaving = true
      const began = performance.now()
      const code = await node.stop()
      drains.push(performance.now() - began)
      if (code !== 0) surprises.push(`${slot.name} ended with ${code} after SIGTERM`)
    }
    await start(slot)
  }

  const act = async ({ kind, lastsMs }: PlannedFault, slot: Slot): Promise<void> => {
    const one = ledger.begin.bind(ledger)
    switch (kind) {
      case "kill":
        return during(one(kind, [slot.name]), () => kill(slot, lastsMs))
      case "pause":
        return during(one(kind, [slot.name]), () => pause(slot, lastsMs))
      case "cut":
      case "blackhole":
        return during(one(kind, [slot.name]), () => shut(slot, kind, lastsMs))
      case "database crash":
        return during(one(kind, everyone), () => database("crash", lastsMs))
      case "database restart":
        return during(one(kind, everyone), () => database("fast", lastsMs))
      case "kill during database crash":
        return during(one(kind, everyone), async () => {
          await Promise.all([database("crash", 2_000), kill(slot, lastsMs)])
        })
      case "rolling restart":
        for (const each of cluster.slots) await during(one(kind, [each.name]), () => restart(each))
    }
  }

  const tend = (): void => {
    for (const slot of cluster.slots) {
      if (slot.node !== null || busy.has(slot)) continue
      surprises.push(`${slot.name} ended by itself at ${new Date().toISOString()}`)
      busy.add(slot)
      const fault = ledger.begin("end of its own", [slot.name])
      void during(fault, () => start(slot)).finally(() => busy.delete(slot))
    }
  }

  return {
    done,
    surprises,
    drains,
    tend,
    run: async (fault) => {
      const { kind } = fault
      const isOfDatabase = kind.startsWith("database") || kind === "kill during database crash"
      const needs = kind === "rolling restart" ? cluster.slots : [cluster.slots[fault.slot] ?? cluster.slots[0]]
      const slots = needs.filter((slot) => slot !== undefined)
      while ((isOfDatabase && isDatabaseBusy) || slots.some((slot) => busy.has(slot))) await sleep(100)
      if (isOfDatabase) isDatabaseBusy = true
      for (const slot of slots) busy.add(slot)
      progress(`${kind}${isOfDatabase || slots.length > 1 ? "" : ` of ${slots[0]?.name}`}, ${fault.lastsMs} ms`)
      try {
        const [slot] = slots
        if (slot !== undefined) await act(fault, slot)
        done.set(kind, (done.get(kind) ?? 0) + 1)
      } finally {
        if (isOfDatabase) isDatabaseBusy = false
        for (const slot of slots) busy.delete(slot)
      }
    }
  }
}
