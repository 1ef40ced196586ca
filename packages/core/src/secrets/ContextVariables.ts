/** The context variables of a project, as callers see them: all but the values, which only its functions read. */
import { Context, Effect, Layer, Schema } from "effect"
import type { Caller } from "../access/Caller.ts"
import { Keyring } from "../encryption/Keyring.ts"
import { BadRequest, type Forbidden, NotFound, type StoreUnavailable } from "../errors/Errors.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import { isStorable } from "../ids/StorableText.ts"
import { now } from "../ids/Timestamp.ts"
import { utf8Encode } from "../ids/Utf8.ts"
import { namedProject } from "../projects/NamedProject.ts"
import type { Project } from "../projects/Project.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { ContextKey, type ContextMetadata, ContextVariable, contextMetadata, contextPlace } from "./ContextVariable.ts"
import { ContextVariableStore } from "./ContextVariableStore.ts"
import { ProjectSecrets } from "./ProjectSecrets.ts"

/** What a value may have as UTF-8. */
export const contextValueBytesMax = 64 * 1024

/** UTF-16 code units. */
const contextDescriptionLengthMax = 1024

/** How many a project may have. Requests at the same time may pass it by a few. */
export const contextVariablesMax = 1000

/**
 * What all values of a project may have together, in characters as they are stored: encrypted, which takes a third more
 * than their UTF-8 and some hundred each. A run may ask for all of them at once.
 */
const contextValuesLengthMax = 2 * 1024 * 1024

export interface NewContextVariable {
  readonly key: string
  readonly value: string
  /** Empty when left out. */
  readonly description?: string
}

/** At least one of them; what is left out stays as it is. */
export interface ContextVariableChange {
  readonly value?: string
  readonly description?: string
}

type Failure = Forbidden | NotFound | StoreUnavailable

export class ContextVariables extends Context.Service<
  ContextVariables,
  {
    /** By key, as bytes. */
    readonly list: (project: string, page: PageRequest) => Effect.Effect<Page<ContextMetadata>, Failure, Caller>
    /** `BadRequest` when a field breaks its rule, the key is in use, or the project has as many as it may. */
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
>()("@weft/core/secrets/ContextVariables") {
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

      /** Whatever became of the change: who did not hear of its end may yet find it made. */
      const changing = <A, E>(project: Project, change: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.ensuring(change, secrets.changed(project.env_id, project.project_id))

      return ContextVariables.of({
        list: Effect.fnUntraced(function* (idOrName, page) {
          const { project } = yield* namedProject(projects, idOrName, "context", "read")
          const { items, total } = yield* store.list(project.env_id, project.project_id, page)
          return { items: items.map(contextMetadata), total }
        }),

        create: Effect.fnUntraced(function* (idOrName, { key, value, description = "" }) {
          const shape = Effect.andThen(checkKey(key), checkFields({ value, description }))
          const { project } = yield* namedProject(projects, idOrName, "context", "create", shape)
          const { env_id, project_id } = project
          const others = yield* store.all(env_id, project_id)
          if (others.length >= contextVariablesMax) return yield* tooMany
          const sealed = yield* seal(project, key, value)
          yield* checkTogether(others, sealed)
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
          yield* changing(project, store.insert(variable)).pipe(Effect.catchTag("Taken", () => taken))
          return contextMetadata(variable)
        }),

        update: Effect.fnUntraced(function* (idOrName, key, { value, description }) {
          const shape = value === undefined && description === undefined ? nothing : checkFields({ value, description })
          const { project } = yield* namedProject(projects, idOrName, "context", "update", shape)
          if (!isContextKey(key)) return yield* unknown
          const { env_id, project_id } = project
          const sealed = value === undefined ? null : yield* seal(project, key, value)
          if (sealed !== null) {
            const all = yield* store.all(env_id, project_id)
            const present = all.find((variable) => variable.key === key)
            const others = all.filter((variable) => variable !== present)
            // Where they are too large already, what does not grow is to be changed.
            if (sealed.length > (present?.value.length ?? 0)) yield* checkTogether(others, sealed)
          }
          const change = {
            ...(sealed === null ? {} : { value: sealed }),
            ...(description === undefined ? {} : { description }),
            updated_at: yield* now
          }
          return contextMetadata(yield* changing(project, store.update(env_id, project_id, key, change)))
        }),

        remove: Effect.fnUntraced(function* (idOrName, key) {
          const { project } = yield* namedProject(projects, idOrName, "context", "delete")
          if (!isContextKey(key)) return yield* unknown
          yield* changing(project, store.remove(project.env_id, project.project_id, key))
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

const checkTogether = (others: ReadonlyArray<ContextVariable>, sealed: string): Effect.Effect<void, BadRequest> =>
  others.reduce((sum, { value }) => sum + value.length, sealed.length) > contextValuesLengthMax ? tooLarge : Effect.void

const badKey = bad(
  "key must begin with a letter or underscore and have 1 to 128 letters, digits, underscores, dots and hyphens"
)
const badValue = bad(`value must be valid Unicode of at most ${contextValueBytesMax} bytes`)
const badDescription = bad(
  `description must be valid Unicode of at most ${contextDescriptionLengthMax} characters, without U+0000`
)
const nothing = bad("value or description is missing: one of them must be there")
const taken = bad("key is already in use in this project")
const tooMany = bad(`key: a project may have ${contextVariablesMax} context variables`)
const tooLarge = bad(
  `value: the values of a project may have ${contextValuesLengthMax} characters together, as they are stored: encrypted`
)
const unknown = Effect.fail(new NotFound({ resource: "context variable" }))
