/**
 * Creates tenants on their first webhook call: if the URL names an unknown organization or environment, the host
 * decides whether to create it.
 *
 * Any client can put any name into a URL. Therefore concurrent requests for one name share one decision of the host,
 * refusals are cached, and the number of decisions per second is limited.
 */
import { Clock, Context, Deferred, Effect, Layer } from "effect"
import { NotFound, RateLimited, StoreUnavailable } from "../../foundation/Errors.ts"
import { isUuid } from "../../foundation/Ids.ts"
import { type Env, isSlug } from "./Tenant.ts"
import type { TenantHooks } from "./TenantHookRunner.ts"
import { type TenantRequest, Tenants } from "./Tenants.ts"

/** Properties of a tenant that the host admits, with the defaults of `Tenants.ensure`. */
export type TenantTerms = Pick<TenantRequest, "name" | "plan">

export interface AdmissionLimits {
  /** Time for which a refusal of the host is cached, in milliseconds; 10,000 by default. */
  readonly refusalMs?: number
  /** Maximum calls of `admit` per second on a node; 50 by default. Further requests fail and may retry after 1 second. */
  readonly asksPerSecond?: number
}

/** Hooks with which a host admits tenants and is notified of new ones. */
export interface ProvisioningConfig<R = never> extends TenantHooks<R>, AdmissionLimits {
  /**
   * Decides whether to create an unknown environment that a webhook URL names, with its organization if necessary.
   * Returns null to refuse. Times out after 5 seconds.
   */
  readonly admit?: (wanted: Pick<TenantRequest, "org" | "env">) => Effect.Effect<TenantTerms | null, unknown>
}

const defaultRefusalMs = 10_000
const defaultAsksPerSecond = 50

/** Time limit of `admit`, in milliseconds. */
const admitTimeoutMs = 5000

/** Maximum cached refusals. Beyond it, the oldest is removed. */
const refusalsMax = 10_000

type Admit = NonNullable<ProvisioningConfig["admit"]>
type AdmissionFailure = NotFound | StoreUnavailable

export class Provisioning extends Context.Service<
  Provisioning,
  {
    /**
     * Returns the active environment of a webhook URL, and creates it if the host admits it. Fails with
     * `StoreUnavailable` if the host does not decide in time. Costs the same as `Tenants.resolve` for existing tenants.
     */
    readonly resolve: (orgSlug: string, envName: string) => Effect.Effect<Env, AdmissionFailure | RateLimited>
    /** Returns the cached result of `resolve`, or undefined. */
    readonly getCached: (orgSlug: string, envName: string) => Env | undefined
  }
>()("@weft/core/tenants/orgs/Provisioning") {
  /** Without `admit`, an unknown environment is `NotFound`. */
  static readonly layer = <R>({ admit, ...limits }: ProvisioningConfig<R>): Layer.Layer<Provisioning, never, Tenants> =>
    Layer.effect(
      Provisioning,
      Effect.gen(function* () {
        const tenants = yield* Tenants
        if (admit === undefined) return Provisioning.of({ resolve: tenants.resolve, getCached: tenants.getCached })
        const admitTenant = yield* makeAdmission(tenants, admit, limits)
        return Provisioning.of({
          getCached: tenants.getCached,
          resolve: (org, env) =>
            Effect.catchTag(tenants.resolve(org, env), "NotFound", (error) =>
              isSlug(org) && !isUuid(org) && isSlug(env) ? admitTenant(org, env) : Effect.fail(error)
            )
        })
      })
    )
}

const makeAdmission = Effect.fnUntraced(function* (tenants: Tenants["Service"], admit: Admit, limits: AdmissionLimits) {
  const { refusalMs = defaultRefusalMs, asksPerSecond = defaultAsksPerSecond } = limits
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const pending = new Map<string, Deferred.Deferred<Env, AdmissionFailure>>()
  /** Expiry of each refusal in epoch milliseconds, the oldest first. */
  const refusals = new Map<string, number>()
  let second = 0
  let decisions = 0

  const refuse = (key: string) => {
    refusals.delete(key)
    refusals.set(key, clock.currentTimeMillisUnsafe() + refusalMs)
    const [oldest] = refusals.keys()
    if (refusals.size > refusalsMax && oldest !== undefined) refusals.delete(oldest)
    return Effect.fail(noSuchEnv)
  }

  const decide = Effect.fnUntraced(function* (key: string, org: string, env: string) {
    const admission = yield* Effect.timeout(admit({ org, env }), admitTimeoutMs).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logError(`the host's admit failed or timed out for ${key}`, cause),
          Effect.fail(new StoreUnavailable({ operation: "admit", cause: "The host's admit failed or timed out" }))
        )
      )
    )
    if (admission === null) return yield* refuse(key)
    const { name, plan } = admission
    const wanted = { org, env, ...(name === undefined ? {} : { name }), ...(plan === undefined ? {} : { plan }) }
    // Invalid terms are an error of the host, not of the webhook's client.
    const made = yield* Effect.catchTag(tenants.ensure(wanted), "BadRequest", Effect.die)
    return made.env.active ? made.env : yield* refuse(key)
  })

  const isRateExceeded = (): boolean => {
    const now = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
    if (second !== now) decisions = 0
    second = now
    return ++decisions > asksPerSecond
  }

  return (org: string, env: string): Effect.Effect<Env, AdmissionFailure | RateLimited> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend((): Effect.Effect<Env, AdmissionFailure | RateLimited> => {
        const key = `${org}/${env}`
        if (clock.currentTimeMillisUnsafe() < (refusals.get(key) ?? 0)) return Effect.fail(noSuchEnv)
        const shared = pending.get(key)
        if (shared !== undefined) return restore(Deferred.await(shared))
        if (isRateExceeded()) return Effect.fail(new RateLimited({ retryAfterSeconds: 1 }))
        const result = Deferred.makeUnsafe<Env, AdmissionFailure>()
        pending.set(key, result)
        // Runs in the layer's scope: if the first request is interrupted, the concurrent ones still get the result.
        const decision = Effect.onExit(decide(key, org, env), (exit) => {
          pending.delete(key)
          return Deferred.done(result, exit)
        })
        return Effect.andThen(Effect.forkIn(decision, scope), restore(Deferred.await(result)))
      })
    )
})

const noSuchEnv = new NotFound({ resource: "environment" })
