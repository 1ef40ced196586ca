/**
 * The states of a claimer and their transitions. Pure: no clock, no latches.
 *
 *     Waiting ──begin──► Claiming ──end, fail──► Waiting
 *        │                  │
 *       stop               stop
 *        ▼                  ▼
 *     Stopped ◄─end, fail─ Draining
 */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

/** The next claim: none until a request, at a time, or at once. */
export type NextClaim =
  | { readonly _tag: "None" }
  | { readonly _tag: "At"; readonly dueAt: Timestamp }
  | { readonly _tag: "Now" }

export type ClaimerState =
  /** No claim is in flight. */
  | { readonly _tag: "Waiting"; readonly next: NextClaim }
  /** A claim is in flight. `next` was requested meanwhile. */
  | { readonly _tag: "Claiming"; readonly next: NextClaim }
  /** Stopped, but a claim is still in flight. */
  | { readonly _tag: "Draining" }
  /** Stopped. No claim is in flight, and none follows. */
  | { readonly _tag: "Stopped" }

export type ClaimerEvent =
  /** A claim is requested. */
  | { readonly _tag: "request"; readonly next: NextClaim }
  /** A claim begins. It serves all requests before it. */
  | { readonly _tag: "begin" }
  /** The claim in flight has ended. `next`: what the store still has. */
  | { readonly _tag: "end"; readonly next: NextClaim }
  /** The claim in flight has failed. Its result is unknown. */
  | { readonly _tag: "fail" }
  /** The node shuts down. */
  | { readonly _tag: "stop" }

export const none: NextClaim = { _tag: "None" }
export const now: NextClaim = { _tag: "Now" }
export const at = (dueAt: Timestamp): NextClaim => ({ _tag: "At", dueAt })

/** The state of a new claimer: the store may have deliveries of an earlier process. */
export const initialState: ClaimerState = { _tag: "Waiting", next: now }

/** True while a claim is in flight. */
export const isClaiming = ({ _tag }: ClaimerState): boolean => _tag === "Claiming" || _tag === "Draining"

/** True after `stop`. */
export const isStopped = ({ _tag }: ClaimerState): boolean => _tag === "Draining" || _tag === "Stopped"

/** True if a claim is requested at once. */
export const isRequestedNow = (state: ClaimerState): boolean => state._tag === "Waiting" && state.next._tag === "Now"

/** Returns the milliseconds until the next claim: 0 or less if it is due, and infinity without one. */
export const waitMs = (state: ClaimerState, nowMs: number): number => {
  if (state._tag !== "Waiting" || state.next._tag === "None") return Number.POSITIVE_INFINITY
  return state.next._tag === "Now" ? 0 : state.next.dueAt - nowMs
}

/** Returns the state after an event; the same object if nothing changes. Throws for an event that the state excludes. */
export const transition = (state: ClaimerState, event: ClaimerEvent): ClaimerState => {
  switch (event._tag) {
    case "request": {
      if (state._tag === "Draining" || state._tag === "Stopped") return state
      const next = sooner(state.next, event.next)
      return next === state.next ? state : { _tag: state._tag, next }
    }
    case "begin":
      if (state._tag === "Waiting") return { _tag: "Claiming", next: none }
      break
    case "end":
      if (state._tag === "Claiming") return { _tag: "Waiting", next: sooner(state.next, event.next) }
      if (state._tag === "Draining") return { _tag: "Stopped" }
      break
    case "fail":
      if (state._tag === "Claiming") return { _tag: "Waiting", next: state.next }
      if (state._tag === "Draining") return { _tag: "Stopped" }
      break
    case "stop":
      if (state._tag === "Waiting") return { _tag: "Stopped" }
      if (state._tag === "Claiming") return { _tag: "Draining" }
      return state
  }
  throw new Error(`a claimer in the state ${state._tag} cannot ${event._tag}`)
}

/** Returns the sooner claim; the first one if both are at the same time. */
const sooner = (first: NextClaim, second: NextClaim): NextClaim => {
  if (first._tag === "Now" || second._tag === "None") return first
  if (first._tag === "None" || second._tag === "Now") return second
  return first.dueAt <= second.dueAt ? first : second
}
