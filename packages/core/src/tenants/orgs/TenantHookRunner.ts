/**
 * Calls the host's hooks for new tenants: at least once each, even if the node that created the tenant crashes.
 *
 * The request that creates a tenant waits for its hook. Any node with hooks retries failed and interrupted calls.
 */
import { Cause, Context, Deferred, Effect, Fiber, Layer, type Scope } from "effect"
import { EnvId, OrgId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Org, Tenant } from "./Tenant.ts"
import { firstHookJob, hookTimeoutMs, nextHookJob, type TenantHookJob } from "./TenantHookJob.ts"
import { TenantStore } from "./TenantStore.ts"

/** Hooks that Weft calls after it has created a tenant. A failure is logged and retried; the tenant remains. */
export interface TenantHooks<R = never> {
  readonly onOrgCreated?: (org: Org) => Effect.Effect<unknown, unknown, R>
  readonly onEnvCreated?: (tenant: Tenant) => Effect.Effect<unknown, unknown, R>
}

export interface TenantHookQueue {
  /** Returns the job to store with a new tenant, or undefined if the host has no hook of this kind. */
  readonly prepare: (kind: TenantHookJob["kind"], tenantId: string) => Effect.Effect<TenantHookJob | undefined>
  /**
   * Runs the hook for a stored tenant. Returns when the hook has succeeded, failed or timed out. If the caller is
   * interrupted, the hook continues, because it does not belong to the request.
   */
  readonly runOrgHook: (job: TenantHookJob | undefined, org: Org) => Effect.Effect<void>
  readonly runEnvHook: (job: TenantHookJob | undefined, tenant: Tenant) => Effect.Effect<void>
}

/** By default there are no hooks: no job is stored and no request waits. */
export const TenantHookRunner = Context.Reference<TenantHookQueue>("@weft/core/tenants/orgs/TenantHookRunner", {
  defaultValue: () => ({
    prepare: () => Effect.undefined,
    runOrgHook: () => Effect.void,
    runEnvHook: () => Effect.void
  })
})

/** Poll interval for due jobs, in milliseconds, and maximum jobs per poll. */
const pollMs = 60_000
const pollLimit = 20

/** Starts the hooks after all other services, because hooks may use any of them. */
export class TenantHookStarter extends Context.Service<
  TenantHookStarter,
  {
    /** Runs pending and later hooks in the caller's scope, and starts to poll for due jobs of all nodes. */
    readonly start: (hooks: TenantHooks) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@weft/core/tenants/orgs/TenantHookStarter") {}

/** Provides the runner for a host with these hooks. */
export const tenantHookRunnerLayer = <R>(hooks: TenantHooks<R>): Layer.Layer<TenantHookStarter, never, TenantStore> =>
  Layer.effectContext(
    Effect.map(makeHookRunner(listKinds(hooks)), ({ queue, start }) =>
      Context.make(TenantHookStarter, TenantHookStarter.of({ start })).pipe(Context.add(TenantHookRunner, queue))
    )
  )

/** Starts the hooks with the services that they require. */
export const hooksLayer = <R>({
  onOrgCreated,
  onEnvCreated
}: TenantHooks<R>): Layer.Layer<never, never, TenantHookStarter | R> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const runner = yield* TenantHookStarter
      const context = yield* Effect.context<R>()
      yield* runner.start({
        ...(onOrgCreated === undefined ? {} : { onOrgCreated: (org) => Effect.provide(onOrgCreated(org), context) }),
        ...(onEnvCreated === undefined
          ? {}
          : { onEnvCreated: (tenant) => Effect.provide(onEnvCreated(tenant), context) })
      })
    })
  )

const listKinds = <R>({ onOrgCreated, onEnvCreated }: TenantHooks<R>): ReadonlyArray<TenantHookJob["kind"]> => [
  ...(onOrgCreated === undefined ? [] : ["org" as const]),
  ...(onEnvCreated === undefined ? [] : ["env" as const])
]

const makeHookRunner = (kinds: ReadonlyArray<TenantHookJob["kind"]>) =>
  Effect.gen(function* () {
    const store = yield* TenantStore
    const started = yield* Deferred.make<{ readonly hooks: TenantHooks; readonly scope: Scope.Scope }>()

    const attempt = ({ kind, tenant_id }: TenantHookJob, hook: Effect.Effect<unknown, unknown>) =>
      Effect.andThen(Effect.timeout(hook, hookTimeoutMs), store.removeHookJob(tenant_id)).pipe(
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logError(`the tenant hook for ${kind} ${tenant_id} failed and will be retried`, cause)
        )
      )

    const run = Effect.fnUntraced(function* (
      job: TenantHookJob,
      callHook: (hooks: TenantHooks) => Effect.Effect<unknown, unknown>
    ) {
      const { hooks, scope } = yield* Deferred.await(started)
      const hook = Effect.suspend(() => callHook(hooks))
      yield* Fiber.await(yield* Effect.forkIn(attempt(job, hook), scope))
    })
    const runOrgHook = (job: TenantHookJob, org: Org) =>
      run(job, ({ onOrgCreated }) => onOrgCreated?.(org) ?? Effect.void)
    const runEnvHook = (job: TenantHookJob, tenant: Tenant) =>
      run(job, ({ onEnvCreated }) => onEnvCreated?.(tenant) ?? Effect.void)

    /** Makes the next attempt, unless another node has claimed it. */
    const retry = Effect.fnUntraced(function* (old: TenantHookJob) {
      const job = nextHookJob(old, yield* currentTime)
      if (!(yield* store.updateHookJob(job))) return
      if (old.kind === "org") return yield* runOrgHook(job, yield* store.getOrg(OrgId.make(old.tenant_id)))
      const env = yield* store.getEnv(EnvId.make(old.tenant_id))
      yield* runEnvHook(job, { org: yield* store.getOrg(env.org_id), env })
    })

    const poll = Effect.gen(function* () {
      const due = yield* store.dueHookJobs(kinds, yield* currentTime, pollLimit)
      yield* Effect.forEach(due, retry, { concurrency: pollLimit, discard: true })
    }).pipe(Effect.catch((error) => Effect.logWarning(error.message)))

    const queue: TenantHookQueue = {
      prepare: (kind, tenantId) =>
        kinds.includes(kind) ? Effect.map(currentTime, (now) => firstHookJob(kind, tenantId, now)) : Effect.undefined,
      runOrgHook: (job, org) => (job === undefined ? Effect.void : runOrgHook(job, org)),
      runEnvHook: (job, tenant) => (job === undefined ? Effect.void : runEnvHook(job, tenant))
    }

    const start = Effect.fnUntraced(function* (hooks: TenantHooks) {
      yield* Deferred.succeed(started, { hooks, scope: yield* Effect.scope })
      if (kinds.length > 0) {
        yield* forkSupervised({ name: "The tenant hook runner" }, Effect.andThen(poll, Effect.sleep(pollMs)))
      }
    })

    return { queue, start }
  })
