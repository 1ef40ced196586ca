/**
 * Values of context variables, for the functions of their own project only.
 *
 * All variables of a project are loaded together and cached in encrypted form. A change invalidates the cache: at once on
 * this node, and on others when they receive the message of the bus. If the message is lost, the cache expires after
 * `ageLimit`. The first read of a value decrypts it. A preview also reads the variables of its parent project; a variable
 * of its own with the same key wins.
 */
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { EnvId, ProjectId } from "../../foundation/Ids.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { makeSnapshots } from "../../platform/cluster/Snapshots.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { type ContextVariable, contextPlace } from "./ContextVariable.ts"
import { ContextVariableStore } from "./ContextVariableStore.ts"

/** Maximum age of cached values on a node that missed the `context:changed` message. */
const ageLimit: Duration.Input = "1 second"

/** Maximum projects in the cache of a node, which evicts the least recently used. */
const capacity = 10_000

/** The value of a variable cannot be decrypted. The log contains its location and the reason. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {
  key: Schema.String
}) {
  override get message(): string {
    return `The server cannot decrypt the context variable ${this.key}`
  }
}

type Unreadable = SecretUnreadable | StoreUnavailable

export class ProjectSecrets extends Context.Service<
  ProjectSecrets,
  {
    /** Returns a value, or null if the project has no such variable. One map look-up if it was read before. */
    readonly get: (envId: EnvId, projectId: ProjectId, key: string) => Effect.Effect<string | null, Unreadable>
    /** Returns all values by key. */
    readonly all: (envId: EnvId, projectId: ProjectId) => Effect.Effect<ReadonlyMap<string, string>, Unreadable>
    /** Invalidates the cache of this node and notifies the others. Call it after a change of a variable. */
    readonly changed: (envId: EnvId, projectId: ProjectId) => Effect.Effect<void>
  }
>()("@weft/core/resources/secrets/ProjectSecrets") {
  static readonly layer: Layer.Layer<ProjectSecrets, never, ContextVariableStore | ClusterBus | Keyring | Plans> =
    Layer.effect(
      ProjectSecrets,
      Effect.gen(function* () {
        const store = yield* ContextVariableStore
        const bus = yield* ClusterBus
        const keyring = yield* Keyring
        const plans = yield* Plans

        const open = ({ project_id, key, value }: ContextVariable) =>
          keyring.open(value, contextPlace(project_id, key)).pipe(
            Effect.tapError((error) => Effect.logError("A secret cannot be decrypted:", error.message)),
            Effect.mapError(() => new SecretUnreadable({ key })),
            Effect.cached
          )

        /** Returns the variables of the parent project that the functions of a preview read. */
        const inherited = Effect.fnUntraced(function* (envId: EnvId, projectId: ProjectId) {
          const found = yield* Effect.catchTag(plans.of(envId), "NotFound", () => Effect.succeed(null))
          const preview = found?.env.preview
          return preview === undefined || preview.project_id !== projectId || preview.secrets === "own"
            ? []
            : yield* store.all(preview.parent_env_id, preview.parent_project_id)
        })

        const load = Effect.fnUntraced(function* (cacheKey: string) {
          const { envId, projectId } = parseCacheKey(cacheKey)
          const opened = new Map<string, Effect.Effect<string, SecretUnreadable>>()
          for (const variable of yield* inherited(envId, projectId)) opened.set(variable.key, yield* open(variable))
          for (const variable of yield* store.all(envId, projectId)) opened.set(variable.key, yield* open(variable))
          return opened
        })
        const snapshots = yield* makeSnapshots(load, { capacity, ageLimit })

        yield* subscribe(
          (message) =>
            message.type === "context:changed"
              ? snapshots.invalidate(toCacheKey(message.env_id, message.project_id))
              : Effect.void,
          snapshots.invalidateAll
        )

        return ProjectSecrets.of({
          get: (envId, projectId, key) =>
            Effect.flatMap(
              snapshots.get(toCacheKey(envId, projectId)),
              (opened): Effect.Effect<string | null, SecretUnreadable> => opened.get(key) ?? Effect.succeed(null)
            ),
          all: Effect.fnUntraced(function* (envId, projectId) {
            const values = new Map<string, string>()
            for (const [key, value] of yield* snapshots.get(toCacheKey(envId, projectId))) {
              values.set(key, yield* value)
            }
            return values
          }),
          changed: (env_id, project_id) =>
            Effect.andThen(
              snapshots.invalidate(toCacheKey(env_id, project_id)),
              bus.sendControl([{ type: "context:changed", env_id, project_id }])
            )
        })
      })
    )
}

/** Returns a cache key of both ids, because queries also need the environment. */
const toCacheKey = (envId: EnvId, projectId: ProjectId): string => `${envId} ${projectId}`

const parseCacheKey = (key: string): { readonly envId: EnvId; readonly projectId: ProjectId } => {
  const [envId = "", projectId = ""] = key.split(" ")
  return { envId: EnvId.make(envId), projectId: ProjectId.make(projectId) }
}
