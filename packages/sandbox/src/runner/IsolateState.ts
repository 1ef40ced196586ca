/**
 * The states of a guest isolate and their transitions.
 *
 *     loading ──► idle ──► scheduled ──► idle ──► waiting ──► running ──► idle
 *
 * From every state, `dispose` leads to `disposed`: directly, or through `stopping` while a load or an entry is in progress.
 */
export type IsolateState =
  /** The bundle is loading since `since`. */
  | { readonly name: "loading"; readonly since: number }
  /** No entry is in progress or requested. */
  | { readonly name: "idle" }
  /** A microtask will request an entry for the queued messages. */
  | { readonly name: "scheduled" }
  /** The isolate waits for the engine's permission to compute. */
  | { readonly name: "waiting" }
  /** An entry is in progress since `since`. */
  | { readonly name: "running"; readonly since: number; readonly isBusyReported: boolean }
  /** Disposed, but its load or entry has not ended yet. */
  | { readonly name: "stopping"; readonly since: number; readonly isEntry: boolean }
  | { readonly name: "disposed" }

export type IsolateEvent =
  /** A message was queued. */
  | { readonly kind: "schedule" }
  /** The microtask runs. */
  | { readonly kind: "flush" }
  /** The isolate requests permission to compute. */
  | { readonly kind: "request" }
  | { readonly kind: "enter"; readonly now: number }
  /** The supervisor was notified of a long entry. */
  | { readonly kind: "reportBusy" }
  /** The load or entry in progress has ended. */
  | { readonly kind: "exit" }
  | { readonly kind: "dispose" }

/** Returns the state after an event. Throws for an event that is not allowed in the state. */
export const transition = (state: IsolateState, event: IsolateEvent): IsolateState => {
  switch (event.kind) {
    case "schedule":
      if (state.name === "idle") return { name: "scheduled" }
      break
    case "flush":
      if (state.name === "scheduled") return { name: "idle" }
      break
    case "request":
      if (state.name === "idle") return { name: "waiting" }
      break
    case "enter":
      if (state.name === "waiting") return { name: "running", since: event.now, isBusyReported: false }
      break
    case "reportBusy":
      if (state.name === "running") return { ...state, isBusyReported: true }
      break
    case "exit":
      if (state.name === "loading" || state.name === "running") return { name: "idle" }
      if (state.name === "stopping") return { name: "disposed" }
      break
    case "dispose":
      if (state.name === "loading") return { name: "stopping", since: state.since, isEntry: false }
      if (state.name === "running") return { name: "stopping", since: state.since, isEntry: true }
      if (state.name !== "stopping" && state.name !== "disposed") return { name: "disposed" }
      break
  }
  throw new Error(`an isolate in the state ${state.name} cannot ${event.kind}`)
}
