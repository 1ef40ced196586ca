/**
 * The state of a shared cluster bus, and its transitions. Pure: no clock, no latches.
 *
 * The state has four independent parts:
 *
 * | part       | states                        | meaning                                             |
 * | ---------- | ----------------------------- | --------------------------------------------------- |
 * | connection | Connected, Disconnected       | the connection to the other nodes                   |
 * | interest   | None, Unconfirmed, Confirmed  | the interest of this node's subscribers in activity |
 * | sender     | idle, pending                 | whether messages may wait to be sent                |
 * | heartbeat  | none, due                     | whether a batch was sent since the last timer began |
 */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"

export type Connection = { readonly _tag: "Connected" } | { readonly _tag: "Disconnected"; readonly since: Timestamp }

export type Interest =
  /** This node has no subscribers to activity. */
  | { readonly _tag: "None" }
  /** Subscribed since `since`. Other nodes may not know it, so their activity since `missingSince` may be missing. */
  | { readonly _tag: "Unconfirmed"; readonly since: Timestamp; readonly missingSince: Timestamp }
  /** Subscribed since `since`. The interest was sent to the other nodes. */
  | { readonly _tag: "Confirmed"; readonly since: Timestamp }

export interface BusState {
  readonly connection: Connection
  readonly interest: Interest
  readonly sender: "idle" | "pending"
  readonly heartbeat: "none" | "due"
}

export type BusEvent =
  /** The first local subscriber to activity subscribed. */
  | { readonly _tag: "Subscribed"; readonly now: Timestamp }
  /** The last local subscriber to activity unsubscribed. */
  | { readonly _tag: "Unsubscribed" }
  | { readonly _tag: "Disconnected"; readonly since: Timestamp }
  | { readonly _tag: "Reconnected"; readonly now: Timestamp }
  /** The buffer has something to send. */
  | { readonly _tag: "Buffered" }
  /** The buffer is empty. */
  | { readonly _tag: "Flushed" }
  /** A batch was sent. `confirms`: it contained an unconfirmed interest. */
  | { readonly _tag: "BatchSent"; readonly isHeartbeat: boolean; readonly confirms: boolean }
  /** The timer of the heartbeat began. */
  | { readonly _tag: "TimerStarted" }

export const initialState: BusState = {
  connection: { _tag: "Connected" },
  interest: { _tag: "None" },
  sender: "idle",
  heartbeat: "none"
}

/** Returns the start of the current outage, or null while connected. */
export const disconnectedSince = ({ connection }: BusState): Timestamp | null =>
  connection._tag === "Disconnected" ? connection.since : null

/** Returns the state after an event; the same object if nothing changes. */
export const transition = (state: BusState, event: BusEvent): BusState => {
  const { connection, interest } = state
  switch (event._tag) {
    case "Subscribed":
      return {
        ...state,
        interest: { _tag: "Unconfirmed", since: event.now, missingSince: event.now },
        sender: "pending"
      }
    case "Unsubscribed":
      return { ...state, interest: { _tag: "None" }, sender: "pending" }
    case "Disconnected":
      return connection._tag === "Disconnected"
        ? state
        : { ...state, connection: { _tag: "Disconnected", since: event.since } }
    case "Reconnected": {
      // Other nodes may have restarted or dropped the interest during the outage.
      const missingSince = disconnectedSince(state) ?? event.now
      return {
        ...state,
        connection: { _tag: "Connected" },
        interest: interest._tag === "None" ? interest : { _tag: "Unconfirmed", since: interest.since, missingSince },
        sender: "pending"
      }
    }
    case "Buffered":
      return state.sender === "pending" ? state : { ...state, sender: "pending" }
    case "Flushed":
      return state.sender === "idle" ? state : { ...state, sender: "idle" }
    case "BatchSent":
      return {
        ...state,
        interest:
          event.confirms && interest._tag === "Unconfirmed" ? { _tag: "Confirmed", since: interest.since } : interest,
        heartbeat: event.isHeartbeat ? state.heartbeat : "due"
      }
    case "TimerStarted":
      return { ...state, heartbeat: "none" }
  }
}
