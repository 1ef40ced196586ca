/**
 * Tenants that come to be when somebody first asks for them: a webhook names an organization and an environment that
 * are not there, and the host says whether they are to be.
 *
 * Whoever knows the address of a node can name whatever they like. So the host is asked for a name once at a time, not
 * again for a while when it has said no, and not more often than it can bear.
 */
import { Clock, Context, Deferred, Effect, Layer } from "effect"
import { NotFound, RateLimited, StoreUnavailable } from "../errors/Errors.ts"
import { isUuid } from "../ids/Ids.ts"
import type { TenantHooks } from "./Announcer.ts"
import { type Env, isSlug } from "./Tenant.ts"
import { Tenants, type WantedTenant } from "./Tenants.ts"

/** How a tenant is to be made that a host admits; what it leaves out is as in `Tenants.ensure`. */
export type TenantTerms = Pick<WantedTenant, "name" | "plan">

export interface AskingLimits {
  /** For how long the host is not asked again after it has said no, in milliseconds; default 10,000. */
  readonly refusalMs?: number
  /** How often a node asks in a second at most; default 50. Beyond, requests are told to come back a second later. */
  readonly asksPerSecond?: number
}

/** What a host has to do with the coming of tenants. */
export interface ProvisioningConfig<R = never> extends TenantHooks<R>, AskingLimits {
  /**
   * Whether an environment is to be made, and its organization with it, that a webhook names and nobody has made; null:
   * it is not. Has 5 seconds.
   */
  readonly admit?: (wanted: Pick<WantedTenant, "org" | "env">) => Effect.Effect<TenantTerms | null, unknown>
}

const defaultRefusalMs = 10_000
const defaultAsksPerSecond = 50

/** How long a host may take to answer, in milliseconds. */
const answerMs = 5000

/** Refusals that are remembered; beyond, the oldest goes. */
const refusalsMax = 10_000

type Admit = NonNullable<ProvisioningConfig["admit"]>
type Unanswered = NotFound | StoreUnavailable

export class Provisioning extends Context.Service<
  Provisioning,
  {
    /**
     * The active environment behind a webhook URL, which is made now where the host admits it. `StoreUnavailable` when
     * the host did not answer. As cheap as `Tenants.resolve` for what is there.
     */
    readonly resolve: (orgSlug: string, envName: string) => Effect.Effect<Env, Unanswered | RateLimited>
    /** As `resolve`, where it is at hand. */
    readonly peek: (orgSlug: string, envName: string) => Env | undefined
  }
>()("@weft/core/tenancy/Provisioning") {
  /** Without anybody to ask, what is not there is not found. */
  static readonly layer = <R>({ admit, ...limits }: ProvisioningConfig<R>): Layer.Layer<Provisioning, never, Tenants> =>
    Layer.effect(
      Provisioning,
      Effect.gen(function* () {
        const tenants = yield* Tenants
        if (admit === undefined) return Provisioning.of({ resolve: tenants.resolve, peek: tenants.peek })
        const ask = yield* makeAsking(tenants, admit, limits)
        return Provisioning.of({
          peek: tenants.peek,
          resolve: (org, env) =>
            Effect.catchTag(tenants.resolve(org, env), "NotFound", (error) =>
              isSlug(org) && !isUuid(org) && isSlug(env) ? ask(org, env) : Effect.fail(error)
            )
        })
      })
    )
}

const makeAsking = Effect.fnUntraced(function* (tenants: Tenants["Service"], admit: Admit, limits: AskingLimits) {
  const { refusalMs = defaultRefusalMs, asksPerSecond = defaultAsksPerSecond } = limits
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const asking = new Map<string, Deferred.Deferred<Env, Unanswered>>()
  /** Epoch milliseconds until which each holds, the oldest first. */
  const refusals = new Map<string, number>()
  let second = 0
  let asked = 0

  const refuse = (key: string) => {
    refusals.delete(key)
    refusals.set(key, clock.currentTimeMillisUnsafe() + refusalMs)
    const [oldest] = refusals.keys()
    if (refusals.size > refusalsMax && oldest !== undefined) refusals.delete(oldest)
    return Effect.fail(noSuchEnv)
  }

  const decide = Effect.fnUntraced(function* (key: string, org: string, env: string) {
    const admission = yield* Effect.timeout(admit({ org, env }), answerMs).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logError(`the host did not say whether to admit ${key}`, cause),
          Effect.fail(new StoreUnavailable({ operation: "admit", cause: "The host did not answer" }))
        )
      )
    )
    if (admission === null) return yield* refuse(key)
    const { name, plan } = admission
    const wanted = { org, env, ...(name === undefined ? {} : { name }), ...(plan === undefined ? {} : { plan }) }
    // What the host says wrongly is no fault of those who call the webhook.
    const made = yield* Effect.catchTag(tenants.ensure(wanted), "BadRequest", Effect.die)
    return made.env.active ? made.env : yield* refuse(key)
  })

  const isTooMuch = (): boolean => {
    const now = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
    if (second !== now) asked = 0
    second = now
    return ++asked > asksPerSecond
  }

  return (org: string, env: string): Effect.Effect<Env, Unanswered | RateLimited> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend((): Effect.Effect<Env, Unanswered | RateLimited> => {
        const key = `${org}/${env}`
        if (clock.currentTimeMillisUnsafe() < (refusals.get(key) ?? 0)) return Effect.fail(noSuchEnv)
        const others = asking.get(key)
        if (others !== undefined) return restore(Deferred.await(others))
        if (isTooMuch()) return Effect.fail(new RateLimited({ retryAfterSeconds: 1 }))
        const answer = Deferred.makeUnsafe<Env, Unanswered>()
        asking.set(key, answer)
        // Lasts longer than whoever asks first, for all who ask meanwhile.
        const asks = Effect.onExit(decide(key, org, env), (exit) => {
          asking.delete(key)
          return Deferred.done(answer, exit)
        })
        return Effect.andThen(Effect.forkIn(asks, scope), restore(Deferred.await(answer)))
      })
    )
})

const noSuchEnv = new NotFound({ resource: "environment" })
