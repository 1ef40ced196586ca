/** The real runtime with the real sandbox and stores in memory. It returns durable runs with their histories. */
import { setTimeout as sleep } from "node:timers/promises"
import { Builds, Caller, Events, hostIdentity, layer, Projects, Runs, Tenants } from "@weft/core"
import { WorkflowStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { sandbox } from "@weft/sandbox"
import { Effect, Layer, ManagedRuntime, Redacted, type Schema } from "effect"
import { zipOf } from "../bundle.ts"

const key = Redacted.make(new Uint8Array(32).fill(7))

const runtimeLayer = layer({ masterKeys: [key] }).pipe(
  Layer.provideMerge(MemoryStores.layer),
  Layer.provide(sandbox({ runners: 1, key }))
)

export const startDurableRuntime = async (code: string) => {
  const runtime = ManagedRuntime.make(runtimeLayer)
  const env = await runtime.runPromise(
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const org = yield* tenants.createOrg({ slug: "acme" })
      return yield* tenants.createEnv(org.org_id, { name: "test" })
    })
  )
  const call = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof runtimeLayer> | Caller>): Promise<A> =>
    runtime.runPromise(Effect.provideService(effect, Caller, hostIdentity(env.env_id)))

  await call(Projects.use((projects) => projects.create({ name: "shop" })))
  const { build } = await call(Builds.use((builds) => builds.upload("shop", zipOf(code))))
  await call(Builds.use((builds) => builds.deploy("shop", build.build_id)))

  const publish = (type: string, data: Schema.Json) =>
    call(Events.use((events) => events.publish({ type, data }))).then(({ event_id }) => event_id)

  /** Waits until the run of an event has ended, or waits for an event. */
  const reach = async (eventId: string, state: "ended" | "event") => {
    for (let tries = 0; tries < 1_000; tries++) {
      const [run] = await call(Runs.use((runs) => runs.ofEvent(eventId)))
      const waiting: { readonly for?: string } = JSON.parse(run?.waiting ?? "{}")
      if (run !== undefined && (state === "ended" ? run.status !== "running" : waiting.for === "event")) return run
      await sleep(20)
    }
    const [last] = await call(Runs.use((runs) => runs.ofEvent(eventId)))
    throw new Error(`the run of ${eventId} did not get there: ${last?.status}, ${last?.waiting}`)
  }

  return {
    publish,
    reach,
    /** Returns the end of a run, its log and its history without times. */
    seen: async (eventId: string) => {
      const run = await reach(eventId, "ended")
      const { history } = await call(WorkflowStore.use((store) => store.load(run)))
      const logs = await call(Runs.use((runs) => runs.logs(run.run_id, { limit: 100, offset: 0 })))
      return {
        run_id: run.run_id,
        status: run.status,
        result: JSON.parse(run.result ?? "null"),
        logs: logs.items.map(({ message }) => message),
        history: history.steps.map(({ position, seq, kind, name, ok, result, attempts }) => ({
          ...{ position, seq, kind, name, ok, attempts },
          result: result === null ? undefined : JSON.parse(result)
        }))
      }
    },
    close: () => runtime.dispose()
  }
}
