/** Injects planned faults into the cluster and ends them again. */
import { setTimeout as sleep } from "node:timers/promises"
import type { Cluster, Slot } from "./Cluster.ts"
import type { FaultKind, PlannedFault } from "./Faults.ts"
import type { Fault, Ledger } from "./Ledger.ts"

export interface FaultRunner {
  /** Injects a fault; resolves when it has ended. */
  readonly run: (fault: PlannedFault) => Promise<void>
  readonly done: ReadonlyMap<FaultKind, number>
  /** Exit codes other than 0 after SIGTERM, and exits without a fault. */
  readonly unexpectedExits: ReadonlyArray<string>
  /** Times from SIGTERM to the exit, in milliseconds. */
  readonly drains: ReadonlyArray<number>
  /** Records nodes that exited without a fault, and starts others. */
  readonly restartExited: () => void
}

export const faultRunner = (cluster: Cluster, ledger: Ledger, progress: (text: string) => void): FaultRunner => {
  const done = new Map<FaultKind, number>()
  const unexpectedExits: Array<string> = []
  const drains: Array<number> = []
  /** Slots with an active fault; one fault at a time. */
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

  /** Starts a node, with retries because another fault may be active. */
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
  const disconnect = async (slot: Slot, passage: "cut" | "blackhole", lastsMs: number): Promise<void> => {
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
      slot.isDraining = true
      const began = performance.now()
      const code = await node.stop()
      drains.push(performance.now() - began)
      if (code !== 0) unexpectedExits.push(`${slot.name} exited with code ${code} after SIGTERM`)
    }
    await start(slot)
  }

  const act = async ({ kind, lastsMs }: PlannedFault, slot: Slot): Promise<void> => {
    const begin = ledger.beginFault.bind(ledger)
    switch (kind) {
      case "kill":
        return during(begin(kind, [slot.name]), () => kill(slot, lastsMs))
      case "pause":
        return during(begin(kind, [slot.name]), () => pause(slot, lastsMs))
      case "cut":
      case "blackhole":
        return during(begin(kind, [slot.name]), () => disconnect(slot, kind, lastsMs))
      case "database crash":
        return during(begin(kind, everyone), () => database("crash", lastsMs))
      case "database restart":
        return during(begin(kind, everyone), () => database("fast", lastsMs))
      case "kill during database crash":
        return during(begin(kind, everyone), async () => {
          await Promise.all([database("crash", 2_000), kill(slot, lastsMs)])
        })
      case "rolling restart":
        for (const each of cluster.slots) await during(begin(kind, [each.name]), () => restart(each))
    }
  }

  const restartExited = (): void => {
    for (const slot of cluster.slots) {
      if (slot.node !== null || busy.has(slot)) continue
      unexpectedExits.push(`${slot.name} exited without a fault at ${new Date().toISOString()}`)
      busy.add(slot)
      const fault = ledger.beginFault("unexpected exit", [slot.name])
      void during(fault, () => start(slot)).finally(() => busy.delete(slot))
    }
  }

  return {
    done,
    unexpectedExits,
    drains,
    restartExited,
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
