/** Resources that runs hold open between host calls, by run and the number that the guest chose. */
import { Context, Effect } from "effect"
import type { RunId } from "../../foundation/Ids.ts"

export interface RunResource {
  /** Closes and removes the resource, also during an operation. */
  readonly end: Effect.Effect<void>
}

export class RunResources<A extends RunResource> {
  readonly #runs = new Map<RunId, Map<number, A>>()

  find(runId: RunId, id: number): A | undefined {
    return this.#runs.get(runId)?.get(id)
  }

  add(runId: RunId, id: number, item: A): void {
    const open = this.#runs.get(runId) ?? new Map<number, A>()
    this.#runs.set(runId, open.set(id, item))
  }

  remove(runId: RunId, id: number): void {
    const open = this.#runs.get(runId)
    if (open?.delete(id) === true && open.size === 0) this.#runs.delete(runId)
  }

  /** Returns the resources of the run. */
  list(runId: RunId): ReadonlyArray<A> {
    return [...(this.#runs.get(runId)?.values() ?? [])]
  }
}

/** All resources of a node's operations. */
export class OpenResources extends Context.Service<
  OpenResources,
  {
    readonly add: (resources: Listed) => void
    /** Closes all resources of the run. */
    readonly end: (runId: RunId) => Effect.Effect<void>
  }
>()("@weft/core/runtime/svc/RunResources/OpenResources") {
  static make(): OpenResources["Service"] {
    const all: Array<Listed> = []
    return {
      add: (resources) => void all.push(resources),
      end: (runId) =>
        Effect.suspend(() => {
          const open = all.flatMap((resources) => resources.list(runId))
          return open.length === 0 ? Effect.void : Effect.forEach(open, ({ end }) => end, { discard: true })
        })
    }
  }
}

type Listed = Pick<RunResources<RunResource>, "list">

/** Returns an effect with the resources of one kind, the same for all operations of a node. */
export const runResources = <A extends RunResource>(): Effect.Effect<RunResources<A>, never, OpenResources> => {
  const known = new WeakMap<OpenResources["Service"], RunResources<A>>()
  return Effect.map(OpenResources, (open) => {
    const found = known.get(open)
    if (found !== undefined) return found
    const resources = new RunResources<A>()
    known.set(open, resources)
    open.add(resources)
    return resources
  })
}
