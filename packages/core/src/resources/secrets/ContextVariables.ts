/** Management of a project's context variables. Callers cannot read the values, which are for its functions. */
import { Context, Effect, Layer, Schema } from "effect"
import { BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../../foundation/Errors.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import type { Project } from "../projects/Project.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { resolveProject } from "../projects/resolveProject.ts"
import { ContextKey, type ContextMetadata, ContextVariable, contextMetadata, contextPlace } from "./ContextVariable.ts"
import { ContextVariableStore } from "./ContextVariableStore.ts"
import { ProjectSecrets } from "./ProjectSecrets.ts"

/** Maximum size of a value in UTF-8 bytes. */
export const contextValueBytesMax = 64 * 1024

/** Maximum length of a description in UTF-16 code units. */
const contextDescriptionLengthMax = 1024

/** Maximum variables of a project. Concurrent requests may exceed it slightly. */
export const contextVariablesMax = 1000

/**
 * Maximum length of all encrypted values of a project, in characters. A run may request all of them at once. Encryption
 * adds a third to the UTF-8 bytes, and about 100 characters per value.
 */
const contextValuesLengthMax = 2 * 1024 * 1024

export interface NewContextVariable {
  readonly key: string
  readonly value: string
  /** Empty by default. */
  readonly description?: string
}

/** Changes of a variable, at least one. Absent fields are not changed. */
export interface ContextVariableChange {
  readonly value?: string
  readonly description?: string
}

type Failure = Forbidden | NotFound | StoreUnavailable

export class ContextVariables extends Context.Service<
  ContextVariables,
  {
    /** Lists variables in the byte order of their keys. */
    readonly list: (project: string, page: PageRequest) => Effect.Effect<Page<ContextMetadata>, Failure, Caller>
    /** Creates a variable. `BadRequest` if a field is invalid, the key is in use, or the project has the maximum number. */
    readonly create: (
      project: string,
      input: NewContextVariable
    ) => Effect.Effect<ContextMetadata, Failure | BadRequest, Caller>
    readonly update: (
      project: string,
      key: string,
      change: ContextVariableChange
    ) => Effect.Effect<ContextMetadata, Failure | BadRequest, Caller>
    readonly remove: (project: string, key: string) => Effect.Effect<void, Failure, Caller>
  }
>()("@weft/core/resources/secrets/ContextVariables") {
  static readonly layer: Layer.Layer<
    ContextVariables,
    never,
    ContextVariableStore | ProjectStore | ProjectSecrets | Keyring
  > = Layer.effect(
    ContextVariables,
    Effect.gen(function* () {
      const store = yield* ContextVariableStore
      const projects = yield* ProjectStore
      const secrets = yield* ProjectSecrets
      const keyring = yield* Keyring

      const seal = (project: Project, key: string, value: string) =>
        keyring.seal(value, contextPlace(project.project_id, key))

      /** Runs a change and invalidates caches, also after a failure, because the store may have made the change. */
      const invalidating = <A, E>(project: Project, change: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.ensuring(change, secrets.changed(project.env_id, project.project_id))

      return ContextVariables.of({
        list: Effect.fnUntraced(function* (idOrName, page) {
          const { project } = yield* resolveProject(projects, idOrName, "context", "read")
          const { items, total } = yield* store.list(project.env_id, project.project_id, page)
          return { items: items.map(contextMetadata), total }
        }),

        create: Effect.fnUntraced(function* (idOrName, { key, value, description = "" }) {
          const shape = Effect.andThen(checkKey(key), checkFields({ value, description }))
          const { project } = yield* resolveProject(projects, idOrName, "context", "create", shape)
          const { env_id, project_id } = project
          const others = yield* store.all(env_id, project_id)
          if (others.length >= contextVariablesMax) return yield* tooMany
          const sealed = yield* seal(project, key, value)
          yield* checkTotalLength(others, sealed)
          const instant = yield* now
          const variable = new ContextVariable({
            project_id,
            env_id,
            key,
            value: sealed,
            description,
            created_at: instant,
            updated_at: instant
          })
          yield* invalidating(project, store.insert(variable)).pipe(Effect.catchTag("Taken", () => taken))
          return contextMetadata(variable)
        }),

        update: Effect.fnUntraced(function* (idOrName, key, { value, description }) {
          const shape = value === undefined && description === undefined ? nothing : checkFields({ value, description })
          const { project } = yield* resolveProject(projects, idOrName, "context", "update", shape)
          if (!isContextKey(key)) return yield* unknown
          const { env_id, project_id } = project
          const sealed = value === undefined ? null : yield* seal(project, key, value)
          if (sealed !== null) {
            const all = yield* store.all(env_id, project_id)
            const current = all.find((variable) => variable.key === key)
            const others = all.filter((variable) => variable !== current)
            // A value that does not grow may be changed even if the total exceeds the limit.
            if (sealed.length > (current?.value.length ?? 0)) yield* checkTotalLength(others, sealed)
          }
          const change = {
            ...(sealed === null ? {} : { value: sealed }),
            ...(description === undefined ? {} : { description }),
            updated_at: yield* now
          }
          return contextMetadata(yield* invalidating(project, store.update(env_id, project_id, key, change)))
        }),

        remove: Effect.fnUntraced(function* (idOrName, key) {
          const { project } = yield* resolveProject(projects, idOrName, "context", "delete")
          if (!isContextKey(key)) return yield* unknown
          yield* invalidating(project, store.remove(project.env_id, project.project_id, key))
        })
      })
    })
  )
}

const isContextKey = Schema.is(ContextKey)

const bad = (reason: string) => Effect.fail(new BadRequest({ reason }))

const checkKey = (key: string): Effect.Effect<void, BadRequest> => (isContextKey(key) ? Effect.void : badKey)

const checkFields = ({
  value = "",
  description = ""
}: {
  readonly value: string | undefined
  readonly description: string | undefined
}): Effect.Effect<void, BadRequest> => {
  if (!value.isWellFormed() || utf8Encode(value).length > contextValueBytesMax) return badValue
  return description.length <= contextDescriptionLengthMax && isStorable(description) ? Effect.void : badDescription
}

const checkTotalLength = (others: ReadonlyArray<ContextVariable>, sealed: string): Effect.Effect<void, BadRequest> =>
  others.reduce((sum, { value }) => sum + value.length, sealed.length) > contextValuesLengthMax ? tooLarge : Effect.void

const badKey = bad(
  "key must begin with a letter or underscore and have 1 to 128 letters, digits, underscores, dots and hyphens"
)
const badValue = bad(`value must be valid Unicode of at most ${contextValueBytesMax} bytes`)
const badDescription = bad(
  `description must be valid Unicode of at most ${contextDescriptionLengthMax} characters, without U+0000`
)
const nothing = bad("value or description is required")
const taken = bad("key is already in use in this project")
const tooMany = bad(`key: a project may have at most ${contextVariablesMax} context variables`)
const tooLarge = bad(
  `value: the encrypted values of a project may have at most ${contextValuesLengthMax} characters together`
)
const unknown = Effect.fail(new NotFound({ resource: "context variable" }))
