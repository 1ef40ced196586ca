/** The canaries of projects, for the host. */
import type { Effect } from "effect"
import { Canaries, type CanaryStatus } from "../runtime/control/Canaries.ts"
import type { Caller } from "../tenants/access/Caller.ts"

export interface HostCanaries {
  readonly get: (project: string) => Promise<CanaryStatus>
  readonly promote: (project: string) => Promise<CanaryStatus>
  readonly rollback: (project: string) => Promise<CanaryStatus>
}

export const hostCanaries = (
  run: <A, E>(effect: Effect.Effect<A, E, Canaries | Caller>) => Promise<A>
): HostCanaries => ({
  get: (project) => run(Canaries.use((canaries) => canaries.get(project))),
  promote: (project) => run(Canaries.use((canaries) => canaries.promote(project))),
  rollback: (project) => run(Canaries.use((canaries) => canaries.rollback(project)))
})
