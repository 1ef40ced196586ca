/** Queries of callers for runs. */
import { type Duration, Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { idReader, RunId } from "../../foundation/Ids.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import { before as earlier, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { RunStatus, RunType } from "../runs/Run.ts"
import type { RunFilter } from "../runs/RunStore.ts"
import type { WaitingFor } from "../runs/Workflow.ts"

/** Selects runs; all of them without any field. */
export interface RunQuery {
  readonly status?: RunStatus
  readonly type?: RunType
  /** Only suspended runs that wait for this; `any` for all suspended runs. */
  readonly waiting?: WaitingFor | "any"
  /** Only runs that started within this time before now. */
  readonly within?: Duration.Duration
  /** Id of a project, or its name when the run started. It may have been removed. */
  readonly project?: string
  /** A function: `ns/var`, or `project:ns/var`. */
  readonly fn?: string
  /** Only failed runs with this text in the name or the message of their error; ASCII case is ignored. */
  readonly error?: string
  /** Id of a run: only runs that are older. */
  readonly before?: string
}

/** Maximum characters of names: those of the longest reference of a function. */
const nameLengthMax = 512

const errorLengthMax = 200

/** Returns the filter of the store. Fails if a field is no text that could match. */
export const toRunFilter = Effect.fnUntraced(function* (
  { status, type, waiting, within, project, fn, error, before }: RunQuery,
  now: Timestamp
): Effect.fn.Return<RunFilter, BadRequest> {
  if (project !== undefined) yield* checkText("project", project, nameLengthMax)
  if (error !== undefined) yield* checkText("error", error, errorLengthMax)
  const called = fn === undefined ? {} : yield* readFunction(fn)
  if (project !== undefined && called.project !== undefined)
    return yield* refuse(`fn: give the project either in project or in fn (got ${JSON.stringify(fn)})`)
  return {
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(waiting === undefined ? {} : { waiting }),
    ...(within === undefined ? {} : { since: earlier(now, within) }),
    ...(project === undefined ? {} : { project }),
    ...called,
    ...(error === undefined ? {} : { error }),
    ...(before === undefined ? {} : { before: yield* readBefore(before) })
  }
})

const checkText = (field: string, text: string, max: number): Effect.Effect<void, BadRequest> =>
  text.length === 0 || text.length > max || !isStorable(text)
    ? refuse(`${field} must have 1 to ${max} characters of valid Unicode, without U+0000`)
    : Effect.void

const readFunction = (fn: string): Effect.Effect<Pick<RunFilter, "fn" | "project">, BadRequest> => {
  const [, project, ns, name] = fn.length > nameLengthMax ? [] : (referenceForm.exec(fn) ?? [])
  if (ns === undefined || name === undefined || !isStorable(fn))
    return refuse("fn must be a function reference: ns/var or project:ns/var")
  return Effect.succeed({ fn: { ns, var: name }, ...(project === undefined ? {} : { project }) })
}

const referenceForm = /^(?:([^\s:/]+):)?([\w$]+)\/([\w$]+)$/

const readRunId = idReader(RunId)

const readBefore = (text: string): Effect.Effect<RunId, BadRequest> => {
  const runId = readRunId(text)
  return runId === null ? refuse("before must be the id of a run, a UUID") : Effect.succeed(runId)
}

const refuse = (reason: string) => Effect.fail(new BadRequest({ reason }))
