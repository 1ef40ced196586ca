/**
 * The values of context variables, for the functions of their own project only.
 *
 * A project's variables are read at once and kept, sealed, until they change: on this node at once, on others when
 * the feed tells, and where the feed lost the message within `ageLimit`. A value is opened when it is first read.
 */
import { Context, type Duration, Effect, Layer, Schema } from "effect"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { makeSnapshots } from "../activity/Snapshots.ts"
import { Keyring } from "../encryption/Keyring.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { EnvId, ProjectId } from "../ids/Ids.ts"
import { type ContextVariable, contextPlace } from "./ContextVariable.ts"
import { ContextVariableStore } from "./ContextVariableStore.ts"

/** The longest that a node which missed the news goes on with a value that was replaced. */
const ageLimit: Duration.Input = "1 second"

/** Projects whose variables a node keeps; beyond, the one that was not asked for the longest goes. */
const capacity = 10_000

/** A variable is there, but its value cannot be opened. Which place, and that the key is at fault, is in the log. */
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
    /** Null when the project has no such variable. A map look-up when it was read before. */
    readonly get: (envId: EnvId, projectId: ProjectId, key: string) => Effect.Effect<string | null, Unreadable>
    /** All of them, by key. */
    readonly all: (envId: EnvId, projectId: ProjectId) => Effect.Effect<ReadonlyMap<string, string>, Unreadable>
    /** To be called after a variable changed: this node forgets at once, the others are told. */
    readonly changed: (envId: EnvId, projectId: ProjectId) => Effect.Effect<void>
  }
>()("@weft/core/secrets/ProjectSecrets") {
  static readonly layer: Layer.Layer<ProjectSecrets, never, ContextVariableStore | Feed | Keyring> = Layer.effect(
    ProjectSecrets,
    Effect.gen(function* () {
      const store = yield* ContextVariableStore
      const feed = yield* Feed
      const keyring = yield* Keyring

      const open = ({ project_id, key, value }: ContextVariable) =>
        keyring.open(value, contextPlace(project_id, key)).pipe(
          Effect.tapError((error) => Effect.logError("A secret cannot be read:", error.message)),
          Effect.mapError(() => new SecretUnreadable({ key })),
          Effect.cached
        )

      const load = Effect.fnUntraced(function* (name: string) {
        const { envId, projectId } = placeOf(name)
        const opened = new Map<string, Effect.Effect<string, SecretUnreadable>>()
        for (const variable of yield* store.all(envId, projectId)) opened.set(variable.key, yield* open(variable))
        return opened
      })
      const snapshots = yield* makeSnapshots(load, { capacity, ageLimit })

      yield* listen(
        (message) =>
          message.type === "context:changed"
            ? snapshots.forget(nameOf(message.env_id, message.project_id))
            : Effect.void,
        snapshots.forgetAll
      )

      return ProjectSecrets.of({
        get: (envId, projectId, key) =>
          Effect.flatMap(
            snapshots.get(nameOf(envId, projectId)),
            (opened): Effect.Effect<string | null, SecretUnreadable> => opened.get(key) ?? Effect.succeed(null)
          ),
        all: Effect.fnUntraced(function* (envId, projectId) {
          const values = new Map<string, string>()
          for (const [key, value] of yield* snapshots.get(nameOf(envId, projectId))) {
            values.set(key, yield* value)
          }
          return values
        }),
        changed: (env_id, project_id) =>
          Effect.andThen(
            snapshots.forget(nameOf(env_id, project_id)),
            feed.tell([{ type: "context:changed", env_id, project_id }])
          )
      })
    })
  )
}

/** Both ids in one text, so that they can be looked up at once: a query names the environment too. */
const nameOf = (envId: EnvId, projectId: ProjectId): string => `${envId} ${projectId}`

const placeOf = (name: string): { readonly envId: EnvId; readonly projectId: ProjectId } => {
  const [envId = "", projectId = ""] = name.split(" ")
  return { envId: EnvId.make(envId), projectId: ProjectId.make(projectId) }
}
