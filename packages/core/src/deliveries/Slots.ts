/**
 * How many deliveries this node runs at once, and those it has claimed but not begun.
 *
 * The one place where publishing and dispatching meet: a publisher that finds a free slot lets its event be
 * born claimed, so that an idle node starts a handler one commit after `publish`.
 */
import { Context, Effect, Latch, Layer } from "effect"
import type { Event } from "../events/Event.ts"
import type { EnvId } from "../ids/Ids.ts"
import type { Claim } from "../journal/JournalStore.ts"

export interface SlotsConfig {
  /** Deliveries in flight on this node. One whose event is large counts as several: one for each 64 KiB of its data. */
  readonly total: number
  /** Of those, at most so many of one environment, so that one whose code never returns leaves room for the others. */
  readonly perEnv: number
}

/** Of an event's data: with all slots taken a node holds so many times as much. */
const slotCharacters = 64 * 1024

/** Slots that a delivery of the event takes. */
export const slotsOf = ({ event_data }: Pick<Event, "event_data">): number =>
  Math.max(1, Math.ceil(event_data.length / slotCharacters))

/** Free slots that make a claim worth its transaction. */
const lowWater = 32

/** Whether to claim: not at all, after a moment in which more slots may become free, or at once. */
export type Worth = "no" | "soon" | "now"

export class Slots extends Context.Service<
  Slots,
  {
    /** The most slots that one environment may have. */
    readonly perEnv: number
    /** Free slots, of all environments together; at least 0. */
    readonly free: () => number
    /** Environments that have no slot left. */
    readonly full: () => ReadonlyArray<EnvId>
    /**
     * Takes slots for up to `wanted` new deliveries of the environment, `each` for one of them; says for how many. None
     * while older ones wait, or a flood would overtake them.
     */
    readonly reserve: (envId: EnvId, wanted: number, each: number) => number
    /** Takes slots for a delivery that is claimed already, even beyond the bounds. */
    readonly hold: (envId: EnvId, count: number) => void
    /** Gives slots back; whether to claim what waits for them in the store. */
    readonly release: (envId: EnvId, count: number) => Worth
    /** New deliveries of the environment wait in the store; whether to claim them. */
    readonly waits: (envId: EnvId) => Worth
    /**
     * A claim begins to look at the store. It will take what waits there, so new deliveries need not queue behind it
     * any more, or a steady stream of them would all go by the store for ever. What comes to wait from now on the
     * claim may not see.
     */
    readonly beginClaim: () => void
    /** What a claim left behind although it is due: of all environments, or of those that had no slot. */
    readonly endClaim: (left: { readonly all: boolean; readonly envs: ReadonlyArray<EnvId> }) => void
    /** Done as soon as no slot is taken. */
    readonly idle: Effect.Effect<void>
    /** A claimed delivery, which holds a slot, is to begin: now, or as soon as there is somebody for it. */
    readonly begin: (claim: Claim) => void
    /** Whoever begins what is claimed, from now on; null: nobody does any more. */
    readonly beginWith: (beginner: ((claim: Claim) => void) | null) => void
  }
>()("@weft/core/runs/Slots") {
  static readonly layer = (config: SlotsConfig): Layer.Layer<Slots> =>
    Layer.effect(
      Slots,
      Effect.gen(function* () {
        /** In the order to begin them. */
        const claimed: Array<Claim> = []
        let beginner: ((claim: Claim) => void) | null = null
        const taken = new Map<EnvId, number>()
        const empty = Latch.makeUnsafe(true)
        let inFlight = 0
        // Before the first claim nobody knows what waits.
        let backlog = { all: true, envs: new Set<EnvId>() }

        const free = () => Math.max(0, config.total - inFlight)
        const freeOf = (envId: EnvId) => Math.min(free(), Math.max(0, config.perEnv - (taken.get(envId) ?? 0)))
        const take = (envId: EnvId, count: number) => {
          inFlight += count
          if (inFlight > 0) empty.closeUnsafe()
          taken.set(envId, (taken.get(envId) ?? 0) + count)
        }
        const worth = (room: number, most: number): Worth =>
          room === 0 ? "no" : room >= Math.min(lowWater, most) ? "now" : "soon"

        return Slots.of({
          perEnv: config.perEnv,
          free,
          full: () => [...taken].filter(([, count]) => count >= config.perEnv).map(([envId]) => envId),
          reserve: (envId, wanted, each) => {
            if (backlog.all || backlog.envs.has(envId)) return 0
            const granted = Math.min(wanted, Math.floor(freeOf(envId) / each))
            if (granted > 0) take(envId, granted * each)
            return granted
          },
          hold: take,
          release: (envId, count) => {
            inFlight -= count
            if (inFlight === 0) empty.openUnsafe()
            const left = (taken.get(envId) ?? 0) - count
            if (left > 0) taken.set(envId, left)
            else taken.delete(envId)
            if (backlog.all) return worth(free(), config.total)
            return backlog.envs.has(envId) ? worth(freeOf(envId), config.perEnv) : "no"
          },
          waits: (envId) => {
            backlog.envs.add(envId)
            return worth(freeOf(envId), config.perEnv)
          },
          beginClaim: () => {
            backlog = { all: false, envs: new Set() }
          },
          endClaim: (left) => {
            backlog = { all: left.all, envs: new Set([...left.envs, ...backlog.envs]) }
          },
          idle: empty.await,
          begin: (claim) => {
            if (beginner === null) claimed.push(claim)
            else beginner(claim)
          },
          beginWith: (next) => {
            beginner = next
            if (next !== null) for (const claim of claimed.splice(0)) next(claim)
          }
        })
      })
    )
}
