/**
 * Slots for concurrent deliveries of this node, and the claimed deliveries that have not begun.
 *
 * Publisher and dispatcher share the slots. A publisher with a free slot stores its delivery as already claimed, so that
 * an idle node starts a handler one commit after `publish`.
 */
import { Context, Effect, Latch, Layer } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import type { Event } from "../events/Event.ts"
import type { Claim } from "../journal/JournalStore.ts"

export interface SlotsConfig {
  /** Maximum deliveries in flight on this node. One of a large event counts as several: one per 64 KiB of its data. */
  readonly total: number
  /** Maximum of one environment, so that code that never returns cannot take all slots. */
  readonly perEnv: number
}

/** Characters of event data per slot. Bounds the memory of a node with all slots taken. */
const slotCharacters = 64 * 1024

/** Returns the number of slots that a delivery of the event takes. */
export const countSlots = ({ event_data }: Pick<Event, "event_data">): number =>
  Math.max(1, Math.ceil(event_data.length / slotCharacters))

/** Returns the number of slots that a claimed delivery takes, with all events of its batch. */
export const countClaimSlots = ({ event, events }: Pick<Claim, "event" | "events">): number =>
  events === undefined
    ? countSlots(event)
    : Math.max(1, Math.ceil(events.reduce((sum, { event_data }) => sum + event_data.length, 0) / slotCharacters))

/** Minimum free slots for an immediate claim. */
const immediateMin = 32

/** Urgency of a claim: none, after a delay in which more slots may become free, or at once. */
export type ClaimUrgency = "no" | "soon" | "now"

export class Slots extends Context.Service<
  Slots,
  {
    /** Maximum slots of one environment. */
    readonly perEnv: number
    /** Returns the number of free slots, at least 0. */
    readonly free: () => number
    /** Returns the environments without a free slot. */
    readonly full: () => ReadonlyArray<EnvId>
    /**
     * Takes slots for up to `wanted` new deliveries of the environment, `each` slots per delivery. Returns the number of
     * deliveries that have slots: 0 while older ones are pending, so that new ones do not overtake them.
     */
    readonly reserve: (envId: EnvId, wanted: number, each: number) => number
    /** Takes slots for a claimed delivery, even beyond the limits. */
    readonly hold: (envId: EnvId, count: number) => void
    /** Releases slots and returns the urgency of a claim for pending deliveries. */
    readonly release: (envId: EnvId, count: number) => ClaimUrgency
    /** Records pending deliveries of the environment and returns the urgency of a claim. */
    readonly addPending: (envId: EnvId) => ClaimUrgency
    /**
     * Begins a claim. It takes the pending deliveries, so new ones need not queue behind them; otherwise a steady stream
     * would always pass through the store. The claim may not see deliveries that become pending from now on.
     */
    readonly beginClaim: () => void
    /** Ends a claim that left due deliveries: of all environments, or of those without a free slot. */
    readonly endClaim: (remaining: { readonly all: boolean; readonly envs: ReadonlyArray<EnvId> }) => void
    /** Waits until no slot is taken. */
    readonly idle: Effect.Effect<void>
    /** Starts a claimed delivery, which has slots, or queues it until there is a starter. */
    readonly begin: (claim: Claim) => void
    /** Sets the function that starts claimed deliveries; null queues them. */
    readonly startWith: (starter: ((claim: Claim) => void) | null) => void
  }
>()("@weft/core/runtime/dispatch/Slots") {
  static readonly layer = (config: SlotsConfig): Layer.Layer<Slots> =>
    Layer.effect(
      Slots,
      Effect.gen(function* () {
        /** Claimed deliveries without a starter, in order. */
        const claimed: Array<Claim> = []
        let starter: ((claim: Claim) => void) | null = null
        const taken = new Map<EnvId, number>()
        const empty = Latch.makeUnsafe(true)
        let inFlight = 0
        // Unknown before the first claim, so assume pending deliveries of all environments.
        let backlog = { all: true, envs: new Set<EnvId>() }

        const free = () => Math.max(0, config.total - inFlight)
        const freeSlotsOf = (envId: EnvId) => Math.min(free(), Math.max(0, config.perEnv - (taken.get(envId) ?? 0)))
        const take = (envId: EnvId, count: number) => {
          inFlight += count
          if (inFlight > 0) empty.closeUnsafe()
          taken.set(envId, (taken.get(envId) ?? 0) + count)
        }
        const urgency = (free: number, max: number): ClaimUrgency =>
          free === 0 ? "no" : free >= Math.min(immediateMin, max) ? "now" : "soon"

        return Slots.of({
          perEnv: config.perEnv,
          free,
          full: () => [...taken].filter(([, count]) => count >= config.perEnv).map(([envId]) => envId),
          reserve: (envId, wanted, each) => {
            if (backlog.all || backlog.envs.has(envId)) return 0
            const granted = Math.min(wanted, Math.floor(freeSlotsOf(envId) / each))
            if (granted > 0) take(envId, granted * each)
            return granted
          },
          hold: take,
          release: (envId, count) => {
            inFlight -= count
            if (inFlight === 0) empty.openUnsafe()
            const remaining = (taken.get(envId) ?? 0) - count
            if (remaining > 0) taken.set(envId, remaining)
            else taken.delete(envId)
            if (backlog.all) return urgency(free(), config.total)
            return backlog.envs.has(envId) ? urgency(freeSlotsOf(envId), config.perEnv) : "no"
          },
          addPending: (envId) => {
            backlog.envs.add(envId)
            return urgency(freeSlotsOf(envId), config.perEnv)
          },
          beginClaim: () => {
            backlog = { all: false, envs: new Set() }
          },
          endClaim: (remaining) => {
            backlog = { all: remaining.all, envs: new Set([...remaining.envs, ...backlog.envs]) }
          },
          idle: empty.await,
          begin: (claim) => {
            if (starter === null) claimed.push(claim)
            else starter(claim)
          },
          startWith: (next) => {
            starter = next
            if (next !== null) for (const claim of claimed.splice(0)) next(claim)
          }
        })
      })
    )
}
